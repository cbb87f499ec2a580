/* The ready-made calls: timers, phases, inference, an epoch monitor, summaries and exports. Calls
 * that may not disturb the measured program keep their failure as a status, which the scenario
 * reads at the end. */
#include "tests/fault/fault.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "assay/assay.h"
#include "assay/bottleneck.h"
#include "assay/inference.h"
#include "assay/timers.h"
#include "assay/training.h"

static void keep_first(assay_status *status, assay_status next)
{
    if (*status == ASSAY_OK)
        *status = next;
}

static void *train(void *argument)
{
    return argument;
}

static assay_status infer(void *argument)
{
    (void)argument;
    return ASSAY_OK;
}

static assay_status timers_life(FILE *sink)
{
    assay_timers *timers = NULL;
    assay_error error = {0};
    int subject = 0;
    assay_status status = assay_timers_new(sink, &timers);
    if (status != ASSAY_OK)
        return status;
    if (assay_track_time(timers, "MLP training", train, &subject) != &subject ||
        assay_track_time_and_memory(timers, "KAN training", train, &subject) != &subject ||
        assay_track_time_and_gpu(timers, "SIREN training", train, &subject) != &subject)
        status = (assay_status)-1000; /* the measured program was disturbed */
    ASSAY_TRACK_TIME_AND_MEMORY(timers, "a block") {
        subject++;
    }
    keep_first(&status, assay_timers_set_metric(timers, "a block", "peak_memory_bytes",
                                                assay_reading_of(2)));
    for (int i = 0; i < 20; i++) { /* past the first growth */
        char name[32];
        snprintf(name, sizeof name, "model %d", i);
        keep_first(&status, assay_timers_set(timers, name, 1.0 + i));
    }
    keep_first(&status, assay_timers_status(timers));
    keep_first(&status, assay_print_timing_summary(timers, sink, "Section 1.1", 9));
    keep_first(&status, assay_print_speedup_analysis(timers, sink, NULL, &error));
    keep_first(&status, assay_timers_print_best(timers, sink, "batch size"));
    keep_first(&status, assay_export_timing_csv(timers, "timing.csv", "Section 1.1", &error));
    keep_first(&status, assay_export_timing_json(timers, "timing.json", "Section 1.1", &error));
    assay_timers_free(timers);
    return status;
}

static assay_status phases_life(FILE *sink)
{
    assay_phase_timer *timer = NULL;
    assay_timing timing;
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    assay_status status = assay_phase_timer_new("Training", NULL, &timer);
    if (status != ASSAY_OK)
        return status;
    keep_first(&status, assay_phase_timer_start_phase(timer, "forward"));
    keep_first(&status, assay_phase_timer_start_phase(timer, "backward"));
    keep_first(&status, assay_phase_timer_end_phase(timer));
    keep_first(&status, assay_phase_timer_print_breakdown(timer, sink));
    assay_phase_timer_free(timer);
    options.num_iterations = 5;
    keep_first(&status, assay_benchmark_inference(infer, NULL, &options, NULL, &timing));
    if (status == ASSAY_OK)
        status = assay_print_inference_benchmark(&timing, 1, sink, "MLP");
    return status;
}

static assay_status epochs_life(FILE *sink)
{
    assay_epoch_monitor *epochs = NULL;
    assay_epoch_monitor_options options = ASSAY_EPOCH_MONITOR_OPTIONS_INIT;
    assay_finding *findings = NULL;
    size_t count = 0;
    options.output = sink;
    assay_status status = assay_epoch_monitor_new(&options, &epochs);
    if (status != ASSAY_OK)
        return status;
    for (int epoch = 0; epoch < 2; epoch++) {
        assay_epoch_monitor_on_epoch_start(epochs);
        for (uint64_t batch = 0; batch < 3; batch++) {
            assay_epoch_monitor_on_batch_start(epochs, batch);
            assay_epoch_monitor_on_batch_end(epochs, batch, 0.5);
        }
        assay_epoch_monitor_on_epoch_end(epochs);
    }
    assay_epoch_statistics statistics = assay_epoch_monitor_get_statistics(epochs);
    keep_first(&status, assay_epoch_monitor_status(epochs));
    keep_first(&status, assay_bottlenecks_find_in_epochs(&statistics, &findings, &count));
    keep_first(&status, assay_findings_print(findings, count, sink, ASSAY_SHOW_REMEDIES));
    free(findings);
    keep_first(&status, assay_monitor_print_summary(assay_epoch_monitor_spans(epochs), sink,
                                                    ASSAY_SHOW_AGGREGATE | ASSAY_SHOW_BOTTLENECKS));
    assay_epoch_monitor_free(epochs);
    return status;
}

static assay_status run(void)
{
    FILE *sink = fopen("/dev/null", "w");
    if (sink == NULL)
        return ASSAY_E_MEMORY;
    assay_status status = timers_life(sink);
    keep_first(&status, phases_life(sink));
    keep_first(&status, epochs_life(sink));
    fclose(sink);
    return status;
}

const fault_scenario fault_facade = {"facade", run, NULL};
