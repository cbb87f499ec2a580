/* Shows where the time and the memory of a program go: each step is measured once, then one table
 * is printed.
 *
 *     cc basic.c $(pkg-config --cflags --libs assay) -lm -o basic && ./basic */
#include <math.h>

#include <assay/assay.h>

enum { SAMPLES = 1 << 20 };

static double data[SAMPLES]; /* memory is assigned when it is first written */

static void load(void)
{
    unsigned state = 1;
    for (int i = 0; i < SAMPLES; i++) {
        state = state * 1664525u + 1013904223u;
        data[i] = state / 4294967296.0;
    }
}

static void preprocess(void)
{
    double mean = 0.0;
    for (int i = 0; i < SAMPLES; i++)
        mean += data[i] / SAMPLES;
    for (int i = 0; i < SAMPLES; i++)
        data[i] -= mean;
}

static double forward(void)
{
    double output = 0.0;
    for (int i = 0; i < SAMPLES; i++)
        output += tanh(3.0 * data[i]);
    return output;
}

int main(void)
{
    assay_monitor *monitor = NULL;
    if (assay_monitor_new(NULL, &monitor) != ASSAY_OK)
        return 1;
    double output = 0.0;

    ASSAY_METRIC(monitor, "data loading") {
        load();
    }
    ASSAY_METRIC(monitor, "preprocessing") {
        preprocess();
    }
    ASSAY_METRIC(monitor, "model forward") {
        output = forward();
    }

    printf("output %.3f\n\n", output);
    assay_monitor_print_summary(monitor, stdout, 0);
    assay_monitor_free(monitor);
    return 0;
}
