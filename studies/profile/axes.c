/* Measures a model along an axis. An axis is either an option of the class that grows, or the axis
 * "encodings", which compares the positional encodings of a graph model. */
#include "studies/profile/axes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "assay/flops.h"
#include "assay/record_build.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/text.h"
#include "studies/common/results.h"
#include "studies/profile/encoding_cost.h"
#include "studies/profile/view.h"

static const struct {
    const char *name, *option;
} names[] = {{"nodes", "num-nodes"},
             {"layers", "num-layers"},
             {"hidden", "hidden-dim"},
             {"batch", "batch-size"},
             {"points", "num-points"}};
enum { NAMES = sizeof names / sizeof *names };
static const char encodings_axis[] = "encodings";

/* The index of the option that this axis grows, or option_count if there is none. */
static size_t option_index(const assay_model_class *class_, const char *name)
{
    for (size_t i = 0; i < NAMES; i++)
        if (strcmp(names[i].name, name) == 0)
            name = names[i].option;
    size_t i = 0;
    while (i < class_->option_count &&
           !(class_->options[i].integer && class_->options[i].words == NULL &&
             assay__text_same_option(class_->options[i].name, name, strlen(name))))
        i++;
    return i;
}

static bool has_option(const assay_model_class *class_, const char *name)
{
    return option_index(class_, name) < class_->option_count;
}

static bool has_encodings(const assay_model_class *class_)
{
    return has_option(class_, "lap-dim") && has_option(class_, "rw-steps") &&
           has_option(class_, "num-nodes") && has_option(class_, "num-edges");
}

/* List the names of all axes, short names first. Returns their number. */
static size_t list_names(const assay_model_class *class_, const char **list, size_t room)
{
    size_t count = 0;
    for (size_t i = 0; i < NAMES && count < room; i++)
        if (has_option(class_, names[i].option))
            list[count++] = names[i].name;
    if (has_encodings(class_) && count < room)
        list[count++] = encodings_axis;
    for (size_t i = 0; i < class_->option_count && count < room; i++)
        if (option_index(class_, class_->options[i].name) == i)
            list[count++] = class_->options[i].name;
    return count;
}

assay_status assay__axis_check(const assay_model_class *class_, const char *name,
                               assay_error *error)
{
    if (strcmp(name, encodings_axis) == 0 ? has_encodings(class_) : has_option(class_, name))
        return ASSAY_OK;
    const char *known[64];
    size_t count = list_names(class_, known, sizeof known / sizeof *known);
    const char *nearest = assay__nearest(name, known, count, sizeof *known);
    if (nearest != NULL)
        return assay__fail(error, ASSAY_E_NOT_FOUND,
                           "model '%s' does not grow by '%s'; did you mean '%s'?", class_->name,
                           name, nearest);
    char all[256] = "";
    for (size_t i = 0, used = 0; i < count && used < sizeof all; i++)
        used +=
            (size_t)snprintf(all + used, sizeof all - used, "%s%s", i > 0 ? ", " : "", known[i]);
    return assay__fail(error, ASSAY_E_NOT_FOUND, "model '%s' does not grow by '%s'; it has %s",
                       class_->name, name, count > 0 ? all : "no sizes");
}

size_t assay__axes_default(const assay_model_class *class_, assay__axis axes[ASSAY__AXES_MAX])
{
    static const char *const usual[] = {"nodes",  "layers", "encodings", "hidden",
                                        "points", "batch",  "order"};
    enum { WANTED = 3 };
    size_t count = 0;
    for (size_t i = 0; i < sizeof usual / sizeof *usual && count < WANTED; i++)
        if (assay__axis_check(class_, usual[i], NULL) == ASSAY_OK) {
            axes[count] = (assay__axis){0};
            snprintf(axes[count++].name, sizeof axes->name, "%s", usual[i]);
        }
    return count;
}

/* Choose up to five sizes, each about twice the one before, starting at an eighth of the model's
 * own. Sizes below the option's minimum are skipped, so that more of the larger ones are used. */
static size_t usual_sizes(const assay_model_option *option, double own, double sizes[])
{
    enum { SIZES = 5, UNSET = 32 }; /* for an option whose value is 0 */
    size_t count = 0;
    for (double size = (own > 0 ? own : UNSET) / 8; count < SIZES; size *= 2) {
        double whole = round(size);
        if (whole > option->maximum)
            break;
        if (whole >= fmax(1, option->minimum) && (count == 0 || whole > sizes[count - 1]))
            sizes[count++] = whole;
    }
    return count;
}

static double setting_of(const assay_model_factory *factory, size_t option)
{
    return factory->settings != NULL ? factory->settings[option]
                                     : factory->class_->options[option].initial;
}

bool assay__axis_same(const assay_model_class *class_, const char *one, const char *other)
{
    return strcmp(one, other) == 0 ||
           (has_option(class_, one) && option_index(class_, one) == option_index(class_, other));
}

/* ---- encodings ---- */

/* Rename the last subject of the record: "lap 16" of assay_run_pe_scaling() becomes
 * "graph_transformer forward/encoding=lap 16", with the encoding and its width as parameters. */
static assay_status take_encoding(const assay_model_class *class_, const assay_pe_config *config,
                                  const assay_record_subject *from, assay_record *record)
{
    char name[256], dim[24];
    snprintf(name, sizeof name, "%s forward/encoding=%s", class_->name, from->name);
    snprintf(dim, sizeof dim, "%lld", (long long)config->dim);
    assay_record_subject *subject = &record->subjects[record->subject_count - 1];
    subject->name = assay_record_text(record, name);
    subject->model = assay_record_text(record, class_->name);
    subject->covers = "one forward pass with encodings that were computed before";
    subject->parameter_count = 0;
    if (subject->name == NULL || subject->model == NULL)
        return ASSAY_E_MEMORY;
    assay_status status = assay_record_add_parameter(record, subject, "encoding", config->name);
    return status == ASSAY_OK ? assay_record_add_parameter(record, subject, "dim", dim) : status;
}

static assay_status store_encoding(const assay_pe_config *config, int64_t nodes,
                                   assay_record *record)
{
    char of[64];
    snprintf(of, sizeof of, "%s encoding", config->name);
    double bytes = assay_estimate_pe_storage(nodes, config->dim, 0, 0).node_pe_bytes;
    return assay__found_cost(record, ASSAY__FIGURE_STORAGE, of, assay_reading_of(bytes), "bytes",
                             "estimated: a float for each node and dimension");
}

static assay_status run_encodings(const assay_model_factory *factory, const assay__axis *axis,
                                  const assay_scaling_options *options, assay_error *error,
                                  assay_record *record)
{
    int64_t width = axis->count > 0 ? (int64_t)axis->sizes[0] : 16;
    const assay_pe_config configs[] = {{"lap", width}, {"rwse", width}, {"none", 0}};
    enum { CONFIGS = sizeof configs / sizeof *configs };
    int64_t nodes = (int64_t)setting_of(factory, option_index(factory->class_, "num-nodes"));
    double edges = setting_of(factory, option_index(factory->class_, "num-edges"));
    assay_record *sampled = NULL, *renamed = NULL;
    assay_scaling_graph *graph = NULL;
    assay_status status = assay_run_pe_scaling(factory, configs, CONFIGS, options, error, &sampled);
    if (status == ASSAY_OK)
        status = assay_record_new(&renamed);
    for (size_t i = 0; i < CONFIGS && status == ASSAY_OK; i++) {
        status = assay__record_append_subject(renamed, &sampled->subjects[i]);
        if (status == ASSAY_OK)
            status = take_encoding(factory->class_, &configs[i], &sampled->subjects[i], renamed);
        if (status == ASSAY_OK)
            status = store_encoding(&configs[i], nodes, renamed);
    }
    if (status == ASSAY_OK)
        status = assay__record_append(record, renamed);
    if (status == ASSAY_OK)
        status = assay_generate_scaling_graphs(&nodes, 1, edges / (double)nodes, 0, factory->seed,
                                               error, &graph);
    if (status == ASSAY_OK)
        status = assay__encodings_measure(graph, width, NULL, error, record);
    assay_scaling_graphs_free(graph, 1);
    assay_record_free(renamed);
    assay_record_free(sampled);
    return status;
}

/* ---- sizes ---- */

static assay_status take_scaling(const assay_scaling *scaling, const assay_model_class *class_,
                                 const char *axis, assay_record *record)
{
    size_t first = record->subject_count;
    const char *model = assay_record_text(record, class_->name);
    const char *name = assay_record_text(record, axis);
    if (model == NULL || name == NULL)
        return ASSAY_E_MEMORY;
    assay_status status = assay__record_append(record, scaling->record);
    if (status != ASSAY_OK)
        return status;
    for (size_t i = first; i < record->subject_count; i++) {
        record->subjects[i].model = model;
        record->subjects[i].covers = "one forward pass of a model made at this size";
    }
    record->scalings[record->scaling_count - 1].name = name;
    record->scalings[record->scaling_count - 1].of = model;
    record->series[record->series_count - 1].of = model;
    return ASSAY_OK;
}

static assay_status run_option(const assay_model_factory *factory, const assay__axis *axis,
                               const assay_scaling_options *options, assay_error *error,
                               assay_record *record)
{
    size_t index = option_index(factory->class_, axis->name);
    const assay_model_option *option = &factory->class_->options[index];
    assay_scaling *scaling = NULL;
    double sizes[ASSAY__AXIS_SIZES_MAX];
    int64_t nodes[ASSAY__AXIS_SIZES_MAX];
    size_t count = axis->count;
    if (count > 0)
        memcpy(sizes, axis->sizes, count * sizeof *sizes);
    else
        count = usual_sizes(option, setting_of(factory, index), sizes);
    for (size_t i = 0; i < count; i++)
        nodes[i] = (int64_t)sizes[i];
    bool with_edges =
        strcmp(option->name, "num-nodes") == 0 && has_option(factory->class_, "num-edges");
    assay_status status =
        with_edges ? assay_run_node_scaling(factory, nodes, count, 0, options, error, &scaling)
                   : assay_model_scaling_run(factory, option->name, sizes, count, options, error,
                                             &scaling);
    if (status == ASSAY_OK)
        status = take_scaling(scaling, factory->class_, axis->name, record);
    assay_scaling_free(scaling);
    return status;
}

assay_status assay__axis_run(const assay_model_factory *factory, const assay__axis *axis,
                             const assay_scaling_options *options, assay_error *error,
                             assay_record *record)
{
    assay_status status = assay__axis_check(factory->class_, axis->name, error);
    if (status != ASSAY_OK)
        return status;
    return strcmp(axis->name, encodings_axis) == 0
               ? run_encodings(factory, axis, options, error, record)
               : run_option(factory, axis, options, error, record);
}
