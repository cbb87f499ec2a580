/* Seed C's summary, then its advice: from shares of the time, and from the batches' times. */
#include <stdlib.h>

#include "assay/bottleneck.h"
#include "assay/report.h"
#include "assay/training.h"
#include "studies/pde/training.h"

/* ---- statistics ---- */

static json_t *reading_json(assay_reading reading)
{
    return reading.validity == ASSAY_VALID ? json_real(reading.value) : json_null();
}

static assay_reading reading_of(json_t *statistics, const char *key)
{
    json_t *value = json_object_get(statistics, key);
    return json_is_number(value) ? assay_reading_of(json_number_value(value))
                                 : assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
}

json_t *assay__pde_statistics_json(const assay_epoch_statistics *statistics)
{
    return json_pack(
        "{sf, so, sf, so, so, so, sI, sI, so}", "total_epoch_time", statistics->total_epoch_time,
        "avg_epoch_time", reading_json(statistics->avg_epoch_time), "total_batch_time",
        statistics->total_batch_time, "avg_batch_time", reading_json(statistics->avg_batch_time),
        "min_batch_time", reading_json(statistics->min_batch_time), "max_batch_time",
        reading_json(statistics->max_batch_time), "num_batches",
        (json_int_t)statistics->num_batches, "num_epochs", (json_int_t)statistics->num_epochs,
        "first_batch_time", reading_json(statistics->first_batch_time));
}

static assay_epoch_statistics statistics_of(json_t *kept)
{
    return (assay_epoch_statistics){
        .total_epoch_time = reading_of(kept, "total_epoch_time").value,
        .avg_epoch_time = reading_of(kept, "avg_epoch_time"),
        .total_batch_time = reading_of(kept, "total_batch_time").value,
        .avg_batch_time = reading_of(kept, "avg_batch_time"),
        .min_batch_time = reading_of(kept, "min_batch_time"),
        .max_batch_time = reading_of(kept, "max_batch_time"),
        .num_batches = (uint64_t)json_integer_value(json_object_get(kept, "num_batches")),
        .num_epochs = (uint64_t)json_integer_value(json_object_get(kept, "num_epochs")),
        .first_batch_time = reading_of(kept, "first_batch_time")};
}

/* ---- what was found ---- */

static double last_of(json_t *results, const char *name)
{
    json_t *list = json_object_get(results, name);
    size_t count = json_array_size(list);
    return count > 0 ? json_number_value(json_array_get(list, count - 1)) : 0;
}

static void print_burgers(json_t *results, const assay__pde_config *config, FILE *stream)
{
    fprintf(stream,
            "\nSurrogate of Burgers' equation, %lld points, viscosity %g: %lld parameters\n"
            "  Final loss:          %.6f\n"
            "  Held out:            %.6f\n"
            "  Relative error:      %.2f%% of the solutions' root mean square\n",
            (long long)config->points, config->viscosity,
            (long long)json_integer_value(json_object_get(results, "parameters")),
            last_of(results, "losses"), last_of(results, "held_out_losses"),
            100 * last_of(results, "relative_errors"));
}

static void print_heat(json_t *results, FILE *stream)
{
    json_t *at = json_object_get(results, "conductivity_at");
    json_t *true_k = json_object_get(results, "conductivity_true");
    json_t *found = json_object_get(results, "conductivity_recovered");
    fprintf(stream,
            "\nConductivity recovered in %lld iterations (%lld evaluations), stopped by %s\n\n"
            "%10s%14s%14s%12s\n",
            (long long)json_integer_value(json_object_get(results, "iterations")),
            (long long)json_integer_value(json_object_get(results, "evaluations")),
            json_string_value(json_object_get(results, "stopped_by")), "x", "true", "recovered",
            "error");
    for (size_t j = 0; j < json_array_size(at); j++) {
        double real = json_number_value(json_array_get(true_k, j));
        double recovered = json_number_value(json_array_get(found, j));
        fprintf(stream, "%10.4f%14.6f%14.6f%+11.3f%%\n", json_number_value(json_array_get(at, j)),
                real, recovered, 100 * (recovered - real) / real);
    }
    fprintf(stream, "\n  Relative error:      %.3f%%\n",
            100 * json_number_value(json_object_get(results, "relative_error")));
}

/* ---- what it took ---- */

static assay_status print_advice(const assay__pde_kept *kept, FILE *stream)
{
    assay_finding *findings = NULL, *of_batches = NULL;
    size_t count = 0, batch_count = 0;
    assay_epoch_statistics statistics = statistics_of(json_object_get(kept->timing, "statistics"));
    assay_status status = assay_bottlenecks_find(kept->record, &findings, &count);
    if (status == ASSAY_OK)
        status = assay_bottlenecks_find_in_epochs(&statistics, &of_batches, &batch_count);
    if (status == ASSAY_OK)
        status = assay_findings_print(findings, count, stream, ASSAY_SHOW_REMEDIES);
    if (status == ASSAY_OK)
        status = assay_findings_print(of_batches, batch_count, stream, ASSAY_SHOW_REMEDIES);
    free(findings);
    free(of_batches);
    return status;
}

assay_status assay__pde_report(const assay__pde_kept *kept, const assay__pde_config *config,
                               FILE *stream, assay_error *error)
{
    assay_status status = ASSAY_OK;
    if (kept->record != NULL) {
        fputc('\n', stream);
        status = assay_report_print(kept->record, "performance", stream, error);
        fputc('\n', stream);
        if (status == ASSAY_OK)
            status = print_advice(kept, stream);
    } else {
        fputs("\nMonitoring is off; trainer_params.enable_memory_monitoring=true turns it on\n",
              stream);
    }
    if (config->equation == ASSAY__PDE_BURGERS)
        print_burgers(kept->results, config, stream);
    else
        print_heat(kept->results, stream);
    return status;
}
