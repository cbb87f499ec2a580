/* libnvidia-ml.so.1 as tests need it: two boards whose figures are fixed, and every error on
 * demand.
 *
 *     FAKE_NVML="init=9,count=2,energy=4"     what a call returns instead of success: by the names
 * below
 *
 * Tests put its folder into LD_LIBRARY_PATH. A value for `lost` makes every call for that board say
 * so. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { LOST = 15, NO_ROOM = 7, NOT_FOUND = 6, BOARDS = 2 };

typedef struct memory {
    unsigned long long total, free, used;
} memory;

typedef struct process {
    unsigned pid;
    unsigned long long used;
    unsigned instance, compute;
} process;

/* The number after `key=` in FAKE_NVML, or `otherwise`. */
static int told(const char *key, int otherwise)
{
    const char *text = getenv("FAKE_NVML");
    size_t length = strlen(key);
    while (text != NULL && *text != '\0') {
        if (strncmp(text, key, length) == 0 && text[length] == '=')
            return atoi(text + length + 1);
        text = strchr(text, ',');
        text = text == NULL ? NULL : text + 1;
    }
    return otherwise;
}

static int board_of(const void *device)
{
    return (int)((intptr_t)device - 1);
}

static struct timespec loaded;

static void note_the_time(void)
{
    clock_gettime(CLOCK_MONOTONIC, &loaded);
}

/* In a forked child it is loaded anew. */
__attribute__((constructor)) static void note_when_loaded(void)
{
    note_the_time();
    pthread_atfork(NULL, NULL, note_the_time);
}

/* The board `lost` answers as if it were there until `lost_after` milliseconds after loading. */
static bool is_lost(const void *device)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long since = (now.tv_sec - loaded.tv_sec) * 1000 + (now.tv_nsec - loaded.tv_nsec) / 1000000;
    return board_of(device) == told("lost", -1) && since >= told("lost_after", 0);
}

static int answer(const char *key, const void *device)
{
    if (is_lost(device))
        return LOST;
    return told(key, 0);
}

EXPORT int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
    return told("init", 0);
}

EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned length);
int nvmlSystemGetDriverVersion(char *text, unsigned length)
{
    strncpy(text, "580.00.01", length);
    return told("driver_version", 0);
}

EXPORT int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = (unsigned)told("boards", BOARDS);
    return told("count", 0);
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    *device = (void *)(intptr_t)(index + 1);
    return answer("device_at", *device);
}

EXPORT int nvmlDeviceGetName(void *device, char *text, unsigned length);
int nvmlDeviceGetName(void *device, char *text, unsigned length)
{
    strncpy(text, "Fake GPU", length);
    return answer("name", device);
}

EXPORT int nvmlDeviceGetUUID(void *device, char *text, unsigned length);
int nvmlDeviceGetUUID(void *device, char *text, unsigned length)
{
    strncpy(text, board_of(device) == 0 ? "GPU-0000" : "GPU-1111", length);
    return answer("uuid", device);
}

EXPORT int nvmlDeviceGetMemoryInfo(void *device, memory *out);
int nvmlDeviceGetMemoryInfo(void *device, memory *out)
{
    *out = (memory){16ULL << 30, 12ULL << 30, 4ULL << 30};
    return answer("memory", device);
}

/* This process stands behind `others` others in the list. */
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, process *list);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, process *list)
{
    unsigned all = (unsigned)told("others", 0) + 1, room = *count;
    *count = all;
    if (room < all)
        return NO_ROOM;
    for (unsigned i = 0; i < all; i++)
        list[i] = (process){i + 1 < all ? 0 : (unsigned)getpid(), 256ULL << 20, 0, 0};
    if (told("unknown_use", 0) != 0)
        list[all - 1].used = ~0ULL;
    return answer("processes", device);
}

EXPORT int nvmlDeviceGetUtilizationRates(void *device, unsigned *out);
int nvmlDeviceGetUtilizationRates(void *device, unsigned *out)
{
    out[0] = 75;
    out[1] = 25;
    return answer("utilization", device);
}

EXPORT int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *megahertz);
int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *megahertz)
{
    *megahertz = kind == 1 ? 1500 : 2600;
    return answer("clock", device);
}

EXPORT int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
    (void)sensor;
    *celsius = 55;
    return answer("temperature", device);
}

EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
    *reasons = (unsigned long long)told("reasons", 1);
    return answer("throttle", device);
}

EXPORT int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
    *milliwatts = told("watts", 0) > 0 ? 1000u * (unsigned)told("watts", 0) : 300500;
    return answer("power", device);
}

EXPORT int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules);
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules)
{
    *millijoules = 1234567;
    if (told("watts", 0) > 0) { /* it moves every 100 ms, as the real one does */
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        unsigned long long tenths =
            (unsigned long long)now.tv_sec * 10 + (unsigned long long)now.tv_nsec / 100000000;
        *millijoules = tenths * 100 * (unsigned long long)told("watts", 0);
    }
    return answer("energy", device);
}

EXPORT int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts);
int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts)
{
    *milliwatts = 700000;
    return answer("power_limit", device);
}

EXPORT int nvmlDeviceGetPcieThroughput(void *device, int direction, unsigned *kilobytes);
int nvmlDeviceGetPcieThroughput(void *device, int direction, unsigned *kilobytes)
{
    *kilobytes = direction == 0 ? 1000 : 2000;
    return answer("traffic", device);
}

EXPORT int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *next);
int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *next)
{
    *now = *next = (unsigned)told("mig", 0);
    return answer("mig_mode", device);
}
