/* Measures an operation that runs thousands of times: it shows count, total, mean, min and max
 * instead of a line for each. A span costs two counter readings, so small operations may be tracked
 * too.
 *
 *     cc aggregated.c $(pkg-config --cflags --libs assay) -lm -o aggregated && ./aggregated */
#include <math.h>

#include <assay/assay.h>

enum { EPOCHS = 10, BATCHES = 150, BATCH = 512 };

static double weight = 0.1, gradient;

static double batch_forward(int batch)
{
    double loss = 0.0;
    gradient = 0.0;
    for (int i = 0; i < BATCH; i++) {
        double x = (double)(batch * BATCH + i) / (BATCHES * BATCH);
        double error = sin(weight * x) - sin(2.0 * x);
        loss += error * error / BATCH;
        gradient += 2.0 * error * cos(weight * x) * x / BATCH;
    }
    return loss;
}

static void batch_backward(void)
{
    weight -= 0.05 * gradient;
}

int main(void)
{
    assay_monitor *monitor = NULL;
    if (assay_monitor_new(NULL, &monitor) != ASSAY_OK)
        return 1;
    double loss = 0.0;
    for (int epoch = 0; epoch < EPOCHS; epoch++)
        for (int batch = 0; batch < BATCHES; batch++) {
            ASSAY_TRACK(monitor, "batch_forward") {
                loss = batch_forward(batch);
            }
            ASSAY_TRACK(monitor, "batch_backward") {
                batch_backward();
            }
        }
    printf("weight %.3f (wanted: 2), last loss %.2e\n\n", weight, loss);
    assay_monitor_print_summary(monitor, stdout, ASSAY_SHOW_AGGREGATE);
    assay_monitor_free(monitor);
    return 0;
}
