/* Libraries that lack some entry points (tests/fake, built with FAKE_PARTIAL): the existing ones
 * are used, and each figure that needs another one is missing with its reason. */
#include "assay/assay.h"
#include "assay/gpu.h"
#include "assay/meter.h"
#include "assay/timers.h"
#include "instrument/cuda.h"
#include "instrument/cuda_board.h"
#include "tests/fake/cuda.h"
#include "tests/unit/fake_gpu.h"

static char stream;

static void scenario_device(void)
{
    assay_device_state state = ASSAY_INIT(assay_device_state);
    CHECK(assay_device_read(0, 31, NULL, &state) == ASSAY_OK);
    CHECK(state.utilisation.value == 0.75 && state.power_watts.value == 300.5);
    CHECK(state.energy_joules.validity == ASSAY_UNSUPPORTED);
    CHECK(state.throttle.validity == ASSAY_UNSUPPORTED);
    CHECK(state.process_bytes.validity != ASSAY_VALID);
    assay_meter *meter = NULL;
    assay_energy energy = ASSAY_INIT(assay_energy);
    CHECK(assay_meter_new(NULL, NULL, &meter) == ASSAY_OK);
    CHECK(strstr(assay_meter_describe(meter), "it has no counter of energy") != NULL);
    uint64_t begin = assay_meter_now_ns();
    CHECK(assay_meter_read(meter, begin, begin + 1000, NULL, &energy) == ASSAY_OK);
    CHECK(energy.joules.validity == ASSAY_UNSUPPORTED);
    assay_meter_free(meter);
}

static void test_what_a_device_does_not_give(void **state)
{
    (void)state;
    in_child("", scenario_device);
}

/* Without UUIDs boards are told by their bus. */
static void scenario_bus(void)
{
    size_t board = 9;
    fake_see_boards((const int[]){1, 0}, 2);
    CHECK(assay__cuda_driver() != NULL);
    CHECK(assay__cuda_board(0, &board) && board == 1);
    CHECK(assay__cuda_board(1, &board) && board == 0);
}

static void scenario_bus_is_refused(void)
{
    size_t board;
    fake_see_boards((const int[]){1, 0}, 2);
    CHECK(assay__cuda_driver() != NULL);
    CHECK(!assay__cuda_board(0, &board));
}

static void test_boards_are_told_by_their_bus(void **state)
{
    (void)state;
    in_child("", scenario_bus);
    in_child("by_bus=4", scenario_bus_is_refused);
    in_child("uuid=3", scenario_bus_is_refused);
}

static void test_no_pool_of_memory(void **state)
{
    (void)state;
    fake_allocate(1 << 20);
    assay_gpu_memory memory = assay_get_gpu_memory_usage();
    assert_int_not_equal(memory.allocated_bytes.validity, ASSAY_VALID);
    assert_int_equal(memory.max_allocated_bytes.validity, ASSAY_UNSUPPORTED);
}

static void test_streams_are_timed(void **state)
{
    (void)state;
    assay_monitor *monitor = NULL;
    assay_record *record = NULL;
    assert_int_equal(assay_monitor_new(NULL, &monitor), ASSAY_OK);
    ASSAY_TRACK_STREAM(monitor, "forward", &stream)
    {
        fake_work(&stream, 1);
    }
    fake_advance(2);
    assert_int_equal(assay_monitor_record(monitor, NULL, &record), ASSAY_OK);
    assert_int_equal(record->operations[0].gpu_spans, 1);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

int main(void)
{
    setenv("ASSAY_POWERCAP", "/nonexistent", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_device_does_not_give),
        cmocka_unit_test(test_boards_are_told_by_their_bus),
        cmocka_unit_test(test_no_pool_of_memory),
        cmocka_unit_test(test_streams_are_timed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
