/* Devices beside the processor: NVIDIA GPUs, as the library of their driver describes them.
 *
 *     size_t count = 0;
 *     if (assay_device_count(&error, &count) != ASSAY_OK)
 *         fprintf(stderr, "%s\n", error.message);           no driver, no permission, ...
 *     assay_device_state state = ASSAY_INIT(assay_device_state);
 *     if (assay_device_read(0, ASSAY_DEVICE_LOAD | ASSAY_DEVICE_POWER, &error, &state) == ASSAY_OK)
 *         printf("%.0f %% busy\n", 100 * state.utilisation.value);
 *
 * The library (libnvidia-ml.so.1) is opened when it is first asked for. A program that links
 * libassay needs neither it nor a GPU. Devices are counted from 0 in the order of the driver, which
 * is the order of their slots; CUDA_VISIBLE_DEVICES hides none of them here.
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

/* How many devices there are. ASSAY_E_UNSUPPORTED if no driver is installed or none is loaded;
 * `error` says which. */
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

/* Describe a device. ASSAY_E_NOT_FOUND if there are fewer. Texts that the driver withholds are
 * empty. */
ASSAY_API ASSAY_MUST_USE assay_status assay_device_describe(size_t index, assay_error *error,
                                                            assay_device *device);

/* What to read. Readings differ in what they cost, as measured on an H200 with driver 580. */
enum assay_device_part {
    ASSAY_DEVICE_MEMORY = 1, /* some microseconds */
    ASSAY_DEVICE_LOAD = 2,  /* utilisation, clocks, temperature, throttling: tens of microseconds */
    ASSAY_DEVICE_POWER = 4, /* some microseconds up to milliseconds */
    ASSAY_DEVICE_ENERGY = 8,  /* 3 ms: never read it on a thread whose time is measured */
    ASSAY_DEVICE_TRAFFIC = 16 /* 40 ms: the driver watches the bus for 20 ms in each direction */
};

/* Why a device runs slower than it could. */
enum assay_device_throttle {
    ASSAY_THROTTLE_POWER = 1,   /* it reached its limit of power */
    ASSAY_THROTTLE_THERMAL = 2, /* it is too hot */
    ASSAY_THROTTLE_EXTERNAL = 4 /* the supply of power asks for it, or boards are held together */
};

typedef struct assay_device_state {
    size_t struct_size;          /* set by the caller */
    assay_reading used_bytes;    /* of the board, by all processes */
    assay_reading process_bytes; /* of the board, by this process; not permitted in containers that
                                    have their own process ids */
    assay_reading utilisation;   /* share of the last period in which a kernel ran: 0 to 1 */
    assay_reading memory_utilisation; /* share in which its memory was read or written */
    assay_reading processor_hertz, memory_hertz;
    assay_reading temperature_celsius;
    assay_reading throttle; /* sum of assay_device_throttle; 0: it runs as fast as it can */
    assay_reading power_watts;
    assay_reading energy_joules; /* since the driver was loaded; steps about every 100 ms */
    assay_reading received_bytes_per_second, sent_bytes_per_second; /* over the bus */
} assay_device_state;

/* Read the given parts, a sum of assay_device_part; the figures of other parts are
 * ASSAY_NOT_MEASURED. A figure that the device or the driver does not give is missing with its
 * reason. The call fails only if the device is not there at all: ASSAY_E_NOT_FOUND,
 * ASSAY_E_UNSUPPORTED, or ASSAY_E_IO if it was lost. */
ASSAY_API ASSAY_MUST_USE assay_status assay_device_read(size_t index, unsigned parts,
                                                        assay_error *error,
                                                        assay_device_state *state);

/* "power limit, heat" for a value of `throttle`; "none" for 0. Static storage. */
ASSAY_API const char *assay_device_throttle_text(unsigned throttle);

#ifdef __cplusplus
}
#endif

#endif
