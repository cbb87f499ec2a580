/* The named graph datasets of `assay profile`. The code finds and reads their files: the published
 * table of molecules, or the four tables of a graph folder. Without files it sets the options of
 * the model so that the model makes up graphs of the same size. */
#include "cli/models/profile_dataset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cli/common/message.h"

enum { MAX_PATH = 4096 };

#define DEFAULT_FOLDER "data"

/* Published figures: Dwivedi et al., Long Range Graph Benchmark (2022), table of statistics. */
static const struct known {
    const char *name;
    int graphs;
    double nodes, edges; /* of a graph, on average; edges in both directions */
    int features, labels;
    const char *molecules; /* the published table of molecules, or NULL */
} datasets[] = {{"peptides_func", 15535, 150.94, 307.30, 9, 10, "peptide_multi_class_dataset.csv"},
                {"peptides_struct", 15535, 150.94, 307.30, 9, 11, NULL}};
enum { DATASETS = sizeof datasets / sizeof *datasets };

static const char *const files[] = {"edge.csv", "node-feat.csv", "num-node-list.csv",
                                    "num-edge-list.csv"};
enum { FILES = sizeof files / sizeof *files };

static const struct known *find(const char *typed)
{
    char name[64];
    snprintf(name, sizeof name, "%s", typed);
    for (char *at = name; *at != '\0'; at++)
        *at = *at == '-' ? '_' : *at;
    for (size_t i = 0; i < DATASETS; i++)
        if (strcmp(datasets[i].name, name) == 0)
            return &datasets[i];
    const char *nearest = assay__nearest(name, &datasets->name, DATASETS, sizeof *datasets);
    message_error("assay profile: unknown dataset '%s'; %s%s%s", typed,
                  nearest != NULL ? "did you mean '"
                                  : "there are peptides_func and peptides_struct",
                  nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
    return NULL;
}

/* Set an option as if it had been typed, unless it was typed. */
static void set(profile_dataset *dataset, model_job *job, size_t slot, const char *name,
                const char *value)
{
    snprintf(dataset->texts[slot], sizeof dataset->texts[slot], "%s", value);
    for (size_t i = 0; i < job->class_->option_count; i++)
        if (strcmp(job->class_->options[i].name, name) == 0 && job->settings->values[i] == NULL)
            job->settings->values[i] = dataset->texts[slot];
}

static void set_number(profile_dataset *dataset, model_job *job, size_t slot, const char *name,
                       double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.0f", value);
    set(dataset, job, slot, name, text);
}

static const char *typed_value(const model_job *job, const char *name)
{
    for (size_t i = 0; i < job->class_->option_count; i++)
        if (strcmp(job->class_->options[i].name, name) == 0)
            return job->settings->values[i];
    return NULL;
}

bool profile_dataset_scale_edges(profile_dataset *dataset, model_job *job, double degree)
{
    const char *nodes = typed_value(job, "num-nodes");
    if (nodes == NULL || typed_value(job, "num-edges") != NULL)
        return false;
    set_number(dataset, job, 3, "num-edges", round(strtod(nodes, NULL) * degree));
    return true;
}

static void set_outputs(profile_dataset *dataset, model_job *job, int64_t features, int64_t labels,
                        bool graphs)
{
    set_number(dataset, job, 0, "input-dim", (double)features);
    if (labels > 0)
        set_number(dataset, job, 1, "output-dim", (double)labels);
    for (size_t i = 0; graphs && i < job->class_->option_count; i++)
        if (strcmp(job->class_->options[i].name, "readout") == 0 &&
            job->settings->values[i] == NULL)
            job->settings->values[i] = "graph";
}

/* Find a file, plain or as .gz, in a folder or in its subfolder raw/. */
static bool find_file(const char *folder, const char *file, char path[MAX_PATH])
{
    static const char *const between[] = {"", "", "raw/", "raw/"};
    static const char *const after[] = {"", ".gz", "", ".gz"};
    for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
        int length = snprintf(path, MAX_PATH, "%s/%s%s%s", folder, between[i], file, after[i]);
        if (length > 0 && length < MAX_PATH && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

static bool present(const char *folder, const char *file)
{
    char path[MAX_PATH];
    return find_file(folder, file, path);
}

/* Find the published table of molecules in the folder `root` or in its subfolder named after the
 * dataset. */
static bool find_molecules(const struct known *known, const char *root, char path[MAX_PATH])
{
    char folder[MAX_PATH];
    if (known->molecules == NULL)
        return false;
    int length = snprintf(folder, sizeof folder, "%s/%s", root, known->name);
    return find_file(root, known->molecules, path) ||
           (length < MAX_PATH && find_file(folder, known->molecules, path));
}

/* List the files that a folder lacks, as "a, b". Returns how many are missing. */
static size_t list_missing(const char *folder, char *list, size_t size)
{
    size_t count = 0, used = 0;
    list[0] = '\0';
    for (size_t i = 0; i < FILES; i++)
        if (!present(folder, files[i])) {
            if (used < size)
                used += (size_t)snprintf(list + used, size - used, "%s%s", count > 0 ? ", " : "",
                                         files[i]);
            count++;
        }
    return count;
}

/* Choose the folder of the dataset: the subfolder named after it, if that has any of the files,
 * otherwise `root` itself. Returns how many files are missing there, and lists them. */
static size_t locate(const struct known *known, const char *root, char folder[MAX_PATH], char *list,
                     size_t size)
{
    snprintf(folder, MAX_PATH, "%s/%s", root, known->name);
    size_t missing = list_missing(folder, list, size);
    if (missing < FILES)
        return missing;
    snprintf(folder, MAX_PATH, "%s", root);
    return list_missing(folder, list, size);
}

static int fail_missing(const struct known *known, const char *folder, const char *list)
{
    message_error("assay profile: dataset '%s': '%s' has no %s (plain or .gz, there or in raw/); "
                  "name its folder with --data-dir DIR, or use made-up graphs of its size with "
                  "--synthetic",
                  known->name, folder, list);
    return EX_NOINPUT;
}

/* Drop all but the first `wanted` graphs, in place. Returns how many graphs are left. */
static int64_t keep_graphs(profile_dataset *dataset, int64_t wanted)
{
    assay_tensor *nodes = &dataset->tensors[0], *edges = &dataset->tensors[1],
                 *graphs = &dataset->tensors[2];
    const int64_t *graph_of = graphs->data;
    int64_t *ends = edges->data, count = edges->shape[1], kept = 0, rows = 0;
    while (rows < graphs->shape[0] && graph_of[rows] < wanted)
        rows++;
    for (int64_t e = 0; e < count; e++)
        if (ends[e] < rows) {
            ends[kept] = ends[e];
            ends[count + kept++] = ends[count + e];
        }
    memmove(ends + kept, ends + count, (size_t)kept * sizeof *ends);
    int64_t held = rows > 0 ? graph_of[rows - 1] + 1 : 0;
    if (dataset->labels.data != NULL)
        dataset->labels.shape[0] = dataset->labels.shape[0] == graphs->shape[0] ? rows : held;
    nodes->shape[0] = graphs->shape[0] = rows;
    edges->shape[1] = kept;
    return held;
}

static int64_t batch_size(const model_job *job)
{
    for (size_t i = 0; i < job->class_->option_count; i++)
        if (strcmp(job->class_->options[i].name, "batch-size") == 0) {
            const char *typed = model_options_setting(job, i);
            long long value = typed != NULL ? strtoll(typed, NULL, 10) : 1;
            return value > 0 ? value : 1;
        }
    return 1;
}

static int load_molecules(profile_dataset *dataset, const struct known *known, model_job *job,
                          const char *path)
{
    assay_error error = {0};
    int64_t wanted = batch_size(job);
    assay_status status =
        assay_tensor_load_molecules(path, wanted, &error, dataset->tensors, &dataset->labels);
    if (status != ASSAY_OK)
        return model_fail(job, status, &error);
    const assay_tensor *graphs = &dataset->tensors[2];
    int64_t held = ((const int64_t *)graphs->data)[graphs->shape[0] - 1] + 1;
    bool labelled = dataset->labels.data != NULL;
    set_outputs(dataset, job, dataset->tensors[0].shape[1], labelled ? dataset->labels.shape[1] : 0,
                true);
    snprintf(dataset->note, sizeof dataset->note, "%s, the first %lld molecule%s of its table",
             known->name, (long long)held, held == 1 ? "" : "s");
    return EX_OK;
}

static int load(profile_dataset *dataset, const struct known *known, model_job *job,
                const char *folder)
{
    assay_error error = {0};
    assay_status status = assay_tensor_load_graph(folder, &error, dataset->tensors);
    if (status == ASSAY_OK) {
        status = assay_tensor_load_graph_labels(folder, &error, &dataset->labels);
        if (status == ASSAY_E_NOT_FOUND)
            status = ASSAY_OK; /* without labels no backward pass is measured */
    }
    if (status != ASSAY_OK)
        return model_fail(job, status, &error);
    const assay_tensor *graphs = &dataset->tensors[2];
    bool of_graphs = dataset->labels.data != NULL && dataset->labels.shape[0] != graphs->shape[0];
    int64_t held = keep_graphs(dataset, batch_size(job));
    set_outputs(dataset, job, dataset->tensors[0].shape[1],
                dataset->labels.data != NULL ? dataset->labels.shape[1] : 0, of_graphs);
    snprintf(dataset->note, sizeof dataset->note, "%s, the first %lld graph%s of its files",
             known->name, (long long)held, held == 1 ? "" : "s");
    return EX_OK;
}

/* Set the options for made-up graphs of the dataset's average size. If the user typed a number of
 * nodes, the graphs have that size and the dataset's average degree. */
static void make_up(profile_dataset *dataset, const struct known *known, model_job *job)
{
    set_outputs(dataset, job, known->features, known->labels, true);
    bool sized = profile_dataset_scale_edges(dataset, job, known->edges / known->nodes);
    set_number(dataset, job, 2, "num-nodes", known->nodes);
    if (!sized)
        set_number(dataset, job, 3, "num-edges", known->edges);
    dataset->is_made_up = true;
    snprintf(dataset->note, sizeof dataset->note,
             sized ? "synthetic: random graphs with the average degree of %s's %d"
                   : "synthetic: random graphs of the average size of %s's %d",
             known->name, known->graphs);
}

int profile_dataset_open(profile_dataset *dataset, model_job *job)
{
    const profile_settings *asked = &job->settings->profile;
    const struct known *known = find(asked->dataset);
    if (known == NULL)
        return EX_USAGE;
    bool nodes = false;
    for (size_t i = 0; i < job->class_->input_count; i++)
        nodes |= strcmp(job->class_->inputs[i].name, "nodes") == 0;
    if (!nodes) {
        message_error("assay profile: model '%s' takes no graphs, so no dataset of them",
                      job->class_->name);
        return EX_USAGE;
    }
    char folder[MAX_PATH], list[256];
    const char *root = asked->data_dir != NULL ? asked->data_dir : DEFAULT_FOLDER;
    if (!asked->synthetic && find_molecules(known, root, folder))
        return load_molecules(dataset, known, job, folder);
    size_t missing = asked->synthetic ? FILES : locate(known, root, folder, list, sizeof list);
    if (missing == 0)
        return load(dataset, known, job, folder);
    if (!asked->synthetic && (asked->data_dir != NULL || missing < FILES))
        return fail_missing(known, folder, list);
    if (!asked->synthetic)
        message_note("no files of %s in '%s' (--data-dir DIR names their folder); "
                     "made-up graphs of its average size take their place",
                     known->name, root);
    make_up(dataset, known, job);
    return EX_OK;
}

void profile_dataset_give(profile_dataset *dataset, model_job *job)
{
    for (size_t t = 0; t < 3; t++)
        for (size_t i = 0; i < job->class_->input_count; i++)
            if (dataset->tensors[t].data != NULL &&
                strcmp(job->class_->inputs[i].name, dataset->tensors[t].name) == 0) {
                job->inputs[i] = dataset->tensors[t];
                dataset->tensors[t] = (assay_tensor){0};
            }
    job->target = dataset->labels;
    job->target.name = "target";
    dataset->labels = (assay_tensor){0};
}

void profile_dataset_release(profile_dataset *dataset)
{
    for (size_t t = 0; t < 3; t++)
        assay_tensor_release(&dataset->tensors[t]);
    assay_tensor_release(&dataset->labels);
}
