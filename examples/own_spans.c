/* Spans with names that are made at run time, counters, and all figures of a monitor as one record.
 *
 *     cc own_spans.c $(pkg-config --cflags --libs assay) -lm -o own_spans
 *     ./own_spans            prints the call tree, the single spans and the counters
 *     ./own_spans --json     prints the record as JSON instead
 *     ./own_spans run.json   also saves the record; `assay report run.json` shows it again
 *
 * ASSAY_TRACK (basic.c, aggregated.c) is shorter if the name is a literal. */
#include <math.h>
#include <string.h>

#include <assay/assay.h>

enum { LAYERS = 4, WIDTH = 3000, PASSES = 60 };

static double state[WIDTH];

static void layer(int index)
{
    for (int i = 0; i < WIDTH * (index + 1); i++)
        state[i % WIDTH] = tanh(state[i % WIDTH] + 0.1 * index);
}

static void normalise(void)
{
    double largest = 1e-9;
    for (int i = 0; i < WIDTH; i++)
        largest = fmax(largest, fabs(state[i]));
    for (int i = 0; i < WIDTH; i++)
        state[i] /= largest;
}

static void pass(assay_monitor *monitor, int left)
{
    const assay_span whole = assay_monitor_begin(monitor, "pass");
    for (int i = 0; i < LAYERS; i++) {
        char name[32];
        snprintf(name, sizeof name, "layer %d", i);
        const assay_span span = assay_monitor_begin(monitor, name);
        layer(i);
        assay_span_end(span);
    }
    /* A duration that was measured in another way, by a device or here by hand, becomes a child of
     * the span that is open: "pass". */
    const uint64_t start = assay_clock_now_ns(assay_clock_default());
    normalise();
    assay_monitor_add(monitor, "normalise", assay_clock_now_ns(assay_clock_default()) - start);
    assay_span_end(whole);
    assay_monitor_count(monitor, "passes left", left); /* a value that changes over time */
}

static assay_status show(assay_monitor *monitor, const char *argument, assay_error *error)
{
    assay_record *record = NULL;
    assay_status status = assay_monitor_record(monitor, error, &record);
    if (status != ASSAY_OK)
        return status;
    if (argument != NULL && strcmp(argument, "--json") == 0)
        status = assay_record_print(record, stdout, 0, error);
    else
        status = assay_report_print(record, "journal", stdout, error);
    if (status == ASSAY_OK && argument != NULL && strcmp(argument, "--json") != 0)
        status = assay_record_save(record, argument, 0, error);
    assay_record_free(record);
    return status;
}

int main(int count, char **arguments)
{
    assay_error error;
    assay_monitor *monitor = NULL;
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.name = "own spans";
    options.memory = ASSAY_MEMORY_RSS;
    assay_status status = assay_monitor_open(&options, &error, &monitor);
    if (status != ASSAY_OK) {
        fprintf(stderr, "%s: %s\n", assay_status_name(status), error.message);
        return 1;
    }
    const char *argument = count > 1 ? arguments[1] : NULL;

    pass(monitor, PASSES); /* warm-up; cleared below */
    assay_monitor_clear(monitor);

    /* This span is recorded individually, with its memory. Its time is available at once. */
    const assay_span first = assay_monitor_begin_metric(monitor, "first pass");
    pass(monitor, PASSES - 1);
    const uint64_t first_ns = assay_span_end_ns(first);
    for (int left = PASSES - 2; left >= 0; left--)
        pass(monitor, left);

    if (argument == NULL || strcmp(argument, "--json") != 0) {
        const assay_reading total = assay_monitor_total_seconds(monitor);
        const assay_reading passes = assay_monitor_operation_seconds(monitor, "pass");
        const assay_reading slowest = assay_monitor_operation_seconds(monitor, "layer 3");
        printf("enabled: %s\n", assay_monitor_enabled(monitor) ? "yes" : "no");
        printf("first pass: %.6f s\n", (double)first_ns / 1e9);
        printf("all passes: %.6f s of %.6f s\n", passes.value, total.value);
        printf("layer 3: %.6f s\n\n", slowest.value);
    }
    status = show(monitor, argument, &error);
    if (status != ASSAY_OK)
        fprintf(stderr, "%s: %s\n", assay_status_name(status), error.message);
    assay_monitor_free(monitor);
    return status == ASSAY_OK ? 0 : 1;
}
