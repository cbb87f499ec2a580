/* Computes the figures of a series of durations, and implements the short form of sampling, whose
 * result they are. */
#include "assay/sampling.h"
#include "assay/stats.h"
#include "base/struct_size.h"
#include "sampling/figures.h"
#include "stats/doubt.h"
#include "stats/mean.h"

enum { DEFAULT_RUNS = 100, DEFAULT_WARMUP = 10 };

static const double level = 0.95;

static assay_reading steady_from(const double *seconds, size_t count)
{
    assay_steady steady;
    bool found = assay_stats_find_steady(seconds, count, &steady) == ASSAY_OK &&
                 steady.state == ASSAY_STEADY;
    return found ? assay_reading_of((double)steady.from)
                 : assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
}

typedef struct figures {
    assay_interval interval;
    assay_summary summary;
    const char *doubt;
} figures;

static assay_status describe(const double *seconds, size_t count, figures *found)
{
    assay_status status = assay__stats_time_interval(seconds, count, level, &found->interval);
    if (status == ASSAY_OK)
        status = assay_stats_summarize(seconds, count, &found->summary);
    return status == ASSAY_OK ? assay__stats_mean_doubt(seconds, count, &found->doubt) : status;
}

assay_status assay_timing_summarize(const double *seconds, size_t count, assay_timing *timing)
{
    figures found;
    assay_status status = count > 0 ? describe(seconds, count, &found) : ASSAY_E_DATA;
    if (status != ASSAY_OK)
        return status;
    assay_interval interval = found.interval;
    assay_summary summary = found.summary;
    *timing = (assay_timing){.count = count,
                             .total_seconds = summary.mean.value * (double)count,
                             .mean_seconds = summary.mean.value,
                             .min_seconds = summary.min.value,
                             .max_seconds = summary.max.value,
                             .std_seconds = summary.std,
                             .low_seconds = {interval.low, interval.validity},
                             .high_seconds = {interval.high, interval.validity},
                             .p50_seconds = summary.median,
                             .p95_seconds = summary.p95,
                             .p99_seconds = summary.p99,
                             .steady_from = steady_from(seconds, count),
                             .slow_count = summary.slow_count,
                             .slow_ratio = summary.slow_ratio,
                             .doubt = found.doubt};
    return ASSAY_OK;
}

assay_status assay__subject_fill_time(assay_record_subject *subject)
{
    figures found;
    assay_status status = describe(subject->samples_seconds, subject->sample_count, &found);
    if (status != ASSAY_OK)
        return status;
    assay_interval interval = found.interval;
    assay_summary summary = found.summary;
    subject->mean_seconds = summary.mean;
    subject->low_seconds = (assay_reading){interval.low, interval.validity};
    subject->high_seconds = (assay_reading){interval.high, interval.validity};
    subject->median_seconds = summary.median;
    subject->std_seconds = summary.std;
    subject->min_seconds = summary.min;
    subject->max_seconds = summary.max;
    subject->slow_samples = summary.slow_count;
    if (summary.slow_count > 0)
        subject->slow_ratio = summary.slow_ratio;
    subject->doubt = found.doubt;
    return ASSAY_OK;
}

typedef struct call {
    assay_function function;
    void *argument;
} call;

static assay_status run_call(void *context, uint64_t iterations)
{
    const call *self = context;
    assay_status status = ASSAY_OK;
    for (uint64_t i = 0; i < iterations && status == ASSAY_OK; i++)
        status = self->function(self->argument);
    return status;
}

assay_status assay_benchmark_function(assay_function function, void *argument,
                                      const assay_sampling_options *options, assay_error *error,
                                      assay_timing *timing)
{
    assay_sampling_options own;
    assay_status status =
        assay__struct_take(&own, sizeof own, options, "assay_sampling_options", error);
    if (status != ASSAY_OK)
        return status;
    if (own.runs == 0)
        own.runs = DEFAULT_RUNS;
    if (own.warmup == 0 && !own.no_warmup)
        own.warmup = DEFAULT_WARMUP;
    call self = {function, argument};
    assay_subject subject = ASSAY_SUBJECT_INIT;
    subject.name = "function";
    subject.run = run_call;
    subject.context = &self;
    assay_record *record = NULL;
    status = assay_sampling_run(&subject, 1, &own, error, &record);
    if (status == ASSAY_OK)
        status = assay_timing_summarize(record->subjects[0].samples_seconds,
                                        record->subjects[0].sample_count, timing);
    assay_record_free(record);
    return status;
}
