/* CUDA counts its devices in another order than the management library does: two boards, swapped by
 * CUDA_VISIBLE_DEVICES, and instances of a divided board (MIG). Board 0 draws 100 W, board 1 300 W;
 * on board 1 this process holds twice as much. */
#include "assay/assay.h"
#include "assay/gpu.h"
#include "assay/meter.h"
#include "assay/timers.h"
#include "instrument/cuda.h"
#include "instrument/cuda_board.h"
#include "tests/fake/cuda.h"
#include "tests/unit/fake_gpu.h"

static char first_stream, second_stream;

static void look_for_the_driver(void)
{
    CHECK(assay__cuda_driver() != NULL);
}

static bool is_board(int number, size_t expected)
{
    size_t board = 99;
    return assay__cuda_board(number, &board) && board == expected;
}

static bool is_label(size_t board, const char *expected)
{
    char label[ASSAY__BOARD_LABEL];
    return strcmp(assay__board_label(board, assay__boards_in_order(), label), expected) == 0;
}

static void scenario_swapped(void)
{
    size_t board;
    look_for_the_driver();
    CHECK(!assay__cuda_board(0, &board)); /* the program has not initialised CUDA */
    fake_see_boards((const int[]){1, 0}, 2);
    CHECK(is_board(0, 1) && is_board(1, 0));
    CHECK(!assay__cuda_board(2, &board) && !assay__cuda_board(-1, &board));
    CHECK(is_label(0, "cuda:1") && is_label(1, "cuda:0"));
}

static void scenario_hidden(void)
{
    look_for_the_driver();
    fake_see_boards((const int[]){1}, 1);
    CHECK(is_board(0, 1));
    CHECK(is_label(0, "board:0") && is_label(1, "cuda:0"));
}

static void scenario_instances(void)
{
    look_for_the_driver();
    fake_see_boards((const int[]){FAKE_INSTANCE + 1, FAKE_INSTANCE + 0}, 2);
    CHECK(is_board(0, 1) && is_board(1, 0));
}

static void scenario_no_such_board(void)
{
    size_t board;
    look_for_the_driver();
    fake_see_boards((const int[]){5}, 1); /* a container in which NVML shows other boards */
    CHECK(!assay__cuda_board(0, &board));
}

static void test_boards_are_told_by_their_uuid(void **state)
{
    (void)state;
    in_child("", scenario_swapped);
    in_child("", scenario_hidden);
    in_child("mig=1", scenario_instances);
    in_child("", scenario_no_such_board);
    in_child("mig=1,parent=3", scenario_no_such_board);
}

static void scenario_names_before_cuda_is_used(void)
{
    unsetenv("CUDA_VISIBLE_DEVICES");
    CHECK(is_label(1, "cuda:1"));
    setenv("CUDA_VISIBLE_DEVICES", "0,1", 1);
    CHECK(is_label(1, "cuda:1"));
    setenv("CUDA_VISIBLE_DEVICES", "1,0", 1);
    CHECK(is_label(1, "board:1"));
    setenv("CUDA_VISIBLE_DEVICES", "GPU-11111111-1111-1111-1111-111111111111", 1);
    CHECK(is_label(1, "board:1"));
    setenv("CUDA_VISIBLE_DEVICES", "0x", 1);
    CHECK(is_label(0, "board:0"));
}

static void test_names_before_cuda_is_used(void **state)
{
    (void)state;
    in_child("", scenario_names_before_cuda_is_used);
}

/* Nothing was taken from a pool: what the board's list of processes says. */
static void scenario_memory(void)
{
    const double piece = 256.0 * (1 << 20);
    fake_see_boards((const int[]){1, 0}, 2);
    fake_set_context(fake_context(0));
    assay_gpu_memory memory = assay_get_gpu_memory_usage();
    if (memory.allocated_bytes.validity == ASSAY_NOT_PERMITTED)
        return; /* this container has process ids of its own */
    CHECK(memory.allocated_bytes.value == 2 * piece);
    fake_set_context(fake_context(1));
    memory = assay_get_gpu_memory_usage();
    CHECK(memory.allocated_bytes.value == piece);
    fake_set_context(fake_context(5)); /* no such device */
    memory = assay_get_gpu_memory_usage();
    CHECK(memory.allocated_bytes.validity == ASSAY_UNSUPPORTED);
}

static void test_memory_is_that_of_the_board(void **state)
{
    (void)state;
    in_child("", scenario_memory);
}

static double joules_of(const assay_record *record, const char *name)
{
    for (size_t i = 0; i < record->operation_count; i++)
        if (strcmp(record->operations[i].name, name) == 0)
            return record->operations[i].energy_joules.validity == ASSAY_VALID
                       ? record->operations[i].energy_joules.value
                       : -1;
    return -2;
}

static const char *lane_of(const assay_record *record, size_t nth)
{
    for (size_t i = 0; i < record->lane_count; i++)
        if (record->lanes[i].kind == ASSAY_LANE_GPU_STREAM && nth-- == 0)
            return record->lanes[i].name;
    return "";
}

static bool has_counter(const assay_record *record, const char *name, double last)
{
    for (size_t i = 0; i < record->counter_count; i++)
        if (strcmp(record->counters[i].name, name) == 0)
            return record->counters[i].last == last;
    return false;
}

/* A step of 1 s on each device, in 20 pieces. */
static assay_record *metered_steps(void)
{
    assay_monitor *monitor = NULL;
    assay_meter *meter = NULL;
    assay_record *record = NULL;
    fake_put_stream(&first_stream, fake_context(0));
    fake_put_stream(&second_stream, fake_context(1));
    CHECK(assay_monitor_new(NULL, &monitor) == ASSAY_OK);
    CHECK(assay_meter_new(NULL, NULL, &meter) == ASSAY_OK);
    CHECK(assay_monitor_attach_meter(monitor, meter) == ASSAY_OK);
    pause_ms(250);
    for (int i = 0; i < 20; i++) {
        ASSAY_TRACK_STREAM(monitor, "zero", &first_stream)
        {
            fake_work(&first_stream, 0.05);
        }
        ASSAY_TRACK_STREAM(monitor, "one", &second_stream)
        {
            fake_work(&second_stream, 0.05);
        }
        pause_ms(50);
        fake_advance(0.05);
        (void)assay_gpu_resolve(monitor, 0);
    }
    pause_ms(300);
    CHECK(assay_monitor_record(monitor, NULL, &record) == ASSAY_OK);
    assay_monitor_free(monitor);
    assay_meter_free(meter);
    return record;
}

static void scenario_energy(void)
{
    fake_see_boards((const int[]){1, 0}, 2);
    assay_record *record = metered_steps();
    double zero = joules_of(record, "zero"), one = joules_of(record, "one");
    fprintf(stderr, "board 1: %.0f J, board 0: %.0f J\n", zero, one);
    CHECK(zero > 200 && zero < 400); /* CUDA's device 0 is board 1, with 300 W */
    CHECK(one > 60 && one < 140);
    CHECK(strncmp(lane_of(record, 0), "cuda:0 ", 7) == 0);
    CHECK(strncmp(lane_of(record, 1), "cuda:1 ", 7) == 0);
    CHECK(has_counter(record, "cuda:0 power_watts", 300));
    CHECK(has_counter(record, "cuda:1 power_watts", 100));
    assay_record_free(record);
}

/* A device whose board is not known gets no energy, rather than another's. Nor has it the bounds of
 * the energy while the calls were made. */
static void scenario_energy_of_strangers(void)
{
    fake_see_boards((const int[]){5, 6}, 2);
    assay_record *record = metered_steps();
    CHECK(joules_of(record, "zero") < 0 && joules_of(record, "one") < 0);
    for (size_t i = 0; i < record->operation_count; i++)
        CHECK(record->operations[i].energy_joules_high.validity == ASSAY_NOT_ENOUGH_DATA);
    assay_record_free(record);
}

/* The same operation on two streams of a board at the same time consumes its energy once. */
static void scenario_energy_of_two_streams(void)
{
    assay_monitor *monitor = NULL;
    assay_meter *meter = NULL;
    assay_record *record = NULL;
    fake_see_boards((const int[]){1, 0}, 2);
    fake_put_stream(&first_stream, fake_context(0));
    fake_put_stream(&second_stream, fake_context(0));
    CHECK(assay_monitor_new(NULL, &monitor) == ASSAY_OK);
    CHECK(assay_meter_new(NULL, NULL, &meter) == ASSAY_OK);
    CHECK(assay_monitor_attach_meter(monitor, meter) == ASSAY_OK);
    pause_ms(250);
    for (int i = 0; i < 20; i++) {
        for (int second = 0; second < 2; second++) {
            void *stream = second ? &second_stream : &first_stream;
            ASSAY_TRACK_STREAM(monitor, "both", stream)
            {
                fake_work(stream, 0.05);
            }
        }
        pause_ms(50);
        fake_advance(0.05);
    }
    pause_ms(300);
    CHECK(assay_monitor_record(monitor, NULL, &record) == ASSAY_OK);
    const double joules = joules_of(record, "both");
    fprintf(stderr, "two streams of a board: %.0f J\n", joules);
    CHECK(joules > 200 && joules < 400);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assay_meter_free(meter);
}

static void test_energy_is_that_of_the_board(void **state)
{
    (void)state;
    in_child("watts=100,watts1=300", scenario_energy);
    in_child("watts=100,watts1=300", scenario_energy_of_two_streams);
    in_child("watts=100,watts1=300", scenario_energy_of_strangers);
}

int main(void)
{
    setenv("ASSAY_POWERCAP", "/nonexistent", 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boards_are_told_by_their_uuid),
        cmocka_unit_test(test_names_before_cuda_is_used),
        cmocka_unit_test(test_memory_is_that_of_the_board),
        cmocka_unit_test(test_energy_is_that_of_the_board),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
