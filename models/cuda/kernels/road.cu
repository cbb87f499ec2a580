/* Kernels of next-road models: embeddings, the elementwise part of a GRU, scores of the roads that
 * can follow the current one, and whole steps of a search. */

KERNEL(256, look_up)
{
    const long long count = a.count * a.width;
    for (long long i = thread_number(); i < count; i += thread_total()) {
        const int row = a.index[i / a.width];
        a.to[i] = row >= 0 ? a.table[row * a.width + i % a.width] : 0;
    }
}

KERNEL(256, scatter_add)
{
    const long long count = a.count * a.width;
    for (long long i = thread_number(); i < count; i += thread_total()) {
        const int row = a.index[i / a.width];
        if (row >= 0)
            atomicAdd(&a.to[row * a.width + i % a.width], a.from[i]);
    }
}

/* ---- The GRU ---- */

KERNEL(256, gru_cell)
{
    const long long n = a.hidden, count = a.batch * n;
    for (long long at = thread_number(); at < count; at += thread_total()) {
        const long long j = at % n;
        float *row = a.gates + at / n * 3 * n, *rec = a.recurrent + at / n * 3 * n;
        const float r = sigmoid(row[j] + a.input_bias[j] + (rec[j] + a.recurrent_bias[j]));
        const float z =
            sigmoid(row[n + j] + a.input_bias[n + j] + (rec[n + j] + a.recurrent_bias[n + j]));
        const float part = rec[2 * n + j] + a.recurrent_bias[2 * n + j];
        const float g = tanhf(row[2 * n + j] + a.input_bias[2 * n + j] + r * part);
        row[j] = r;
        row[n + j] = z;
        row[2 * n + j] = g;
        rec[2 * n + j] = part;
        a.state[at] = g + z * (a.before[at] - g);
    }
}

KERNEL(256, gru_cell_backward)
{
    const long long n = a.hidden, count = a.batch * n;
    for (long long at = thread_number(); at < count; at += thread_total()) {
        const long long j = at % n, row = at / n * 3 * n;
        const float r = a.gates[row + j], z = a.gates[row + n + j], g = a.gates[row + 2 * n + j];
        const float slope = a.dstate[at] + a.carry[at];
        const float dg = slope * (1 - z) * (1 - g * g);
        const float dz = slope * (a.before[at] - g) * z * (1 - z);
        const float dr = dg * a.recurrent[row + 2 * n + j] * r * (1 - r);
        a.dgi[row + j] = a.dgh[row + j] = dr;
        a.dgi[row + n + j] = a.dgh[row + n + j] = dz;
        a.dgi[row + 2 * n + j] = dg;
        a.dgh[row + 2 * n + j] = dg * r;
        a.carry[at] = slope * z;
    }
}

/* ---- Scores ---- */

/* Each warp takes one position at a time. Its lanes share the columns of the scorer. */
KERNEL(256, road_score)
{
    const int lane = threadIdx.x % 32;
    for (long long p = thread_number() / 32; p < a.positions; p += thread_total() / 32) {
        const float *here = a.context + p * a.scorer;
        const float *goal = a.goal + p % a.trajectories * a.scorer;
        for (long long c = a.first[p]; c < a.first[p + 1]; c++) {
            float *row = a.hidden + c * a.scorer, sum = 0;
            for (long long j = lane; j < a.scorer; j += 32) {
                const float h = row[j] + here[j] + goal[j] + a.bias[j];
                row[j] = h > 0 ? h : 0;
                sum += row[j] * a.out[j];
            }
            sum = sum_lanes(sum, 16);
            if (lane == 0)
                a.logits[c] = sum;
        }
    }
}

KERNEL(256, road_score_backward)
{
    const long long count = a.positions * a.scorer;
    for (long long i = thread_number(); i < count; i += thread_total()) {
        const long long p = i / a.scorer, j = i % a.scorer;
        float sum = 0;
        for (long long c = a.first[p]; c < a.first[p + 1]; c++) {
            const float slope = a.hidden[c * a.scorer + j] > 0 ? a.dlogits[c] * a.out[j] : 0;
            a.dhidden[c * a.scorer + j] = slope;
            sum += slope;
        }
        a.dcontext[i] = sum;
    }
}

/* A position has few candidates, so one thread takes a whole position. Positions are ordered by
 * time, and the rows of `output` by trajectory. */
KERNEL(256, road_choice)
{
    const long long time = a.positions / a.trajectories;
    for (long long p = thread_number(); p < a.positions; p += thread_total()) {
        const long long begin = a.first[p], end = a.first[p + 1];
        const long long row = (p % a.trajectories * time + p / a.trajectories) * a.choices;
        float largest = 0, sum = 0;
        for (long long c = begin; c < end; c++)
            largest = c == begin ? a.logits[c] : fmaxf(largest, a.logits[c]);
        for (long long c = begin; c < end; c++) {
            a.probability[c] = expf(a.logits[c] - largest);
            sum += a.probability[c];
        }
        for (long long c = begin; c < end; c++)
            a.probability[c] /= sum;
        for (long long k = 0, c = begin; k < a.choices; k++)
            a.output[row + k] = a.given[row + k] >= 0 ? a.probability[c++] : 0;
    }
}

KERNEL(256, road_loss)
{
    __shared__ double sums[256];
    double sum = 0;
    for (long long p = thread_number(); p < a.positions; p += thread_total()) {
        double weight = 0, loss = 0;
        int decision = 0;
        for (long long c = a.first[p]; c < a.first[p + 1]; c++) {
            if (a.target[c] == 0)
                continue;
            decision = 1;
            weight += a.target[c];
            loss -= a.target[c] * log(fmax((double)a.probability[c], 1e-30));
        }
        for (long long c = a.first[p]; c < a.first[p + 1]; c++)
            a.dlogits[c] =
                decision ? (float)(a.share * (weight * a.probability[c] - a.target[c])) : 0;
        sum += a.share * loss;
    }
    leave_sum(sums, sum, &a.sums[blockIdx.x]);
}

/* ---- Searches ---- */

/* Computes the state of each route after its last road, the product of that state, and the logits
 * of the road's successors. Each block takes one route, and each of its warps one successor at a
 * time. The gates' part of the product is kept for the next step; the scorer's part is only needed
 * here and stays in shared memory, behind the state. */
KERNEL(256, road_step)
{
    __shared__ float state[ASSAY__STEP_FLOATS];
    const int n = a.hidden, gates = 3 * n, wide = gates + a.scorer;
    const int route = blockIdx.x, parent = a.parents[route], lane = threadIdx.x % 32;
    const float *in = a.road_input + (long long)a.roads[route] * gates;
    const float *rec = parent >= 0 ? a.reached_before + (long long)parent * gates : a.product_bias;
    float *context = state + n;
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
        const float r = sigmoid(in[j] + rec[j]), z = sigmoid(in[n + j] + rec[n + j]);
        const float g = tanhf(in[2 * n + j] + r * rec[2 * n + j]);
        const float before = parent >= 0 ? a.state_before[(long long)parent * n + j] : 0;
        state[j] = g + z * (before - g);
        a.state[(long long)route * n + j] = state[j];
    }
    __syncthreads();
    for (int k = threadIdx.x; k < wide; k += blockDim.x) {
        const float sum = dot_column(a.product + k, wide, state, n, a.product_bias[k]);
        if (k < gates)
            a.reached[(long long)route * gates + k] = sum;
        else
            context[k - gates] = sum + a.goal[k - gates];
    }
    __syncthreads();
    for (int c = a.first[route] + threadIdx.x / 32; c < a.first[route + 1]; c += blockDim.x / 32) {
        const float *row = a.road_score + (long long)a.choice[c] * a.scorer;
        const float *f = a.features + 4 * c, *w = a.feature_weight;
        float sum = 0;
        for (int j = lane; j < a.scorer; j += 32) {
            const float h = row[j] + context[j] + f[0] * w[j] + f[1] * w[a.scorer + j] +
                            f[2] * w[2 * a.scorer + j] + f[3] * w[3 * a.scorer + j];
            sum += h > 0 ? h * a.out[j] : 0;
        }
        sum = sum_lanes(sum, 16);
        if (lane == 0)
            a.logits[c] = sum;
    }
}
