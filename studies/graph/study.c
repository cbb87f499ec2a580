/* The steps of the study. Each step measures one part and keeps it as a record: first the passes,
 * then one axis after the other, last the growth of the encodings. Report, JSON and CSV are views
 * of all these records together. */
#include "studies/graph/study.h"

#include <stdlib.h>
#include <string.h>

#include "assay/record_build.h"
#include "assay/report.h"
#include "base/error.h"
#include "models/instance.h"
#include "studies/common/results.h"
#include "studies/graph/encodings.h"
#include "studies/graph/files.h"
#include "studies/profile/profile.h"
#include "studies/profile/view.h"

enum { PASSES, FIRST_AXIS, COSTS = 6, STEPS, INPUTS = 3 };
static const assay__study_step steps[STEPS] = {{"passes", 4},
                                               {"nodes", 2},
                                               {"layers", 2},
                                               {"hidden", 2},
                                               {"batch", 2},
                                               {"encodings", 2},
                                               {"encodings by nodes", 2}};

typedef struct graph_run {
    const assay__graph_settings *settings;
    const assay__study_plan *plan;
    assay__study *study;
    assay_model *model;
    assay_tensor inputs[INPUTS], target;
    assay_record *whole; /* of the steps that have ended */
} graph_run;

assay__graph_settings assay__graph_settings_of(bool quick)
{
    if (quick)
        return (assay__graph_settings){.num_nodes = 100,
                                       .num_edges = 500,
                                       .hidden_dim = 64,
                                       .num_layers = 3,
                                       .num_heads = 4,
                                       .ffn_dim = 128,
                                       .batch_size = 1,
                                       .num_runs = 500,
                                       .budget_seconds = 0.8};
    return (assay__graph_settings){.num_nodes = 500,
                                   .num_edges = 2500,
                                   .hidden_dim = 256,
                                   .num_layers = 6,
                                   .num_heads = 8,
                                   .ffn_dim = 512,
                                   .batch_size = 1,
                                   .num_runs = 50,
                                   .budget_seconds = 10};
}

static assay_status make_model(graph_run *run, assay_error *error)
{
    const assay__graph_settings *settings = run->settings;
    const assay__setting list[] = {
        {"num-nodes", (double)settings->num_nodes},   {"num-edges", (double)settings->num_edges},
        {"hidden-dim", (double)settings->hidden_dim}, {"num-layers", (double)settings->num_layers},
        {"num-heads", (double)settings->num_heads},   {"ffn-dim", (double)settings->ffn_dim},
        {"batch-size", (double)settings->batch_size}};
    assay_tensor output;
    assay_status status =
        assay__instance_new_on("graph_transformer", settings->device, list,
                               sizeof list / sizeof *list, run->plan->seed, error, &run->model);
    if (status == ASSAY_OK)
        status = assay_model_example(run->model, run->plan->seed, error, run->inputs, &run->target);
    /* Run one pass with all checks of the inputs: a profile calls the class without them. */
    return status == ASSAY_OK ? assay_model_forward(run->model, run->inputs, INPUTS, error, &output)
                              : status;
}

/* ---- One step ---- */

static void show_stage(void *context, const char *stage)
{
    (void)stage;
    assay__study_advance(context, 0);
}

static bool advance(void *context, double share)
{
    return assay__study_advance(context, share);
}

/* The last step is not a profile: it measures the growth of the encodings. */
static assay_status measure_costs(graph_run *run, assay_error *error, assay_record *found)
{
    const assay__graph_settings *settings = run->settings;
    const assay__encoding_growth_plan plan = {.num_nodes = 2 * (int64_t)settings->num_nodes,
                                              .avg_degree = (double)settings->num_edges /
                                                            (double)settings->num_nodes,
                                              .dim = 16,
                                              .seed = run->plan->seed,
                                              .num_heads = (int64_t)settings->num_heads,
                                              .hidden_dim = (int64_t)settings->hidden_dim,
                                              .batch_size = (int64_t)settings->batch_size,
                                              .advance = advance,
                                              .context = run->study};
    assay_status status = assay__encoding_growth_measure(&plan, error, found);
    return status == ASSAY_E_STATE && assay__study_stopped(run->study)
               ? assay__study_interrupted(run->study, error)
               : status;
}

static assay_status measure(graph_run *run, size_t step, assay_error *error, assay_record *found)
{
    if (step == COSTS)
        return measure_costs(run, error, found);
    assay__axis axis = {.count = 0};
    snprintf(axis.name, sizeof axis.name, "%s", steps[step].name);
    const assay__profile_plan plan = {.parts = ASSAY__PROFILE_RUNTIME | ASSAY__PROFILE_MEMORY |
                                               ASSAY__PROFILE_FLOPS,
                                      .model = run->model,
                                      .inputs = run->inputs,
                                      .target = &run->target,
                                      .data = "made up by the model",
                                      .num_runs = run->settings->num_runs,
                                      .threads = 1,
                                      .seed = run->plan->seed,
                                      .axes = &axis,
                                      .axis_count = 1,
                                      .budget_seconds = run->settings->budget_seconds,
                                      .progress = show_stage,
                                      .progress_context = run->study};
    return step >= FIRST_AXIS ? assay__profile_scale(&plan, error, found)
                              : assay__profile_measure(&plan, error, found, NULL);
}

/* Measure the step, or read the record that an earlier run kept. */
static assay_status find(graph_run *run, size_t step, assay_error *error, assay_record **found)
{
    if (assay__study_done(run->study, step))
        return assay__study_recall(run->study, step, error, found);
    assay__study_begin(run->study, step);
    if (!assay__study_advance(run->study, 0))
        return assay__study_interrupted(run->study, error);
    assay_status status = assay__study_findings(run->study, error, found);
    if (status == ASSAY_OK)
        status = measure(run, step, error, *found);
    if (status == ASSAY_OK)
        status = assay_record_describe(*found);
    return status == ASSAY_OK ? assay__study_keep(run->study, step, *found, error) : status;
}

/* ---- The record of all steps ---- */

static assay_status add(graph_run *run, size_t step, const assay_record *found, assay_error *error)
{
    assay_status status = ASSAY_OK;
    if (step == PASSES) {
        status = assay__study_findings(run->study, error, &run->whole);
        if (status == ASSAY_OK)
            run->whole->created = assay_record_text(run->whole, found->created);
        if (status == ASSAY_OK)
            status = assay_record_describe(run->whole);
    }
    if (status == ASSAY_OK)
        status = assay__record_append(run->whole, found);
    return status;
}

static void show(graph_run *run, size_t step, const assay_record *found)
{
    assay__study_quiet(run->study);
    if (step == COSTS)
        assay__encoding_growth_print(found, run->plan->output);
    else if (step >= FIRST_AXIS)
        assay__profile_print_scaling(found, run->plan->output);
    else
        assay__profile_print(found, run->plan->output);
}

static assay_status write_files(graph_run *run, assay_error *error)
{
    static const struct {
        const char *name;
        assay_file_printer print;
    } files[] = {{"profile.json", assay__graph_print_json},
                 {"scaling.csv", assay__graph_print_csv},
                 {"report.txt", assay__graph_print_report}};
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < sizeof files / sizeof *files && status == ASSAY_OK; i++) {
        const char *path = assay__study_file(run->study, files[i].name, error);
        status =
            path == NULL ? ASSAY_E_IO : assay_file_save(path, files[i].print, run->whole, error);
    }
    return status;
}

static assay_status do_step(graph_run *run, size_t step, assay_error *error)
{
    bool done = assay__study_done(run->study, step);
    assay_record *found = NULL;
    assay_status status = find(run, step, error, &found);
    if (status == ASSAY_OK)
        status = add(run, step, found, error);
    if (status == ASSAY_OK)
        show(run, step, found);
    assay_record_free(found);
    if (status == ASSAY_OK && !done)
        status = write_files(run, error);
    return status == ASSAY_OK && !done ? assay__study_end(run->study, error) : status;
}

/* ---- The whole ---- */

static assay_status run_steps(graph_run *run, const char *json_path, assay_error *error)
{
    assay_status status = ASSAY_OK;
    for (size_t step = 0; step < STEPS && status == ASSAY_OK; step++)
        status = do_step(run, step, error);
    if (status == ASSAY_OK)
        status = assay__study_publish(run->study, run->whole, error);
    if (status == ASSAY_OK && json_path != NULL)
        status = assay_file_save(json_path, assay__graph_print_json, run->whole, error);
    if (status == ASSAY_OK) {
        assay__graph_print_growth(run->whole, run->plan->output);
        fprintf(run->plan->output, "\nResults: %s\n", run->plan->folder);
    } else if (error != NULL && error->message[0] == '\0') {
        return assay__fail(error, status, "cannot study the graph transformer: %s",
                           assay_status_message(status));
    }
    return status;
}

assay_status assay__graph_study(const assay__study_plan *plan,
                                const assay__graph_settings *settings, const char *json_path,
                                assay_error *error)
{
    char text[256];
    assay__study_plan full = *plan;
    graph_run run = {.settings = settings, .plan = &full};
    snprintf(text, sizeof text,
             "%zu nodes, %zu edges, hidden %zu, %zu layers, %zu heads, ffn %zu, batch %zu, %zu "
             "runs, %g s an axis%s%s",
             settings->num_nodes, settings->num_edges, settings->hidden_dim, settings->num_layers,
             settings->num_heads, settings->ffn_dim, settings->batch_size, settings->num_runs,
             settings->budget_seconds, settings->device != NULL ? ", on " : "",
             settings->device != NULL ? settings->device : "");
    full.settings = text;
    full.steps = steps;
    full.step_count = STEPS;
    assay_status status = make_model(&run, error); /* first, so that bad sizes leave no folder */
    if (status == ASSAY_OK)
        status = assay__study_open(&full, error, &run.study);
    if (status == ASSAY_OK)
        status = run_steps(&run, json_path, error);
    assay__study_free(run.study);
    assay_model_free(run.model);
    assay_record_free(run.whole);
    return status;
}
