/* Sampling on the real clock and processors of this machine. */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "assay/sampling.h"

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

/* One for each sample that counts, and only when asked for. */
static const assay_record_measure *find_measure(const assay_record_subject *subject,
                                                const char *metric)
{
    for (size_t i = 0; i < subject->measure_count; i++)
        if (strcmp(subject->measures[i].metric, metric) == 0)
            return &subject->measures[i];
    return NULL;
}

static assay_status compute(void *context, uint64_t iterations)
{
    volatile double *x = context;
    for (uint64_t i = 0; i < 1000 * iterations; i++)
        *x = *x * 0.999 + 0.001;
    return ASSAY_OK;
}

static assay_status doze(void *context, uint64_t iterations)
{
    (void)context;
    const struct timespec nap = {.tv_nsec = 2000000};
    for (uint64_t i = 0; i < iterations; i++)
        nanosleep(&nap, NULL);
    return ASSAY_OK;
}

/* How much of it depends on what else runs and on how a hypervisor books what it took; that it is
 * there, and that nobody waited longer than he took, does not. */
static void processor_time_is_known_of_each_sample(void **state)
{
    (void)state;
    double x = 0.5;
    assay_subject subjects[2] = {ASSAY_SUBJECT_INIT, ASSAY_SUBJECT_INIT};
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    assay_record *record = NULL;
    subjects[0].name = "compute";
    subjects[0].run = compute;
    subjects[0].context = &x;
    subjects[1].name = "doze";
    subjects[1].run = doze;
    options.max_rounds = 20;
    options.fixed_rounds = true;
    options.min_sample_seconds = 2e-3;
    assert_int_equal(assay_sampling_run(subjects, 2, &options, NULL, &record), ASSAY_OK);
    for (size_t k = 0; k < 2; k++) {
        const assay_record_subject *subject = &record->subjects[k];
        const assay_record_measure *busy = find_measure(subject, "cpu_seconds");
        const assay_record_measure *waited = find_measure(subject, "waited_seconds");
        double wall = 0, used = 0, ready = 0;
        assert_non_null(busy);
        for (size_t i = 0; i < subject->sample_count; i++) {
            wall += subject->samples_seconds[i];
            used += busy->samples[i];
            ready += waited != NULL ? waited->samples[i] : 0;
        }
        assert_true(ready >= 0 && ready <= wall);
        assert_true(k == 0 ? used > 0 : used >= 0);
    }
    assay_record_free(record);
}

static void a_yardstick_stands_beside_each_sample(void **state)
{
    (void)state;
    uint64_t sum = 0;
    assay_subject subject = ASSAY_SUBJECT_INIT;
    subject.name = "sum";
    subject.context = &sum;
    subject.run = add_up;
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.runs = 7;
    for (int asked = 0; asked < 2; asked++) {
        assay_record *record = NULL;
        options.yardstick = asked == 1;
        assert_int_equal(assay_sampling_run(&subject, 1, &options, NULL, &record), ASSAY_OK);
        const assay_record_subject *found = &record->subjects[0];
        const assay_record_measure *yardstick = find_measure(found, "yardstick_seconds");
        assert_int_equal(yardstick != NULL, asked);
        for (size_t i = 0; asked == 1 && i < found->sample_count; i++)
            assert_true(yardstick->samples[i] > 1e-7);
        if (asked == 1)
            assert_int_equal(yardstick->sample_count, 7);
        assay_record_free(record);
    }
}

static double own_seconds(void)
{
    struct timespec time;
    assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time), 0);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static assay_status be_busy(void *context, uint64_t iterations)
{
    const double *seconds = context;
    double end_seconds = own_seconds() + *seconds * (double)iterations;
    while (own_seconds() < end_seconds)
        ;
    return ASSAY_OK;
}

/* To within the kernel's ticks at both ends, which are late on a virtual machine that waits for a
 * processor. */
static void long_samples_know_their_processor_time(void **state)
{
    (void)state;
    double seconds = 0.25;
    assay_subject subject = ASSAY_SUBJECT_INIT;
    subject.name = "busy";
    subject.context = &seconds;
    subject.run = be_busy;
    subject.max_iterations = 1;
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.min_rounds = options.max_rounds = 3;
    assay_record *record = NULL;
    assert_int_equal(assay_sampling_run(&subject, 1, &options, NULL, &record), ASSAY_OK);
    const assay_record_subject *found = &record->subjects[0];
    assert_int_equal(found->user_seconds.validity, ASSAY_VALID);
    assert_int_equal(found->sys_seconds.validity, ASSAY_VALID);
    double used = found->user_seconds.value + found->sys_seconds.value;
    assert_true(used > 0.7 * seconds && used < 1.3 * seconds);
    assert_true(found->sys_seconds.value >= 0 && found->user_seconds.value >= 0);
    assay_record_free(record);
}

/* Runs on one processor until it is killed. */
static pid_t start_a_competitor(int cpu)
{
    pid_t child = fork();
    if (child == 0) {
        cpu_set_t only;
        CPU_ZERO(&only);
        CPU_SET((size_t)cpu, &only);
        if (sched_setaffinity(0, sizeof only, &only) != 0)
            _exit(1);
        for (volatile unsigned spun = 0;;)
            spun = spun + 1;
    }
    return child;
}

/* Who shares a processor is switched out against its will, in each 40 ms and more. */
static void a_competitor_disturbs(void **state)
{
    (void)state;
    double seconds = 0.04;
    cpu_set_t allowed;
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    assay_subject subject = ASSAY_SUBJECT_INIT;
    subject.name = "busy";
    subject.context = &seconds;
    subject.run = be_busy;
    subject.max_iterations = 1;
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.min_rounds = options.max_rounds = 4;
    options.pin = true;
    while (!CPU_ISSET((size_t)options.cpu, &allowed))
        options.cpu++;
    pid_t competitor = start_a_competitor(options.cpu);
    assert_true(competitor > 0);
    assay_record *record = NULL;
    assay_status status = assay_sampling_run(&subject, 1, &options, NULL, &record);
    kill(competitor, SIGKILL);
    waitpid(competitor, NULL, 0);
    assert_int_equal(status, ASSAY_OK);
    assert_in_range(record->subjects[0].disturbed_samples, 2, 4);
    assay_record_free(record);
}

static assay_status find_out_where(void *context, uint64_t iterations)
{
    cpu_set_t *seen = context;
    (void)iterations;
    return sched_getaffinity(0, sizeof *seen, seen) == 0 ? ASSAY_OK : ASSAY_E_IO;
}

/* Pinned when asked for, and for the sampling alone. */
static void pinning_is_undone(void **state)
{
    (void)state;
    cpu_set_t before, after;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    if (CPU_COUNT(&before) < 2)
        skip();
    cpu_set_t during;
    assay_subject subject = ASSAY_SUBJECT_INIT;
    subject.name = "where";
    subject.context = &during;
    subject.run = find_out_where;
    subject.max_iterations = 1;
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.max_rounds = 3;
    while (!CPU_ISSET((size_t)options.cpu, &before))
        options.cpu++;
    assay_record *record = NULL;
    assert_int_equal(assay_sampling_run(&subject, 1, &options, NULL, &record), ASSAY_OK);
    assert_true(CPU_EQUAL(&before, &during));
    assay_record_free(record);
    options.pin = true;
    assert_int_equal(assay_sampling_run(&subject, 1, &options, NULL, &record), ASSAY_OK);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
    assert_int_equal(CPU_COUNT(&during), 1);
    assert_true(CPU_ISSET((size_t)options.cpu, &during));
    assay_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pinning_is_undone), /* first: nobody has pinned this process yet */
        cmocka_unit_test(samples_are_long_beside_the_clock),
        cmocka_unit_test(a_yardstick_stands_beside_each_sample),
        cmocka_unit_test(processor_time_is_known_of_each_sample),
        cmocka_unit_test(long_samples_know_their_processor_time),
        cmocka_unit_test(a_competitor_disturbs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
