/* Windows of a meter, which reads a fake GPU (tests/fake/nvml.c, 300 W, a counter that changes
 * every 100 ms) and a fake powercap tree. */
#include <math.h>

#include "instrument/meter_state.h"
#include "tests/unit/meter_fixture.h"

static void test_nothing_to_meter_is_explained(void **state)
{
    (void)state;
    assay_meter *meter = NULL;
    assay_error error = {0};
    assay_meter_options options = ASSAY_METER_OPTIONS_INIT;
    options.powercap = root;
    options.no_devices = true;
    assert_int_equal(assay_meter_new(&options, &error, &meter), ASSAY_E_UNSUPPORTED);
    assert_null(meter);
    assert_non_null(strstr(error.message, "no counter of energy (RAPL)"));
    options.period_seconds = 0.001;
    assert_int_equal(assay_meter_new(&options, &error, &meter), ASSAY_E_ARGUMENT);
    options.period_seconds = INFINITY;
    assert_int_equal(assay_meter_new(&options, &error, &meter), ASSAY_E_ARGUMENT);
    options.period_seconds = 0;
    options.no_processor = true;
    assert_int_equal(assay_meter_new(&options, &error, &meter), ASSAY_E_ARGUMENT);
    assay_meter_free(NULL);
}

/* ---- windows, from readings that the test makes ---- */

enum { GPU = 0, PROCESSOR = ASSAY__METER_DEVICES };

/* A meter without a thread, for readings that the test makes. Its processor draws 100 W. The
 * counter of its GPU moves every 100 ms; the GPU draws 300 W. */
static assay_meter *meter_without_thread(void)
{
    assay_meter *meter = calloc(1, sizeof *meter);
    assert_non_null(meter);
    pthread_mutex_init(&meter->lock, NULL);
    pthread_cond_init(&meter->read_one, NULL);
    meter->stride = 2;
    meter->sources[GPU] = (assay__meter_source){true, true, 0, 0, INFINITY};
    meter->sources[PROCESSOR] = (assay__meter_source){true, false, 0, 0.001, 0.001};
    return meter;
}

static assay__meter_reading reading_at(uint64_t ns)
{
    assay__meter_reading reading = {.begin_ns = ns, .ns = ns + 1000};
    reading.joules[GPU] = 300 * (double)(ns - ns % 100000000) * 1e-9;
    reading.joules[PROCESSOR] = 100 * (double)ns * 1e-9;
    return reading;
}

static void check_window(assay_meter *meter, size_t source, double watts, double from, double to,
                         double slack)
{
    double joules, low, high;
    assert_true(assay__meter_window(meter, source, (uint64_t)(from * 1e9), (uint64_t)(to * 1e9),
                                    &joules, &low, &high));
    const double truth = watts * (to - from);
    if (!(low <= truth && truth <= high && fabs(joules - truth) <= slack * watts &&
          high - low <= 2 * watts * (slack + 0.25)))
        fail_msg("%g to %g s: %g J (%g to %g), true %g", from, to, joules, low, high, truth);
}

/* A meter that runs for hours has figures of all of its windows. Those that end long ago are less
 * exact. */
static void test_hours(void **state)
{
    (void)state;
    assay_meter *meter = meter_without_thread();
    const double hours = 10 * 3600;
    for (uint64_t ns = 50000000; ns < (uint64_t)(hours * 1e9); ns += 103000000) {
        assay__meter_reading reading = reading_at(ns);
        if (ns / 1000000000 == 7200)
            reading.throttle = ASSAY_THROTTLE_THERMAL;
        assay__meter_keep(meter, &reading);
    }
    for (size_t source = GPU; source <= PROCESSOR; source += PROCESSOR) {
        const double watts = source == GPU ? 300 : 100;
        check_window(meter, source, watts, 0.2, hours - 1, 0.2);
        check_window(meter, source, watts, hours - 100, hours - 1, 0.2);
        check_window(meter, source, watts, hours - 2, hours - 1, 0.2);
        check_window(meter, source, watts, 0.2, 1800, 20);
        check_window(meter, source, watts, 3600, hours - 1, 20);
        check_window(meter, source, watts, 5000, 5001, 20);
    }
    assert_int_equal(assay__meter_throttle(meter, 0, (uint64_t)(hours * 1e9)),
                     ASSAY_THROTTLE_THERMAL);
    assert_int_equal(assay__meter_throttle(meter, 0, 7100ull * 1000000000), 0);
    free(meter);
}

/* What a counter counted before it started again is lost: no figure, and no upper bound. */
static void test_a_counter_starts_again_within_a_window(void **state)
{
    (void)state;
    assay_meter *meter = meter_without_thread();
    for (uint64_t ns = 50000000; ns < 10000000000u; ns += 50000000) {
        assay__meter_reading reading = reading_at(ns);
        for (size_t i = 0; i < ASSAY__METER_SOURCES && ns >= 5000000000u; i++) {
            reading.restarts[i] = 1;
            reading.joules[i] -= 20;
        }
        assay__meter_keep(meter, &reading);
    }
    for (size_t source = GPU; source <= PROCESSOR; source += PROCESSOR) {
        const double watts = source == GPU ? 300 : 100;
        double joules, low, high;
        check_window(meter, source, watts, 1, 4, 0.2);
        check_window(meter, source, watts, 6, 9, 0.2);
        assert_true(
            assay__meter_window(meter, source, 1000000000, 9000000000u, &joules, &low, &high));
        assert_true(isnan(joules) && isinf(high) && low <= 8 * watts && low >= 8 * watts - 100);
    }
    free(meter);
}

/* ---- windows, from the fake GPU ---- */

static void scenario_windows(void)
{
    assay_meter *meter = NULL;
    assay_error error = {0};
    CHECK(assay_meter_new(NULL, &error, &meter) == ASSAY_OK);
    CHECK(strstr(assay_meter_describe(meter), "cuda:0: Fake GPU") != NULL);
    CHECK(strstr(assay_meter_describe(meter), "processor: no counter") != NULL);
    uint64_t begin = assay_meter_now_ns();
    pause_ms(700);
    uint64_t end = assay_meter_now_ns();
    assay_energy energy = ASSAY_INIT(assay_energy);
    double truth = 300 * (double)(end - begin) * 1e-9;
    CHECK(assay_meter_read(meter, begin, end, &error, &energy) == ASSAY_OK);
    CHECK(within(energy.joules_low, truth, energy.joules_high));
    CHECK(within(energy.joules_low, energy.joules.value, energy.joules_high));
    CHECK(energy.joules_low.value > 0 && energy.joules_high.value < 3 * truth);
    CHECK(energy.gpu_joules.value == energy.joules.value);
    CHECK(energy.cpu_joules.validity == ASSAY_UNSUPPORTED);
    CHECK(energy.throttle.validity == ASSAY_VALID && energy.throttle.value == 0);
    /* Shorter than the counter's period: bounds, and no figure that says nothing was consumed. */
    uint64_t at = begin + 300000000;
    CHECK(assay_meter_read(meter, at, at + 1000000, &error, &energy) == ASSAY_OK);
    CHECK(energy.joules.validity == ASSAY_NOT_ENOUGH_DATA);
    CHECK(within(energy.joules_low, 0.3, energy.joules_high) && energy.joules_high.value < 1.1);
    CHECK(assay_meter_read(meter, end, begin, &error, &energy) == ASSAY_E_ARGUMENT);
    if (fork() == 0) {
        CHECK(assay_meter_read(meter, begin, end, &error, &energy) == ASSAY_E_STATE);
        assay_meter_free(meter);
        _exit(0);
    }
    int how = -1;
    CHECK(wait(&how) > 0 && how == 0);
    assay_meter_free(meter);
}

static void test_windows(void **state)
{
    (void)state;
    in_child("watts=300,boards=1", scenario_windows);
}

/* Every board counts; if there are more than the meter can read, it says so. */
static void scenario_many_boards(void)
{
    assay_meter *meter = NULL;
    assay_energy energy = ASSAY_INIT(assay_energy);
    CHECK(assay_meter_new(NULL, NULL, &meter) == ASSAY_OK);
    const uint64_t begin = assay_meter_now_ns();
    pause_ms(500);
    const uint64_t end = assay_meter_now_ns();
    const double truth = 16 * 300 * (double)(end - begin) * 1e-9;
    CHECK(assay_meter_read(meter, begin, end, NULL, &energy) == ASSAY_OK);
    CHECK(within(energy.joules_low, truth, energy.joules_high));
    const bool some_left_out = strstr(getenv("FAKE_NVML"), "boards=20") != NULL;
    const char *said = strstr(assay_meter_describe(meter), "4 further GPUs are not read");
    CHECK((said != NULL) == some_left_out);
    CHECK(strcmp(assay_meter_covers(meter), some_left_out ? "16 of 20 GPUs, not the processor"
                                                          : "GPUs, not the processor") == 0);
    assay_meter_free(meter);
}

static void test_many_boards(void **state)
{
    (void)state;
    in_child("watts=300,boards=16", scenario_many_boards);
    in_child("watts=300,boards=20", scenario_many_boards);
}

/* A counter that moves more rarely than the readings: the bounds hold the truth from the start, and
 * there is a figure once the meter has seen how often the counter moves. */
static void scenario_slow_counter(void)
{
    assay_meter *meter = NULL;
    assay_energy energy = ASSAY_INIT(assay_energy);
    CHECK(assay_meter_new(NULL, NULL, &meter) == ASSAY_OK);
    const uint64_t begin = assay_meter_now_ns();
    for (int i = 0; i < 12; i++) {
        const uint64_t from = assay_meter_now_ns();
        pause_ms(200);
        const uint64_t to = assay_meter_now_ns();
        CHECK(assay_meter_read(meter, from, to, NULL, &energy) == ASSAY_OK);
        CHECK(within(energy.joules_low, 300 * (double)(to - from) * 1e-9, energy.joules_high));
        CHECK(energy.joules.validity == ASSAY_NOT_ENOUGH_DATA);
        CHECK(energy.gpu_joules.validity == ASSAY_NOT_ENOUGH_DATA);
    }
    const uint64_t end = assay_meter_now_ns();
    const double truth = 300 * (double)(end - begin) * 1e-9;
    CHECK(assay_meter_read(meter, begin, end, NULL, &energy) == ASSAY_OK);
    CHECK(within(energy.joules_low, truth, energy.joules_high));
    CHECK(energy.joules.value > 0.8 * truth && energy.joules.value < 1.2 * truth);
    CHECK(energy.joules_high.value < truth + 300 * 2.2);
    /* A window from before the meter has no upper bound but the power limit, and no figure. */
    CHECK(assay_meter_read(meter, begin - 9000000000u, end, NULL, &energy) == ASSAY_OK);
    CHECK(within(energy.joules_low, truth + 300 * 9, energy.joules_high));
    CHECK(energy.joules.validity == ASSAY_NOT_ENOUGH_DATA);
    assay_meter_free(meter);
}

/* The counter does not move at all while the meter runs. */
static void scenario_no_move(void)
{
    assay_meter *meter = NULL;
    assay_energy energy = ASSAY_INIT(assay_energy);
    CHECK(assay_meter_new(NULL, NULL, &meter) == ASSAY_OK);
    const uint64_t begin = assay_meter_now_ns();
    pause_ms(300);
    CHECK(assay_meter_read(meter, begin, assay_meter_now_ns(), NULL, &energy) == ASSAY_OK);
    CHECK(energy.joules.validity == ASSAY_NOT_ENOUGH_DATA);
    CHECK(energy.joules_low.value == 0);
    if (strstr(getenv("FAKE_NVML"), "power_limit") != NULL)
        CHECK(energy.joules_high.validity == ASSAY_NOT_ENOUGH_DATA);
    else
        CHECK(energy.joules_high.value >= 300 * 0.3);
    assay_meter_free(meter);
}

static void test_rare_moves(void **state)
{
    (void)state;
    in_child("watts=300,boards=1,tick=700", scenario_slow_counter);
    in_child("boards=1", scenario_no_move);
    in_child("boards=1,power_limit=3", scenario_no_move);
}

static void scenario_throttled(void)
{
    assay_meter *meter = NULL;
    CHECK(assay_meter_new(NULL, NULL, &meter) == ASSAY_OK);
    uint64_t begin = assay_meter_now_ns();
    pause_ms(250);
    assay_energy energy = ASSAY_INIT(assay_energy);
    CHECK(assay_meter_read(meter, begin, assay_meter_now_ns(), NULL, &energy) == ASSAY_OK);
    CHECK(energy.throttle.value == ASSAY_THROTTLE_THERMAL);
    CHECK(energy.joules.validity == ASSAY_UNSUPPORTED); /* the counter may not be read */
    CHECK(strstr(assay_meter_describe(meter), "may not be read by this user") != NULL);
    CHECK(strcmp(assay_meter_covers(meter), "nothing") == 0);
    assay_meter_free(meter);
}

static void test_throttled_and_without_permission(void **state)
{
    (void)state;
    in_child("boards=1,energy=4,reasons=64", scenario_throttled);
}

/* A device that is lost says nothing more; what was counted stays. */
static void scenario_lost(void)
{
    assay_meter *meter = NULL;
    CHECK(assay_meter_new(NULL, NULL, &meter) == ASSAY_OK);
    uint64_t begin = assay_meter_now_ns();
    pause_ms(700);
    uint64_t end = assay_meter_now_ns();
    assay_energy energy = ASSAY_INIT(assay_energy);
    CHECK(assay_meter_read(meter, begin, end, NULL, &energy) == ASSAY_OK);
    CHECK(energy.joules_low.value > 0 && energy.joules_low.value <= 300 * 0.5);
    CHECK(energy.joules.validity == ASSAY_NOT_ENOUGH_DATA); /* what came after is not known */
    CHECK(energy.gpu_joules.validity == ASSAY_NOT_ENOUGH_DATA);
    CHECK(energy.joules_high.value > 300 * 0.7); /* by the power limit */
    CHECK(assay_meter_read(meter, end - 100000000, end, NULL, &energy) == ASSAY_OK);
    CHECK(energy.joules.validity != ASSAY_VALID); /* and no silent 0 */
    CHECK(assay_meter_read(meter, begin, begin + 200000000, NULL, &energy) == ASSAY_OK);
    CHECK(energy.joules.validity == ASSAY_VALID && energy.joules.value > 0);
    assay_meter_free(meter);
}

static void test_lost_device(void **state)
{
    (void)state;
    in_child("watts=300,boards=1,lost=0,lost_after=450", scenario_lost);
}

static void scenario_lives(void)
{
    assay_monitor *first = NULL, *second = NULL;
    assay_meter *meter = NULL;
    CHECK(assay_monitor_new(NULL, &first) == ASSAY_OK);
    CHECK(assay_monitor_new(NULL, &second) == ASSAY_OK);
    CHECK(assay_meter_new(NULL, NULL, &meter) == ASSAY_OK);
    CHECK(assay_monitor_attach_meter(first, meter) == ASSAY_OK);
    CHECK(assay_monitor_attach_meter(second, meter) == ASSAY_E_STATE);
    CHECK(assay_monitor_attach_meter(first, NULL) == ASSAY_OK);
    CHECK(assay_monitor_attach_meter(second, meter) == ASSAY_OK);
    CHECK(assay_monitor_attach_meter(NULL, meter) == ASSAY_OK);
    assay_meter_free(meter); /* before its monitor */
    assay_monitor_free(first);
    assay_monitor_free(second);
}

static void test_lives(void **state)
{
    (void)state;
    in_child("watts=300", scenario_lives);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing_to_meter_is_explained, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hours, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_counter_starts_again_within_a_window, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_windows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_boards, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rare_moves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_throttled_and_without_permission, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lost_device, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lives, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
