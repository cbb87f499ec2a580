/* Printed performance: the lines of single blocks, and the summary of a monitor. */
#include "assay/performance.h"
#include "tests/unit/facade_fixture.h"

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

static void test_monitor_summary(void **state)
{
    (void)state;
    golden_text text;
    assay_clock *clock = test_clock();
    assay_monitor *monitor = NULL;
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.clock = clock;
    options.memory = ASSAY_MEMORY_OFF; /* whose figures are never the same */
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
        cmocka_unit_test(test_one_shots_print),
        cmocka_unit_test(test_monitor_summary),
        cmocka_unit_test(test_summary_of_metrics),
        cmocka_unit_test(test_no_summary_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
