/* A scaling experiment: several scaling runs of one model, kept together for a summary. */
#include <stdlib.h>

#include "assay/model_scaling.h"
#include "base/error.h"
#include "base/struct_size.h"

enum { MAX_RUNS = 32 };

struct assay_scaling_experiment {
    assay_model_factory factory;
    assay_scaling_options options;
    assay_scaling *scalings[MAX_RUNS];
    size_t count;
};

assay_status assay_scaling_experiment_new(const assay_model_factory *factory,
                                          const assay_scaling_options *options,
                                          assay_scaling_experiment **experiment)
{
    *experiment = NULL;
    assay_scaling_experiment *made = calloc(1, sizeof *made);
    if (made == NULL)
        return ASSAY_E_MEMORY;
    assay_status status = assay__struct_take(&made->factory, sizeof made->factory, factory,
                                             "assay_model_factory", NULL);
    if (status == ASSAY_OK && made->factory.class_ == NULL)
        status = ASSAY_E_ARGUMENT;
    if (status == ASSAY_OK)
        status = assay__struct_take(&made->options, sizeof made->options, options,
                                    "assay_scaling_options", NULL);
    if (status == ASSAY_OK)
        *experiment = made;
    else
        free(made);
    return status;
}

void assay_scaling_experiment_free(assay_scaling_experiment *experiment)
{
    for (size_t i = 0; experiment != NULL && i < experiment->count; i++)
        assay_scaling_free(experiment->scalings[i]);
    free(experiment);
}

static assay_status room(const assay_scaling_experiment *experiment, assay_error *error)
{
    return experiment->count < MAX_RUNS
               ? ASSAY_OK
               : assay__fail(error, ASSAY_E_LIMIT, "an experiment has at most %d runs", MAX_RUNS);
}

assay_status assay_scaling_experiment_run_node_scaling(assay_scaling_experiment *experiment,
                                                       const int64_t *num_nodes_list, size_t count,
                                                       double avg_degree, assay_error *error)
{
    assay_status status = room(experiment, error);
    if (status == ASSAY_OK)
        status = assay_run_node_scaling(&experiment->factory, num_nodes_list, count, avg_degree,
                                        &experiment->options, error,
                                        &experiment->scalings[experiment->count]);
    experiment->count += status == ASSAY_OK;
    return status;
}

assay_status assay_scaling_experiment_run_layer_scaling(assay_scaling_experiment *experiment,
                                                        const int64_t *num_layers_list,
                                                        size_t count, int64_t num_nodes,
                                                        assay_error *error)
{
    assay_status status = room(experiment, error);
    if (status == ASSAY_OK)
        status = assay_run_layer_scaling(&experiment->factory, num_layers_list, count, num_nodes,
                                         &experiment->options, error,
                                         &experiment->scalings[experiment->count]);
    experiment->count += status == ASSAY_OK;
    return status;
}

assay_status assay_scaling_experiment_print_summary(const assay_scaling_experiment *experiment,
                                                    FILE *stream)
{
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < experiment->count && status == ASSAY_OK; i++)
        status = assay_scaling_print_summary(experiment->scalings[i], stream);
    return status;
}
