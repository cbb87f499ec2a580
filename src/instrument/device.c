/* NVIDIA GPUs: how many there are, what they are, and their state, read through the driver's
 * library NVML (nvml.h). */
#include "assay/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/struct_size.h"
#include "instrument/device_limit.h"
#include "instrument/nvml.h"

/* Throttle reasons, numbered as in the driver's nvml.h. Two further reasons, an idle device and
 * clocks that the user has set, are left out here: they do not slow a device down beyond what its
 * user wants. */
enum {
    SOFTWARE_POWER_CAP = 0x4,
    HARDWARE_SLOWDOWN = 0x8,
    SYNC_BOOST = 0x10,
    SOFTWARE_THERMAL = 0x20,
    HARDWARE_THERMAL = 0x40,
    POWER_BRAKE = 0x80
};

/* If a board has more processes than this, the memory of this process is not looked up. */
enum { MOST_PROCESSES = 4096 };

static assay_status fail_device(assay_error *error, size_t index, int status)
{
    assay_status code = status == ASSAY__NVML_LOST || status == ASSAY__NVML_RESET ? ASSAY_E_IO
                        : status == ASSAY__NVML_PERMISSION ? ASSAY_E_PERMISSION
                                                           : ASSAY_E_UNSUPPORTED;
    return assay__fail(error, code, "device cuda:%zu: %s", index, assay__nvml_text(status));
}

assay_status assay_device_count(assay_error *error, size_t *count)
{
    const assay__nvml *nvml;
    assay_status status = assay__nvml_open(error, &nvml);
    if (status != ASSAY_OK)
        return status;
    unsigned devices = 0;
    int answer = nvml->count(&devices);
    if (answer != ASSAY__NVML_OK)
        return assay__fail(error, ASSAY_E_UNSUPPORTED, "the devices cannot be counted: %s",
                           assay__nvml_text(answer));
    *count = devices;
    return ASSAY_OK;
}

static assay_status open_device(size_t index, assay_error *error, const assay__nvml **nvml,
                                assay__nvml_device *device)
{
    size_t count = 0;
    assay_status status = assay_device_count(error, &count);
    if (status == ASSAY_OK)
        status = assay__nvml_open(error, nvml);
    if (status != ASSAY_OK)
        return status;
    if (index >= count)
        return assay__fail(error, ASSAY_E_NOT_FOUND,
                           "there is no device cuda:%zu: this machine has %zu", index, count);
    int answer = (*nvml)->device_at((unsigned)index, device);
    return answer == ASSAY__NVML_OK ? ASSAY_OK : fail_device(error, index, answer);
}

assay_status assay_device_describe(size_t index, assay_error *error, assay_device *device)
{
    const assay__nvml *nvml;
    assay__nvml_device handle;
    if (!assay__struct_has_room(device, sizeof *device))
        return assay__fail(error, ASSAY_E_ARGUMENT, "assay_device: struct_size is not set");
    assay_status status = open_device(index, error, &nvml, &handle);
    if (status != ASSAY_OK)
        return status;
    const size_t struct_size = device->struct_size;
    *device = (assay_device){.struct_size = struct_size};
    snprintf(device->id, sizeof device->id, "cuda:%u", (unsigned)index);
    if (ASSAY__NVML_CALL(nvml, name, handle, device->name, sizeof device->name) != ASSAY__NVML_OK)
        device->name[0] = '\0';
    if (ASSAY__NVML_CALL(nvml, uuid, handle, device->uuid, sizeof device->uuid) != ASSAY__NVML_OK)
        device->uuid[0] = '\0';
    if (ASSAY__NVML_CALL(nvml, driver_version, device->driver, sizeof device->driver) !=
        ASSAY__NVML_OK)
        device->driver[0] = '\0';
    assay__nvml_memory memory;
    int answer = ASSAY__NVML_CALL(nvml, memory, handle, &memory);
    device->memory_bytes = answer == ASSAY__NVML_OK
                               ? assay_reading_of((double)memory.total)
                               : assay_reading_missing(assay__nvml_validity(answer));
    unsigned now = 0, next = 0;
    device->partitioned =
        ASSAY__NVML_CALL(nvml, mig_mode, handle, &now, &next) == ASSAY__NVML_OK && now != 0;
    return ASSAY_OK;
}

static assay_reading figure(int answer, double value)
{
    return answer == ASSAY__NVML_OK ? assay_reading_of(value)
                                    : assay_reading_missing(assay__nvml_validity(answer));
}

/* Whether the process id of this process is the one that the driver knows. The driver lists
 * processes by their ids in the initial process-id namespace. A process in a container with ids of
 * its own would not find itself in the list, or would find the entry of another process. So only a
 * process in the initial namespace may look itself up. */
static bool sees_own_id(void)
{
    char target[64] = {0};
    /* The initial namespace has this fixed inode number (PROC_PID_INIT_INO of the kernel). */
    ssize_t length = readlink("/proc/self/ns/pid", target, sizeof target - 1);
    return length > 0 && strcmp(target, "pid:[4026531836]") == 0;
}

static assay_reading bytes_of_process(const assay__nvml *nvml, assay__nvml_device device)
{
    if (!sees_own_id())
        return assay_reading_missing(ASSAY_NOT_PERMITTED);
    unsigned room = 64;
    assay__nvml_process *list = NULL;
    int answer = ASSAY__NVML_NO_ROOM;
    unsigned count = 0;
    while (answer == ASSAY__NVML_NO_ROOM && room <= MOST_PROCESSES) {
        assay__nvml_process *larger = realloc(list, room * sizeof *list);
        if (larger == NULL)
            break;
        list = larger;
        count = room;
        answer = ASSAY__NVML_CALL(nvml, processes, device, &count, list);
        room *= 4;
    }
    double bytes = 0; /* a process that is not listed holds nothing */
    for (unsigned i = 0; answer == ASSAY__NVML_OK && i < count; i++) {
        if (list[i].pid != (unsigned)getpid())
            continue;
        if (list[i].used_bytes == ~0ULL)
            answer = ASSAY__NVML_UNSUPPORTED;
        else
            bytes += (double)list[i].used_bytes;
    }
    free(list);
    return figure(answer, bytes);
}

static void read_memory(const assay__nvml *nvml, assay__nvml_device device,
                        assay_device_state *state)
{
    assay__nvml_memory memory = {0};
    int answer = ASSAY__NVML_CALL(nvml, memory, device, &memory);
    state->used_bytes = figure(answer, (double)memory.used);
    state->process_bytes = bytes_of_process(nvml, device);
}

static unsigned throttle_of(unsigned long long reasons)
{
    unsigned throttle = 0;
    if ((reasons & SOFTWARE_POWER_CAP) != 0)
        throttle |= ASSAY_THROTTLE_POWER;
    if ((reasons & (SOFTWARE_THERMAL | HARDWARE_THERMAL)) != 0)
        throttle |= ASSAY_THROTTLE_THERMAL;
    if ((reasons & (POWER_BRAKE | SYNC_BOOST)) != 0)
        throttle |= ASSAY_THROTTLE_EXTERNAL;
    /* The general flag of a hardware slowdown may be set together with its specific reason. It
     * counts only if there is no specific reason. */
    if ((reasons & HARDWARE_SLOWDOWN) != 0 && throttle == 0)
        throttle |= ASSAY_THROTTLE_EXTERNAL;
    return throttle;
}

static void read_load(const assay__nvml *nvml, assay__nvml_device device, assay_device_state *state)
{
    assay__nvml_utilization busy = {0};
    int answer = ASSAY__NVML_CALL(nvml, utilization, device, &busy);
    state->utilisation = figure(answer, busy.gpu / 100.0);
    state->memory_utilisation = figure(answer, busy.memory / 100.0);
    unsigned value = 0;
    answer = ASSAY__NVML_CALL(nvml, clock, device, ASSAY__NVML_SM, &value);
    state->processor_hertz = figure(answer, value * 1e6);
    answer = ASSAY__NVML_CALL(nvml, clock, device, ASSAY__NVML_MEM, &value);
    state->memory_hertz = figure(answer, value * 1e6);
    answer = ASSAY__NVML_CALL(nvml, temperature, device, 0, &value);
    state->temperature_celsius = figure(answer, value);
    unsigned long long reasons = 0;
    answer = ASSAY__NVML_CALL(nvml, throttle, device, &reasons);
    state->throttle = figure(answer, throttle_of(reasons));
}

static void read_traffic(const assay__nvml *nvml, assay__nvml_device device,
                         assay_device_state *state)
{
    enum { KILOBYTE = 1024 };
    unsigned value = 0;
    int answer = ASSAY__NVML_CALL(nvml, traffic, device, ASSAY__NVML_RECEIVED, &value);
    state->received_bytes_per_second = figure(answer, (double)value * KILOBYTE);
    answer = ASSAY__NVML_CALL(nvml, traffic, device, ASSAY__NVML_SENT, &value);
    state->sent_bytes_per_second = figure(answer, (double)value * KILOBYTE);
}

static assay_device_state nothing_measured(size_t struct_size)
{
    const assay_reading none = assay_reading_missing(ASSAY_NOT_MEASURED);
    return (assay_device_state){
        .struct_size = struct_size,
        .used_bytes = none,
        .process_bytes = none,
        .utilisation = none,
        .memory_utilisation = none,
        .processor_hertz = none,
        .memory_hertz = none,
        .temperature_celsius = none,
        .throttle = none,
        .power_watts = none,
        .energy_joules = none,
        .received_bytes_per_second = none,
        .sent_bytes_per_second = none,
    };
}

assay_status assay_device_read(size_t index, unsigned parts, assay_error *error,
                               assay_device_state *state)
{
    const assay__nvml *nvml;
    assay__nvml_device device;
    if (!assay__struct_has_room(state, sizeof *state))
        return assay__fail(error, ASSAY_E_ARGUMENT, "assay_device_state: struct_size is not set");
    *state = nothing_measured(state->struct_size);
    assay_status status = open_device(index, error, &nvml, &device);
    if (status != ASSAY_OK)
        return status;
    if ((parts & ASSAY_DEVICE_MEMORY) != 0)
        read_memory(nvml, device, state);
    if ((parts & ASSAY_DEVICE_LOAD) != 0)
        read_load(nvml, device, state);
    if ((parts & ASSAY_DEVICE_POWER) != 0) {
        unsigned milliwatts = 0;
        int answer = ASSAY__NVML_CALL(nvml, power, device, &milliwatts);
        state->power_watts = figure(answer, milliwatts * 1e-3);
    }
    if ((parts & ASSAY_DEVICE_ENERGY) != 0) {
        unsigned long long millijoules = 0;
        int answer = ASSAY__NVML_CALL(nvml, energy, device, &millijoules);
        state->energy_joules = figure(answer, (double)millijoules * 1e-3);
    }
    if ((parts & ASSAY_DEVICE_TRAFFIC) != 0)
        read_traffic(nvml, device, state);
    return ASSAY_OK;
}

double assay__device_limit_watts(size_t index)
{
    const assay__nvml *nvml;
    assay__nvml_device device;
    unsigned milliwatts = 0;
    if (open_device(index, NULL, &nvml, &device) != ASSAY_OK ||
        ASSAY__NVML_CALL(nvml, power_limit, device, &milliwatts) != ASSAY__NVML_OK)
        return 0;
    return milliwatts * 1e-3;
}

const char *assay_device_throttle_text(unsigned throttle)
{
    static const char *const texts[] = {
        "none",
        "power limit",
        "heat",
        "power limit, heat",
        "power supply",
        "power limit, power supply",
        "heat, power supply",
        "power limit, heat, power supply",
    };
    return texts[throttle & 7];
}
