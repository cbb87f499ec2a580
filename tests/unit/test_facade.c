/* The ready-made calls: what they return, enter, print, and do when called out of order. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assay/assay.h"
#include "golden.h"

static uint64_t test_now_ns;

static uint64_t test_clock_source(void *context)
{
    (void)context;
    return test_now_ns;
}

static assay_clock *test_clock(void)
{
    assay_clock *clock = NULL;
    test_now_ns = 1000000000;
    assert_int_equal(assay_clock_new_injected(test_clock_source, NULL, &clock), ASSAY_OK);
    return clock;
}

static void pass_ms(double milliseconds)
{
    test_now_ns += (uint64_t)(milliseconds * 1e6);
}

static void assert_reads(assay_reading reading, double expected)
{
    assert_int_equal(reading.validity, ASSAY_VALID);
    if (fabs(reading.value - expected) > 1e-9)
        fail_msg("%.17g is not %.17g", reading.value, expected);
}

static void busy_ns(uint64_t duration_ns)
{
    const assay_clock *clock = assay_clock_default();
    uint64_t start = assay_clock_now_ns(clock);
    while (assay_clock_now_ns(clock) - start < duration_ns) {
    }
}

static void *busy_and_return(void *argument)
{
    busy_ns(10000000);
    return argument;
}

static assay_timers *new_timers(FILE *progress)
{
    assay_timers *timers = NULL;
    assert_int_equal(assay_timers_new(progress, &timers), ASSAY_OK);
    return timers;
}

/* The lines hold real times; check their shape and let the shape hold the numbers. */
static char *digits_as_hashes(char *text)
{
    for (char *at = text; *at != '\0'; at++)
        if (*at >= '0' && *at <= '9')
            *at = '#';
    return text;
}

static void check_shape(golden_text *text, const char *expected)
{
    fclose(text->stream);
    assert_string_equal(digits_as_hashes(text->text), expected);
    free(text->text);
}

static void test_track_time_returns_enters_and_prints(void **state)
{
    (void)state;
    golden_text text;
    int subject = 0;
    assay_timers *timers = new_timers(golden_open(&text));
    assert_ptr_equal(assay_track_time(timers, "MLP training", busy_and_return, &subject), &subject);
    assay_reading time = assay_timers_get(timers, "MLP training");
    assert_int_equal(time.validity, ASSAY_VALID);
    assert_true(time.value >= 0.01);
    assert_int_equal(assay_timers_at(timers, 0).metric_count, 0);
    assert_int_equal(assay_timers_status(timers), ASSAY_OK);
    assay_timers_free(timers);
    check_shape(&text, "MLP training complete: #.##s total\n");
}

static void test_tracking_is_silent_when_told(void **state)
{
    (void)state;
    int subject = 0;
    assay_timers *timers = new_timers(NULL);
    assert_ptr_equal(assay_track_time(timers, "quiet", busy_and_return, &subject), &subject);
    assert_int_equal(assay_timers_status(timers), ASSAY_OK);
    assay_timers_free(timers);
    assert_ptr_equal(assay_track_time(NULL, "nothing", busy_and_return, &subject), &subject);
    ASSAY_TRACK_TIME(NULL, "nothing") {
        subject++;
    }
    assert_int_equal(subject, 1);
}

static int return_from_block(assay_timers *timers)
{
    ASSAY_TRACK_TIME(timers, "outer") {
        ASSAY_TRACK_TIME(timers, "inner") {
            busy_ns(1000000);
            return 7;
        }
    }
    return 0;
}

static void test_blocks_nest_and_survive_return(void **state)
{
    (void)state;
    assay_timers *timers = new_timers(NULL);
    assert_int_equal(return_from_block(timers), 7);
    assert_int_equal(assay_timers_count(timers), 2);
    assert_string_equal(assay_timers_at(timers, 0).name, "outer");
    assert_int_equal(assay_timers_at(timers, 1).parent, 0);
    assay_reading outer = assay_timers_get(timers, "outer");
    assay_reading inner = assay_timers_get(timers, "inner");
    assert_true(outer.value >= inner.value && inner.value >= 0.001);
    if (assay_timers_total(timers) != outer.value)
        fail_msg("the inner time was added again");
    int times = 0;
    ASSAY_TRACK_TIME(timers, "left by break") {
        times++;
        break;
    }
    assert_int_equal(times, 1);
    assert_int_equal(assay_timers_at(timers, 2).parent, -1);
    assay_timers_free(timers);
}

static void *touch_memory(void *argument)
{
    size_t size = *(size_t *)argument;
    volatile char *block = malloc(size);
    assert_non_null(block);
    for (size_t i = 0; i < size; i += 1024)
        block[i] = 1;
    free((void *)block);
    return NULL;
}

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
enum { FREED_MEMORY_IS_GIVEN_BACK = 0 }; /* the sanitizer keeps it in quarantine */
#else
enum { FREED_MEMORY_IS_GIVEN_BACK = 1 };
#endif

static void test_track_time_and_memory(void **state)
{
    (void)state;
    golden_text text;
    size_t size = (size_t)64 << 20;
    assay_timers *timers = new_timers(golden_open(&text));
    assay_memory_source source = assay_enable_memory_tracking(timers);
    assert_int_not_equal(source, ASSAY_MEMORY_SOURCE_NONE);
    assay_track_time_and_memory(timers, "Model", touch_memory, &size);
    assay_reading peak = assay_timers_get_metric(timers, "Model", "peak_memory_mb");
    assay_reading current = assay_timers_get_metric(timers, "Model", "current_memory_mb");
    assert_int_equal(peak.validity, ASSAY_VALID);
    assert_int_equal(current.validity, ASSAY_VALID);
    assert_true(peak.value >= 60.0); /* 64 MB were touched */
    if (FREED_MEMORY_IS_GIVEN_BACK)
        assert_true(current.value < peak.value - 32.0);
    if (source == ASSAY_MEMORY_SOURCE_HEAP)
        assert_true(peak.value < 66.0);
    assert_int_equal(assay_timers_at(timers, 0).metric_count, 2);
    assay_timers_free(timers);
    fclose(text.stream);
    assert_non_null(strstr(text.text, "Model complete: "));
    assert_non_null(strstr(text.text, "s, peak memory: "));
    assert_non_null(strstr(text.text, " MB\n"));
    free(text.text);
}

static void test_track_time_and_gpu_falls_back(void **state)
{
    (void)state;
    golden_text text;
    assay_timers *timers = new_timers(golden_open(&text));
    assay_track_time_and_gpu(timers, "KAN training", busy_and_return, NULL);
    assert_true(assay_timers_get(timers, "KAN training").value >= 0.01);
    const char *keys[] = {"allocated_mb", "reserved_mb", "max_allocated_mb"};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(assay_timers_get_metric(timers, "KAN training", keys[i]).validity,
                         ASSAY_UNSUPPORTED);
    assert_int_equal(assay_get_gpu_memory_usage().allocated_mb.validity, ASSAY_UNSUPPORTED);
    assay_timers_free(timers);
    check_shape(&text, "KAN training complete: #.##s, GPU: not available\n");
}

static void test_failed_progress_is_kept(void **state)
{
    (void)state;
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL)
        skip();
    assay_timers *timers = new_timers(full);
    int subject = 0;
    assert_ptr_equal(assay_track_time(timers, "x", busy_and_return, &subject), &subject);
    assert_int_equal(assay_timers_status(timers), ASSAY_E_FULL);
    assert_int_equal(assay_timers_get(timers, "x").validity, ASSAY_VALID);
    assay_timers_free(timers);
    fclose(full);
}

static void test_phases_follow_each_other(void **state)
{
    (void)state;
    golden_text text;
    assay_phase_timer *timer = NULL;
    assay_clock *clock = test_clock();
    assert_int_equal(assay_phase_timer_new("Training", clock, &timer), ASSAY_OK);
    assert_int_equal(assay_phase_timer_end_phase(timer), ASSAY_E_STATE);
    assert_int_equal(assay_phase_timer_start_phase(timer, "data_loading"), ASSAY_OK);
    pass_ms(1760);
    assert_int_equal(assay_phase_timer_end_phase(timer), ASSAY_OK);
    pass_ms(5000); /* between phases */
    assert_int_equal(assay_phase_timer_start_phase(timer, "forward_pass"), ASSAY_OK);
    pass_ms(8000);
    assert_int_equal(assay_phase_timer_start_phase(timer, "backward_pass"), ASSAY_OK);
    pass_ms(12450);
    assert_int_equal(assay_phase_timer_start_phase(timer, "forward_pass"), ASSAY_OK);
    pass_ms(340);
    assert_int_equal(assay_phase_timer_end_phase(timer), ASSAY_OK);
    assert_int_equal(assay_phase_timer_end_phase(timer), ASSAY_E_STATE);
    FILE *stream = golden_open(&text);
    assert_int_equal(assay_phase_timer_print_breakdown(timer, stream), ASSAY_OK);
    golden_check(&text, "phase_breakdown");
    assert_reads(assay_timers_get(assay_phase_timer_timers(timer), "forward_pass"), 8.34);
    assay_phase_timer_free(timer);
    assay_phase_timer_free(NULL);
    assay_clock_free(clock);
}

typedef struct calls {
    int count;
    double milliseconds;
} calls;

static void infer(void *argument)
{
    calls *seen = argument;
    pass_ms(seen->milliseconds + (seen->count++ % 2 == 0 ? 0.0 : 1.0));
}

static void test_benchmark_inference(void **state)
{
    (void)state;
    assay_clock *clock = test_clock();
    assay_inference_stats stats;
    assay_inference_options options = ASSAY_INFERENCE_OPTIONS_INIT;
    options.clock = clock;
    calls seen = {.milliseconds = 2.0};
    assert_int_equal(assay_benchmark_inference(infer, &seen, &options, &stats), ASSAY_OK);
    assert_int_equal(seen.count, 110);
    assert_int_equal(stats.num_iterations, 100);
    assert_reads(assay_reading_of(stats.mean_ms), 2.5);
    assert_reads(assay_reading_of(stats.min_ms), 2.0);
    assert_reads(assay_reading_of(stats.max_ms), 3.0);
    assert_reads(stats.throughput_samples_per_sec, 400.0);
    options.no_warmup = true;
    options.num_iterations = 4;
    options.samples_per_call = 32;
    seen.count = 0;
    assert_int_equal(assay_benchmark_inference(infer, &seen, &options, &stats), ASSAY_OK);
    assert_int_equal(seen.count, 4);
    assert_reads(stats.throughput_samples_per_sec, 32.0 / 0.0025);
    options.struct_size = 3;
    assert_int_equal(assay_benchmark_inference(infer, &seen, &options, &stats), ASSAY_E_ARGUMENT);
    assay_clock_free(clock);
}

static int returns_early(FILE *stream)
{
    ASSAY_MONITOR_PERFORMANCE("data processing", stream);
    busy_ns(1000000);
    return 3;
}

static void test_one_shots_print(void **state)
{
    (void)state;
    golden_text text;
    FILE *stream = golden_open(&text);
    int subject = 0;
    ASSAY_TRACK_PERFORMANCE("critical_operation", stream) {
        busy_ns(2000000);
    }
    assert_int_equal(returns_early(stream), 3);
    assay_record_metric metric;
    assert_ptr_equal(assay_track_performance("call", NULL, busy_and_return, &subject, &metric),
                     &subject);
    assert_true(metric.duration_seconds >= 0.01);
    assert_int_equal(metric.cpu_delta_bytes.validity, ASSAY_VALID);
    assert_int_equal(metric.gpu_delta_bytes.validity, ASSAY_UNSUPPORTED);
    fclose(stream);
    for (char *at = text.text; *at != '\0'; at++)
        *at = *at == '-' ? '+' : *at; /* resident memory may shrink */
    assert_string_equal(digits_as_hashes(text.text),
                        "[Performance] critical_operation: #.###s, CPU +#.#MB\n"
                        "[Performance] data processing: #.###s, CPU +#.#MB\n");
    free(text.text);
}

static assay_epoch_monitor *new_epoch_monitor(const assay_clock *clock, FILE *output, int verbose,
                                              assay_monitor *shared)
{
    assay_epoch_monitor *monitor = NULL;
    assay_epoch_monitor_options options = ASSAY_EPOCH_MONITOR_OPTIONS_INIT;
    options.clock = clock;
    options.output = output;
    options.verbose_batches = verbose;
    options.monitor = shared;
    assert_int_equal(assay_epoch_monitor_new(&options, &monitor), ASSAY_OK);
    return monitor;
}

static void run_epochs(assay_epoch_monitor *monitor)
{
    const double batch_ms[2][3] = {{538, 185, 82}, {100, 100, 100}};
    for (int epoch = 0; epoch < 2; epoch++) {
        assay_epoch_monitor_on_epoch_start(monitor);
        pass_ms(10);
        for (uint64_t i = 0; i < 3; i++) {
            assay_epoch_monitor_on_batch_start(monitor, i);
            pass_ms(batch_ms[epoch][i]);
            assay_epoch_monitor_on_batch_end(monitor, i, i == 0 ? 0.009458 : NAN);
        }
        assay_epoch_monitor_on_epoch_end(monitor);
    }
}

static void test_epoch_statistics_have_all_keys(void **state)
{
    (void)state;
    assay_clock *clock = test_clock();
    assay_epoch_monitor *monitor = new_epoch_monitor(clock, NULL, 0, NULL);
    run_epochs(monitor);
    assay_epoch_statistics statistics = assay_epoch_monitor_get_statistics(monitor);
    assert_reads(assay_reading_of(statistics.total_epoch_time), 1.125);
    assert_reads(statistics.avg_epoch_time, 0.5625);
    assert_reads(assay_reading_of(statistics.total_batch_time), 1.105);
    assert_reads(statistics.avg_batch_time, 1.105 / 6);
    assert_reads(statistics.min_batch_time, 0.082);
    assert_reads(statistics.max_batch_time, 0.538);
    assert_int_equal(statistics.num_batches, 6);
    assert_int_equal(statistics.num_epochs, 2);
    assert_reads(statistics.first_batch_time, 0.538);
    assert_int_equal(assay_epoch_monitor_status(monitor), ASSAY_OK);
    assay_epoch_monitor_free(monitor);
    assay_clock_free(clock);
}

static void test_epoch_lines_are_printed(void **state)
{
    (void)state;
    golden_text text;
    assay_clock *clock = test_clock();
    assay_epoch_monitor *monitor = new_epoch_monitor(clock, golden_open(&text), 2, NULL);
    run_epochs(monitor);
    assay_epoch_monitor_free(monitor);
    assay_clock_free(clock);
    fclose(text.stream);
    char *line = strtok(text.text, "\n");
    const char *starts[] = {"  Batch 0: 0.538s, CPU ",
                            "  Batch 1: 0.185s, CPU ",
                            "  Epoch end: 0.815s total, CPU ",
                            "  Batch timing: avg=0.268s, min="
                            "0.082s, max=0.538s",
                            "  Batch 0: 0.100s, CPU ",
                            "  Batch 1: 0.100s, CPU ",
                            "  Epoch end: 0.310s total, CPU ",
                            "  Batch timing: avg=0.100s, min="
                            "0.100s, max=0.100s"};
    for (size_t i = 0; i < 8; i++) {
        assert_non_null(line);
        if (strncmp(line, starts[i], strlen(starts[i])) != 0)
            fail_msg("'%s' does not start with '%s'", line, starts[i]);
        if (i == 0)
            assert_non_null(strstr(line, "MB, loss=0.009458"));
        line = strtok(NULL, "\n");
    }
    assert_null(line);
    free(text.text);
}

static void test_epochs_stand_in_a_shared_monitor(void **state)
{
    (void)state;
    assay_clock *clock = test_clock();
    assay_monitor *spans = NULL;
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.clock = clock;
    assert_int_equal(assay_monitor_new(&options, &spans), ASSAY_OK);
    assay_epoch_monitor *monitor = new_epoch_monitor(clock, NULL, -1, spans);
    assert_ptr_equal(assay_epoch_monitor_spans(monitor), spans);
    run_epochs(monitor);
    assay_record *record = NULL;
    assert_int_equal(assay_monitor_record(spans, NULL, &record), ASSAY_OK);
    assert_int_equal(record->operation_count, 2);
    assert_string_equal(record->operations[0].name, "epoch");
    assert_string_equal(record->operations[1].name, "batch");
    assert_int_equal(record->operations[1].parent, 0);
    assert_int_equal(record->operations[1].count, 6);
    assert_reads(assay_reading_of(record->operations[1].total_seconds), 1.105);
    assert_int_equal(record->counter_count, 1);
    assert_string_equal(record->counters[0].name, "loss");
    assay_record_free(record);
    assay_epoch_monitor_free(monitor);
    assay_monitor_free(spans);
    assay_clock_free(clock);
}

static void test_epoch_calls_out_of_order(void **state)
{
    (void)state;
    assay_clock *clock = test_clock();
    assay_epoch_monitor *monitor = new_epoch_monitor(clock, NULL, 0, NULL);
    assay_epoch_monitor_on_batch_end(monitor, 0, 1.0);
    assert_int_equal(assay_epoch_monitor_status(monitor), ASSAY_E_STATE);
    assay_epoch_monitor_on_epoch_end(monitor);
    assay_epoch_monitor_on_epoch_start(monitor);
    assay_epoch_monitor_on_batch_start(monitor, 0);
    assay_epoch_monitor_on_batch_start(monitor, 1); /* the first is left out */
    pass_ms(5);
    assay_epoch_monitor_on_batch_end(monitor, 1, NAN);
    assay_epoch_monitor_on_batch_start(monitor, 2); /* never ended */
    assay_epoch_monitor_on_epoch_end(monitor);
    assay_epoch_statistics statistics = assay_epoch_monitor_get_statistics(monitor);
    assert_int_equal(statistics.num_batches, 1);
    assert_int_equal(statistics.num_epochs, 1);
    assert_reads(assay_reading_of(statistics.total_batch_time), 0.005);
    assay_record *record = NULL;
    assert_int_equal(assay_monitor_record(assay_epoch_monitor_spans(monitor), NULL, &record),
                     ASSAY_OK);
    assert_int_equal(record->integrity.mismatched_ends, 0);
    assert_int_equal(record->open_span_count, 0);
    assay_record_free(record);
    assay_epoch_monitor_on_epoch_start(monitor);
    assay_epoch_monitor_on_batch_start(monitor, 0);
    assay_epoch_monitor_free(monitor); /* with everything open */
    assay_clock_free(clock);
}

static void test_disabled_epoch_monitor_is_nothing(void **state)
{
    (void)state;
    assay_epoch_monitor *monitor = NULL;
    assay_epoch_monitor_options options = ASSAY_EPOCH_MONITOR_OPTIONS_INIT;
    options.disabled = true;
    options.output = stdout;
    assert_int_equal(assay_epoch_monitor_new(&options, &monitor), ASSAY_OK);
    run_epochs(monitor);
    assert_int_equal(assay_epoch_monitor_get_statistics(monitor).num_batches, 0);
    assert_int_equal(assay_epoch_monitor_get_statistics(monitor).avg_batch_time.validity,
                     ASSAY_NOT_ENOUGH_DATA);
    assert_null(assay_epoch_monitor_spans(monitor));
    assay_epoch_monitor_free(monitor);
    run_epochs(NULL);
    assert_int_equal(assay_epoch_monitor_get_statistics(NULL).num_epochs, 0);
    options.struct_size = 0;
    assert_int_equal(assay_epoch_monitor_new(&options, &monitor), ASSAY_E_ARGUMENT);
}

static void test_monitor_summary(void **state)
{
    (void)state;
    golden_text text;
    assay_clock *clock = test_clock();
    assay_monitor *monitor = NULL;
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.clock = clock;
    assert_int_equal(assay_monitor_new(&options, &monitor), ASSAY_OK);
    for (int i = 0; i < 3; i++) {
        ASSAY_TRACK(monitor, "forward") {
            pass_ms(100);
            ASSAY_TRACK(monitor, "attention") {
                pass_ms(150);
            }
        }
        ASSAY_TRACK(monitor, "backward") {
            pass_ms(250);
        }
    }
    FILE *stream = golden_open(&text);
    assert_int_equal(
        assay_monitor_print_summary(monitor, stream, ASSAY_SHOW_AGGREGATE | ASSAY_SHOW_BOTTLENECKS),
        ASSAY_OK);
    golden_check(&text, "monitor_summary");
    assert_reads(assay_monitor_total_seconds(monitor), 1.5);
    assert_reads(assay_monitor_operation_seconds(monitor, "attention"), 0.45);
    assert_int_equal(assay_monitor_operation_seconds(monitor, "none").validity, ASSAY_NOT_MEASURED);
    assay_monitor_clear(monitor);
    assert_reads(assay_monitor_total_seconds(monitor), 0.0);
    assay_monitor_free(monitor);
    assay_clock_free(clock);
}

static void test_summary_of_metrics(void **state)
{
    (void)state;
    golden_text text;
    assay_clock *clock = test_clock();
    assay_monitor *monitor = NULL;
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.clock = clock;
    assert_int_equal(assay_monitor_new(&options, &monitor), ASSAY_OK);
    for (int i = 0; i < 2; i++) {
        ASSAY_METRIC(monitor, "load") {
            pass_ms(100 + i);
        }
        ASSAY_METRIC(monitor, "optimization") {
            ASSAY_TRACK(monitor, "step") {
                pass_ms(200);
            }
            ASSAY_METRIC(monitor, "checkpoint") {
                pass_ms(50);
            }
        }
    }
    FILE *stream = golden_open(&text);
    assert_int_equal(assay_monitor_print_summary(monitor, stream, 0), ASSAY_OK);
    fclose(stream);
    char shape[16][64] = {{0}};
    size_t lines = 0;
    for (char *line = strtok(text.text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        snprintf(shape[lines++ % 16], 64, "%.41s", line);
    const char *rows[] = {
        "load                                0.100", "optimization                        0.250",
        "  checkpoint                        0.050", "load                                0.101",
        "optimization                        0.250", "  checkpoint                        0.050",
        "  step                              0.400"};
    assert_int_equal(lines, 5 + 7 + 3);
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(shape[5 + i], rows[i]);
    assert_string_equal(shape[13], "TOTAL                               0.701");
    free(text.text);
    assay_monitor_free(monitor);
    assay_clock_free(clock);
}

static void test_no_summary_of_nothing(void **state)
{
    (void)state;
    golden_text text;
    assay_monitor *monitor = NULL;
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.disabled = true;
    assert_int_equal(assay_monitor_new(&options, &monitor), ASSAY_OK);
    FILE *stream = golden_open(&text);
    assert_int_equal(assay_monitor_print_summary(monitor, stream, ASSAY_SHOW_AGGREGATE), ASSAY_OK);
    assert_int_equal(assay_monitor_print_summary(NULL, stream, 0), ASSAY_OK);
    golden_check_text(&text, "");
    assert_int_equal(assay_monitor_total_seconds(NULL).validity, ASSAY_NOT_MEASURED);
    assert_int_equal(assay_monitor_total_seconds(monitor).validity, ASSAY_NOT_MEASURED);
    assay_monitor_free(monitor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_track_time_returns_enters_and_prints),
        cmocka_unit_test(test_tracking_is_silent_when_told),
        cmocka_unit_test(test_blocks_nest_and_survive_return),
        cmocka_unit_test(test_track_time_and_memory),
        cmocka_unit_test(test_track_time_and_gpu_falls_back),
        cmocka_unit_test(test_failed_progress_is_kept),
        cmocka_unit_test(test_phases_follow_each_other),
        cmocka_unit_test(test_benchmark_inference),
        cmocka_unit_test(test_one_shots_print),
        cmocka_unit_test(test_epoch_statistics_have_all_keys),
        cmocka_unit_test(test_epoch_lines_are_printed),
        cmocka_unit_test(test_epochs_stand_in_a_shared_monitor),
        cmocka_unit_test(test_epoch_calls_out_of_order),
        cmocka_unit_test(test_disabled_epoch_monitor_is_nothing),
        cmocka_unit_test(test_monitor_summary),
        cmocka_unit_test(test_summary_of_metrics),
        cmocka_unit_test(test_no_summary_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
