/* The gain by a second thread, as a share of the gain of a bare sgemm in the same run: elapsed
 * times with one thread and with two, taking turns. With fewer than two cores there is nothing to
 * show. */
#include <cblas.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/models/peer.h"
#include "bench/models/transformer_step.h"
#include "models/field/mlp.h"
#include "models/kernel/threads.h"
#include "models/road/city.h"
#include "models/road/search.h"

enum { ROUNDS = 15, SIZE = 1024, ROWS = 20000 };
#define ROUND_SECONDS 0.1

static double elapsed_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- The subjects ---- */

typedef struct product {
    float *a, *b, *c;
} product;

static void multiply(void *context)
{
    product *p = context;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIZE, SIZE, SIZE, 1, p->a, SIZE, p->b,
                SIZE, 0, p->c, SIZE);
}

typedef struct field {
    assay__neural_net *net;
    float *x, *y;
} field;

static void make_field(field *subject)
{
    assay_error error;
    assay__mlp_shape shape = {
        .input = 2, .hidden = 64, .output = 1, .hidden_layers = 3, .activation = ASSAY__TANH};
    require(assay__mlp_new(&shape, 1, &error, &subject->net), &error);
    subject->x = malloc(2 * ROWS * sizeof *subject->x);
    subject->y = malloc(ROWS * sizeof *subject->y);
    for (int i = 0; i < ROWS; i++) {
        subject->x[2 * i] = (float)sin(i);
        subject->x[2 * i + 1] = (float)cos(3 * i);
        subject->y[i] = subject->x[2 * i] * subject->x[2 * i + 1];
    }
}

static void train_field(void *context)
{
    field *subject = context;
    assay_error error;
    double loss;
    require(
        assay__neural_net_train(subject->net, ROWS, subject->x, subject->y, 1e-3, &error, &loss),
        &error);
}

enum { ROADS = 10000, PAIRS = 24, WIDTH = 4 };

typedef struct routes {
    assay__road_network *city;
    assay__next_road *model;
    assay__road_searcher *searchers[2];
    int64_t pairs[PAIRS][2];
} routes;

static void make_routes(routes *subject)
{
    assay_error error;
    assay__next_road_shape shape = assay__next_road_shape_of(ASSAY__NEXT_ROAD_VANILLA, ROADS);
    require(assay__city_new(ROADS, 1, &error, &subject->city), &error);
    require(assay__next_road_new(&shape, 1, &error, &subject->model), &error);
    require(assay__road_searcher_new(subject->city, subject->model, WIDTH, 200, &error,
                                     &subject->searchers[0]),
            &error);
    require(assay__road_searcher_twin(subject->searchers[0], &error, &subject->searchers[1]),
            &error);
    for (int i = 0; i < PAIRS; i++) {
        subject->pairs[i][0] = (i * 7919) % ROADS;
        subject->pairs[i][1] = (i * 104729 + 5000) % ROADS;
    }
}

static void free_routes(routes *subject)
{
    assay__road_searcher_free(subject->searchers[1]);
    assay__road_searcher_free(subject->searchers[0]);
    assay__next_road_free(subject->model);
    assay__road_network_free(subject->city);
}

static void take_route(void *context, int64_t index, const assay__road_route *route)
{
    (void)context;
    (void)index;
    (void)route;
}

static void search(void *context)
{
    routes *subject = context;
    assay_error error;
    require(assay__road_search_many(subject->searchers, assay__threads(), subject->pairs, PAIRS,
                                    WIDTH, take_route, NULL, &error),
            &error);
}

/* ---- The gain ---- */

/* The seconds of a call with this many threads. The bare product uses OpenBLAS's own threads. */
static double timed(peer_subject subject, void *context, bool bare, int threads, long repeats)
{
    if (bare)
        openblas_set_num_threads(threads);
    else
        assay_models_set_threads(threads);
    subject(context);
    double start = elapsed_seconds();
    for (long i = 0; i < repeats; i++)
        subject(context);
    double seconds = (elapsed_seconds() - start) / (double)repeats;
    openblas_set_num_threads(1);
    if (bare)
        usleep(50000); /* its threads go to sleep only after a while */
    return seconds;
}

typedef struct subject {
    const char *name;
    peer_subject run;
    void *context;
    long repeats;
    double best[2]; /* seconds with one thread and with two */
} subject;

static void take_round(subject *s, bool bare)
{
    for (int threads = 1; threads <= 2; threads++) {
        double seconds = timed(s->run, s->context, bare, threads, s->repeats);
        double *best = &s->best[threads - 1];
        *best = *best == 0 || seconds < *best ? seconds : *best;
    }
}

static void prepare(subject *s, bool bare)
{
    double once = timed(s->run, s->context, bare, 1, 1);
    s->repeats = once < ROUND_SECONDS ? (long)(ROUND_SECONDS / once) : 1;
}

static double gain_of(const subject *s)
{
    return s->best[0] / s->best[1];
}

static bool show(const char *name, double gain, double sgemm)
{
    const double bar = 0.9;
    bool ok = gain >= bar * sgemm;
    printf("{\"name\": \"%s: gain of a second thread\", \"value\": %.3f, \"unit\": \"x\", "
           "\"bar\": null, \"ok\": true}\n",
           name, gain);
    printf("{\"name\": \"%s: gain / a bare sgemm's\", \"value\": %.3f, \"unit\": \"x\", \"bar\": "
           "%.1f, \"ok\": %s}\n",
           name, gain / sgemm, bar, ok ? "true" : "false");
    fflush(stdout);
    return ok;
}

int main(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) < 2) {
        fprintf(stderr, "threads: skipped: one core\n");
        return 77;
    }
    assay__models_start();
    transformer graph;
    field net;
    routes road;
    product p = {calloc(SIZE * SIZE, sizeof(float)), calloc(SIZE * SIZE, sizeof(float)),
                 calloc(SIZE * SIZE, sizeof(float))};
    make_transformer(&graph, 0, 0);
    make_field(&net);
    make_routes(&road);
    assay_model_set_training(graph.model, true);
    subject sgemm = {.name = "sgemm of 1024", .run = multiply, .context = &p};
    subject subjects[] = {
        {.name = "graph transformer, forward", .run = forward, .context = &graph},
        {.name = "graph transformer, training step", .run = train, .context = &graph},
        {.name = "mlp tanh hidden 64, training step", .run = train_field, .context = &net},
        {.name = "beam search, 24 routes, width 4", .run = search, .context = &road}};
    enum { COUNT = sizeof subjects / sizeof *subjects };
    prepare(&sgemm, true);
    for (int i = 0; i < COUNT; i++)
        prepare(&subjects[i], false);
    for (int round = 0; round < ROUNDS; round++) {
        take_round(&sgemm, true);
        for (int i = 0; i < COUNT; i++)
            take_round(&subjects[i], false);
    }
    printf("{\"name\": \"%s: gain of a second thread\", \"value\": %.3f, \"unit\": \"x\", "
           "\"bar\": null, \"ok\": true}\n",
           sgemm.name, gain_of(&sgemm));
    bool ok = true;
    for (int i = 0; i < COUNT; i++)
        ok &= show(subjects[i].name, gain_of(&subjects[i]), gain_of(&sgemm));
    assay_model_free(graph.model);
    assay__neural_net_free(net.net);
    free_routes(&road);
    free(net.x);
    free(net.y);
    free(p.a);
    free(p.b);
    free(p.c);
    return ok ? 0 : 1;
}
