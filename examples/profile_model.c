/* Profiles one model: how long its passes take, and how much memory they need.
 *
 *     cc profile_model.c $(pkg-config --cflags --libs assay-models) -lm -o profile_model
 *     ./profile_model
 *
 * The model is the built-in graph transformer, made small. A plugin (examples/plugin) or a class of
 * your own is profiled in the same way. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <assay/assay.h>
#include <assay/model.h>
#include <assay/profile.h>

enum { MAX_INPUTS = 8 };

static void print_ms(assay_reading seconds)
{
    if (seconds.validity == ASSAY_VALID && isfinite(seconds.value))
        printf(" %8.3f", seconds.value * 1e3);
    else
        printf(" %8s", "n/a");
}

/* The time of the backward pass is the mean time of the gradient minus that of the forward pass. It
 * has no runs of its own, and so no minimum. */
static void print_timing(const char *name, const assay_timing *timing)
{
    printf("  %-16s", name);
    print_ms(assay_reading_of(timing->mean_seconds));
    print_ms(timing->std_seconds);
    print_ms(assay_reading_of(timing->min_seconds));
    print_ms(assay_reading_of(timing->max_seconds));
    printf(" %6llu\n", (unsigned long long)timing->count);
}

static void print_memory(const char *name, assay_reading bytes)
{
    if (bytes.validity == ASSAY_VALID)
        printf("  %-24s %10.2f MB\n", name, bytes.value / (1 << 20));
    else
        printf("  %-24s %13s\n", name, assay_validity_text(bytes.validity));
}

/* Makes a model with the defaults of its class, except for two sizes and some dropout. */
static assay_status make(assay_error *error, assay_model **model)
{
    const assay_model_class *class = NULL;
    assay_status status = assay_model_find("graph_transformer", error, &class);
    if (status != ASSAY_OK)
        return status;
    double *settings = malloc(class->option_count * sizeof *settings);
    if (settings == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < class->option_count; i++) {
        const char *name = class->options[i].name;
        settings[i] = strcmp(name, "hidden-dim") == 0 ? 32 : class->options[i].initial;
        if (strcmp(name, "num-nodes") == 0)
            settings[i] = 50;
        if (strcmp(name, "dropout") == 0)
            settings[i] = 0.1;
    }
    status = assay_model_new(class, settings, 42, error, model);
    free(settings);
    return status;
}

static assay_status show_passes(const assay_profile_target *target, assay_error *error)
{
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.num_runs = 30;
    options.warmup_runs = 5;
    assay_timing forward, backward, step;
    assay_status status = assay_profile_forward(target, &options, error, &forward);
    if (status == ASSAY_OK)
        status = assay_profile_backward(target, &options, error, &backward);
    if (status == ASSAY_OK)
        status = assay_profile_training_step(target, &options, error, &step);
    if (status != ASSAY_OK)
        return status;
    printf("One by one, in ms:     mean      std      min      max   runs\n");
    print_timing("forward", &forward);
    print_timing("backward", &backward);
    print_timing("training step", &step);

    assay_pass_profile all; /* the same in one call */
    status = assay_profile_all(target, &options, error, &all);
    if (status != ASSAY_OK)
        return status;
    printf("All in one call:\n");
    print_timing("forward", &all.forward);
    print_timing("backward", &all.backward);
    print_timing("training step", &all.training_step);
    return ASSAY_OK;
}

/* A function of your own, here a forward pass, can be timed and observed too. */
static assay_status forward(void *argument)
{
    const assay_profile_target *target = argument;
    const size_t inputs = assay_model_class_of(target->model)->input_count;
    assay_tensor output;
    return assay_model_forward(target->model, target->inputs, inputs, NULL, &output);
}

static assay_status show_own_function(assay_profile_target *target, assay_error *error)
{
    assay_timing timing;
    assay_memory_stats memory;
    assay_status status = assay_benchmark_function(forward, target, NULL, error, &timing);
    if (status == ASSAY_OK)
        status = assay_profile_memory_usage(forward, target, &memory);
    if (status != ASSAY_OK)
        return status;
    printf("A function of your own:\n");
    print_timing("forward", &timing);
    printf("Its memory (%s):\n", memory.device);
    print_memory("peak", memory.peak_bytes);
    print_memory("allocated", memory.allocated_bytes);
    return ASSAY_OK;
}

static assay_status show_memory(const assay_profile_target *target, assay_error *error)
{
    assay_model_memory held;
    assay_status status = assay_reset_memory_stats();
    if (status != ASSAY_OK) /* not permitted: the peak is the one since the start */
        printf("The peak was not reset: %s\n", assay_status_message(status));
    status = assay_get_memory_breakdown(target, error, &held);
    if (status != ASSAY_OK)
        return status;
    printf("What the model holds, by use:\n");
    print_memory("parameters", assay_reading_of((double)held.parameters));
    print_memory("forward activations", assay_reading_of((double)held.activations));
    print_memory("gradients", assay_reading_of((double)held.gradients));
    print_memory("optimizer", assay_reading_of((double)held.optimizer));
    print_memory("peak of the process", assay_get_peak_memory());
    return ASSAY_OK;
}

/* Profiles training steps with dropout but with the same masks each time, and with another loss and
 * another optimizer. */
static assay_status show_choices(const assay_profile_target *given, assay_error *error)
{
    assay_profile_target target = *given;
    target.loss = ASSAY_LOSS_BINARY_CROSS_ENTROPY;
    target.optimizer = ASSAY_OPTIMIZER_SGD;
    assay_profiling_options options = ASSAY_PROFILING_OPTIONS_INIT;
    options.keep_mode = true;
    options.keep_dropout = true;
    options.seeded = true;
    options.seed = 42;
    assay_model_set_training(target.model, true);
    assay_profiling_context context = assay_profiling_begin_with(target.model, true, &options);
    assay_sampling_options runs = ASSAY_SAMPLING_OPTIONS_INIT;
    runs.num_runs = 30;
    assay_timing step;
    assay_memory_stats memory;
    assay_status status = assay_profile_training_step(&target, &runs, error, &step);
    if (status == ASSAY_OK)
        status = assay_profile_pass_memory(&target, ASSAY_PASS_TRAINING_STEP, error, &memory);
    if (status == ASSAY_OK) {
        const assay_model_training *training = assay_model_training_of(target.model);
        printf("By SGD on the cross-entropy, dropout drawn %llu times from seed %llu:\n  ",
               (unsigned long long)training->passes, (unsigned long long)training->seed);
        assay_runtime_stats_print(&step, stdout);
        printf("\n");
        print_memory("peak", memory.peak_bytes);
    }
    assay_profiling_end(&context);
    assay_model_set_training(target.model, false);
    return status;
}

int main(void)
{
    assay_error error = {.message = "out of memory"};
    assay_model *model = NULL;
    assay_tensor inputs[MAX_INPUTS] = {0}, wanted = {0};
    assay_status status = make(&error, &model);
    if (status == ASSAY_OK)
        status = assay_model_example(model, 42, &error, inputs, &wanted);
    assay_profile_target target = ASSAY_PROFILE_TARGET_INIT;
    target.model = model;
    target.inputs = inputs;
    target.target = &wanted;
    if (status == ASSAY_OK) {
        /* This switches dropout off. At the end the model returns to the mode it was in. */
        assay_profiling_context context = assay_profiling_begin(model, false);
        printf("graph transformer, %llu parameters\n",
               (unsigned long long)assay_model_parameter_count(model));
        status = show_passes(&target, &error);
        if (status == ASSAY_OK)
            status = show_own_function(&target, &error);
        if (status == ASSAY_OK)
            status = show_memory(&target, &error);
        assay_profiling_end(&context);
    }
    if (status == ASSAY_OK)
        status = show_choices(&target, &error);
    if (status != ASSAY_OK)
        fprintf(stderr, "%s: %s\n", assay_status_name(status), error.message);
    assay_model_free(model);
    return status == ASSAY_OK ? 0 : 1;
}
