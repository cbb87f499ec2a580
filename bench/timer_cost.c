/* The cost of one use of each ready-made measuring call, in addition to the code that it measures,
 * in microseconds.
 *
 * The timing utilities from which these calls descend promise about 1 ms per timer; the bar is a
 * hundredth of that. Printing is off, because a line costs what the stream costs. The median of
 * many rounds is shown. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <assay/assay.h>
#include <assay/performance.h>
#include <assay/timers.h>
#include <assay/training.h>

enum { CALLS = 200, ROUNDS = 101 };

#define BAR_US 10.0 /* ten times that with two readings of the kernel's peak */

typedef struct fixture {
    assay_timers *timers;
    assay_epoch_monitor *epochs;
} fixture;

static void *nothing(void *argument)
{
    return argument;
}

static void track_time(fixture *f)
{
    assay_track_time(f->timers, "MLP", nothing, NULL);
}

static void track_block(fixture *f)
{
    ASSAY_TRACK_TIME(f->timers, "SIREN") {
        nothing(NULL);
    }
}

static void track_memory(fixture *f)
{
    assay_track_time_and_memory(f->timers, "KAN", nothing, NULL);
}

static void track_performance(fixture *f)
{
    (void)f;
    ASSAY_TRACK_PERFORMANCE("block", NULL) {
        nothing(NULL);
    }
}

static void batch(fixture *f)
{
    assay_epoch_monitor_on_batch_start(f->epochs, 0);
    assay_epoch_monitor_on_batch_end(f->epochs, 0, NAN);
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median_us(fixture *f, void (*call)(fixture *))
{
    double rounds[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t start = assay_clock_now_ns(assay_clock_default());
        for (int k = 0; k < CALLS; k++)
            call(f);
        rounds[i] = (double)(assay_clock_now_ns(assay_clock_default()) - start) * 1e-3 / CALLS;
    }
    qsort(rounds, ROUNDS, sizeof *rounds, ascending);
    return rounds[ROUNDS / 2];
}

int main(void)
{
    static const struct {
        const char *name;
        void (*call)(fixture *);
        double bar_us;
    } subjects[] = {{"timer: assay_track_time", track_time, BAR_US},
                    {"timer: ASSAY_TRACK_TIME block", track_block, BAR_US},
                    {"timer: ASSAY_TRACK_PERFORMANCE, resident memory", track_performance, BAR_US},
                    {"timer: epoch monitor, one batch", batch, BAR_US},
                    {"timer: assay_track_time_and_memory", track_memory, 10.0 * BAR_US}};
    fixture f = {NULL, NULL};
    int missed = 0;
    if (assay_timers_new(NULL, &f.timers) != ASSAY_OK ||
        assay_epoch_monitor_new(NULL, &f.epochs) != ASSAY_OK)
        return 1;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        double cost = median_us(&f, subjects[i].call);
        bool ok = cost <= subjects[i].bar_us;
        missed += !ok;
        printf("{\"name\": \"%s\", \"value\": %.3f, \"unit\": \"us\", \"bar\": %g, \"ok\": %s}\n",
               subjects[i].name, cost, subjects[i].bar_us, ok ? "true" : "false");
    }
    assay_epoch_monitor_free(f.epochs);
    assay_timers_free(f.timers);
    return missed > 0;
}
