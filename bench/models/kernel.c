/* The kernels and the solvers beside PyTorch, NumPy and SciPy, with one thread each. PyTorch writes
 * into existing arrays (out=), as our code does. A linear layer is compared with OpenBLAS's bare
 * product. */
#include <cblas.h>

#include "base/random.h"
#include "bench/models/peer.h"
#include "models/kernel/kernels.h"
#include "models/kernel/linear.h"
#include "models/kernel/optimizer.h"
#include "models/kernel/threads.h"
#include "models/pde/burgers.h"
#include "models/pde/heat.h"

enum { ROWS = 4000, COLUMNS = 500, NODES = 500, WIDTH = 256, WEIGHTS = 4000000 };

/* x and y are (ROWS, COLUMNS). The layer's shapes are smaller and use the beginnings of these
 * arrays. */
typedef struct arrays {
    float *x, *y, *dy, *weight;
    float mean[NODES], rstd[NODES], scale[WIDTH], shift[WIDTH];
    assay__activation activation;
    assay__memory *memory;
    assay__parameters parameters;
    assay__adam adam;
} arrays;

static void must(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "kernel: %s\n", what);
        exit(70);
    }
}

static void activate(void *context)
{
    arrays *a = context;
    assay__activate(a->activation, NODES * 512, a->x, a->y);
}
static void layer_norm(void *context)
{
    arrays *a = context;
    assay__layer_norm_forward(NODES, WIDTH, 1e-5F, a->x, a->scale, a->shift, a->y, a->mean,
                              a->rstd);
}
static void adam(void *context)
{
    arrays *a = context;
    must(assay__adam_step(&a->adam, a->memory, &a->parameters, 1e-3, NULL) == ASSAY_OK, "adam");
}
static void linear(void *context)
{
    arrays *a = context;
    assay__linear_forward(NODES, WIDTH, 512, a->x, a->weight, a->shift, a->y);
}

/* The time of a bare product of the layer's size, called as any program calls OpenBLAS. */
static double bare_product_seconds(arrays *a, int repeats)
{
    double start = peer_cpu_seconds();
    for (int i = 0; i < repeats; i++) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, NODES, 512, WIDTH, 1, a->x, WIDTH,
                    a->weight, WIDTH, 0, a->y, 512);
    }
    return (peer_cpu_seconds() - start) / repeats;
}

static void compare_with_bare_product(peer_server *server, arrays *a)
{
    enum { REPEATS = 20 };
    double ratios[PEER_ROUNDS];
    (void)bare_product_seconds(a, REPEATS);
    for (int round = 0; round < PEER_ROUNDS; round++) {
        double bare = bare_product_seconds(a, REPEATS);
        ratios[round] = bare / peer_ours_seconds(linear, a, REPEATS);
    }
    peer_print_ratio(server, "linear 500x256x512", "bare sgemm", peer_median(ratios), 0.95);
}

static void compare_arrays(peer_server *server)
{
    static arrays a;
    size_t count = (size_t)ROWS * COLUMNS;
    a.memory = assay__memory_new();
    must(a.memory != NULL, "out of memory");
    a.x = assay__memory_floats(a.memory, ASSAY__WORKSPACE, count);
    a.y = assay__memory_floats(a.memory, ASSAY__WORKSPACE, count);
    a.dy = assay__memory_floats(a.memory, ASSAY__WORKSPACE, count);
    a.weight = assay__memory_floats(a.memory, ASSAY__WORKSPACE, WIDTH * 512);
    must(a.x && a.y && a.dy && a.weight, "out of memory");
    assay__random random;
    assay__random_init(&random, 1);
    for (size_t i = 0; i < count; i++)
        a.x[i] = a.y[i] = (float)assay__random_normal(&random);
    for (int i = 0; i < WIDTH * 512; i++)
        a.weight[i] = (float)assay__random_normal(&random);
    for (int i = 0; i < WIDTH; i++)
        a.scale[i] = 1;
    const char *const names[] = {"identity", "relu", "gelu", "tanh", "sigmoid", "sine", "silu"};
    for (int kind = ASSAY__RELU; kind < ASSAY__ACTIVATIONS_COUNT; kind++) {
        char name[64];
        a.activation = (assay__activation)kind;
        snprintf(name, sizeof name, "%s of 500x512", names[kind]);
        peer_compare(server, name, "PyTorch", names[kind], 1.05, activate, &a);
    }
    peer_compare(server, "layer norm 500x256", "PyTorch", "layer-norm", 1.05, layer_norm, &a);
    assay__parameters_init(&a.parameters);
    (void)assay__parameters_add(&a.parameters, 1, (int64_t[]){WEIGHTS}, "w");
    must(assay__parameters_allocate(&a.parameters, a.memory) == ASSAY_OK, "out of memory");
    for (int i = 0; i < WEIGHTS; i++)
        a.parameters.gradients[i] = a.x[i % (ROWS * COLUMNS)];
    peer_compare(server, "Adam of 4 million", "PyTorch", "adam", 1.05, adam, &a);
    compare_with_bare_product(server, &a);
    assay__parameters_release(&a.parameters);
    assay__memory_free(a.memory);
}

enum { POINTS = 256, BATCH = 16 };

typedef struct solvers {
    assay__burgers *burgers;
    assay__heat *heat;
    double u[POINTS], initial[BATCH * POINTS], doutput[BATCH * 4 * POINTS];
} solvers;

static void burgers(void *context)
{
    solvers *s = context;
    memcpy(s->u, s->initial, sizeof s->u);
    (void)assay__burgers_advance(s->burgers, 0.05, s->u);
}
static void heat(void *context)
{
    solvers *s = context;
    const double log_k[8] = {0}, *u;
    must(assay__heat_forward(s->heat, log_k, BATCH, s->initial, NULL, &u) == ASSAY_OK, "heat");
}
static void heat_gradient(void *context)
{
    solvers *s = context;
    double slope[8];
    heat(s);
    assay__heat_backward(s->heat, s->doutput, slope, NULL);
}

static void compare_solvers(peer_server *server)
{
    static solvers s;
    assay__heat_shape shape = {POINTS, 8, 4, 10, 0.1, 0.5};
    must(assay__burgers_new(POINTS, 0.01, NULL, &s.burgers) == ASSAY_OK &&
             assay__heat_new(&shape, NULL, &s.heat) == ASSAY_OK,
         "out of memory");
    for (int b = 0; b < BATCH; b++)
        for (int i = 0; i < POINTS; i++)
            s.initial[b * POINTS + i] = sin(2 * M_PI * (b + 1) * i / POINTS);
    peer_compare(server, "Burgers 256 points to 0.05", "NumPy", "burgers", 1.05, burgers, &s);
    peer_compare(server, "heat 16x256, 40 steps", "SciPy", "heat", 1.05, heat, &s);
    peer_compare(server, "heat gradient 16x256, 40 steps", "SciPy", "heat-gradient", 1.05,
                 heat_gradient, &s);
    assay__burgers_free(s.burgers);
    assay__heat_free(s.heat);
}

int main(void)
{
    assay__models_start();
    peer_server server;
    peer_start(&server, "kernel.py");
    compare_arrays(&server);
    compare_solvers(&server);
    return peer_stop(&server);
}
