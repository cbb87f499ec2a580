/* Layer norms, with one warp for each row, and sums over neighbours, with one block for each
 * node. */

KERNEL(256, layer_norm)
{
    const int lane = threadIdx.x % 32;
    const long long row = (long long)blockIdx.x * 8 + threadIdx.x / 32, at = row * a.columns;
    if (row >= a.rows)
        return;
    float total = 0, squares = 0;
    for (long long j = lane; j < a.columns; j += 32) {
        float branch = a.branch[at + j] + (a.bias != 0 ? a.bias[j] : 0);
        if (a.keep > 0)
            branch = is_kept(at + j, a.threshold, a.low, a.high) ? branch * a.keep : 0;
        const float sum = a.x[at + j] + branch;
        a.sum[at + j] = sum;
        total += sum;
    }
    const float mean = sum_lanes(total, 16) / (float)a.columns;
    for (long long j = lane; j < a.columns; j += 32)
        squares += (a.sum[at + j] - mean) * (a.sum[at + j] - mean);
    const float rstd = 1 / sqrtf(sum_lanes(squares, 16) / (float)a.columns + 1e-5f);
    for (long long j = lane; j < a.columns; j += 32)
        a.y[at + j] = (a.sum[at + j] - mean) * rstd * a.scale[j] + a.shift[j] +
                      (a.also != 0 ? a.also[at + j] : 0);
    if (lane == 0 && a.mean != 0) {
        a.mean[row] = mean;
        a.rstd[row] = rstd;
    }
}

KERNEL(256, layer_norm_backward)
{
    const int lane = threadIdx.x % 32;
    const long long row = (long long)blockIdx.x * 8 + threadIdx.x / 32, at = row * a.columns;
    if (row >= a.rows)
        return;
    const float mean = a.mean[row], rstd = a.rstd[row];
    float sum = 0, product = 0;
    for (long long j = lane; j < a.columns; j += 32) {
        const float g = a.dy[at + j] * a.scale[j];
        sum += g;
        product += g * (a.x[at + j] - mean) * rstd;
    }
    sum = sum_lanes(sum, 16) / (float)a.columns;
    product = sum_lanes(product, 16) / (float)a.columns;
    for (long long j = lane; j < a.columns; j += 32) {
        const float normal = (a.x[at + j] - mean) * rstd;
        a.dx[at + j] = rstd * (a.dy[at + j] * a.scale[j] - sum - normal * product) +
                       (a.also != 0 ? a.also[at + j] : 0);
    }
}

KERNEL(1024, layer_norm_parameters)
{
    __shared__ float scales[32][33], shifts[32][33];
    const int lane = threadIdx.x % 32, group = threadIdx.x / 32;
    const long long column = (long long)blockIdx.x * 32 + lane;
    float scale = 0, shift = 0;
    for (long long row = group; row < a.rows && column < a.columns; row += 32) {
        const float dy = a.dy[row * a.columns + column];
        scale += dy * (a.x[row * a.columns + column] - a.mean[row]) * a.rstd[row];
        shift += dy;
    }
    scales[group][lane] = scale;
    shifts[group][lane] = shift;
    __syncthreads();
    scale = sum_lanes(scales[lane][group], 16);
    shift = sum_lanes(shifts[lane][group], 16);
    const long long mine = (long long)blockIdx.x * 32 + group;
    if (lane == 0 && mine < a.columns) {
        a.dscale[mine] = scale;
        a.dshift[mine] = shift;
    }
}

KERNEL(256, neighbours)
{
    const long long node = blockIdx.x;
    for (long long j = threadIdx.x; j < a.width; j += blockDim.x) {
        const float own = a.factor != 0 ? a.factor[node] : 1;
        float sum = own * own * a.x[node * a.width + j];
        for (long long edge = a.offsets[node]; edge < a.offsets[node + 1]; edge++) {
            const long long other = a.neighbours[edge];
            if (a.factor == 0)
                sum += a.x[other * a.width + j];
            else if (other != node)
                sum += own * a.factor[other] * a.x[other * a.width + j];
        }
        a.y[node * a.width + j] = sum + (a.add ? a.y[node * a.width + j] : 0);
    }
}

#define GATE_EPSILON 1e-6f

KERNEL(256, gated)
{
    const long long node = blockIdx.x;
    for (long long j = threadIdx.x; j < a.width; j += blockDim.x) {
        const long long at = node * a.width + j;
        float gates = 0, sum = 0;
        for (long long edge = a.offsets[node]; edge < a.offsets[node + 1]; edge++) {
            const long long other = a.neighbours[edge] * a.width + j;
            const float gate = sigmoid(a.d[at] + a.e[other]);
            gates += gate;
            sum += gate * a.b[other];
        }
        const float y = a.y[at] + sum / (gates + GATE_EPSILON);
        a.y[at] = y > 0 ? y : 0;
        if (a.slope != 0)
            a.slope[at] = y > 0 ? 1.0f : 0.0f;
    }
}

KERNEL(256, gated_backward_targets)
{
    const long long node = blockIdx.x;
    for (long long j = threadIdx.x; j < a.width; j += blockDim.x) {
        const long long at = node * a.width + j;
        float gates = 0, sum = 0, slopes = 0;
        for (long long edge = a.offsets[node]; edge < a.offsets[node + 1]; edge++) {
            const long long other = a.neighbours[edge] * a.width + j;
            const float gate = sigmoid(a.d[at] + a.e[other]);
            gates += gate;
            sum += gate * a.b[other];
        }
        const float weight = 1 / (gates + GATE_EPSILON), mean = sum * weight;
        const float share = a.dy[at] * weight;
        for (long long edge = a.offsets[node]; edge < a.offsets[node + 1]; edge++) {
            const long long other = a.neighbours[edge] * a.width + j;
            const float gate = sigmoid(a.d[at] + a.e[other]);
            slopes += share * (a.b[other] - mean) * gate * (1 - gate);
        }
        a.share[at] = share;
        a.mean[at] = mean;
        a.dd[at] = slopes;
    }
}

KERNEL(256, gated_backward_sources)
{
    const long long node = blockIdx.x;
    for (long long j = threadIdx.x; j < a.width; j += blockDim.x) {
        const long long at = node * a.width + j;
        float db = 0, de = 0;
        for (long long edge = a.offsets[node]; edge < a.offsets[node + 1]; edge++) {
            const long long other = a.neighbours[edge] * a.width + j;
            const float gate = sigmoid(a.d[other] + a.e[at]);
            db += a.share[other] * gate;
            de += a.share[other] * (a.b[at] - a.mean[other]) * gate * (1 - gate);
        }
        a.db[at] = db;
        a.de[at] = de;
    }
}

KERNEL(256, pool)
{
    const long long graph = blockIdx.x, first = a.offsets[graph], end = a.offsets[graph + 1];
    for (long long j = threadIdx.x; j < a.width; j += blockDim.x) {
        const float share = 1 / (float)(end - first);
        float sum = 0;
        for (long long node = first; node < end; node++) {
            if (a.backward)
                a.y[node * a.width + j] = share * a.x[graph * a.width + j];
            else
                sum += a.x[node * a.width + j];
        }
        if (!a.backward)
            a.y[graph * a.width + j] = sum * share;
    }
}
