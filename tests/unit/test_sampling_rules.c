/* The rules of sampling.h, each at the edge where it begins to hold: what disturbs a sample, when
 * disturbed rounds go, how long a sample is, when precision is reached and when it is out of reach.
 * What stands at neither side of an edge is in test_sampling.c. */
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "assay/sampling.h"
#include "base/random.h"
#include "sampling/sampler.h"

/* ---- A subject that keeps its own time on a clock of its own ----------------------------------
 */

typedef struct actor {
    double seconds, noise; /* of one iteration; relative standard deviation */
    size_t samples;        /* taken */
    /* What the nth sample, from 0, brings beside its time; or NULL. */
    void (*touch)(struct actor *self, size_t nth, assay_sample *sample);
    size_t first; /* for `touch` */
    assay__random random;
} actor;

static uint64_t world_now_ns;

/* Whoever reads the clock this often between two samples is judging, and each reading takes him so
 * long. */
enum { READINGS_OF_A_JUDGE = 4 };
static uint64_t reading_ns;
static size_t readings, judgements;

static uint64_t read_world(void *context)
{
    (void)context;
    if (++readings == READINGS_OF_A_JUDGE)
        judgements++;
    if (readings > 1)
        world_now_ns += reading_ns;
    return world_now_ns;
}

static assay_status act(void *context, uint64_t iterations, assay_sample *sample)
{
    actor *self = context;
    double noise = 1 + self->noise * assay__random_normal(&self->random);
    sample->seconds = self->seconds * (double)iterations * fmax(noise, 0.01);
    if (self->touch != NULL)
        self->touch(self, self->samples, sample);
    self->samples++;
    readings = 0;
    world_now_ns += (uint64_t)llround(1e9 * sample->seconds);
    return ASSAY_OK;
}

/* Sample up to four actors as "a", "b", ... one iteration at a time. */
static assay_record *sample(actor *actors, size_t count, assay_sampling_options options)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    assay_subject subjects[4] = {{0}};
    assay_clock *clock = NULL;
    assay_record *record = NULL;
    assay_error error = {0};
    assert_int_equal(assay_clock_new_injected(read_world, NULL, &clock), ASSAY_OK);
    for (size_t i = 0; i < count; i++) {
        assay__random_init(&actors[i].random, i);
        subjects[i] = (assay_subject){.struct_size = sizeof *subjects,
                                      .name = names[i],
                                      .context = &actors[i],
                                      .measure = act,
                                      .max_iterations = 1};
    }
    options.struct_size = sizeof options;
    options.clock = clock;
    if (assay_sampling_run(subjects, count, &options, &error, &record) != ASSAY_OK)
        fail_msg("%s", error.message);
    assay_clock_free(clock);
    return record;
}

/* ---- Disturbances -----------------------------------------------------------------------------
 */

static void bring_switches(actor *self, size_t nth, assay_sample *sample)
{
    if (nth == 3)
        sample->involuntary_switches = assay_reading_of((double)self->first);
}

static uint64_t rejected(double seconds, size_t switches)
{
    actor a = {.seconds = seconds, .touch = bring_switches, .first = switches};
    assay_record *record =
        sample(&a, 1, (assay_sampling_options){.max_rounds = 12, .budget_seconds = 100});
    uint64_t count = record->subjects[0].rejected_samples;
    assert_int_equal(record->subjects[0].disturbed_samples, count);
    assay_record_free(record);
    return count;
}

static void ten_switches_a_second_are_no_disturbance(void **state)
{
    (void)state;
    assert_int_equal(rejected(1.0, 10), 0);
    assert_int_equal(rejected(1.0, 11), 1);
    assert_int_equal(rejected(0.01, 1), 1);
    assert_int_equal(rejected(0.01, 0), 0);
}

static void bring_a_fault(actor *self, size_t nth, assay_sample *sample)
{
    sample->major_faults = assay_reading_of(nth == self->first);
}

static void one_page_from_storage_is_a_disturbance(void **state)
{
    (void)state;
    actor a = {.seconds = 1, .touch = bring_a_fault, .first = 3};
    assay_record *record = sample(&a, 1, (assay_sampling_options){.max_rounds = 12});
    assert_int_equal(record->subjects[0].rejected_samples, 1);
    assay_record_free(record);
}

static void disturb_the_first(actor *self, size_t nth, assay_sample *sample)
{
    sample->disturbed = nth < self->first;
}

static void half_of_the_rounds_may_go(void **state)
{
    (void)state;
    actor a = {.seconds = 1e-3, .touch = disturb_the_first, .first = 25};
    assay_sampling_options options = {.max_rounds = 50, .min_rounds = 50};
    assay_record *record = sample(&a, 1, options);
    assert_int_equal(record->subjects[0].sample_count, 25);
    assert_int_equal(record->subjects[0].rejected_samples, 25);
    assay_record_free(record);
    a = (actor){.seconds = 1e-3, .touch = disturb_the_first, .first = 26};
    record = sample(&a, 1, options);
    assert_int_equal(record->subjects[0].sample_count, 50);
    assert_int_equal(record->subjects[0].rejected_samples, 0);
    assert_int_equal(record->subjects[0].disturbed_samples, 26);
    assay_record_free(record);
}

/* Stolen time is nobody's fault: the round goes, and is held against neither subject. */
static void stolen_rounds_count_for_nobody(void **state)
{
    (void)state;
    enum { ROUNDS = 40 };
    assay_clock *clock = NULL;
    assert_int_equal(assay_clock_new_injected(read_world, NULL, &clock), ASSAY_OK);
    assay__shot shots[2 * ROUNDS];
    uint64_t iterations[2] = {1, 1};
    assay_subject subjects[2] = {{.name = "a"}, {.name = "b"}};
    for (size_t i = 0; i < 2 * ROUNDS; i++)
        shots[i] = (assay__shot){.seconds = 1e-3 * (1 + 1e-3 * (double)(i * 7 % 5)),
                                 .stolen = i / 2 >= 10 && i / 2 < 13,
                                 .disturbed = i == 30};
    assay__sampler sampler = {.subjects = subjects,
                              .count = 2,
                              .options = {.budget_seconds = 1, .precision = 0.01},
                              .clock = clock,
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
    assay_clock_free(clock);
}

/* ---- Length -----------------------------------------------------------------------------------
 */

static void bring_a_peak(actor *self, size_t nth, assay_sample *sample)
{
    (void)self;
    sample->peak_rss_bytes = assay_reading_of(nth == 20 ? 3e6 : 2e6);
}

/* Sharing one number of iterations gives nobody more than its bound; and a peak is not shared out
 * over iterations, as times are. */
static void bounds_of_iterations_are_kept(void **state)
{
    (void)state;
    actor actors[2] = {{.seconds = 1e-6, .touch = bring_a_peak}, {.seconds = 1e-6}};
    assay_subject subjects[2];
    assay_clock *clock = NULL;
    assay_record *record = NULL;
    assert_int_equal(assay_clock_new_injected(read_world, NULL, &clock), ASSAY_OK);
    for (size_t i = 0; i < 2; i++)
        subjects[i] = (assay_subject){.struct_size = sizeof *subjects,
                                      .name = i == 0 ? "a" : "b",
                                      .context = &actors[i],
                                      .measure = act,
                                      .max_iterations = i == 0 ? 0 : 100};
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.clock = clock;
    options.max_rounds = options.min_rounds = 30;
    assert_int_equal(assay_sampling_run(subjects, 2, &options, NULL, &record), ASSAY_OK);
    assert_true(record->subjects[0].iterations >= 200);
    assert_int_equal(record->subjects[1].iterations, 100);
    assert_true(record->subjects[0].peak_rss_bytes.value == 3e6);
    assert_int_equal(record->subjects[1].peak_rss_bytes.validity, ASSAY_NOT_MEASURED);
    assay_record_free(record);
    assay_clock_free(clock);
}

static assay_status add_up(void *context, uint64_t iterations)
{
    volatile uint64_t *sum = context;
    for (uint64_t i = 0; i < iterations; i++)
        *sum += i;
    return ASSAY_OK;
}

/* By the real clock, whose cost is known: however short samples were asked for, they are far longer
 * than that; and they are too short for processor times to be their own. */
static void samples_are_long_beside_the_clock(void **state)
{
    (void)state;
    uint64_t sum = 0;
    assay_subject subject = ASSAY_SUBJECT_INIT;
    subject.name = "sum";
    subject.context = &sum;
    subject.run = add_up;
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.min_sample_seconds = 1e-9;
    options.max_rounds = 5;
    assay_record *record = NULL;
    assert_int_equal(assay_sampling_run(&subject, 1, &options, NULL, &record), ASSAY_OK);
    assay_clock_info info = {.struct_size = sizeof info};
    assert_int_equal(assay_clock_describe(assay_clock_default(), &info), ASSAY_OK);
    const assay_record_subject *found = &record->subjects[0];
    double sample_ns = 1e9 * found->mean_seconds.value * (double)found->iterations;
    assert_true(sample_ns > 300 * info.cost_ns.value);
    assert_int_equal(found->user_seconds.validity, ASSAY_NOT_MEASURED);
    assert_int_equal(found->sys_seconds.validity, ASSAY_NOT_MEASURED);
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
    (void)state;
    actor actors[3] = {
        {.seconds = 1e-3}, {.seconds = 2e-3, .noise = 0.1}, {.seconds = 3e-3, .noise = 0.001}};
    witness seen = {.from = 35};
    assay_sampling_options options = {.precision = 0.01,
                                      .budget_seconds = 100,
                                      .progress = look_on,
                                      .progress_context = &seen,
                                      .progress_seconds = 1e-6};
    assay_record *record = sample(actors, 3, options);
    assert_string_equal(record->subjects[0].stopped, "precision");
    assert_in_range(record->subjects[1].sample_count, 200, 800); /* (1.96 * 10 % / 1 %)^2 = 384 */
    assert_true(fabs(seen.estimate - 2) < 0.2);
    assert_true(seen.least_width > 0.005);
    assay_record_free(record);
}

/* Unless another precision is asked for, the ratio is wanted to a third of the margin. */
static void a_third_of_the_margin(void **state)
{
    (void)state;
    actor actors[2] = {{.seconds = 1e-3}, {.seconds = 1e-3, .noise = 0.05}};
    assay_record *record =
        sample(actors, 2, (assay_sampling_options){.margin = 0.03, .budget_seconds = 100});
    assert_string_equal(record->subjects[0].stopped, "precision");
    assert_in_range(record->subjects[1].sample_count, 60, 180); /* (1.96 * 5 % / 1 %)^2 = 96 */
    assay_record_free(record);
}

static void disturb_every_other(actor *self, size_t nth, assay_sample *sample)
{
    (void)self;
    sample->disturbed = nth % 2 == 1;
}

/* What is left out has to be made up for: where every other round goes, twice as many are due. */
static void what_goes_is_made_up_for(void **state)
{
    (void)state;
    actor a = {.seconds = 1e-3, .noise = 0.1, .touch = disturb_every_other};
    witness seen = {.from = 200};
    assay_sampling_options options = {.budget_seconds = 100,
                                      .progress = look_on,
                                      .progress_context = &seen,
                                      .progress_seconds = 1e-6};
    assay_record *record = sample(&a, 1, options);
    double kept = (double)record->subjects[0].sample_count;
    assert_string_equal(record->subjects[0].stopped, "precision");
    assert_true(seen.expected_seconds > 1.5e-3 * kept);
    assay_record_free(record);
}

static void slow_the_first(actor *self, size_t nth, assay_sample *sample)
{
    if (nth < self->first)
        sample->seconds *= 2;
}

/* A series longer than 256 is thinned out to look for its steady state. */
static void a_warmup_is_found_in_a_long_series(void **state)
{
    (void)state;
    actor a = {.seconds = 1e-3, .noise = 0.01, .touch = slow_the_first, .first = 100};
    assay_record *record =
        sample(&a, 1, (assay_sampling_options){.min_rounds = 1000, .max_rounds = 1000});
    assert_in_range(record->subjects[0].warmup_samples, 96, 120);
    assert_true(record->subjects[0].max_seconds.value < 1.5e-3);
    assay_record_free(record);
}

/* What ten budgets would not reach is given up at half of one. */
static void hopeless_is_given_up_early(void **state)
{
    (void)state;
    actor a = {.seconds = 1e-3, .noise = 0.3};
    uint64_t before_ns = world_now_ns;
    assay_record *record =
        sample(&a, 1, (assay_sampling_options){.budget_seconds = 1, .precision = 1e-4});
    double elapsed = 1e-9 * (double)(world_now_ns - before_ns);
    assert_string_equal(record->subjects[0].stopped, "noise");
    assert_true(elapsed >= 0.5 && elapsed < 0.8);
    assay_record_free(record);
}

/* ---- Order and place --------------------------------------------------------------------------
 */

/* A block of the design for four has four orders; that letters change hands makes all 24 possible.
 */
static void orders_change_from_block_to_block(void **state)
{
    (void)state;
    assay__order order;
    bool seen[256] = {false};
    int different = 0;
    assert_int_equal(assay__order_init(&order, 4, 1), ASSAY_OK);
    for (int i = 0; i < 400; i++) {
        uint32_t round[4];
        assay__order_next(&order, round);
        size_t code = round[0] << 6 | round[1] << 4 | round[2] << 2 | round[3];
        different += !seen[code];
        seen[code] = true;
    }
    assert_int_equal(different, 24);
    assay__order_release(&order);
}

typedef struct ledger {
    size_t used;
    char names[64];
} ledger;

typedef struct scribe {
    ledger *shared; /* with the processes forked for the rounds */
    char name;
} scribe;

static assay_status sign(void *context, uint64_t iterations, assay_sample *sample)
{
    (void)iterations;
    scribe *self = context;
    if (self->shared->used < sizeof self->shared->names)
        self->shared->names[self->shared->used++] = self->name;
    sample->seconds = 1e-3;
    return ASSAY_OK;
}

/* Each fresh process goes on in the order where the one before it ended. Its unrecorded round has
 * the order of its first one: a row of its own would be missing from the balance of the others. */
static void fresh_processes_keep_the_order(void **state)
{
    (void)state;
    enum { COUNT = 3, ROUNDS = 8, FRESH = 2, TAKEN = ROUNDS / FRESH * (FRESH + 1) };
    ledger *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    scribe scribes[COUNT];
    assay_subject subjects[COUNT];
    static const char *const names[COUNT] = {"a", "b", "c"};
    for (size_t i = 0; i < COUNT; i++) {
        scribes[i] = (scribe){shared, names[i][0]};
        subjects[i] = (assay_subject){.struct_size = sizeof *subjects,
                                      .name = names[i],
                                      .context = &scribes[i],
                                      .measure = sign,
                                      .max_iterations = 1};
    }
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.seed = 5;
    options.fresh_rounds = FRESH;
    options.min_rounds = options.max_rounds = ROUNDS;
    assay_record *record = NULL;
    assert_int_equal(assay_sampling_run(subjects, COUNT, &options, NULL, &record), ASSAY_OK);
    assert_int_equal(shared->used, TAKEN * COUNT);
    assay__order order;
    uint32_t round[COUNT];
    assert_int_equal(assay__order_init(&order, COUNT, 5), ASSAY_OK);
    for (size_t i = 0; i < TAKEN; i++) {
        if (i % (FRESH + 1) != 1)
            assay__order_next(&order, round);
        for (size_t k = 0; k < COUNT; k++)
            assert_int_equal(shared->names[i * COUNT + k], names[round[k]][0]);
    }
    assay__order_release(&order);
    assay_record_free(record);
    munmap(shared, sizeof *shared);
}

/* Pinned for the sampling alone. */
static void pinning_is_undone(void **state)
{
    (void)state;
    cpu_set_t before, after;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    if (CPU_COUNT(&before) < 2)
        skip();
    uint64_t sum = 0;
    assay_subject subject = ASSAY_SUBJECT_INIT;
    subject.name = "sum";
    subject.context = &sum;
    subject.run = add_up;
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.max_rounds = 3;
    options.pin = true;
    while (!CPU_ISSET((size_t)options.cpu, &before))
        options.cpu++;
    assay_record *record = NULL;
    assert_int_equal(assay_sampling_run(&subject, 1, &options, NULL, &record), ASSAY_OK);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
    assay_record_free(record);
}

/* A judgement of samples of 1 ms takes 2 ms and more. Without a limit there are hundreds among a
 * thousand samples; with a twentieth of the time it is one in forty samples. */
static void judging_has_a_share_of_the_time(void **state)
{
    (void)state;
    actor a = {.seconds = 1e-3, .noise = 0.1};
    reading_ns = 1000000;
    judgements = 0;
    assay_record *record = sample(
        &a, 1,
        (assay_sampling_options){.max_rounds = 1000, .fixed_rounds = true, .budget_seconds = 60});
    reading_ns = 0;
    assert_int_equal(a.samples, 1000);
    assert_in_range(judgements, 10, 60);
    assay_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judging_has_a_share_of_the_time),
        cmocka_unit_test(ten_switches_a_second_are_no_disturbance),
        cmocka_unit_test(one_page_from_storage_is_a_disturbance),
        cmocka_unit_test(half_of_the_rounds_may_go),
        cmocka_unit_test(stolen_rounds_count_for_nobody),
        cmocka_unit_test(bounds_of_iterations_are_kept),
        cmocka_unit_test(samples_are_long_beside_the_clock),
        cmocka_unit_test(every_candidate_is_precise),
        cmocka_unit_test(a_third_of_the_margin),
        cmocka_unit_test(what_goes_is_made_up_for),
        cmocka_unit_test(a_warmup_is_found_in_a_long_series),
        cmocka_unit_test(hopeless_is_given_up_early),
        cmocka_unit_test(orders_change_from_block_to_block),
        cmocka_unit_test(fresh_processes_keep_the_order),
        cmocka_unit_test(pinning_is_undone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
