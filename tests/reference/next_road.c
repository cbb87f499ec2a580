/* The model as its formula reads, one candidate at a time, in double. */
#include <math.h>
#include <stdlib.h>

#include "tests/reference/reference.h"

typedef struct reference {
    const assay__next_road_shape *shape;
    const double *road, *destination, *input, *recurrent, *input_bias, *recurrent_bias;
    const double *score, *score_bias, *out;
    double *state, *next; /* (hidden) */
} reference;

static void bind(reference *self, const assay__next_road_shape *s, const double *parameters)
{
    int64_t columns = s->hidden + 2 * s->embedding + ASSAY__ROAD_FEATURES;
    self->shape = s;
    self->road = parameters;
    self->destination = self->road + s->roads * s->embedding;
    self->input = self->destination + s->roads * s->embedding;
    self->recurrent = self->input + 3 * s->hidden * s->embedding;
    self->input_bias = self->recurrent + 3 * s->hidden * s->hidden;
    self->recurrent_bias = self->input_bias + 3 * s->hidden;
    self->score = self->recurrent_bias + 3 * s->hidden;
    self->score_bias = self->score + s->scorer * columns;
    self->out = self->score_bias + s->scorer;
}

static double dot(int64_t count, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static void step(reference *self, int64_t road)
{
    const assay__next_road_shape *s = self->shape;
    const double *x = self->road + road * s->embedding;
    for (int64_t j = 0; j < s->hidden; j++) {
        double in[3], rec[3];
        for (int64_t g = 0; g < 3; g++) {
            int64_t row = g * s->hidden + j;
            in[g] = self->input_bias[row] + dot(s->embedding, self->input + row * s->embedding, x);
            rec[g] = self->recurrent_bias[row] +
                     dot(s->hidden, self->recurrent + row * s->hidden, self->state);
        }
        double r = sigmoid(in[0] + rec[0]), z = sigmoid(in[1] + rec[1]);
        self->next[j] = (1 - z) * tanh(in[2] + r * rec[2]) + z * self->state[j];
    }
    double *swap = self->state;
    self->state = self->next;
    self->next = swap;
}

static double logit(const reference *self, int64_t choice, int64_t destination,
                    const float *features)
{
    const assay__next_road_shape *s = self->shape;
    int64_t E = s->embedding, columns = s->hidden + 2 * E + ASSAY__ROAD_FEATURES;
    double sum = 0;
    for (int64_t j = 0; j < s->scorer; j++) {
        const double *w = self->score + j * columns;
        double a = self->score_bias[j] + dot(s->hidden, w, self->state) +
                   dot(E, w + s->hidden, self->road + choice * E) +
                   dot(E, w + s->hidden + E, self->destination + destination * E);
        for (int64_t f = 0; f < ASSAY__ROAD_FEATURES; f++)
            a += w[s->hidden + 2 * E + f] * (double)features[f];
        sum += self->out[j] * fmax(a, 0);
    }
    return sum;
}

/* The candidates of one position; probability (candidates). */
static double judge(const reference *self, const assay__road_batch *batch, int64_t position,
                    double *probability)
{
    int64_t first = batch->first[position], end = batch->first[position + 1];
    int32_t destination = batch->destinations[position % batch->trajectories];
    double largest = -INFINITY, sum = 0, loss = 0;
    for (int64_t c = first; c < end; c++) {
        probability[c] =
            logit(self, batch->choices[c], destination, batch->features + c * ASSAY__ROAD_FEATURES);
        largest = fmax(largest, probability[c]);
    }
    for (int64_t c = first; c < end; c++)
        sum += exp(probability[c] - largest);
    for (int64_t c = first; c < end; c++) {
        double log_probability = probability[c] - largest - log(sum);
        loss -= (double)batch->targets[c] * log_probability;
        probability[c] = exp(log_probability);
    }
    return loss;
}

assay_status reference_next_road(const assay__next_road_shape *shape, const double *parameters,
                                 const assay__road_batch *batch, double *probability, double *loss)
{
    reference self = {0};
    bind(&self, shape, parameters);
    self.state = calloc((size_t)shape->hidden, sizeof(double));
    self.next = calloc((size_t)shape->hidden, sizeof(double));
    double *kept = calloc((size_t)batch->candidates + 1, sizeof(double));
    assay_status status =
        self.state == NULL || self.next == NULL || kept == NULL ? ASSAY_E_MEMORY : ASSAY_OK;
    double sum = 0;
    for (int64_t b = 0; status == ASSAY_OK && b < batch->trajectories; b++) {
        for (int64_t j = 0; j < shape->hidden; j++)
            self.state[j] = 0;
        for (int64_t t = 0; t < batch->time; t++) {
            int64_t position = t * batch->trajectories + b;
            if (batch->roads[position] >= 0) {
                step(&self, batch->roads[position]);
                sum += judge(&self, batch, position, probability != NULL ? probability : kept);
            }
        }
    }
    *loss = batch->decisions > 0 ? sum / (double)batch->decisions : 0;
    free(self.state);
    free(self.next);
    free(kept);
    return status;
}
