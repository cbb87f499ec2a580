/* How far are the quantiles of a record from the exact ones? The durations take the whole path:
 * span, journal, snapshot, record. They come from a clock that is set by this program. The exact
 * quantile is the smallest duration such that at least this share of all durations is not larger.
 */
#include <assay/assay.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SPANS = 200000 };

static const struct {
    double share;
    size_t offset; /* offset of the reading in assay_record_operation */
} quantiles[] = {
    {0.5, offsetof(assay_record_operation, p50_seconds)},
    {0.95, offsetof(assay_record_operation, p95_seconds)},
    {0.99, offsetof(assay_record_operation, p99_seconds)},
    {0.999, offsetof(assay_record_operation, p999_seconds)},
};

static uint64_t now_ns;

static uint64_t hand_moved(void *context)
{
    (void)context;
    return now_ns;
}

static double uniform_0_1(void)
{
    return (rand() + 0.5) / (RAND_MAX + 1.0);
}

static double normal(void)
{
    return sqrt(-2 * log(uniform_0_1())) * cos(2 * 3.14159265358979323846 * uniform_0_1());
}

static double draw_uniform(void)
{
    return 1e3 + 1e6 * uniform_0_1();
}

static double draw_log_normal(void)
{
    return 5e4 * exp(normal());
}

static double draw_bimodal(void)
{
    return uniform_0_1() < 0.7 ? 1e4 + 500 * normal() : 5e6 + 1e5 * normal();
}

static double draw_constant(void)
{
    return 123457;
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The largest relative error over the quantiles, in per cent. */
static double worst_error(const assay_record_operation *operation, const double *sorted)
{
    double worst = 0;
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
        const void *field = (const char *)operation + quantiles[i].offset;
        const assay_reading *reading = field;
        double exact = sorted[(size_t)ceil(quantiles[i].share * SPANS) - 1] * 1e-9;
        double error = reading->validity == ASSAY_VALID ? fabs(reading->value / exact - 1) : 1;
        worst = fmax(worst, 100 * error);
    }
    return worst;
}

static int measure(const char *name, double (*draw)(void), const assay_clock *clock)
{
    static double durations[SPANS];
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    assay_monitor *monitor = NULL;
    assay_record *record = NULL;
    options.private_journal = true;
    options.clock = clock;
    if (assay_monitor_new(&options, &monitor) != ASSAY_OK)
        return 1;
    for (int i = 0; i < SPANS; i++) {
        durations[i] = fmax(1, floor(draw()));
        ASSAY_TRACK(monitor, "drawn") {
            now_ns += (uint64_t)durations[i];
        }
    }
    if (assay_monitor_record(monitor, NULL, &record) != ASSAY_OK || record->operation_count != 1)
        return 1;
    qsort(durations, SPANS, sizeof *durations, ascending);
    double error = worst_error(&record->operations[0], durations);
    printf("{\"name\": \"quantile error, %s\", \"value\": %.3f, \"unit\": \"%%\", \"bar\": 1, "
           "\"ok\": %s}\n",
           name, error, error <= 1 ? "true" : "false");
    assay_record_free(record);
    assay_monitor_free(monitor);
    return 0;
}

int main(void)
{
    assay_clock *clock = NULL;
    srand(42);
    if (assay_clock_new_injected(hand_moved, NULL, &clock) != ASSAY_OK)
        return 1;
    int failed =
        measure("uniform", draw_uniform, clock) || measure("log-normal", draw_log_normal, clock) ||
        measure("bimodal", draw_bimodal, clock) || measure("constant", draw_constant, clock);
    assay_clock_free(clock);
    return failed;
}
