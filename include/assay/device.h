/* Devices beside the processor: NVIDIA GPUs, as their driver's library (NVML) describes them.
 *
 *     size_t count = 0;
 *     if (assay_device_count(&error, &count) != ASSAY_OK)
 *         fprintf(stderr, "%s\n", error.message);           no driver, no permission, ...
 *     assay_device_state state = ASSAY_INIT(assay_device_state);
 *     if (assay_device_read(0, ASSAY_DEVICE_LOAD | ASSAY_DEVICE_POWER, &error, &state) == ASSAY_OK)
 *         printf("%.0f %% busy\n", 100 * state.utilisation.value);
 *
 * The first call opens the driver's library, libnvidia-ml.so.1. A program that links libassay needs
 * neither this library nor a GPU. Devices are counted from 0 in the order of the driver, which is
 * the order of their slots. CUDA_VISIBLE_DEVICES hides none of them here.
 *
 * Threads: every call may be made from any thread. Nothing here synchronises with work on the
 * device.
 */
#ifndef ASSAY_DEVICE_H
#define ASSAY_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/reading.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Count the devices. ASSAY_E_UNSUPPORTED if no driver is installed, or if the installed one is not
 * loaded; `error` says which. */
ASSAY_API ASSAY_MUST_USE assay_status assay_device_count(assay_error *error, size_t *count);

typedef struct assay_device {
    size_t struct_size; /* set by the caller */
    char id[16];        /* "cuda:0" */
    char name[96];      /* "NVIDIA H200" */
    char uuid[96];      /* "GPU-8f6c…" */
    char driver[80];    /* version: "580.95.05" */
    assay_reading memory_bytes;
    bool
        partitioned; /* the board is divided into instances (MIG); figures are of the whole board */
} assay_device;

/* Describe the device `index`. ASSAY_E_NOT_FOUND if there is no such device. Texts that the driver
 * does not give are empty. */
ASSAY_API ASSAY_MUST_USE assay_status assay_device_describe(size_t index, assay_error *error,
                                                            assay_device *device);

/* The parts of a device's state that can be read, and how long reading them takes. The times were
 * measured on an H200 with driver 580. */
enum assay_device_part {
    ASSAY_DEVICE_MEMORY = 1, /* some microseconds */
    ASSAY_DEVICE_LOAD = 2,  /* utilisation, clocks, temperature, throttling: tens of microseconds */
    ASSAY_DEVICE_POWER = 4, /* some microseconds up to milliseconds */
    ASSAY_DEVICE_ENERGY = 8,  /* 3 ms: never read it on a thread whose time is measured */
    ASSAY_DEVICE_TRAFFIC = 16 /* 40 ms: the driver watches the bus for 20 ms in each direction */
};

/* Why a device runs slower than it could. */
enum assay_device_throttle {
    ASSAY_THROTTLE_POWER = 1,   /* it reached its power limit */
    ASSAY_THROTTLE_THERMAL = 2, /* it is too hot */
    ASSAY_THROTTLE_EXTERNAL = 4 /* power supply, hardware, or the clock of a group of boards */
};

typedef struct assay_device_state {
    size_t struct_size;          /* set by the caller */
    assay_reading used_bytes;    /* memory of the board that all processes use */
    assay_reading process_bytes; /* memory of the board that this process uses; not permitted in
                                    containers that have their own process ids */
    assay_reading utilisation;   /* share of the last period in which a kernel ran: 0 to 1 */
    assay_reading memory_utilisation; /* share in which its memory was read or written */
    assay_reading processor_hertz, memory_hertz;
    assay_reading temperature_celsius;
    assay_reading throttle; /* sum of assay_device_throttle; 0: the device is not throttled */
    assay_reading power_watts;
    assay_reading energy_joules; /* since the driver was loaded; an H200 changes it every
                                    100 ms */
    assay_reading received_bytes_per_second, sent_bytes_per_second; /* over the bus */
} assay_device_state;

/* Read the state of the device `index`. `parts` is a sum of assay_device_part; the figures of other
 * parts are ASSAY_NOT_MEASURED. A figure that the device or the driver does not give is a missing
 * reading with its reason. The call fails only if there is no device to read: with
 * ASSAY_E_NOT_FOUND, ASSAY_E_UNSUPPORTED, ASSAY_E_PERMISSION, or with ASSAY_E_IO if the device was
 * lost. */
ASSAY_API ASSAY_MUST_USE assay_status assay_device_read(size_t index, unsigned parts,
                                                        assay_error *error,
                                                        assay_device_state *state);

/* The names of the reasons in a value of `throttle`: "power limit, heat"; "none" for 0. Static
 * storage. */
ASSAY_API const char *assay_device_throttle_text(unsigned throttle);

#ifdef __cplusplus
}
#endif

#endif
