/* Attention without its linear maps (graph/attention.h). Full attention goes by tiles (Dao et al.
 * 2022, "FlashAttention"). A block of 256 threads holds 32 rows, with 16 threads to a row, and
 * passes over the columns of its graph 64 at a time. Rows are queries and columns are keys; for the
 * gradients of keys and values, rows are keys and columns are queries. A head is worked on 32 of
 * its own columns at a time. HEAD_CHUNKS, the number of these chunks, is a constant, so that sums
 * stay in registers. There are not enough registers for the sums of a head of more than 256 columns.
 * Such a head is a row of blocks: each block computes all scores, but the sums of one SLAB of
 * columns. */

enum {
    ROWS = 32,
    COLUMNS = 64,
    CHUNK = 32,
    STRIDE = CHUNK + 4,
    EACH = 2,
    ACROSS = 4,
    SLAB = HEAD_CHUNKS * CHUNK
};

/* The head of this block, and the first column of the head for which it computes sums. */
DEVICE int my_head(int width)
{
    return blockIdx.y / ((width + SLAB - 1) / SLAB);
}

DEVICE int my_slab(int width)
{
    return blockIdx.y % ((width + SLAB - 1) / SLAB) * SLAB;
}

/* Where a thread stands in its tile: rows `row` + 16 i, columns `column` + 16 j. */
DEVICE int my_row(void)
{
    return threadIdx.x / 16;
}

DEVICE int my_column(void)
{
    return threadIdx.x % 16;
}

/* to (rows, STRIDE) = CHUNK columns of nodes first ..., zero outside of the graph and of the head */
DEVICE void load_tile(const float *from, long long stride, int first, int end, int rows, int chunk,
                      int width, float *to)
{
    for (int i = threadIdx.x; i < rows * CHUNK; i += 256) {
        const int node = first + i / CHUNK, column = chunk * CHUNK + i % CHUNK;
        to[i / CHUNK * STRIDE + i % CHUNK] =
            node < end && column < width ? from[node * stride + column] : 0;
    }
}

/* Products of the tile's rows of `x` with its columns' rows of `y`. */
DEVICE void dot_rows(const float *x, long long x_stride, int row, const float *y,
                     long long y_stride, int column, int end, int width, float *left, float *right,
                     float sums[EACH][ACROSS])
{
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < ACROSS; j++)
            sums[i][j] = 0;
    for (int chunk = 0; chunk * CHUNK < width; chunk++) {
        __syncthreads();
        load_tile(x, x_stride, row, end, ROWS, chunk, width, left);
        load_tile(y, y_stride, column, end, COLUMNS, chunk, width, right);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < CHUNK; k += 4) {
            float4 p[EACH], q[ACROSS];
#pragma unroll
            for (int i = 0; i < EACH; i++)
                p[i] = *(const float4 *)(left + (my_row() + 16 * i) * STRIDE + k);
#pragma unroll
            for (int j = 0; j < ACROSS; j++)
                q[j] = *(const float4 *)(right + (my_column() + 16 * j) * STRIDE + k);
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int j = 0; j < ACROSS; j++)
                    sums[i][j] += p[i].x * q[j].x + p[i].y * q[j].y + p[i].z * q[j].z +
                                  p[i].w * q[j].w;
        }
    }
}

/* sums (row, HEAD_CHUNKS x 2 columns of the head) += weights (row, columns) y (columns) */
DEVICE void mix_rows(const float *y, long long stride, int column, int end, int width,
                     const float *weights, float *right, float sums[EACH][2 * HEAD_CHUNKS])
{
#pragma unroll
    for (int chunk = 0; chunk < HEAD_CHUNKS; chunk++) {
        if (chunk * CHUNK >= width)
            break;
        __syncthreads();
        load_tile(y, stride, column, end, COLUMNS, chunk, width, right);
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < COLUMNS; k += 4) {
            float4 p[EACH];
#pragma unroll
            for (int i = 0; i < EACH; i++)
                p[i] = *(const float4 *)(weights + (my_row() + 16 * i) * (COLUMNS + 4) + k);
#pragma unroll
            for (int c = 0; c < 2; c++) {
                const float *at = right + k * STRIDE + my_column() + 16 * c;
                const float v0 = at[0], v1 = at[STRIDE], v2 = at[2 * STRIDE], v3 = at[3 * STRIDE];
#pragma unroll
                for (int i = 0; i < EACH; i++)
                    sums[i][2 * chunk + c] += p[i].x * v0 + p[i].y * v1 + p[i].z * v2 + p[i].w * v3;
            }
        }
    }
}

/* y (nodes, stride) at the head's columns = factor of each row x sums */
DEVICE void store_rows(const assay__attention_tile *tile, int width, const float factor[EACH],
                       float sums[EACH][2 * HEAD_CHUNKS], float *y, long long stride)
{
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int c = 0; c < 2 * HEAD_CHUNKS; c++) {
            const int node = tile->first + my_row() + 16 * i, column = my_column() + 16 * c;
            if (node < tile->end && column < width)
                y[node * stride + column] = factor[i] * sums[i][c];
        }
}

/* Returns the bias of a score for the distance of two nodes; `bucket` receives its row of the
 * table. */
DEVICE float bias_of(const assay__attention_arguments *a, const assay__attention_tile *tile,
                     int head, int query, int key, int *bucket)
{
    const long long nodes = tile->end - tile->begin;
    if (a->bias == 0)
        return 0;
    *bucket = a->distances[tile->pairs + (query - tile->begin) * nodes + (key - tile->begin)];
    return a->bias[*bucket * a->heads + head];
}

KERNEL(256, attention_forward)
{
    __shared__ __align__(16) float left[ROWS * STRIDE], right[COLUMNS * STRIDE];
    __shared__ __align__(16) float weights[ROWS * (COLUMNS + 4)];
    const assay__attention_tile tile = a.tiles[blockIdx.x];
    const int width = a.width, head = my_head(width), slab = my_slab(width);
    const long long hidden = (long long)a.heads * width, stride = 3 * hidden;
    const float *q = a.qkv + (long long)head * width, *k = q + hidden, *v = k + hidden;
    float most[EACH], total[EACH], mixed[EACH][2 * HEAD_CHUNKS];
    for (int i = 0; i < EACH; i++) {
        most[i] = -3.4e38f;
        total[i] = 0;
#pragma unroll
        for (int c = 0; c < 2 * HEAD_CHUNKS; c++)
            mixed[i][c] = 0;
    }
    for (int column = tile.begin; column < tile.end; column += COLUMNS) {
        float scores[EACH][ACROSS];
        dot_rows(q, stride, tile.first, k, stride, column, tile.end, width, left, right, scores);
        for (int i = 0; i < EACH; i++) {
            const int query = tile.first + my_row() + 16 * i;
            float here = -3.4e38f, sum = 0;
            int bucket;
            for (int j = 0; j < ACROSS; j++) {
                const int key = column + my_column() + 16 * j;
                const int inside = key < tile.end && query < tile.end;
                scores[i][j] = inside ? a.scale * scores[i][j] +
                                            bias_of(&a, &tile, head, query, key, &bucket)
                                      : -3.4e38f;
                here = fmaxf(here, scores[i][j]);
            }
            here = fmaxf(largest_lane(here, 8), most[i]);
            for (int j = 0; j < ACROSS; j++) {
                const float weight =
                    column + my_column() + 16 * j < tile.end ? expf(scores[i][j] - here) : 0;
                weights[(my_row() + 16 * i) * (COLUMNS + 4) + my_column() + 16 * j] = weight;
                sum += weight;
            }
            const float correction = expf(most[i] - here);
            total[i] = total[i] * correction + sum_lanes(sum, 8);
            most[i] = here;
#pragma unroll
            for (int c = 0; c < 2 * HEAD_CHUNKS; c++)
                mixed[i][c] *= correction;
        }
        mix_rows(v + slab, stride, column, tile.end, width - slab, weights, right, mixed);
    }
    float share[EACH];
    for (int i = 0; i < EACH; i++) {
        const int query = tile.first + my_row() + 16 * i;
        share[i] = 1 / total[i];
        if (my_column() == 0 && slab == 0 && query < tile.end)
            a.log_sum[head * a.nodes + query] = most[i] + logf(total[i]);
    }
    store_rows(&tile, width - slab, share, mixed, a.output + (long long)head * width + slab, hidden);
}

/* One warp for each node and head. */
KERNEL(256, attention_along)
{
    const int lane = threadIdx.x % 32, head = blockIdx.y;
    const long long node = (long long)blockIdx.x * 8 + threadIdx.x / 32;
    if (node >= a.nodes)
        return;
    const long long at = (node * a.heads + head) * a.width;
    float sum = 0;
    for (int j = lane; j < a.width; j += 32)
        sum += a.output[at + j] * a.doutput[at + j];
    sum = sum_lanes(sum, 16);
    if (lane == 0)
        a.along[head * a.nodes + node] = sum;
}

KERNEL(256, attention_queries)
{
    __shared__ __align__(16) float left[ROWS * STRIDE], right[COLUMNS * STRIDE];
    __shared__ __align__(16) float weights[ROWS * (COLUMNS + 4)];
    __shared__ float biases[256];
    const assay__attention_tile tile = a.tiles[blockIdx.x];
    const int width = a.width, head = my_head(width), slab = my_slab(width);
    const long long hidden = (long long)a.heads * width, stride = 3 * hidden;
    const float *q = a.qkv + (long long)head * width, *k = q + hidden, *v = k + hidden;
    const float *dout = a.doutput + (long long)head * width;
    const float *log_sum = a.log_sum + head * a.nodes, *along = a.along + head * a.nodes;
    float dq[EACH][2 * HEAD_CHUNKS];
#pragma unroll
    for (int c = 0; c < 2 * HEAD_CHUNKS; c++)
        dq[0][c] = dq[1][c] = 0;
    biases[threadIdx.x] = 0;
    for (int column = tile.begin; column < tile.end; column += COLUMNS) {
        float scores[EACH][ACROSS], slopes[EACH][ACROSS];
        dot_rows(q, stride, tile.first, k, stride, column, tile.end, width, left, right, scores);
        dot_rows(dout, hidden, tile.first, v, stride, column, tile.end, width, left, right, slopes);
        for (int i = 0; i < EACH; i++)
            for (int j = 0; j < ACROSS; j++) {
                const int query = tile.first + my_row() + 16 * i;
                const int key = column + my_column() + 16 * j;
                float slope = 0;
                int bucket = 0;
                if (query < tile.end && key < tile.end) {
                    const float score =
                        a.scale * scores[i][j] + bias_of(&a, &tile, head, query, key, &bucket);
                    slope = expf(score - log_sum[query]) * (slopes[i][j] - along[query]);
                    if (a.bias != 0)
                        atomicAdd(&biases[bucket], slope);
                }
                weights[(my_row() + 16 * i) * (COLUMNS + 4) + my_column() + 16 * j] = slope;
            }
        mix_rows(k + slab, stride, column, tile.end, width - slab, weights, right, dq);
    }
    const float scales[EACH] = {a.scale, a.scale};
    store_rows(&tile, width - slab, scales, dq, a.dqkv + (long long)head * width + slab, stride);
    __syncthreads();
    if (a.bias != 0 && slab == 0 && threadIdx.x < a.buckets)
        atomicAdd(&a.dbias[threadIdx.x * a.heads + head], biases[threadIdx.x]);
}

KERNEL(256, attention_keys)
{
    __shared__ __align__(16) float left[ROWS * STRIDE], right[COLUMNS * STRIDE];
    __shared__ __align__(16) float weights[ROWS * (COLUMNS + 4)];
    const assay__attention_tile tile = a.tiles[blockIdx.x];
    const int width = a.width, head = my_head(width), slab = my_slab(width);
    const long long hidden = (long long)a.heads * width, stride = 3 * hidden;
    const float *q = a.qkv + (long long)head * width, *k = q + hidden, *v = k + hidden;
    const float *dout = a.doutput + (long long)head * width;
    const float *log_sum = a.log_sum + head * a.nodes, *along = a.along + head * a.nodes;
    float dk[EACH][2 * HEAD_CHUNKS], dv[EACH][2 * HEAD_CHUNKS];
#pragma unroll
    for (int c = 0; c < 2 * HEAD_CHUNKS; c++)
        dk[0][c] = dk[1][c] = dv[0][c] = dv[1][c] = 0;
    for (int column = tile.begin; column < tile.end; column += COLUMNS) {
        float scores[EACH][ACROSS], slopes[EACH][ACROSS];
        dot_rows(k, stride, tile.first, q, stride, column, tile.end, width, left, right, scores);
        dot_rows(v, stride, tile.first, dout, hidden, column, tile.end, width, left, right, slopes);
        for (int i = 0; i < EACH; i++)
            for (int j = 0; j < ACROSS; j++) {
                const int key = tile.first + my_row() + 16 * i;
                const int query = column + my_column() + 16 * j;
                int bucket;
                scores[i][j] = query < tile.end && key < tile.end
                                   ? expf(a.scale * scores[i][j] +
                                          bias_of(&a, &tile, head, query, key, &bucket) -
                                          log_sum[query])
                                   : 0;
                slopes[i][j] = query < tile.end ? scores[i][j] * (slopes[i][j] - along[query]) : 0;
                weights[(my_row() + 16 * i) * (COLUMNS + 4) + my_column() + 16 * j] = scores[i][j];
            }
        mix_rows(dout + slab, hidden, column, tile.end, width - slab, weights, right, dv);
        __syncthreads();
        for (int i = 0; i < EACH; i++)
            for (int j = 0; j < ACROSS; j++)
                weights[(my_row() + 16 * i) * (COLUMNS + 4) + my_column() + 16 * j] = slopes[i][j];
        mix_rows(q + slab, stride, column, tile.end, width - slab, weights, right, dk);
    }
    const float scales[EACH] = {a.scale, a.scale}, ones[EACH] = {1, 1};
    float *to = a.dqkv + hidden + (long long)head * width + slab;
    store_rows(&tile, width - slab, scales, dk, to, stride);
    store_rows(&tile, width - slab, ones, dv, to + hidden, stride);
}

/* ---- Sparse: one warp for each node and head, its lanes over the columns of the head ---- */

DEVICE float dot_lanes(const float *x, const float *y, int width)
{
    float sum = 0;
    for (int j = threadIdx.x % 32; j < width; j += 32)
        sum += x[j] * y[j];
    return sum_lanes(sum, 16);
}

/* sums += factor x, of this lane's columns */
DEVICE void add_lanes(float factor, const float *x, int width, float sums[HEAD_CHUNKS])
{
#pragma unroll
    for (int c = 0; c < HEAD_CHUNKS; c++) {
        const int column = threadIdx.x % 32 + 32 * c;
        sums[c] += column < width ? factor * x[column] : 0;
    }
}

DEVICE void store_lanes(float factor, const float sums[HEAD_CHUNKS], int width, float *y)
{
#pragma unroll
    for (int c = 0; c < HEAD_CHUNKS; c++) {
        const int column = threadIdx.x % 32 + 32 * c;
        if (column < width)
            y[column] = factor * sums[c];
    }
}

DEVICE float sparse_score(const assay__attention_arguments *a, int head, long long query,
                          long long key)
{
    const long long hidden = (long long)a->heads * a->width, at = (long long)head * a->width;
    const float dot = dot_lanes(a->qkv + query * 3 * hidden + at,
                                a->qkv + key * 3 * hidden + hidden + at, a->width);
    return a->scale * dot + (a->bias != 0 ? a->bias[(query != key) * a->heads + head] : 0);
}

KERNEL(256, sparse_forward)
{
    const int width = a.width, head = my_head(width), slab = my_slab(width);
    const long long node = (long long)blockIdx.x * 8 + threadIdx.x / 32;
    const long long hidden = (long long)a.heads * width, at = (long long)head * width;
    if (node >= a.nodes)
        return;
    float mixed[HEAD_CHUNKS] = {0}, most = -3.4e38f, total = 0;
    for (long long e = a.offsets[node]; e < a.offsets[node + 1]; e++) {
        const long long key = a.neighbours[e];
        const float score = sparse_score(&a, head, node, key), before = most;
        most = fmaxf(most, score);
        const float correction = expf(before - most), weight = expf(score - most);
        total = total * correction + weight;
#pragma unroll
        for (int c = 0; c < HEAD_CHUNKS; c++)
            mixed[c] *= correction;
        add_lanes(weight, a.qkv + key * 3 * hidden + 2 * hidden + at + slab, width - slab, mixed);
    }
    store_lanes(1 / total, mixed, width - slab, a.output + node * hidden + at + slab);
    if (threadIdx.x % 32 == 0 && slab == 0)
        a.log_sum[head * a.nodes + node] = most + logf(total);
}

KERNEL(256, sparse_queries)
{
    const int width = a.width, head = my_head(width), slab = my_slab(width);
    const long long node = (long long)blockIdx.x * 8 + threadIdx.x / 32;
    const long long hidden = (long long)a.heads * width, at = (long long)head * width;
    if (node >= a.nodes)
        return;
    float dq[HEAD_CHUNKS] = {0}, biases[2] = {0, 0};
    for (long long e = a.offsets[node]; e < a.offsets[node + 1]; e++) {
        const long long key = a.neighbours[e];
        const float *k = a.qkv + key * 3 * hidden + hidden + at;
        const float weight =
            expf(sparse_score(&a, head, node, key) - a.log_sum[head * a.nodes + node]);
        const float dot = dot_lanes(a.doutput + node * hidden + at, k + hidden, width);
        const float slope = weight * (dot - a.along[head * a.nodes + node]);
        add_lanes(slope, k + slab, width - slab, dq);
        biases[key != node] += slope;
    }
    store_lanes(a.scale, dq, width - slab, a.dqkv + node * 3 * hidden + at + slab);
    if (a.bias != 0 && slab == 0 && threadIdx.x % 32 < 2)
        atomicAdd(&a.dbias[threadIdx.x % 32 * a.heads + head],
                  threadIdx.x % 32 == 0 ? biases[0] : biases[1]);
}

KERNEL(256, sparse_keys)
{
    const int width = a.width, head = my_head(width), slab = my_slab(width);
    const long long node = (long long)blockIdx.x * 8 + threadIdx.x / 32;
    const long long hidden = (long long)a.heads * width, at = (long long)head * width;
    if (node >= a.nodes)
        return;
    float dk[HEAD_CHUNKS] = {0}, dv[HEAD_CHUNKS] = {0};
    for (long long e = a.offsets[node]; e < a.offsets[node + 1]; e++) {
        const long long query = a.neighbours[e];
        const float *dout = a.doutput + query * hidden + at;
        const float weight =
            expf(sparse_score(&a, head, query, node) - a.log_sum[head * a.nodes + query]);
        const float dot = dot_lanes(dout, a.qkv + node * 3 * hidden + 2 * hidden + at, width);
        const float slope = weight * (dot - a.along[head * a.nodes + query]);
        add_lanes(weight, dout + slab, width - slab, dv);
        add_lanes(slope, a.qkv + query * 3 * hidden + at + slab, width - slab, dk);
    }
    float *to = a.dqkv + node * 3 * hidden + hidden + at + slab;
    store_lanes(a.scale, dk, width - slab, to);
    store_lanes(1, dv, width - slab, to + hidden);
}
