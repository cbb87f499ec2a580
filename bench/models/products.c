/* How near our matrix products come to the most that a core can do. The peer is a loop of
 * multiply-adds on registers, which reads no memory. The processors that we have met do two of them
 * in a cycle, each on a whole vector. The loop runs at the same level as the products, and takes
 * turns with them, because the clock of a core changes.
 *
 * The rows say why a model that is mostly products cannot become much faster at a level. They have
 * no bar. */
#include "bench/models/peer.h"

#include "models/kernel/kernels.h"
#include "models/kernel/matmul.h"
#include "models/kernel/memory.h"
#include "models/kernel/simd.h"
#include "models/kernel/threads.h"

#if !defined(__x86_64__)
int main(void)
{
    fprintf(stderr, "products: for x86 only\n");
    return 77;
}
#else

enum { STEPS = 200000, LONGEST = 500 * 768 };

#ifdef __clang__
#define UNROLL ASSAY__PRAGMA(clang loop unroll(full))
#else
#define UNROLL ASSAY__PRAGMA(GCC unroll 24)
#endif

/* `sums` chains of multiply-adds, so many that none waits for the one before it. */
#define MULTIPLY_ADDS(name, features, bytes, sums)                                                 \
    static __attribute__((target(features), noinline)) double name(void)                           \
    {                                                                                              \
        typedef float floats __attribute__((vector_size(bytes)));                                  \
        const floats half = (floats){0} + 0.5F, one = (floats){0} + 1.0F;                          \
        floats sum[sums];                                                                          \
        UNROLL                                                                                     \
        for (int i = 0; i < (sums); i++)                                                           \
            sum[i] = one;                                                                          \
        for (int step = 0; step < STEPS; step++) {                                                 \
            UNROLL                                                                                 \
            for (int i = 0; i < (sums); i++) {                                                     \
                sum[i] = sum[i] * half + one;                                                      \
                __asm__ volatile("" : "+v"(sum[i]));                                               \
            }                                                                                      \
        }                                                                                          \
        return 2.0 * (double)(sums) * (bytes) / 4 * STEPS;                                         \
    }
MULTIPLY_ADDS(multiply_adds_v2, "sse4.2", 16, 12)
MULTIPLY_ADDS(multiply_adds_v3, "avx2,fma", 32, 12)
MULTIPLY_ADDS(multiply_adds_v4, "avx512f", 64, 24)

typedef struct product {
    const char *name;
    int64_t m, n, k;
    bool a_transposed, b_transposed, add;
} product;

typedef struct operands {
    float *a, *b, *c;
} operands;

/* Operations per second, in 10^9. */
static double registers_rate(void)
{
    const int level = assay__level_now(NULL);
    const double start = peer_cpu_seconds();
    const double done = level == 0   ? multiply_adds_v2()
                        : level == 1 ? multiply_adds_v3()
                                     : multiply_adds_v4();
    return done / (peer_cpu_seconds() - start) * 1e-9;
}

static double product_rate(const product *p, const operands *o)
{
    const double each = 2.0 * (double)(p->m * p->n * p->k);
    const int repeats = 1 + (int)(2e8 / each);
    const double start = peer_cpu_seconds();
    for (int i = 0; i < repeats; i++) {
        assay__matmul(p->m, p->n, p->k, 1,
                      (assay__matrix){o->a, p->a_transposed ? p->m : p->k, p->a_transposed},
                      (assay__matrix){o->b, p->b_transposed ? p->k : p->n, p->b_transposed}, p->add,
                      o->c, p->n);
    }
    return each * repeats / (peer_cpu_seconds() - start) * 1e-9;
}

static void compare(const product *p, const operands *o)
{
    double shares[PEER_ROUNDS], rates[PEER_ROUNDS];
    (void)product_rate(p, o);
    for (int round = 0; round < PEER_ROUNDS; round++) {
        rates[round] = product_rate(p, o);
        shares[round] = rates[round] / registers_rate();
    }
    printf("{\"name\": \"%s\", \"value\": %.1f, \"unit\": \"GFLOP/s\", \"bar\": null, \"ok\": "
           "true}\n",
           p->name, peer_median(rates));
    printf("{\"name\": \"%s, share of multiply-adds on registers\", \"value\": %.3f, \"unit\": "
           "\"\", \"bar\": null, \"ok\": true}\n",
           p->name, peer_median(shares));
    fflush(stdout);
}

static bool take(assay__memory *memory, float **array)
{
    *array = assay__memory_floats(memory, ASSAY__WORKSPACE, LONGEST);
    return *array != NULL;
}

int main(void)
{
    static const product products[] = {
        {"product of an MLP of hidden 64, forward", 240, 64, 64, false, false, false},
        {"product of an MLP of hidden 64, weights", 64, 64, 240, true, false, true},
        {"product of an LSTM of hidden 64, a step", 32, 256, 64, false, false, false},
        {"product of an LSTM of hidden 64, weights", 256, 64, 640, true, false, true},
        {"product of the graph transformer, forward", 500, 768, 256, false, true, false},
        {"product of the graph transformer, weights", 256, 512, 500, true, false, true}};
    operands o;
    assay__memory *memory =
        assay__memory_new(); /* its arrays are aligned, as those of the models */
    if (memory == NULL || !take(memory, &o.a) || !take(memory, &o.b) || !take(memory, &o.c)) {
        fprintf(stderr, "products: out of memory\n");
        return 70;
    }
    for (int i = 0; i < LONGEST; i++)
        o.a[i] = o.b[i] = (float)(i % 17) / 16;
    assay__models_start();
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        compare(&products[i], &o);
    assay__memory_free(memory);
    return 0;
}
#endif
