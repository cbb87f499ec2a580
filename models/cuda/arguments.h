/* The kernels of the device and their arguments. Both compilers read this one text: the host's
 * compiler, and the device's compiler. A kernel takes one struct by value. Pointers are addresses
 * of the device. Arrays are row-major, and shapes are written (rows, columns) as in the headers of
 * the models. */
#ifndef ASSAY_MODELS_CUDA_ARGUMENTS_H
#define ASSAY_MODELS_CUDA_ARGUMENTS_H

/* The names of the kernels; the argument struct of a kernel is assay__NAME_arguments. The kernels
 * of attention are compiled for one width of a head. */
#define ASSAY__GENERAL_KERNELS(X)                                                                  \
    X(bias_activate)                                                                               \
    X(scale_by_slope)                                                                              \
    X(column_sum)                                                                                  \
    X(drop)                                                                                        \
    X(add)                                                                                         \
    X(loss)                                                                                        \
    X(optimize)                                                                                    \
    X(reorder)                                                                                     \
    X(noise)                                                                                       \
    X(layer_norm)                                                                                  \
    X(layer_norm_backward)                                                                         \
    X(layer_norm_parameters)                                                                       \
    X(neighbours)                                                                                  \
    X(gated)                                                                                       \
    X(gated_backward_targets)                                                                      \
    X(gated_backward_sources)                                                                      \
    X(pool)                                                                                        \
    X(lstm_cell)                                                                                   \
    X(lstm_cell_backward)                                                                          \
    X(lstm_forecast)                                                                               \
    X(lstm_forecast_kept)                                                                          \
    X(look_up)                                                                                     \
    X(scatter_add)                                                                                 \
    X(gru_cell)                                                                                    \
    X(gru_cell_backward)                                                                           \
    X(road_score)                                                                                  \
    X(road_score_backward)                                                                         \
    X(road_choice)                                                                                 \
    X(road_loss)                                                                                   \
    X(road_step)

#define ASSAY__ATTENTION_KERNELS(X)                                                                \
    X(attention_forward)                                                                           \
    X(attention_along)                                                                             \
    X(attention_queries)                                                                           \
    X(attention_keys)                                                                              \
    X(sparse_forward)                                                                              \
    X(sparse_queries)                                                                              \
    X(sparse_keys)

/* y (rows, columns) = f(scale (y + bias)), in place. Unless it is NULL, `slope` receives scale
 * f'. */
typedef struct assay__bias_activate_arguments {
    long long rows, columns;
    const float *bias; /* (columns) */
    float scale;
    int activation; /* assay__activation */
    float *y, *slope;
} assay__bias_activate_arguments;

/* dy = dy slope */
typedef struct assay__scale_by_slope_arguments {
    long long count;
    const float *slope;
    float *dy;
} assay__scale_by_slope_arguments;

/* sum (columns) = the sum of x (rows, columns) over rows. Unless it is NULL, `copy` receives the
 * same. */
typedef struct assay__column_sum_arguments {
    long long rows, columns;
    const float *x;
    float *sum, *copy;
} assay__column_sum_arguments;

/* Dropout of x into y, which may be x; kernel/dropout.h defines the mask. */
typedef struct assay__drop_arguments {
    long long count;
    float scale;
    unsigned threshold, low, high;
    const float *x;
    float *y;
} assay__drop_arguments;

/* y += x */
typedef struct assay__add_arguments {
    long long count;
    const float *x;
    float *y;
} assay__add_arguments;

/* The gradient dy of a loss (assay_loss) of y against target, (rows, width) each. Each block of
 * threads writes its part of the loss to `sums`, and the host adds these up. */
typedef struct assay__loss_arguments {
    long long rows, width;
    int loss;
    const float *y, *target;
    float *dy;
    double *sums;
} assay__loss_arguments;

/* One step of an optimizer (assay_optimizer). */
typedef struct assay__optimize_arguments {
    long long count;
    int optimizer;
    float rate, correction, kept; /* kept: the factor of weight decay in AdamW */
    const float *gradient;
    float *first, *second, *value;
} assay__optimize_arguments;

/* y (b, a, width) = x (a, b, width): exchanges batch and time. With width 1 it transposes a
 * matrix. */
typedef struct assay__reorder_arguments {
    long long a, b, width;
    const float *x;
    float *y;
} assay__reorder_arguments;

/* y = values between -1 and 1, which depend on the index alone */
typedef struct assay__noise_arguments {
    long long count;
    float *y;
} assay__noise_arguments;

/* For each row: sum = x + dropout(branch + bias), y = scale (sum - mean) rstd + shift + also.
 * `bias`, `also`, `mean` and `rstd` may be NULL. `branch` may be `sum`. */
typedef struct assay__layer_norm_arguments {
    long long rows, columns;
    const float *x, *branch, *bias, *scale, *shift, *also;
    float keep; /* 1 / (1 - rate); 0 if there is no dropout */
    unsigned threshold, low, high;
    float *sum, *y, *mean, *rstd;
} assay__layer_norm_arguments;

/* dx (rows, columns) from dy. Unless it is NULL, `also` is added to dx. */
typedef struct assay__layer_norm_backward_arguments {
    long long rows, columns;
    const float *dy, *x, *scale, *mean, *rstd, *also;
    float *dx;
} assay__layer_norm_backward_arguments;

/* dscale, dshift (columns) from dy and x (rows, columns) */
typedef struct assay__layer_norm_parameters_arguments {
    long long rows, columns;
    const float *dy, *x, *mean, *rstd;
    float *dscale, *dshift;
} assay__layer_norm_parameters_arguments;

/* y_i = x_i + the sum of x over the neighbours of i. With `factor` (nodes), every term is scaled by
 * the factors of both ends, and edges of a node to itself are left out. With `add`, the result is
 * added to y. */
typedef struct assay__neighbours_arguments {
    long long nodes, width;
    const long long *offsets;
    const int *neighbours;
    const float *factor, *x;
    float *y;
    int add;
} assay__neighbours_arguments;

/* Gated graph convolution (graph/message.h), all arrays (nodes, width). */
typedef struct assay__gated_arguments {
    long long nodes, width;
    const long long *offsets;
    const int *neighbours;
    const float *b, *d, *e;
    float *y;     /* holds A h before, and relu of the whole sum after */
    float *slope; /* the slope of relu; may be NULL */
} assay__gated_arguments;

/* One pass over the targets of edges. It computes dd, and for the pass over the sources `share` =
 * dy / (sum of gates + epsilon) and `mean`. */
typedef struct assay__gated_backward_targets_arguments {
    long long nodes, width;
    const long long *offsets;
    const int *neighbours;
    const float *b, *d, *e, *dy;
    float *share, *mean, *dd;
} assay__gated_backward_targets_arguments;

/* One pass over the sources of edges, which computes db and de. */
typedef struct assay__gated_backward_sources_arguments {
    long long nodes, width;
    const long long *offsets; /* over the edges that leave a node */
    const int *neighbours;
    const float *b, *d, *e, *share, *mean;
    float *db, *de;
} assay__gated_backward_sources_arguments;

/* y (graphs, width) = the means of x over the nodes of each graph. With `backward`, y (nodes,
 * width) is the gradient from x (graphs, width). */
typedef struct assay__pool_arguments {
    long long graphs, width;
    const long long *offsets; /* (graphs + 1) */
    const float *x;
    float *y;
    int backward;
} assay__pool_arguments;

/* The elementwise part of one step of one layer (kernel/level/cells.c). tanh_cell may be NULL. */
typedef struct assay__lstm_cell_arguments {
    long long batch, hidden;
    const float *bias_ih, *bias_hh; /* (4 hidden) */
    float *gates;                   /* (batch, 4 hidden), activated in place */
    const float *before;            /* (batch, hidden) cells */
    float *cell, *tanh_cell, *state;
} assay__lstm_cell_arguments;

typedef struct assay__lstm_cell_backward_arguments {
    long long batch, hidden;
    const float *dstate, *before, *tanh_cell;
    float *gates; /* (batch, 4 hidden), replaced by their gradients */
    float *dcell; /* (batch, hidden) */
} assay__lstm_cell_backward_arguments;

/* Whole forecasts, with one block of threads for each sequence. The weights are transposed: for
 * each layer (input, 4 hidden) and (hidden, 4 hidden), then (hidden, output), one after the
 * other. */
typedef struct assay__lstm_forecast_arguments {
    long long time, steps;
    int input, hidden, layers, output;
    const float *x;      /* (batch, time, input) */
    const float *packed; /* weights */
    const float *values; /* the parameters, for the biases */
    float *y;            /* (batch, steps, output) */
} assay__lstm_forecast_arguments;

typedef assay__lstm_forecast_arguments assay__lstm_forecast_kept_arguments;

enum {
    ASSAY__FORECAST_FLOATS = 10240, /* of the shared memory of a block */
    ASSAY__KEPT_WEIGHTS = 128,      /* of one gate of one unit, in registers: most input + hidden */
    ASSAY__KEPT_GATES = 384,        /* threads that keep weights: most 4 hidden */
    ASSAY__KEPT_HEAD = 8192         /* floats of the head's weights, with rows padded by one */
};

/* to (count, width) = the rows `index` of table. An index of -1 gives a row of zeros. */
typedef struct assay__look_up_arguments {
    long long count, width;
    const int *index; /* (count) */
    const float *table;
    float *to;
} assay__look_up_arguments;

/* Adds from (count, width) to the rows `index` of `to`, and nothing where the index is -1. Threads
 * add to the same row in any order. */
typedef struct assay__scatter_add_arguments {
    long long count, width;
    const int *index; /* (count) */
    const float *from;
    float *to;
} assay__scatter_add_arguments;

/* The elementwise part of one step of a GRU (kernel/level/cells.c). */
typedef struct assay__gru_cell_arguments {
    long long batch, hidden;
    const float *input_bias, *recurrent_bias; /* (3 hidden) */
    float *gates;     /* (batch, 3 hidden): the product with the input; activated in place */
    float *recurrent; /* (batch, 3 hidden): the product with the state; the kernel adds the bias to
                       * its last third, which the backward pass needs */
    const float *before; /* (batch, hidden): the states before the step */
    float *state;        /* (batch, hidden): the states after it */
} assay__gru_cell_arguments;

typedef struct assay__gru_cell_backward_arguments {
    long long batch, hidden;
    const float *dstate, *gates, *recurrent, *before;
    float *dgi, *dgh; /* (batch, 3 hidden): gradients of the products with input and state */
    float *carry;     /* (batch, hidden): in: the gradient of the states after this step, from later
                       * steps; out: its part that passes directly to the states before the step */
} assay__gru_cell_backward_arguments;

/* Scores of candidates, of which first[p] ... first[p + 1] - 1 belong to position p: hidden =
 * relu(hidden + context + goal + bias), logits = hidden . out (kernel/level/road.c). */
typedef struct assay__road_score_arguments {
    long long positions, trajectories, scorer;
    const long long *first;                   /* (positions + 1) */
    const float *bias, *context, *goal, *out; /* (scorer), (positions, scorer),
                                               * (trajectories, scorer), (scorer) */
    float *hidden, *logits;                   /* (candidates, scorer), (candidates) */
} assay__road_score_arguments;

typedef struct assay__road_score_backward_arguments {
    long long positions, scorer;
    const long long *first;
    const float *dlogits, *hidden, *out;
    float *dhidden, *dcontext; /* (candidates, scorer), (positions, scorer) */
} assay__road_score_backward_arguments;

/* The probabilities of the candidates of each position. `output` receives them once more in the
 * layout of `given`, which is (trajectories, time, choices) and holds a road or -1; it is 0 where
 * `given` is -1. */
typedef struct assay__road_choice_arguments {
    long long positions, trajectories, choices;
    const long long *first, *given;
    const float *logits;
    float *probability, *output; /* (candidates), (trajectories, time, choices) */
} assay__road_choice_arguments;

/* The cross-entropy of the positions, each multiplied by `share`, and its gradient by the logits.
 * Each block of threads writes its part of the loss to `sums`, as kernel `loss` does. */
typedef struct assay__road_loss_arguments {
    long long positions;
    double share;
    const long long *first;
    const float *probability, *target; /* (candidates) */
    float *dlogits;
    double *sums;
} assay__road_loss_arguments;

/* One step of a search, with one block of threads for each route. road/searcher.h describes the
 * tables and the arrays. */
typedef struct assay__road_step_arguments {
    int hidden, scorer;
    const float *road_input, *road_score, *product, *product_bias, *feature_weight, *out;
    const int *roads, *parents; /* (routes); a route that is only the origin has the parent -1 */
    const int *first, *choice;  /* (routes + 1), (candidates) */
    const float *goal;          /* (scorer) */
    const float *features;      /* (candidates, 4) */
    const float *state_before, *reached_before;
    float *state, *reached; /* (routes, hidden), (routes, 3 hidden) */
    float *logits;          /* (candidates) */
} assay__road_step_arguments;

enum { ASSAY__STEP_FLOATS = 8192 }; /* of the shared memory of a block: most hidden + scorer */

/* A tile of rows, all of one graph. */
typedef struct assay__attention_tile {
    int first, begin, end, unused; /* the first row of the tile; the rows of its graph */
    long long pairs;               /* the index at which the distances of the graph begin */
} assay__attention_tile;

/* The arguments of all kernels of attention (graph/attention.h). qkv is (nodes, 3 heads width). */
typedef struct assay__attention_arguments {
    long long nodes;
    int heads, width;
    float scale;
    const assay__attention_tile *tiles; /* full attention: a tile for each block */
    const long long *offsets; /* sparse: nodes it attends to, or (keys) nodes that attend to it */
    const int *neighbours;
    const float *bias; /* (buckets, heads), or NULL */
    int buckets;
    const unsigned char *distances; /* NULL if sparse */
    const float *qkv;
    float *output, *log_sum; /* (nodes, heads width), (heads, nodes) */
    const float *doutput;
    float *along; /* (heads, nodes) output . doutput */
    float *dqkv, *dbias;
} assay__attention_arguments;

typedef assay__attention_arguments assay__attention_forward_arguments;
typedef assay__attention_arguments assay__attention_along_arguments;
typedef assay__attention_arguments assay__attention_queries_arguments;
typedef assay__attention_arguments assay__attention_keys_arguments;
typedef assay__attention_arguments assay__sparse_forward_arguments;
typedef assay__attention_arguments assay__sparse_queries_arguments;
typedef assay__attention_arguments assay__sparse_keys_arguments;

/* Numbers of threads and sizes of tiles. */
enum {
    ASSAY__BLOCK = 256,
    ASSAY__SUM_COLUMNS = 32, /* columns and rows of a block of 1024 threads that sums columns */
    ASSAY__SUM_ROWS = 32,
    ASSAY__TILE_ROWS = 32,
    ASSAY__HEAD_CHUNK = 32 /* columns of a head that are worked on together */
};

#endif
