/* Sampling on a clock that the subjects themselves advance: the length of samples, samples that are
 * left out, and subjects that fail. */
#include "tests/unit/sampling_world.h"

/* ---- Length of a sample --------------------------------------------------------------------- */

static void iterations_make_samples_long_enough(void **state)
{
    world *w = *state;
    static const uint64_t microseconds[] = {1, 3, 7, 150};
    for (size_t i = 0; i < 4; i++) {
        actor a = {.world = w, .letter = 'a', .seconds = 1e-6 * (double)microseconds[i]};
        assay_subject subject = subject_of(&a, "a");
        subject.measure = NULL;
        subject.run = act_run;
        subject.max_iterations = 0;
        assay_record *record = sample(w, &subject, 1, (assay_sampling_options){0});
        const assay_record_subject *found = &record->subjects[0];
        assert_in_range(found->iterations, 200 / microseconds[i], 240 / microseconds[i] + 1);
        assert_true(fabs(found->mean_seconds.value - a.seconds) < 1e-12);
        assert_string_equal(found->stopped, "precision");
        assert_int_equal(found->sample_count, 30);
        assert_null(found->rounds);
        assay_record_free(record);
    }
}

/* Slow twice, but not in a row: a page fault, or the processor taken away. */
static assay_status act_slow_at_first(void *context, uint64_t iterations)
{
    actor *a = context;
    if (a->samples == 0 || a->samples == 2)
        pass(a->world, 10e-3);
    return act_run(a, iterations);
}

static void one_slow_call_is_not_the_length(void **state)
{
    world *w = *state;
    actor a = {.world = w, .letter = 'a', .seconds = 1e-6};
    assay_subject subject = subject_of(&a, "a");
    subject.measure = NULL;
    subject.run = act_slow_at_first;
    subject.max_iterations = 0;
    assay_record *record = sample(w, &subject, 1, (assay_sampling_options){0});
    assert_in_range(record->subjects[0].iterations, 200, 300);
    assay_record_free(record);
}

/* What is long enough at once is tried three times, two times if ten times as long, and once if
 * that takes a tenth of the budget. */
static void trials_of_slow_work_are_few(void **state)
{
    world *w = *state;
    static const struct {
        double seconds;
        int trials;
    } known[] = {{0.5e-3, 3}, {1.9e-3, 3}, {2.1e-3, 2}, {0.2, 2}, {0.6, 1}};
    for (size_t i = 0; i < 5; i++) {
        actor a = {.world = w, .letter = 'a', .seconds = known[i].seconds};
        assay_subject subject = subject_of(&a, "a");
        subject.max_iterations = 0;
        assay_record_free(
            sample(w, &subject, 1, (assay_sampling_options){.min_rounds = 4, .max_rounds = 4}));
        assert_int_equal(a.samples, 4 + known[i].trials);
    }
}

/* Within a factor of eight. */
static void like_subjects_share_their_iterations(void **state)
{
    world *w = *state;
    static const double times_as_slow[] = {1.5, 7.5, 10, 100};
    for (size_t i = 0; i < 4; i++) {
        actor a = {.world = w, .letter = 'a', .seconds = 1e-6};
        actor b = {.world = w, .letter = 'b', .seconds = 1e-6 * times_as_slow[i]};
        assay_subject subjects[] = {subject_of(&a, "a"), subject_of(&b, "b")};
        subjects[0].max_iterations = subjects[1].max_iterations = 0;
        assay_record *record = sample(w, subjects, 2, (assay_sampling_options){0});
        if (times_as_slow[i] < 8)
            assert_int_equal(record->subjects[0].iterations, record->subjects[1].iterations);
        else
            assert_true(record->subjects[0].iterations > record->subjects[1].iterations);
        assay_record_free(record);
    }
}

static void set_up_costs_nothing(void **state)
{
    world *w = *state;
    actor a = {.world = w, .letter = 'a', .seconds = 50e-6, .set_up_seconds = 1e-3};
    assay_subject subject = subject_of(&a, "a");
    subject.measure = NULL;
    subject.run = act_run;
    subject.max_iterations = 0;
    subject.set_up_iteration = act_set_up;
    subject.tear_down_iteration = act_tear_down;
    assay_record *record = sample(w, &subject, 1, (assay_sampling_options){0});
    assert_true(fabs(record->subjects[0].mean_seconds.value - 50e-6) < 1e-12);
    assert_true(record->subjects[0].iterations >= 4);
    assert_int_equal(a.set_ups, a.samples);
    assert_int_equal(a.tear_downs, a.samples);
    assay_record_free(record);

    subject.set_up_iteration = subject.tear_down_iteration = NULL;
    subject.set_up = act_set_up;
    subject.tear_down = act_tear_down;
    a = (actor){.world = w, .letter = 'a', .seconds = 50e-6, .set_up_seconds = 1e-3};
    record = sample(w, &subject, 1, (assay_sampling_options){0});
    assert_true(fabs(record->subjects[0].mean_seconds.value - 50e-6) < 1e-12);
    assert_int_equal(a.set_ups, a.samples);
    assert_int_equal(a.tear_downs, a.samples);
    assay_record_free(record);
}

/* ---- Rounds --------------------------------------------------------------------------------- */

static void subjects_take_turns(void **state)
{
    world *w = *state;
    actor a = {.world = w, .letter = 'a', .seconds = 1e-3};
    actor b = {.world = w, .letter = 'b', .seconds = 1e-3};
    assay_subject subjects[] = {subject_of(&a, "a"), subject_of(&b, "b")};
    assay_sampling_options options = {.seed = 3, .max_rounds = 20, .min_rounds = 20};
    assay_record *record = sample(w, subjects, 2, options);
    assert_int_equal(w->logged, 40);
    int first = 0;
    for (size_t i = 0; i < 40; i += 2) {
        assert_true(w->log[i] != w->log[i + 1]);
        first += w->log[i] == 'a';
    }
    assert_int_equal(first, 10);
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(record->subjects[1].rounds[i], i);
    assert_string_equal(record->subjects[0].stopped, "count");
    char before[sizeof w->log];
    memcpy(before, w->log, sizeof before);
    assay_record_free(record);
    w->logged = 0;
    record = sample(w, subjects, 2, options);
    assert_memory_equal(before, w->log, sizeof before);
    assay_record_free(record);
}

static void disturbed_rounds_go_whole(void **state)
{
    world *w = *state;
    actor a = {.world = w, .letter = 'a', .seconds = 1e-3};
    actor b = {.world = w, .letter = 'b', .seconds = 1e-3, .disturbed_every = 5};
    assay_subject subjects[] = {subject_of(&a, "a"), subject_of(&b, "b")};
    assay_sampling_options options = {.max_rounds = 50, .min_rounds = 50};
    assay_record *record = sample(w, subjects, 2, options);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(record->subjects[i].sample_count, 40);
        assert_int_equal(record->subjects[i].rejected_samples, 10);
        assert_int_equal(record->subjects[i].disturbed_samples, i == 1 ? 10 : 0);
        assert_true(record->subjects[i].max_seconds.value < 2e-3);
    }
    assert_memory_equal(record->subjects[0].rounds, record->subjects[1].rounds,
                        40 * sizeof(uint32_t));
    assert_int_equal(record->subjects[0].rounds[4], 5);
    assay_record_free(record);
}

static void failed_rounds_go_whole(void **state)
{
    world *w = *state;
    actor a = {.world = w, .letter = 'a', .seconds = 1e-3};
    actor b = {.world = w, .letter = 'b', .seconds = 1e-3, .goes_wrong_every = 5};
    assay_subject subjects[] = {subject_of(&a, "a"), subject_of(&b, "b")};
    assay_sampling_options options = {.max_rounds = 50, .min_rounds = 50};
    assay_record *record = sample(w, subjects, 2, options);
    assert_int_equal(record->subjects[0].sample_count, 40);
    assert_int_equal(record->subjects[1].sample_count, 40);
    assert_int_equal(record->subjects[0].rejected_samples, 10);
    assert_int_equal(record->subjects[1].rejected_samples, 0);
    assert_int_equal(record->subjects[1].failed_runs, 10);
    assay_record_free(record);
}

static void failures_are_timed_when_asked(void **state)
{
    world *w = *state;
    actor a = {.world = w, .letter = 'a', .seconds = 1e-3};
    actor b = {.world = w, .letter = 'b', .seconds = 1e-3, .goes_wrong_every = 5};
    assay_subject subjects[] = {subject_of(&a, "a"), subject_of(&b, "b")};
    subjects[1].time_failures = true;
    assay_sampling_options options = {.max_rounds = 50, .min_rounds = 50};
    assay_record *record = sample(w, subjects, 2, options);
    assert_int_equal(record->subjects[0].sample_count, 50);
    assert_int_equal(record->subjects[1].sample_count, 50);
    assert_int_equal(record->subjects[1].failed_runs, 10);
    assert_true(record->subjects[1].failures_timed);
    assert_false(record->subjects[0].failures_timed);
    assay_record_free(record);
}

/* ---- The record ----------------------------------------------------------------------------- */

/* The first is a warm-up; of the others 1, 2, ... 5 ms are the processor's own, twice that the
 * kernel's. */
static void bring_usage(actor *self, assay_sample *sample)
{
    static const double seconds[] = {9, 3e-3, 1e-3, 2e-3, 4e-3, 5e-3};
    double user_seconds = self->samples == 1 ? 9 : 1e-3 * (self->samples - 1);
    sample->seconds = seconds[self->samples - 1];
    sample->user_seconds = assay_reading_of(user_seconds);
    sample->sys_seconds = assay_reading_of(2 * user_seconds);
}

static void the_record_says_what_was_measured(void **state)
{
    world *w = *state;
    static const char *const command[] = {"sort", "-n"};
    static const assay_record_fact parameters[] = {{.key = "size", .value = "4"},
                                                   {.key = "kind", .value = "random"}};
    actor a = {.world = w, .letter = 'a', .touch = bring_usage};
    assay_subject subject = subject_of(&a, "a");
    subject.command = command;
    subject.command_count = 2;
    subject.parameters = parameters;
    subject.parameter_count = 2;
    assay_record *record =
        sample(w, &subject, 1,
               (assay_sampling_options){
                   .min_rounds = 6, .max_rounds = 6, .fixed_warmup = true, .warmup_rounds = 1});
    const assay_record_subject *found = &record->subjects[0];
    assert_string_equal(found->source, "assay");
    assert_int_equal(found->command_count, 2);
    assert_int_equal(found->parameter_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(found->command[i], command[i]);
        assert_string_equal(found->parameters[i].key, parameters[i].key);
        assert_string_equal(found->parameters[i].value, parameters[i].value);
    }
    assert_true(fabs(found->mean_seconds.value - 3e-3) < 1e-12);
    assert_true(fabs(found->median_seconds.value - 3e-3) < 1e-12);
    assert_true(fabs(found->std_seconds.value - sqrt(2.5) * 1e-3) < 1e-12);
    assert_true(found->min_seconds.value == 1e-3 && found->max_seconds.value == 5e-3);
    /* t = 2.776 of four degrees of freedom */
    assert_true(fabs(found->low_seconds.value - (3 - 2.776445105 * sqrt(0.5)) * 1e-3) < 1e-9);
    assert_true(fabs(found->high_seconds.value - (3 + 2.776445105 * sqrt(0.5)) * 1e-3) < 1e-9);
    assert_true(fabs(found->user_seconds.value - 3e-3) < 1e-12);
    assert_true(fabs(found->sys_seconds.value - 6e-3) < 1e-12);
    assay_record_free(record);
}

/* ---- Trouble -------------------------------------------------------------------------------- */

static void a_failing_subject_is_named(void **state)
{
    world *w = *state;
    actor a = {.world = w, .letter = 'a', .seconds = 1e-3};
    actor b = {.world = w, .letter = 'b', .seconds = 1e-3, .fails_at = 5};
    assay_subject subjects[] = {subject_of(&a, "good"), subject_of(&b, "bad")};
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.clock = w->clock;
    assay_record *record = (assay_record *)w;
    assay_error error = {0};
    assert_int_equal(assay_sampling_run(subjects, 2, &options, &error, &record), ASSAY_E_IO);
    assert_null(record);
    assert_non_null(strstr(error.message, "'bad'"));
    assert_non_null(strstr(error.message, "round 5"));
    b.samples = 3; /* fails while its length is still tried out */
    subjects[1].max_iterations = 0;
    assert_int_equal(assay_sampling_run(subjects, 2, &options, &error, &record), ASSAY_E_IO);
    assert_int_equal(b.samples, 5);
    assert_non_null(strstr(error.message, "'bad'"));
}

static assay_status fail_to_prepare(void *context)
{
    actor *a = context;
    return ++a->set_ups == 3 ? ASSAY_E_IO : ASSAY_OK;
}

/* Whichever callback it is that fails; what was set up is torn down all the same. */
static void every_callback_may_fail(void **state)
{
    world *w = *state;
    for (int which = 0; which < 5; which++) {
        actor a = {.world = w, .letter = 'a', .seconds = 1e-3};
        assay_subject subject = subject_of(&a, "fragile");
        assay_status (*callback)(void *) = fail_to_prepare;
        subject.measure = NULL;
        subject.run = act_run;
        subject.set_up = which == 0 ? callback : NULL;
        subject.tear_down = which == 1 ? callback : NULL;
        subject.set_up_iteration = which == 2 ? callback : NULL;
        subject.tear_down_iteration = which == 3 ? callback : NULL;
        if (which == 4) {
            a.fails_at = 3;
            subject.set_up = act_set_up;
            subject.tear_down = act_tear_down;
        }
        assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
        options.clock = w->clock;
        assay_record *record = NULL;
        assay_error error = {0};
        assert_int_equal(assay_sampling_run(&subject, 1, &options, &error, &record), ASSAY_E_IO);
        assert_non_null(strstr(error.message, "'fragile'"));
        assert_non_null(strstr(error.message, "round 3"));
        assert_int_equal(a.samples, which == 0 || which == 2 ? 2 : 3);
        if (which == 4)
            assert_int_equal(a.tear_downs, a.set_ups);
    }
}

static void expect_refused(const assay_subject *subjects, size_t count,
                           const assay_sampling_options *options, const char *word)
{
    assay_record *record = NULL;
    assay_error error = {0};
    assert_int_equal(assay_sampling_run(subjects, count, options, &error, &record),
                     ASSAY_E_ARGUMENT);
    assert_null(record);
    if (strstr(error.message, word) == NULL)
        fail_msg("'%s' does not say '%s'", error.message, word);
}

static void nonsense_is_refused(void **state)
{
    world *w = *state;
    actor a = {.world = w, .letter = 'a', .seconds = (double)NAN};
    assay_subject subjects[3] = {subject_of(&a, "a"), subject_of(&a, "a")};
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.clock = w->clock;
    expect_refused(NULL, 1, NULL, "subjects");
    expect_refused(subjects, 0, NULL, "subjects");
    expect_refused(subjects, 2, &options, "two subjects");
    expect_refused(subjects, 1, &options, "nan seconds");
    a.seconds = -1e-3;
    expect_refused(subjects, 1, &options, "-0.001 seconds");
    subjects[0].run = act_run;
    expect_refused(subjects, 1, NULL, "run and measure");
    subjects[0].run = NULL;
    subjects[0].measure = NULL;
    expect_refused(subjects, 1, NULL, "run and measure");
    subjects[0].measure = act_measure;
    subjects[0].set_up_iteration = act_set_up;
    expect_refused(subjects, 1, NULL, "own time");
    subjects[0].set_up_iteration = NULL;
    subjects[0].tear_down_iteration = act_set_up;
    expect_refused(subjects, 1, NULL, "own time");
    subjects[0].tear_down_iteration = NULL;
    subjects[1].name = NULL;
    expect_refused(subjects, 2, NULL, "subject 2 has no name");
    subjects[1].name = "";
    expect_refused(subjects, 2, NULL, "subject 2 has no name");
    subjects[1].struct_size = sizeof *subjects + 8;
    expect_refused(subjects, 2, NULL, "differs");
    expect_refused(subjects, ASSAY_SAMPLING_MAX_SUBJECTS + 1, NULL, "1024 subjects");
    subjects[0].struct_size = 3;
    expect_refused(subjects, 1, NULL, "struct_size");
    assert_int_equal(assay_sampling_run(subjects, 1, NULL, NULL, NULL), ASSAY_E_ARGUMENT);
}

static void expect_option_refused(world *w, assay_sampling_options options, const char *word)
{
    actor a = {.world = w, .letter = 'a', .seconds = 1e-3};
    assay_subject subject = subject_of(&a, "a");
    options.struct_size = sizeof options;
    options.clock = w->clock;
    expect_refused(&subject, 1, &options, word);
    assert_int_equal(a.samples, 0);
}

static void nonsense_in_options_is_refused(void **state)
{
    world *w = *state;
    expect_option_refused(w, (assay_sampling_options){.budget_seconds = -1}, "budget");
    expect_option_refused(w, (assay_sampling_options){.budget_seconds = 1.1e7}, "budget");
    expect_option_refused(w, (assay_sampling_options){.budget_seconds = (double)NAN}, "budget");
    expect_option_refused(w, (assay_sampling_options){.precision = (double)NAN}, "precision");
    expect_option_refused(w, (assay_sampling_options){.precision = -0.01}, "precision");
    expect_option_refused(w, (assay_sampling_options){.margin = 1.01}, "margin");
    expect_option_refused(w, (assay_sampling_options){.min_sample_seconds = -1}, "samples of");
    expect_option_refused(w, (assay_sampling_options){.min_sample_seconds = 1.1e7}, "samples of");
    expect_option_refused(w, (assay_sampling_options){.min_rounds = 3, .max_rounds = 2}, "rounds");
    expect_option_refused(w, (assay_sampling_options){.min_rounds = ASSAY_SAMPLING_MAX_ROUNDS + 1},
                          "rounds");
    expect_option_refused(w, (assay_sampling_options){.pin = true, .cpu = -1}, "processor -1");
    expect_option_refused(w, (assay_sampling_options){.pin = true, .cpu = 1 << 20}, "processor");
    expect_option_refused(w, (assay_sampling_options){.pin = true, .cpu = 1023}, "processor 1023");
}

static assay_status ignores_its_argument(void *context, uint64_t iterations)
{
    (void)context;
    (void)iterations;
    return ASSAY_OK;
}

static void work_without_time_is_no_work(void **state)
{
    world *w = *state;
    assay_subject subject = {
        .struct_size = sizeof subject, .name = "nothing", .run = ignores_its_argument};
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.clock = w->clock;
    assay_record *record = NULL;
    assay_error error = {0};
    assert_int_equal(assay_sampling_run(&subject, 1, &options, &error, &record), ASSAY_E_DATA);
    assert_non_null(strstr(error.message, "'nothing'"));
}

/* Every tenth sample ends before it began. */
static assay_status act_back(void *context, uint64_t iterations)
{
    actor *a = context;
    pass(a->world, a->seconds * (double)iterations);
    if (++a->samples % 10 == 0)
        a->world->now_ns -= (uint64_t)llround(2e9 * a->seconds * (double)iterations);
    return ASSAY_OK;
}

static void a_clock_that_goes_back_disturbs(void **state)
{
    world *w = *state;
    for (int single = 0; single < 2; single++) {
        w->now_ns = (uint64_t)1 << 40;
        actor back = {.world = w, .seconds = 1e-3};
        assay_subject subject = {.struct_size = sizeof subject,
                                 .name = "back",
                                 .run = act_back,
                                 .set_up_iteration = single ? act_set_up : NULL,
                                 .context = &back};
        assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
        options.clock = w->clock;
        options.min_rounds = options.max_rounds = 60;
        assay_record *record = NULL;
        assert_int_equal(assay_sampling_run(&subject, 1, &options, NULL, &record), ASSAY_OK);
        const assay_record_subject *found = &record->subjects[0];
        assert_int_equal(found->rejected_samples, 6);
        assert_int_equal(found->disturbed_samples, 6);
        assert_true(fabs(found->max_seconds.value - 1e-3) < 1e-9);
        assay_record_free(record);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_WORLD(iterations_make_samples_long_enough),
        IN_A_WORLD(one_slow_call_is_not_the_length),
        IN_A_WORLD(trials_of_slow_work_are_few),
        IN_A_WORLD(like_subjects_share_their_iterations),
        IN_A_WORLD(set_up_costs_nothing),
        IN_A_WORLD(subjects_take_turns),
        IN_A_WORLD(disturbed_rounds_go_whole),
        IN_A_WORLD(failed_rounds_go_whole),
        IN_A_WORLD(failures_are_timed_when_asked),
        IN_A_WORLD(the_record_says_what_was_measured),
        IN_A_WORLD(a_failing_subject_is_named),
        IN_A_WORLD(every_callback_may_fail),
        IN_A_WORLD(nonsense_is_refused),
        IN_A_WORLD(nonsense_in_options_is_refused),
        IN_A_WORLD(work_without_time_is_no_work),
        IN_A_WORLD(a_clock_that_goes_back_disturbs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
