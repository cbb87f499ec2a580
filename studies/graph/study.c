/* Each step is a profile of its own part: first the passes, then one axis after the other. It
 * leaves its text and its JSON under .study; report, JSON and CSV are put together from those. */
#include "studies/graph/study.h"

#include <stdlib.h>
#include <string.h>

#include "assay/report.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "models/instance.h"
#include "studies/common/json_file.h"
#include "studies/graph/encodings.h"
#include "studies/graph/files.h"
#include "studies/profile/profile.h"

enum { PASSES, FIRST_AXIS, COSTS = 6, STEPS, INPUTS = 3, MAX_TEXT = 1 << 20 };
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
    json_t *profile; /* of the steps that have ended */
    assay__buffer report;
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
                                       .num_runs = 20,
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
    assay_status status = assay__instance_new("graph_transformer", list, sizeof list / sizeof *list,
                                              run->plan->seed, error, &run->model);
    if (status == ASSAY_OK)
        status = assay_model_example(run->model, run->plan->seed, error, run->inputs, &run->target);
    /* Once with every check: a profile calls the class bare. */
    return status == ASSAY_OK ? assay_model_forward(run->model, run->inputs, INPUTS, error, &output)
                              : status;
}

/* ---- One step ---- */

static const char *step_file(graph_run *run, size_t step, const char *kind, assay_error *error)
{
    char relative[64];
    snprintf(relative, sizeof relative, ".study/%s.%s",
             step == COSTS ? "encoding_costs" : steps[step].name, kind);
    return assay__study_file(run->study, relative, error);
}

static void show_stage(void *context, const char *stage)
{
    (void)stage;
    assay__study_advance(context, 0);
}

static assay_status write_text(const char *path, const assay__profile *profile, bool axis,
                               assay_error *error)
{
    assay__output output;
    assay_status status = assay__output_begin(&output, path, error);
    if (status != ASSAY_OK)
        return status;
    if (axis)
        assay__profile_print_scaling(profile, output.stream);
    else
        assay__profile_print(profile, output.stream);
    return assay__output_commit(&output, error);
}

static bool advance(void *context, double share)
{
    return assay__study_advance(context, share);
}

/* The last step: no profile, a table of its own. */
static assay_status measure_costs(graph_run *run, const char *text, const char *json,
                                  assay_error *error)
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
    json_t *costs = NULL;
    assay__output output;
    assay_status status = assay__encoding_growth_measure(&plan, error, &costs);
    if (status == ASSAY_E_STATE && assay__study_stopped(run->study))
        return assay__study_interrupted(run->study, error);
    if (status == ASSAY_OK)
        status = assay__output_begin(&output, text, error);
    if (status == ASSAY_OK) {
        assay__encoding_growth_print(costs, output.stream);
        status = assay__output_commit(&output, error);
    }
    if (status == ASSAY_OK)
        return assay__json_file_write(json_pack("{so}", "encoding_costs", costs), json, error);
    json_decref(costs);
    return status;
}

static assay_status measure(graph_run *run, size_t step, assay_error *error)
{
    bool is_axis = step >= FIRST_AXIS;
    assay__axis axis = {.count = 0};
    snprintf(axis.name, sizeof axis.name, "%s", steps[step].name);
    const assay__profile_plan plan = {
        .parts = is_axis ? ASSAY__PROFILE_SCALING
                         : ASSAY__PROFILE_RUNTIME | ASSAY__PROFILE_MEMORY | ASSAY__PROFILE_FLOPS,
        .model = run->model,
        .inputs = run->inputs,
        .target = &run->target,
        .data = "made up by the model",
        .num_runs = run->settings->num_runs,
        .threads = 1,
        .seed = run->plan->seed,
        .axes = &axis,
        .axis_count = is_axis ? 1 : 0,
        .budget_seconds = run->settings->budget_seconds,
        .progress = show_stage,
        .progress_context = run->study};
    assay__profile profile;
    const char *text = step_file(run, step, "txt", error);
    const char *json = step_file(run, step, "json", error);
    if (text == NULL || json == NULL)
        return ASSAY_E_IO;
    if (step == COSTS)
        return measure_costs(run, text, json, error);
    assay_status status = assay__profile_measure(&plan, error, &profile);
    if (status != ASSAY_OK)
        return status;
    status = write_text(text, &profile, is_axis, error);
    if (status == ASSAY_OK)
        status = assay_file_save(json, assay__profile_print_json, &profile, error);
    assay__profile_release(&profile);
    return status;
}

/* ---- What the steps leave together ---- */

static assay_status take_json(graph_run *run, size_t step, assay_error *error)
{
    const char *path = step_file(run, step, "json", error);
    json_t *part = NULL;
    assay_status status = path == NULL ? ASSAY_E_IO : assay__json_file_read(path, error, &part);
    if (status != ASSAY_OK)
        return status;
    if (step == PASSES) {
        run->profile = part;
        return ASSAY_OK;
    }
    if (step == COSTS)
        status = json_object_update(run->profile, part) == 0
                     ? ASSAY_OK
                     : assay__fail(error, ASSAY_E_MEMORY, "out of memory");
    else
        status = assay__graph_add_scaling(run->profile, part, error);
    json_decref(part);
    return status;
}

/* To the report, and shown as it is. */
static assay_status take_text(graph_run *run, size_t step, assay_error *error)
{
    const char *path = step_file(run, step, "txt", error);
    size_t before = run->report.length;
    assay_status status = path == NULL ? ASSAY_E_IO : assay__file_read(path, &run->report, error);
    if (status == ASSAY_OK) {
        assay__study_quiet(run->study);
        fwrite(run->report.data + before, 1, run->report.length - before, run->plan->output);
    }
    return status;
}

static assay_status write_report(graph_run *run, assay_error *error)
{
    assay__output output;
    const char *path = assay__study_file(run->study, "report.txt", error);
    assay_status status = path == NULL ? ASSAY_E_IO : assay__output_begin(&output, path, error);
    if (status != ASSAY_OK)
        return status;
    fwrite(run->report.data, 1, run->report.length, output.stream);
    assay__graph_print_growth(run->profile, output.stream);
    return assay__output_commit(&output, error);
}

static assay_status write_csv(graph_run *run, assay_error *error)
{
    assay__output output;
    const char *path = assay__study_file(run->study, "scaling.csv", error);
    assay_status status = path == NULL ? ASSAY_E_IO : assay__output_begin(&output, path, error);
    if (status != ASSAY_OK)
        return status;
    assay__graph_write_csv(run->profile, output.stream);
    return assay__output_commit(&output, error);
}

static assay_status put_together(graph_run *run, assay_error *error)
{
    const char *path = assay__study_file(run->study, "profile.json", error);
    assay_status status =
        path == NULL ? ASSAY_E_IO : assay__json_file_write(json_incref(run->profile), path, error);
    if (status == ASSAY_OK)
        status = write_csv(run, error);
    return status == ASSAY_OK ? write_report(run, error) : status;
}

static assay_status do_step(graph_run *run, size_t step, assay_error *error)
{
    bool done = assay__study_done(run->study, step);
    assay_status status = ASSAY_OK;
    if (!done) {
        assay__study_begin(run->study, step);
        if (!assay__study_advance(run->study, 0))
            return assay__study_interrupted(run->study, error);
        status = measure(run, step, error);
    }
    if (status == ASSAY_OK)
        status = take_json(run, step, error);
    if (status == ASSAY_OK)
        status = take_text(run, step, error);
    if (status == ASSAY_OK && !done)
        status = put_together(run, error);
    return status == ASSAY_OK && !done ? assay__study_end(run->study, error) : status;
}

/* ---- The whole ---- */

static assay_status run_steps(graph_run *run, const char *json_path, assay_error *error)
{
    assay_status status = ASSAY_OK;
    for (size_t step = 0; step < STEPS && status == ASSAY_OK; step++)
        status = do_step(run, step, error);
    if (status == ASSAY_OK && json_path != NULL)
        status = assay__json_file_write(json_incref(run->profile), json_path, error);
    if (status == ASSAY_OK) {
        assay__graph_print_growth(run->profile, run->plan->output);
        fprintf(run->plan->output, "\nResults: %s\n", run->plan->folder);
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
             "runs, %g s an axis",
             settings->num_nodes, settings->num_edges, settings->hidden_dim, settings->num_layers,
             settings->num_heads, settings->ffn_dim, settings->batch_size, settings->num_runs,
             settings->budget_seconds);
    full.settings = text;
    full.steps = steps;
    full.step_count = STEPS;
    assay__buffer_init(&run.report, MAX_TEXT);
    assay_status status = make_model(&run, error); /* first: bad sizes leave no folder behind */
    if (status == ASSAY_OK)
        status = assay__study_open(&full, error, &run.study);
    if (status == ASSAY_OK)
        status = run_steps(&run, json_path, error);
    assay__study_free(run.study);
    assay_model_free(run.model);
    json_decref(run.profile);
    assay__buffer_release(&run.report);
    return status;
}
