/* Sampling on a clock that the subjects themselves move: length of samples, what is left out, why
 * it stops, and what happens when a subject fails. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assay/sampling.h"
#include "base/random.h"

/* ---- A world with its own time -------------------------------------------------------------- */

typedef struct world {
    uint64_t now_ns;
    assay_clock *clock;
    char log[256]; /* who ran, in order */
    size_t logged;
} world;

typedef struct actor {
    world *world;
    char letter;
    double seconds;      /* of one iteration */
    double noise;        /* standard deviation, relative */
    int slow_samples;    /* the first ones take three times as long */
    int disturbed_every; /* 0: never */
    int goes_wrong_every;
    int fails_at;          /* sample, 0: never */
    double set_up_seconds; /* of one iteration */
    int set_ups, tear_downs, samples;
    assay__random random;
} actor;

static uint64_t world_now(void *context)
{
    return ((world *)context)->now_ns;
}

static int make_world(void **state)
{
    world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    assert_int_equal(assay_clock_new_injected(world_now, w, &w->clock), ASSAY_OK);
    *state = w;
    return 0;
}

static int end_world(void **state)
{
    world *w = *state;
    assay_clock_free(w->clock);
    free(w);
    return 0;
}

static void pass(world *w, double seconds)
{
    w->now_ns += (uint64_t)llround(seconds * 1e9);
}

static assay_status act_run(void *context, uint64_t iterations)
{
    actor *a = context;
    a->samples++;
    pass(a->world, a->seconds * (double)iterations);
    return a->samples == a->fails_at ? ASSAY_E_IO : ASSAY_OK;
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

static assay_status act_measure(void *context, uint64_t iterations, assay_sample *sample)
{
    actor *a = context;
    a->samples++;
    if (a->world->logged < sizeof a->world->log - 1)
        a->world->log[a->world->logged++] = a->letter;
    double seconds = a->seconds * (double)iterations;
    if (a->noise > 0)
        seconds *= fmax(1 + a->noise * assay__random_normal(&a->random), 0.01);
    if (a->samples <= a->slow_samples)
        seconds *= 3;
    sample->seconds = seconds;
    sample->disturbed = a->disturbed_every > 0 && a->samples % a->disturbed_every == 0;
    if (sample->disturbed)
        sample->seconds *= 10;
    sample->failed = a->goes_wrong_every > 0 && a->samples % a->goes_wrong_every == 0;
    pass(a->world, sample->seconds);
    return a->samples == a->fails_at ? ASSAY_E_IO : ASSAY_OK;
}

static assay_status act_set_up(void *context)
{
    actor *a = context;
    a->set_ups++;
    pass(a->world, a->set_up_seconds);
    return ASSAY_OK;
}

static assay_status act_tear_down(void *context)
{
    actor *a = context;
    a->tear_downs++;
    pass(a->world, a->set_up_seconds);
    return ASSAY_OK;
}

static assay_subject subject_of(actor *a, const char *name)
{
    assay__random_init(&a->random, (uint64_t)a->letter);
    return (assay_subject){.struct_size = sizeof(assay_subject),
                           .name = name,
                           .context = a,
                           .measure = act_measure,
                           .max_iterations = 1};
}

static assay_record *sample(world *w, const assay_subject *subjects, size_t count,
                            assay_sampling_options options)
{
    assay_record *record = NULL;
    assay_error error = {0};
    options.struct_size = sizeof options;
    options.clock = w->clock;
    assay_status status = assay_sampling_run(subjects, count, &options, &error, &record);
    if (status != ASSAY_OK)
        fail_msg("%s", error.message);
    assert_string_equal(record->kind, "bench");
    assert_int_equal(record->subject_count, count);
    return record;
}

/* ---- Progress -------------------------------------------------------------------------------- */

static void keep_progress(void *context, const assay_sampling_progress *progress)
{
    *(assay_sampling_progress *)context = *progress;
}

/* Rounds of 10 ms that were asked for by number, of a precision that is never reached. */
static void the_end_of_a_count_is_foreseen(void **state)
{
    static const struct {
        size_t rounds;
        double budget_seconds;
    } cases[] = {{20, 5}, {200, 0.5}};
    for (size_t i = 0; i < 2; i++) {
        world *w = *state;
        actor a = {.world = w, .letter = 'a', .seconds = 10e-3, .noise = 0.2};
        assay_subject subject = subject_of(&a, "a");
        assay_sampling_progress last = {0};
        assay_sampling_options options = {.max_rounds = cases[i].rounds,
                                          .min_rounds = cases[i].rounds,
                                          .budget_seconds = cases[i].budget_seconds,
                                          .precision = 1e-6,
                                          .progress = keep_progress,
                                          .progress_context = &last,
                                          .progress_seconds = 1e-3};
        assay_record *record = sample(w, &subject, 1, options);
        double took_seconds = 10e-3 * (double)cases[i].rounds;
        assert_true(fabs(last.expected_seconds / took_seconds - 1) < 0.3);
        assay_record_free(record);
    }
}

/* ---- Length of a sample --------------------------------------------------------------------- */

static void iterations_make_samples_long_enough(void **state)
{
    world *w = *state;
    actor a = {.world = w, .letter = 'a', .seconds = 1e-6};
    assay_subject subject = subject_of(&a, "a");
    subject.measure = NULL;
    subject.run = act_run;
    subject.max_iterations = 0;
    assay_record *record = sample(w, &subject, 1, (assay_sampling_options){0});
    const assay_record_subject *found = &record->subjects[0];
    assert_in_range(found->iterations, 200, 300);
    assert_true(fabs(found->mean_seconds.value - 1e-6) < 1e-12);
    assert_string_equal(found->stopped, "precision");
    assert_int_equal(found->sample_count, 30);
    assert_null(found->rounds);
    assay_record_free(record);
}

static void like_subjects_share_their_iterations(void **state)
{
    world *w = *state;
    actor a = {.world = w, .letter = 'a', .seconds = 1e-6};
    actor b = {.world = w, .letter = 'b', .seconds = 1.5e-6};
    actor c = {.world = w, .letter = 'c', .seconds = 100e-6};
    assay_subject subjects[] = {subject_of(&a, "a"), subject_of(&b, "b"), subject_of(&c, "c")};
    for (int i = 0; i < 3; i++)
        subjects[i].max_iterations = 0;
    assay_record *record = sample(w, subjects, 2, (assay_sampling_options){0});
    assert_int_equal(record->subjects[0].iterations, record->subjects[1].iterations);
    assay_record_free(record);
    record = sample(w, subjects, 3, (assay_sampling_options){0});
    assert_true(record->subjects[0].iterations > record->subjects[2].iterations);
    assay_record_free(record);
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

static void too_many_disturbed_all_stay(void **state)
{
    world *w = *state;
    actor a = {.world = w, .letter = 'a', .seconds = 1e-3, .disturbed_every = 1};
    assay_subject subject = subject_of(&a, "a");
    assay_record *record =
        sample(w, &subject, 1, (assay_sampling_options){.max_rounds = 50, .min_rounds = 50});
    assert_int_equal(record->subjects[0].sample_count, 50);
    assert_int_equal(record->subjects[0].rejected_samples, 0);
    assert_int_equal(record->subjects[0].disturbed_samples, 50);
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

static void asked_warmup_is_left_out(void **state)
{
    world *w = *state;
    actor a = {.world = w, .letter = 'a', .seconds = 1e-3, .slow_samples = 4};
    assay_subject subject = subject_of(&a, "a");
    assay_sampling_options options = {
        .fixed_warmup = true, .warmup_rounds = 4, .max_rounds = 14, .min_rounds = 14};
    assay_record *record = sample(w, &subject, 1, options);
    assert_int_equal(record->subjects[0].warmup_samples, 4);
    assert_int_equal(record->subjects[0].sample_count, 10);
    assert_true(record->subjects[0].max_seconds.value < 2e-3);
    assay_record_free(record);
}

static void warmup_is_detected(void **state)
{
    world *w = *state;
    actor a = {.world = w, .letter = 'a', .seconds = 1e-3, .noise = 0.03};
    actor b = {.world = w, .letter = 'b', .seconds = 1e-3, .noise = 0.03, .slow_samples = 12};
    assay_subject subjects[] = {subject_of(&a, "a"), subject_of(&b, "b")};
    assay_sampling_options options = {.max_rounds = 100, .min_rounds = 100};
    assay_record *record = sample(w, subjects, 2, options);
    for (int i = 0; i < 2; i++) {
        assert_in_range(record->subjects[i].warmup_samples, 12, 16);
        assert_int_equal(record->subjects[i].warmup_samples + record->subjects[i].sample_count,
                         100);
        assert_true(record->subjects[i].max_seconds.value < 2e-3);
    }
    assay_record_free(record);
}

static void a_late_step_is_no_warmup(void **state)
{
    world *w = *state;
    actor a = {.world = w, .letter = 'a', .seconds = 1e-3, .noise = 0.03, .slow_samples = 80};
    assay_subject subject = subject_of(&a, "a");
    assay_sampling_options options = {.budget_seconds = 0.26, .precision = 0.02, .min_rounds = 95};
    assay_record *record = sample(w, &subject, 1, options);
    assert_string_equal(record->subjects[0].stopped, "noise");
    assert_int_equal(record->subjects[0].warmup_samples, 0);
    assay_record_free(record);
}

/* Warm-up of two subjects, which are slow in the first rounds of 100. */
static void check_warmup(world *w, int slow_a, int slow_b, size_t least, size_t most)
{
    actor a = {.world = w, .letter = 'a', .seconds = 1e-3, .noise = 0.03, .slow_samples = slow_a};
    actor b = {.world = w, .letter = 'b', .seconds = 1e-3, .noise = 0.03, .slow_samples = slow_b};
    assay_subject subjects[] = {subject_of(&a, "a"), subject_of(&b, "b")};
    assay_record *record =
        sample(w, subjects, 2, (assay_sampling_options){.max_rounds = 100, .min_rounds = 100});
    assert_in_range(record->subjects[0].warmup_samples, least, most);
    assay_record_free(record);
}

static void what_changes_for_all_is_no_warmup(void **state)
{
    check_warmup(*state, 80, 80, 0, 0);
    check_warmup(*state, 0, 70, 70, 75);
    check_warmup(*state, 20, 20, 20, 25);
}

/* ---- Stopping ------------------------------------------------------------------------------- */

static const char *stopped(world *w, double noise, assay_sampling_options options, size_t *samples)
{
    static char word[16];
    actor a = {.world = w, .letter = 'a', .seconds = 1e-3, .noise = noise};
    assay_subject subject = subject_of(&a, "a");
    assay_record *record = sample(w, &subject, 1, options);
    strncpy(word, record->subjects[0].stopped, sizeof word - 1);
    if (samples != NULL)
        *samples = record->subjects[0].sample_count;
    assay_record_free(record);
    return word;
}

static void it_says_why_it_stopped(void **state)
{
    world *w = *state;
    size_t samples = 0;
    assert_string_equal(stopped(w, 0.05, (assay_sampling_options){0}, &samples), "precision");
    assert_in_range(samples, 50, 200); /* (1.96 * 5 % / 1 %)^2 is 96 */
    assert_string_equal(stopped(w, 0.2, (assay_sampling_options){.budget_seconds = 0.5}, NULL),
                        "budget");
    assert_string_equal(
        stopped(w, 0.2, (assay_sampling_options){.budget_seconds = 0.5, .precision = 0.0005},
                &samples),
        "noise");
    assert_true(samples < 600);
    assert_string_equal(stopped(w, 0.2, (assay_sampling_options){.max_rounds = 7}, &samples),
                        "count");
    assert_int_equal(samples, 7);
}

/* 60 rounds are precise, 0.05 % is hopeless: neither ends what was asked for by number. */
static void a_fixed_number_is_taken_unless_the_budget_ends(void **state)
{
    world *w = *state;
    size_t samples = 0;
    assay_sampling_options options = {.max_rounds = 150, .fixed_rounds = true, .budget_seconds = 1};
    assert_string_equal(stopped(w, 0.02, options, &samples), "count");
    assert_int_equal(samples, 150);
    options.precision = 0.0005;
    options.budget_seconds = 0.2;
    assert_string_equal(stopped(w, 0.2, options, &samples), "count");
    assert_int_equal(samples, 150);
    options.budget_seconds = 0.1;
    assert_string_equal(stopped(w, 0.2, options, &samples), "budget");
    assert_in_range(samples, 90, 110);
}

static void the_minimum_outlasts_the_budget(void **state)
{
    world *w = *state;
    size_t samples = 0;
    assay_sampling_options options = {.budget_seconds = 1e-4, .min_rounds = 5};
    assert_string_equal(stopped(w, 0.1, options, &samples), "budget");
    assert_int_equal(samples, 5);
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
    assay_subject subjects[] = {subject_of(&a, "a"), subject_of(&a, "a")};
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.clock = w->clock;
    expect_refused(NULL, 1, NULL, "subjects");
    expect_refused(subjects, 0, NULL, "subjects");
    expect_refused(subjects, 2, &options, "two subjects");
    expect_refused(subjects, 1, &options, "nan seconds");
    options.budget_seconds = -1;
    expect_refused(subjects, 1, &options, "budget");
    options.budget_seconds = 0;
    options.precision = (double)NAN;
    expect_refused(subjects, 1, &options, "precision");
    options.precision = 0;
    options.min_rounds = 3;
    options.max_rounds = 2;
    expect_refused(subjects, 1, &options, "rounds");
    subjects[0].run = act_run;
    expect_refused(subjects, 1, NULL, "run and measure");
    subjects[0].run = NULL;
    subjects[0].struct_size = 3;
    expect_refused(subjects, 1, NULL, "struct_size");
    assert_int_equal(assay_sampling_run(subjects, 1, NULL, NULL, NULL), ASSAY_E_ARGUMENT);
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
#define IN_A_WORLD(test) cmocka_unit_test_setup_teardown(test, make_world, end_world)
    const struct CMUnitTest tests[] = {
        IN_A_WORLD(iterations_make_samples_long_enough),
        IN_A_WORLD(like_subjects_share_their_iterations),
        IN_A_WORLD(set_up_costs_nothing),
        IN_A_WORLD(the_end_of_a_count_is_foreseen),
        IN_A_WORLD(subjects_take_turns),
        IN_A_WORLD(disturbed_rounds_go_whole),
        IN_A_WORLD(too_many_disturbed_all_stay),
        IN_A_WORLD(failed_rounds_go_whole),
        IN_A_WORLD(failures_are_timed_when_asked),
        IN_A_WORLD(asked_warmup_is_left_out),
        IN_A_WORLD(warmup_is_detected),
        IN_A_WORLD(a_late_step_is_no_warmup),
        IN_A_WORLD(what_changes_for_all_is_no_warmup),
        IN_A_WORLD(it_says_why_it_stopped),
        IN_A_WORLD(a_fixed_number_is_taken_unless_the_budget_ends),
        IN_A_WORLD(the_minimum_outlasts_the_budget),
        IN_A_WORLD(a_failing_subject_is_named),
        IN_A_WORLD(nonsense_is_refused),
        IN_A_WORLD(work_without_time_is_no_work),
        IN_A_WORLD(a_clock_that_goes_back_disturbs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
