/* What a study of routes says. Files named in JSON are relative to the study's folder, so that the
 * same study in another folder writes the same bytes. */
#include <math.h>
#include <string.h>

#include "assay/record.h"
#include "assay/report.h"
#include "base/error.h"
#include "studies/routes/run.h"

/* ---- Text ---- */

void assay__routes_print_data(const assay__routes_run *run)
{
    const assay__routes_settings *settings = run->settings;
    const assay__road_network *network = run->data.network;
    assay__study_quiet(run->study);
    fprintf(run->output, "Network    %s: %lld roads, %lld links\n",
            run->data.made_up ? "a made-up city (no --geo was given)" : settings->source.geo,
            (long long)network->roads, (long long)network->links);
    fprintf(run->output, "Drives     %lld to learn from, %lld to test on%s\n",
            (long long)run->data.train.count, (long long)run->data.test.count,
            run->data.made_up ? ", made up too" : "");
    fprintf(run->output, "Pairs      %zu, the ends of drives to %s\n", settings->num_gene,
            settings->od_source == ASSAY__OD_TEST ? "test on" : "learn from");
    if (settings->beam_search)
        fprintf(run->output, "Search     beam of width %lld\n", (long long)settings->beam_width);
    else
        fputs("Search     greedy\n", run->output);
}

void assay__routes_print_training(const assay__routes_run *run)
{
    int64_t epochs = run->settings->epochs;
    assay__study_quiet(run->study);
    fprintf(run->output, "\n%-12s%12s%8s%12s%12s%12s%10s\n", "Model", "Parameters", "Epochs",
            "First loss", "Last loss", "Test loss", "Time");
    for (size_t i = 0; i < ASSAY__ROUTES_MODELS; i++) {
        const assay__routes_trained *self = &run->trained[i];
        if (self->needed)
            fprintf(run->output, "%-12s%12zu%8lld%12.4f%12.4f%12.4f%9.2fs%s\n",
                    assay__routes_model_names[i], self->model->parameters.total, (long long)epochs,
                    self->losses[0], self->losses[epochs - 1], self->test_loss,
                    self->training_seconds, run->settings->models[i] ? "" : "  teacher");
    }
}

static void print_distance(FILE *stream, const char *label, double kilometres)
{
    if (isfinite(kilometres))
        fprintf(stream, "%-26s%.3f km\n", label, kilometres);
    else
        fprintf(stream, "%-26sn/a (no pairs)\n", label);
}

void assay__routes_print_evaluation(const assay__road_evaluation *evaluation, FILE *stream)
{
    fputs("--- Evaluation ---\n", stream);
    fprintf(stream, "%-26s%.4f\n", "Distance JSD", evaluation->distance_jsd);
    fprintf(stream, "%-26s%.4f\n", "Duration JSD", evaluation->duration_jsd);
    fprintf(stream, "%-26s%.4f\n", "Radius JSD", evaluation->radius_jsd);
    print_distance(stream, "Hausdorff", evaluation->hausdorff_km);
    print_distance(stream, "DTW", evaluation->warping_km);
}

void assay__routes_print_model(const assay__routes_run *run, assay__routes_model model)
{
    const assay__routes_trained *self = &run->trained[model];
    const assay__generation *generation = &self->generation;
    assay__study_quiet(run->study);
    fprintf(run->output, "\n=== %s ===\n%zu of %zu trajectories generated",
            assay__routes_model_names[model], generation->num_generated, generation->num_searched);
    const char *before = " (";
    for (size_t i = ASSAY__ROUTE_FOUND + 1; i < ASSAY__ROUTE_OUTCOMES; i++) {
        if (generation->outcomes[i] == 0)
            continue;
        fprintf(run->output, "%s%zu %s", before, generation->outcomes[i],
                assay__route_outcome_name((assay__route_outcome)i));
        before = ", ";
    }
    fputs(*before == ',' ? ")\n" : "\n", run->output);
    if (!run->settings->skip_performance)
        assay__generation_performance_print(&generation->performance, run->output);
    if (self->evaluated)
        assay__routes_print_evaluation(&self->evaluation, run->output);
    else
        fputs("Nothing was generated, so there is nothing to evaluate: train longer (--epochs)\n"
              "or take a wider beam (--beam-width).\n",
              run->output);
}

assay_status assay__routes_print_comparison(const assay__routes_run *run, assay_error *error)
{
    assay__study_quiet(run->study);
    fputs("\n=== Speed of generation, interleaved ===\n", run->output);
    return assay_report_print(run->comparison, "comparisons", run->output, error);
}

/* ---- training.json ---- */

json_t *assay__routes_training_json(const assay__routes_run *run, assay__routes_model model)
{
    const assay__routes_trained *self = &run->trained[model];
    json_t *losses = json_array();
    for (int64_t i = 0; i < run->settings->epochs; i++)
        if (json_array_append_new(losses, json_real(self->losses[i])) != 0)
            break;
    json_t *object = json_pack(
        "{sI, so, sf, sf}", "parameters", (json_int_t)self->model->parameters.total, "losses",
        losses, "test_loss", self->test_loss, "training_seconds", self->training_seconds);
    if (object != NULL && model == ASSAY__DISTILLED)
        json_object_set_new(object, "teacher",
                            json_string(assay__routes_model_names[ASSAY__VANILLA]));
    return object;
}

assay_status assay__routes_training_read(assay__routes_run *run, assay__routes_model model,
                                         const json_t *object, assay_error *error)
{
    assay__routes_trained *self = &run->trained[model];
    const json_t *losses = json_object_get(object, "losses");
    if (json_array_size(losses) != (size_t)run->settings->epochs)
        return assay__fail(error, ASSAY_E_FORMAT,
                           "%s/training.json is not of this study; --restart begins anew",
                           assay__routes_model_names[model]);
    for (int64_t i = 0; i < run->settings->epochs; i++)
        self->losses[i] = json_number_value(json_array_get(losses, (size_t)i));
    self->test_loss = json_number_value(json_object_get(object, "test_loss"));
    self->training_seconds = json_number_value(json_object_get(object, "training_seconds"));
    return ASSAY_OK;
}

/* ---- generation.json ---- */

json_t *assay__routes_generation_json(const assay__routes_run *run, assay__routes_model model)
{
    const assay__generation *generation = &run->trained[model].generation;
    char file[64];
    snprintf(file, sizeof file, "%s/generated.csv", assay__routes_model_names[model]);
    json_t *outcomes = json_object();
    for (size_t i = 0; i < ASSAY__ROUTE_OUTCOMES; i++)
        json_object_set_new(outcomes, assay__route_outcome_name((assay__route_outcome)i),
                            json_integer((json_int_t)generation->outcomes[i]));
    return json_pack("{ss, sI, sI, so, so}", "output_file", file, "num_searched",
                     (json_int_t)generation->num_searched, "num_generated",
                     (json_int_t)generation->num_generated, "outcomes", outcomes, "performance",
                     assay__generation_performance_json(&generation->performance));
}

assay_status assay__routes_generation_read(assay__routes_run *run, assay__routes_model model,
                                           const json_t *object, assay_error *error)
{
    assay__generation *generation = &run->trained[model].generation;
    const json_t *outcomes = json_object_get(object, "outcomes");
    generation->num_searched = (size_t)json_integer_value(json_object_get(object, "num_searched"));
    generation->num_generated =
        (size_t)json_integer_value(json_object_get(object, "num_generated"));
    for (size_t i = 0; i < ASSAY__ROUTE_OUTCOMES; i++)
        generation->outcomes[i] = (size_t)json_integer_value(
            json_object_get(outcomes, assay__route_outcome_name((assay__route_outcome)i)));
    return assay__generation_performance_read(json_object_get(object, "performance"), error,
                                              &generation->performance);
}

/* ---- results.json and summary.json ---- */

json_t *assay__routes_results_json(const assay__routes_run *run, assay__routes_model model)
{
    const assay__routes_trained *self = &run->trained[model];
    const assay__generation_performance *performance =
        run->settings->skip_performance ? NULL : &self->generation.performance;
    if (self->evaluated)
        return assay__evaluation_json(
            &self->evaluation, (int64_t)self->generation.num_generated,
            assay__routes_data_of(&run->data, run->settings->od_source)->count, performance);
    json_t *results = json_pack("{si}", "num_generated", 0);
    if (results != NULL && performance != NULL)
        json_object_set_new(results, "generation_performance",
                            assay__generation_performance_json(performance));
    return results;
}

static json_t *comparisons_json(const assay_record *record)
{
    json_t *list = json_array();
    for (size_t i = 0; record != NULL && i < record->comparison_count; i++) {
        const assay_record_comparison *one = &record->comparisons[i];
        bool known = one->ratio.validity == ASSAY_VALID;
        json_array_append_new(list,
                              json_pack("{ss, ss, so, so, so, ss, ss?}", "baseline", one->baseline,
                                        "candidate", one->candidate, "ratio",
                                        known ? json_real(one->ratio.value) : json_null(), "low",
                                        known ? json_real(one->low.value) : json_null(), "high",
                                        known ? json_real(one->high.value) : json_null(), "verdict",
                                        assay_verdict_text(one->verdict), "reason", one->reason));
    }
    return list;
}

static json_t *models_json(const assay__routes_run *run)
{
    json_t *models = json_object();
    for (assay__routes_model i = 0; i < ASSAY__ROUTES_MODELS; i++) {
        if (!run->trained[i].needed)
            continue;
        json_t *one = json_pack("{so}", "training", assay__routes_training_json(run, i));
        if (one != NULL && run->settings->models[i]) {
            json_object_set_new(one, "generation", assay__routes_generation_json(run, i));
            json_object_set_new(one, "results", assay__routes_results_json(run, i));
        }
        json_object_set_new(models, assay__routes_model_names[i], one);
    }
    return models;
}

json_t *assay__routes_summary_json(const assay__routes_run *run)
{
    const assay__routes_settings *settings = run->settings;
    json_t *network = json_pack("{sb, sI, sI, sI, sI}", "made_up", (int)run->data.made_up, "roads",
                                (json_int_t)run->data.network->roads, "links",
                                (json_int_t)run->data.network->links, "train_trajectories",
                                (json_int_t)run->data.train.count, "test_trajectories",
                                (json_int_t)run->data.test.count);
    return json_pack("{ss, sI, sb, so, sI, ss, ss, sI, ss, so, so}", "study", "routes", "seed",
                     (json_int_t)run->plan->seed, "quick", (int)run->plan->quick, "network",
                     network, "num_gene", (json_int_t)settings->num_gene, "od_source",
                     settings->od_source == ASSAY__OD_TEST ? "test" : "train", "search",
                     settings->beam_search ? "beam" : "greedy", "beam_width",
                     (json_int_t)(settings->beam_search ? settings->beam_width : 1), "device",
                     "cpu", "models", models_json(run), "comparisons",
                     comparisons_json(run->comparison));
}
