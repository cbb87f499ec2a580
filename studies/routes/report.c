/* The text and the JSON of a study of routes, from its record. Files named in JSON are relative to
 * the study's folder, so that the same study in another folder writes the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "assay/report.h"
#include "base/error.h"
#include "models/routes/performance.h"
#include "studies/routes/run.h"

static int64_t count_of(const assay_record *found, const char *name, const char *of)
{
    return (int64_t)assay__record_figure(found, name, of).value;
}

/* ---- Text ---- */

void assay__routes_print_data(const assay__routes_run *run)
{
    const assay__routes_settings *settings = run->settings;
    assay__study_quiet(run->study);
    fprintf(run->output, "Network    %s: %lld roads, %lld links\n",
            run->data.made_up                  ? "a made-up city (no --geo was given)"
            : settings->source.dataset != NULL ? settings->source.dataset
                                               : settings->source.geo,
            (long long)count_of(run->found, "roads", "network"),
            (long long)count_of(run->found, "links", "network"));
    fprintf(run->output, "Drives     %lld to learn from, %lld to test on%s\n",
            (long long)count_of(run->found, "train_trajectories", "network"),
            (long long)count_of(run->found, "test_trajectories", "network"),
            run->data.made_up ? ", made up too" : "");
    fprintf(run->output, "Pairs      %zu, the ends of drives to %s\n", settings->num_gene,
            settings->od_source == ASSAY_OD_TEST ? "test on" : "learn from");
    if (settings->beam_search)
        fprintf(run->output, "Search     beam of width %lld\n", (long long)settings->beam_width);
    else
        fputs("Search     greedy\n", run->output);
}

static void print_trained(const assay__routes_run *run, size_t model)
{
    const char *name = run->settings->models[model].name;
    const assay_record_model *trained = assay__record_find_model(run->found, name);
    const assay_record_series *losses = assay__record_find_series(run->found, "loss", name);
    if (trained == NULL || losses == NULL || losses->count == 0) {
        if (run->weighted[model].instance != NULL)
            fprintf(run->output, "%-12s%11llu  trained before: %s\n", name,
                    (unsigned long long)assay_model_parameter_count(run->weighted[model].instance),
                    run->settings->models[model].weights);
        return;
    }
    fprintf(run->output, "%-12s%11.0f%7zu%11.4f%11.4f%11.4f%7.2fs%s\n", name,
            trained->parameters.value, losses->count, losses->values[0],
            losses->values[losses->count - 1],
            assay__record_figure(run->found, "test_loss", name).value,
            assay__record_figure(run->found, "training_seconds", name).value,
            run->settings->models[model].generates ? "" : "  teacher");
}

void assay__routes_print_training(const assay__routes_run *run)
{
    assay__study_quiet(run->study);
    fprintf(run->output, "\n%-12s%11s%7s%11s%11s%11s%8s\n", "Model", "Parameters", "Epochs",
            "First loss", "Last loss", "Test loss", "Time");
    for (size_t i = 0; i < run->settings->model_count; i++)
        print_trained(run, i);
}

static void print_outcomes(const assay_generation *generation, FILE *stream)
{
    const struct {
        const char *name;
        size_t count;
    } failed[] = {{"unreachable", generation->num_unreachable},
                  {"lost", generation->num_lost},
                  {"too long", generation->num_too_long}};
    const char *before = " (";
    fprintf(stream, "%zu of %zu trajectories generated", generation->num_generated,
            generation->num_searched);
    for (size_t i = 0; i < sizeof failed / sizeof *failed; i++) {
        if (failed[i].count == 0)
            continue;
        fprintf(stream, "%s%zu %s", before, failed[i].count, failed[i].name);
        before = ", ";
    }
    fputs(*before == ',' ? ")\n" : "\n", stream);
}

static assay_status recall(const assay__routes_run *run, size_t model, assay_error *error,
                           assay_generation **generation)
{
    const char *name = run->settings->models[model].name;
    assay_status status =
        assay__generation_of(run->found, name, run->data.network, run->pairs, generation);
    return status == ASSAY_OK
               ? status
               : assay__fail(error, status, "cannot show what was generated with %s: %s", name,
                             assay_status_message(status));
}

assay_status assay__routes_print_model(const assay__routes_run *run, size_t model,
                                       assay_error *error)
{
    const char *name = run->settings->models[model].name;
    assay_generation *generation = NULL;
    assay_trajectory_results results;
    assay_status status = recall(run, model, error, &generation);
    if (status != ASSAY_OK)
        return status;
    assay__study_quiet(run->study);
    fprintf(run->output, "\n=== %s ===\n", name);
    print_outcomes(generation, run->output);
    if (!run->settings->skip_performance)
        assay_generation_print(generation, run->output);
    if (assay__results_of(run->found, name, &results))
        assay_trajectory_results_print(&results, run->output);
    else
        fputs("Nothing was generated, so there is nothing to evaluate: train longer (--epochs)\n"
              "or take a wider beam (--beam-width).\n",
              run->output);
    assay_generation_free(generation);
    return ASSAY_OK;
}

assay_status assay__routes_save_performance(const assay__routes_run *run, size_t model,
                                            const char *path, assay_error *error)
{
    assay_generation *generation = NULL;
    assay_status status = recall(run, model, error, &generation);
    if (status == ASSAY_OK)
        status = assay_file_save(path, assay__generation_print_json, generation, error);
    assay_generation_free(generation);
    return status;
}

assay_status assay__routes_print_comparison(const assay__routes_run *run, assay_error *error)
{
    assay__study_quiet(run->study);
    fputs("\n=== Speed of generation, interleaved ===\n", run->output);
    return assay_report_print(run->found, "comparisons", run->output, error);
}

/* ---- Files of a model ---- */

json_t *assay__routes_training_json(const assay__routes_run *run, size_t model)
{
    const char *name = run->settings->models[model].name;
    const assay_record_model *trained = assay__record_find_model(run->found, name);
    const assay_record_series *losses = assay__record_find_series(run->found, "loss", name);
    json_t *object = json_object();
    int failed = 0;
    if (trained != NULL)
        failed |= json_object_set_new(object, "parameters",
                                      json_integer((json_int_t)trained->parameters.value));
    if (losses != NULL)
        failed |= json_object_set_new(object, "losses",
                                      assay__json_numbers(losses->values, losses->count));
    failed |= assay__json_set_reading(object, "test_loss",
                                      assay__record_figure(run->found, "test_loss", name));
    failed |= assay__json_set_reading(object, "training_seconds",
                                      assay__record_figure(run->found, "training_seconds", name));
    for (size_t i = 0; trained != NULL && i < trained->setting_count; i++)
        if (strcmp(trained->settings[i].key, "teacher") == 0)
            failed |=
                json_object_set_new(object, "teacher", json_string(trained->settings[i].value));
    if (failed != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

/* Parse the JSON that `print` writes, to make it part of a larger JSON. NULL if there is no memory.
 */
static json_t *json_of(assay_file_printer print, const void *subject)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    json_t *object = NULL;
    if (stream == NULL)
        return NULL;
    assay_status status = print(subject, stream, NULL);
    if (fclose(stream) == 0 && status == ASSAY_OK)
        object = json_loadb(text, length, 0, NULL);
    free(text);
    return object;
}

json_t *assay__routes_generation_json(const assay__routes_run *run, size_t model)
{
    const char *name = run->settings->models[model].name;
    assay_generation *generation = NULL;
    char file[96];
    if (recall(run, model, NULL, &generation) != ASSAY_OK)
        return NULL;
    snprintf(file, sizeof file, "%s/generated.csv", name);
    json_t *outcomes =
        json_pack("{sI, sI, sI, sI}", "found", (json_int_t)generation->num_generated, "unreachable",
                  (json_int_t)generation->num_unreachable, "lost", (json_int_t)generation->num_lost,
                  "too long", (json_int_t)generation->num_too_long);
    json_t *object =
        json_pack("{ss, sI, sI, so, so}", "output_file", file, "num_searched",
                  (json_int_t)generation->num_searched, "num_generated",
                  (json_int_t)generation->num_generated, "outcomes", outcomes, "performance",
                  json_of(assay__performance_print_json, &generation->performance));
    assay_generation_free(generation);
    return object;
}

json_t *assay__routes_results_json(const assay__routes_run *run, size_t model)
{
    const char *name = run->settings->models[model].name;
    assay_trajectory_results results;
    assay_generation *generation = NULL;
    bool evaluated = assay__results_of(run->found, name, &results);
    json_t *object = evaluated ? json_of(assay__results_print_json, &results)
                               : json_pack("{si}", "num_generated", 0);
    if (run->settings->skip_performance || object == NULL)
        return object;
    int failed =
        recall(run, model, NULL, &generation) != ASSAY_OK ||
        json_object_set_new(object, "generation_performance",
                            json_of(assay__performance_print_json, &generation->performance)) != 0;
    assay_generation_free(generation);
    if (failed) {
        json_decref(object);
        return NULL;
    }
    return object;
}

/* ---- summary.json ---- */

static json_t *comparison_json(const assay_record_comparison *one)
{
    json_t *object = json_pack("{ss, ss}", "baseline", one->baseline, "candidate", one->candidate);
    int failed = assay__json_set_reading(object, "ratio", one->ratio);
    failed |= assay__json_set_reading(object, "low", one->low);
    failed |= assay__json_set_reading(object, "high", one->high);
    failed |= json_object_set_new(object, "verdict", json_string(assay_verdict_text(one->verdict)));
    failed |= json_object_set_new(object, "reason",
                                  one->reason != NULL ? json_string(one->reason) : json_null());
    if (failed != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *comparisons_json(const assay_record *record)
{
    json_t *list = json_array();
    for (size_t i = 0; i < record->comparison_count; i++)
        if (!record->comparisons[i].beside)
            json_array_append_new(list, comparison_json(&record->comparisons[i]));
    return list;
}

static json_t *models_json(const assay__routes_run *run)
{
    json_t *models = json_object();
    for (size_t i = 0; i < run->settings->model_count; i++) {
        if (run->models[i] == NULL)
            continue;
        const char *weights = run->settings->models[i].weights;
        json_t *one = weights != NULL
                          ? json_pack("{ss}", "weights", weights)
                          : json_pack("{so}", "training", assay__routes_training_json(run, i));
        if (one != NULL && run->settings->models[i].generates) {
            json_object_set_new(one, "generation", assay__routes_generation_json(run, i));
            json_object_set_new(one, "results", assay__routes_results_json(run, i));
        }
        json_object_set_new(models, run->settings->models[i].name, one);
    }
    return models;
}

json_t *assay__routes_summary_json(const assay__routes_run *run)
{
    const assay__routes_settings *settings = run->settings;
    const char *device = assay__record_setting(run->found, "device");
    json_t *network = json_pack(
        "{sb, sI, sI, sI, sI}", "made_up", (int)run->data.made_up, "roads",
        (json_int_t)count_of(run->found, "roads", "network"), "links",
        (json_int_t)count_of(run->found, "links", "network"), "train_trajectories",
        (json_int_t)count_of(run->found, "train_trajectories", "network"), "test_trajectories",
        (json_int_t)count_of(run->found, "test_trajectories", "network"));
    return json_pack("{ss, sI, sb, so, sI, ss, ss, sI, ss, so, so}", "study", "routes", "seed",
                     (json_int_t)run->plan->seed, "quick", (int)run->plan->quick, "network",
                     network, "num_gene", (json_int_t)settings->num_gene, "od_source",
                     settings->od_source == ASSAY_OD_TEST ? "test" : "train", "search",
                     settings->beam_search ? "beam" : "greedy", "beam_width",
                     (json_int_t)(settings->beam_search ? settings->beam_width : 1), "device",
                     device != NULL ? device : "cpu", "models", models_json(run), "comparisons",
                     comparisons_json(run->found));
}
