/* How does a model's forward pass grow with its sizes: nodes, layers, or any setting of its class?
 *
 *     cc scale_model.c $(pkg-config --cflags --libs assay-models) -lm -o scale_model
 *     ./scale_model
 *
 * At each size the model is made anew with made-up data and timed. Then the growth is fitted: a
 * class such as n or n^2, if the data allow one. encodings.c shows the encodings. */
#include <stdlib.h>
#include <string.h>

#include <assay/assay.h>
#include <assay/model_scaling.h>

enum { SIZES = 5 };

/* Makes a small graph transformer, so that the program ends soon. The caller frees the settings. */
static assay_status make_factory(assay_model_factory *factory, double **settings,
                                 assay_error *error)
{
    assay_status status = assay_model_find("graph_transformer", error, &factory->class_);
    if (status != ASSAY_OK)
        return status;
    const assay_model_class *class = factory->class_;
    *settings = malloc(class->option_count * sizeof **settings);
    if (*settings == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < class->option_count; i++) {
        (*settings)[i] = class->options[i].initial;
        if (strcmp(class->options[i].name, "hidden-dim") == 0)
            (*settings)[i] = 16;
        else if (strcmp(class->options[i].name, "num-layers") == 0)
            (*settings)[i] = 1;
        else if (strcmp(class->options[i].name, "num-nodes") == 0)
            (*settings)[i] = 40;
    }
    factory->settings = *settings;
    assay_set_seed(factory, 42); /* the seed of weights and data */
    return ASSAY_OK;
}

/* Prints the figures of a run, then the growth that was fitted. */
static void show(const char *title, const assay_scaling *scaling)
{
    printf("%s\n", title);
    for (size_t i = 0; i < scaling->count; i++)
        printf("  %6.0f  %9.4f ms\n", scaling->parameter_values[i],
               scaling->runtime_stats[i].mean_seconds * 1e3);
    const assay_growth *growth = scaling->growth;
    const char *class = assay_growth_class_name(growth->growth_class);
    printf("  grows like %s%s\n\n", class != NULL ? class : "nothing that can be named",
           growth->conclusive ? "" : ", but that is not certain");
}

/* Single runs, whose figures the caller gets. */
static assay_status single_runs(const assay_model_factory *factory,
                                const assay_scaling_options *options, assay_error *error)
{
    static const int64_t nodes[SIZES] = {10, 20, 40, 80, 160}, layers[SIZES] = {1, 2, 3, 4, 5};
    static const double widths[SIZES] = {8, 16, 32, 64, 128};
    assay_scaling *scaling = NULL;
    assay_status status =
        assay_run_node_scaling(factory, nodes, SIZES, 5, options, error, &scaling);
    if (status != ASSAY_OK)
        return status;
    show("Nodes, five edges each:", scaling);
    assay_scaling_free(scaling);

    status = assay_run_layer_scaling(factory, layers, SIZES, 30, options, error, &scaling);
    if (status != ASSAY_OK)
        return status;
    show("Layers, 30 nodes:", scaling);
    assay_scaling_free(scaling);

    status =
        assay_model_scaling_run(factory, "hidden-dim", widths, SIZES, options, error, &scaling);
    if (status != ASSAY_OK)
        return status;
    show("Width (hidden-dim):", scaling);
    assay_scaling_free(scaling);
    return ASSAY_OK;
}

/* An experiment: several runs with one summary. */
static assay_status experiment(const assay_model_factory *factory,
                               const assay_scaling_options *options, assay_error *error)
{
    static const int64_t nodes[SIZES] = {10, 20, 40, 80, 160}, layers[SIZES] = {1, 2, 3, 4, 5};
    assay_scaling_experiment *both = NULL;
    assay_status status = assay_scaling_experiment_new(factory, options, &both);
    if (status == ASSAY_OK)
        status = assay_scaling_experiment_run_node_scaling(both, nodes, SIZES, 5, error);
    if (status == ASSAY_OK)
        status = assay_scaling_experiment_run_layer_scaling(both, layers, SIZES, 30, error);
    if (status == ASSAY_OK)
        status = assay_scaling_experiment_print_summary(both, stdout);
    assay_scaling_experiment_free(both);
    return status;
}

int main(void)
{
    assay_error error = {.message = "out of memory"};
    assay_model_factory factory = ASSAY_MODEL_FACTORY_INIT;
    assay_scaling_options options = ASSAY_SCALING_OPTIONS_INIT;
    options.budget_seconds = 0.25; /* of each run; more time gives narrower intervals */
    double *settings = NULL;
    assay_status status = make_factory(&factory, &settings, &error);
    if (status == ASSAY_OK)
        status = single_runs(&factory, &options, &error);
    if (status == ASSAY_OK)
        status = experiment(&factory, &options, &error);
    if (status != ASSAY_OK)
        fprintf(stderr, "%s: %s\n", assay_status_name(status), error.message);
    free(settings);
    return status == ASSAY_OK ? 0 : 1;
}
