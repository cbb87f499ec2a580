/* Takes one sample: repeats the work so often that it takes much longer than a clock reading, times
 * all repetitions together, and asks the kernel whether the sample was disturbed.
 *
 * The number of iterations is chosen before the first sample and does not change. Samples of
 * different lengths would have different variances, and different shares of costs that occur once
 * for each sample (cold caches after another subject ran). For the same reason, subjects whose
 * speeds are within a factor of eight use the same number of iterations, so that their comparison
 * is fair. */
#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

#include "assay/clock.h"
#include "assay/instrument.h"
#include "assay/sampling.h"
#include "base/error.h"
#include "sampling/account.h"
#include "sampling/sampler.h"
#include "sampling/yardstick.h"

/* The most growth of the number of iterations from one trial to the next; the number of samples in
 * a row that must be long enough; and the largest ratio between subjects that use the same
 * number. */
enum { MAX_GROWTH = 16, TRIALS = 3, MAX_SPREAD = 8 };
static const uint64_t max_iterations = (uint64_t)1 << 40;

/* A sample is disturbed if the thread was preempted more often than this. On every machine the
 * kernel's own threads cause a few preemptions a second. A competitor for the processor causes
 * hundreds. */
static const double switches_per_second = 10.0;

/* User and system time are used from this length of a sample on. It is ten ticks of the kernel, at
 * their longest. */
static const double usage_least_seconds = 0.1;

/* The kernel counts stolen time in ticks of 10 ms, over all processors. So it is checked at most
 * this often. More than this share of the machine's time is a disturbance. */
static const double steal_window_seconds = 0.010;
static const double steal_share = 0.05;

double assay__sampler_elapsed(const assay__sampler *sampler)
{
    return assay_clock_seconds(sampler->clock) - sampler->start_seconds;
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static assay_status call(assay_status (*callback)(void *), void *context)
{
    return callback != NULL ? callback(context) : ASSAY_OK;
}

/* Time one call of `run`. If the clock went backwards (on another processor, or because a
 * hypervisor set it), the sample is disturbed. An unsigned difference would then be centuries. */
static assay_status time_call(const assay__sampler *sampler, const assay_subject *subject,
                              uint64_t iterations, assay_sample *sample)
{
    uint64_t start_ns = assay_clock_now_ns(sampler->clock);
    assay_status status = subject->run(subject->context, iterations);
    uint64_t end_ns = assay_clock_now_ns(sampler->clock);
    if (end_ns < start_ns)
        sample->disturbed = true;
    else
        sample->seconds += (double)(end_ns - start_ns) * 1e-9;
    return status;
}

/* Time iterations one by one. The preparation of each iteration is not timed. */
static assay_status time_iterations(const assay__sampler *sampler, const assay_subject *subject,
                                    uint64_t iterations, assay_sample *sample)
{
    for (uint64_t i = 0; i < iterations; i++) {
        assay_status status = call(subject->set_up_iteration, subject->context);
        if (status == ASSAY_OK)
            status = time_call(sampler, subject, 1, sample);
        if (status == ASSAY_OK)
            status = call(subject->tear_down_iteration, subject->context);
        if (status != ASSAY_OK)
            return status;
    }
    return ASSAY_OK;
}

static assay_status time_run(const assay__sampler *sampler, const assay_subject *subject,
                             uint64_t iterations, assay_sample *sample)
{
    if (subject->set_up_iteration != NULL || subject->tear_down_iteration != NULL)
        return time_iterations(sampler, subject, iterations, sample);
    return time_call(sampler, subject, iterations, sample);
}

/* Store the kernel's figures of a sample. The kernel updates the user and system time of a running
 * thread at its ticks. For samples that are not much longer than a tick, these figures would
 * contain time of other samples. The peak of resident memory is not stored: it belongs to the whole
 * process and says nothing about one subject. */
static void take_usage(assay_sample *sample, const struct rusage *before,
                       const struct rusage *after)
{
    sample->involuntary_switches = assay_reading_of((double)(after->ru_nivcsw - before->ru_nivcsw));
    sample->major_faults = assay_reading_of((double)(after->ru_majflt - before->ru_majflt));
    if (sample->seconds < usage_least_seconds)
        return;
    sample->user_seconds =
        assay_reading_of(seconds_of(after->ru_utime) - seconds_of(before->ru_utime));
    sample->sys_seconds =
        assay_reading_of(seconds_of(after->ru_stime) - seconds_of(before->ru_stime));
}

void assay__sampler_watch_thread(assay__sampler *sampler)
{
    if (!sampler->simulated)
        sampler->schedstat = assay__account_open();
}

void assay__sampler_forget_thread(assay__sampler *sampler)
{
    if (sampler->schedstat >= 0)
        close(sampler->schedstat);
    sampler->schedstat = -1;
}

static assay__account take_account(const assay__sampler *sampler)
{
    return sampler->simulated ? (assay__account){.waited_seconds = NAN}
                              : assay__account_take(sampler->schedstat);
}

static assay_status measure(const assay__sampler *sampler, const assay_subject *subject,
                            uint64_t iterations, assay_sample *sample, double *cpu_seconds)
{
    *cpu_seconds = NAN;
    if (subject->measure != NULL) {
        assay_status status = subject->measure(subject->context, iterations, sample);
        if (sample->user_seconds.validity == ASSAY_VALID &&
            sample->sys_seconds.validity == ASSAY_VALID)
            *cpu_seconds = sample->user_seconds.value + sample->sys_seconds.value;
        return status;
    }
    assay__account before = take_account(sampler);
    assay_status status = time_run(sampler, subject, iterations, sample);
    assay__account after = take_account(sampler);
    double waited = assay__account_waited_seconds(&before, &after, sample->seconds);
    *cpu_seconds = assay__account_cpu_seconds(&before, &after);
    if (before.known && after.known)
        take_usage(sample, &before.usage, &after.usage);
    if (!isnan(waited))
        sample->waited_seconds = assay_reading_of(waited);
    return status;
}

/* The window of a sample on the meter's clock. */
typedef struct metered_window {
    uint64_t begin_ns, end_ns;
} metered_window;

static uint64_t meter_now(const assay__sampler *sampler)
{
    return sampler->options.meter != NULL ? assay_meter_now_ns() : 0;
}

static assay_status take_sample(const assay__sampler *sampler, size_t index, uint64_t iterations,
                                assay_sample *sample, double *cpu_seconds, metered_window *when)
{
    const assay_subject *subject = &sampler->subjects[index];
    assay_reading none = assay_reading_missing(ASSAY_NOT_MEASURED);
    *sample = (assay_sample){.struct_size = sizeof *sample,
                             .user_seconds = none,
                             .sys_seconds = none,
                             .peak_rss_bytes = none,
                             .involuntary_switches = none,
                             .major_faults = none,
                             .waited_seconds = none};
    assay_status status = call(subject->set_up, subject->context);
    if (status == ASSAY_OK) {
        when->begin_ns = meter_now(sampler);
        status = measure(sampler, subject, iterations, sample, cpu_seconds);
        when->end_ns = meter_now(sampler);
        assay_status undone = call(subject->tear_down, subject->context);
        status = status != ASSAY_OK ? status : undone;
    }
    if (status != ASSAY_OK)
        return assay__fail(sampler->error, status, "subject '%s' failed in round %zu: %s",
                           subject->name, sampler->rounds + 1, assay_status_message(status));
    if (!isfinite(sample->seconds) || sample->seconds < 0)
        return assay__fail(sampler->error, ASSAY_E_ARGUMENT,
                           "subject '%s' says that a sample took %g seconds", subject->name,
                           sample->seconds);
    return ASSAY_OK;
}

static bool is_disturbed(const assay_sample *sample)
{
    if (sample->disturbed)
        return true;
    if (sample->major_faults.validity == ASSAY_VALID && sample->major_faults.value > 0)
        return true;
    return sample->involuntary_switches.validity == ASSAY_VALID &&
           sample->involuntary_switches.value > switches_per_second * sample->seconds;
}

static double per_iteration(assay_reading reading, double iterations)
{
    return reading.validity == ASSAY_VALID ? reading.value / iterations : (double)NAN;
}

/* Time the yardstick beside a sample, if the options ask for it; else NAN. */
static double beside(const assay__sampler *sampler)
{
    return sampler->options.yardstick && !sampler->simulated
               ? assay__yardstick_seconds(sampler->clock)
               : (double)NAN;
}

assay_status assay__sampler_shoot(assay__sampler *sampler, size_t subject, assay__shot *shot)
{
    assay_sample sample;
    uint64_t iterations = sampler->iterations[subject];
    double cpu_seconds;
    metered_window when;
    assay_status status = take_sample(sampler, subject, iterations, &sample, &cpu_seconds, &when);
    if (status != ASSAY_OK)
        return status;
    double divisor = (double)iterations;
    *shot = (assay__shot){.seconds = sample.seconds / divisor,
                          .user_seconds = per_iteration(sample.user_seconds, divisor),
                          .sys_seconds = per_iteration(sample.sys_seconds, divisor),
                          .cpu_seconds = cpu_seconds / divisor,
                          .waited_seconds = per_iteration(sample.waited_seconds, divisor),
                          .peak_rss_bytes = per_iteration(sample.peak_rss_bytes, 1),
                          .yardstick_seconds = beside(sampler),
                          .begin_ns = when.begin_ns,
                          .end_ns = when.end_ns,
                          .joules = NAN,
                          .joules_low = NAN,
                          .joules_high = NAN,
                          .disturbed = is_disturbed(&sample),
                          .failed = sample.failed,
                          .lost = sample.failed && !sampler->subjects[subject].time_failures};
    return ASSAY_OK;
}

void assay__sampler_check_steal(assay__sampler *sampler)
{
    double now = assay__sampler_elapsed(sampler);
    double window = now - sampler->steal_checked_seconds;
    if (sampler->simulated || (sampler->steal_known && window < steal_window_seconds))
        return;
    assay_reading steal = assay_machine_steal_seconds();
    bool known = steal.validity == ASSAY_VALID;
    if (known && sampler->steal_known &&
        steal.value - sampler->steal_seconds > steal_share * window * sampler->processors)
        for (size_t i = sampler->steal_from * sampler->count; i < sampler->rounds * sampler->count;
             i++)
            sampler->shots[i].stolen = true;
    sampler->steal_known = known;
    sampler->steal_seconds = steal.value;
    sampler->steal_checked_seconds = now;
    sampler->steal_from = sampler->rounds;
}

static uint64_t bound_of(const assay__sampler *sampler, size_t index)
{
    uint64_t asked = sampler->options.runs > 0 ? 1 : sampler->subjects[index].max_iterations;
    return asked > 0 && asked < max_iterations ? asked : max_iterations;
}

/* The number of iterations for the next trial. */
static uint64_t grown(uint64_t iterations, double seconds, double target_seconds)
{
    double factor = seconds > 0 ? 1.1 * target_seconds / seconds : MAX_GROWTH;
    factor = fmin(fmax(factor, 1.0), MAX_GROWTH);
    return (uint64_t)ceil((double)iterations * factor) + (factor <= 1.0);
}

/* Find the smallest number of iterations with which a sample is long enough several times in a row.
 * Several samples are needed, because the first calls are slow for temporary reasons, and because
 * the thread may have been preempted in a single one. A sample that is ten times as long as
 * necessary counts twice, which saves slow subjects a call. */
static assay_status calibrate_one(assay__sampler *sampler, size_t index)
{
    uint64_t bound = bound_of(sampler, index);
    uint64_t iterations = 1;
    for (int good = 0; good < TRIALS && bound > 1;) {
        assay_sample sample;
        double cpu_seconds;
        metered_window when;
        assay_status status = take_sample(sampler, index, iterations, &sample, &cpu_seconds, &when);
        if (status != ASSAY_OK)
            return status;
        bool spent = assay__sampler_elapsed(sampler) > sampler->options.budget_seconds / 10;
        if (sample.seconds >= sampler->target_seconds) {
            bool ample = sample.seconds > 10 * sampler->target_seconds;
            good += spent ? TRIALS : ample ? 2 : 1;
            continue;
        }
        if (iterations == max_iterations)
            return assay__fail(sampler->error, ASSAY_E_DATA,
                               "subject '%s' takes no time, however often it is repeated; was its "
                               "work optimised away?",
                               sampler->subjects[index].name);
        if (iterations == bound)
            break;
        good = 0;
        iterations = grown(iterations, sample.seconds, sampler->target_seconds);
        iterations = iterations < bound ? iterations : bound;
    }
    sampler->iterations[index] = iterations;
    return ASSAY_OK;
}

assay_status assay__sampler_calibrate(assay__sampler *sampler)
{
    uint64_t least = UINT64_MAX, most = 1, bound = max_iterations;
    for (size_t i = 0; i < sampler->count; i++) {
        assay_status status = calibrate_one(sampler, i);
        if (status != ASSAY_OK)
            return status;
        uint64_t found = sampler->iterations[i], own = bound_of(sampler, i);
        least = found < least ? found : least;
        most = found > most ? found : most;
        bound = own < bound ? own : bound;
    }
    if (most / MAX_SPREAD <= least && most <= bound)
        for (size_t i = 0; i < sampler->count; i++)
            sampler->iterations[i] = most;
    return ASSAY_OK;
}
