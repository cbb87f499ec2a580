/* Trains a small neural network under an epoch monitor.
 *
 * A perceptron with one hidden layer of tanh units learns f(x, y) = sin(pi x) cos(pi y) on [-1,
 * 1]^2 by stochastic gradient descent with momentum; forward, backward and the update are written
 * out. The monitor prints the first batches and the end of each epoch. Forward, backward and update
 * are spans inside its batches, so the summary shows where the time went.
 *
 *     cc training_loop.c $(pkg-config --cflags --libs assay) -lm -o training_loop
 *     ./training_loop */
#include <math.h>
#include <stdlib.h>

#include <assay/assay.h>
#include <assay/training.h>

enum { INPUTS = 2, HIDDEN = 64, BATCH = 4096, BATCHES = 30, EPOCHS = 5 };

typedef struct parameters {
    double hidden[HIDDEN][INPUTS + 1]; /* weights and bias of each hidden unit */
    double output[HIDDEN + 1];         /* weights and bias of the output */
} parameters;

typedef struct network {
    parameters weights, gradients, momentum;
    double inputs[BATCH][INPUTS], targets[BATCH];
    double activations[BATCH][HIDDEN], errors[BATCH];
    unsigned long random;
} network;

/* A uniform number in [-1, 1] from Knuth's MMIX generator, so that every run trains in the same
 * way. */
static double uniform(network *net)
{
    net->random = net->random * 6364136223846793005ul + 1442695040888963407ul;
    return (double)(net->random >> 11) / (double)(1ul << 52) - 1.0;
}

static void initialise(network *net)
{
    *net = (network){.random = 1};
    for (int h = 0; h < HIDDEN; h++) {
        for (int i = 0; i <= INPUTS; i++)
            net->weights.hidden[h][i] = 2.0 * uniform(net);
        net->weights.output[h] = uniform(net) / sqrt(HIDDEN);
    }
}

static void next_batch(network *net)
{
    const double pi = 3.14159265358979323846;
    for (int b = 0; b < BATCH; b++) {
        double x = uniform(net), y = uniform(net);
        net->inputs[b][0] = x;
        net->inputs[b][1] = y;
        net->targets[b] = sin(pi * x) * cos(pi * y);
    }
}

/* Computes the outputs of the batch and returns their mean squared error. */
static double forward(network *net)
{
    const parameters *w = &net->weights;
    double loss = 0.0;
    for (int b = 0; b < BATCH; b++) {
        double prediction = w->output[HIDDEN];
        for (int h = 0; h < HIDDEN; h++) {
            double sum = w->hidden[h][INPUTS];
            for (int i = 0; i < INPUTS; i++)
                sum += w->hidden[h][i] * net->inputs[b][i];
            net->activations[b][h] = tanh(sum);
            prediction += w->output[h] * net->activations[b][h];
        }
        net->errors[b] = prediction - net->targets[b];
        loss += net->errors[b] * net->errors[b] / BATCH;
    }
    return loss;
}

static void backward(network *net)
{
    parameters *g = &net->gradients;
    *g = (parameters){0};
    for (int b = 0; b < BATCH; b++) {
        double slope = 2.0 * net->errors[b] / BATCH;
        g->output[HIDDEN] += slope;
        for (int h = 0; h < HIDDEN; h++) {
            double activation = net->activations[b][h];
            double back = slope * net->weights.output[h] * (1.0 - activation * activation);
            g->output[h] += slope * activation;
            for (int i = 0; i < INPUTS; i++)
                g->hidden[h][i] += back * net->inputs[b][i];
            g->hidden[h][INPUTS] += back;
        }
    }
}

static void update_one(double *weight, double *momentum, double gradient)
{
    *momentum = 0.9 * *momentum - 0.05 * gradient;
    *weight += *momentum;
}

static void update(network *net)
{
    for (int h = 0; h < HIDDEN; h++) {
        for (int i = 0; i <= INPUTS; i++)
            update_one(&net->weights.hidden[h][i], &net->momentum.hidden[h][i],
                       net->gradients.hidden[h][i]);
        update_one(&net->weights.output[h], &net->momentum.output[h], net->gradients.output[h]);
    }
    update_one(&net->weights.output[HIDDEN], &net->momentum.output[HIDDEN],
               net->gradients.output[HIDDEN]);
}

static double train_batch(network *net, assay_monitor *spans)
{
    double loss = 0.0;
    ASSAY_TRACK(spans, "data_loading") {
        next_batch(net);
    }
    ASSAY_TRACK(spans, "forward") {
        loss = forward(net);
    }
    ASSAY_TRACK(spans, "backward") {
        backward(net);
    }
    ASSAY_TRACK(spans, "update") {
        update(net);
    }
    return loss;
}

static void train(network *net, assay_epoch_monitor *monitor)
{
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        double mean_loss = 0.0;
        printf("Epoch %d\n", epoch + 1);
        assay_epoch_monitor_on_epoch_start(monitor);
        for (uint64_t batch = 0; batch < BATCHES; batch++) {
            assay_epoch_monitor_on_batch_start(monitor, batch);
            double loss = train_batch(net, assay_epoch_monitor_spans(monitor));
            assay_epoch_monitor_on_batch_end(monitor, batch, loss);
            mean_loss += loss / BATCHES;
        }
        assay_epoch_monitor_on_epoch_end(monitor);
        printf("  mean loss %.6f\n", mean_loss);
    }
}

int main(void)
{
    assay_epoch_monitor_options options = ASSAY_EPOCH_MONITOR_OPTIONS_INIT;
    options.output = stdout;
    options.verbose_batches = 2;
    assay_epoch_monitor *monitor = NULL;
    network *net = malloc(sizeof *net);
    if (net == NULL || assay_epoch_monitor_new(&options, &monitor) != ASSAY_OK) {
        free(net);
        return 1;
    }
    initialise(net);
    train(net, monitor);
    printf("\n");
    assay_monitor_print_summary(assay_epoch_monitor_spans(monitor), stdout,
                                ASSAY_SHOW_AGGREGATE | ASSAY_SHOW_BOTTLENECKS);
    /* The calls of the loop return nothing; the monitor keeps the first failure. */
    const assay_status status = assay_epoch_monitor_status(monitor);
    if (status != ASSAY_OK)
        fprintf(stderr, "training loop: %s\n", assay_status_message(status));
    assay_epoch_monitor_free(monitor);
    free(net);
    return status == ASSAY_OK ? 0 : 1;
}
