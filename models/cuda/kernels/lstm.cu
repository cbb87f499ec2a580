/* The elementwise part of an LSTM, and kernels that compute whole forecasts. */

KERNEL(256, lstm_cell)
{
    const long long n = a.hidden, count = a.batch * n;
    for (long long at = thread_number(); at < count; at += thread_total()) {
        const long long j = at % n;
        float *row = a.gates + at / n * 4 * n;
        const float i = sigmoid(row[j] + (a.bias_ih[j] + a.bias_hh[j]));
        const float f = sigmoid(row[n + j] + (a.bias_ih[n + j] + a.bias_hh[n + j]));
        const float g = tanhf(row[2 * n + j] + (a.bias_ih[2 * n + j] + a.bias_hh[2 * n + j]));
        const float o = sigmoid(row[3 * n + j] + (a.bias_ih[3 * n + j] + a.bias_hh[3 * n + j]));
        const float cell = f * a.before[at] + i * g, t = tanhf(cell);
        row[j] = i;
        row[n + j] = f;
        row[2 * n + j] = g;
        row[3 * n + j] = o;
        a.cell[at] = cell;
        if (a.tanh_cell != 0)
            a.tanh_cell[at] = t;
        a.state[at] = o * t;
    }
}

KERNEL(256, lstm_cell_backward)
{
    const long long n = a.hidden, count = a.batch * n;
    for (long long at = thread_number(); at < count; at += thread_total()) {
        const long long j = at % n;
        float *row = a.gates + at / n * 4 * n;
        const float i = row[j], f = row[n + j], g = row[2 * n + j], o = row[3 * n + j];
        const float slope = a.dstate[at], t = a.tanh_cell[at];
        const float dc = a.dcell[at] + slope * o * (1 - t * t);
        row[j] = dc * g * i * (1 - i);
        row[n + j] = dc * a.before[at] * f * (1 - f);
        row[2 * n + j] = dc * i * (1 - g * g);
        row[3 * n + j] = slope * t * o * (1 - o);
        a.dcell[at] = dc * f;
    }
}

/* sum += x (count) weights (count, stride) at one column */
DEVICE float dot_column(const float *weights, int stride, const float *x, int count, float sum)
{
#pragma unroll 8
    for (int k = 0; k < count; k++)
        sum += weights[(long long)k * stride] * x[k];
    return sum;
}

/* Advances one layer by one step: `state` and `cell` (hidden) of the sequence, with x (input). */
DEVICE void advance(int input, int hidden, const float *packed, const float *bias_ih,
                    const float *bias_hh, const float *x, float *state, float *cell, float *gates)
{
    const int n = hidden;
    for (int r = threadIdx.x; r < 4 * n; r += blockDim.x) {
        float sum = dot_column(packed + r, 4 * n, x, input, bias_ih[r] + bias_hh[r]);
        gates[r] = dot_column(packed + (long long)input * 4 * n + r, 4 * n, state, n, sum);
    }
    __syncthreads();
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
        const float c =
            sigmoid(gates[n + j]) * cell[j] + sigmoid(gates[j]) * tanhf(gates[2 * n + j]);
        cell[j] = c;
        state[j] = sigmoid(gates[3 * n + j]) * tanhf(c);
    }
    __syncthreads();
}

KERNEL(1024, lstm_forecast)
{
    __shared__ float room[ASSAY__FORECAST_FLOATS];
    const int n = a.hidden, wide = a.input > a.output ? a.input : a.output;
    float *x = room, *gates = x + wide, *states = gates + 4 * n, *cells = states + a.layers * n;
    const float *input = a.x + blockIdx.x * a.time * a.input;
    float *y = a.y + blockIdx.x * a.steps * a.output;
    for (int j = threadIdx.x; j < 2 * a.layers * n; j += blockDim.x)
        states[j] = 0;
    for (long long t = 0; t < a.time + a.steps - 1; t++) {
        const float *packed = a.packed, *values = a.values;
        for (int j = threadIdx.x; t < a.time && j < a.input; j += blockDim.x)
            x[j] = input[t * a.input + j];
        __syncthreads();
        for (int layer = 0; layer < a.layers; layer++) {
            const int in = layer == 0 ? a.input : n;
            const float *bias = values + 4LL * n * (in + n);
            advance(in, n, packed, bias, bias + 4 * n, layer == 0 ? x : states + (layer - 1) * n,
                    states + layer * n, cells + layer * n, gates);
            packed += 4LL * n * (in + n);
            values = bias + 8 * n;
        }
        for (int o = threadIdx.x; t >= a.time - 1 && o < a.output; o += blockDim.x) {
            const float bias = values[(long long)a.output * n + o];
            x[o] = dot_column(packed + o, a.output, states + (a.layers - 1) * n, n, bias);
            y[(t - a.time + 1) * a.output + o] = x[o];
        }
        __syncthreads();
    }
}

/* The same for one layer whose weights fit the registers: a thread keeps the weights of one gate of one
 * unit, and x and the state stand side by side in shared memory. */
KERNEL(ASSAY__KEPT_GATES, lstm_forecast_kept)
{
    __shared__ __align__(16) float x[ASSAY__KEPT_WEIGHTS];
    __shared__ float gates[ASSAY__KEPT_GATES], head[ASSAY__KEPT_HEAD];
    const int n = a.hidden, in = a.input, r = threadIdx.x;
    const float *input = a.x + blockIdx.x * a.time * in;
    const float *bias = a.values + 4LL * n * (in + n), *fc = bias + 8 * n;
    float *y = a.y + blockIdx.x * a.steps * a.output;
    float weights[ASSAY__KEPT_WEIGHTS], cell = 0;
#pragma unroll
    for (int k = 0; k < ASSAY__KEPT_WEIGHTS; k++)
        weights[k] = r < 4 * n && k < in + n ? a.packed[(long long)k * 4 * n + r] : 0;
    const float start = r < 4 * n ? bias[r] + bias[4 * n + r] : 0;
    for (int i = r; i < a.output * n; i += blockDim.x)
        head[i / n * (n + 1) + i % n] = fc[i];
    for (int k = r; k < ASSAY__KEPT_WEIGHTS; k += blockDim.x)
        x[k] = 0;
    __syncthreads();
    for (long long t = 0; t < a.time + a.steps - 1; t++) {
        for (int j = r; t < a.time && j < in; j += blockDim.x)
            x[j] = input[t * in + j];
        __syncthreads();
        float s0 = start, s1 = 0, s2 = 0, s3 = 0;
#pragma unroll
        for (int k = 0; k < ASSAY__KEPT_WEIGHTS; k += 4) {
            const float4 v = *(const float4 *)(x + k);
            s0 += weights[k] * v.x;
            s1 += weights[k + 1] * v.y;
            s2 += weights[k + 2] * v.z;
            s3 += weights[k + 3] * v.w;
        }
        gates[r] = (s0 + s1) + (s2 + s3);
        __syncthreads();
        if (r < n) {
            cell = sigmoid(gates[n + r]) * cell + sigmoid(gates[r]) * tanhf(gates[2 * n + r]);
            x[in + r] = sigmoid(gates[3 * n + r]) * tanhf(cell);
        }
        __syncthreads();
        /* Eight lanes share an output. */
        for (int first = 0; t >= a.time - 1 && first < a.output; first += blockDim.x / 8) {
            const int o = first + r / 8;
            float sum = 0;
            for (int k = r % 8; o < a.output && k < n; k += 8)
                sum += head[o * (n + 1) + k] * x[in + k];
            sum = sum_lanes(sum, 4);
            if (o < a.output && r % 8 == 0) {
                sum += fc[(long long)a.output * n + o];
                y[(t - a.time + 1) * a.output + o] = sum;
                if (a.steps > 1) /* then each output is the next input */
                    x[o] = sum;
            }
        }
        __syncthreads();
    }
}
