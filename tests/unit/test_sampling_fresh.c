/* Rounds in fresh processes, on the real clock. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "assay/sampling.h"
#include "sampling/order.h"

/* Memory that forked processes share with the test. */
static void *share(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    return memory;
}

typedef struct traveller {
    pid_t home;
    size_t *abroad; /* calls in other processes, shared with them */
    uint64_t iterations, iterations_at_home;
} traveller;

static assay_status travel(void *context, uint64_t iterations)
{
    traveller *self = context;
    for (volatile uint64_t i = 0; i < iterations; i++)
        self->iterations++;
    if (getpid() == self->home)
        self->iterations_at_home += iterations;
    else
        ++*self->abroad;
    return ASSAY_OK;
}

/* Three processes, each with a round to no account, and nothing of what they did here. */
static void fresh_processes_keep_to_themselves(void **state)
{
    (void)state;
    enum { ROUNDS = 10, FRESH = 4, PROCESSES = 3 };
    traveller self = {.home = getpid(), .abroad = share(sizeof *self.abroad)};
    assay_subject subject = {
        .struct_size = sizeof subject, .name = "travels", .run = travel, .context = &self};
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.fresh_rounds = FRESH;
    options.min_rounds = options.max_rounds = ROUNDS;
    assay_record *record = NULL;
    assert_int_equal(assay_sampling_run(&subject, 1, &options, NULL, &record), ASSAY_OK);
    const assay_record_subject *found = &record->subjects[0];
    assert_int_equal(found->sample_count + found->warmup_samples + found->rejected_samples, ROUNDS);
    assert_true(found->min_seconds.value > 0);
    assert_int_equal(*self.abroad, ROUNDS + PROCESSES);
    assert_true(self.iterations == self.iterations_at_home);
    assay_record_free(record);
    munmap(self.abroad, sizeof *self.abroad);
}

typedef struct ledger {
    size_t used;
    char names[512];
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
    sample->seconds = 1e-3 * (double)self->shared->used;
    return ASSAY_OK;
}

/* With time of its own, which stands still, nothing of the machine's disturbs. */
static uint64_t stand_still(void *context)
{
    (void)context;
    return 0;
}

/* Each fresh process goes on in the order where the one before it ended. Its unrecorded round has
 * the order of its first one: a row of its own would be missing from the balance of the others. And
 * what each subject measured there arrives here as its own. */
static void fresh_processes_keep_the_order(void **state)
{
    (void)state;
    enum { COUNT = 3, ROUNDS = 120, FRESH = 40, TAKEN = ROUNDS / FRESH * (FRESH + 1) };
    ledger *shared = share(sizeof *shared);
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
    assay_clock *clock = NULL;
    assert_int_equal(assay_clock_new_injected(stand_still, NULL, &clock), ASSAY_OK);
    options.clock = clock;
    options.seed = 5;
    options.fixed_warmup = true;
    options.fresh_rounds = FRESH;
    options.min_rounds = options.max_rounds = ROUNDS;
    assay_record *record = NULL;
    assert_int_equal(assay_sampling_run(subjects, COUNT, &options, NULL, &record), ASSAY_OK);
    assert_int_equal(shared->used, TAKEN * COUNT);
    assay__order order;
    uint32_t round[COUNT];
    assert_int_equal(assay__order_init(&order, COUNT, 5), ASSAY_OK);
    for (size_t i = 0, kept = 0; i < TAKEN; i++) {
        if (i % (FRESH + 1) != 1)
            assay__order_next(&order, round);
        for (size_t k = 0; k < COUNT; k++) {
            assert_int_equal(shared->names[i * COUNT + k], names[round[k]][0]);
            double seconds = record->subjects[round[k]].samples_seconds[kept];
            if (i % (FRESH + 1) != 0)
                assert_true(seconds == 1e-3 * (double)(i * COUNT + k + 1));
        }
        kept += i % (FRESH + 1) != 0;
    }
    assert_int_equal(record->subjects[0].sample_count, ROUNDS);
    assay_clock_free(clock);
    assay__order_release(&order);
    assay_record_free(record);
    munmap(shared, sizeof *shared);
}

static assay_status dies(void *context, uint64_t iterations)
{
    int *calls = context;
    (void)iterations;
    if (++*calls == 3)
        raise(SIGKILL);
    return ASSAY_OK;
}

static assay_status leaves(void *context, uint64_t iterations)
{
    int *calls = context;
    (void)iterations;
    if (++*calls == 3)
        _exit(7);
    return ASSAY_OK;
}

static assay_status fails(void *context, uint64_t iterations)
{
    int *calls = context;
    (void)iterations;
    return ++*calls == 3 ? ASSAY_E_IO : ASSAY_OK;
}

/* How sampling in fresh processes ends when the third call does as `run` has it: the calls are one
 * of a round to no account, then one of each round. */
static assay_status end_at_third_call(assay_status (*run)(void *, uint64_t), assay_error *error)
{
    int calls = 0;
    assay_subject subject = {.struct_size = sizeof subject,
                             .name = "third",
                             .run = run,
                             .context = &calls,
                             .max_iterations = 1};
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.fresh_rounds = 5;
    assay_record *record = NULL;
    assay_status status = assay_sampling_run(&subject, 1, &options, error, &record);
    assert_null(record);
    assert_int_equal(calls, 0); /* all of them were made elsewhere */
    return status;
}

static void a_dead_process_is_reported(void **state)
{
    (void)state;
    assay_error error = {0};
    assert_int_equal(end_at_third_call(dies, &error), ASSAY_E_DATA);
    assert_non_null(strstr(error.message, "signal 9"));
    assert_non_null(strstr(error.message, "round 1 "));
}

static void a_failure_in_a_fresh_process_is_told_here(void **state)
{
    (void)state;
    assay_error error = {0};
    assert_int_equal(end_at_third_call(leaves, &error), ASSAY_E_DATA);
    assert_non_null(strstr(error.message, "status 7"));
    assert_non_null(strstr(error.message, "round 1 "));
    assert_int_equal(end_at_third_call(fails, &error), ASSAY_E_IO);
    assert_non_null(strstr(error.message, "'third'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fresh_processes_keep_to_themselves),
        cmocka_unit_test(fresh_processes_keep_the_order),
        cmocka_unit_test(a_dead_process_is_reported),
        cmocka_unit_test(a_failure_in_a_fresh_process_is_told_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
