/* A meter: a background thread that reads the energy and the load of the machine and its GPUs.
 *
 *     assay_meter *meter = NULL;
 *     if (assay_meter_new(NULL, &error, &meter) != ASSAY_OK)
 *         fprintf(stderr, "%s\n", error.message);                no counter of energy, ...
 *     assay_monitor_attach_meter(monitor, meter);                joules of operations (monitor.h)
 *     uint64_t begin = assay_meter_now_ns();
 *     train();
 *     assay_energy energy = ASSAY_INIT(assay_energy);
 *     if (assay_meter_read(meter, begin, assay_meter_now_ns(), &error, &energy) == ASSAY_OK)
 *         printf("%.0f J\n", energy.joules.value);
 *     assay_meter_free(meter);
 *
 * The energy of a GPU comes from its own counter (NVML; since Volta). An H200 moves it every
 * 100 ms. Other boards may move theirs more rarely, and the meter finds out how often. The energy
 * of the processor comes from RAPL (the kernel's powercap tree) and covers packages and their
 * memory. On most machines only root may read it. A window that is shorter than the counter's
 * period gives bounds instead of a figure.
 *
 * The energy is that of whole devices, so it includes the work of other programs on them.
 *
 * Cost: one thread that reads ten times a second. A reading of an H200 takes 3 to 4 ms of that
 * thread, most of it within the driver. Threads: every call may be made from any thread. Fork: the
 * thread does not exist in a forked child; the child may free the meter.
 */
#ifndef ASSAY_METER_H
#define ASSAY_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/device.h"
#include "assay/reading.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct assay_meter assay_meter;

/* Start from ASSAY_METER_OPTIONS_INIT; every zero means the default. */
typedef struct assay_meter_options {
    size_t struct_size;
    double period_seconds; /* between two readings; default 0.1, at least 0.01, at most 10 */
    unsigned parts;        /* bits of assay_device_part that are read; default: all but traffic */
    bool no_devices;       /* leave the GPUs alone */
    bool no_processor;     /* leave the processor alone */
    const char *powercap;  /* root of the powercap tree; default: $ASSAY_POWERCAP, else
                              /sys/class/powercap */
} assay_meter_options;

#define ASSAY_METER_OPTIONS_INIT ASSAY_INIT(assay_meter_options)

/* Make a meter and start to read. NULL options are the defaults. Fails with ASSAY_E_UNSUPPORTED or
 * ASSAY_E_PERMISSION if no source can be read; `error` then gives the reason for each source. A
 * source that fails while others work is left out. Caller frees. */
ASSAY_API ASSAY_MUST_USE assay_status assay_meter_new(const assay_meter_options *options,
                                                      assay_error *error, assay_meter **meter);

/* End the thread and free the meter. The call waits for a reading that is under way. NULL is
 * accepted. */
ASSAY_API void assay_meter_free(assay_meter *meter);

/* The present time on the clock of the windows, CLOCK_MONOTONIC. */
ASSAY_API uint64_t assay_meter_now_ns(void);

typedef struct assay_energy {
    size_t struct_size; /* set by the caller */
    /* The energy of all sources together. `joules` is an estimate between the two bounds. It is
     * missing ("not enough data") if the window is shorter than the period of a counter or of the
     * readings, if it began before the meter, if a counter has not moved since or not at all, and
     * if a counter has started again meanwhile. In the latter three cases the upper bound is what
     * the devices may draw at most; it is missing too if that is not known. */
    assay_reading joules, joules_low, joules_high;
    assay_reading gpu_joules, cpu_joules; /* estimates for one kind of source */
    assay_reading throttle;               /* reasons for which a GPU was throttled meanwhile: a sum
                                             of assay_device_throttle */
} assay_energy;

/* Read the energy between two times. If the end is recent, the call waits until the counters have
 * moved past it: about 0.2 s with a GPU, and at most ten periods of the readings, two of the
 * counters, and a second. At the default period, the meter keeps all readings of
 * its first seconds and of the last minutes, and of the time between at least 2000 at equal
 * distances: one in 2 s if it has run for an hour. The bounds of windows that begin or end there
 * are wider by the energy of that time.
 * ASSAY_E_ARGUMENT if the end is before the begin. */
ASSAY_API ASSAY_MUST_USE assay_status assay_meter_read(assay_meter *meter, uint64_t begin_ns,
                                                       uint64_t end_ns, assay_error *error,
                                                       assay_energy *energy);

/* What the energy of the meter is that of: "processor and GPUs", "processor", "GPUs". A kind of
 * source that this machine has, or a processor, whose energy cannot be read is named behind it:
 * "GPUs, not the processor". "nothing" if no energy is counted. The text belongs to the meter. Some
 * records have it as `machine.energy_of`. */
ASSAY_API const char *assay_meter_covers(const assay_meter *meter);

/* A text that names the sources that are read, and the sources that are not read with the reason:
 * "cuda:0: NVIDIA H200; processor: not permitted ...". It belongs to the meter. */
ASSAY_API const char *assay_meter_describe(const assay_meter *meter);

#ifdef __cplusplus
}
#endif

#endif
