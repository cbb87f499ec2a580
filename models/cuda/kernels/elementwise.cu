/* The elementwise kernels between matrix products: biases, activations, dropout, losses,
 * optimizers. */

enum { IDENTITY, RELU, GELU, TANH, SIGMOID, SINE, SILU };

DEVICE float activate(int activation, float x, float *slope)
{
    float y;
    switch (activation) {
    case RELU:
        *slope = x > 0 ? 1.0f : 0.0f;
        return x > 0 ? x : 0;
    case GELU:
        y = 0.5f * erfcf(-0.70710678f * x);
        *slope = y + x * 0.39894228f * expf(-0.5f * x * x);
        return x * y;
    case TANH:
        y = tanhf(x);
        *slope = 1 - y * y;
        return y;
    case SIGMOID:
        y = sigmoid(x);
        *slope = y * (1 - y);
        return y;
    case SINE:
        *slope = cosf(x);
        return sinf(x);
    case SILU:
        y = sigmoid(x);
        *slope = y * (1 + x * (1 - y));
        return x * y;
    default:
        *slope = 1;
        return x;
    }
}

KERNEL(256, bias_activate)
{
    const long long count = a.rows * a.columns;
    for (long long i = thread_number(); i < count; i += thread_total()) {
        float slope;
        /* The sum is rounded before it is scaled, as on the host. */
        float x = a.y[i] + (a.bias != 0 ? a.bias[i % a.columns] : 0);
        a.y[i] = activate(a.activation, a.scale * x, &slope);
        if (a.slope != 0)
            a.slope[i] = a.scale * slope;
    }
}

KERNEL(256, scale_by_slope)
{
    for (long long i = thread_number(); i < a.count; i += thread_total())
        a.dy[i] *= a.slope[i];
}

KERNEL(1024, column_sum)
{
    __shared__ float sums[32][33];
    const int lane = threadIdx.x % 32, group = threadIdx.x / 32;
    const long long column = (long long)blockIdx.x * 32 + lane;
    float sum = 0;
    for (long long row = group; row < a.rows && column < a.columns; row += 32)
        sum += a.x[row * a.columns + column];
    sums[group][lane] = sum;
    __syncthreads();
    sum = sum_lanes(sums[lane][group], 16);
    const long long mine = (long long)blockIdx.x * 32 + group;
    if (lane == 0 && mine < a.columns) {
        a.sum[mine] = sum;
        if (a.copy != 0)
            a.copy[mine] = sum;
    }
}

KERNEL(256, drop)
{
    for (long long i = thread_number(); i < a.count; i += thread_total())
        a.y[i] = is_kept(i, a.threshold, a.low, a.high) ? a.x[i] * a.scale : 0;
}

KERNEL(256, add)
{
    for (long long i = thread_number(); i < a.count; i += thread_total())
        a.y[i] += a.x[i];
}

KERNEL(256, reorder)
{
    const long long count = a.a * a.b * a.width;
    for (long long i = thread_number(); i < count; i += thread_total()) {
        const long long column = i % a.width, row = i / a.width;
        a.y[i] = a.x[(row % a.a * a.b + row / a.a) * a.width + column];
    }
}

KERNEL(256, noise)
{
    for (long long i = thread_number(); i < a.count; i += thread_total())
        a.y[i] = (float)finalize((unsigned)i) * (2.0f / 4294967296.0f) - 1;
}

/* ---- Losses ---- */

enum { MSE, L1, BINARY_CROSS_ENTROPY, CROSS_ENTROPY };

DEVICE double loss_of_element(int loss, double y, double target, double count, float *dy)
{
    const double difference = y - target;
    double tail, probability;
    switch (loss) {
    case L1:
        *dy = (float)((difference > 0) - (difference < 0)) / (float)count;
        return fabs(difference) / count;
    case BINARY_CROSS_ENTROPY:
        tail = exp(-fabs(y));
        probability = y >= 0 ? 1 / (1 + tail) : tail / (1 + tail);
        *dy = (float)((probability - target) / count);
        return ((y > 0 ? y : 0) - y * target + log1p(tail)) / count;
    default:
        *dy = (float)(2 * difference / count);
        return difference * difference / count;
    }
}

DEVICE double loss_of_row(const float *y, const float *target, float *dy, long long width,
                          double rows)
{
    double largest = y[0], total = 0, weight = 0, likelihood = 0;
    for (long long i = 1; i < width; i++)
        largest = y[i] > largest ? y[i] : largest;
    for (long long i = 0; i < width; i++)
        total += exp(y[i] - largest);
    const double offset = largest + log(total);
    for (long long i = 0; i < width; i++) {
        weight += target[i];
        likelihood += target[i] * (y[i] - offset);
    }
    for (long long i = 0; i < width; i++)
        dy[i] = (float)((weight * exp(y[i] - largest) / total - target[i]) / rows);
    return -likelihood / rows;
}

/* *to = the sum of `sum` over the 256 threads of a block. `sums` (256) is in shared memory. */
DEVICE void leave_sum(double *sums, double sum, double *to)
{
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *to = sums[0];
}

KERNEL(256, loss)
{
    __shared__ double sums[256];
    const int by_row = a.loss == CROSS_ENTROPY;
    const long long count = by_row ? a.rows : a.rows * a.width;
    double sum = 0;
    for (long long i = thread_number(); i < count; i += thread_total()) {
        if (by_row)
            sum += loss_of_row(a.y + i * a.width, a.target + i * a.width, a.dy + i * a.width,
                               a.width, (double)count);
        else
            sum += loss_of_element(a.loss, a.y[i], a.target[i], (double)count, &a.dy[i]);
    }
    leave_sum(sums, sum, &a.sums[blockIdx.x]);
}

/* ---- Optimizers ---- */

enum { ADAM, ADAMW, SGD, MOMENTUM };

KERNEL(256, optimize)
{
    for (long long i = thread_number(); i < a.count; i += thread_total()) {
        const float g = a.gradient[i];
        float value = a.value[i];
        if (a.optimizer == SGD) {
            a.value[i] = value - a.rate * g;
        } else if (a.optimizer == MOMENTUM) {
            a.first[i] = 0.9f * a.first[i] + g;
            a.value[i] = value - a.rate * a.first[i];
        } else {
            const float first = 0.9f * a.first[i] + (1 - 0.9f) * g;
            const float second = 0.999f * a.second[i] + (1 - 0.999f) * g * g;
            value *= a.optimizer == ADAMW ? a.kept : 1;
            a.first[i] = first;
            a.second[i] = second;
            a.value[i] = value - a.rate * first / (sqrtf(second) * a.correction + 1e-8f);
        }
    }
}
