/* FLOPs of one operation under each convention: one table of prices an element, and the products
 * apart. docs/flops.md explains every entry and names its source.
 *
 * Prices of backward in the convention assay: what the derivative costs an element once forward is
 * known, e.g. 3 for tanh (1 - y^2, times dy). */
#include "assay/flops.h"

#include <stdbool.h>

typedef struct price {
    const char *name;
    uint8_t forward, backward; /* convention assay */
    uint8_t fvcore, deepspeed;
} price;

static const price prices[ASSAY_OP_KINDS] = {
    [ASSAY_OP_MATMUL] = {"matmul", 0, 0, 0, 0},
    [ASSAY_OP_BIAS] = {"bias", 1, 1, 0, 0},
    [ASSAY_OP_ADD] = {"add", 1, 1, 0, 1},
    [ASSAY_OP_MULTIPLY] = {"multiply", 1, 2, 0, 1},
    [ASSAY_OP_RELU] = {"relu", 1, 1, 0, 1},
    [ASSAY_OP_GELU] = {"gelu", 4, 8, 0, 1},
    [ASSAY_OP_TANH] = {"tanh", 1, 3, 0, 1},
    [ASSAY_OP_SIGMOID] = {"sigmoid", 1, 3, 0, 1},
    [ASSAY_OP_SINE] = {"sine", 1, 2, 0, 0},
    [ASSAY_OP_SOFTMAX] = {"softmax", 5, 4, 0, 1},
    [ASSAY_OP_LAYER_NORM] = {"layer norm", 5, 9, 5, 5},
    [ASSAY_OP_DROPOUT] = {"dropout", 0, 0, 0, 0},
    [ASSAY_OP_GATHER_ADD] = {"gather and add", 1, 1, 0, 0},
    [ASSAY_OP_EMBEDDING] = {"embedding", 0, 1, 0, 0},
    [ASSAY_OP_SPLINE] = {"spline", 1, 1, 0, 0},
    [ASSAY_OP_MEAN] = {"mean", 1, 1, 0, 0},
    [ASSAY_OP_SOLVER] = {"solver", 1, 1, 0, 0},
    [ASSAY_OP_LSTM_CELL] = {"LSTM cell", 21, 34, 0, 10},
};

const char *assay_flop_convention_name(assay_flop_convention convention)
{
    static const char *const names[ASSAY_FLOP_CONVENTIONS] = {"assay", "pytorch", "fvcore",
                                                              "deepspeed"};
    return (unsigned)convention < ASSAY_FLOP_CONVENTIONS ? names[convention] : "unknown";
}

const char *assay_operation_kind_name(assay_operation_kind kind)
{
    return (unsigned)kind < ASSAY_OP_KINDS ? prices[kind].name : "unknown";
}

/* a b into *product, where it fits. */
static bool multiply(uint64_t a, int64_t b, uint64_t *product)
{
    return !__builtin_mul_overflow(a, b > 0 ? (uint64_t)b : 0, product);
}

static assay_status product_flops(const assay_operation *operation,
                                  assay_flop_convention convention, assay_flops *flops)
{
    uint64_t each = convention == ASSAY_FLOPS_FVCORE ? 1 : 2;
    if (!multiply(each, operation->m, &each) || !multiply(each, operation->k, &each) ||
        !multiply(each, operation->n, &each) || !multiply(each, operation->count, &flops->forward))
        return ASSAY_E_LIMIT;
    int64_t gradients =
        convention == ASSAY_FLOPS_DEEPSPEED ? 2 : (int64_t)operation->operand_gradients;
    return multiply(flops->forward, gradients, &flops->backward) ? ASSAY_OK : ASSAY_E_LIMIT;
}

static int64_t forward_price(assay_operation_kind kind, assay_flop_convention convention)
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

static int64_t backward_price(assay_operation_kind kind, assay_flop_convention convention)
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

assay_status assay_flops_of(const assay_operation *operation, assay_flop_convention convention,
                            assay_flops *flops)
{
    *flops = (assay_flops){0};
    assay_operation_kind kind = operation->kind;
    if ((unsigned)kind >= ASSAY_OP_KINDS || (unsigned)convention >= ASSAY_FLOP_CONVENTIONS)
        return ASSAY_E_ARGUMENT;
    if (kind == ASSAY_OP_MATMUL)
        return product_flops(operation, convention, flops);
    bool several = kind == ASSAY_OP_SPLINE || kind == ASSAY_OP_SOLVER; /* k at each element */
    uint64_t elements = 1;
    if (!multiply(elements, operation->m, &elements) ||
        !multiply(elements, operation->n, &elements) ||
        !multiply(elements, operation->count, &elements) ||
        !multiply(elements, several ? operation->k : 1, &elements) ||
        !multiply(elements, forward_price(kind, convention), &flops->forward) ||
        !multiply(elements, backward_price(kind, convention), &flops->backward)) {
        *flops = (assay_flops){0};
        return ASSAY_E_LIMIT;
    }
    return ASSAY_OK;
}
