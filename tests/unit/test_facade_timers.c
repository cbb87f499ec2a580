/* Ready-made timers of calls, phases and inferences: their results, entries and output, and calls
 * out of order. */
#include "assay/inference.h"
#include "assay/timers.h"
#include "tests/sanitizers.h"
#include "tests/unit/facade_fixture.h"

static assay_timers *new_timers(FILE *progress)
{
    assay_timers *timers = NULL;
    assert_int_equal(assay_timers_new(progress, &timers), ASSAY_OK);
    return timers;
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
    assay_reading time = assay_timers_get(timers, "MLP training", "time");
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
    assay_reading outer = assay_timers_get(timers, "outer", "time");
    assay_reading inner = assay_timers_get(timers, "inner", "time");
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

static void test_track_time_and_memory(void **state)
{
    (void)state;
    golden_text text;
    size_t size = (size_t)64 << 20;
    assay_timers *timers = new_timers(golden_open(&text));
    assay_memory_source source = assay_enable_memory_tracking(timers);
    assert_int_not_equal(source, ASSAY_MEMORY_SOURCE_NONE);
    assay_track_time_and_memory(timers, "Model", touch_memory, &size);
    assay_reading peak = assay_timers_get(timers, "Model", "peak_memory_bytes");
    assay_reading current = assay_timers_get(timers, "Model", "current_memory_bytes");
    assert_int_equal(peak.validity, ASSAY_VALID);
    assert_int_equal(current.validity, ASSAY_VALID);
    assert_true(peak.value >= 60e6); /* 64 MB were touched */
    if (!ADDRESS_SANITIZER)          /* which keeps what was freed in quarantine */
        assert_true(current.value < peak.value - 32e6);
    if (source == ASSAY_MEMORY_SOURCE_HEAP)
        assert_true(peak.value < 69e6);
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
    assert_true(assay_timers_get(timers, "KAN training", "time").value >= 0.01);
    const char *keys[] = {"allocated_bytes", "reserved_bytes", "max_allocated_bytes"};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(assay_timers_get(timers, "KAN training", keys[i]).validity,
                         ASSAY_UNSUPPORTED);
    assert_int_equal(assay_get_gpu_memory_usage().allocated_bytes.validity, ASSAY_UNSUPPORTED);
    assay_timers_free(timers);
    check_shape(&text, "KAN training complete: #.##s, GPU: not available\n");
}

/* Figures that were measured elsewhere, as bindings enter them. */
static void test_entered_figures_nest_and_print(void **state)
{
    (void)state;
    golden_text text;
    FILE *stream = golden_open(&text);
    assay_timers *timers = new_timers(NULL);
    assert_int_equal(assay_timers_set(timers, "inner", 2), ASSAY_OK);
    assert_int_equal(assay_timers_set(timers, "outer", 3), ASSAY_OK);
    assert_int_equal(
        assay_timers_set_metric(timers, "outer", "max_allocated_bytes", assay_reading_of(1 << 20)),
        ASSAY_OK);
    assert_int_equal(assay_timers_set_parent(timers, "inner", "outer"), ASSAY_OK);
    assert_int_equal(assay_timers_set_parent(timers, "outer", "inner"), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_timers_set_parent(timers, "outer", "outer"), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_timers_set_parent(timers, "outer", "no"), ASSAY_E_NOT_FOUND);
    assert_true(assay_timers_total(timers) == 3);
    assert_int_equal(assay_timers_print_progress(timers, stream, "inner"), ASSAY_OK);
    assert_int_equal(assay_timers_print_progress(timers, stream, "outer"), ASSAY_OK);
    assert_int_equal(assay_timers_print_progress(timers, stream, "no"), ASSAY_E_NOT_FOUND);
    assert_int_equal(assay_timers_set_parent(timers, "inner", NULL), ASSAY_OK);
    assert_true(assay_timers_total(timers) == 5);
    assay_timers_free(timers);
    check_shape(&text, "inner complete: #.##s total\nouter complete: #.##s, GPU peak: #.# MB\n");
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
    assert_int_equal(assay_timers_get(timers, "x", "time").validity, ASSAY_VALID);
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
    assert_int_equal(assay_timers_status(assay_phase_timer_timers(timer)), ASSAY_OK);
    assert_int_equal(assay_phase_timer_end_phase(timer), ASSAY_E_STATE);
    assert_int_equal(assay_phase_timer_start_phase(timer, "data_loading"), ASSAY_OK);
    assert_int_equal(assay_timers_status(assay_phase_timer_timers(timer)), ASSAY_E_STATE);
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
    assert_reads(assay_timers_get(assay_phase_timer_timers(timer), "forward_pass", "time"), 8.34);
    assay_phase_timer_free(timer);
    assay_phase_timer_free(NULL);
    assay_clock_free(clock);
}

typedef struct calls {
    int count;
    double milliseconds;
} calls;

static assay_status infer(void *argument)
{
    calls *seen = argument;
    pass_ms(seen->milliseconds + (seen->count++ % 2 == 0 ? 0.0 : 1.0));
    return ASSAY_OK;
}

static void test_benchmark_inference(void **state)
{
    (void)state;
    assay_clock *clock = test_clock();
    assay_timing timing;
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.clock = clock;
    calls seen = {.milliseconds = 2.0};
    assert_int_equal(assay_benchmark_inference(infer, &seen, &options, NULL, &timing), ASSAY_OK);
    assert_int_equal(seen.count, 110);
    assert_int_equal(timing.count, 100);
    assert_reads(assay_reading_of(timing.mean_seconds), 2.5e-3);
    assert_reads(assay_reading_of(timing.min_seconds), 2e-3);
    assert_reads(assay_reading_of(timing.max_seconds), 3e-3);
    assert_reads(assay_timing_throughput(&timing, 0), 400.0);
    options.no_warmup = true;
    options.num_iterations = 4;
    seen.count = 0;
    assert_int_equal(assay_benchmark_inference(infer, &seen, &options, NULL, &timing), ASSAY_OK);
    assert_int_equal(seen.count, 4);
    assert_reads(assay_timing_throughput(&timing, 32), 32.0 / 0.0025);
    timing.mean_seconds = 0;
    assert_int_equal(assay_timing_throughput(&timing, 1).validity, ASSAY_NOT_ENOUGH_DATA);
    options.struct_size = 3;
    assert_int_equal(assay_benchmark_inference(infer, &seen, &options, NULL, &timing),
                     ASSAY_E_ARGUMENT);
    assay_clock_free(clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_track_time_returns_enters_and_prints),
        cmocka_unit_test(test_tracking_is_silent_when_told),
        cmocka_unit_test(test_blocks_nest_and_survive_return),
        cmocka_unit_test(test_track_time_and_memory),
        cmocka_unit_test(test_track_time_and_gpu_falls_back),
        cmocka_unit_test(test_entered_figures_nest_and_print),
        cmocka_unit_test(test_failed_progress_is_kept),
        cmocka_unit_test(test_phases_follow_each_other),
        cmocka_unit_test(test_benchmark_inference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
