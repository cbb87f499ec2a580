/* GPU activity: CUPTI records written into a region, idle time and its causes, and the run record
 * made from them. Times are nanoseconds that the test chooses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cupti/region.h"
#include "snapshot/activity_idle.h"
#include "snapshot/activity_merge.h"

enum { BASE = 1000000000, US = 1000, MS = 1000000 };

static assay__activity_region *region;
static assay__submits *submits;

static int set_up(void **state)
{
    (void)state;
    region = calloc(1, sizeof *region);
    submits = calloc(1, sizeof *submits);
    if (region == NULL || submits == NULL)
        return -1;
    region->magic = ASSAY__ACTIVITY_MAGIC;
    region->bytes = sizeof *region;
    region->kernel_count = region->point_stride = 1;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(region);
    free(submits);
    return 0;
}

static void kernel(const char *name, uint64_t start, uint64_t end, uint32_t correlation)
{
    assay__cupti_kernel record = {.kind = ASSAY__CUPTI_KERNEL,
                                  .start = BASE + start,
                                  .end = BASE + end,
                                  .stream = 7,
                                  .correlation = correlation,
                                  .name = name};
    assay__region_enter(region, &record, submits, 0);
}

static void copy(uint64_t start, uint64_t end, uint32_t correlation)
{
    assay__cupti_memcpy record = {.kind = ASSAY__CUPTI_MEMCPY,
                                  .copy_kind = ASSAY__CUPTI_FROM_HOST,
                                  .source = 1,
                                  .bytes = 1000,
                                  .start = BASE + start,
                                  .end = BASE + end,
                                  .stream = 8,
                                  .correlation = correlation};
    assay__region_enter(region, &record, submits, 0);
}

/* The host calls at `begin`, and is back at `end`. */
static void call(uint32_t correlation, uint64_t begin, uint64_t end, bool waits)
{
    if (correlation != 0)
        assay__submit_begin(submits, correlation, BASE + begin);
    assay__submit_end(submits, waits, BASE + end);
}

static uint64_t idle(assay__idle_cause cause)
{
    return region->devices[0].idle_ns[cause];
}

/* A table of gaps, one cause each. */
static void test_causes(void **state)
{
    (void)state;
    call(0, 0, 10 * US, false);
    call(1, 20 * US, 30 * US, false); /* the first */
    kernel("a", 25 * US, 50 * US, 1);
    call(2, 70 * US, 80 * US, false); /* late by 20 µs: launch-bound */
    kernel("a", 75 * US, 100 * US, 2);
    call(3, 90 * US, 95 * US, false); /* in time, but it ran late: queued */
    kernel("a", 110 * US, 120 * US, 3);
    call(0, 115 * US, 125 * US, true); /* waits for it */
    call(4, 140 * US, 145 * US, false);
    kernel("a", 143 * US, 200 * US, 4);
    call(5, 500 * US, 510 * US, false); /* after 300 µs without a call: other work */
    kernel("a", 505 * US, 600 * US, 5);
    call(6, 900 * US, 905 * US, false); /* the same, and then data comes */
    copy(902 * US, 1000 * US, 6);
    kernel("a", 1100 * US, 1200 * US, 77); /* nothing is known of its launch */
    assay__activity_settle(region, 0);
    assert_int_equal(idle(ASSAY__IDLE_LAUNCH), 25 * US);
    assert_int_equal(idle(ASSAY__IDLE_QUEUED), 10 * US);
    assert_int_equal(idle(ASSAY__IDLE_SYNC), 23 * US);
    assert_int_equal(idle(ASSAY__IDLE_HOST), 305 * US);
    assert_int_equal(idle(ASSAY__IDLE_DATA), 302 * US);
    assert_int_equal(idle(ASSAY__IDLE_UNKNOWN), 100 * US);
    assert_int_equal(idle(ASSAY__IDLE_COPIES), 98 * US);
    assert_int_equal(region->devices[0].longest_ns, 305 * US);
    const assay__activity_device *device = &region->devices[0];
    uint64_t sum = device->kernel_ns;
    for (int i = 0; i < ASSAY__IDLE_CAUSES; i++)
        sum += device->idle_ns[i];
    assert_int_equal(sum, device->last_ns - device->first_ns);
}

/* A synchronisation that is followed by long work of the host is not to blame for the gap. */
static void test_long_work_after_a_wait(void **state)
{
    (void)state;
    kernel("a", 0, 10 * US, 1);
    call(0, 5 * US, 12 * US, true);
    call(2, 5 * MS, 5 * MS + US, false);
    kernel("a", 5 * MS + US, 6 * MS, 2);
    assay__activity_settle(region, 0);
    assert_int_equal(idle(ASSAY__IDLE_SYNC), 0);
    assert_int_equal(idle(ASSAY__IDLE_HOST), 5 * MS + US - 10 * US);
}

static void test_overlaps_are_counted_once(void **state)
{
    (void)state;
    kernel("long", 0, 100, 1);
    kernel("inside", 20, 30, 2); /* on another stream */
    copy(50, 150, 3);
    kernel("tail", 140, 160, 4);
    assay__activity_settle(region, 0);
    assert_int_equal(region->devices[0].busy_ns, 160);
    assert_int_equal(region->devices[0].kernel_ns, 120);
    assert_int_equal(idle(ASSAY__IDLE_COPIES), 40);
}

/* The time between two ranges is neither idle nor part of the span, whatever the order of the
 * records; the gaps within a range are. */
static void test_between_ranges_nothing_is_known(void **state)
{
    (void)state;
    region->ranged = 1;
    assay__region_begin_range(region, BASE);
    assay__region_begin_range(region, BASE + 1000);
    kernel("second", 1100, 1200, 1);
    kernel("first", 100, 200, 2);
    kernel("first", 250, 300, 3);
    kernel("second", 1250, 1300, 4);
    kernel("launched in the first", 400, 450, 5);
    assay__activity_settle(region, 0);
    const assay__activity_device *device = &region->devices[0];
    assert_int_equal(device->outside_ns, 1100 - 450);
    assert_int_equal(idle(ASSAY__IDLE_UNKNOWN), 50 + 100 + 50);
    assert_int_equal(device->longest_ns, 100);
    assert_int_equal(device->last_ns - device->first_ns - device->outside_ns,
                     device->kernel_ns + 200);
    assert_int_equal(region->range_count, 2);
}

/* Only the latest begins are remembered, and later ranges are still told apart. */
static void test_many_ranges(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 3 * ASSAY__ACTIVITY_RANGES; i++) {
        assay__region_begin_range(region, BASE + 1000 * i);
        kernel("a", 1000 * i + 100, 1000 * i + 200, 0);
    }
    assay__activity_settle(region, 0);
    assert_int_equal(region->devices[0].outside_ns, (3 * ASSAY__ACTIVITY_RANGES - 1) * 900);
    assert_int_equal(region->devices[0].longest_ns, 0);
}

/* Records come in any order; those behind what was settled are counted. */
static void test_order_of_arrival(void **state)
{
    (void)state;
    kernel("c", 400, 500, 1);
    kernel("a", 0, 100, 2);
    kernel("b", 200, 300, 3);
    assay__activity_settle(region, 1);
    assert_int_equal(region->settled, 2);
    assert_int_equal(region->devices[0].busy_ns, 200);
    kernel("late", 150, 160, 4);
    assay__activity_settle(region, 0);
    assert_int_equal(region->late_activities, 1);
    assert_int_equal(region->devices[0].busy_ns, 300);
}

/* More than the list holds: sums stay exact, the oldest activities go. */
static void test_the_list_is_bounded(void **state)
{
    (void)state;
    enum { MANY = 2 * ASSAY__ACTIVITY_MAX + 5 };
    for (uint64_t i = 0; i < MANY; i++)
        kernel("k", i * 20, i * 20 + 10, (uint32_t)i);
    assert_true(region->count <= ASSAY__ACTIVITY_MAX);
    assert_int_equal(region->forgotten + region->count, MANY);
    assay__activity_settle(region, 0);
    assert_int_equal(region->devices[0].busy_ns, UINT64_C(10) * MANY);
    assert_int_equal(region->late_activities, 0);
}

static void test_more_names_than_rows(void **state)
{
    (void)state;
    char name[32];
    for (uint32_t i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "kernel %u", i % 4000);
        kernel(name, i * 20, i * 20 + 10, i);
    }
    uint64_t named = 0;
    for (size_t i = 1; i < ASSAY__ACTIVITY_KERNELS; i++)
        named += region->kernels[i].count;
    assert_true(region->kernels[0].count > 0);
    assert_int_equal(named + region->kernels[0].count, 5000);
    char *long_name = malloc(ASSAY__ACTIVITY_NAME_BYTES + 1);
    memset(long_name, 'x', ASSAY__ACTIVITY_NAME_BYTES);
    long_name[ASSAY__ACTIVITY_NAME_BYTES] = '\0';
    uint64_t before = region->kernels[0].count;
    kernel(long_name, 200000, 200010, 1);
    assert_int_equal(region->kernels[0].count, before + 1);
    free(long_name);
}

static void test_memory_over_time(void **state)
{
    (void)state;
    assay__cupti_memory record = {
        .kind = ASSAY__CUPTI_MEMORY, .memory = ASSAY__CUPTI_ON_DEVICE, .bytes = 100};
    for (uint64_t i = 0; i < 10000; i++) {
        record.operation = i % 2 == 0 ? ASSAY__CUPTI_ALLOCATED : ASSAY__CUPTI_RELEASED;
        record.time = BASE + i;
        assay__region_enter(region, &record, submits, 0);
    }
    record.memory = 2; /* of the host */
    assay__region_enter(region, &record, submits, 0);
    assert_int_equal(region->devices[0].allocations, 5000);
    assert_int_equal(region->devices[0].peak_bytes, 100);
    assert_int_equal(region->devices[0].live_bytes, 0);
    assert_true(region->point_count <= ASSAY__ACTIVITY_POINTS && region->point_count > 1000);
    for (uint32_t i = 1; i < region->point_count; i++)
        assert_true(region->points[i].time_ns > region->points[i - 1].time_ns);
}

/* A call that 65536 others overtook is not mistaken for one of them. */
static void test_submits_are_bounded(void **state)
{
    (void)state;
    uint64_t time;
    uint32_t silence;
    bool waited;
    call(5, 100, 200, true);
    call(6, 1200, 1300, false);
    assert_true(assay__submit_find(submits, 6, &time, &silence, &waited));
    assert_int_equal(time, BASE + 1200);
    assert_int_equal(silence, 1000);
    assert_true(waited);
    call(5 + ASSAY__SUBMITS, 2000, 2100, false);
    assert_false(assay__submit_find(submits, 5, &time, &silence, &waited));
    assert_false(assay__submit_find(submits, 4, &time, &silence, &waited));
    call(7, UINT64_C(20000000000), UINT64_C(20000000001), false); /* after 20 s: saturates */
    assert_true(assay__submit_find(submits, 7, &time, &silence, &waited));
    assert_true(silence > UINT32_C(4000000000));
}

static void test_record(void **state)
{
    (void)state;
    assay_error error;
    assay__activity_region *parsed = NULL;
    assay__activity_merge merge = {.origin_ns = BASE, .most_events = 3};
    assert_int_equal(assay_record_new(&merge.record), ASSAY_OK);
    kernel("cheap", 0, 100, 1);
    kernel("_Z4gemmPf", 200, 1200, 2);
    kernel("_Z4gemmPf", 1200, 4200, 3);
    copy(5000, 5500, 4);
    assert_int_equal(assay__activity_parse(region, sizeof *region, &error, &parsed), ASSAY_OK);
    assert_int_equal(assay__activity_merge_add(&merge, parsed), ASSAY_OK);
    assert_int_equal(assay__activity_merge_add(&merge, parsed), ASSAY_OK); /* a second process */
    assert_int_equal(assay__activity_merge_finish(&merge), ASSAY_OK);
    const assay_record_gpu *gpu = &merge.record->gpu;
    assert_int_equal(gpu->processes, 2);
    assert_int_equal(gpu->kernel_count, 2);
    assert_string_equal(gpu->kernels[0].name, "gemm(float*)");
    assert_int_equal(gpu->kernels[0].count, 4);
    assert_float_equal(gpu->kernels[0].total_seconds, 8e-6, 1e-15);
    assert_float_equal(gpu->kernels[0].mean_seconds, 2e-6, 1e-15);
    assert_float_equal(gpu->kernels[0].std_seconds.value, 1.1547005e-6, 1e-12);
    assert_float_equal(gpu->kernels[0].share, 8000.0 / 8200, 1e-12);
    assert_int_equal(gpu->copy_count, 1);
    assert_string_equal(gpu->copies[0].memory, "pageable");
    assert_float_equal(gpu->copies[0].bytes_per_second.value, 2e9, 1);
    assert_float_equal(gpu->span_seconds, 11e-6, 1e-15);
    assert_float_equal(gpu->busy_seconds, 9.2e-6, 1e-15);
    assert_float_equal(gpu->idle_seconds, 2.8e-6, 1e-15);
    assert_int_equal(merge.record->event_count, 6); /* the latest three of each */
    assert_int_equal(merge.record->integrity.dropped_events, 2);
    assert_int_equal(merge.record->events[0].kind, ASSAY_EVENT_KERNEL);
    assert_int_equal(merge.record->events[0].name, 0); /* gemm, now the first */
    assert_float_equal(merge.record->events[0].start_seconds, 200e-9, 1e-15);
    assert_string_equal(merge.record->lanes[merge.record->events[2].lane].name, "cuda:0 stream 8");
    assert_int_equal(merge.record->device_count, 1);
    assert_float_equal(merge.record->devices[0].busy_seconds.value, 9.2e-6, 1e-15);
    assay__activity_merge_release(&merge);
    assay_record_free(merge.record);
    free(parsed);
}

/* One process sees the boards 1 and 2, another one board 2 alone, a third one board 3. All of them
 * have a cuda:0. */
static void see(uint32_t row, uint32_t number, uint8_t board)
{
    region->devices[row].number = number;
    region->devices[row].has_uuid = 1;
    memset(region->devices[row].uuid, 0x11 * board, sizeof region->devices[row].uuid);
}

static void test_boards_of_processes(void **state)
{
    (void)state;
    enum { PROCESSES = 3 };
    static const uint8_t boards[PROCESSES][2] = {{1, 2}, {2, 0}, {3, 0}};
    assay__activity_region *parsed[PROCESSES] = {NULL};
    assay_error error;
    assay__activity_merge merge = {.origin_ns = BASE, .most_events = 10};
    assert_int_equal(assay_record_new(&merge.record), ASSAY_OK);
    for (int i = 0; i < PROCESSES; i++) {
        tear_down(NULL);
        assert_int_equal(set_up(NULL), 0);
        kernel("k", 0, 1000 + (uint64_t)i, 1);
        if (boards[i][1] != 0) {
            region->device_count = 2;
            region->devices[1].busy_ns = 50;
            see(1, 1, boards[i][1]);
        }
        see(0, 0, boards[i][0]);
        region->points[region->point_count++] =
            (assay__activity_point){.time_ns = BASE, .bytes = 7};
        assert_int_equal(assay__activity_parse(region, sizeof *region, &error, &parsed[i]),
                         ASSAY_OK);
        assert_int_equal(assay__activity_merge_note(&merge, parsed[i]), ASSAY_OK);
    }
    for (int i = 0; i < PROCESSES; i++) {
        assert_int_equal(assay__activity_merge_add(&merge, parsed[i]), ASSAY_OK);
        free(parsed[i]);
    }
    assert_int_equal(assay__activity_merge_finish(&merge), ASSAY_OK);
    const assay_record *record = merge.record;
    assert_int_equal(record->device_count, 3);
    assert_string_equal(record->devices[0].id, "GPU-11111111");
    assert_string_equal(record->devices[1].id, "GPU-22222222");
    assert_string_equal(record->devices[1].uuid, "GPU-22222222-2222-2222-2222-222222222222");
    assert_string_equal(record->devices[2].id, "GPU-33333333");
    assert_float_equal(record->devices[1].busy_seconds.value, 1.051e-6, 1e-15);
    assert_int_equal(record->lane_count, 6); /* a stream and the memory of each process */
    assert_string_equal(record->lanes[2].name, "GPU-22222222 stream 7");
    assert_string_equal(record->lanes[2].device, "GPU-22222222");
    assert_string_equal(record->counters[2].name, "GPU-33333333 allocated_bytes");
    assay__activity_merge_release(&merge);
    assay_record_free(merge.record);
}

static void test_damaged_files_are_refused(void **state)
{
    (void)state;
    assay_error error;
    assay__activity_region *parsed = NULL;
    kernel("a", 0, 100, 1);
    copy(100, 200, 2);
    const struct {
        void *at;
        uint32_t value;
    } damages[] = {{&region->magic, 1},
                   {&region->bytes, 1},
                   {&region->count, ASSAY__ACTIVITY_MAX + 1},
                   {&region->settled, 3},
                   {&region->device_count, 0},
                   {&region->stream_count, 1},
                   {&region->copy_count, 0},
                   {&region->copy_count, ASSAY__ACTIVITY_COPIES + 1},
                   {&region->name_bytes, ASSAY__ACTIVITY_NAME_BYTES + 1},
                   {&region->kernels[9].name, 1000},
                   {&region->activities[0].end_ns, 0}};
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        uint64_t before;
        memcpy(&before, damages[i].at, sizeof before);
        memcpy(damages[i].at, &damages[i].value, sizeof damages[i].value);
        if (damages[i].at == (void *)&region->activities[0].end_ns)
            region->activities[0].end_ns = 0;
        assert_int_equal(assay__activity_parse(region, sizeof *region, &error, &parsed),
                         ASSAY_E_FORMAT);
        assert_null(parsed);
        memcpy(damages[i].at, &before, sizeof before);
    }
    assert_int_equal(assay__activity_parse(region, 3, &error, &parsed), ASSAY_E_FORMAT);
    assert_int_equal(assay__activity_parse(region, sizeof *region, &error, &parsed), ASSAY_OK);
    free(parsed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_causes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_long_work_after_a_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_overlaps_are_counted_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_between_ranges_nothing_is_known, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_ranges, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_order_of_arrival, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_list_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_more_names_than_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory_over_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_submits_are_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_record, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_boards_of_processes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_files_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
