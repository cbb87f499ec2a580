/* Three ways to find out what to improve: shares of the total, spread between batches, and the best
 * of several configurations.
 *
 *     cc bottleneck.c $(pkg-config --cflags --libs assay) -lm -o bottleneck && ./bottleneck */
#include <math.h>
#include <stdlib.h>

#include <assay/assay.h>
#include <assay/timers.h>
#include <assay/training.h>

enum { VALUES = 1 << 18 };

static double values[VALUES];

static void fill(int count)
{
    for (int i = 0; i < count; i++)
        values[i] = sin(i * 0.001) + cos(i * 0.37);
}

static double transform(int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++)
        sum += values[i] * values[i];
    return sum;
}

/* Strategy 1: find operations that take more than their share. The table of rules contains the
 * advice. */
static double compare_operations(void)
{
    assay_monitor *monitor = NULL;
    if (assay_monitor_new(NULL, &monitor) != ASSAY_OK)
        return 0.0;
    double result = 0.0;
    ASSAY_METRIC(monitor, "data_loading") {
        fill(VALUES);
    }
    ASSAY_METRIC(monitor, "model_forward") {
        result = transform(VALUES);
    }
    assay_monitor_print_summary(monitor, stdout, ASSAY_SHOW_BOTTLENECKS);
    assay_monitor_free(monitor);
    return result;
}

/* Strategy 2: find out whether all batches are alike. Here every tenth batch is three times as
 * large. */
static double compare_batches(void)
{
    assay_epoch_monitor *monitor = NULL;
    if (assay_epoch_monitor_new(NULL, &monitor) != ASSAY_OK)
        return 0.0;
    double result = 0.0;
    assay_epoch_monitor_on_epoch_start(monitor);
    for (uint64_t i = 0; i < 50; i++) {
        assay_epoch_monitor_on_batch_start(monitor, i);
        int size = i % 10 == 9 ? 30000 : 10000;
        fill(size);
        result += transform(size);
        assay_epoch_monitor_on_batch_end(monitor, i, NAN);
    }
    assay_epoch_monitor_on_epoch_end(monitor);
    assay_epoch_statistics statistics = assay_epoch_monitor_get_statistics(monitor);
    assay_finding *findings = NULL;
    size_t count = 0;
    printf("\nAverage batch time: %.6fs\n", statistics.avg_batch_time.value);
    if (assay_bottlenecks_find_in_epochs(&statistics, &findings, &count) == ASSAY_OK)
        assay_findings_print(findings, count, stdout, ASSAY_SHOW_REMEDIES);
    free(findings);
    assay_epoch_monitor_free(monitor);
    return result;
}

/* Strategy 3: find the batch size that processes the data fastest. */
static double compare_configurations(void)
{
    static const char *const names[] = {"64", "1024", "16384"};
    assay_timers *timers = NULL;
    if (assay_timers_new(NULL, &timers) != ASSAY_OK)
        return 0.0;
    double result = 0.0;
    for (int i = 0; i < 3; i++) {
        ASSAY_TRACK_TIME(timers, names[i]) {
            int size = atoi(names[i]);
            for (int done = 0; done < VALUES; done += size) {
                fill(size);
                result += transform(size);
            }
        }
    }
    printf("\n");
    assay_timers_print_best(timers, stdout, "batch size");
    assay_print_speedup_analysis(timers, stdout, NULL, NULL);
    assay_timers_free(timers);
    return result;
}

int main(void)
{
    double checksum = compare_operations() + compare_batches() + compare_configurations();
    printf("\nchecksum %.3f\n", checksum);
    return 0;
}
