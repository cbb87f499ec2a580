/* Figures of one training run: its convergence from the loss curve, a simple warm-up analysis that
 * compares the first epoch with the mean of the others, and its bottlenecks from the times of the
 * batches. */
#include "assay/training.h"

#include <math.h>

#include "analyze/bottleneck.h"

static bool all_times(const double *seconds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(seconds[i]) || seconds[i] < 0.0)
            return false;
    return true;
}

static double sum(const double *values, size_t count)
{
    double total = 0.0;
    for (size_t i = 0; i < count; i++)
        total += values[i];
    return total;
}

assay_status assay_convergence_analyze(const double *losses, const double *epoch_seconds,
                                       size_t count, double threshold,
                                       assay_convergence *convergence)
{
    if (isnan(threshold) || (epoch_seconds != NULL && !all_times(epoch_seconds, count)))
        return ASSAY_E_ARGUMENT;
    const assay_reading unknown = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    const assay_reading untimed = assay_reading_missing(ASSAY_NOT_MEASURED);
    assay_convergence result = {.epochs_to_converge = unknown,
                                .time_to_converge = epoch_seconds != NULL ? unknown : untimed,
                                .best_loss = unknown,
                                .best_epoch = unknown,
                                .final_loss = unknown,
                                .total_seconds = untimed,
                                .threshold = threshold,
                                .epochs = count};
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(losses[i]))
            continue;
        if (result.best_loss.validity != ASSAY_VALID || losses[i] < result.best_loss.value) {
            result.best_loss = assay_reading_of(losses[i]);
            result.best_epoch = assay_reading_of((double)(i + 1));
        }
        if (!result.converged && losses[i] <= threshold) {
            result.converged = true;
            result.epochs_to_converge = assay_reading_of((double)(i + 1));
            if (epoch_seconds != NULL)
                result.time_to_converge = assay_reading_of(sum(epoch_seconds, i + 1));
        }
    }
    if (count > 0 && isfinite(losses[count - 1]))
        result.final_loss = assay_reading_of(losses[count - 1]);
    if (epoch_seconds != NULL)
        result.total_seconds = assay_reading_of(sum(epoch_seconds, count));
    *convergence = result;
    return ASSAY_OK;
}

assay_status assay_warmup_analyze(const double *epoch_seconds, size_t count, assay_warmup *warmup)
{
    if (count == 0)
        return ASSAY_E_DATA;
    if (!all_times(epoch_seconds, count))
        return ASSAY_E_ARGUMENT;
    const assay_reading unknown = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    assay_warmup result = {.first_epoch_time = epoch_seconds[0],
                           .avg_steady_state_time = unknown,
                           .warmup_overhead = unknown,
                           .warmup_overhead_pct = unknown};
    if (count > 1) {
        size_t rest = count - 1;
        double steady = sum(epoch_seconds + 1, rest) / (double)rest;
        double overhead = epoch_seconds[0] - steady;
        result.avg_steady_state_time = assay_reading_of(steady);
        result.warmup_overhead = assay_reading_of(overhead);
        if (steady > 0.0)
            result.warmup_overhead_pct = assay_reading_of(100.0 * overhead / steady);
    }
    *warmup = result;
    return ASSAY_OK;
}

assay_status assay_bottlenecks_find_in_epochs(const assay_epoch_statistics *statistics,
                                              assay_finding **findings, size_t *count)
{
    *findings = NULL;
    *count = 0;
    if (statistics->num_batches < 2)
        return ASSAY_OK;
    double others = statistics->total_batch_time - statistics->first_batch_time.value;
    const assay__operation_row batches = {
        .name = "batch",
        .count = statistics->num_batches,
        .min_seconds = statistics->min_batch_time,
        .max_seconds = statistics->max_batch_time,
        .first_seconds = statistics->first_batch_time,
        .rest_seconds = assay_reading_of(others / (double)(statistics->num_batches - 1))};
    return assay__bottlenecks_of(&batches, findings, count);
}
