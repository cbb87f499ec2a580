/* The FLOPs of one operation under each convention. A table has the price of each kind of operation
 * per element; matrix products are computed separately. docs/flops.md explains every entry and
 * names its source.
 *
 * In the convention assay, the backward price is the cost of the derivative per element if the
 * result of forward is known, e.g. 3 for tanh (1 - y^2, times dy). */
#include "assay/flops.h"

#include <stdbool.h>

typedef struct price {
    const char *name;
    uint8_t forward, backward; /* convention assay */
    uint8_t fvcore, deepspeed;
} price;

static const price prices[ASSAY_TERM_KINDS] = {
    [ASSAY_TERM_MATMUL] = {"matmul", 0, 0, 0, 0},
    [ASSAY_TERM_BIAS] = {"bias", 1, 1, 0, 0},
    [ASSAY_TERM_ADD] = {"add", 1, 1, 0, 1},
    [ASSAY_TERM_MULTIPLY] = {"multiply", 1, 2, 0, 1},
    [ASSAY_TERM_RELU] = {"relu", 1, 1, 0, 1},
    [ASSAY_TERM_GELU] = {"gelu", 4, 8, 0, 1},
    [ASSAY_TERM_TANH] = {"tanh", 1, 3, 0, 1},
    [ASSAY_TERM_SIGMOID] = {"sigmoid", 1, 3, 0, 1},
    [ASSAY_TERM_SINE] = {"sine", 1, 2, 0, 0},
    [ASSAY_TERM_SOFTMAX] = {"softmax", 5, 4, 0, 1},
    [ASSAY_TERM_LAYER_NORM] = {"layer norm", 5, 9, 5, 5},
    [ASSAY_TERM_DROPOUT] = {"dropout", 0, 0, 0, 0},
    [ASSAY_TERM_GATHER_ADD] = {"gather and add", 1, 1, 0, 0},
    [ASSAY_TERM_EMBEDDING] = {"embedding", 0, 1, 0, 0},
    [ASSAY_TERM_SPLINE] = {"spline", 1, 1, 0, 0},
    [ASSAY_TERM_MEAN] = {"mean", 1, 1, 0, 0},
    [ASSAY_TERM_SOLVER] = {"solver", 1, 1, 0, 0},
    [ASSAY_TERM_LSTM_CELL] = {"LSTM cell", 21, 34, 0, 10},
};

const char *assay_flop_convention_name(assay_flop_convention convention)
{
    static const char *const names[ASSAY_FLOP_CONVENTIONS] = {"assay", "pytorch", "fvcore",
                                                              "deepspeed"};
    return (unsigned)convention < ASSAY_FLOP_CONVENTIONS ? names[convention] : "unknown";
}

const char *assay_term_kind_name(assay_term_kind kind)
{
    return (unsigned)kind < ASSAY_TERM_KINDS ? prices[kind].name : "unknown";
}

/* *product = a b. Returns false if it does not fit. A negative b counts as 0. */
static bool multiply(uint64_t a, int64_t b, uint64_t *product)
{
    return !__builtin_mul_overflow(a, b > 0 ? (uint64_t)b : 0, product);
}

static assay_status product_flops(const assay_term *term, assay_flop_convention convention,
                                  assay_flops *flops)
{
    uint64_t each = convention == ASSAY_FLOPS_FVCORE ? 1 : 2;
    if (!multiply(each, term->m, &each) || !multiply(each, term->k, &each) ||
        !multiply(each, term->n, &each) || !multiply(each, term->count, &flops->forward))
        return ASSAY_E_LIMIT;
    int64_t gradients = convention == ASSAY_FLOPS_DEEPSPEED ? 2 : (int64_t)term->operand_gradients;
    return multiply(flops->forward, gradients, &flops->backward) ? ASSAY_OK : ASSAY_E_LIMIT;
}

static int64_t forward_price(assay_term_kind kind, assay_flop_convention convention)
{
    switch (convention) {
    case ASSAY_FLOPS_ASSAY:
        return prices[kind].forward;
    case ASSAY_FLOPS_FVCORE:
        return prices[kind].fvcore;
    case ASSAY_FLOPS_DEEPSPEED:
        return prices[kind].deepspeed;
    default:
        return 0;
    }
}

static int64_t backward_price(assay_term_kind kind, assay_flop_convention convention)
{
    switch (convention) {
    case ASSAY_FLOPS_ASSAY:
        return prices[kind].backward;
    case ASSAY_FLOPS_DEEPSPEED:
        return 2 * prices[kind].deepspeed;
    default:
        return 0;
    }
}

assay_status assay_term_flops(const assay_term *term, assay_flop_convention convention,
                              assay_flops *flops)
{
    *flops = (assay_flops){0};
    assay_term_kind kind = term->kind;
    if ((unsigned)kind >= ASSAY_TERM_KINDS || (unsigned)convention >= ASSAY_FLOP_CONVENTIONS)
        return ASSAY_E_ARGUMENT;
    if (kind == ASSAY_TERM_MATMUL)
        return product_flops(term, convention, flops);
    bool several = kind == ASSAY_TERM_SPLINE || kind == ASSAY_TERM_SOLVER; /* k per element */
    uint64_t elements = 1;
    if (!multiply(elements, term->m, &elements) || !multiply(elements, term->n, &elements) ||
        !multiply(elements, term->count, &elements) ||
        !multiply(elements, several ? term->k : 1, &elements) ||
        !multiply(elements, forward_price(kind, convention), &flops->forward) ||
        !multiply(elements, backward_price(kind, convention), &flops->backward)) {
        *flops = (assay_flops){0};
        return ASSAY_E_LIMIT;
    }
    return ASSAY_OK;
}
