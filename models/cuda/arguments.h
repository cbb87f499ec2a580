/* The kernels and their arguments: the one text that the compiler of the host and the compiler of
 * the device both read. A kernel takes one struct by value. Pointers are addresses of the device;
 * arrays are row-major; (rows, columns) as in the models' own headers. */
#ifndef ASSAY_MODELS_CUDA_ARGUMENTS_H
#define ASSAY_MODELS_CUDA_ARGUMENTS_H

/* Names of functions and of their argument structs, assay__NAME_arguments. Those of attention are
 * compiled for one width of a head. */
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

/* y (rows, columns) = f(scale (y + bias)), in place; `slope`, unless NULL, gets scale f'. */
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

/* sum (columns) = the sum of x (rows, columns) over rows; a second copy unless NULL */
typedef struct assay__column_sum_arguments {
    long long rows, columns;
    const float *x;
    float *sum, *copy;
} assay__column_sum_arguments;

/* Dropout of x into y, which may be x: kernel/dropout.h. */
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

/* Slopes dy of a loss (assay_loss) of y against target, (rows, width) each, and the sums over
 * blocks that the host adds up: a double for each block. */
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
    float rate, correction, kept; /* of AdamW: what decay leaves of a value */
    const float *gradient;
    float *first, *second, *value;
} assay__optimize_arguments;

/* y (b, a, width) = x (a, b, width): batch and time exchanged; with width 1, a matrix transposed.
 */
typedef struct assay__reorder_arguments {
    long long a, b, width;
    const float *x;
    float *y;
} assay__reorder_arguments;

/* y = values between -1 and 1, a function of the index alone */
typedef struct assay__noise_arguments {
    long long count;
    float *y;
} assay__noise_arguments;

/* sum = x + dropout(branch + bias), y = scale (sum - mean) rstd + shift + also, of rows; a bias,
 * `also` and the arrays kept for backward may be NULL. `branch` may be `sum`. */
typedef struct assay__layer_norm_arguments {
    long long rows, columns;
    const float *x, *branch, *bias, *scale, *shift, *also;
    float keep; /* 1 / (1 - rate); 0: no dropout */
    unsigned threshold, low, high;
    float *sum, *y, *mean, *rstd;
} assay__layer_norm_arguments;

/* dx (rows, columns) from dy, and `also` added to it unless NULL */
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

/* y_i = x_i + the sum of x over the neighbours of i; with `factor` (nodes), every term is scaled by
 * the factors of both ends and edges of a node to itself are left out. `add`: to what stands in y.
 */
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
    float *y;     /* holds A h; becomes relu of the whole */
    float *slope; /* of relu, or NULL */
} assay__gated_arguments;

/* By targets: what sources need, `share` = dy / (sum of gates + epsilon) and `mean`, and dd. */
typedef struct assay__gated_backward_targets_arguments {
    long long nodes, width;
    const long long *offsets;
    const int *neighbours;
    const float *b, *d, *e, *dy;
    float *share, *mean, *dd;
} assay__gated_backward_targets_arguments;

typedef struct assay__gated_backward_sources_arguments {
    long long nodes, width;
    const long long *offsets; /* over edges that leave a node */
    const int *neighbours;
    const float *b, *d, *e, *share, *mean;
    float *db, *de;
} assay__gated_backward_sources_arguments;

/* y (graphs, width) = means of x over the nodes of a graph, or, backward, y (nodes, width) from x
 * (graphs, width). */
typedef struct assay__pool_arguments {
    long long graphs, width;
    const long long *offsets; /* (graphs + 1) */
    const float *x;
    float *y;
    int backward;
} assay__pool_arguments;

/* One step of one layer: kernel/level/cells.c. Arrays may be NULL where nothing is kept. */
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
    float *gates; /* (batch, 4 hidden), slopes in place */
    float *dcell; /* (batch, hidden) */
} assay__lstm_cell_backward_arguments;

/* Whole forecasts, one block of threads for each sequence. Weights are transposed: of each layer
 * (input, 4 hidden) and (hidden, 4 hidden), then (hidden, output), one after the other. */
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
    ASSAY__FORECAST_FLOATS = 10240, /* of the memory that a block shares */
    ASSAY__KEPT_WEIGHTS = 128,      /* of one gate of one unit, in registers: input + hidden */
    ASSAY__KEPT_GATES = 384,        /* threads that keep them: 4 hidden */
    ASSAY__KEPT_HEAD = 8192         /* floats of the head's weights, a row padded by one */
};

/* to (count, width) = the rows `index` of table; zeros for -1 */
typedef struct assay__look_up_arguments {
    long long count, width;
    const int *index; /* (count) */
    const float *table;
    float *to;
} assay__look_up_arguments;

/* The rows `index` of `to` += from (count, width), nothing for -1; in any order. */
typedef struct assay__scatter_add_arguments {
    long long count, width;
    const int *index; /* (count) */
    const float *from;
    float *to;
} assay__scatter_add_arguments;

/* One step of a GRU: kernel/level/cells.c. */
typedef struct assay__gru_cell_arguments {
    long long batch, hidden;
    const float *input_bias, *recurrent_bias; /* (3 hidden) */
    float *gates;        /* (batch, 3 hidden): the product of the input; activated in place */
    float *recurrent;    /* (batch, 3 hidden): that of the state; the last third gets its bias */
    const float *before; /* (batch, hidden) */
    float *state;
} assay__gru_cell_arguments;

typedef struct assay__gru_cell_backward_arguments {
    long long batch, hidden;
    const float *dstate, *gates, *recurrent, *before;
    float *dgi, *dgh; /* (batch, 3 hidden): slopes by the two products */
    float *carry; /* (batch, hidden): from the step after, and what goes on to the step before */
} assay__gru_cell_backward_arguments;

/* Scores of candidates, of which first[p] ... first[p + 1] - 1 belong to position p: hidden =
 * relu(hidden + context + goal + bias), logits = hidden . out (kernel/level/road.c). */
typedef struct assay__road_score_arguments {
    long long positions, trajectories, scorer;
    const long long *first;                   /* (positions + 1) */
    const float *bias, *context, *goal, *out; /* (scorer), (positions, scorer), ... */
    float *hidden, *logits;                   /* (candidates, scorer), (candidates) */
} assay__road_score_arguments;

typedef struct assay__road_score_backward_arguments {
    long long positions, scorer;
    const long long *first;
    const float *dlogits, *hidden, *out;
    float *dhidden, *dcontext; /* (candidates, scorer), (positions, scorer) */
} assay__road_score_backward_arguments;

/* Probabilities of the candidates of a position, and the same as the rectangle (trajectories, time,
 * choices) that `given` has roads in; 0 where that is -1. */
typedef struct assay__road_choice_arguments {
    long long positions, trajectories, choices;
    const long long *first, *given;
    const float *logits;
    float *probability, *output;
} assay__road_choice_arguments;

/* Cross-entropy, `share` of it for each position: slopes, and sums over blocks as of `loss`. */
typedef struct assay__road_loss_arguments {
    long long positions;
    double share;
    const long long *first;
    const float *probability, *target; /* (candidates) */
    float *dlogits;
    double *sums;
} assay__road_loss_arguments;

/* One step of a search, a block for each route: road/searcher.h. */
typedef struct assay__road_step_arguments {
    int hidden, scorer;
    const float *road_input, *road_score, *product, *product_bias, *feature_weight, *out;
    const int *roads, *parents; /* (routes); a parent of -1: the search begins */
    const int *first, *choice;  /* (routes + 1), (candidates) */
    const float *goal;          /* (scorer) */
    const float *features;      /* (candidates, 4) */
    const float *state_before, *reached_before;
    float *state, *reached; /* (routes, hidden), (routes, 3 hidden) */
    float *logits;          /* (candidates) */
} assay__road_step_arguments;

enum { ASSAY__STEP_FLOATS = 8192 }; /* of the memory that a block shares: hidden + scorer */

/* A tile of rows of one graph. */
typedef struct assay__attention_tile {
    int first, begin, end, unused; /* its first row; the rows of its graph */
    long long pairs;               /* where the distances of the graph begin */
} assay__attention_tile;

/* Of all kernels of attention: graph/attention.h. qkv (nodes, 3 heads width). */
typedef struct assay__attention_arguments {
    long long nodes;
    int heads, width;
    float scale;
    const assay__attention_tile *tiles; /* full attention: one for each block */
    const long long *offsets; /* sparse: whom a node looks at, or, for keys, who looks at it */
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

/* Threads of a block and rows of a tile. */
enum {
    ASSAY__BLOCK = 256,
    ASSAY__SUM_COLUMNS = 32, /* of a block that sums columns with 1024 threads */
    ASSAY__SUM_ROWS = 32,
    ASSAY__TILE_ROWS = 32,
    ASSAY__HEAD_CHUNK = 32 /* columns of a head that are worked on together */
};

#endif
