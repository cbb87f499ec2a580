/* Models on a device compared with the same models on the processor: outputs, forecasts, gradients,
 * and the losses of 20 training steps, within 1e-3 of each other. With the library path of the
 * tests the device is an emulated one (tests/fake/compute); with ASSAY_REAL_CUDA=1 it is that of
 * the machine. The tests of errors need the emulated one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* after them */
#include <cmocka.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/model.h"
#include "tests/fake/compute/emulator.h"

enum { MOST_SETTINGS = 64, MOST_INPUTS = 4, STEPS = 20 };

typedef struct variant {
    const char *model;
    const char *settings; /* "hidden-dim=32 num-layers=2" */
    assay_loss loss;
    assay_optimizer optimizer;
    bool everywhere; /* an LSTM with a target after every step */
} variant;

typedef struct subject {
    assay_model *model;
    assay_tensor inputs[MOST_INPUTS], target;
    size_t count;
} subject;

static bool is_real(void)
{
    return getenv("ASSAY_REAL_CUDA") != NULL;
}

static void fill_settings(const assay_model_class *class_, const char *text, double *settings)
{
    char copy[512], *rest = copy, *word;
    for (size_t i = 0; i < class_->option_count; i++)
        settings[i] = class_->options[i].initial;
    snprintf(copy, sizeof copy, "%s", text);
    while ((word = strsep(&rest, " ")) != NULL && *word != '\0') {
        char *value = strchr(word, '=');
        size_t i = 0;
        assert_non_null(value);
        *value++ = '\0';
        while (i < class_->option_count && strcmp(class_->options[i].name, word) != 0)
            i++;
        assert_true(i < class_->option_count);
        settings[i] = strtod(value, NULL);
    }
}

static void make(const variant *of, const char *device, subject *made)
{
    const assay_model_class *class_ = NULL;
    double settings[MOST_SETTINGS];
    assay_error error = {0};
    *made = (subject){0};
    assert_int_equal(assay_model_find(of->model, &error, &class_), ASSAY_OK);
    fill_settings(class_, of->settings, settings);
    if (assay_model_class_on(class_, device, &error, &class_) != ASSAY_OK)
        fail_msg("%s", error.message);
    assert_string_equal(assay_model_class_device(class_), device);
    if (assay_model_new(class_, settings, 7, &error, &made->model) != ASSAY_OK)
        fail_msg("%s", error.message);
    made->count = class_->input_count;
    assert_int_equal(assay_model_example(made->model, 3, &error, made->inputs, &made->target),
                     ASSAY_OK);
    assay_model_training *training = assay_model_training_of(made->model);
    if (training != NULL) { /* otherwise the class has fixed them */
        training->loss = of->loss;
        training->optimizer = of->optimizer;
    }
}

/* The largest difference, relative to the largest value. */
static double distance(const float *ours, const float *theirs, int64_t count)
{
    double largest = 1e-30, most = 0;
    for (int64_t i = 0; i < count; i++) {
        double difference = fabs((double)ours[i] - theirs[i]);
        largest = fmax(largest, fabs((double)theirs[i]));
        most = isfinite(difference) ? fmax(most, difference) : INFINITY;
    }
    return most / largest;
}

static void assert_close(const char *what, const variant *of, double off)
{
    if (!(off <= 1e-3))
        fail_msg("%s of %s (%s): %g off", what, of->model, of->settings, off);
}

static void compare_forward(const variant *of, subject *cpu, subject *gpu)
{
    assay_error error = {0};
    assay_tensor expected, got;
    assert_int_equal(assay_model_forward(cpu->model, cpu->inputs, cpu->count, &error, &expected),
                     ASSAY_OK);
    if (assay_model_forward(gpu->model, gpu->inputs, gpu->count, &error, &got) != ASSAY_OK)
        fail_msg("%s", error.message);
    assert_int_equal(assay_tensor_count(&got), assay_tensor_count(&expected));
    assert_close("output", of, distance(got.data, expected.data, assay_tensor_count(&got)));
}

/* Targets after every step, of which the last row of the example is one. */
static float *targets_everywhere(subject *s)
{
    int64_t batch = s->inputs[0].shape[0], time = s->inputs[0].shape[1];
    int64_t width = s->target.shape[1];
    float *values = calloc((size_t)(batch * time * width), sizeof *values);
    for (int64_t i = 0; i < batch * time * width; i++)
        values[i] = sinf((float)i);
    s->target = (assay_tensor){"target", ASSAY_F32, 3, {batch, time, width}, values};
    return values;
}

static void compare_gradients(const variant *of, subject *cpu, subject *gpu)
{
    size_t count = 0;
    const assay_model_parameter *expected = assay_model_parameters(cpu->model, &count);
    const assay_model_parameter *got = assay_model_parameters(gpu->model, &count);
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        for (int64_t j = 0; j < assay_tensor_count(&expected[i].value); j++)
            largest = fmax(largest, fabs((double)((float *)expected[i].gradient)[j]));
    for (size_t i = 0; i < count; i++) {
        const int64_t elements = assay_tensor_count(&expected[i].value);
        double own = 0;
        for (int64_t j = 0; j < elements; j++)
            own = fmax(own, fabs((double)((float *)expected[i].gradient)[j]));
        double off = distance(got[i].gradient, expected[i].gradient, elements);
        if (own < 1e-4 * largest) /* rounding of what cancels */
            off *= own / (1e-4 * largest);
        assert_close(expected[i].value.name, of, off);
    }
}

static void compare_training(const variant *of, subject *cpu, subject *gpu)
{
    assay_error error = {0};
    assay_model_set_training(cpu->model, true);
    assay_model_set_training(gpu->model, true);
    for (int step = 0; step < STEPS; step++) {
        double expected = 0, got = 0;
        assert_int_equal(assay_model_gradient(cpu->model, cpu->inputs, cpu->count, &cpu->target,
                                              &error, &expected),
                         ASSAY_OK);
        if (assay_model_gradient(gpu->model, gpu->inputs, gpu->count, &gpu->target, &error, &got) !=
            ASSAY_OK)
            fail_msg("%s", error.message);
        if (step == 0)
            compare_gradients(of, cpu, gpu);
        assert_close("loss", of, fabs(got - expected) / fabs(expected));
        assert_int_equal(assay_model_update(cpu->model, 1e-3, &error), ASSAY_OK);
        assert_int_equal(assay_model_update(gpu->model, 1e-3, &error), ASSAY_OK);
    }
}

static void compare(const variant *of)
{
    subject cpu, gpu;
    make(of, "cpu", &cpu);
    make(of, "cuda:0", &gpu);
    float *targets = of->everywhere ? targets_everywhere(&cpu) : NULL;
    float *more = of->everywhere ? targets_everywhere(&gpu) : NULL;
    compare_forward(of, &cpu, &gpu);
    compare_training(of, &cpu, &gpu);
    assay_model_set_training(cpu.model, false);
    assay_model_set_training(gpu.model, false);
    compare_forward(of, &cpu, &gpu);
    assay_model_free(cpu.model);
    assay_model_free(gpu.model);
    free(targets);
    free(more);
}

static void test_mlp(void **state)
{
    static const variant variants[] = {
        {.model = "mlp", .settings = "hidden-dim=24 num-layers=2 batch-size=70"},
        {.model = "mlp",
         .settings = "hidden-dim=16 activation=1 batch-size=33 output-dim=3",
         .loss = ASSAY_LOSS_L1,
         .optimizer = ASSAY_OPTIMIZER_ADAMW},
        {.model = "mlp",
         .settings = "hidden-dim=16 activation=2 batch-size=40 output-dim=3",
         .loss = ASSAY_LOSS_BINARY_CROSS_ENTROPY,
         .optimizer = ASSAY_OPTIMIZER_SGD},
        {.model = "mlp",
         .settings = "hidden-dim=16 activation=3 batch-size=40 output-dim=3",
         .loss = ASSAY_LOSS_CROSS_ENTROPY,
         .optimizer = ASSAY_OPTIMIZER_MOMENTUM},
        {.model = "siren", .settings = "hidden-dim=16 num-layers=2 batch-size=64"}};
    (void)state;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        compare(&variants[i]);
}

static void test_lstm(void **state)
{
    static const variant variants[] = {
        {.model = "lstm",
         .settings = "input-dim=5 output-dim=5 hidden-dim=12 batch-size=6 seq-len=7"},
        {.model = "lstm",
         .settings = "input-dim=5 output-dim=4 hidden-dim=9 num-layers=3 dropout=0.3 batch-size=3 "
                     "seq-len=5"},
        {.model = "lstm",
         .settings = "input-dim=4 output-dim=2 hidden-dim=8 num-layers=2 truncate=3 batch-size=4 "
                     "seq-len=6"},
        {.model = "lstm",
         .settings = "input-dim=3 output-dim=3 hidden-dim=8 num-layers=2 seq-len=5 "
                     "batch-size=4",
         .everywhere = true},
        {.model = "lstm",
         .settings = "input-dim=3 output-dim=2 hidden-dim=8 seq-len=1 batch-size=2"}};
    (void)state;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        compare(&variants[i]);
}

/* Small enough for one block of threads, for its registers, and too large for it. */
static void test_lstm_forecast(void **state)
{
    static const variant variants[] = {
        {.model = "lstm",
         .settings = "input-dim=20 output-dim=20 hidden-dim=16 num-layers=2 "
                     "batch-size=3 seq-len=4"},
        {.model = "lstm",
         .settings = "input-dim=20 output-dim=20 hidden-dim=11 batch-size=3 seq-len=4"},
        {.model = "lstm",
         .settings = "input-dim=2 output-dim=2 hidden-dim=260 batch-size=2 seq-len=2"}};
    (void)state;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        subject cpu, gpu;
        assay_error error = {0};
        assay_tensor expected, got;
        make(&variants[i], "cpu", &cpu);
        make(&variants[i], "cuda:0", &gpu);
        assert_int_equal(assay_model_forecast(cpu.model, cpu.inputs, 1, 9, &error, &expected),
                         ASSAY_OK);
        if (assay_model_forecast(gpu.model, gpu.inputs, 1, 9, &error, &got) != ASSAY_OK)
            fail_msg("%s", error.message);
        assert_int_equal(got.shape[1], 9);
        assert_close("forecast", &variants[i],
                     distance(got.data, expected.data, assay_tensor_count(&expected)));
        assay_model_free(cpu.model);
        assay_model_free(gpu.model);
    }
}

#define SMALL "input-dim=6 hidden-dim=24 num-heads=3 ffn-dim=40 num-layers=2 "

static void test_graph_transformer(void **state)
{
    static const variant variants[] = {
        {.model = "graph_transformer", .settings = SMALL "num-nodes=70 num-edges=300"},
        {.model = "graph_transformer",
         .settings = SMALL "mpnn=1 activation=1 readout=1 batch-size=3 num-nodes=20 num-edges=60 "
                           "bias-distance=3 lap-dim=2 rw-steps=3"},
        {.model = "graph_transformer",
         .settings = SMALL "mpnn=2 attention=1 num-nodes=30 num-edges=120 bias-distance=2 "
                           "dropout=0.2"},
        {.model = "graph_transformer",
         .settings = "input-dim=6 hidden-dim=40 num-heads=1 ffn-dim=70 "
                     "num-layers=1 num-nodes=40 num-edges=90 "
                     "dropout=0.1 mpnn=2"},
        /* Heads of more than 256 columns are divided. */
        {.model = "graph_transformer",
         .settings = "input-dim=6 hidden-dim=264 num-heads=1 ffn-dim=8 num-layers=1 num-nodes=10 "
                     "num-edges=20 bias-distance=3"},
        {.model = "graph_transformer",
         .settings = "input-dim=6 hidden-dim=520 num-heads=2 ffn-dim=8 num-layers=1 num-nodes=5 "
                     "num-edges=9 attention=1 bias-distance=2"}};
    (void)state;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        compare(&variants[i]);
}

/* Trajectories of one road and padded ones of many, with scorers wider and narrower than a warp. */
static void test_next_road(void **state)
{
    static const variant variants[] = {
        {.model = "next_road", .settings = "num-nodes=60 batch-size=5 seq-len=7"},
        {.model = "next_road", .settings = "num-nodes=40 size=1 batch-size=9 seq-len=12"},
        {.model = "next_road",
         .settings = "num-nodes=30 embedding-dim=3 hidden-dim=5 ffn-dim=7 batch-size=3 seq-len=1"},
        {.model = "next_road",
         .settings = "num-nodes=50 embedding-dim=5 hidden-dim=40 ffn-dim=70 batch-size=1"}};
    (void)state;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        compare(&variants[i]);
}

/* The device refuses the inputs and targets that the processor refuses. */
static void test_next_road_refuses(void **state)
{
    const variant of = {.model = "next_road", .settings = "num-nodes=30 batch-size=2 seq-len=3"};
    subject gpu;
    assay_error error = {0};
    assay_tensor output;
    double loss;
    (void)state;
    make(&of, "cuda:0", &gpu);
    assert_null(assay_model_training_of(gpu.model));
    memset(gpu.target.data, 0, (size_t)assay_tensor_count(&gpu.target) * sizeof(float));
    assert_int_equal(
        assay_model_gradient(gpu.model, gpu.inputs, gpu.count, &gpu.target, &error, &loss),
        ASSAY_E_DATA);
    assert_string_equal(error.message, "the target is 0 for every candidate");
    ((int64_t *)gpu.inputs[1].data)[0] = 30;
    assert_int_equal(assay_model_forward(gpu.model, gpu.inputs, gpu.count, &error, &output),
                     ASSAY_E_DATA);
    assert_non_null(strstr(error.message, "destinations: element 0 is 30"));
    assay_model_free(gpu.model);
}

/* Changing the parameters on the host counts, and weights come back. */
static void test_parameters(void **state)
{
    const variant of = {.model = "mlp", .settings = "hidden-dim=8 batch-size=5"};
    subject gpu;
    assay_error error = {0};
    assay_tensor output;
    double loss;
    size_t count;
    (void)state;
    make(&of, "cuda:0", &gpu);
    const assay_model_parameter *list = assay_model_parameters(gpu.model, &count);
    for (size_t i = 0; i < count; i++)
        memset(list[i].value.data, 0, (size_t)assay_tensor_count(&list[i].value) * sizeof(float));
    ((float *)list[count - 1].value.data)[0] = 2.5F;
    assert_int_equal(assay_model_forward(gpu.model, gpu.inputs, 1, &error, &output), ASSAY_OK);
    assert_true(((float *)output.data)[0] == 2.5F);
    assert_int_equal(assay_model_gradient(gpu.model, gpu.inputs, 1, &gpu.target, &error, &loss),
                     ASSAY_OK);
    assert_int_equal(assay_model_update(gpu.model, 0.5, &error), ASSAY_OK);
    list = assay_model_parameters(gpu.model, &count);
    float bias = ((float *)list[count - 1].value.data)[0];
    assert_true(fabsf(bias - 2.0F) < 1e-4F); /* Adam's first step is the rate */
    assay_model_memory memory;
    assert_int_equal(assay_model_memory_now(gpu.model, &error, &memory), ASSAY_OK);
    assert_int_equal(memory.parameters, assay_model_parameter_count(gpu.model) * sizeof(float));
    assert_int_equal(memory.optimizer, 2 * memory.parameters);
    assay_model_free(gpu.model);
}

/* ---- What goes wrong ---- */

static fake_compute_faults *fake(void)
{
    fake_compute_faults *(*find)(void) = NULL;
    void *handle = dlopen("libcuda.so.1", RTLD_NOW), *found = dlsym(handle, "fake_compute");
    memcpy(&find, &found, sizeof found);
    return find();
}

static const assay_model_class *class_of(const char *name)
{
    const assay_model_class *class_ = NULL;
    assert_int_equal(assay_model_find(name, NULL, &class_), ASSAY_OK);
    return class_;
}

static void assert_refused(const char *model, const char *device, assay_status status,
                           const char *message)
{
    assay_error error = {0};
    const assay_model_class *class_ = NULL;
    assert_int_equal(assay_model_class_on(class_of(model), device, &error, &class_), status);
    if (strstr(error.message, message) == NULL)
        fail_msg("'%s' does not say '%s'", error.message, message);
}

static void test_devices_that_are_not(void **state)
{
    (void)state;
    assert_refused("mlp", "gpu", ASSAY_E_ARGUMENT, "devices are cpu, cuda:0");
    assert_refused("mlp", "cuda:x", ASSAY_E_ARGUMENT, "devices are cpu, cuda:0");
    assert_refused("mlp", "cuda:7", ASSAY_E_UNSUPPORTED, "there is no device cuda:7");
    assert_refused("kan", "cuda:0", ASSAY_E_UNSUPPORTED,
                   "graph_transformer, lstm, mlp, next_road and siren");
    const assay_model_class *class_ = NULL;
    assert_int_equal(assay_model_class_on(class_of("kan"), "cpu", NULL, &class_), ASSAY_OK);
    assert_ptr_equal(class_, class_of("kan"));
}

/* In a child: libraries are opened once. `path` is its library path, `fake` and `compiler` what the
 * fakes are told. */
static void assert_refused_in_child(const char *path, const char *told, const char *compiler,
                                    const char *message)
{
    const char *build = getenv("ASSAY_BUILD");
    char folder[4096], command[8192];
    assert_non_null(build);
    snprintf(folder, sizeof folder, "%s", path);
    snprintf(
        command, sizeof command,
        "LD_LIBRARY_PATH='%s' HOME=/nonexistent VIRTUAL_ENV= PATH=/usr/bin:/bin FAKE_COMPUTE='%s' "
        "FAKE_NVRTC='%s' '%s'/assay-models model train --model mlp --steps 1 --device cuda:0 2>&1",
        folder, told, compiler, build);
    FILE *pipe = popen(command, "r");
    char text[1024] = "";
    size_t read = fread(text, 1, sizeof text - 1, pipe);
    text[read] = '\0';
    int code = pclose(pipe);
    if (strstr(text, message) == NULL)
        fail_msg("'%s' does not say '%s'", text, message);
    assert_int_equal(WEXITSTATUS(code), strstr(message, "out of memory") != NULL ? 71 : 69);
}

static void test_libraries_that_are_missing(void **state)
{
    const char *whole = getenv("LD_LIBRARY_PATH");
    char part[] = "/tmp/assay-cuda-XXXXXX", command[8192];
    (void)state;
    if (is_real() || getenv("ASSAY_BUILD") == NULL)
        skip();
    snprintf(command, sizeof command, "%s/assay-models", getenv("ASSAY_BUILD"));
    if (access(command, X_OK) != 0)
        skip();
    assert_refused_in_child("/nonexistent", "", "", "no CUDA driver");
    assert_non_null(mkdtemp(part));
    snprintf(command, sizeof command, "cp '%s'/libcuda.so.1 %s/", whole, part);
    assert_int_equal(system(command), 0);
    /* A machine with the real libraries finds those. */
    const bool installed = system("/sbin/ldconfig -p 2>/dev/null | grep -q libcublas.so") == 0;
    assert_refused_in_child(part, "", "", installed ? "cuBLAS" : "no cuBLAS");
    snprintf(command, sizeof command, "cp '%s'/libcublas.so.13 %s/", whole, part);
    assert_int_equal(system(command), 0);
    if (!installed) /* the real NVRTC asks the driver for more than ours has */
        assert_refused_in_child(part, "", "", "ASSAY_CUDA_LIBRARIES");
    snprintf(command, sizeof command, "rm -r %s", part);
    assert_int_equal(system(command), 0);
    assert_refused_in_child(whole, "init=100", "", "no CUDA-capable device is detected");
    assert_refused_in_child(whole, "devices=0", "", "this machine has 0");
    assert_refused_in_child(whole, "", "fail", "as the test asked");
    assert_refused_in_child(whole, "launch=719", "", "unspecified launch failure");
    assert_refused_in_child(whole, "bytes=1000", "", "out of memory");
}

static void test_a_failure_passes(void **state)
{
    const variant of = {.model = "lstm", .settings = "hidden-dim=8 batch-size=2 seq-len=3"};
    subject gpu;
    assay_error error = {0};
    assay_tensor output;
    (void)state;
    if (is_real())
        skip();
    const size_t before = fake()->held;
    make(&of, "cuda:0", &gpu);
    fake()->launch = 719;
    assert_int_equal(assay_model_forward(gpu.model, gpu.inputs, 1, &error, &output),
                     ASSAY_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "cuda:0 (Emulated GPU)"));
    fake()->launch = 0;
    fake()->bytes = fake()->held + 16;
    assert_int_equal(
        assay_model_gradient(gpu.model, gpu.inputs, 1, &gpu.target, &error, &(double){0}),
        ASSAY_E_MEMORY);
    fake()->bytes = 0;
    assert_int_equal(assay_model_forward(gpu.model, gpu.inputs, 1, &error, &output), ASSAY_OK);
    assay_model_free(gpu.model);
    assert_int_equal(fake()->held, before);
}

/* The parameters of a device that was lost are not those of an earlier time. */
static void test_parameters_that_cannot_be_copied(void **state)
{
    const variant of = {.model = "mlp", .settings = "hidden-dim=8 batch-size=5"};
    const char *path = "assay-cuda-weights.safetensors";
    subject gpu;
    assay_error error = {0};
    assay_tensor output;
    size_t count;
    (void)state;
    if (is_real())
        skip();
    make(&of, "cuda:0", &gpu);
    const uint64_t parameters = assay_model_parameter_count(gpu.model);
    assert_int_equal(
        assay_model_gradient(gpu.model, gpu.inputs, 1, &gpu.target, &error, &(double){0}),
        ASSAY_OK);
    fake()->copy_out = 719;
    const assay_model_parameter *list = assay_model_parameters(gpu.model, &count);
    for (size_t i = 0; i < count; i++) {
        assert_null(list[i].value.data);
        assert_null(list[i].gradient);
    }
    assert_int_equal(assay_model_parameter_count(gpu.model), parameters);
    assert_int_equal(assay_model_save_weights(gpu.model, path, &error), ASSAY_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "cuda:0 (Emulated GPU): CUDA cannot copy from the"));
    assert_int_equal(assay_model_save_gradients(gpu.model, path, &error), ASSAY_E_UNSUPPORTED);
    assert_int_not_equal(access(path, F_OK), 0);
    fake()->copy_out = 0;
    assert_int_equal(assay_model_save_weights(gpu.model, path, &error), ASSAY_OK);
    fake()->copy_out = 719; /* the weights cannot be loaded into it either; the next try can */
    assert_int_equal(assay_model_forward(gpu.model, gpu.inputs, 1, &error, &output),
                     ASSAY_E_UNSUPPORTED);
    assert_int_equal(assay_model_load_weights(gpu.model, path, &error), ASSAY_E_UNSUPPORTED);
    fake()->copy_out = 0;
    assert_int_equal(assay_model_load_weights(gpu.model, path, &error), ASSAY_OK);
    list = assay_model_parameters(gpu.model, &count);
    assert_non_null(list[0].value.data);
    ((float *)list[count - 1].value.data)[0] += 1; /* not lost if it cannot be sent at first */
    const float changed = ((float *)list[count - 1].value.data)[0];
    fake()->copy_in = 719;
    assert_int_equal(assay_model_forward(gpu.model, gpu.inputs, 1, &error, &output),
                     ASSAY_E_UNSUPPORTED);
    fake()->copy_in = 0;
    assert_int_equal(assay_model_forward(gpu.model, gpu.inputs, 1, &error, &output), ASSAY_OK);
    list = assay_model_parameters(gpu.model, &count);
    assert_true(((float *)list[count - 1].value.data)[0] == changed);
    unlink(path);
    assay_model_free(gpu.model);
}

int main(void)
{
    const assay_model_class *class_ = NULL;
    assay_error error = {0};
    if (assay_model_class_on(class_of("mlp"), "cuda:0", &error, &class_) != ASSAY_OK) {
        printf("skipped: %s\n", error.message);
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mlp),
                                       cmocka_unit_test(test_lstm),
                                       cmocka_unit_test(test_lstm_forecast),
                                       cmocka_unit_test(test_graph_transformer),
                                       cmocka_unit_test(test_next_road),
                                       cmocka_unit_test(test_next_road_refuses),
                                       cmocka_unit_test(test_parameters),
                                       cmocka_unit_test(test_devices_that_are_not),
                                       cmocka_unit_test(test_libraries_that_are_missing),
                                       cmocka_unit_test(test_a_failure_passes),
                                       cmocka_unit_test(test_parameters_that_cannot_be_copied)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
