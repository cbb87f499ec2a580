/* Full attention works by blocks (Dao et al. 2022, "FlashAttention", on a CPU). The scores of
 * QUERIES rows against KEYS columns are one matrix product into scratch that stays in the second
 * cache level. They become weights there, and the next product consumes them. If there is more than
 * one block of keys, the running maximum and sum of a row are corrected as blocks arrive (Milakov
 * and Gimelshein 2018, "Online normalizer calculation for softmax").
 *
 * The weights are computed as powers of 2: queries are also scaled by log2(e), and `log_sum` is a
 * logarithm to base 2. By the Cauchy-Schwarz inequality no score of a head is larger than the
 * length of its longest query times the length of its longest key. If this bound is small, as it is
 * in trained models, no power can overflow, and neither maximum nor correction is needed.
 *
 * The values of one head lie scattered in rows of 3 hidden values. Each head is therefore first
 * copied into arrays of its own, padded with zeros to whole tiles of the product; keys and values
 * are transposed where a product needs them so. Copying takes nodes x width steps, which is little
 * compared with the nodes x nodes x width steps of the products. */
#include "models/graph/attention.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "models/kernel/kernels.h"
#include "models/kernel/threads.h"

/* QUERIES x KEYS floats, a block of scores, are 256 KiB; backward has two such blocks. ROWS and
 * COLUMNS are the tile of the product. */
enum { QUERIES = 64, KEYS = 1024, ROWS = 8, COLUMNS = 16 };

/* Arrays that are read down a column have this many unused floats at the end of each row. Without
 * them the distance of two rows could be a power of two, and a column would fall into a few sets of
 * the cache. */
enum { APART = COLUMNS };

_Static_assert(QUERIES % ROWS == 0 && KEYS % COLUMNS == 0, "whole blocks need no padding");

/* LOG2_E turns scores into exponents of base 2. Scores to that base of at most SMALL_SCORE need no
 * maximum: sums of 2^30 of their powers, times values, stay far from the ends of float32. */
#define LOG2_E      1.44269504F
#define SMALL_SCORE 40.0F

/* One head of one graph. Its arrays from `queries` on lie in scratch. */
typedef struct head {
    int64_t nodes, width; /* nodes of the graph, width of the head */
    int64_t hidden;       /* row stride of outputs; the row stride of qkv is three times this */
    int64_t across;       /* nodes, padded to COLUMNS */
    int64_t deep;         /* width, padded to COLUMNS */
    float scale;
    const float *qkv;         /* the graph's first node, the head's first column */
    const uint8_t *distances; /* (nodes, nodes); NULL if there is no bias */
    const float *bias;        /* (buckets, heads) at this head's column */
    int64_t heads, buckets;   /* row stride and number of rows of the bias */

    float *queries;         /* (QUERIES, deep) a block of queries, scaled */
    float *scores;          /* (QUERIES, KEYS or across, plus APART) */
    float *mixed;           /* (QUERIES, deep) */
    float *maximum, *sum;   /* (QUERIES) */
    float *keys_across;     /* (width, across plus APART) transposed */
    float *values;          /* (across, deep) */
    float *keys;            /* (across, deep); backward */
    float *values_across;   /* (width, across plus APART) transposed; backward */
    float *gradients;       /* the shape of scores; backward */
    float *doutput;         /* (QUERIES, deep); backward */
    float *dkeys, *dvalues; /* (across, deep); backward */
} head;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t padded(int64_t count, int64_t to)
{
    return (count + to - 1) / to * to;
}

/* Place the arrays of a head one after the other in `scratch`, and return the number of floats that
 * they take. If `scratch` is NULL, only count. */
static size_t lay_out(head *h, float *scratch)
{
    const size_t deep = (size_t)h->deep, across = (size_t)h->across;
    const size_t block = QUERIES * (size_t)(least(KEYS, h->across) + APART);
    const size_t transposed = (size_t)(h->width * (h->across + APART));
    struct {
        float **array;
        size_t floats;
    } const arrays[] = {{&h->queries, QUERIES * deep},
                        {&h->mixed, QUERIES * deep},
                        {&h->doutput, QUERIES * deep},
                        {&h->maximum, QUERIES},
                        {&h->sum, QUERIES},
                        {&h->scores, block},
                        {&h->gradients, block},
                        {&h->keys_across, transposed},
                        {&h->values_across, transposed},
                        {&h->keys, across * deep},
                        {&h->values, across * deep},
                        {&h->dkeys, across * deep},
                        {&h->dvalues, across * deep}};
    size_t total = 0;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        if (scratch != NULL)
            *arrays[i].array = scratch + total;
        total += (size_t)padded((int64_t)arrays[i].floats, COLUMNS);
    }
    return total;
}

/* The scratch that one thread of full attention needs, in floats. */
static size_t head_scratch(const assay__attention *attention)
{
    head h = {.width = attention->head_width,
              .across = padded(attention->graph->largest, COLUMNS),
              .deep = padded(attention->head_width, COLUMNS)};
    return (size_t)padded((int64_t)lay_out(&h, NULL) + COLUMNS, COLUMNS); /* room to align it */
}

/* The number of threads that share the heads. With few scores waking other threads does not pay. */
static int parts_of(const assay__attention *attention)
{
    enum { LEAST = 20000 }; /* scores */
    int64_t scores = attention->graph->largest * attention->graph->nodes;
    int64_t parts = attention->threads < attention->heads ? attention->threads : attention->heads;
    return scores < LEAST || parts < 1 ? 1 : (int)parts;
}

size_t assay__attention_scratch(const assay__attention *attention)
{
    if (attention->attended != NULL) {
        int64_t most = 0; /* neighbours of one node */
        for (int64_t i = 0; i < attention->graph->nodes; i++) {
            int64_t degree = attention->attended->offsets[i + 1] - attention->attended->offsets[i];
            most = degree > most ? degree : most;
        }
        return (size_t)most;
    }
    return (size_t)parts_of(attention) * head_scratch(attention);
}

static assay__sparse_attention sparse_of(const assay__attention *attention)
{
    return (assay__sparse_attention){.nodes = attention->graph->nodes,
                                     .heads = attention->heads,
                                     .head_width = attention->head_width,
                                     .offsets = attention->attended->offsets,
                                     .neighbours = attention->attended->neighbours,
                                     .bias = attention->buckets > 0 ? attention->bias : NULL};
}

static head head_of(const assay__attention *attention, int64_t graph, int64_t index,
                    int64_t pair_offset, const float *qkv, float *scratch)
{
    int64_t width = attention->head_width, hidden = width * attention->heads;
    int64_t first = attention->graph->graph_offsets[graph];
    int64_t nodes = attention->graph->graph_offsets[graph + 1] - first;
    bool biased = attention->buckets > 0;
    head h = {.nodes = nodes,
              .width = width,
              .hidden = hidden,
              .across = padded(nodes, COLUMNS),
              .deep = padded(width, COLUMNS),
              .scale = 1 / sqrtf((float)width),
              .qkv = qkv + first * 3 * hidden + index * width,
              .distances = biased ? attention->distances + pair_offset : NULL,
              .bias = biased ? attention->bias + index : NULL,
              .heads = attention->heads,
              .buckets = attention->buckets};
    uintptr_t start = ((uintptr_t)scratch + sizeof(float) * COLUMNS - 1) /
                      (sizeof(float) * COLUMNS) * (sizeof(float) * COLUMNS);
    lay_out(&h, (float *)start);
    return h;
}

/* ---- Copies of a head's columns ---- */

/* to (all, deep) = factor times from (rows, width), whose rows are `stride` apart; 0 beyond it */
static void gather(const head *h, int64_t rows, int64_t all, float factor, const float *from,
                   int64_t stride, float *to)
{
    assay__attention_gather(rows, all, h->width, h->deep, factor, from, stride, to);
}

/* to (width, across) = from (nodes, width) transposed, with zeros in the padding. The rows of
 * `from` are 3 hidden apart. */
static void gather_across(const head *h, const float *from, float *to)
{
    const int64_t stride = h->across + APART;
    assay__transpose(h->nodes, h->width, from, 3 * h->hidden, to, stride);
    for (int64_t j = 0; j < h->width; j++)
        for (int64_t i = h->nodes; i < h->across; i++)
            to[j * stride + i] = 0;
}

/* A block of scores: `rows` queries from `row` on, `columns` keys from `column` on. */
typedef struct block {
    int64_t row, rows, column, columns;
    int64_t tall, wide; /* rows and columns, padded */
    int64_t stride;     /* of the rows of the block */
} block;

static block block_of(const head *h, int64_t row, int64_t column)
{
    block b = {.row = row,
               .rows = least(QUERIES, h->nodes - row),
               .column = column,
               .columns = least(KEYS, h->nodes - column)};
    b.tall = padded(b.rows, ROWS);
    b.wide = padded(b.columns, COLUMNS);
    b.stride = b.wide + APART;
    return b;
}

static void take_queries(const head *h, const block *b)
{
    gather(h, b->rows, b->tall, LOG2_E * h->scale, h->qkv + b->row * 3 * h->hidden, 3 * h->hidden,
           h->queries);
}

/* scores (tall, wide), to base 2; 0 in the padding */
static void score(const head *h, const block *b)
{
    assay__narrow_product(b->tall, b->wide, h->width, h->queries, h->deep, 1,
                          h->keys_across + b->column, h->across + APART, NULL, false, h->scores,
                          b->stride);
    if (h->bias == NULL)
        return;
    for (int64_t i = 0; i < b->rows; i++) {
        const uint8_t *distance = h->distances + (b->row + i) * h->nodes + b->column;
        for (int64_t j = 0; j < b->columns; j++)
            h->scores[i * b->stride + j] += LOG2_E * h->bias[distance[j] * h->heads];
    }
}

/* Whether a bound shows, without computing the scores, that all scores of the head are small. A
 * score that is NaN may go unnoticed. */
static bool scores_are_small(const head *h)
{
    const int64_t stride = 3 * h->hidden;
    float bias = 0;
    for (int64_t i = 0; h->bias != NULL && i < h->buckets; i++)
        bias = fmaxf(bias, fabsf(h->bias[i * h->heads]));
    const float query = assay__attention_longest(h->nodes, h->width, h->qkv, stride);
    const float key = assay__attention_longest(h->nodes, h->width, h->qkv + h->hidden, stride);
    return LOG2_E * (h->scale * query * key + bias) <= SMALL_SCORE;
}

/* ---- Forward ---- */

/* output (nodes, hidden) at this head's columns; log_sum (nodes) */
static void forward_head(const head *h, float *output, float *log_sum)
{
    const bool small = scores_are_small(h);
    gather_across(h, h->qkv + h->hidden, h->keys_across);
    gather(h, h->nodes, h->across, 1, h->qkv + 2 * h->hidden, 3 * h->hidden, h->values);
    for (int64_t row = 0; row < h->nodes; row += QUERIES) {
        block b = block_of(h, row, 0);
        take_queries(h, &b);
        for (int64_t i = 0; i < b.rows; i++) {
            h->maximum[i] = small ? 0 : -INFINITY;
            h->sum[i] = 0;
        }
        for (int64_t column = 0; column < h->nodes; column += KEYS) {
            b = block_of(h, row, column);
            score(h, &b);
            if (small) {
                assay__attention_weigh_small(b.rows, b.columns, b.stride, h->scores, h->sum);
            } else {
                assay__attention_weigh(b.rows, b.columns, b.stride, h->scores, h->maximum, h->sum,
                                       h->width, h->deep, h->mixed);
            }
            assay__narrow_product(b.tall, h->deep, b.columns, h->scores, b.stride, 1,
                                  h->values + column * h->deep, h->deep, NULL, column > 0, h->mixed,
                                  h->deep);
        }
        for (int64_t i = 0; i < b.rows; i++) {
            log_sum[row + i] = h->maximum[i] + log2f(h->sum[i]);
            h->sum[i] = 1 / h->sum[i];
        }
        assay__attention_put_back(b.rows, h->width, h->deep, 1, h->sum, h->mixed,
                                  output + row * h->hidden, h->hidden);
    }
}

/* ---- Backward ---- */

typedef struct head_gradient {
    const float *output, *doutput; /* (nodes, width), row stride hidden */
    const float *log_sum;          /* (nodes) */
    float *dqkv;                   /* laid out as qkv */
    float *dbias;                  /* laid out as the bias; NULL if there is none */
} head_gradient;

static void add_bias_gradient(const head *h, const block *b, float *dbias)
{
    for (int64_t i = 0; i < b->rows; i++) {
        const uint8_t *distance = h->distances + (b->row + i) * h->nodes + b->column;
        for (int64_t j = 0; j < b->columns; j++)
            dbias[distance[j] * h->heads] += h->gradients[i * b->stride + j];
    }
}

/* Compute the gradients of a block. The gradient of its queries goes to h->mixed, which sums over
 * the blocks of keys; dkeys and dvalues sum over the blocks of queries. */
static void backward_block(const head *h, const head_gradient *d, const block *b)
{
    const int64_t deep = h->deep, keys = b->column * deep;
    score(h, b);
    assay__narrow_product(b->tall, b->wide, h->width, h->doutput, deep, 1,
                          h->values_across + b->column, h->across + APART, NULL, false,
                          h->gradients, b->stride);
    assay__attention_weigh_backward(b->rows, b->columns, b->stride, d->log_sum + b->row, h->width,
                                    h->hidden, d->output + b->row * h->hidden,
                                    d->doutput + b->row * h->hidden, h->scores, h->gradients);
    if (d->dbias != NULL)
        add_bias_gradient(h, b, d->dbias);
    assay__narrow_product(b->tall, deep, b->columns, h->gradients, b->stride, 1, h->keys + keys,
                          deep, NULL, b->column > 0, h->mixed, deep);
    assay__narrow_product(b->wide, deep, b->rows, h->scores, 1, b->stride, h->doutput, deep, NULL,
                          b->row > 0, h->dvalues + keys, deep);
    assay__narrow_product(b->wide, deep, b->rows, h->gradients, 1, b->stride, h->queries, deep,
                          NULL, b->row > 0, h->dkeys + keys, deep);
}

static void backward_head(const head *h, const head_gradient *d)
{
    const int64_t stride = 3 * h->hidden;
    const float *k = h->qkv + h->hidden, *v = k + h->hidden;
    gather_across(h, k, h->keys_across);
    gather_across(h, v, h->values_across);
    gather(h, h->nodes, h->across, 1, k, stride, h->keys);
    for (int64_t row = 0; row < h->nodes; row += QUERIES) {
        block b = block_of(h, row, 0);
        take_queries(h, &b);
        gather(h, b.rows, b.tall, 1, d->doutput + row * h->hidden, h->hidden, h->doutput);
        for (int64_t column = 0; column < h->nodes; column += KEYS) {
            b = block_of(h, row, column);
            backward_block(h, d, &b);
        }
        assay__attention_put_back(b.rows, h->width, h->deep, h->scale, NULL, h->mixed,
                                  d->dqkv + row * stride, stride);
    }
    assay__attention_put_back(h->nodes, h->width, h->deep, 1 / LOG2_E, NULL, h->dkeys,
                              d->dqkv + h->hidden, stride);
    assay__attention_put_back(h->nodes, h->width, h->deep, 1, NULL, h->dvalues,
                              d->dqkv + 2 * h->hidden, stride);
}

/* ---- The heads of all graphs, among threads ---- */

/* A pass over all heads: backward if dqkv is not NULL, else forward. */
typedef struct heads_pass {
    const assay__attention *attention;
    const float *qkv;
    float *scratch; /* for one head in each part */
    size_t scratch_each;
    atomic_llong next; /* the head to take next */
    float *output, *log_sum;
    const float *doutput; /* backward */
    float *dqkv, *dbias;
} heads_pass;

static void heads_backward(const heads_pass *p, const head *h, int64_t first, int64_t index)
{
    int64_t start = first * h->hidden + index * h->width;
    head_gradient d = {.output = p->output + start,
                       .doutput = p->doutput + start,
                       .log_sum = p->log_sum + index * p->attention->graph->nodes + first,
                       .dqkv = p->dqkv + first * 3 * h->hidden + index * h->width,
                       .dbias = h->bias == NULL ? NULL : p->dbias + index};
    backward_head(h, &d);
}

/* Compute one head in all graphs, so that only one thread writes the gradient of its bias. */
static void compute_head(const heads_pass *p, int64_t index, float *scratch)
{
    const assay__graph *graph = p->attention->graph;
    int64_t pairs = 0;
    for (int64_t g = 0; g < graph->graphs; g++) {
        const int64_t first = graph->graph_offsets[g];
        const int64_t nodes = graph->graph_offsets[g + 1] - first;
        const head h = head_of(p->attention, g, index, pairs, p->qkv, scratch);
        if (p->dqkv != NULL) {
            heads_backward(p, &h, first, index);
        } else {
            forward_head(&h, p->output + first * h.hidden + index * h.width,
                         p->log_sum + index * graph->nodes + first);
        }
        pairs += nodes * nodes;
    }
}

/* A part has scratch of its own and takes heads until none are left. So a thread that is slowed
 * down by others takes fewer heads. */
static void heads_part(void *context, int part)
{
    heads_pass *p = context;
    float *scratch = p->scratch + (size_t)part * p->scratch_each;
    for (int64_t index; (index = atomic_fetch_add(&p->next, 1)) < p->attention->heads;)
        compute_head(p, index, scratch);
}

static void pass_heads(heads_pass pass)
{
    pass.scratch_each = head_scratch(pass.attention);
    assay__parallel(parts_of(pass.attention), heads_part, &pass);
}

void assay__attention_forward(const assay__attention *attention, const float *qkv, float *scratch,
                              float *output, float *log_sum)
{
    if (attention->attended != NULL) {
        const assay__sparse_attention sparse = sparse_of(attention);
        assay__attention_sparse_forward(&sparse, qkv, scratch, output, log_sum);
        return;
    }
    pass_heads((heads_pass){.attention = attention,
                            .qkv = qkv,
                            .scratch = scratch,
                            .output = output,
                            .log_sum = log_sum});
}

void assay__attention_backward(const assay__attention *attention, const float *qkv,
                               const float *output, const float *log_sum, const float *doutput,
                               float *scratch, float *dqkv, float *dbias)
{
    if (attention->attended != NULL) {
        const assay__sparse_attention sparse = sparse_of(attention);
        assay__attention_sparse_backward(&sparse, qkv, output, log_sum, doutput, scratch, dqkv,
                                         dbias);
        return;
    }
    pass_heads((heads_pass){.attention = attention,
                            .qkv = qkv,
                            .scratch = scratch,
                            .output = (float *)output, /* backward only reads them */
                            .log_sum = (float *)log_sum,
                            .doutput = doutput,
                            .dqkv = dqkv,
                            .dbias = dbias});
}
