/* The threads take ranges of the values. */
#include "models/graph/activate.h"

#include "models/kernel/kernels.h"
#include "models/kernel/threads.h"

enum { GRAIN = 64, LEAST_VALUES = 16384 }; /* of a part, which takes some microseconds */

typedef struct activation_pass {
    bool gelu;
    const float *x;
    float *y;
} activation_pass;

static void activate_range(void *context, int64_t first, int64_t count)
{
    const activation_pass *p = context;
    assay__activate(p->gelu ? ASSAY__GELU : ASSAY__RELU, count, p->x + first, p->y + first);
}

void assay__graph_activate(bool gelu, int64_t count, const float *x, float *y)
{
    assay__parallel_ranges(count, GRAIN, LEAST_VALUES, activate_range,
                           &(activation_pass){gelu, x, y});
}

static void backward_range(void *context, int64_t first, int64_t count)
{
    const activation_pass *p = context;
    float *dy = p->y + first;
    (p->gelu ? assay__gelu_backward : assay__relu_backward)(count, dy, p->x + first, dy);
}

void assay__graph_activate_backward(bool gelu, int64_t count, const float *x, float *dy)
{
    assay__parallel_ranges(count, GRAIN, LEAST_VALUES, backward_range,
                           &(activation_pass){gelu, x, dy});
}
