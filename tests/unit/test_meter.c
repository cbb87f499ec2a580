/* A meter reads a fake GPU (tests/fake/nvml.c, 300 W, a counter that changes every 100 ms) and a
 * fake powercap tree. */
#include <fcntl.h>
#include <math.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "assay/assay.h"
#include "assay/gpu.h"
#include "assay/meter.h"
#include "instrument/meter_state.h"
#include "instrument/rapl.h"
#include "tests/unit/fake_gpu.h"

static char root[64];

static void write_file(const char *zone, const char *file, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, zone);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/%s/%s", root, zone, file);
    /* A meter that reads meanwhile must not find the file empty. */
    int target = open(path, O_WRONLY | O_CREAT, 0644);
    assert_true(target >= 0);
    assert_int_equal(write(target, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(ftruncate(target, (off_t)strlen(text)), 0);
    close(target);
}

static void make_zone(const char *zone, const char *name, const char *energy_uj)
{
    write_file(zone, "name", name);
    write_file(zone, "max_energy_range_uj", "65532610987\n");
    write_file(zone, "energy_uj", energy_uj);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(root, "/tmp/assay-powercap-XXXXXX");
    return mkdtemp(root) == NULL || setenv("ASSAY_POWERCAP", root, 1) != 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command);
}

/* ---- the processor ---- */

static void test_counters_come_round(void **state)
{
    (void)state;
    assay__rapl rapl;
    make_zone("intel-rapl:0", "package-0\n", "65532609987\n");
    make_zone("intel-rapl:0:0", "core\n", "5\n"); /* part of its package */
    make_zone("intel-rapl:0:1", "dram\n", "100\n");
    make_zone("intel-rapl:1", "psys\n", "7\n"); /* contains the packages */
    make_zone("intel-rapl-mmio:0", "package-0\n", "999000\n");
    assert_int_equal(assay__rapl_open(root, NULL, &rapl), ASSAY_OK);
    assert_int_equal(rapl.count, 2);
    write_file("intel-rapl:0", "energy_uj", "1500\n");
    write_file("intel-rapl:0:1", "energy_uj", "600\n");
    assert_int_equal(assay__rapl_read(&rapl), ASSAY_OK);
    assert_true(rapl.joules > 2999e-6 && rapl.joules < 3001e-6);
    write_file("intel-rapl:0", "energy_uj", "nonsense\n");
    assert_int_equal(assay__rapl_read(&rapl), ASSAY_E_IO);
    assay__rapl_close(&rapl);
}

/* Counters start again while a machine sleeps. This is no wrapping around, which would mean more
 * power than a processor can draw. */
static void test_counters_start_again(void **state)
{
    (void)state;
    assay__rapl rapl;
    make_zone("intel-rapl:0", "package-0\n", "62143300000\n");
    write_file("intel-rapl:0", "max_energy_range_uj", "262143328850\n");
    make_zone("intel-rapl:1", "package-1\n", "5000000\n");
    write_file("intel-rapl:1", "max_energy_range_uj", ""); /* it is not known */
    assert_int_equal(assay__rapl_open(root, NULL, &rapl), ASSAY_OK);
    write_file("intel-rapl:0", "energy_uj", "1000000\n");
    assert_int_equal(assay__rapl_read(&rapl), ASSAY_OK);
    assert_true(rapl.joules == 0 && rapl.restarts == 1);
    /* The process was stopped for an hour: the counter may have wrapped around many times. */
    rapl.zones[rapl.zones[0].last_uj == 1000000 ? 0 : 1].last_ns -= 3600ull * 1000000000;
    assert_int_equal(assay__rapl_read(&rapl), ASSAY_OK);
    assert_true(rapl.joules == 0 && rapl.restarts == 2);
    write_file("intel-rapl:0", "energy_uj", "3000000\n");
    write_file("intel-rapl:1", "energy_uj", "1000000\n");
    assert_int_equal(assay__rapl_read(&rapl), ASSAY_OK);
    assert_true(fabs(rapl.joules - 2) < 1e-9 && rapl.restarts == 3);
    write_file("intel-rapl:1", "energy_uj", "200000000000\n"); /* 200 kJ at once */
    assert_int_equal(assay__rapl_read(&rapl), ASSAY_OK);
    assert_true(fabs(rapl.joules - 2) < 1e-9 && rapl.restarts == 4);
    write_file("intel-rapl:1", "energy_uj", "200001000000\n");
    assert_int_equal(assay__rapl_read(&rapl), ASSAY_OK);
    assert_true(fabs(rapl.joules - 3) < 1e-9 && rapl.restarts == 4);
    assay__rapl_close(&rapl);
}

/* One package of two is not the processor. Memory may be left out. A limit holds for all packages
 * or for none. */
static void test_some_counters_cannot_be_read(void **state)
{
    (void)state;
    assay__rapl rapl;
    assay_error error = {0};
    make_zone("intel-rapl:0", "package-0\n", "1000\n");
    write_file("intel-rapl:0", "constraint_0_power_limit_uw", "100000000\n");
    make_zone("intel-rapl:0:1", "dram\n", "");
    make_zone("intel-rapl:1", "package-1\n", "1000\n");
    assert_int_equal(assay__rapl_open(root, NULL, &rapl), ASSAY_OK);
    assert_int_equal(rapl.count, 2);
    assert_string_equal(rapl.left_out, "intel-rapl:0:1");
    assert_true(rapl.limit_watts == 0); /* that of one package is not known */
    assay__rapl_close(&rapl);
    write_file("intel-rapl:1", "constraint_1_power_limit_uw", "200000000\n");
    assert_int_equal(assay__rapl_open(root, NULL, &rapl), ASSAY_OK);
    assert_true(fabs(rapl.limit_watts - 300) < 1e-6);
    assay__rapl_close(&rapl);
    write_file("intel-rapl:1", "enabled", "0\n"); /* the limit is not in force */
    assert_int_equal(assay__rapl_open(root, NULL, &rapl), ASSAY_OK);
    assert_true(rapl.limit_watts == 0);
    assay__rapl_close(&rapl);
    write_file("intel-rapl:1", "energy_uj", "");
    assert_int_equal(assay__rapl_open(root, &error, &rapl), ASSAY_E_UNSUPPORTED);
    assert_int_equal(rapl.count, 0);
}

static void test_many_packages(void **state)
{
    (void)state;
    assay__rapl rapl;
    enum { PACKAGES = 32 };
    for (int i = 0; i < PACKAGES; i++) {
        char zone[32];
        snprintf(zone, sizeof zone, "intel-rapl:%d", i);
        make_zone(zone, "package-0\n", "0\n");
    }
    assert_int_equal(assay__rapl_open(root, NULL, &rapl), ASSAY_OK);
    assert_int_equal(rapl.count, PACKAGES);
    assay__rapl_close(&rapl);
}

/* Only root may read the counters of a real machine. */
static void test_not_permitted(void **state)
{
    (void)state;
    char path[256];
    make_zone("intel-rapl:0", "package-0\n", "1\n");
    snprintf(path, sizeof path, "%s/intel-rapl:0/energy_uj", root);
    assert_int_equal(chmod(path, 0400), 0);
    chmod(root, 0755);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && seteuid(65534) != 0)
            _exit(2);
        if (geteuid() != 65534)
            chmod(path, 0);
        assay__rapl rapl;
        assay_error error = {0};
        assay_status status = assay__rapl_open(root, &error, &rapl);
        _exit(status == ASSAY_E_PERMISSION && strstr(error.message, "only root") != NULL ? 0 : 1);
    }
    int how = -1;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
}

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

/* ---- windows ---- */

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

static bool within(assay_reading low, double value, assay_reading high)
{
    return low.validity == ASSAY_VALID && high.validity == ASSAY_VALID && low.value <= value &&
           value <= high.value;
}

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

/* ---- operations ---- */

static const assay_record_operation *operation(const assay_record *record, const char *name)
{
    for (size_t i = 0; i < record->operation_count; i++)
        if (strcmp(record->operations[i].name, name) == 0)
            return &record->operations[i];
    return NULL;
}

static const assay_record_counter *counter(const assay_record *record, const char *name)
{
    for (size_t i = 0; i < record->counter_count; i++)
        if (strcmp(record->counters[i].name, name) == 0)
            return &record->counters[i];
    return NULL;
}

static void check_operation(const assay_record *record, const char *name)
{
    const assay_record_operation *found = operation(record, name);
    CHECK(found != NULL);
    double truth = 300 * found->total_seconds;
    fprintf(stderr, "%s: %.3f s, %.1f J (%.1f to %.1f), true %.1f\n", name, found->total_seconds,
            found->energy_joules.value, found->energy_joules_low.value,
            found->energy_joules_high.value, truth);
    CHECK(within(found->energy_joules_low, truth, found->energy_joules_high));
    CHECK(within(found->energy_joules_low, found->energy_joules.value, found->energy_joules_high));
}

static void scenario_operations(void)
{
    assay_monitor *monitor = NULL;
    assay_meter *meter = NULL;
    assay_record *record = NULL;
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.trace_events = 4096;
    CHECK(assay_monitor_new(&options, &monitor) == ASSAY_OK);
    ASSAY_TRACK(monitor, "before") {
        pause_ms(5);
    }
    CHECK(assay_meter_new(NULL, NULL, &meter) == ASSAY_OK);
    CHECK(assay_monitor_attach_meter(monitor, meter) == ASSAY_OK);
    pause_ms(250);
    ASSAY_TRACK(monitor, "long") {
        pause_ms(1300);
    } /* several windows, entered at its end */
    for (int i = 0; i < 60; i++) {
        ASSAY_TRACK(monitor, "short") {
            pause_ms(5);
        } /* many in a window */
        ASSAY_TRACK(monitor, "other") {
            pause_ms(5);
        }
    }
    ASSAY_TRACK(monitor, "single") {
        pause_ms(5);
    } /* too short for any figure */
    pause_ms(350);
    CHECK(assay_monitor_record(monitor, NULL, &record) == ASSAY_OK);
    check_operation(record, "long");
    check_operation(record, "short");
    check_operation(record, "other");
    CHECK(operation(record, "long")->energy_joules_low.value > 0);
    const assay_record_operation *single = operation(record, "single");
    CHECK(single->energy_joules.validity == ASSAY_NOT_ENOUGH_DATA);
    CHECK(single->energy_joules_high.validity == ASSAY_VALID &&
          single->energy_joules_high.value > 0);
    CHECK(operation(record, "before")->energy_joules.validity == ASSAY_NOT_MEASURED);
    CHECK(counter(record, "cuda:0 power_watts")->mean == 300);
    CHECK(counter(record, "cuda:0 utilisation")->last == 0.75);
    CHECK(counter(record, "cuda:0 received_bytes_per_second") == NULL); /* it was not asked for */
    assay_record_free(record);
    assay_monitor_clear(monitor);
    pause_ms(250);
    CHECK(assay_monitor_record(monitor, NULL, &record) == ASSAY_OK);
    CHECK(record->operation_count == 0);
    assay_record_free(record);
    assay_monitor_free(monitor); /* detaches */
    assay_meter_free(meter);
}

static void test_energy_of_operations(void **state)
{
    (void)state;
    in_child("watts=300,boards=1", scenario_operations);
}

/* The windows of operations wait for a counter that moves more rarely than once a second. */
static void scenario_operations_and_slow_counter(void)
{
    assay_monitor *monitor = NULL;
    assay_meter *meter = NULL;
    assay_record *record = NULL;
    CHECK(assay_monitor_new(NULL, &monitor) == ASSAY_OK);
    CHECK(assay_meter_new(NULL, NULL, &meter) == ASSAY_OK);
    CHECK(assay_monitor_attach_meter(monitor, meter) == ASSAY_OK);
    pause_ms(1600);
    for (int i = 0; i < 12; i++)
        ASSAY_TRACK(monitor, "often") {
            pause_ms(350);
        }
    CHECK(assay_monitor_record(monitor, NULL, &record) == ASSAY_OK);
    const assay_record_operation *often = operation(record, "often");
    CHECK(often->energy_joules_high.validity == ASSAY_VALID);
    /* At most the last 1.5 s and a reading are not in the record yet. */
    CHECK(often->energy_joules_high.value >= 300 * (often->total_seconds - 1.75));
    CHECK(often->energy_joules_low.value <= 300 * often->total_seconds);
    CHECK(often->energy_joules.value > 300 * 1.5);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assay_meter_free(meter);
}

static void test_operations_and_rare_moves(void **state)
{
    (void)state;
    in_child("watts=300,boards=1,tick=1500", scenario_operations_and_slow_counter);
}

/* Seconds of bursts (tests/fake/nvml.c) until a time. */
static double burst_seconds(uint64_t ns)
{
    const double at = (double)(ns % 200000000) * 1e-6;
    return ((double)(ns / 200000000) * 42 + fmin(fmax(at - 105, 0), 40) +
            fmin(fmax(at - 160, 0), 2)) *
           1e-3;
}

static uint64_t sleep_until_phase(uint64_t ms)
{
    const uint64_t now = assay_meter_now_ns(), phase = now % 200000000, due = ms * 1000000;
    const uint64_t left = phase < due ? due - phase : due + 200000000 - phase;
    nanosleep(&(struct timespec){0, (long)left}, NULL);
    return assay_meter_now_ns();
}

/* An operation runs briefly in every window. A reading at 50 ms past a move of the counter does not
 * show its bursts yet: their energy is in the window after, in which the operation hardly runs. */
static void scenario_bursts(void)
{
    assay_monitor *monitor = NULL;
    assay_meter *meter = NULL;
    assay_record *record = NULL;
    double truth = 0;
    CHECK(assay_monitor_new(NULL, &monitor) == ASSAY_OK);
    sleep_until_phase(52);
    CHECK(assay_meter_new(NULL, NULL, &meter) == ASSAY_OK);
    CHECK(assay_monitor_attach_meter(monitor, meter) == ASSAY_OK);
    pause_ms(400);
    for (int i = 0; i < 10; i++)
        for (int tiny = 0; tiny < 2; tiny++) {
            uint64_t begin = sleep_until_phase(tiny ? 160 : 105), end = begin;
            ASSAY_TRACK(monitor, "bursts") {
                end = sleep_until_phase(tiny ? 162 : 145);
            }
            const double seconds = (double)(end - begin) * 1e-9;
            const double busy = burst_seconds(end) - burst_seconds(begin);
            truth += 300 * busy + 10 * (seconds - busy);
        }
    pause_ms(400);
    CHECK(assay_monitor_record(monitor, NULL, &record) == ASSAY_OK);
    const assay_record_operation *bursts = operation(record, "bursts");
    fprintf(stderr, "bursts: %.1f to %.1f J, true %.1f\n", bursts->energy_joules_low.value,
            bursts->energy_joules_high.value, truth);
    CHECK(within(bursts->energy_joules_low, truth, bursts->energy_joules_high));
    assay_record_free(record);
    assay_monitor_free(monitor);
    assay_meter_free(meter);
}

static void *work_for_a_second(void *monitor)
{
    for (int i = 0; i < 20; i++)
        ASSAY_TRACK(monitor, "work") {
            pause_ms(50);
        }
    return NULL;
}

/* Threads that run the same operation at the same time do not consume the energy several times. */
static void scenario_threads(void)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    assay_monitor *monitor = NULL;
    assay_meter *meter = NULL;
    assay_record *record = NULL;
    CHECK(assay_monitor_new(NULL, &monitor) == ASSAY_OK);
    CHECK(assay_meter_new(NULL, NULL, &meter) == ASSAY_OK);
    CHECK(assay_monitor_attach_meter(monitor, meter) == ASSAY_OK);
    pause_ms(250);
    const uint64_t begin = assay_meter_now_ns();
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work_for_a_second, monitor) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    const double truth = 300 * (double)(assay_meter_now_ns() - begin) * 1e-9;
    pause_ms(350);
    CHECK(assay_monitor_record(monitor, NULL, &record) == ASSAY_OK);
    const assay_record_operation *work = operation(record, "work");
    fprintf(stderr, "threads: %.1f J (%.1f to %.1f), true %.1f\n", work->energy_joules.value,
            work->energy_joules_low.value, work->energy_joules_high.value, truth);
    CHECK(within(work->energy_joules_low, truth, work->energy_joules_high));
    CHECK(work->energy_joules.value < 1.3 * truth && work->energy_joules_low.value > 0.5 * truth);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assay_meter_free(meter);
}

/* What ran while no meter was attached has no energy. */
static void scenario_attached_again(void)
{
    assay_monitor *monitor = NULL;
    assay_meter *meter = NULL;
    assay_record *record = NULL;
    CHECK(assay_monitor_new(NULL, &monitor) == ASSAY_OK);
    CHECK(assay_meter_new(NULL, NULL, &meter) == ASSAY_OK);
    CHECK(assay_monitor_attach_meter(monitor, meter) == ASSAY_OK);
    pause_ms(250);
    for (int i = 0; i < 80; i++) {
        ASSAY_TRACK(monitor, "always") {
            pause_ms(20);
        }
        if (i == 20)
            CHECK(assay_monitor_attach_meter(monitor, NULL) == ASSAY_OK);
        if (i == 70)
            CHECK(assay_monitor_attach_meter(monitor, meter) == ASSAY_OK);
    }
    pause_ms(250);
    CHECK(assay_monitor_record(monitor, NULL, &record) == ASSAY_OK);
    const assay_record_operation *always = operation(record, "always");
    fprintf(stderr, "attached again: %.1f J (%.1f to %.1f) in %.3f s\n",
            always->energy_joules.value, always->energy_joules_low.value,
            always->energy_joules_high.value, always->total_seconds);
    CHECK(always->energy_joules.value < 300 * 0.5 * always->total_seconds);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assay_meter_free(meter);
}

/* A span that is open is part of the windows in which it runs, not of the one in which it ends. */
static void scenario_open_spans(void)
{
    assay_monitor *monitor = NULL;
    assay_meter *meter = NULL;
    assay_record *record = NULL;
    CHECK(assay_monitor_new(NULL, &monitor) == ASSAY_OK);
    CHECK(assay_meter_new(NULL, NULL, &meter) == ASSAY_OK);
    CHECK(assay_monitor_attach_meter(monitor, meter) == ASSAY_OK);
    for (int i = 0; i < 2; i++) {
        ASSAY_TRACK(monitor, "again") {
            pause_ms(i == 0 ? 1 : 1200);
            if (i == 1)
                CHECK(assay_monitor_record(monitor, NULL, &record) == ASSAY_OK);
        }
        pause_ms(250);
    }
    const assay_record_operation *again = operation(record, "again");
    fprintf(stderr, "while open: %.1f J (%.1f to %.1f)\n", again->energy_joules.value,
            again->energy_joules_low.value, again->energy_joules_high.value);
    CHECK(again->energy_joules.value > 300 * 0.7 && again->energy_joules_low.value > 300 * 0.6);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assay_meter_free(meter);
}

/* The time of a span that was open and then abandoned is no time that later spans have to make up
 * for. */
static void scenario_abandoned(void)
{
    assay_monitor *monitor = NULL;
    assay_meter *meter = NULL;
    assay_record *record = NULL;
    CHECK(assay_monitor_new(NULL, &monitor) == ASSAY_OK);
    CHECK(assay_meter_new(NULL, NULL, &meter) == ASSAY_OK);
    CHECK(assay_monitor_attach_meter(monitor, meter) == ASSAY_OK);
    const assay_span outer = assay_monitor_begin(monitor, "outer");
    const assay_span brief = assay_monitor_begin(monitor, "work");
    pause_ms(1);
    assay_span_end(brief);
    (void)assay_monitor_begin(monitor, "work");
    pause_ms(1000);
    CHECK(assay_monitor_record(monitor, NULL, &record) == ASSAY_OK);
    const double before = operation(record, "work")->energy_joules.value;
    assay_record_free(record);
    record = NULL;
    assay_span_end(outer);
    const assay_span again = assay_monitor_begin(monitor, "outer");
    for (int i = 0; i < 40; i++) {
        const assay_span work = assay_monitor_begin(monitor, "work");
        pause_ms(20);
        assay_span_end(work);
    }
    assay_span_end(again);
    pause_ms(250);
    CHECK(assay_monitor_record(monitor, NULL, &record) == ASSAY_OK);
    CHECK(record->integrity.abandoned_spans == 1 && operation(record, "work")->count == 41);
    const double after = operation(record, "work")->energy_joules.value;
    fprintf(stderr, "abandoned: %.1f J before, %.1f J after\n", before, after);
    CHECK(after - before > 300 * 0.8 / 2);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assay_meter_free(meter);
}

static uint64_t stand_still(void *context)
{
    (void)context;
    return 1;
}

/* A clock of the program's own, which has just begun: the end of a window is before its first
 * reading. A span that is open has run for no time. */
static void scenario_young_clock(void)
{
    assay_monitor *monitor = NULL;
    assay_meter *meter = NULL;
    assay_record *record = NULL;
    assay_clock *clock = NULL;
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    CHECK(assay_clock_new_injected(stand_still, NULL, &clock) == ASSAY_OK);
    options.clock = clock;
    CHECK(assay_monitor_open(&options, NULL, &monitor) == ASSAY_OK);
    CHECK(assay_meter_new(NULL, NULL, &meter) == ASSAY_OK);
    CHECK(assay_monitor_attach_meter(monitor, meter) == ASSAY_OK);
    for (int i = 0; i < 2; i++)
        ASSAY_TRACK(monitor, "young") {
            pause_ms(500);
            CHECK(assay_monitor_record(monitor, NULL, &record) == ASSAY_OK);
            if (i == 1)
                CHECK(operation(record, "young")->energy_joules_high.validity != ASSAY_VALID);
            assay_record_free(record);
        }
    assay_monitor_free(monitor);
    assay_meter_free(meter);
    assay_clock_free(clock);
}

static void test_energy_of_brief_and_of_open_spans(void **state)
{
    (void)state;
    in_child("watts=300,boards=1,bursts=10", scenario_bursts);
    in_child("watts=300,boards=1", scenario_open_spans);
    in_child("watts=300,boards=1", scenario_threads);
    in_child("watts=300,boards=1", scenario_attached_again);
    in_child("watts=300,boards=1", scenario_young_clock);
    in_child("watts=300,boards=1", scenario_abandoned);
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

/* The processor's energy alone: the tree says 20 W. */
static void scenario_processor(void)
{
    assay_monitor *monitor = NULL;
    assay_meter *meter = NULL;
    assay_record *record = NULL;
    assay_meter_options options = ASSAY_METER_OPTIONS_INIT;
    options.no_devices = true;
    options.period_seconds = 0.02;
    CHECK(assay_monitor_new(NULL, &monitor) == ASSAY_OK);
    CHECK(assay_meter_new(&options, NULL, &meter) == ASSAY_OK);
    CHECK(strcmp(assay_meter_covers(meter), "processor") == 0);
    CHECK(assay_monitor_attach_meter(monitor, meter) == ASSAY_OK);
    pause_ms(60);
    uint64_t start = assay_meter_now_ns();
    ASSAY_TRACK(monitor, "train")
        for (int i = 1; i <= 20; i++) {
            char text[32];
            pause_ms(10);
            snprintf(text, sizeof text, "%llu\n",
                     (unsigned long long)((assay_meter_now_ns() - start) / 50));
            write_file("intel-rapl:0", "energy_uj", text);
        }
    double joules = 20 * (double)(assay_meter_now_ns() - start) * 1e-9;
    char last[32];
    snprintf(last, sizeof last, "%.0f\n", 1.01e6 * joules); /* so that the last window ends */
    pause_ms(10);
    write_file("intel-rapl:0", "energy_uj", last);
    pause_ms(80);
    CHECK(assay_monitor_record(monitor, NULL, &record) == ASSAY_OK);
    const assay_record_operation *train = operation(record, "train");
    CHECK(train->energy_joules.validity == ASSAY_VALID);
    CHECK(train->energy_joules.value > 0.5 * joules && train->energy_joules.value < 1.5 * joules);
    CHECK(counter(record, "processor power_watts") != NULL);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assay_meter_free(meter);
}

static void test_energy_of_the_processor(void **state)
{
    (void)state;
    make_zone("intel-rapl:0", "package-0\n", "0\n");
    write_file("intel-rapl:0", "max_energy_range_uj", "262143328850\n");
    in_child("init=9", scenario_processor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_counters_come_round, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_counters_start_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_some_counters_cannot_be_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_packages, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hours, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_counter_starts_again_within_a_window, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_not_permitted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_to_meter_is_explained, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_windows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_boards, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rare_moves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_throttled_and_without_permission, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lost_device, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_energy_of_operations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_operations_and_rare_moves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_energy_of_brief_and_of_open_spans, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lives, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_energy_of_the_processor, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
