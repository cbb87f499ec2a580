/* The meter. Its thread reads all sources once per period, keeps the readings in a ring, and passes
 * them to its observer.
 *
 * A counter moves in steps. A reading shows the energy consumed until the counter last moved, which
 * was up to one period earlier. So the energy E until a time t lies between two readings: it is at
 * least the reading at or before t, and at most the first reading that is one period or more after
 * t. The bounds of a window follow from the bounds at its two ends, and from the highest power that
 * a device may draw. Between readings the estimate is linear. */
#include "instrument/meter.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/struct_size.h"
#include "instrument/cuda_board.h"
#include "instrument/device_limit.h"
#include "instrument/rapl.h"

enum {
    RING = 8192, /* readings that are kept */
    PROCESSOR = ASSAY__METER_DEVICES
};

/* In seconds. */
static const double DEFAULT_PERIOD = 0.1, LEAST_PERIOD = 0.01;

/* The periods of the counters. The one of GPUs was measured on an H200. The kernel updates RAPL at
 * each reading, and the processor updates its counters every millisecond. */
static const double GPU_COUNTER_SECONDS = 0.1, RAPL_COUNTER_SECONDS = 0.001;

/* A device keeps its power limit in the mean over some time. For a short time it may draw more, by
 * at most this factor. */
static const double HEADROOM = 1.5;

/* A window ends when every counter has moved. A counter that has not moved for this long is no
 * longer waited for. */
static const uint64_t STUCK_NS = 1000000000u;

struct assay_meter {
    pthread_mutex_t lock;      /* guards the ring and `ending` */
    pthread_cond_t read_one;   /* a reading was made, or the meter ends */
    pthread_mutex_t observing; /* guards the observer, and is held while it is called */
    pthread_t thread;
    pid_t process;
    bool ending;
    double period_seconds;
    unsigned parts;
    char description[512];
    assay__meter_observer observer;
    assay__meter_source sources[ASSAY__METER_SOURCES];
    double first_joules[ASSAY__METER_SOURCES]; /* the value of a device's counter at the start */
    size_t device_count;
    bool in_order; /* assay__boards_in_order(), when the meter was made */
    assay_device_state devices[ASSAY__METER_DEVICES];
    assay__rapl rapl;
    assay__meter_reading boundary; /* the last reading that ended a window */
    uint64_t made;                 /* readings so far */
    assay__meter_reading ring[RING];
};

uint64_t assay_meter_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool assay__meter_runs(const assay_meter *meter)
{
    return meter->process == getpid();
}

/* ---- the ring -------------------------------------------------------------------------------- */

static const assay__meter_reading *number(const assay_meter *meter, uint64_t n)
{
    return &meter->ring[n % RING];
}

static uint64_t oldest(const assay_meter *meter)
{
    return meter->made > RING ? meter->made - RING : 0;
}

/* The number of the first reading that is later than `ns`. */
static uint64_t first_after(const assay_meter *meter, uint64_t ns)
{
    uint64_t low = oldest(meter), high = meter->made;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (number(meter, middle)->ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const assay__meter_reading *assay__meter_reading_at(const assay_meter *meter, uint64_t ns)
{
    uint64_t after = first_after(meter, ns);
    return number(meter, after > oldest(meter) ? after - 1 : oldest(meter));
}

/* The first reading at or after `ns`, or the last one. */
static const assay__meter_reading *reading_from(const assay_meter *meter, uint64_t ns)
{
    uint64_t after = first_after(meter, ns > 0 ? ns - 1 : 0);
    return number(meter, after < meter->made ? after : meter->made - 1);
}

/* Joules until `ns`, interpolated between the readings around it. On average, a reading shows the
 * energy until half a period of the counter earlier; so the time is shifted by that. */
static double interpolated(const assay_meter *meter, size_t source, uint64_t ns)
{
    ns += (uint64_t)(meter->sources[source].period_seconds * 1e9 / 2);
    const assay__meter_reading *before = assay__meter_reading_at(meter, ns);
    const assay__meter_reading *after = reading_from(meter, ns);
    if (after->ns <= before->ns)
        return before->joules[source];
    double share =
        fmin(fmax(((double)ns - (double)before->ns) / (double)(after->ns - before->ns), 0), 1);
    return before->joules[source] + share * (after->joules[source] - before->joules[source]);
}

bool assay__meter_window(assay_meter *meter, size_t source, uint64_t begin_ns, uint64_t end_ns,
                         double *joules, double *low, double *high)
{
    const assay__meter_source *of = &meter->sources[source];
    uint64_t late = (uint64_t)(of->period_seconds * 1e9);
    pthread_mutex_lock(&meter->lock);
    bool counted = of->counted && meter->made > 0 && end_ns >= number(meter, oldest(meter))->ns;
    if (counted) {
        *joules = interpolated(meter, source, end_ns) - interpolated(meter, source, begin_ns);
        *low = assay__meter_reading_at(meter, end_ns)->joules[source] -
               reading_from(meter, begin_ns + late)->joules[source];
        *high = reading_from(meter, end_ns + late)->joules[source] -
                assay__meter_reading_at(meter, begin_ns)->joules[source];
    }
    bool silent = counted && (reading_from(meter, end_ns)->silent >> source & 1) != 0;
    pthread_mutex_unlock(&meter->lock);
    if (!counted)
        return false;
    if (silent)
        *high = INFINITY;
    if (of->limit_watts > 0)
        *high = fmin(*high, of->limit_watts * (double)(end_ns - begin_ns) * 1e-9);
    *low = fmin(fmax(*low, 0), *high);
    *joules = silent ? (double)NAN : fmin(fmax(*joules, *low), *high);
    return true;
}

bool assay__meter_total(assay_meter *meter, uint64_t begin_ns, uint64_t end_ns, double *joules,
                        double *low, double *high)
{
    bool any = false;
    *joules = *low = *high = 0;
    for (size_t i = 0; i < ASSAY__METER_SOURCES; i++) {
        double part, part_low, part_high;
        if (!assay__meter_window(meter, i, begin_ns, end_ns, &part, &part_low, &part_high))
            continue;
        any = true;
        *joules += part;
        *low += part_low;
        *high += part_high;
    }
    return any;
}

unsigned assay__meter_throttle(assay_meter *meter, uint64_t begin_ns, uint64_t end_ns)
{
    unsigned reasons = 0;
    pthread_mutex_lock(&meter->lock);
    if (meter->made > 0) {
        /* If the window lies between two readings, the reading after its end covers it. */
        uint64_t last = first_after(meter, end_ns);
        last = last < meter->made ? last : meter->made - 1;
        for (uint64_t i = first_after(meter, begin_ns); i <= last && i < meter->made; i++)
            reasons |= number(meter, i)->throttle;
    }
    pthread_mutex_unlock(&meter->lock);
    return reasons;
}

static double least_window(const assay_meter *meter, size_t source)
{
    return fmax(meter->sources[source].period_seconds, meter->period_seconds);
}

double assay__meter_least_window(const assay_meter *meter)
{
    double longest = 0;
    for (size_t i = 0; i < ASSAY__METER_SOURCES; i++)
        if (meter->sources[i].counted)
            longest = fmax(longest, least_window(meter, i));
    return longest;
}

/* ---- readings -------------------------------------------------------------------------------- */

/* Joules of a device since the first reading; `before`, the last known figure, if the device does
 * not answer. */
static double device_joules(assay_meter *meter, size_t index, double before)
{
    assay_reading energy = meter->devices[index].energy_joules;
    if (energy.validity != ASSAY_VALID)
        return before;
    double joules = energy.value - meter->first_joules[index];
    if (joules >= before)
        return joules;
    meter->first_joules[index] = energy.value - before; /* the driver was loaded again */
    return before;
}

static void read_devices(assay_meter *meter, assay__meter_reading *reading)
{
    for (size_t i = 0; i < meter->device_count; i++) {
        assay_device_state *state = &meter->devices[i];
        *state = (assay_device_state){.struct_size = sizeof *state};
        if (assay_device_read(i, meter->parts, NULL, state) != ASSAY_OK)
            state->energy_joules = assay_reading_missing(ASSAY_UNSUPPORTED);
        if (meter->sources[i].counted)
            reading->joules[i] = device_joules(meter, i, reading->joules[i]);
        if (state->energy_joules.validity != ASSAY_VALID)
            reading->silent |= 1u << i;
        if (state->throttle.validity == ASSAY_VALID)
            reading->throttle |= (unsigned)state->throttle.value;
    }
}

static assay__meter_reading take_reading(assay_meter *meter)
{
    assay__meter_reading reading = {0};
    if (meter->made > 0)
        reading = *number(meter, meter->made - 1);
    reading.throttle = reading.silent = 0;
    read_devices(meter, &reading);
    if (meter->sources[PROCESSOR].counted && assay__rapl_read(&meter->rapl) == ASSAY_OK)
        reading.joules[PROCESSOR] = meter->rapl.joules;
    else
        reading.silent |= 1u << PROCESSOR;
    reading.ns = assay_meter_now_ns();
    return reading;
}

static bool all_moved(const assay_meter *meter, const assay__meter_reading *now)
{
    if (now->ns - meter->boundary.ns > STUCK_NS)
        return true;
    for (size_t i = 0; i < ASSAY__METER_SOURCES; i++)
        if (meter->sources[i].counted && (now->silent >> i & 1) == 0 &&
            now->joules[i] <= meter->boundary.joules[i])
            return false;
    return true;
}

static void tell(assay_meter *meter, const assay__meter_reading *now)
{
    const assay__meter_reading from = meter->boundary;
    assay__meter_step step = {.devices = meter->devices,
                              .device_count = meter->device_count,
                              .in_order = meter->in_order,
                              .sources = meter->sources};
    if (all_moved(meter, now)) {
        step.from = &from;
        step.to = now;
        meter->boundary = *now;
    }
    pthread_mutex_lock(&meter->observing);
    if (meter->observer.reading != NULL)
        meter->observer.reading(meter->observer.context, meter, &step);
    pthread_mutex_unlock(&meter->observing);
}

void assay__meter_hold(assay_meter *meter)
{
    pthread_mutex_lock(&meter->observing);
}

void assay__meter_let_go(assay_meter *meter)
{
    pthread_mutex_unlock(&meter->observing);
}

static void keep(assay_meter *meter, const assay__meter_reading *reading)
{
    pthread_mutex_lock(&meter->lock);
    meter->ring[meter->made % RING] = *reading;
    meter->made++;
    pthread_cond_broadcast(&meter->read_one);
    pthread_mutex_unlock(&meter->lock);
}

static struct timespec time_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                             .tv_nsec = (long)(ns % 1000000000u)};
}

/* Sleep until the time `ns`. False if the meter ends. */
static bool sleep_until(assay_meter *meter, uint64_t ns)
{
    const struct timespec until = time_of(ns);
    pthread_mutex_lock(&meter->lock);
    while (!meter->ending && assay_meter_now_ns() < ns)
        pthread_cond_timedwait(&meter->read_one, &meter->lock, &until);
    bool goes_on = !meter->ending;
    pthread_mutex_unlock(&meter->lock);
    return goes_on;
}

static void *run(void *context)
{
    assay_meter *meter = context;
    const uint64_t period = (uint64_t)(meter->period_seconds * 1e9);
    for (uint64_t next = assay_meter_now_ns() + period; sleep_until(meter, next);) {
        assay__meter_reading reading = take_reading(meter);
        keep(meter, &reading);
        tell(meter, &reading);
        next += period;
        if (next < reading.ns) /* the reading took too long, or the machine slept */
            next = reading.ns + period;
    }
    return NULL;
}

/* ---- life cycle ------------------------------------------------------------------------------ */

ASSAY_PRINTF(2, 3) static void describe(assay_meter *meter, const char *format, ...)
{
    size_t used = strlen(meter->description);
    va_list arguments;
    va_start(arguments, format);
    if (used > 0 && used + 3 < sizeof meter->description) {
        memcpy(meter->description + used, "; ", 3);
        used += 2;
    }
    vsnprintf(meter->description + used, sizeof meter->description - used, format, arguments);
    va_end(arguments);
}

static const char *reason(assay_validity validity)
{
    return validity == ASSAY_NOT_PERMITTED ? "its energy may not be read by this user"
                                           : "it has no counter of energy";
}

static void open_device(assay_meter *meter, size_t index)
{
    assay_device device = {.struct_size = sizeof device};
    assay_device_state *state = &meter->devices[index];
    assay_error error;
    *state = (assay_device_state){.struct_size = sizeof *state};
    if (assay_device_describe(index, &error, &device) != ASSAY_OK ||
        assay_device_read(index, meter->parts, &error, state) != ASSAY_OK) {
        describe(meter, "%s", error.message);
        return;
    }
    bool counted = state->energy_joules.validity == ASSAY_VALID;
    bool asked = (meter->parts & ASSAY_DEVICE_ENERGY) != 0;
    meter->first_joules[index] = counted ? state->energy_joules.value : 0;
    meter->sources[index] =
        (assay__meter_source){.counted = counted,
                              .gpu = true,
                              .limit_watts = HEADROOM * assay__device_limit_watts(index),
                              .period_seconds = GPU_COUNTER_SECONDS};
    char label[ASSAY__BOARD_LABEL];
    describe(meter, "%s: %s%s%s", assay__board_label(index, meter->in_order, label), device.name,
             counted || !asked ? "" : ", ",
             counted || !asked ? "" : reason(state->energy_joules.validity));
}

/* Open all sources. ASSAY_OK if there is any; otherwise the reason why there is none. */
static assay_status open_sources(assay_meter *meter, const assay_meter_options *options)
{
    assay_error error = {0};
    assay_status status = ASSAY_E_UNSUPPORTED;
    size_t count = 0;
    if (!options->no_devices) {
        assay_status counted = assay_device_count(&error, &count);
        if (counted != ASSAY_OK)
            describe(meter, "GPU: %s", error.message);
        status = counted == ASSAY_E_PERMISSION ? counted : status;
    }
    meter->device_count = count < ASSAY__METER_DEVICES ? count : ASSAY__METER_DEVICES;
    for (size_t i = 0; i < meter->device_count; i++)
        open_device(meter, i);
    if (!options->no_processor) {
        assay_status opened = assay__rapl_open(options->powercap, &error, &meter->rapl);
        if (opened == ASSAY_OK) {
            meter->sources[PROCESSOR] =
                (assay__meter_source){.counted = true,
                                      .limit_watts = HEADROOM * meter->rapl.limit_watts,
                                      .period_seconds = RAPL_COUNTER_SECONDS};
            describe(meter, "processor: RAPL, %zu counter%s", meter->rapl.count,
                     meter->rapl.count == 1 ? "" : "s");
        } else {
            describe(meter, "%s", error.message);
            status = opened == ASSAY_E_PERMISSION ? opened : status;
        }
    }
    return meter->device_count > 0 || meter->rapl.count > 0 ? ASSAY_OK : status;
}

/* Start the thread with all signals blocked, so that the program's own threads receive them. */
static int start_thread(assay_meter *meter)
{
    sigset_t all;
    pthread_attr_t attributes;
    int failure = pthread_attr_init(&attributes);
    if (failure != 0)
        return failure;
    sigfillset(&all);
    failure = pthread_attr_setsigmask_np(&attributes, &all);
    if (failure == 0)
        failure = pthread_create(&meter->thread, &attributes, run, meter);
    pthread_attr_destroy(&attributes);
    if (failure == 0)
        pthread_setname_np(meter->thread, "assay-meter");
    return failure;
}

static void init_locks(assay_meter *meter)
{
    pthread_condattr_t monotonic;
    pthread_mutex_init(&meter->lock, NULL);
    pthread_mutex_init(&meter->observing, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&meter->read_one, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

assay_status assay_meter_new(const assay_meter_options *options, assay_error *error,
                             assay_meter **meter)
{
    assay_meter_options own;
    *meter = NULL;
    assay_status status =
        assay__struct_take(&own, sizeof own, options, "assay_meter_options", error);
    if (status != ASSAY_OK)
        return status;
    if (!(own.period_seconds == 0 || own.period_seconds >= LEAST_PERIOD))
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "a meter reads at most every %g s; %g is too short", LEAST_PERIOD,
                           own.period_seconds);
    assay_meter *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for a meter");
    init_locks(fresh);
    fresh->process = getpid();
    fresh->period_seconds = own.period_seconds > 0 ? own.period_seconds : DEFAULT_PERIOD;
    fresh->parts = own.parts != 0 ? own.parts
                                  : (unsigned)ASSAY_DEVICE_MEMORY | ASSAY_DEVICE_LOAD |
                                        ASSAY_DEVICE_POWER | ASSAY_DEVICE_ENERGY;
    fresh->in_order = assay__boards_in_order();
    status = open_sources(fresh, &own);
    if (status == ASSAY_OK) {
        fresh->boundary = take_reading(fresh);
        keep(fresh, &fresh->boundary);
        int failure = start_thread(fresh);
        if (failure != 0)
            status = assay__fail(error, ASSAY_E_IO, "no thread for a meter: %s", strerror(failure));
    } else {
        assay__fail(error, status, "nothing to meter: %s", fresh->description);
    }
    if (status == ASSAY_OK) {
        *meter = fresh;
    } else {
        assay__rapl_close(&fresh->rapl);
        free(fresh);
    }
    return status;
}

void assay_meter_free(assay_meter *meter)
{
    if (meter == NULL)
        return;
    if (assay__meter_runs(meter)) { /* a forked child has neither the thread nor its locks */
        pthread_mutex_lock(&meter->lock);
        meter->ending = true;
        pthread_cond_broadcast(&meter->read_one);
        pthread_mutex_unlock(&meter->lock);
        pthread_join(meter->thread, NULL);
        pthread_cond_destroy(&meter->read_one);
        if (meter->observer.closed != NULL)
            meter->observer.closed(meter->observer.context);
    }
    assay__rapl_close(&meter->rapl);
    free(meter);
}

assay_status assay__meter_observe(assay_meter *meter, const assay__meter_observer *observer)
{
    if (!assay__meter_runs(meter))
        return ASSAY_E_STATE;
    pthread_mutex_lock(&meter->observing);
    bool is_free = meter->observer.reading == NULL;
    if (is_free)
        meter->observer = *observer;
    pthread_mutex_unlock(&meter->observing);
    return is_free ? ASSAY_OK : ASSAY_E_STATE;
}

void assay__meter_forget(assay_meter *meter)
{
    if (!assay__meter_runs(meter))
        return;
    pthread_mutex_lock(&meter->observing);
    meter->observer = (assay__meter_observer){0};
    pthread_mutex_unlock(&meter->observing);
}

const char *assay_meter_describe(const assay_meter *meter)
{
    return meter->description;
}

/* ---- energy of a window ---------------------------------------------------------------------- */

/* The time from which on a reading shows all of the energy of a window. */
static uint64_t settled_ns(const assay_meter *meter, uint64_t end_ns)
{
    double longest = 0;
    for (size_t i = 0; i < ASSAY__METER_SOURCES; i++)
        if (meter->sources[i].counted)
            longest = fmax(longest, meter->sources[i].period_seconds);
    return end_ns + (uint64_t)(longest * 1e9);
}

bool assay__meter_has_settled(assay_meter *meter, uint64_t end_ns)
{
    pthread_mutex_lock(&meter->lock);
    bool settled = number(meter, meter->made - 1)->ns >= settled_ns(meter, end_ns);
    pthread_mutex_unlock(&meter->lock);
    return settled;
}

void assay__meter_settle(assay_meter *meter, uint64_t end_ns)
{
    const uint64_t ns = settled_ns(meter, end_ns);
    const uint64_t most = (uint64_t)((10 * meter->period_seconds + 1) * 1e9);
    const uint64_t last = assay_meter_now_ns() + most;
    const struct timespec until = time_of(last);
    pthread_mutex_lock(&meter->lock);
    while (number(meter, meter->made - 1)->ns < ns && assay_meter_now_ns() < last)
        pthread_cond_timedwait(&meter->read_one, &meter->lock, &until);
    pthread_mutex_unlock(&meter->lock);
}

static void add_to(assay_reading *sum, double value)
{
    *sum = assay_reading_of((sum->validity == ASSAY_VALID ? sum->value : 0) + value);
}

/* A sum is not known if one of its sources stopped answering. */
static void check_sum(assay_reading *sum)
{
    if (sum->validity == ASSAY_VALID && !isfinite(sum->value))
        *sum = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
}

assay_status assay_meter_read(assay_meter *meter, uint64_t begin_ns, uint64_t end_ns,
                              assay_error *error, assay_energy *energy)
{
    if (!assay__struct_has_room(energy, sizeof *energy))
        return assay__fail(error, ASSAY_E_ARGUMENT, "assay_energy: struct_size is not set");
    if (end_ns < begin_ns)
        return assay__fail(error, ASSAY_E_ARGUMENT, "the window ends before it begins");
    if (!assay__meter_runs(meter))
        return assay__fail(error, ASSAY_E_STATE, "the meter's thread is in the parent process");
    const assay_reading none = assay_reading_missing(ASSAY_UNSUPPORTED);
    const double length = (double)(end_ns - begin_ns) * 1e-9;
    *energy = (assay_energy){energy->struct_size, none, none, none, none, none, none};
    assay__meter_settle(meter, end_ns);
    for (size_t i = 0; i < ASSAY__METER_SOURCES; i++) {
        double joules, low, high;
        if (!assay__meter_window(meter, i, begin_ns, end_ns, &joules, &low, &high))
            continue;
        add_to(&energy->joules, joules);
        add_to(&energy->joules_low, low);
        add_to(&energy->joules_high, high);
        assay_reading *kind = meter->sources[i].gpu ? &energy->gpu_joules : &energy->cpu_joules;
        add_to(kind, joules);
        if (length < least_window(meter, i))
            *kind = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    }
    check_sum(&energy->joules);
    check_sum(&energy->joules_high);
    check_sum(&energy->gpu_joules);
    check_sum(&energy->cpu_joules);
    if (energy->joules.validity == ASSAY_VALID && length < assay__meter_least_window(meter))
        energy->joules = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    if (meter->device_count > 0 && (meter->parts & ASSAY_DEVICE_LOAD) != 0)
        energy->throttle = assay_reading_of(assay__meter_throttle(meter, begin_ns, end_ns));
    return ASSAY_OK;
}
