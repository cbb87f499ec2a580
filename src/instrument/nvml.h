/* NVIDIA's management library (NVML), opened at run time.
 *
 * The library's own header is not needed. The entry points and structures below are its documented
 * ABI, which has not changed since the versions named in their suffixes. A missing entry point is
 * NULL. */
#ifndef ASSAY_INSTRUMENT_NVML_H
#define ASSAY_INSTRUMENT_NVML_H

#include "assay/reading.h"
#include "assay/status.h"

typedef void *assay__nvml_device;

typedef struct assay__nvml_memory {
    unsigned long long total, free, used;
} assay__nvml_memory;

typedef struct assay__nvml_utilization {
    unsigned gpu, memory; /* per cent */
} assay__nvml_utilization;

typedef struct assay__nvml_process {
    unsigned pid;
    unsigned long long used_bytes; /* all ones: not known */
    unsigned instance, compute_instance;
} assay__nvml_process;

enum { ASSAY__NVML_SM = 1, ASSAY__NVML_MEM = 2 };        /* clocks */
enum { ASSAY__NVML_SENT = 0, ASSAY__NVML_RECEIVED = 1 }; /* directions of the bus */

enum assay__nvml_status {
    ASSAY__NVML_OK = 0,
    ASSAY__NVML_ARGUMENT = 2,
    ASSAY__NVML_UNSUPPORTED = 3,
    ASSAY__NVML_PERMISSION = 4,
    ASSAY__NVML_NOT_FOUND = 6,
    ASSAY__NVML_NO_ROOM = 7,
    ASSAY__NVML_NO_DRIVER = 9,
    ASSAY__NVML_NO_FUNCTION = 13,
    ASSAY__NVML_LOST = 15,
    ASSAY__NVML_RESET = 16,
    ASSAY__NVML_MISMATCH = 18
};

/* name in assay__nvml, symbol, arguments */
#define ASSAY__NVML_LIST(X)                                                                        \
    X(init, "nvmlInit_v2", (void))                                                                 \
    X(driver_version, "nvmlSystemGetDriverVersion", (char *, unsigned))                            \
    X(count, "nvmlDeviceGetCount_v2", (unsigned *))                                                \
    X(device_at, "nvmlDeviceGetHandleByIndex_v2", (unsigned, assay__nvml_device *))                \
    X(name, "nvmlDeviceGetName", (assay__nvml_device, char *, unsigned))                           \
    X(uuid, "nvmlDeviceGetUUID", (assay__nvml_device, char *, unsigned))                           \
    X(memory, "nvmlDeviceGetMemoryInfo", (assay__nvml_device, assay__nvml_memory *))               \
    X(processes, "nvmlDeviceGetComputeRunningProcesses_v3",                                        \
      (assay__nvml_device, unsigned *, assay__nvml_process *))                                     \
    X(utilization, "nvmlDeviceGetUtilizationRates",                                                \
      (assay__nvml_device, assay__nvml_utilization *))                                             \
    X(clock, "nvmlDeviceGetClockInfo", (assay__nvml_device, int, unsigned *))                      \
    X(temperature, "nvmlDeviceGetTemperature", (assay__nvml_device, int, unsigned *))              \
    X(throttle, "nvmlDeviceGetCurrentClocksThrottleReasons",                                       \
      (assay__nvml_device, unsigned long long *))                                                  \
    X(power, "nvmlDeviceGetPowerUsage", (assay__nvml_device, unsigned *))                          \
    X(energy, "nvmlDeviceGetTotalEnergyConsumption", (assay__nvml_device, unsigned long long *))   \
    X(power_limit, "nvmlDeviceGetEnforcedPowerLimit", (assay__nvml_device, unsigned *))            \
    X(traffic, "nvmlDeviceGetPcieThroughput", (assay__nvml_device, int, unsigned *))               \
    X(mig_mode, "nvmlDeviceGetMigMode", (assay__nvml_device, unsigned *, unsigned *))              \
    X(by_uuid, "nvmlDeviceGetHandleByUUID", (const char *, assay__nvml_device *))                  \
    X(by_bus, "nvmlDeviceGetHandleByPciBusId_v2", (const char *, assay__nvml_device *))            \
    X(parent, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle",                                      \
      (assay__nvml_device, assay__nvml_device *))

#define ASSAY__NVML_FIELD(field, symbol, arguments) int(*field) arguments;
typedef struct assay__nvml {
    ASSAY__NVML_LIST(ASSAY__NVML_FIELD)
} assay__nvml;
#undef ASSAY__NVML_FIELD

/* Open and initialise the library. This happens once for the process, and the library is never
 * closed. A failure is remembered: ASSAY_E_UNSUPPORTED (no library, no driver, no device node, a
 * library that does not match the driver) or ASSAY_E_PERMISSION. */
ASSAY_MUST_USE assay_status assay__nvml_open(assay_error *error, const assay__nvml **nvml);

/* Call an entry point that may be missing. The result is then ASSAY__NVML_NO_FUNCTION. */
#define ASSAY__NVML_CALL(nvml, field, ...)                                                         \
    ((nvml)->field == NULL ? (int)ASSAY__NVML_NO_FUNCTION : (nvml)->field(__VA_ARGS__))

/* The validity of a figure, by the status of the call that should have given it. */
assay_validity assay__nvml_validity(int status);

/* A static text for a status: "the NVIDIA driver is not loaded". */
const char *assay__nvml_text(int status);

#endif
