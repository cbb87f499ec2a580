/* Scaling runs of a model. For each size, this file changes the settings and makes a model with an
 * example of its own. assay_scaling_run() times its forward pass. */
#include "assay/model_scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "models/profile/factory.h"

void assay_set_seed(assay_model_factory *factory, uint64_t seed)
{
    factory->seed = seed;
}

/* One scaling run: the setting that changes, and the number of edges that may change with it. */
typedef struct growing {
    const assay_model_factory *factory;
    size_t option;     /* index into the options of the class */
    size_t edges;      /* likewise, of "num-edges"; option_count if it does not change */
    double avg_degree; /* num-edges over num-nodes */
    double *settings;
    assay_error error; /* of the last instance that could not be made or run */
} growing;

static assay_status make(void *context, double size, void **instance)
{
    growing *self = context;
    self->settings[self->option] = size;
    if (self->edges < self->factory->class_->option_count)
        self->settings[self->edges] = round(self->avg_degree * size);
    return assay__factory_make(self->factory, self->settings, &self->error,
                               (assay__factory_model **)instance);
}

static void destroy(void *context, void *instance)
{
    (void)context;
    assay__factory_unmake(instance);
}

static assay_status run(void *context, void *instance, double size, uint64_t iterations)
{
    growing *self = context;
    (void)size;
    assay_status status = ASSAY_OK;
    for (uint64_t i = 0; i < iterations && status == ASSAY_OK; i++)
        status = assay__factory_forward(instance, &self->error);
    return status;
}

static assay_status run_growing(growing *self, const double *sizes, size_t count,
                                const assay_scaling_options *options, assay_error *error,
                                assay_scaling **scaling)
{
    char name[128];
    const assay_model_class *class_ = self->factory->class_;
    snprintf(name, sizeof name, "%s forward", class_->name);
    assay_scaling_subject subject = ASSAY_SCALING_SUBJECT_INIT;
    subject.name = name;
    subject.parameter = class_->options[self->option].name;
    subject.context = self;
    subject.make = make;
    subject.destroy = destroy;
    subject.run = run;
    assay_status status = assay_scaling_run(&subject, sizes, count, options, error, scaling);
    if (status != ASSAY_OK && self->error.message[0] != '\0' && error != NULL)
        *error = self->error; /* the model's own message says more */
    return status;
}

assay_status assay_model_scaling_run(const assay_model_factory *factory, const char *option,
                                     const double *sizes, size_t count,
                                     const assay_scaling_options *options, assay_error *error,
                                     assay_scaling **scaling)
{
    *scaling = NULL;
    growing self = {.factory = factory};
    assay_status status = assay__factory_option(factory, option, error, &self.option);
    if (status != ASSAY_OK)
        return status;
    self.edges = factory->class_->option_count;
    status = assay__factory_settings(factory, error, &self.settings);
    if (status == ASSAY_OK)
        status = run_growing(&self, sizes, count, options, error, scaling);
    free(self.settings);
    return status;
}

static assay_status to_doubles(const int64_t *list, size_t count, assay_error *error,
                               double **doubles)
{
    *doubles = calloc(count + 1, sizeof **doubles);
    if (*doubles == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for %zu sizes", count);
    for (size_t i = 0; i < count; i++)
        (*doubles)[i] = (double)list[i];
    return ASSAY_OK;
}

assay_status assay_run_node_scaling(const assay_model_factory *factory,
                                    const int64_t *num_nodes_list, size_t count, double avg_degree,
                                    const assay_scaling_options *options, assay_error *error,
                                    assay_scaling **scaling)
{
    static const int64_t usual[] = {100, 500, 1000, 2000, 5000};
    *scaling = NULL;
    double *sizes = NULL;
    growing self = {.factory = factory, .avg_degree = avg_degree};
    if (num_nodes_list == NULL) {
        num_nodes_list = usual;
        count = sizeof usual / sizeof *usual;
    }
    if (!(avg_degree >= 0 && isfinite(avg_degree)))
        return assay__fail(error, ASSAY_E_ARGUMENT, "the average degree must not be negative");
    assay_status status = assay__factory_option(factory, "num-nodes", error, &self.option);
    if (status != ASSAY_OK)
        return status;
    if (assay__factory_option(factory, "num-edges", NULL, &self.edges) != ASSAY_OK)
        self.edges = factory->class_->option_count;
    status = assay__factory_settings(factory, error, &self.settings);
    if (status == ASSAY_OK)
        status = to_doubles(num_nodes_list, count, error, &sizes);
    if (status == ASSAY_OK) {
        if (avg_degree == 0 && self.edges < factory->class_->option_count)
            self.avg_degree = self.settings[self.edges] / self.settings[self.option];
        status = run_growing(&self, sizes, count, options, error, scaling);
    }
    free(self.settings);
    free(sizes);
    return status;
}

assay_status assay_run_layer_scaling(const assay_model_factory *factory,
                                     const int64_t *num_layers_list, size_t count,
                                     int64_t num_nodes, const assay_scaling_options *options,
                                     assay_error *error, assay_scaling **scaling)
{
    static const int64_t usual[] = {2, 4, 6, 8, 12, 16};
    *scaling = NULL;
    double *sizes = NULL, *settings = NULL;
    if (num_layers_list == NULL) {
        num_layers_list = usual;
        count = sizeof usual / sizeof *usual;
    }
    assay_status status = assay__factory_settings(factory, error, &settings);
    size_t nodes;
    if (status == ASSAY_OK && num_nodes > 0) {
        status = assay__factory_option(factory, "num-nodes", error, &nodes);
        if (status == ASSAY_OK)
            settings[nodes] = (double)num_nodes;
    }
    if (status == ASSAY_OK)
        status = to_doubles(num_layers_list, count, error, &sizes);
    if (status == ASSAY_OK) {
        assay_model_factory changed = *factory;
        changed.struct_size = sizeof changed;
        changed.settings = settings;
        status =
            assay_model_scaling_run(&changed, "num-layers", sizes, count, options, error, scaling);
    }
    free(sizes);
    free(settings);
    return status;
}
