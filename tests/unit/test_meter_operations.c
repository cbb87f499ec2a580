/* The energy of operations, from the readings of a meter. The meter reads a fake GPU
 * (tests/fake/nvml.c, 300 W, a counter that changes every 100 ms) or a fake powercap tree. */
#include <math.h>
#include <pthread.h>

#include "tests/unit/meter_fixture.h"

static void check_operation(const assay_record *record, const char *name)
{
    const assay_record_operation *found = find_operation(record, name);
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
    CHECK(find_operation(record, "long")->energy_joules_low.value > 0);
    const assay_record_operation *single = find_operation(record, "single");
    CHECK(single->energy_joules.validity == ASSAY_NOT_ENOUGH_DATA);
    CHECK(single->energy_joules_high.validity == ASSAY_VALID &&
          single->energy_joules_high.value > 0);
    CHECK(find_operation(record, "before")->energy_joules.validity == ASSAY_NOT_MEASURED);
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
    const assay_record_operation *often = find_operation(record, "often");
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
    const assay_record_operation *bursts = find_operation(record, "bursts");
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
    const assay_record_operation *work = find_operation(record, "work");
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
    const assay_record_operation *always = find_operation(record, "always");
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
    const assay_record_operation *again = find_operation(record, "again");
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
    const double before = find_operation(record, "work")->energy_joules.value;
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
    CHECK(record->integrity.abandoned_spans == 1 && find_operation(record, "work")->count == 41);
    const double after = find_operation(record, "work")->energy_joules.value;
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
                CHECK(find_operation(record, "young")->energy_joules_high.validity != ASSAY_VALID);
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
    const assay_record_operation *train = find_operation(record, "train");
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
        cmocka_unit_test_setup_teardown(test_energy_of_operations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_operations_and_rare_moves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_energy_of_brief_and_of_open_spans, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_energy_of_the_processor, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
