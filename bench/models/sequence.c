/* MVAR and LSTM beside NumPy and PyTorch, with one thread each: the shapes that have bars, and a
 * few other shapes at which nothing may be slower. */
#include <string.h>

#include "base/random.h"
#include "bench/models/peer.h"
#include "models/sequence/lstm.h"
#include "models/sequence/mvar.h"

enum { D = 20, HIDDEN = 64, ORDER = 5, STEPS = 5000 };

typedef struct lstm_case {
    assay__lstm *model;
    int64_t batch, time, steps;
    float *x, *target, *stream;
} lstm_case;

typedef struct mvar_case {
    assay__mvar *model;
    assay__mvar_method method;
    double *series, forecast[100 * D];
} mvar_case;

static void check(assay_status status)
{
    if (status != ASSAY_OK) {
        fprintf(stderr, "sequence: %s\n", assay_status_message(status));
        exit(1);
    }
}

static float *normal_floats(int64_t count)
{
    assay__random random;
    assay__random_init(&random, 1);
    float *values = calloc((size_t)count, sizeof *values);
    check(values == NULL ? ASSAY_E_MEMORY : ASSAY_OK);
    for (int64_t i = 0; i < count; i++)
        values[i] = (float)assay__random_normal(&random);
    return values;
}

static void one_step(void *context)
{
    lstm_case *c = context;
    float y[D];
    assay__lstm_step(c->model, c->stream, c->x, y);
}

static void forward(void *context)
{
    lstm_case *c = context;
    const float *y;
    check(assay__lstm_forward(c->model, c->batch, c->time, c->x, &y));
}

static void forecast(void *context)
{
    lstm_case *c = context;
    const float *y;
    check(assay__lstm_forecast(c->model, c->batch, c->time, c->x, c->steps, &y));
}

static void train(void *context)
{
    lstm_case *c = context;
    double loss;
    check(assay__lstm_gradient(c->model, c->batch, c->time, c->x, c->target, &loss));
    check(assay__lstm_update(c->model, 1e-3, NULL));
}

static void compare_lstm(peer_server *server, const char *name, const char *task, double bar,
                         peer_subject subject, const assay__lstm_shape *shape, int64_t batch,
                         int64_t time, int64_t steps)
{
    lstm_case c = {.batch = batch, .time = time, .steps = steps};
    check(assay__lstm_new(shape, 1, NULL, &c.model));
    check(assay__lstm_pack(c.model));
    c.x = normal_floats(batch * time * shape->input);
    c.target = normal_floats(batch * shape->output);
    size_t bytes = assay__lstm_stream_floats(c.model) * sizeof *c.stream;
    c.stream = aligned_alloc(64, bytes);
    check(c.stream == NULL ? ASSAY_E_MEMORY : ASSAY_OK);
    memset(c.stream, 0, bytes);
    peer_compare(server, name, "PyTorch", task, bar, subject, &c);
    free(c.x);
    free(c.target);
    free(c.stream);
    assay__lstm_free(c.model);
}

static void compare_lstms(peer_server *server)
{
    const assay__lstm_shape one = {D, HIDDEN, 1, D, 0, 0}, two = {D, HIDDEN, 2, D, 0, 0};
    const assay__lstm_shape large = {64, 256, 1, 64, 0, 0};
    compare_lstm(server, "LSTM one step (hidden 64, d 20)", "step", 25, one_step, &one, 1, 1, 1);
    compare_lstm(server, "LSTM 100-step forecast", "forecast", 25, forecast, &one, 1, 20, 100);
    compare_lstm(server, "LSTM training step (batch 32, seq 20)", "train", 4, train, &one, 32, 20,
                 1);
    compare_lstm(server, "LSTM one step, 2 layers", "step-2", 1.05, one_step, &two, 1, 1, 1);
    compare_lstm(server, "LSTM forward (batch 1, seq 1)", "forward-1", 1.05, forward, &one, 1, 1,
                 1);
    compare_lstm(server, "LSTM forward (batch 32, seq 20)", "forward", 1.05, forward, &one, 32, 20,
                 1);
    compare_lstm(server, "LSTM 100-step forecast (batch 32)", "forecast-32", 1.05, forecast, &one,
                 32, 20, 100);
    compare_lstm(server, "LSTM training step, 2 layers", "train-2", 1.05, train, &two, 32, 20, 1);
    compare_lstm(server, "LSTM training step (batch 1)", "train-1", 1.05, train, &one, 1, 20, 1);
    compare_lstm(server, "LSTM training step (hidden 256, batch 64)", "train-large", 1.05, train,
                 &large, 64, 20, 1);
}

static void fit(void *context)
{
    mvar_case *c = context;
    check(assay__mvar_fit(c->model, 1, STEPS, c->series, 0, c->method, NULL));
}

static void mvar_forecast(void *context)
{
    mvar_case *c = context;
    assay__mvar_forecast(c->model, 1, STEPS, c->series, 100, c->forecast);
}

static void compare_mvars(peer_server *server)
{
    mvar_case *c = calloc(1, sizeof *c);
    check(c == NULL ? ASSAY_E_MEMORY : ASSAY_OK);
    check(assay__mvar_new(&(assay__mvar_shape){D, ORDER}, 1, NULL, &c->model));
    c->series = calloc(STEPS * D, sizeof *c->series);
    check(c->series == NULL ? ASSAY_E_MEMORY : ASSAY_OK);
    assay__random random;
    assay__random_init(&random, 1);
    for (int i = 0; i < STEPS * D; i++)
        c->series[i] = assay__random_normal(&random) + (i < D ? 0 : 0.5 * c->series[i - D]);
    c->method = ASSAY__MVAR_NORMAL;
    peer_compare(server, "MVAR fit (N 5000, d 20, p 5)", "NumPy normal equations", "mvar-normal", 2,
                 fit, c);
    peer_compare(server, "MVAR fit, against an SVD", "NumPy lstsq", "mvar-lstsq", 8, fit, c);
    c->method = ASSAY__MVAR_QR;
    peer_compare(server, "MVAR fit by QR", "NumPy lstsq", "mvar-lstsq", 1.05, fit, c);
    peer_compare(server, "MVAR 100-step forecast", "NumPy", "mvar-forecast", 1.05, mvar_forecast,
                 c);
    assay__mvar_free(c->model);
    free(c->series);
    free(c);
}

int main(void)
{
    peer_server server;
    peer_start(&server, "sequence.py");
    compare_lstms(&server);
    compare_mvars(&server);
    return peer_stop(&server);
}
