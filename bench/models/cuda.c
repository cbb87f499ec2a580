/* The models on a CUDA device beside PyTorch eager on the same device, and beside themselves on the
 * processor. The times are elapsed times of whole calls, which for ours include copying inputs and
 * outputs. Without a device the benchmark says so and exits with 0. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "assay/model.h"
#include "bench/models/peer.h"
#include "models/cuda/peak.h"

typedef struct subject {
    assay_model *model;
    assay_tensor inputs[4], target;
    size_t count;
    int64_t steps; /* steps of a forecast; 0 for none */
} subject;

static void require(assay_status status, const assay_error *error)
{
    if (status != ASSAY_OK) {
        fprintf(stderr, "cuda: %s\n", error->message);
        exit(1);
    }
}

/* Makes a model. `text` holds its settings: "hidden-dim=64 ..." */
static subject make(const char *name, const char *device, const char *text)
{
    const assay_model_class *class_ = NULL;
    assay_error error = {0};
    double settings[64];
    char copy[256], *rest = copy, *word;
    subject made = {0};
    require(assay_model_find(name, &error, &class_), &error);
    for (size_t i = 0; i < class_->option_count; i++)
        settings[i] = class_->options[i].initial;
    snprintf(copy, sizeof copy, "%s", text);
    while ((word = strsep(&rest, " ")) != NULL)
        for (size_t i = 0; i < class_->option_count; i++) {
            size_t length = strlen(class_->options[i].name);
            if (strncmp(word, class_->options[i].name, length) == 0 && word[length] == '=')
                settings[i] = strtod(word + length + 1, NULL);
        }
    require(assay_model_class_on(class_, device, &error, &class_), &error);
    require(assay_model_new(class_, settings, 1, &error, &made.model), &error);
    require(assay_model_example(made.model, 2, &error, made.inputs, &made.target), &error);
    made.count = class_->input_count;
    return made;
}

static void forward(void *context)
{
    subject *s = context;
    assay_error error;
    assay_tensor output;
    require(s->steps > 0
                ? assay_model_forecast(s->model, s->inputs, s->count, s->steps, &error, &output)
                : assay_model_forward(s->model, s->inputs, s->count, &error, &output),
            &error);
}

static double step(subject *s)
{
    assay_error error;
    double loss;
    require(assay_model_gradient(s->model, s->inputs, s->count, &s->target, &error, &loss), &error);
    require(assay_model_update(s->model, 1e-3, &error), &error);
    return loss;
}

static void train(void *context)
{
    (void)step(context);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double elapsed(peer_subject work, void *context, long repeats)
{
    double start = now();
    for (long i = 0; i < repeats; i++)
        work(context);
    return (now() - start) / (double)repeats;
}

/* Compares ours on the device with the peer's task. A `bar` of 0 is none. */
static void compare(peer_server *server, const char *name, const char *task, double bar,
                    peer_subject work, subject *ours)
{
    double mine[PEER_ROUNDS], theirs[PEER_ROUNDS], ratios[PEER_ROUNDS];
    elapsed(work, ours, 3);
    (void)peer_seconds(server, task, 3);
    long repeats = peer_repeats(elapsed(work, ours, 3));
    long their_repeats = peer_repeats(peer_seconds(server, task, 3));
    for (int round = 0; round < PEER_ROUNDS; round++) {
        mine[round] = elapsed(work, ours, repeats);
        theirs[round] = peer_seconds(server, task, their_repeats);
        ratios[round] = theirs[round] / mine[round];
    }
    peer_print_time(name, "ours", peer_median(mine));
    if (server->questions == NULL || isnan(theirs[0]))
        return;
    peer_print_time(name, "PyTorch", peer_median(theirs));
    peer_print_ratio(server, name, "PyTorch", peer_median(ratios), bar);
    fflush(stdout);
}

/* Prints the largest relative difference between the losses of 20 training steps on both devices.
 */
static void agree(peer_server *server, const char *model, const char *settings)
{
    subject cpu = make(model, "cpu", settings), gpu = make(model, "cuda:0", settings);
    double worst = 0;
    for (int i = 0; i < 20; i++) {
        double expected = step(&cpu);
        worst = fmax(worst, fabs(step(&gpu) - expected) / fabs(expected));
    }
    bool ok = worst <= 1e-3;
    server->missed |= !ok;
    printf("{\"name\": \"%s: losses of 20 steps, device against processor\", \"value\": %.3g, "
           "\"unit\": \"relative\", \"bar\": 0.001, \"ok\": %s}\n",
           model, worst, ok ? "true" : "false");
    assay_model_free(cpu.model);
    assay_model_free(gpu.model);
}

static void beside_processor(const char *name, const char *model, const char *settings,
                             peer_subject work)
{
    subject cpu = make(model, "cpu", settings), gpu = make(model, "cuda:0", settings);
    double host[PEER_ROUNDS], device[PEER_ROUNDS];
    elapsed(work, &gpu, 3);
    long few = peer_repeats(elapsed(work, &cpu, 1)), many = peer_repeats(elapsed(work, &gpu, 3));
    for (int round = 0; round < PEER_ROUNDS; round++) {
        host[round] = elapsed(work, &cpu, few);
        device[round] = elapsed(work, &gpu, many);
    }
    printf("{\"name\": \"%s: one thread of the processor / device\", \"value\": %.3g, \"unit\": "
           "\"x\", \"bar\": null, \"ok\": true}\n",
           name, peer_median(host) / peer_median(device));
    assay_model_free(cpu.model);
    assay_model_free(gpu.model);
}

int main(void)
{
    const assay_model_class *class_ = NULL;
    assay_error error = {0};
    require(assay_model_find("mlp", &error, &class_), &error);
    if (assay_model_class_on(class_, "cuda:0", &error, &class_) != ASSAY_OK) {
        fprintf(stderr, "cuda: skipped: %s\n", error.message);
        return 0;
    }
    peer_server server;
    assay__gpu_peak peak;
    peer_start(&server, "gpu.py");
    require(assay__gpu_peak_measure(class_, &error, &peak), &error);
    printf("{\"name\": \"%s: float32 products\", \"value\": %.4g, \"unit\": \"GFLOP/s\", \"bar\": "
           "null, \"ok\": true}\n",
           peak.device, peak.gflops);
    printf("{\"name\": \"%s: copies\", \"value\": %.4g, \"unit\": \"GB/s\", \"bar\": null, \"ok\": "
           "true}\n",
           peak.device, peak.gigabytes_per_second);
    subject graph = make("graph_transformer", "cuda:0", ""),
            one = make("lstm", "cuda:0", "batch-size=1");
    subject lstm = make("lstm", "cuda:0", ""), mlp = make("mlp", "cuda:0", "");
    subject large =
        make("lstm", "cuda:0", "input-dim=64 output-dim=64 hidden-dim=512 num-layers=2");
    compare(&server, "graph transformer forward", "graph-forward", 1, forward, &graph);
    compare(&server, "graph transformer training step", "graph-train", 0, train, &graph);
    one.steps = lstm.steps = 100;
    compare(&server, "lstm forecast of 100 steps, one sequence", "lstm-forecast-1", 5, forward,
            &one);
    compare(&server, "lstm forecast of 100 steps, 32 sequences", "lstm-forecast-32", 5, forward,
            &lstm);
    lstm.steps = 0;
    compare(&server, "lstm forward", "lstm-forward", 0, forward, &lstm);
    compare(&server, "lstm training step", "lstm-train", 0, train, &lstm);
    compare(&server, "lstm of 2 x 512 forward", "lstm-large-forward", 0, forward, &large);
    compare(&server, "mlp forward", "mlp-forward", 0, forward, &mlp);
    compare(&server, "mlp training step", "mlp-train", 0, train, &mlp);
    agree(&server, "graph_transformer", "");
    agree(&server, "lstm", "");
    agree(&server, "mlp", "");
    agree(&server, "next_road", "");
    beside_processor("graph transformer forward", "graph_transformer", "", forward);
    beside_processor("graph transformer training step", "graph_transformer", "", train);
    beside_processor("lstm training step", "lstm", "", train);
    beside_processor("mlp training step", "mlp", "", train);
    beside_processor("next-road training step", "next_road", "", train);
    return peer_stop(&server);
}
