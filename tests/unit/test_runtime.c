/* The calls of seed document A: figures compared with values computed by hand, the exact JSON, and
 * the number of trials. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "assay/assay.h"
#include "assay/runtime.h"
#include "assay/timers.h"
#include "tests/golden.h"

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fmax(1, fabs(expected))))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void test_timing(void **state)
{
    (void)state;
    const double seconds[] = {1, 2, 3, 4};
    assay_timing timing;
    assert_int_equal(assay_timing_summarize(seconds, 4, &timing), ASSAY_OK);
    assert_near(timing.total_seconds, 10);
    assert_near(timing.mean_seconds, 2.5);
    assert_near(timing.std_seconds.value, sqrt(5.0 / 3)); /* statistics.stdev([1, 2, 3, 4]) */
    assert_near(timing.p50_seconds.value, 2.5);
    assert_true(timing.low_seconds.value < 2.5 && timing.high_seconds.value > 2.5);
    assert_int_equal(timing.steady_from.validity, ASSAY_NOT_ENOUGH_DATA);
    assert_near(timing.min_seconds, 1);
    assert_near(timing.max_seconds, 4);
    assert_int_equal(timing.count, 4);
    assert_int_equal(assay_timing_summarize(seconds, 0, &timing), ASSAY_E_DATA);
    assert_int_equal(assay_timing_summarize(seconds, 1, &timing), ASSAY_OK);
    assert_int_equal(timing.std_seconds.validity, ASSAY_NOT_ENOUGH_DATA);
    const double bad[] = {1, NAN};
    assert_int_equal(assay_timing_summarize(bad, 2, &timing), ASSAY_E_ARGUMENT);
}

/* The seed's own example: 0.00023 s a step, 20 latent dimensions. */
static void test_throughput(void **state)
{
    (void)state;
    assay_timing timing = {.mean_seconds = 0.023, .count = 50};
    assay_throughput throughput;
    assert_int_equal(assay_compute_throughput(&timing, 100, 20, &throughput), ASSAY_OK);
    assert_near(throughput.steps_per_second, 100 / 0.023);
    assert_near(throughput.predictions_per_second, 2000 / 0.023);
    assert_near(throughput.seconds_per_step, 0.00023);
    assert_near(throughput.microseconds_per_step, 230);
    assert_int_equal(assay_compute_throughput(&timing, 0, 20, &throughput), ASSAY_E_ARGUMENT);
    timing.mean_seconds = 0;
    assert_int_equal(assay_compute_throughput(&timing, 1, 20, &throughput), ASSAY_E_DATA);
}

static void test_mvar_complexity(void **state)
{
    (void)state;
    assay_complexity_shape shape = {0};
    shape.kind = ASSAY_RUNTIME_MVAR;
    shape.latent_dim = 20;
    shape.lag = 5;
    assay_complexity complexity;
    assert_int_equal(assay_analyze_complexity(&shape, 2020, &complexity), ASSAY_OK);
    assert_near(complexity.expected_parameters.value, 2020);
    assert_int_equal(complexity.parameters_per_lag, 400);
    assert_near(complexity.inference_flops_per_step.value, 4000);
    assert_string_equal(complexity.training_complexity, "O(N_samples * p * d²)");
    assert_string_equal(complexity.inference_complexity, "O(p * d²)");
    shape.lag = 0;
    assert_int_equal(assay_analyze_complexity(&shape, 2020, &complexity), ASSAY_E_ARGUMENT);
}

/* torch.nn.LSTM(20, 64) has 22016 parameters, LSTM(20, 64, 2) 55296; Linear(64, 20) has 1300. */
static void test_lstm_complexity(void **state)
{
    (void)state;
    assert_int_equal(assay_compute_lstm_params(20, 64, 1, 20), 22016 + 1300);
    assert_int_equal(assay_compute_lstm_params(20, 64, 2, 20), 55296 + 1300);
    assert_int_equal(assay_compute_lstm_params(UINT64_MAX / 2, 64, 2, 20), UINT64_MAX);
    assay_complexity_shape shape = {0};
    shape.kind = ASSAY_RUNTIME_LSTM;
    shape.latent_dim = 20;
    shape.hidden_size = 64;
    shape.num_layers = 2;
    assay_complexity complexity;
    assert_int_equal(assay_analyze_complexity(&shape, 56596, &complexity), ASSAY_OK);
    assert_near(complexity.expected_parameters.value, 56596);
    assert_near(complexity.inference_flops_per_step.value,
                2.0 * (256 * 20 + 256 * 64 + 256 * 64 + 256 * 64 + 20 * 64));
    assert_int_equal(complexity.parameters_per_layer, 55296 - 22016);
}

static assay_runtime_profile example(const char *name, double training, double step,
                                     uint64_t parameters)
{
    assay_runtime_profile profile = {.model_name = name,
                                     .training_seconds = assay_reading_of(training)};
    enum { TRIALS = 100 };
    double single[TRIALS], full[TRIALS];
    for (int i = 0; i < TRIALS; i++)
        full[i] = 100 * (single[i] = step);
    assert_int_equal(assay_timing_summarize(single, TRIALS, &profile.inference_single_step),
                     ASSAY_OK);
    assert_int_equal(assay_timing_summarize(full, TRIALS, &profile.inference_full_trajectory),
                     ASSAY_OK);
    profile.memory =
        (assay_memory_result){.peak_bytes = assay_reading_of(245.5e6),
                              .current_bytes = assay_reading_missing(ASSAY_UNSUPPORTED),
                              .model_parameters = parameters,
                              .parameter_bytes = (double)parameters * 8};
    assert_int_equal(
        assay_compute_throughput(&profile.inference_full_trajectory, 100, 20, &profile.throughput),
        ASSAY_OK);
    assay_complexity_shape shape = {0};
    shape.kind = ASSAY_RUNTIME_MVAR;
    shape.latent_dim = 20;
    shape.lag = 5;
    assert_int_equal(assay_analyze_complexity(&shape, parameters, &profile.complexity), ASSAY_OK);
    return profile;
}

static void test_profile_json(void **state)
{
    (void)state;
    assay_runtime_profile profile = example("MVAR", 12.5, 0.00025, 2020);
    golden_text text;
    assert_int_equal(assay_runtime_profile_print(&profile, golden_open(&text), NULL), ASSAY_OK);
    golden_check(&text, "runtime_profile");
}

static void test_directions_of_ratios(void **state)
{
    (void)state;
    const assay_runtime_profile profiles[] = {example("MVAR", 2, 0.001, 2000),
                                              example("LSTM", 8, 0.002, 6000),
                                              example("GRU", 4, 0.0005, 4000)};
    assay_runtime_comparison comparison;
    assert_int_equal(assay_compare_models(profiles, 3, &comparison), ASSAY_OK);
    assert_int_equal(comparison.ratio_count, 3);
    const assay_runtime_ratio *first = &comparison.ratios[0];
    assert_int_equal(first->a, 0);
    assert_int_equal(first->b, 1);
    assert_near(first->training_time.value, 4);       /* B / A */
    assert_near(first->inference_speedup.value, 0.5); /* A / B: B is slower */
    assert_near(first->memory.value, 3);
    assert_near(first->parameters.value, 3);
    assert_int_equal(comparison.fastest_training, 0);
    assert_int_equal(comparison.fastest_inference, 2);
    assert_int_equal(comparison.smallest_memory, 0);
    golden_text text;
    assert_int_equal(assay_runtime_comparison_print(&comparison, golden_open(&text), NULL),
                     ASSAY_OK);
    golden_check(&text, "runtime_comparison");
    assay_runtime_comparison_release(&comparison);
    assert_int_equal(assay_compare_models(profiles, 1, &comparison), ASSAY_E_DATA);
}

static void test_missing_training_has_no_ratio(void **state)
{
    (void)state;
    assay_runtime_profile profiles[] = {example("A", 2, 0.001, 2000), example("B", 1, 0.002, 10)};
    profiles[1].training_seconds = assay_reading_missing(ASSAY_NOT_MEASURED);
    assay_runtime_comparison comparison;
    assert_int_equal(assay_compare_models(profiles, 2, &comparison), ASSAY_OK);
    assert_int_equal(comparison.ratios[0].training_time.validity, ASSAY_NOT_MEASURED);
    assert_int_equal(comparison.fastest_training, 0);
    golden_text text;
    assert_int_equal(assay_runtime_comparison_print(&comparison, golden_open(&text), NULL),
                     ASSAY_OK);
    golden_check(&text, "runtime_comparison_missing");
    assay_runtime_comparison_release(&comparison);
}

/* Models of one name, and one that is called as a second one would be. */
static void test_no_key_stands_twice(void **state)
{
    (void)state;
    const assay_runtime_profile profiles[] = {
        example("LSTM", 2, 0.001, 2000), example("LSTM", 4, 0.002, 4000),
        example("LSTM (2)", 8, 0.004, 8000), example("LSTM", 1, 0.008, 1000)};
    assay_runtime_comparison comparison;
    assert_int_equal(assay_compare_models(profiles, 4, &comparison), ASSAY_OK);
    golden_text text;
    assert_int_equal(assay_runtime_comparison_print(&comparison, golden_open(&text), NULL),
                     ASSAY_OK);
    golden_check(&text, "runtime_comparison_namesakes");
    assay_runtime_comparison_release(&comparison);
}

/* A model that needs long before its first step is not slow for that in a whole forecast. */
static void test_speedup_goes_by_whole_forecasts(void **state)
{
    (void)state;
    assay_runtime_profile profiles[] = {example("A", 2, 0.001, 2000), example("B", 1, 0.0005, 10)};
    profiles[1].inference_single_step.mean_seconds = 0.02;
    assay_runtime_comparison comparison;
    assert_int_equal(assay_compare_models(profiles, 2, &comparison), ASSAY_OK);
    assert_near(comparison.ratios[0].inference_speedup.value, 2);
    assert_int_equal(comparison.fastest_inference, 1);
    assay_runtime_comparison_release(&comparison);
    profiles[1].throughput = (assay_throughput){0};
    assert_int_equal(assay_compare_models(profiles, 2, &comparison), ASSAY_OK);
    assert_int_equal(comparison.ratios[0].inference_speedup.validity, ASSAY_NOT_MEASURED);
    assert_int_equal(comparison.fastest_inference, 0);
    assay_runtime_comparison_release(&comparison);
}

static void test_times_say_what_they_cover(void **state)
{
    (void)state;
    assay_runtime_profile profile = example("MVAR", 12.5, 0.00025, 2020);
    assay_profile_parts parts = ASSAY_PROFILE_PARTS_INIT;
    parts.model_name = "MVAR";
    parts.single_step = profile.inference_single_step;
    parts.full_trajectory = profile.inference_full_trajectory;
    parts.n_forecast_steps = 100;
    parts.shape.latent_dim = 20;
    parts.single_step_covers = "1 step";
    parts.full_trajectory_covers = "100 steps";
    assert_int_equal(assay_build_profile(&parts, NULL, &profile), ASSAY_OK);
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assert_int_equal(assay_runtime_profile_print(&profile, stream, NULL), ASSAY_OK);
    fclose(stream);
    const char *step = strstr(text, "\"samples\": 100,\n      \"covers\": \"1 step\"\n");
    assert_non_null(step);
    assert_non_null(strstr(step, "\"samples\": 100,\n      \"covers\": \"100 steps\"\n"));
    free(text);
}

typedef struct counted {
    uint64_t now_ns, calls, single_calls;
} counted;

static uint64_t counted_now(void *context)
{
    return ((counted *)context)->now_ns;
}

/* Takes 10 ms a step; the first calls, which must not count, ten times as long. */
static assay_status counted_forecast(void *context, uint64_t steps)
{
    counted *count = context;
    bool warm = steps == 1 ? count->single_calls >= 5 : count->calls - count->single_calls >= 5;
    count->calls++;
    count->single_calls += steps == 1;
    count->now_ns += steps * (warm ? 10000000 : 100000000);
    return ASSAY_OK;
}

/* Takes the nanoseconds that are set for a step. */
static uint64_t step_ns;

static assay_status even_forecast(void *context, uint64_t steps)
{
    counted *count = context;
    count->calls++;
    count->single_calls += steps == 1;
    count->now_ns += steps * step_ns;
    return ASSAY_OK;
}

static void check_trials(uint64_t ns, size_t single, size_t full)
{
    counted count = {.now_ns = 1000000000};
    assay_clock *clock = NULL;
    assert_int_equal(assay_clock_new_injected(counted_now, &count, &clock), ASSAY_OK);
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.clock = clock;
    const assay_forecast forecast = {even_forecast, &count};
    assay_timing one, whole;
    step_ns = ns;
    assert_int_equal(assay_forecast_benchmark(&forecast, 0, &options, NULL, &one, &whole),
                     ASSAY_OK);
    assert_int_equal(one.count, single);
    assert_int_equal(whole.count, full);
    assert_int_equal(count.calls, single + full + 2 * 5);
    assert_near(whole.mean_seconds, 100 * 1e-9 * (double)ns); /* 100 steps by default */
    assert_null(assay_trials_check(&one));
    assert_null(assay_trials_check(&whole));
    options.n_trials = 8;
    assert_int_equal(assay_forecast_benchmark(&forecast, 3, &options, NULL, &one, &whole),
                     ASSAY_OK);
    assert_int_equal(one.count, 8);
    assert_non_null(assay_trials_check(&one));
    assay_clock_free(clock);
}

/* At least 50; 100 below 1 ms; fewer above 1 s. */
static void test_trials_follow_the_advice(void **state)
{
    (void)state;
    check_trials(1000, 100, 100);
    check_trials(20000, 100, 50);
    check_trials(15000000, 50, 10);
    assay_timing timing = {.count = 89, .mean_seconds = 0.0005};
    assert_non_null(strstr(assay_trials_check(&timing), "100"));
    timing.mean_seconds = 0.002;
    assert_null(assay_trials_check(&timing));
    timing.count = 44;
    assert_non_null(strstr(assay_trials_check(&timing), "50"));
    timing.count = 45; /* a tenth may have been disturbed and left out */
    assert_null(assay_trials_check(&timing));
}

/* The kind of a model is told by its sizes, and by its name where these are of both kinds; the
 * kind tells the bytes of a parameter; a training may be timed part by part. */
static void test_what_is_inferred(void **state)
{
    (void)state;
    assay_runtime_profile profile = example("MVAR", 12.5, 0.00025, 2020);
    assay_profile_parts parts = ASSAY_PROFILE_PARTS_INIT;
    parts.model_name = "MVAR";
    parts.single_step = profile.inference_single_step;
    parts.full_trajectory = profile.inference_full_trajectory;
    parts.model_params = 2020;
    parts.training_seconds = assay_reading_of(12.5);
    parts.shape.latent_dim = 20;
    parts.shape.lag = 5;
    assert_int_equal(assay_build_profile(&parts, NULL, &profile), ASSAY_OK);
    assert_int_equal(profile.complexity.kind, ASSAY_RUNTIME_MVAR);
    assert_near(profile.complexity.expected_parameters.value, 2020);
    assert_near(profile.memory.parameter_bytes, 2020 * 8);
    assert_near(profile.throughput.seconds_per_step, parts.full_trajectory.mean_seconds / 100);
    assert_int_equal(profile.training.count, 1);
    assert_near(profile.training.mean_seconds, 12.5);
    parts.shape.hidden_size = 64;
    parts.shape.num_layers = 1;
    parts.model_name = "my LSTM with lags";
    assert_int_equal(assay_build_profile(&parts, NULL, &profile), ASSAY_OK);
    assert_int_equal(profile.complexity.kind, ASSAY_RUNTIME_LSTM);
    assert_near(profile.memory.parameter_bytes, 2020 * 4);
    parts.model_name = "hybrid";
    assert_int_equal(assay_build_profile(&parts, NULL, &profile), ASSAY_OK);
    assert_int_equal(profile.complexity.kind, ASSAY_RUNTIME_OTHER);
    const double epochs[] = {2, 3, 4};
    assert_int_equal(assay_timing_summarize(epochs, 3, &parts.training), ASSAY_OK);
    parts.training_seconds = assay_reading_missing(ASSAY_NOT_MEASURED);
    parts.single_step.count = 89;
    assert_int_equal(assay_build_profile(&parts, NULL, &profile), ASSAY_OK);
    assert_near(profile.training_seconds.value, 9);
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_int_equal(assay_runtime_profile_print(&profile, stream, NULL), ASSAY_OK);
    fclose(stream);
    assert_non_null(strstr(text, "\"total_seconds\": 9,\n    \"mean_seconds\": 3,"));
    assert_non_null(strstr(text, "\"warning\": \"fewer than"));
    free(text);
}

static assay_status failing_forecast(void *context, uint64_t steps)
{
    (void)context;
    return steps > 1 ? ASSAY_E_DATA : ASSAY_OK;
}

static void test_quick_benchmark(void **state)
{
    (void)state;
    counted count = {.now_ns = 1000000000};
    assay_clock *clock = NULL;
    assert_int_equal(assay_clock_new_injected(counted_now, &count, &clock), ASSAY_OK);
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.clock = clock;
    assay_forecast forecast = {counted_forecast, &count};
    assay_profile_parts parts = ASSAY_PROFILE_PARTS_INIT;
    parts.model_name = "counted";
    parts.training_seconds = assay_reading_of(3);
    parts.n_forecast_steps = 7;
    parts.model_params = 1000;
    parts.bytes_per_parameter = 8;
    parts.shape.latent_dim = 20;
    assay_runtime_profile profile;
    assert_int_equal(assay_quick_benchmark(&forecast, &parts, &options, NULL, &profile), ASSAY_OK);
    assert_int_equal(count.calls, 2 * (50 + 5));
    assert_int_equal(count.single_calls, 55);
    assert_int_equal(profile.inference_single_step.count, 50);
    assert_near(profile.inference_single_step.max_seconds, 0.01);
    assert_near(profile.inference_full_trajectory.mean_seconds, 0.07);
    assert_near(profile.throughput.steps_per_second, 100);
    assert_near(profile.memory.parameter_bytes, 8000);
    assert_int_equal(profile.complexity.kind, ASSAY_RUNTIME_OTHER);
    forecast.run = failing_forecast;
    assert_int_equal(assay_quick_benchmark(&forecast, &parts, &options, NULL, &profile),
                     ASSAY_E_DATA);
    assay_clock_free(clock);
}

static void assert_in_bounds(double value, double low, double high)
{
    if (!(value >= low && value <= high))
        fail_msg("%.9g is not within %.9g and %.9g", value, low, high);
}

static double monotonic_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What another clock measures inside the block is a lower bound, what it measures around it an
 * upper one; 1 % for the difference of the clocks. */
static void test_operation_timer(void **state)
{
    (void)state;
    double elapsed = -1, inside = 0, before = monotonic_seconds();
    assay_stopwatch outer = assay_time_operation("outer");
    ASSAY_TIME_OPERATION("inner", &elapsed) {
        double start = monotonic_seconds();
        while (inside < 0.002)
            inside = monotonic_seconds() - start;
        assert_true(elapsed == -1);
    }
    double around = monotonic_seconds() - before, kept = elapsed;
    assert_in_bounds(elapsed, 0.99 * inside, 1.01 * around);
    double all = assay_stopwatch_seconds(&outer);
    assert_in_bounds(all, kept, 1.01 * (monotonic_seconds() - before));
    assert_true(elapsed == kept);
}

static void test_memory(void **state)
{
    (void)state;
    assay_memory_result memory;
    assert_int_equal(assay_measure_memory(2020, 8, &memory), ASSAY_OK);
    assert_near(memory.parameter_bytes, 16160);
    assert_int_equal(memory.current_bytes.validity, ASSAY_VALID);
    assert_true(memory.peak_bytes.value * 1.05 >= memory.current_bytes.value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timing),
        cmocka_unit_test(test_throughput),
        cmocka_unit_test(test_mvar_complexity),
        cmocka_unit_test(test_lstm_complexity),
        cmocka_unit_test(test_profile_json),
        cmocka_unit_test(test_directions_of_ratios),
        cmocka_unit_test(test_missing_training_has_no_ratio),
        cmocka_unit_test(test_no_key_stands_twice),
        cmocka_unit_test(test_speedup_goes_by_whole_forecasts),
        cmocka_unit_test(test_times_say_what_they_cover),
        cmocka_unit_test(test_quick_benchmark),
        cmocka_unit_test(test_trials_follow_the_advice),
        cmocka_unit_test(test_what_is_inferred),
        cmocka_unit_test(test_operation_timer),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
