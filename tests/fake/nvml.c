/* A fake libnvidia-ml.so.1 for tests: boards, two unless told otherwise, whose figures are fixed,
 * and every error on demand.
 *
 *     FAKE_NVML="init=9,count=2,energy=4"
 *
 * gives the results that calls return instead of success, by the names below. Tests put the folder
 * of this library into LD_LIBRARY_PATH. There are `boards` of them if told so. A
 * value for `lost` makes every call for that board say that
 * it is lost. `reasons` are the reasons of throttling; with `reasons_from` and `reasons_until` they
 * hold only between that many milliseconds after loading. `watts` is the power of board 0, `watts1`
 * that of board 1 if it is another value; the counter of energy then changes every `tick`
 * milliseconds, which is 100 unless told otherwise, as on a real board. With `bursts` it draws this
 * power only from 105 to 145 and from 160 to 162 ms of every 200 ms of CLOCK_MONOTONIC. `mig`
 * divides the boards: each has one instance, with a handle of its own, which gives no figures.
 *
 * Built with FAKE_OLD it is a library from before nvmlInit_v2. Built with FAKE_PARTIAL it lacks
 * later additions: counters of energy, reasons of throttling, the list of processes. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { LOST = 15, NO_ROOM = 7, NOT_FOUND = 6, UNSUPPORTED = 3, BOARDS = 2, INSTANCES = 100 };

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

/* Handles above INSTANCES belong to instances. */
static int board_of(const void *device)
{
    return (int)((intptr_t)device - 1) % INSTANCES;
}

static bool is_instance(const void *device)
{
    return (intptr_t)device > INSTANCES;
}

static struct timespec loaded;

static void note_the_time(void)
{
    clock_gettime(CLOCK_MONOTONIC, &loaded);
}

/* Notes the time of loading. A forked child counts as newly loaded. */
__attribute__((constructor)) static void note_when_loaded(void)
{
    note_the_time();
    pthread_atfork(NULL, NULL, note_the_time);
}

static long milliseconds_since_loaded(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - loaded.tv_sec) * 1000 + (now.tv_nsec - loaded.tv_nsec) / 1000000;
}

/* The board `lost` answers normally until `lost_after` milliseconds after loading. */
static bool is_lost(const void *device)
{
    return board_of(device) == told("lost", -1) &&
           milliseconds_since_loaded() >= told("lost_after", 0);
}

static int answer(const char *key, const void *device)
{
    if (is_lost(device))
        return LOST;
    if (is_instance(device))
        return UNSUPPORTED;
    return told(key, 0);
}

#ifdef FAKE_OLD
#define nvmlInit_v2 nvmlInit
#endif
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

/* The UUID of a board consists of its number, in hexadecimal, as the only digit. */
static void write_uuid(int board, char text[41])
{
    strcpy(text, "GPU-00000000-0000-0000-0000-000000000000");
    for (char *at = text + 4; *at != '\0'; at++)
        *at = *at == '0' ? "0123456789abcdef"[board % 16] : *at;
}

EXPORT int nvmlDeviceGetUUID(void *device, char *text, unsigned length);
int nvmlDeviceGetUUID(void *device, char *text, unsigned length)
{
    char uuid[41];
    write_uuid(board_of(device), uuid);
    strncpy(text, uuid, length);
    return answer("uuid", device);
}

EXPORT int nvmlDeviceGetHandleByUUID(const char *text, void **device);
int nvmlDeviceGetHandleByUUID(const char *text, void **device)
{
    const bool instance = strncmp(text, "MIG-a", 5) == 0;
    for (intptr_t i = 0; i < told("boards", BOARDS); i++) {
        char uuid[41];
        write_uuid((int)i, uuid);
        if (!instance && strcmp(text, uuid) == 0) {
            *device = (void *)(i + 1);
            return answer("by_uuid", *device);
        }
        if (instance && told("mig", 0) != 0 && text[5] == '0' + i) {
            *device = (void *)(i + 1 + INSTANCES);
            return told("by_uuid", 0);
        }
    }
    return NOT_FOUND;
}

EXPORT int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void *instance, void **device);
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void *instance, void **device)
{
    *device = (void *)(intptr_t)(board_of(instance) + 1);
    return is_instance(instance) ? told("parent", 0) : NOT_FOUND;
}

/* Board n is on bus n. */
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *text, void **device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *text, void **device)
{
    unsigned bus = BOARDS;
    if (sscanf(text, "%*x:%x:", &bus) != 1 || bus >= BOARDS)
        return NOT_FOUND;
    *device = (void *)(intptr_t)(bus + 1);
    return answer("by_bus", *device);
}

EXPORT int nvmlDeviceGetMemoryInfo(void *device, memory *out);
int nvmlDeviceGetMemoryInfo(void *device, memory *out)
{
    const unsigned long long used = (4ULL + (unsigned)board_of(device)) << 30;
    *out = (memory){16ULL << 30, (16ULL << 30) - used, used};
    return answer("memory", device);
}

#ifndef FAKE_PARTIAL
/* This process comes after `others` other processes in the list. It uses 256 MiB on board 0, twice
 * as much on board 1, and so on. */
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, process *list);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, process *list)
{
    unsigned all = (unsigned)told("others", 0) + 1, room = *count;
    const unsigned long long own = (256ULL << 20) * (unsigned)(board_of(device) + 1);
    *count = all;
    if (room < all)
        return NO_ROOM;
    for (unsigned i = 0; i < all; i++)
        list[i] = (process){i + 1 < all ? 0 : (unsigned)getpid(), own, 0, 0};
    if (told("unknown_use", 0) != 0)
        list[all - 1].used = ~0ULL;
    return answer("processes", device);
}
#endif

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

#ifndef FAKE_PARTIAL
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
    const long since = milliseconds_since_loaded();
    bool now = since >= told("reasons_from", 0) && since < told("reasons_until", 1 << 30);
    *reasons = now ? (unsigned long long)told("reasons", 1) : 0;
    return answer("throttle", device);
}
#endif

static unsigned watts_of(const void *device)
{
    return (unsigned)told(board_of(device) == 1 ? "watts1" : "watts", told("watts", 0));
}

EXPORT int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
    *milliwatts = watts_of(device) > 0 ? 1000u * watts_of(device) : 300500;
    return answer("power", device);
}

#ifndef FAKE_PARTIAL
/* How much of the time until `ms` was in bursts. */
static unsigned long long milliseconds_of_bursts(unsigned long long ms)
{
    const unsigned long long at = ms % 200, first = at < 105 ? 0 : at > 145 ? 40 : at - 105;
    return ms / 200 * 42 + first + (at < 160 ? 0 : at > 162 ? 2 : at - 160);
}

EXPORT int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules);
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules)
{
    *millijoules = 1234567;
    if (watts_of(device) > 0) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        unsigned long long ms =
            (unsigned long long)now.tv_sec * 1000 + (unsigned long long)now.tv_nsec / 1000000;
        ms -= ms % (unsigned)told("tick", 100);
        const unsigned long long busy = told("bursts", 0) != 0 ? milliseconds_of_bursts(ms) : ms;
        *millijoules = busy * watts_of(device) + (ms - busy) * (unsigned)told("bursts", 0);
    }
    return answer("energy", device);
}
#endif

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
