/* Prints the tables of timers (B0, B3, B4 and B8 of docs/seed-map.md) from the times in the record,
 * and writes the files. The speed-ups are followed by verdicts from epochs that were run in turn,
 * because the totals come from single trainings that ran minutes apart. */
#include "studies/fields/report.h"

#include "base/file.h"
#include "studies/common/json_file.h"
#include "studies/common/results.h"

static const char section[] = "fields";

/* ---- text ---- */

static void print_accuracy(const assay__fields_findings *findings, FILE *stream)
{
    fprintf(stream, "Accuracy on a grid of test points; converged: loss of an epoch <= %g\n\n",
            findings->options.threshold);
    fprintf(stream, "%-10s%-7s%13s%13s%10s%13s%14s\n", "Function", "Model", "Final loss", "RMSE",
            "R2", "Max error", "Converged in");
    for (size_t f = 0; f < ASSAY__FIELDS_FUNCTIONS; f++) {
        for (size_t m = 0; m < ASSAY__FIELDS_MODELS; m++) {
            const assay__fields_training *training = &findings->trainings[f][m];
            char epochs[32] = "never";
            if (training->epochs_to_converge.validity == ASSAY_VALID)
                snprintf(epochs, sizeof epochs, "%.0f epochs", training->epochs_to_converge.value);
            fprintf(stream, "%-10s%-7s%13.4g%13.4g%10.4f%13.4g%14s\n",
                    m == 0 ? assay__fields_functions[f].name : "", assay__fields_models[m].label,
                    training->final_loss.value, training->rmse.value, training->r2.value,
                    training->largest_error.value, epochs);
        }
    }
    fputc('\n', stream);
}

static assay_status print_totals(const assay__fields_findings *findings, FILE *stream)
{
    assay_timers *timers = NULL;
    assay_status status = assay_timers_new(NULL, &timers);
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS && status == ASSAY_OK; m++) {
        const char *label = assay__fields_models[m].label;
        char name[64];
        snprintf(name, sizeof name, "%s training", label);
        status =
            assay_timers_set(timers, name, assay_timers_get(findings->timers, label, "time").value);
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
    fprintf(stream, "\nEpochs of all models in turn, %zu rounds, against %s:\n",
            findings->turns[findings->baseline]->sample_count, baseline);
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
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS && status == ASSAY_OK; m++)
        status = assay_warmup_print(&findings->warmup[m], &findings->warmup_detected[m], stream,
                                    findings->trainings[0][m].name);
    fputc('\n', stream);
    print_accuracy(findings, stream);
    return status;
}

/* ---- files ---- */

typedef struct named_reading {
    const char *key;
    assay_reading value;
} named_reading;

/* Add the readings to `object` and return it. If there is no memory, release it and return NULL. */
static json_t *with_readings(json_t *object, const named_reading *readings, size_t count)
{
    for (size_t i = 0; i < count && object != NULL; i++)
        if (assay__json_set_reading(object, readings[i].key, readings[i].value) != 0) {
            json_decref(object);
            object = NULL;
        }
    return object;
}

#define WITH_READINGS(object, ...)                                                                 \
    with_readings(object, (const named_reading[]){__VA_ARGS__},                                    \
                  sizeof((const named_reading[]){__VA_ARGS__}) / sizeof(named_reading))

static json_t *training_json(const assay__fields_findings *findings, size_t f, size_t m)
{
    const assay__fields_training *training = &findings->trainings[f][m];
    json_t *object =
        WITH_READINGS(json_pack("{ss, ss, sI}", "function", assay__fields_functions[f].name,
                                "model", assay__fields_models[m].label, "parameters",
                                (json_int_t)findings->parameters[m].value),
                      {"final_loss", training->final_loss}, {"rmse", training->rmse},
                      {"r2", training->r2}, {"largest_error", training->largest_error},
                      {"epochs_to_converge", training->epochs_to_converge});
    json_object_set_new(object, "losses",
                        assay__json_numbers(training->losses->values, training->losses->count));
    return object;
}

static json_t *warmup_json(const assay_warmup *warmup)
{
    return WITH_READINGS(json_object(),
                         {"first_epoch_time", assay_reading_of(warmup->first_epoch_time)},
                         {"avg_steady_state_time", warmup->avg_steady_state_time},
                         {"warmup_overhead", warmup->warmup_overhead},
                         {"warmup_overhead_pct", warmup->warmup_overhead_pct});
}

static json_t *speedup_json(const assay_speedup_verdict *verdict)
{
    json_t *object = WITH_READINGS(json_object(), {"ratio", verdict->ratio}, {"low", verdict->low},
                                   {"high", verdict->high});
    json_object_set_new(object, "verdict", json_string(assay_verdict_text(verdict->verdict)));
    json_object_set_new(object, "reason", json_string(verdict->reason));
    return object;
}

static json_t *model_timing_json(const assay__fields_findings *findings, size_t m)
{
    json_t *trainings = json_object();
    for (size_t f = 0; f < ASSAY__FIELDS_FUNCTIONS; f++) {
        const assay__fields_training *training = &findings->trainings[f][m];
        json_object_set_new(trainings, assay__fields_functions[f].name,
                            WITH_READINGS(json_object(), {"time", training->time},
                                          {"time_to_converge", training->time_to_converge}));
    }
    json_t *timing = WITH_READINGS(
        json_object(),
        {"time", assay_timers_get(findings->timers, assay__fields_models[m].label, "time")});
    json_object_set_new(timing, "trainings", trainings);
    json_object_set_new(timing, "warmup", warmup_json(&findings->warmup[m]));
    if (m != findings->baseline)
        json_object_set_new(timing, "speedup", speedup_json(&findings->verdicts[m]));
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
    return json_pack(
        "{ss, sI, sb, sI, sI, sI, sf, so, so, s{ss, sI, so}}", "study", findings->plan->study,
        "seed", (json_int_t)findings->plan->seed, "quick", (int)findings->plan->quick, "epochs",
        (json_int_t)findings->options.epochs, "samples", (json_int_t)findings->options.samples,
        "batch_size", (json_int_t)ASSAY__FIELDS_BATCH, "threshold", findings->options.threshold,
        "functions", functions, "trainings", trainings, "timing", "baseline",
        assay__fields_models[findings->baseline].label, "rounds",
        (json_int_t)findings->turns[findings->baseline]->sample_count, "models", models);
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
            const assay__fields_training *training = &findings->trainings[f][m];
            fprintf(output.stream, "%s,%s,%.0f,%.9g,%.9g,%.9g,%.9g,",
                    assay__fields_functions[f].name, assay__fields_models[m].label,
                    findings->parameters[m].value, training->final_loss.value, training->rmse.value,
                    training->r2.value, training->largest_error.value);
            if (training->epochs_to_converge.validity == ASSAY_VALID)
                fprintf(output.stream, "%.0f", training->epochs_to_converge.value);
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
