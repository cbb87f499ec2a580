/* Views of the study's record: the report, losses.csv and results.json. The report has the summary
 * of the performance monitor, advice from the shares of the time and the times of the batches, and
 * the results of the training. */
#include <stdlib.h>

#include "assay/bottleneck.h"
#include "assay/report.h"
#include "assay/training.h"
#include "studies/pde/training.h"

/* The series with this name, or an empty series if there is none, so that the views need no
 * check. */
static assay_record_series series_of(const assay_record *found, const assay__pde_config *config,
                                     const char *name)
{
    const assay_record_series *series =
        assay__record_find_series(found, name, assay__pde_model_of(config));
    return series != NULL ? *series : (assay_record_series){0};
}

static assay_reading figure_of(const assay_record *found, const assay__pde_config *config,
                               const char *name)
{
    return assay__record_figure(found, name, assay__pde_model_of(config));
}

static long long count_of(const assay_record *found, const assay__pde_config *config,
                          const char *name)
{
    return (long long)figure_of(found, config, name).value;
}

static const char *stop_word(const assay_record *found, const assay__pde_config *config)
{
    long long index = count_of(found, config, "stopped_by");
    return index >= 0 && index < ASSAY__PDE_STOP_WORDS ? assay__pde_stop_words[index] : "?";
}

static double parameters_of(const assay_record *found, const assay__pde_config *config)
{
    const assay_record_model *model = assay__record_find_model(found, assay__pde_model_of(config));
    return model != NULL ? model->parameters.value : 0;
}

/* ---- results ---- */

static double last_of(const assay_record *found, const assay__pde_config *config, const char *name)
{
    assay_record_series series = series_of(found, config, name);
    return series.count > 0 ? series.values[series.count - 1] : 0;
}

static void print_burgers(const assay_record *found, const assay__pde_config *config, FILE *stream)
{
    fprintf(stream,
            "\nSurrogate of Burgers' equation, %lld points, viscosity %g: %.0f parameters\n"
            "  Final loss:          %.6f\n"
            "  Held out:            %.6f\n"
            "  Relative error:      %.2f%% of the solutions' root mean square\n",
            (long long)config->points, config->viscosity, parameters_of(found, config),
            last_of(found, config, "loss"), last_of(found, config, "held_out_loss"),
            100 * last_of(found, config, "relative_error"));
}

static void print_heat(const assay_record *found, const assay__pde_config *config, FILE *stream)
{
    assay_record_series real = series_of(found, config, "conductivity_true");
    assay_record_series recovered = series_of(found, config, "conductivity_recovered");
    fprintf(stream,
            "\nConductivity recovered in %lld iterations (%lld evaluations), stopped by %s\n\n"
            "%10s%14s%14s%12s\n",
            count_of(found, config, "iterations"), count_of(found, config, "evaluations"),
            stop_word(found, config), "x", "true", "recovered", "error");
    for (size_t j = 0; j < real.count && j < recovered.count && real.places != NULL; j++)
        fprintf(stream, "%10.4f%14.6f%14.6f%+11.3f%%\n", real.places[j], real.values[j],
                recovered.values[j], 100 * (recovered.values[j] - real.values[j]) / real.values[j]);
    fprintf(stream, "\n  Relative error:      %.3f%%\n",
            100 * figure_of(found, config, "relative_error").value);
}

/* ---- times ---- */

static assay_status print_advice(const assay_record *found, FILE *stream)
{
    assay_finding *findings = NULL, *of_batches = NULL;
    size_t count = 0, batch_count = 0;
    assay_epoch_statistics statistics = assay__pde_statistics_of(found);
    assay_status status = assay_bottlenecks_find(found, &findings, &count);
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

assay_status assay__pde_report(const assay_record *found, const assay__pde_config *config,
                               FILE *stream, assay_error *error)
{
    assay_status status = ASSAY_OK;
    if (config->enable_memory_monitoring) {
        fputc('\n', stream);
        status = assay_report_print(found, "performance", stream, error);
        fputc('\n', stream);
        if (status == ASSAY_OK)
            status = print_advice(found, stream);
    } else {
        fputs("\nMonitoring is off; trainer_params.enable_memory_monitoring=true turns it on\n",
              stream);
    }
    if (config->equation == ASSAY__PDE_BURGERS)
        print_burgers(found, config, stream);
    else
        print_heat(found, config, stream);
    return status;
}

/* ---- files ---- */

void assay__pde_losses_print(const assay_record *found, const assay__pde_config *config,
                             FILE *stream)
{
    bool burgers = config->equation == ASSAY__PDE_BURGERS;
    assay_record_series losses = series_of(found, config, "loss");
    assay_record_series held_out = series_of(found, config, "held_out_loss");
    assay_record_series relative = series_of(found, config, "relative_error");
    fputs(burgers ? "epoch,loss,held_out_loss,relative_error\n" : "iteration,loss\n", stream);
    for (size_t i = 0; i < losses.count; i++) {
        fprintf(stream, "%zu,%.9g", i + 1, losses.values[i]);
        if (i < held_out.count && i < relative.count)
            fprintf(stream, ",%.9g,%.9g", held_out.values[i], relative.values[i]);
        fputc('\n', stream);
    }
}

static int set_series(json_t *object, const char *key, assay_record_series series)
{
    return json_object_set_new(object, key, assay__json_numbers(series.values, series.count));
}

static int set_burgers(json_t *object, const assay_record *found, const assay__pde_config *config)
{
    int failed = set_series(object, "losses", series_of(found, config, "loss"));
    failed |= set_series(object, "held_out_losses", series_of(found, config, "held_out_loss"));
    failed |= set_series(object, "relative_errors", series_of(found, config, "relative_error"));
    failed |= json_object_set_new(object, "parameters",
                                  json_integer((json_int_t)parameters_of(found, config)));
    return failed;
}

static int set_heat(json_t *object, const assay_record *found, const assay__pde_config *config)
{
    assay_record_series real = series_of(found, config, "conductivity_true"), at = real;
    at.values = real.places;
    int failed = set_series(object, "losses", series_of(found, config, "loss"));
    failed |= json_object_set_new(object, "iterations",
                                  json_integer(count_of(found, config, "iterations")));
    failed |= json_object_set_new(object, "evaluations",
                                  json_integer(count_of(found, config, "evaluations")));
    failed |= json_object_set_new(object, "stopped_by", json_string(stop_word(found, config)));
    failed |= real.places == NULL ? 0 : set_series(object, "conductivity_at", at);
    failed |= set_series(object, "conductivity_true", real);
    failed |= set_series(object, "conductivity_recovered",
                         series_of(found, config, "conductivity_recovered"));
    failed |= assay__json_set_reading(object, "relative_error",
                                      figure_of(found, config, "relative_error"));
    failed |= assay__json_set_reading(object, "largest_relative_error",
                                      figure_of(found, config, "largest_relative_error"));
    return failed;
}

static json_t *unless_failed(json_t *object, int failed)
{
    if (failed == 0)
        return object;
    json_decref(object);
    return NULL;
}

json_t *assay__pde_results_json(const assay_record *found, const assay__pde_config *config)
{
    json_t *object = json_object();
    return unless_failed(object, config->equation == ASSAY__PDE_BURGERS
                                     ? set_burgers(object, found, config)
                                     : set_heat(object, found, config));
}

json_t *assay__pde_timing_json(const assay_record *found, const assay__pde_config *config)
{
    const assay_record_subject *batches = assay__record_find_subject(found, "batch");
    json_t *timing = json_object(), *statistics = NULL;
    int failed = json_object_set_new(
        timing, "batch_seconds",
        batches == NULL ? json_array()
                        : assay__json_numbers(batches->samples_seconds, batches->sample_count));
    if (config->enable_memory_monitoring) {
        statistics = json_object();
        failed |= assay__pde_set_statistics(statistics, found);
        failed |= json_object_set_new(timing, "statistics", statistics);
    }
    return unless_failed(timing, failed);
}
