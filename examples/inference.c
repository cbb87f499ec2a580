/* Latency and throughput of a model: one row at a time, or many rows in one call?
 *
 *     cc inference.c $(pkg-config --cflags --libs assay-models) -lm -o inference
 *     ./inference */
#include <stdlib.h>
#include <string.h>

#include <assay/assay.h>
#include <assay/inference.h>
#include <assay/model.h>

typedef struct network {
    assay_model *model;
    assay_tensor input, target;
} network;

/* Makes the built-in perceptron, with made-up data of `rows` rows. */
static assay_status make(network *net, size_t rows, assay_error *error)
{
    const assay_model_class *class = NULL;
    assay_status status = assay_model_find("mlp", error, &class);
    if (status != ASSAY_OK)
        return status;
    double *settings = malloc(class->option_count * sizeof *settings);
    if (settings == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < class->option_count; i++) {
        const assay_model_option *option = &class->options[i];
        settings[i] = strcmp(option->name, "batch-size") == 0 ? (double)rows : option->initial;
    }
    status = assay_model_new(class, settings, 42, error, &net->model);
    free(settings);
    if (status == ASSAY_OK)
        status = assay_model_example(net->model, 42, error, &net->input, &net->target);
    return status;
}

/* The benchmark times single calls of this function. */
static assay_status predict(void *argument)
{
    network *net = argument;
    assay_tensor output;
    return assay_model_forward(net->model, &net->input, 1, NULL, &output);
}

static assay_status benchmark(size_t rows, assay_error *error)
{
    network net = {0};
    assay_timing timing;
    assay_status status = make(&net, rows, error);
    if (status == ASSAY_OK) { /* with NULL options: 100 calls, after 10 that do not count */
        assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
        options.num_iterations = 200;
        options.warmup = 20;
        status =
            assay_benchmark_inference(predict, &net, rows == 1 ? NULL : &options, error, &timing);
    }
    if (status == ASSAY_OK) {
        char name[64];
        snprintf(name, sizeof name, "MLP (%zu %s a call)", rows, rows == 1 ? "row" : "rows");
        status = assay_print_inference_benchmark(&timing, rows, stdout, name);
        printf("  Median and p95:    %9.4f ms, %.4f ms (%llu calls)\n",
               timing.p50_seconds.value * 1e3, timing.p95_seconds.value * 1e3,
               (unsigned long long)timing.count);
        printf("  Rows per second:   %9.0f\n\n", assay_timing_throughput(&timing, rows).value);
    }
    assay_model_free(net.model);
    return status;
}

int main(void)
{
    static const size_t rows[] = {1, 32, 1024};
    for (int i = 0; i < 3; i++) {
        assay_error error = {.message = "out of memory"};
        const assay_status status = benchmark(rows[i], &error);
        if (status != ASSAY_OK) {
            fprintf(stderr, "%s: %s\n", assay_status_name(status), error.message);
            return 1;
        }
    }
    return 0;
}
