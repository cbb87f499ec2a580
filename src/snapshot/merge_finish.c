/* Computes the figures of a merged record that need all journals: quantiles from the buckets,
 * deviations from the moments, intervals, energy, self times and totals. */
#include <math.h>

#include "assay/record_build.h"
#include "snapshot/merge.h"
#include "stats/distribution.h"

double assay__bucket_quantile(const assay_record_bucket *buckets, size_t count, double q)
{
    uint64_t total = 0, seen = 0;
    for (size_t i = 0; i < count; i++)
        total += buckets[i].count;
    double rank = ceil(q * (double)total);
    for (size_t i = 0; i < count; i++) {
        seen += buckets[i].count;
        if ((double)seen >= rank && seen > 0)
            return buckets[i].seconds;
    }
    return buckets[count - 1].seconds;
}

/* A quantile. It is missing unless at least one value is expected beyond it. */
static assay_reading quantile(const assay_record_operation *operation, double q)
{
    if (operation->bucket_count == 0 || (double)operation->count * (1 - q) < 1.0 - 1e-9)
        return assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    double value = assay__bucket_quantile(operation->buckets, operation->bucket_count, q);
    return assay_reading_of(
        fmin(fmax(value, operation->min_seconds.value), operation->max_seconds.value));
}

/* If memory was requested and there is no reading of it, reading it is not supported. */
static void explain_memory(assay_record_operation *operation, unsigned modes)
{
    enum { RSS_MODE = 1, HEAP_MODE = 2 }; /* assay_monitor_memory */
    assay_reading unsupported = assay_reading_missing(ASSAY_UNSUPPORTED);
    if ((modes & RSS_MODE) != 0 && operation->rss_delta_bytes.validity != ASSAY_VALID)
        operation->rss_delta_bytes = operation->rss_peak_bytes = unsupported;
    if ((modes & HEAP_MODE) != 0 && operation->heap_delta_bytes.validity != ASSAY_VALID)
        operation->heap_delta_bytes = operation->heap_peak_bytes = operation->heap_allocations =
            unsupported;
}

/* Compute the time on devices and its interval. The interval of the sum is the interval of the
 * mean, times the number of spans. */
static void finish_device(assay_record_operation *operation, assay__moments device)
{
    operation->gpu_spans = device.count;
    if (device.count == 0)
        return;
    double count = (double)device.count, sum = device.mean * count;
    operation->gpu_seconds = assay_reading_of(sum);
    operation->gpu_seconds_low = operation->gpu_seconds_high =
        assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    if (device.count < 2)
        return;
    double half = assay__stats_student_quantile(0.975, count - 1) *
                  assay__moments_deviation(device) * sqrt(count);
    operation->gpu_seconds_low = assay_reading_of(fmax(sum - half, 0));
    operation->gpu_seconds_high = assay_reading_of(sum + half);
}

/* Compute the energy of an operation. If the operation had time on streams, the energy of the GPUs
 * is that of this time. If it had, and that energy is not known, the energy beside its threads says
 * nothing about it. */
static void finish_energy(assay_record_operation *operation, const assay__merge_state *state)
{
    const assay__journal_joules cpu = state->cpu;
    const assay__journal_joules gpu = state->gpu.high > 0 ? state->gpu : state->gpu_beside;
    if (!(state->metered_seconds > 0))
        return;
    if (state->device.count > 0 && !(state->gpu.high > 0) && state->gpu_beside.high > 0) {
        operation->energy_joules = operation->energy_joules_low = operation->energy_joules_high =
            assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
        return;
    }
    operation->energy_joules = state->metered_seconds >= state->period_seconds
                                   ? assay_reading_of(cpu.sum + gpu.sum)
                                   : assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    operation->energy_joules_low = assay_reading_of(cpu.low + gpu.low);
    operation->energy_joules_high = assay_reading_of(cpu.high + gpu.high);
}

static void finish_operation(const assay__merge *merge, size_t index)
{
    assay_record_operation *operation = &merge->record->operations[index];
    assay__moments moments = {operation->count, 0, merge->states[index].square_sum};
    assay_reading none = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    if (operation->count == 0)
        operation->min_seconds = operation->max_seconds = operation->mean_seconds = none;
    operation->std_seconds =
        operation->count > 1 ? assay_reading_of(assay__moments_deviation(moments)) : none;
    operation->p50_seconds =
        operation->count == 1 ? operation->min_seconds : quantile(operation, 0.5);
    operation->p95_seconds = quantile(operation, 0.95);
    operation->p99_seconds = quantile(operation, 0.99);
    operation->p999_seconds = quantile(operation, 0.999);
    explain_memory(operation, merge->memory_modes);
    finish_device(operation, merge->states[index].device);
    finish_energy(operation, &merge->states[index]);
}

/* Compute the self time of all operations, and the total of the record. */
static void finish_totals(assay_record *record)
{
    for (size_t i = 0; i < record->operation_count; i++) {
        assay_record_operation *operation = &record->operations[i];
        operation->self_seconds = operation->total_seconds;
        if (operation->parent < 0)
            record->total_seconds += operation->total_seconds;
        else
            record->operations[operation->parent].self_seconds -= operation->total_seconds;
    }
    for (size_t i = 0; i < record->operation_count; i++)
        record->operations[i].self_seconds = fmax(0.0, record->operations[i].self_seconds);
}

assay_record *assay__merge_finish(assay__merge *merge)
{
    assay_record *record = merge->record;
    for (size_t i = 0; i < record->operation_count; i++)
        finish_operation(merge, i);
    finish_totals(record);
    merge->record = NULL;
    return record;
}
