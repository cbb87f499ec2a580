/* Computes the figures of a runtime profile from times and shapes. */
#include "models/profile/runtime.h"

#include <stdbool.h>
#include <string.h>

assay_status assay_compute_throughput(const assay_timing *timing, uint64_t n_steps,
                                      uint64_t latent_dim, assay_throughput *throughput)
{
    if (n_steps == 0)
        return ASSAY_E_ARGUMENT;
    if (!(timing->mean_seconds > 0))
        return ASSAY_E_DATA;
    double seconds = timing->mean_seconds / (double)n_steps;
    *throughput = (assay_throughput){.steps_per_second = 1 / seconds,
                                     .predictions_per_second = (double)latent_dim / seconds,
                                     .seconds_per_step = seconds,
                                     .microseconds_per_step = 1e6 * seconds};
    return ASSAY_OK;
}

/* *sum += a b c. Returns false if it does not fit. */
static bool add_product(uint64_t *sum, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t product;
    return !__builtin_mul_overflow(a, b, &product) &&
           !__builtin_mul_overflow(product, c, &product) &&
           !__builtin_add_overflow(*sum, product, sum);
}

uint64_t assay_compute_mvar_params(uint64_t latent_dim, uint64_t lag)
{
    uint64_t sum = latent_dim;
    return add_product(&sum, lag, latent_dim, latent_dim) ? sum : UINT64_MAX;
}

/* Add the parameters of one layer, 4 h (in + h) weights and 8 h biases. Returns false if they do
 * not fit. */
static bool add_lstm_layer(uint64_t *sum, uint64_t input, uint64_t hidden)
{
    return add_product(sum, 4, input, hidden) && add_product(sum, 4, hidden, hidden) &&
           add_product(sum, 8, hidden, 1);
}

uint64_t assay_compute_lstm_params(uint64_t input_dim, uint64_t hidden_size, uint64_t num_layers,
                                   uint64_t output_dim)
{
    uint64_t sum = 0, further = 0;
    bool fits = num_layers == 0 || add_lstm_layer(&sum, input_dim, hidden_size);
    if (num_layers > 1)
        fits = fits && add_lstm_layer(&further, hidden_size, hidden_size) &&
               add_product(&sum, further, num_layers - 1, 1);
    fits = fits && add_product(&sum, output_dim, hidden_size, 1) &&
           add_product(&sum, output_dim, 1, 1);
    return fits ? sum : UINT64_MAX;
}

static assay_status mvar_complexity(const assay_complexity_shape *shape,
                                    assay_complexity *complexity)
{
    uint64_t d = shape->latent_dim, p = shape->lag, flops = 0;
    if (p == 0)
        return ASSAY_E_ARGUMENT;
    uint64_t expected = assay_compute_mvar_params(d, p);
    if (expected == UINT64_MAX || !add_product(&flops, 2 * p, d, d))
        return ASSAY_E_LIMIT;
    complexity->lag_order = p;
    complexity->parameters_per_lag = d * d;
    complexity->expected_parameters = assay_reading_of((double)expected);
    complexity->inference_flops_per_step = assay_reading_of((double)flops);
    complexity->training_complexity = "O(N_samples * p * d²)";
    complexity->inference_complexity = "O(p * d²)";
    return ASSAY_OK;
}

static assay_status lstm_complexity(const assay_complexity_shape *shape,
                                    assay_complexity *complexity)
{
    uint64_t d = shape->latent_dim, h = shape->hidden_size, layers = shape->num_layers;
    if (h == 0 || layers == 0)
        return ASSAY_E_ARGUMENT;
    uint64_t expected = assay_compute_lstm_params(d, h, layers, d), flops = 0, layer = 0;
    bool fits = expected != UINT64_MAX && add_product(&flops, 8, h, d + h) &&
                add_product(&flops, 16 * (layers - 1), h, h) && add_product(&flops, 2, h, d) &&
                add_lstm_layer(&layer, layers > 1 ? h : d, h);
    if (!fits)
        return ASSAY_E_LIMIT;
    complexity->hidden_size = h;
    complexity->num_layers = layers;
    complexity->parameters_per_layer = layer;
    complexity->expected_parameters = assay_reading_of((double)expected);
    complexity->inference_flops_per_step = assay_reading_of((double)flops);
    complexity->training_complexity = "O(N_epochs * N_samples * T * L * h * (d + h))";
    complexity->inference_complexity = "O(L * h * (d + h))";
    return ASSAY_OK;
}

assay_runtime_kind assay__runtime_kind(const char *name, const assay_complexity_shape *shape)
{
    bool mvar = shape->lag > 0, lstm = shape->hidden_size > 0;
    if (shape->kind != ASSAY_RUNTIME_OTHER)
        return shape->kind;
    if (mvar && lstm) { /* the sizes do not decide: use the name */
        mvar = name != NULL && strcasestr(name, "mvar") != NULL;
        lstm = !mvar && name != NULL && strcasestr(name, "lstm") != NULL;
    }
    return mvar ? ASSAY_RUNTIME_MVAR : lstm ? ASSAY_RUNTIME_LSTM : ASSAY_RUNTIME_OTHER;
}

assay_status assay_analyze_complexity(const assay_complexity_shape *shape, uint64_t model_params,
                                      assay_complexity *complexity)
{
    if (shape == NULL || shape->latent_dim == 0)
        return ASSAY_E_ARGUMENT;
    *complexity =
        (assay_complexity){.kind = assay__runtime_kind(NULL, shape),
                           .total_parameters = model_params,
                           .latent_dimension = shape->latent_dim,
                           .expected_parameters = assay_reading_missing(ASSAY_NOT_MEASURED),
                           .inference_flops_per_step = assay_reading_missing(ASSAY_NOT_MEASURED)};
    switch (complexity->kind) {
    case ASSAY_RUNTIME_MVAR:
        return mvar_complexity(shape, complexity);
    case ASSAY_RUNTIME_LSTM:
        return lstm_complexity(shape, complexity);
    case ASSAY_RUNTIME_OTHER:
        return ASSAY_OK;
    }
    return ASSAY_E_ARGUMENT;
}
