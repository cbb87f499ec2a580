/* The seed's tables (B0, B3, B4, B8) from the times on record, and below the speed-ups what
 * interleaved repetitions say about them: the totals come from one training each, minutes apart. */
#include "studies/fields/report.h"

#include <math.h>
#include <string.h>

#include "assay/record.h"
#include "assay/timers.h"
#include "assay/training.h"
#include "base/error.h"
#include "base/file.h"
#include "studies/common/json_file.h"

static const char section[] = "fields";

/* ---- analysis ---- */

static double model_seconds(const assay__fields_findings *findings, size_t model)
{
    double sum = 0;
    for (size_t f = 0; f < ASSAY__FIELDS_FUNCTIONS; f++)
        sum += findings->results[f][model].total_seconds;
    return sum;
}

static assay_status enter_model(assay__fields_findings *findings, size_t model)
{
    const char *label = assay__fields_models[model].label;
    double rmse = 0, r2 = 0;
    for (size_t f = 0; f < ASSAY__FIELDS_FUNCTIONS; f++) {
        rmse += findings->results[f][model].rmse / ASSAY__FIELDS_FUNCTIONS;
        r2 += findings->results[f][model].r2 / ASSAY__FIELDS_FUNCTIONS;
    }
    const struct {
        const char *key;
        double value;
    } metrics[] = {
        {"epochs", (double)(findings->options.epochs * ASSAY__FIELDS_FUNCTIONS)},
        {"parameters", (double)findings->results[0][model].parameters},
        {"mean_rmse", rmse},
        {"mean_r2", r2},
    };
    assay_status status = assay_timers_set(findings->timers, label, model_seconds(findings, model));
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics && status == ASSAY_OK; i++)
        status = assay_timers_set_metric(findings->timers, label, metrics[i].key,
                                         assay_reading_of(metrics[i].value));
    return status;
}

static assay_status analyze_model(assay__fields_findings *findings, size_t model)
{
    const assay__fields_result *first = &findings->results[0][model];
    assay_status status = ASSAY_OK;
    for (size_t f = 0; f < ASSAY__FIELDS_FUNCTIONS && status == ASSAY_OK; f++) {
        const assay__fields_result *result = &findings->results[f][model];
        status = assay_convergence_analyze(result->losses, result->seconds, (size_t)result->epochs,
                                           findings->options.threshold,
                                           &findings->convergence[model][f]);
    }
    if (status == ASSAY_OK)
        status = assay_convergence_summarize(findings->convergence[model], ASSAY__FIELDS_FUNCTIONS,
                                             &findings->converged[model]);
    if (status == ASSAY_OK)
        status =
            assay_warmup_analyze(first->seconds, (size_t)first->epochs, &findings->warmup[model]);
    if (status == ASSAY_OK)
        status = assay_warmup_detect(first->seconds, (size_t)first->epochs,
                                     &findings->warmup_detected[model]);
    if (status == ASSAY_OK)
        status = enter_model(findings, model);
    return status;
}

assay_status assay__fields_analyze(assay__fields_findings *findings, assay_error *error)
{
    assay_speedup ratios[ASSAY__FIELDS_MODELS];
    assay_status status = assay_timers_new(NULL, &findings->timers);
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS && status == ASSAY_OK; m++)
        status = analyze_model(findings, m);
    if (status == ASSAY_OK)
        status = assay_speedup_ratios(findings->timers, findings->options.baseline, error, ratios,
                                      &findings->baseline);
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS && status == ASSAY_OK; m++)
        status = assay_speedup_compare(findings->round_seconds[findings->baseline],
                                       findings->rounds, findings->round_seconds[m],
                                       findings->rounds, true, &findings->verdicts[m]);
    return status == ASSAY_OK || (error != NULL && error->message[0] != '\0')
               ? status
               : assay__fail(error, status, "%s", assay_status_message(status));
}

/* ---- text ---- */

static void print_accuracy(const assay__fields_findings *findings, FILE *stream)
{
    fprintf(stream, "Accuracy on a grid of test points; converged: loss of an epoch <= %g\n\n",
            findings->options.threshold);
    fprintf(stream, "%-10s%-7s%13s%13s%10s%13s%14s\n", "Function", "Model", "Final loss", "RMSE",
            "R2", "Max error", "Converged in");
    for (size_t f = 0; f < ASSAY__FIELDS_FUNCTIONS; f++) {
        for (size_t m = 0; m < ASSAY__FIELDS_MODELS; m++) {
            const assay__fields_result *result = &findings->results[f][m];
            const assay_convergence *convergence = &findings->convergence[m][f];
            char epochs[32] = "never";
            if (convergence->converged)
                snprintf(epochs, sizeof epochs, "%.0f epochs",
                         convergence->epochs_to_converge.value);
            fprintf(stream, "%-10s%-7s%13.4g%13.4g%10.4f%13.4g%14s\n",
                    m == 0 ? assay__fields_functions[f].name : "", assay__fields_models[m].label,
                    result->losses[result->epochs - 1], result->rmse, result->r2,
                    result->largest_error, epochs);
        }
    }
    fputc('\n', stream);
}

static assay_status print_totals(const assay__fields_findings *findings, FILE *stream)
{
    assay_timers *timers = NULL;
    assay_status status = assay_timers_new(NULL, &timers);
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS && status == ASSAY_OK; m++) {
        char name[64];
        snprintf(name, sizeof name, "%s training", assay__fields_models[m].label);
        status = assay_timers_set(timers, name, model_seconds(findings, m));
    }
    if (status == ASSAY_OK)
        status = assay_print_timing_summary(timers, stream, section, ASSAY__FIELDS_FUNCTIONS);
    assay_timers_free(timers);
    return status;
}

static assay_status print_speedups(const assay__fields_findings *findings, FILE *stream,
                                   assay_error *error)
{
    const char *baseline = assay__fields_models[findings->baseline].label;
    assay_status status = assay_print_speedup_analysis(findings->timers, stream, baseline, error);
    fprintf(stream, "\nEpochs of all models in turn, %zu rounds, against %s:\n", findings->rounds,
            baseline);
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS && status == ASSAY_OK; m++)
        if (m != findings->baseline)
            status =
                assay_speedup_print(&findings->verdicts[m], stream, assay__fields_models[m].label);
    return status;
}

assay_status assay__fields_print(const assay__fields_findings *findings, FILE *stream,
                                 assay_error *error)
{
    fputc('\n', stream);
    assay_status status = print_totals(findings, stream);
    fputc('\n', stream);
    if (status == ASSAY_OK)
        status = print_speedups(findings, stream, error);
    fputc('\n', stream);
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS && status == ASSAY_OK; m++)
        status =
            assay_convergence_print(&findings->converged[m], stream, assay__fields_models[m].label);
    fputc('\n', stream);
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS && status == ASSAY_OK; m++) {
        char name[64];
        snprintf(name, sizeof name, "%s on %s", assay__fields_models[m].label,
                 assay__fields_functions[0].name);
        status =
            assay_warmup_print(&findings->warmup[m], &findings->warmup_detected[m], stream, name);
    }
    fputc('\n', stream);
    print_accuracy(findings, stream);
    return status;
}

/* ---- files ---- */

static json_t *reading_json(assay_reading reading)
{
    return reading.validity == ASSAY_VALID ? json_real(reading.value) : json_null();
}

static json_t *training_json(const assay__fields_findings *findings, size_t f, size_t m)
{
    const assay__fields_result *result = &findings->results[f][m];
    const assay_convergence *convergence = &findings->convergence[m][f];
    json_t *losses = json_array();
    for (int64_t i = 0; i < result->epochs; i++)
        json_array_append_new(losses, json_real(result->losses[i]));
    return json_pack("{ss, ss, sI, sf, sf, sf, sf, so, so}", "function",
                     assay__fields_functions[f].name, "model", assay__fields_models[m].label,
                     "parameters", (json_int_t)result->parameters, "final_loss",
                     result->losses[result->epochs - 1], "rmse", result->rmse, "r2", result->r2,
                     "largest_error", result->largest_error, "epochs_to_converge",
                     reading_json(convergence->epochs_to_converge), "losses", losses);
}

static json_t *model_timing_json(const assay__fields_findings *findings, size_t m)
{
    const assay_warmup *warmup = &findings->warmup[m];
    const assay_speedup_verdict *verdict = &findings->verdicts[m];
    json_t *trainings = json_object();
    for (size_t f = 0; f < ASSAY__FIELDS_FUNCTIONS; f++)
        json_object_set_new(trainings, assay__fields_functions[f].name,
                            json_pack("{sf, so}", "time", findings->results[f][m].total_seconds,
                                      "time_to_converge",
                                      reading_json(findings->convergence[m][f].time_to_converge)));
    json_t *timing =
        json_pack("{sf, so, s{sf, so, so, so}}", "time", model_seconds(findings, m), "trainings",
                  trainings, "warmup", "first_epoch_time", warmup->first_epoch_time,
                  "avg_steady_state_time", reading_json(warmup->avg_steady_state_time),
                  "warmup_overhead", reading_json(warmup->warmup_overhead), "warmup_overhead_pct",
                  reading_json(warmup->warmup_overhead_pct));
    if (m != findings->baseline)
        json_object_set_new(
            timing, "speedup",
            json_pack("{so, so, so, ss, ss}", "ratio", reading_json(verdict->ratio), "low",
                      reading_json(verdict->low), "high", reading_json(verdict->high), "verdict",
                      assay_verdict_text(verdict->verdict), "reason", verdict->reason));
    return timing;
}

static json_t *results_json(const assay__fields_findings *findings)
{
    json_t *functions = json_array(), *trainings = json_array(), *models = json_object();
    for (size_t f = 0; f < ASSAY__FIELDS_FUNCTIONS; f++) {
        const assay__fields_function *function = &assay__fields_functions[f];
        json_array_append_new(functions,
                              json_pack("{ss, ss, ss}", "name", function->name, "formula",
                                        function->formula, "detail", function->detail));
        for (size_t m = 0; m < ASSAY__FIELDS_MODELS; m++)
            json_array_append_new(trainings, training_json(findings, f, m));
    }
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS; m++)
        json_object_set_new(models, assay__fields_models[m].label, model_timing_json(findings, m));
    return json_pack("{ss, sI, sb, sI, sI, sI, sf, so, so, s{ss, sI, so}}", "study",
                     findings->plan->study, "seed", (json_int_t)findings->plan->seed, "quick",
                     (int)findings->plan->quick, "epochs", (json_int_t)findings->options.epochs,
                     "samples", (json_int_t)findings->options.samples, "batch_size",
                     (json_int_t)ASSAY__FIELDS_BATCH, "threshold", findings->options.threshold,
                     "functions", functions, "trainings", trainings, "timing", "baseline",
                     assay__fields_models[findings->baseline].label, "rounds",
                     (json_int_t)findings->rounds, "models", models);
}

static assay_status write_accuracy(const assay__fields_findings *findings, const char *path,
                                   assay_error *error)
{
    assay__output output;
    assay_status status = assay__output_begin(&output, path, error);
    if (status != ASSAY_OK)
        return status;
    fputs("function,model,parameters,final_loss,rmse,r2,largest_error,epochs_to_converge\n",
          output.stream);
    for (size_t f = 0; f < ASSAY__FIELDS_FUNCTIONS; f++) {
        for (size_t m = 0; m < ASSAY__FIELDS_MODELS; m++) {
            const assay__fields_result *result = &findings->results[f][m];
            const assay_convergence *convergence = &findings->convergence[m][f];
            fprintf(output.stream, "%s,%s,%llu,%.9g,%.9g,%.9g,%.9g,",
                    assay__fields_functions[f].name, assay__fields_models[m].label,
                    (unsigned long long)result->parameters, result->losses[result->epochs - 1],
                    result->rmse, result->r2, result->largest_error);
            if (convergence->converged)
                fprintf(output.stream, "%.0f", convergence->epochs_to_converge.value);
            fputc('\n', output.stream);
        }
    }
    return assay__output_commit(&output, error);
}

assay_status assay__fields_export(const assay__fields_findings *findings, assay__study *study,
                                  assay_error *error)
{
    const char *csv = assay__study_file(study, "fields_timing.csv", error);
    const char *json = assay__study_file(study, "fields_timing.json", error);
    const char *accuracy = assay__study_file(study, "accuracy.csv", error);
    const char *results = assay__study_file(study, "results.json", error);
    const char *copy = findings->options.json_path;
    if (csv == NULL || json == NULL || accuracy == NULL || results == NULL)
        return ASSAY_E_IO;
    assay_status status = assay_export_timing_csv(findings->timers, csv, section, error);
    if (status == ASSAY_OK)
        status = assay_export_timing_json(findings->timers, json, section, error);
    if (status == ASSAY_OK)
        status = write_accuracy(findings, accuracy, error);
    if (status == ASSAY_OK)
        status = assay__json_file_write(results_json(findings), results, error);
    if (status == ASSAY_OK && copy != NULL)
        status = assay__json_file_write(results_json(findings), copy, error);
    return status;
}
