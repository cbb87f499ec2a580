/* Measures a whole function by one line at its top: every return prints the time and memory of the
 * call.
 *
 * ASSAY_SCOPE does the same into a monitor without printing, for functions that are called often.
 *
 *     cc function_scope.c $(pkg-config --cflags --libs assay) -lm -o function_scope
 *     ./function_scope */
#include <stdlib.h>

#include <assay/assay.h>
#include <assay/performance.h>

enum { ROWS = 300 };

static double process_batch(const double *batch, double *result)
{
    ASSAY_MONITOR_PERFORMANCE("data processing", stdout);
    double trace = 0.0;
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < ROWS; k++) {
            double sum = 0.0;
            for (int j = 0; j < ROWS; j++)
                sum += batch[i * ROWS + j] * batch[k * ROWS + j];
            result[i * ROWS + k] = sum;
            trace += i == k ? sum : 0.0;
        }
    return trace;
}

static double mean(assay_monitor *monitor, const double *values, int count)
{
    ASSAY_SCOPE(monitor, "mean");
    double sum = 0.0;
    for (int i = 0; i < count; i++)
        sum += values[i];
    return sum / count;
}

int main(void)
{
    static double batch[ROWS * ROWS], result[ROWS * ROWS];
    assay_monitor *monitor = NULL;
    if (assay_monitor_new(NULL, &monitor) != ASSAY_OK)
        return 1;
    for (int i = 0; i < ROWS * ROWS; i++)
        batch[i] = (i * 7919 % 1000) / 1000.0;

    printf("trace %.1f\n", process_batch(batch, result));
    double means = 0.0;
    for (int i = 0; i < ROWS; i++)
        means += mean(monitor, result + i * ROWS, ROWS) / ROWS;
    printf("mean %.3f\n\n", means);

    assay_monitor_print_summary(monitor, stdout, ASSAY_SHOW_AGGREGATE);
    assay_monitor_free(monitor);
    return 0;
}
