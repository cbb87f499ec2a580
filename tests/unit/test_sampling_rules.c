/* The rules of sampling.h, each at the limit where it begins to hold: what disturbs a sample, when
 * disturbed rounds are left out, how long a sample is, when precision is reached and when it cannot
 * be reached. Cases that are not at a limit are in test_sampling.c. */
#include "assay/clock.h"
#include "assay/instrument.h"
#include "assay/record.h"
#include "assay/sampling.h"
#include "sampling/sampler.h"
#include "tests/unit/sampling_world.h"

/* ---- Disturbances -----------------------------------------------------------------------------
 */

static void bring_switches(actor *self, assay_sample *sample)
{
    if (self->samples == 4)
        sample->involuntary_switches = assay_reading_of((double)self->argument);
}

static uint64_t rejected(world *w, double seconds, int switches)
{
    actor a = {.seconds = seconds, .touch = bring_switches, .argument = switches};
    assay_record *record =
        sample_actors(w, &a, 1, (assay_sampling_options){.max_rounds = 12, .budget_seconds = 100});
    uint64_t count = record->subjects[0].rejected_samples;
    assert_int_equal(record->subjects[0].disturbed_samples, count);
    assay_record_free(record);
    return count;
}

static void ten_switches_a_second_are_no_disturbance(void **state)
{
    assert_int_equal(rejected(*state, 1.0, 10), 0);
    assert_int_equal(rejected(*state, 1.0, 11), 1);
    assert_int_equal(rejected(*state, 0.01, 1), 1);
    assert_int_equal(rejected(*state, 0.01, 0), 0);
}

static void bring_a_fault(actor *self, assay_sample *sample)
{
    sample->major_faults = assay_reading_of(self->samples == self->argument);
}

static void one_page_from_storage_is_a_disturbance(void **state)
{
    world *w = *state;
    actor a = {.seconds = 1, .touch = bring_a_fault, .argument = 3};
    assay_record *record = sample_actors(w, &a, 1, (assay_sampling_options){.max_rounds = 12});
    assert_int_equal(record->subjects[0].rejected_samples, 1);
    assay_record_free(record);
}

static void disturb_the_first(actor *self, assay_sample *sample)
{
    sample->disturbed = self->samples <= self->argument;
}

static void half_of_the_rounds_may_go(void **state)
{
    world *w = *state;
    actor a = {.seconds = 1e-3, .touch = disturb_the_first, .argument = 25};
    assay_sampling_options options = {.max_rounds = 50, .min_rounds = 50};
    assay_record *record = sample_actors(w, &a, 1, options);
    assert_int_equal(record->subjects[0].sample_count, 25);
    assert_int_equal(record->subjects[0].rejected_samples, 25);
    assay_record_free(record);
    a = (actor){.seconds = 1e-3, .touch = disturb_the_first, .argument = 26};
    record = sample_actors(w, &a, 1, options);
    assert_int_equal(record->subjects[0].sample_count, 50);
    assert_int_equal(record->subjects[0].rejected_samples, 0);
    assert_int_equal(record->subjects[0].disturbed_samples, 26);
    assay_record_free(record);
}

/* The share is that of the rounds after the warm-up, whose own disturbances do not count. */
static void disturbed_warmup_is_forgiven(void **state)
{
    world *w = *state;
    assay_sampling_options options = {
        .max_rounds = 30, .min_rounds = 30, .fixed_warmup = true, .warmup_rounds = 10};
    actor a = {.seconds = 1e-3, .touch = disturb_the_first, .argument = 16};
    assay_record *record = sample_actors(w, &a, 1, options);
    assert_int_equal(record->subjects[0].sample_count, 14);
    assert_int_equal(record->subjects[0].rejected_samples, 6);
    assert_int_equal(record->subjects[0].disturbed_samples, 6);
    assay_record_free(record);
    a = (actor){.seconds = 1e-3, .touch = disturb_the_first, .argument = 21};
    record = sample_actors(w, &a, 1, options);
    assert_int_equal(record->subjects[0].sample_count, 20);
    assert_int_equal(record->subjects[0].rejected_samples, 0);
    assay_record_free(record);
}

static void two_rounds_stay_at_least(void **state)
{
    world *w = *state;
    actor a = {.seconds = 1e-3, .touch = disturb_the_first, .argument = 1};
    assay_record *record =
        sample_actors(w, &a, 1, (assay_sampling_options){.max_rounds = 2, .min_rounds = 2});
    assert_int_equal(record->subjects[0].sample_count, 2);
    assay_record_free(record);
    a = (actor){.seconds = 1e-3, .touch = disturb_the_first, .argument = 1};
    record = sample_actors(w, &a, 1, (assay_sampling_options){.max_rounds = 3, .min_rounds = 3});
    assert_int_equal(record->subjects[0].sample_count, 2);
    assay_record_free(record);
}

/* Stolen time is nobody's fault: the round goes, and is held against neither subject. */
static void stolen_rounds_count_for_nobody(void **state)
{
    const world *w = *state;
    enum { ROUNDS = 40 };
    assay__shot shots[2 * ROUNDS];
    uint64_t iterations[2] = {1, 1};
    assay_subject subjects[2] = {{.name = "a"}, {.name = "b"}};
    for (size_t i = 0; i < 2 * ROUNDS; i++)
        shots[i] = (assay__shot){.seconds = 1e-3 * (1 + 1e-3 * (double)(i * 7 % 5)),
                                 .stolen = i / 2 >= 10 && i / 2 < 13,
                                 .disturbed = i == 30};
    assay__sampler sampler = {.subjects = subjects,
                              .count = 2,
                              .options = {.budget_seconds = 1, .precision = 0.007},
                              .clock = w->clock,
                              .iterations = iterations,
                              .shots = shots,
                              .rounds = ROUNDS};
    assay__judgement judgement = {.next_look = 1};
    assay_record *record = NULL;
    assert_int_equal(assay__sampler_judge(&sampler, &judgement), ASSAY_OK);
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    assert_int_equal(assay__sampler_record(&sampler, &judgement, record), ASSAY_OK);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(record->subjects[i].sample_count, ROUNDS - 4);
        assert_int_equal(record->subjects[i].rejected_samples, 4);
        assert_int_equal(record->subjects[i].disturbed_samples, i == 0);
    }
    assay_record_free(record);
}

/* Six rounds on two processors, the first two looked at a second ago; `more` than 0.1 s of stolen
 * time since then is too much. Returns how many of the others are marked, SIZE_MAX if any else is.
 */
static size_t stolen(assay__sampler *sampler, double more)
{
    enum { ROUNDS = 6, LOOKED_AT = 2 };
    assay__shot shots[2 * ROUNDS] = {{0}};
    size_t marked = 0;
    sampler->count = 2;
    sampler->shots = shots;
    sampler->rounds = ROUNDS;
    sampler->steal_from = LOOKED_AT;
    sampler->processors = 2;
    sampler->steal_seconds = assay_machine_steal_seconds().value - more;
    assay__sampler_check_steal(sampler);
    for (size_t i = 0; i < 2 * ROUNDS; i++)
        marked += shots[i].stolen;
    bool early = shots[0].stolen || shots[2 * LOOKED_AT - 1].stolen;
    return early ? SIZE_MAX : marked;
}

static void a_twentieth_of_the_machine_may_be_stolen(void **state)
{
    world *w = *state;
    if (assay_machine_steal_seconds().validity != ASSAY_VALID)
        skip();
    w->now_ns = 3000000000;
    assay__sampler sampler = {.clock = w->clock, .steal_known = true, .steal_checked_seconds = 2};
    assert_int_equal(stolen(&sampler, 0.15), 8);
    assert_int_equal(sampler.steal_from, 6);
    assert_true(fabs(sampler.steal_checked_seconds - 3) < 1e-9);
    sampler.steal_checked_seconds = 2;
    assert_int_equal(stolen(&sampler, 0.05), 0);
    assert_int_equal(sampler.steal_from, 6);
    sampler.steal_checked_seconds = 2.992; /* too early for the kernel's ticks to tell */
    assert_int_equal(stolen(&sampler, 10), 0);
    assert_int_equal(sampler.steal_from, 2);
    sampler.steal_checked_seconds = 2.988;
    assert_int_equal(stolen(&sampler, 10), 8);
    sampler.steal_known = false; /* nothing to compare with yet */
    assert_int_equal(stolen(&sampler, 10), 0);
    assert_true(sampler.steal_known);
    sampler.steal_checked_seconds = 2;
    sampler.simulated = true;
    assert_int_equal(stolen(&sampler, 10), 0);
    assert_int_equal(sampler.steal_from, 2);
}

/* ---- Length -----------------------------------------------------------------------------------
 */

static void bring_a_peak(actor *self, assay_sample *sample)
{
    sample->peak_rss_bytes = assay_reading_of(self->samples == 20 ? 3e6 : 2e6);
    sample->user_seconds = assay_reading_of(sample->seconds / 2);
}

/* Sharing one number of iterations gives nobody more than its bound; and a peak is not shared out
 * over iterations, as times are. */
static void bounds_of_iterations_are_kept(void **state)
{
    world *w = *state;
    actor a = {.world = w, .letter = 'a', .seconds = 1e-6, .touch = bring_a_peak};
    actor b = {.world = w, .letter = 'b', .seconds = 1e-6};
    assay_subject subjects[] = {subject_of(&a, "a"), subject_of(&b, "b")};
    subjects[0].max_iterations = 0;
    subjects[1].max_iterations = 100;
    assay_record *record =
        sample(w, subjects, 2, (assay_sampling_options){.max_rounds = 30, .min_rounds = 30});
    assert_true(record->subjects[0].iterations >= 200);
    assert_int_equal(record->subjects[1].iterations, 100);
    assert_true(record->subjects[0].peak_rss_bytes.value == 3e6);
    assert_true(fabs(record->subjects[0].user_seconds.value - 0.5e-6) < 1e-12);
    assert_int_equal(record->subjects[1].user_seconds.validity, ASSAY_NOT_MEASURED);
    assert_int_equal(record->subjects[1].peak_rss_bytes.validity, ASSAY_NOT_MEASURED);
    assay_record_free(record);
}

/* ---- Enough -----------------------------------------------------------------------------------
 */

typedef struct witness {
    size_t from; /* rounds before are not looked at */
    double least_width, estimate, expected_seconds;
    size_t rounds; /* at which all this was seen first */
} witness;

static void look_on(void *context, const assay_sampling_progress *progress)
{
    witness *seen = context;
    if (progress->estimate.validity != ASSAY_VALID || progress->rounds < seen->from)
        return;
    if (seen->rounds == 0) {
        seen->rounds = progress->rounds;
        seen->least_width = INFINITY;
        seen->estimate = progress->estimate.value;
        seen->expected_seconds = progress->expected_seconds;
    }
    seen->least_width = fmin(seen->least_width, progress->relative_width);
}

/* Of several candidates the least certain is waited for and shown, wherever it stands. */
static void every_candidate_is_precise(void **state)
{
    world *w = *state;
    actor actors[3] = {
        {.seconds = 1e-3}, {.seconds = 2e-3, .noise = 0.1}, {.seconds = 3e-3, .noise = 0.001}};
    witness seen = {.from = 35};
    assay_sampling_options options = {.precision = 0.01,
                                      .budget_seconds = 100,
                                      .progress = look_on,
                                      .progress_context = &seen,
                                      .progress_seconds = 1e-6};
    assay_record *record = sample_actors(w, actors, 3, options);
    assert_string_equal(record->subjects[0].stopped, "verdict");
    assert_in_range(record->subjects[1].sample_count, 384, 1600); /* (1.96 * 10 % / 1 %)^2 = 384 */
    assert_true(fabs(seen.estimate - 2) < 0.2);
    assert_true(seen.least_width > 0.005);
    assay_record_free(record);
}

/* Sampling ends as soon as there is an answer: that they differ, or that they do not differ by more
 * than the margin, which is 1 % unless said otherwise. */
static void the_answer_ends_it(void **state)
{
    world *w = *state;
    static const struct {
        double ratio, noise, margin;
        size_t least, most;
    } cases[] = {{3, 0.05, 0, 6, 12},
                 {1.1, 0.02, 0, 6, 30},
                 {1, 0.02, 0, 16, 150},
                 {1, 0.06, 0.03, 16, 150}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        actor actors[2] = {{.seconds = 1e-3},
                           {.seconds = 1e-3 * cases[i].ratio, .noise = cases[i].noise}};
        assay_record *record = sample_actors(w, actors, 2,
                                             (assay_sampling_options){.margin = cases[i].margin,
                                                                      .budget_seconds = 100,
                                                                      .fixed_warmup = true});
        const assay_record_subject *subject = &record->subjects[1];
        assert_string_equal(subject->stopped, "verdict");
        assert_in_range(subject->sample_count, cases[i].least, cases[i].most);
        assert_true(subject->look_count > 0 && subject->look_spent[subject->look_count - 1] < 1);
        assert_true(subject->look_pairs[subject->look_count - 1] == (double)subject->sample_count);
        assay_record_free(record);
    }
}

/* What cannot be answered takes the whole budget, and the last look has all of the risk. */
static void the_budget_is_used(void **state)
{
    world *w = *state;
    actor actors[2] = {{.seconds = 1e-3}, {.seconds = 1.008e-3, .noise = 0.2}};
    uint64_t begun_ns = w->now_ns;
    assay_record *record =
        sample_actors(w, actors, 2, (assay_sampling_options){.budget_seconds = 0.3});
    const assay_record_subject *subject = &record->subjects[1];
    assert_string_equal(subject->stopped, "budget");
    assert_true(w->now_ns - begun_ns >= 300000000);
    assert_true(subject->look_spent[subject->look_count - 1] == 1);
    for (size_t i = 1; i < subject->look_count; i++)
        assert_true(subject->look_pairs[i] > subject->look_pairs[i - 1] &&
                    subject->look_spent[i] > subject->look_spent[i - 1]);
    assay_record_free(record);
}

/* The samples up to `argument` waited for a processor for a fifth of their time. */
static void wait_at_first(actor *self, assay_sample *sample)
{
    double share = self->samples <= self->argument ? 0.2 : 0;
    sample->waited_seconds = assay_reading_of(share * sample->seconds);
}

/* Two samples of three are disturbed, and take 4 % longer. */
static void disturb_two_of_three(actor *self, assay_sample *sample)
{
    sample->disturbed = self->samples % 3 != 0;
    sample->seconds *= sample->disturbed ? 1.04 : 1;
}

/* A verdict that is withheld because of disturbances is none: sampling goes on until it stands, or
 * until the budget is spent. */
static void a_contested_verdict_does_not_end_it(void **state)
{
    world *w = *state;
    static const struct {
        void (*touch)(actor *self, assay_sample *sample);
        int argument;
        double noise;
        const char *stopped;
        size_t least, most;
    } cases[] = {{wait_at_first, 0, 0.002, "verdict", 6, 12},
                 {wait_at_first, 10, 0.002, "verdict", 15, 400},
                 {wait_at_first, 1 << 30, 0.002, "budget", 400, 600},
                 {disturb_two_of_three, 0, 0.02, "budget", 400, 600}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        actor actors[2] = {{.seconds = 1e-3, .noise = cases[i].noise, .touch = wait_at_first},
                           {.seconds = 1e-3,
                            .noise = cases[i].noise,
                            .touch = cases[i].touch,
                            .argument = cases[i].argument}};
        assay_record *record = sample_actors(
            w, actors, 2, (assay_sampling_options){.budget_seconds = 1, .fixed_warmup = true});
        assert_string_equal(record->subjects[1].stopped, cases[i].stopped);
        assert_in_range(record->subjects[1].sample_count, cases[i].least, cases[i].most);
        assay_record_free(record);
    }
}

static void disturb_every_other(actor *self, assay_sample *sample)
{
    sample->disturbed = self->samples % 2 == 0;
}

/* What is left out has to be made up for: where every other round goes, twice as many are due. */
static void what_goes_is_made_up_for(void **state)
{
    world *w = *state;
    actor a = {.seconds = 1e-3, .noise = 0.2, .touch = disturb_every_other};
    witness seen = {.from = 400};
    assay_sampling_options options = {.budget_seconds = 100,
                                      .progress = look_on,
                                      .progress_context = &seen,
                                      .progress_seconds = 1e-6};
    assay_record *record = sample_actors(w, &a, 1, options);
    double kept = (double)record->subjects[0].sample_count;
    assert_string_equal(record->subjects[0].stopped, "precision");
    assert_true(seen.expected_seconds > 1.5e-3 * kept);
    assay_record_free(record);
}

/* A series longer than 256 is thinned out, here to means of four, to look for its steady state. */
static void a_warmup_is_found_in_a_long_series(void **state)
{
    world *w = *state;
    for (int slow = 4; slow <= 100; slow += 96) {
        actor a = {.seconds = 1e-3, .noise = 0.01, .slow_samples = slow};
        assay_record *record = sample_actors(
            w, &a, 1, (assay_sampling_options){.min_rounds = 1000, .max_rounds = 1000});
        assert_int_equal(record->subjects[0].warmup_samples, slow);
        assert_true(record->subjects[0].max_seconds.value < 1.5e-3);
        assay_record_free(record);
    }
}

static void slow_down_gradually(actor *self, assay_sample *sample)
{
    sample->seconds *= 1 + 1e-4 * self->samples;
}

/* By 10 % in a thousand samples. */
static void a_long_drift_is_no_steady_state(void **state)
{
    world *w = *state;
    actor a = {.seconds = 1e-3, .noise = 0.01, .touch = slow_down_gradually};
    assay_record *record = sample_actors(
        w, &a, 1, (assay_sampling_options){.min_rounds = 1000, .budget_seconds = 0.5});
    assert_string_equal(record->subjects[0].stopped, "noise");
    assert_int_equal(record->subjects[0].warmup_samples, 0);
    assay_record_free(record);
}

/* What befalls all subjects alike does not touch their ratio. */
static void a_drift_of_all_is_none_of_the_ratio(void **state)
{
    world *w = *state;
    actor actors[2] = {{.seconds = 1e-3, .noise = 0.001, .touch = slow_down_gradually},
                       {.seconds = 2e-3, .noise = 0.001, .touch = slow_down_gradually}};
    assay_record *record = sample_actors(w, actors, 2, (assay_sampling_options){.min_rounds = 200});
    assert_string_equal(record->subjects[0].stopped, "verdict");
    assert_int_equal(record->subjects[0].sample_count, 200);
    assay_record_free(record);
}

/* What ten budgets would not reach is given up at half of one. Of 1000 samples in a budget, (1.96 *
 * 30 % / 0.48 %)^2 = 15006 are more than that, and 7056 for 0.7 % are not. */
static void hopeless_is_given_up_early(void **state)
{
    world *w = *state;
    actor a = {.seconds = 1e-3, .noise = 0.3};
    assay_record *record =
        sample_actors(w, &a, 1, (assay_sampling_options){.budget_seconds = 1, .precision = 0.0048});
    uint64_t given_up_ns = w->now_ns;
    assert_string_equal(record->subjects[0].stopped, "noise");
    assert_in_range(given_up_ns, 500000000, 800000000);
    assay_record_free(record);
    record =
        sample_actors(w, &a, 1, (assay_sampling_options){.budget_seconds = 1, .precision = 0.007});
    assert_string_equal(record->subjects[0].stopped, "budget");
    assert_in_range(w->now_ns - given_up_ns, 1000000000, 1005000000);
    assay_record_free(record);
}

/* ---- Time for judging -------------------------------------------------------------------------
 */

/* A clock that takes a millisecond each time it is read. Who reads it this often between two
 * samples is judging. */
enum { READINGS_OF_A_JUDGE = 4 };

typedef struct slow_clock {
    world *world;
    size_t readings, judgements;
} slow_clock;

static slow_clock slow;

static uint64_t read_slowly(void *context)
{
    slow_clock *self = context;
    if (++self->readings == READINGS_OF_A_JUDGE)
        self->judgements++;
    if (self->readings > 1)
        pass(self->world, 1e-3);
    return self->world->now_ns;
}

static void begin_to_read(actor *self, assay_sample *sample)
{
    (void)self;
    (void)sample;
    slow.readings = 0;
}

/* A judgement of samples of 1 ms takes 2 ms and more. Without a limit there are hundreds among a
 * thousand samples; with a twentieth of the time it is one in forty samples. */
static void judging_has_a_share_of_the_time(void **state)
{
    world *w = *state;
    actor a = {.seconds = 1e-3, .noise = 0.1, .touch = begin_to_read};
    slow = (slow_clock){.world = w};
    assay_clock_free(w->clock);
    assert_int_equal(assay_clock_new_injected(read_slowly, &slow, &w->clock), ASSAY_OK);
    assay_record *record = sample_actors(
        w, &a, 1,
        (assay_sampling_options){.max_rounds = 1000, .fixed_rounds = true, .budget_seconds = 60});
    assert_int_equal(a.samples, 1000);
    assert_in_range(slow.judgements, 10, 60);
    assay_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_WORLD(ten_switches_a_second_are_no_disturbance),
        IN_A_WORLD(one_page_from_storage_is_a_disturbance),
        IN_A_WORLD(half_of_the_rounds_may_go),
        IN_A_WORLD(disturbed_warmup_is_forgiven),
        IN_A_WORLD(two_rounds_stay_at_least),
        IN_A_WORLD(stolen_rounds_count_for_nobody),
        IN_A_WORLD(a_twentieth_of_the_machine_may_be_stolen),
        IN_A_WORLD(bounds_of_iterations_are_kept),
        IN_A_WORLD(every_candidate_is_precise),
        IN_A_WORLD(the_answer_ends_it),
        IN_A_WORLD(a_contested_verdict_does_not_end_it),
        IN_A_WORLD(the_budget_is_used),
        IN_A_WORLD(what_goes_is_made_up_for),
        IN_A_WORLD(a_warmup_is_found_in_a_long_series),
        IN_A_WORLD(a_long_drift_is_no_steady_state),
        IN_A_WORLD(a_drift_of_all_is_none_of_the_ratio),
        IN_A_WORLD(hopeless_is_given_up_early),
        IN_A_WORLD(judging_has_a_share_of_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
