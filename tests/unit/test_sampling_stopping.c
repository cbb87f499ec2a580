/* The begin and the end of the rounds that count: warm-up, why sampling stops, and when the end can
 * be predicted, on a clock that the subjects themselves advance. */
#include "tests/unit/sampling_world.h"

/* ---- Warm-up -------------------------------------------------------------------------------- */

static void asked_warmup_is_left_out(void **state)
{
    world *w = *state;
    actor a = {.world = w, .letter = 'a', .seconds = 1e-3, .slow_samples = 4};
    assay_subject subject = subject_of(&a, "a");
    assay_sampling_options options = {
        .fixed_warmup = true, .warmup_rounds = 4, .max_rounds = 14, .min_rounds = 14};
    assay_record *record = sample(w, &subject, 1, options);
    assert_int_equal(record->subjects[0].warmup_samples, 4);
    assert_int_equal(record->subjects[0].rejected_samples, 0);
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

/* Warm-up of two subjects, which are slow in the first rounds of so many. */
static void check_warmup(world *w, size_t rounds, int slow_a, int slow_b, size_t least, size_t most)
{
    actor a = {.world = w, .letter = 'a', .seconds = 1e-3, .noise = 0.03, .slow_samples = slow_a};
    actor b = {.world = w, .letter = 'b', .seconds = 1e-3, .noise = 0.03, .slow_samples = slow_b};
    assay_subject subjects[] = {subject_of(&a, "a"), subject_of(&b, "b")};
    assay_record *record = sample(
        w, subjects, 2, (assay_sampling_options){.max_rounds = rounds, .min_rounds = rounds});
    assert_in_range(record->subjects[0].warmup_samples, least, most);
    assay_record_free(record);
}

static void what_changes_for_all_is_no_warmup(void **state)
{
    check_warmup(*state, 100, 80, 80, 0, 0);
    check_warmup(*state, 100, 0, 70, 70, 75);
    check_warmup(*state, 100, 40, 40, 40, 45);
    check_warmup(*state, 100, 20, 20, 20, 25);
}

/* Of several subjects the first 200 rounds are looked at. */
static void what_changes_late_is_no_warmup(void **state)
{
    check_warmup(*state, 400, 0, 150, 150, 155);
    check_warmup(*state, 600, 0, 250, 0, 0);
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
        stopped(w, 0.2, (assay_sampling_options){.budget_seconds = 0.5, .precision = 0.0005}, NULL),
        "noise");
    assert_string_equal(stopped(w, 0.2, (assay_sampling_options){.max_rounds = 7}, &samples),
                        "count");
    assert_int_equal(samples, 7);
    uint64_t begun_ns = w->now_ns;
    assert_string_equal(stopped(w, 0.9, (assay_sampling_options){0}, NULL), "budget");
    assert_in_range(w->now_ns - begun_ns, 5000000000, 5010000000); /* unless told otherwise */
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
    options.min_rounds = 0;
    assert_string_equal(stopped(w, 0.1, options, &samples), "budget");
    assert_int_equal(samples, 2);
    options.min_rounds = 1;
    assert_string_equal(stopped(w, 0.1, options, &samples), "budget");
    assert_int_equal(samples, 1);
}

/* Ends the run at the sample `argument`, as a program does on a signal. */
static assay_status act_until(void *context, uint64_t iterations, assay_sample *sample)
{
    actor *a = context;
    assay_status status = act_measure(a, iterations, sample);
    return a->samples == a->argument ? ASSAY_E_INTERRUPTED : status;
}

static assay_status run_until(world *w, int last, assay_sampling_options options,
                              assay_record **record)
{
    actor actors[] = {{.world = w, .letter = 'a', .seconds = 1e-3, .noise = 0.01},
                      {.world = w, .letter = 'b', .seconds = 2e-3, .noise = 0.01}};
    actors[1].argument = last;
    assay_subject subjects[] = {subject_of(&actors[0], "a"), subject_of(&actors[1], "b")};
    subjects[1].measure = act_until;
    assay_error error = {0};
    options.struct_size = sizeof options;
    options.clock = w->clock;
    assay_status status = assay_sampling_run(subjects, 2, &options, &error, record);
    assert_int_equal(error.status, status);
    return status;
}

/* The round in which it happened is no sample of either, and the end is a look. */
static void a_subject_ends_the_run_with_what_there_is(void **state)
{
    static const assay_sampling_options asked[] = {
        {.min_rounds = 500, .fixed_warmup = true},
        {.max_rounds = 500, .fixed_rounds = true, .fixed_warmup = true},
        {.runs = 500}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        assay_record *record = NULL;
        assert_int_equal(run_until(*state, 21, asked[i], &record), ASSAY_OK);
        for (size_t k = 0; k < 2; k++) {
            const assay_record_subject *found = &record->subjects[k];
            assert_string_equal(found->stopped, "interrupted");
            assert_int_equal(found->sample_count, 20);
            assert_int_equal(found->look_count, 1);
            assert_true(found->look_pairs[0] == 20);
            assert_true(found->look_spent[0] < 1);
        }
        assay_record_free(record);
    }
}

static void what_ends_too_early_has_no_record(void **state)
{
    assay_record *record = NULL;
    assay_sampling_options options = {.min_rounds = 500};
    assert_int_equal(run_until(*state, 1, options, &record), ASSAY_E_INTERRUPTED);
    assert_null(record);
    assert_int_equal(run_until(*state, 2, options, &record), ASSAY_E_INTERRUPTED);
    assert_null(record);
    options.fixed_warmup = true;
    options.warmup_rounds = 5;
    assert_int_equal(run_until(*state, 7, options, &record), ASSAY_E_INTERRUPTED);
    assert_null(record);
    assert_int_equal(run_until(*state, 8, options, &record), ASSAY_OK);
    assert_int_equal(record->subjects[0].sample_count, 2);
    assert_int_equal(record->subjects[0].warmup_samples, 5);
    assay_record_free(record);
}

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

/* By the precision that is near, or by a number that was asked for although it is long precise. */
static void the_end_is_foreseen(void **state)
{
    world *w = *state;
    for (int fixed = 0; fixed < 2; fixed++) {
        actor a = {.seconds = 10e-3, .noise = fixed ? 0.001 : 0.05};
        assay_sampling_progress last = {0};
        assay_sampling_options options = {.max_rounds = fixed ? 100 : 0,
                                          .fixed_rounds = fixed,
                                          .progress = keep_progress,
                                          .progress_context = &last,
                                          .progress_seconds = 1e-3};
        uint64_t begun_ns = w->now_ns;
        assay_record_free(sample_actors(w, &a, 1, options));
        double took_seconds = 1e-9 * (double)(w->now_ns - begun_ns);
        assert_true(took_seconds < 3);
        assert_true(fabs(last.expected_seconds / took_seconds - 1) < 0.3);
    }
}

/* The mean of one subject, the ratio of two, each with its interval. */
static void the_interval_is_shown(void **state)
{
    world *w = *state;
    for (size_t count = 1; count <= 2; count++) {
        actor actors[2] = {{.seconds = 10e-3, .noise = 0.05}, {.seconds = 20e-3, .noise = 0.05}};
        assay_sampling_progress last = {0};
        assay_sampling_options options = {.max_rounds = 60,
                                          .precision = 1e-6,
                                          .progress = keep_progress,
                                          .progress_context = &last,
                                          .progress_seconds = 1e-9};
        assay_record_free(sample_actors(w, actors, count, options));
        double truth = count == 1 ? 10e-3 : 2, low = last.low.value, high = last.high.value;
        assert_true(fabs(last.estimate.value / truth - 1) < 0.05);
        assert_true(low < last.estimate.value && last.estimate.value < high);
        assert_true(low < truth && truth < high);
        double half = count == 1 ? (high - low) / 2 / last.estimate.value : sqrt(high / low) - 1;
        assert_true(fabs(last.relative_width / half - 1) < 1e-9);
    }
}

/* A time of 0 is a time, but has no ratio. */
static void nothing_at_all_has_no_ratio(void **state)
{
    world *w = *state;
    actor actors[2] = {{.seconds = 1e-3}, {.seconds = 0}};
    assay_sampling_progress last = {0};
    assay_sampling_options options = {.max_rounds = 40,
                                      .progress = keep_progress,
                                      .progress_context = &last,
                                      .progress_seconds = 1e-9};
    assay_record *record = sample_actors(w, actors, 2, options);
    assert_string_equal(record->subjects[1].stopped, "count");
    assert_int_equal(record->subjects[1].sample_count, 40);
    assert_int_equal(last.estimate.validity, ASSAY_NOT_ENOUGH_DATA);
    assay_record_free(record);
}

typedef struct listener {
    world *world;
    uint64_t begun_ns;
    size_t calls, wrong;
    char announced; /* subject about to run, or 0 */
} listener;

static void listen(void *context, const assay_sampling_progress *progress)
{
    listener *self = context;
    const world *w = self->world;
    if (self->announced != 0)
        self->wrong += w->log[w->logged - 1] != self->announced;
    self->wrong += progress->rounds != w->logged / 2;
    self->wrong += progress->rounds < 2 && progress->estimate.validity == ASSAY_VALID;
    double elapsed_seconds = 1e-9 * (double)(w->now_ns - self->begun_ns);
    self->wrong += fabs(progress->elapsed_seconds - elapsed_seconds) > 1e-6;
    self->announced = progress->subject == 0 ? 'a' : 'b';
    self->calls++;
}

/* Before each sample whose it will be; or, unless asked for more, ten times a second. */
static void progress_is_told(void **state)
{
    world *w = *state;
    listener self = {.world = w};
    actor actors[2] = {{.seconds = 10e-3}, {.seconds = 10e-3}};
    assay_sampling_options options = {.min_rounds = 50,
                                      .max_rounds = 50,
                                      .progress = listen,
                                      .progress_context = &self,
                                      .progress_seconds = 1e-9};
    assay_record_free(sample_actors(w, actors, 2, options));
    assert_int_equal(self.calls, 100);
    assert_int_equal(self.wrong, 0);
    options.progress_seconds = 0;
    w->logged = 0;
    self = (listener){.world = w, .begun_ns = w->now_ns};
    assay_record_free(sample_actors(w, actors, 2, options));
    assert_in_range(self.calls, 9, 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_WORLD(asked_warmup_is_left_out),
        IN_A_WORLD(warmup_is_detected),
        IN_A_WORLD(a_late_step_is_no_warmup),
        IN_A_WORLD(what_changes_for_all_is_no_warmup),
        IN_A_WORLD(what_changes_late_is_no_warmup),
        IN_A_WORLD(it_says_why_it_stopped),
        IN_A_WORLD(a_fixed_number_is_taken_unless_the_budget_ends),
        IN_A_WORLD(the_minimum_outlasts_the_budget),
        IN_A_WORLD(a_subject_ends_the_run_with_what_there_is),
        IN_A_WORLD(what_ends_too_early_has_no_record),
        IN_A_WORLD(the_end_of_a_count_is_foreseen),
        IN_A_WORLD(the_end_is_foreseen),
        IN_A_WORLD(the_interval_is_shown),
        IN_A_WORLD(nothing_at_all_has_no_ratio),
        IN_A_WORLD(progress_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
