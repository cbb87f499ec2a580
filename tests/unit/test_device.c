/* Devices, read through a fake library with the name of the real one (tests/fake/nvml.c). Each
 * scenario has a process of its own, because the library is opened only once in a process. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/device.h"

enum { ALL = 31 };

typedef struct outcome {
    assay_status status;
    assay_error error;
    size_t count;
    assay_device device;
    assay_device_state state;
} outcome;

static outcome *shared;

/* Everything that can be asked about device `index`, in a child in which the fake is told `fake`.
 */
static const outcome *ask(const char *fake, size_t index, unsigned parts)
{
    fflush(NULL);
    memset(shared, 0, sizeof *shared);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("FAKE_NVML", fake, 1);
        shared->device.struct_size = sizeof shared->device;
        shared->state.struct_size = sizeof shared->state;
        shared->status = assay_device_count(&shared->error, &shared->count);
        if (shared->status == ASSAY_OK)
            shared->status = assay_device_describe(index, &shared->error, &shared->device);
        if (shared->status == ASSAY_OK)
            shared->status = assay_device_read(index, parts, &shared->error, &shared->state);
        _exit(0);
    }
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    return shared;
}

static void assert_reads(assay_reading reading, double value)
{
    assert_int_equal(reading.validity, ASSAY_VALID);
    assert_true(reading.value > value - 1e-9 * (value + 1) &&
                reading.value < value + 1e-9 * (value + 1));
}

static void test_figures_are_in_plain_units(void **state)
{
    (void)state;
    const outcome *got = ask("", 1, ALL);
    assert_int_equal(got->status, ASSAY_OK);
    assert_int_equal(got->count, 2);
    assert_string_equal(got->device.id, "cuda:1");
    assert_string_equal(got->device.name, "Fake GPU");
    assert_string_equal(got->device.uuid, "GPU-11111111-1111-1111-1111-111111111111");
    assert_string_equal(got->device.driver, "580.00.01");
    assert_reads(got->device.memory_bytes, 16.0 * (1 << 30));
    assert_false(got->device.partitioned);
    assert_reads(got->state.used_bytes, 5.0 * (1 << 30));
    assert_reads(got->state.utilisation, 0.75);
    assert_reads(got->state.memory_utilisation, 0.25);
    assert_reads(got->state.processor_hertz, 1.5e9);
    assert_reads(got->state.memory_hertz, 2.6e9);
    assert_reads(got->state.temperature_celsius, 55);
    assert_reads(got->state.throttle, 0); /* idling slows nothing down */
    assert_reads(got->state.power_watts, 300.5);
    assert_reads(got->state.energy_joules, 1234.567);
    assert_reads(got->state.received_bytes_per_second, 2000.0 * 1024);
    assert_reads(got->state.sent_bytes_per_second, 1000.0 * 1024);
}

static void test_only_what_is_asked_for_is_read(void **state)
{
    (void)state;
    const outcome *got = ask("", 0, ASSAY_DEVICE_POWER);
    assert_reads(got->state.power_watts, 300.5);
    assert_int_equal(got->state.energy_joules.validity, ASSAY_NOT_MEASURED);
    assert_int_equal(got->state.used_bytes.validity, ASSAY_NOT_MEASURED);
    assert_int_equal(got->state.utilisation.validity, ASSAY_NOT_MEASURED);
}

static void test_memory_of_this_process(void **state)
{
    (void)state;
    char link[64] = {0};
    if (readlink("/proc/self/ns/pid", link, sizeof link - 1) < 0 ||
        strcmp(link, "pid:[4026531836]") != 0) {
        assert_int_equal(ask("", 0, ALL)->state.process_bytes.validity, ASSAY_NOT_PERMITTED);
        return;
    }
    assert_reads(ask("", 0, ALL)->state.process_bytes, 256.0 * (1 << 20));
    assert_reads(ask("others=100", 0, ALL)->state.process_bytes, 256.0 * (1 << 20));
    assert_int_equal(ask("unknown_use=1", 0, ALL)->state.process_bytes.validity, ASSAY_UNSUPPORTED);
    assert_int_equal(ask("others=100000", 0, ALL)->state.process_bytes.validity, ASSAY_UNSUPPORTED);
}

static void test_a_figure_that_is_refused_costs_only_itself(void **state)
{
    (void)state;
    const outcome *got = ask("energy=4,clock=3,utilization=999", 0, ALL);
    assert_int_equal(got->status, ASSAY_OK);
    assert_int_equal(got->state.energy_joules.validity, ASSAY_NOT_PERMITTED);
    assert_int_equal(got->state.processor_hertz.validity, ASSAY_UNSUPPORTED);
    assert_int_equal(got->state.utilisation.validity, ASSAY_UNSUPPORTED);
    assert_reads(got->state.power_watts, 300.5);
    got = ask("name=999,uuid=999,driver_version=999,memory=15,mig_mode=3", 0, 0);
    assert_int_equal(got->status, ASSAY_OK);
    assert_string_equal(got->device.name, "");
    assert_int_equal(got->device.memory_bytes.validity, ASSAY_UNSUPPORTED);
    assert_true(ask("mig=1", 0, 0)->device.partitioned);
}

static void test_reasons_of_throttling(void **state)
{
    (void)state;
    assert_reads(ask("reasons=4", 0, ALL)->state.throttle, ASSAY_THROTTLE_POWER);
    assert_reads(ask("reasons=72", 0, ALL)->state.throttle, ASSAY_THROTTLE_THERMAL);
    assert_reads(ask("reasons=8", 0, ALL)->state.throttle, ASSAY_THROTTLE_EXTERNAL);
    assert_reads(ask("reasons=258", 0, ALL)->state.throttle, 0);
    assert_string_equal(assay_device_throttle_text(0), "none");
    assert_string_equal(assay_device_throttle_text(ASSAY_THROTTLE_POWER | ASSAY_THROTTLE_THERMAL),
                        "power limit, heat");
}

static void assert_refused(const char *fake, size_t index, assay_status status, const char *message)
{
    const outcome *got = ask(fake, index, ALL);
    assert_int_equal(got->status, status);
    assert_string_equal(got->error.message, message);
}

static void test_what_is_not_there_is_named(void **state)
{
    (void)state;
    assert_refused("init=9", 0, ASSAY_E_UNSUPPORTED,
                   "libnvidia-ml.so.1 cannot be used: the NVIDIA driver is not loaded");
    assert_refused("init=18", 0, ASSAY_E_UNSUPPORTED,
                   "libnvidia-ml.so.1 cannot be used: the driver and its library are of different "
                   "versions: restart the machine");
    assert_refused("init=4", 0, ASSAY_E_PERMISSION,
                   "libnvidia-ml.so.1 cannot be used: not permitted to this user");
    assert_refused("count=999", 0, ASSAY_E_UNSUPPORTED,
                   "the devices cannot be counted: the driver reports an error");
    assert_refused("", 2, ASSAY_E_NOT_FOUND, "there is no device cuda:2: this machine has 2");
    assert_refused("lost=1", 1, ASSAY_E_IO,
                   "device cuda:1: the device is lost: it fell off the bus or was unplugged");
    assert_int_equal(ask("lost=1", 0, ALL)->status, ASSAY_OK);
}

static void test_structs_need_their_size(void **state)
{
    (void)state;
    assay_error error = {0};
    assay_device_state unset = {0};
    assay_device blank = {0};
    assert_int_equal(assay_device_read(0, ALL, &error, &unset), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_device_describe(0, &error, &blank), ASSAY_E_ARGUMENT);
}

int main(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures_are_in_plain_units),
        cmocka_unit_test(test_only_what_is_asked_for_is_read),
        cmocka_unit_test(test_memory_of_this_process),
        cmocka_unit_test(test_a_figure_that_is_refused_costs_only_itself),
        cmocka_unit_test(test_reasons_of_throttling),
        cmocka_unit_test(test_what_is_not_there_is_named),
        cmocka_unit_test(test_structs_need_their_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
