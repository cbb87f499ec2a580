#include "studies/profile/axes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "studies/profile/encoding_cost.h"

static const struct {
    const char *name, *option;
} names[] = {{"nodes", "num-nodes"},
             {"layers", "num-layers"},
             {"hidden", "hidden-dim"},
             {"batch", "batch-size"},
             {"points", "num-points"}};
enum { NAMES = sizeof names / sizeof *names };
static const char encodings_axis[] = "encodings";

static bool same_name(const char *one, const char *other)
{
    for (; *one != '\0' || *other != '\0'; one++, other++)
        if (*one != *other && !(*one == '-' && *other == '_') && !(*one == '_' && *other == '-'))
            return false;
    return true;
}

/* option_count: none. */
static size_t option_index(const assay_model_class *class_, const char *name)
{
    for (size_t i = 0; i < NAMES; i++)
        if (strcmp(names[i].name, name) == 0)
            name = names[i].option;
    size_t i = 0;
    while (i < class_->option_count &&
           !(class_->options[i].integer && class_->options[i].words == NULL &&
             same_name(class_->options[i].name, name)))
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

/* Every name of a direction, short ones first. Returns how many. */
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

/* Five sizes, each about twice the one before: the model's own, smaller ones as far as there are,
 * then larger ones. */
static size_t usual_sizes(const assay_model_option *option, double own, double sizes[])
{
    enum { SIZES = 5, UNSET = 32 }; /* an option of which 0 means "as another one says" */
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

static assay_status measure_cost(const assay_record_subject *passes,
                                 const assay_scaling_graph *graph, assay_error *error,
                                 assay__encoding_cost *cost)
{
    assay_status status =
        assay_timing_summarize(passes->samples_seconds, passes->sample_count, &cost->forward);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "cannot sum up '%s': %s", passes->name,
                           assay_status_message(status));
    cost->storage_bytes =
        assay_estimate_pe_storage(graph->num_nodes, cost->config.dim, 0, 0).node_pe_bytes;
    return assay__encoding_measure(&cost->config, graph, error, &cost->computing);
}

static assay_status measure_costs(const assay_model_factory *factory,
                                  const assay_pe_config *configs, assay__axis_result *result,
                                  assay_error *error)
{
    int64_t nodes = (int64_t)setting_of(factory, option_index(factory->class_, "num-nodes"));
    double edges = setting_of(factory, option_index(factory->class_, "num-edges"));
    assay_scaling_graph *graph = NULL;
    assay_status status = assay_generate_scaling_graphs(&nodes, 1, edges / (double)nodes, 0,
                                                        factory->seed, error, &graph);
    result->cost_count = result->encodings->subject_count;
    result->costs = calloc(result->cost_count, sizeof *result->costs);
    if (status == ASSAY_OK && result->costs == NULL)
        status = assay__fail(error, ASSAY_E_MEMORY, "no memory for the costs of encodings");
    for (size_t i = 0; i < result->cost_count && status == ASSAY_OK; i++) {
        result->costs[i].config = configs[i];
        status = measure_cost(&result->encodings->subjects[i], graph, error, &result->costs[i]);
    }
    assay_scaling_graphs_free(graph, 1);
    return status;
}

static assay_status run_encodings(const assay_model_factory *factory, const assay__axis *axis,
                                  const assay_scaling_options *options, assay_error *error,
                                  assay__axis_result *result)
{
    int64_t width = axis->count > 0 ? (int64_t)axis->sizes[0] : 16;
    const assay_pe_config configs[] = {{"lap", width}, {"rwse", width}, {"none", 0}};
    assay_status status =
        assay_run_pe_scaling(factory, configs, 3, options, error, &result->encodings);
    return status == ASSAY_OK ? measure_costs(factory, configs, result, error) : status;
}

static assay_status run_option(const assay_model_factory *factory, const assay__axis *axis,
                               const assay_scaling_options *options, assay_error *error,
                               assay__axis_result *result)
{
    size_t index = option_index(factory->class_, axis->name);
    const assay_model_option *option = &factory->class_->options[index];
    double sizes[ASSAY__AXIS_SIZES_MAX];
    size_t count = axis->count;
    if (count > 0)
        memcpy(sizes, axis->sizes, count * sizeof *sizes);
    else
        count = usual_sizes(option, setting_of(factory, index), sizes);
    if (strcmp(option->name, "num-nodes") != 0 || !has_option(factory->class_, "num-edges"))
        return assay_model_scaling_run(factory, option->name, sizes, count, options, error,
                                       &result->scaling);
    int64_t nodes[ASSAY__AXIS_SIZES_MAX];
    for (size_t i = 0; i < count; i++)
        nodes[i] = (int64_t)sizes[i];
    return assay_run_node_scaling(factory, nodes, count, 0, options, error, &result->scaling);
}

assay_status assay__axis_run(const assay_model_factory *factory, const assay__axis *axis,
                             const assay_scaling_options *options, assay_error *error,
                             assay__axis_result *result)
{
    *result = (assay__axis_result){0};
    assay_status status = assay__axis_check(factory->class_, axis->name, error);
    if (status != ASSAY_OK)
        return status;
    snprintf(result->name, sizeof result->name, "%s", axis->name);
    status = strcmp(axis->name, encodings_axis) == 0
                 ? run_encodings(factory, axis, options, error, result)
                 : run_option(factory, axis, options, error, result);
    if (status != ASSAY_OK)
        assay__axis_release(result);
    return status;
}

void assay__axis_release(assay__axis_result *result)
{
    assay_scaling_free(result->scaling);
    assay_record_free(result->encodings);
    free(result->costs);
    *result = (assay__axis_result){0};
}
