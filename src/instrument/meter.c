/* The meter. Its thread reads all sources once per period, keeps the readings, and passes them to
 * its observer. meter_window.c finds the energy of a window in the readings. */
#include "instrument/meter_state.h"

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

enum { PROCESSOR = ASSAY__METER_DEVICES };

/* In seconds. */
static const double DEFAULT_PERIOD = 0.1, LEAST_PERIOD = 0.01;

/* RAPL's counters wrap around after a minute under full load. */
static const double MOST_PERIOD = 10;

/* The kernel updates RAPL at each reading, and the processor updates its counters every
 * millisecond. The counters of GPUs show by their moves how often they move. */
static const double RAPL_COUNTER_SECONDS = 0.001;

/* A device keeps its power limit in the mean over some time. For a short time it may draw more, by
 * at most this factor. */
static const double HEADROOM = 1.5;

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

/* ---- readings -------------------------------------------------------------------------------- */

/* The time since the counter of a source last moved, in seconds. */
static double since_move(const assay_meter *meter, size_t source, uint64_t now)
{
    const assay__meter_moves *moves = &meter->moves[source];
    return (double)(now - (moves->count > 0 ? moves->last_ns : meter->first_ns)) * 1e-9;
}

/* Update the joules of a device since the first reading, if it answers. A counter that is set back,
 * or that rises by more than any device draws, has started again, as when the driver is loaded
 * again. A second is added to the time because the counter moves in steps. */
static void update_joules(assay_meter *meter, size_t index, assay__meter_reading *reading)
{
    assay_reading energy = meter->devices[index].energy_joules;
    if (energy.validity != ASSAY_VALID)
        return;
    const double before = reading->joules[index];
    const double more = energy.value - meter->first_joules[index] - before;
    if (more >= 0 &&
        more <= ASSAY__MOST_WATTS * (since_move(meter, index, reading->begin_ns) + 1)) {
        reading->joules[index] += more;
        return;
    }
    meter->first_joules[index] = energy.value - before;
    reading->restarts[index]++;
}

static void read_devices(assay_meter *meter, assay__meter_reading *reading)
{
    for (size_t i = 0; i < meter->device_count; i++) {
        assay_device_state *state = &meter->devices[i];
        *state = (assay_device_state){.struct_size = sizeof *state};
        if (assay_device_read(i, meter->parts, NULL, state) != ASSAY_OK)
            state->energy_joules = assay_reading_missing(ASSAY_UNSUPPORTED);
        if (meter->sources[i].counted)
            update_joules(meter, i, reading);
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
        reading = meter->readings[meter->made - 1];
    reading.begin_ns = assay_meter_now_ns();
    reading.throttle = reading.silent = 0;
    read_devices(meter, &reading);
    if (!meter->sources[PROCESSOR].counted || assay__rapl_read(&meter->rapl) != ASSAY_OK)
        reading.silent |= 1u << PROCESSOR;
    else
        reading.joules[PROCESSOR] = meter->rapl.joules;
    reading.restarts[PROCESSOR] = (uint16_t)meter->rapl.restarts;
    reading.ns = assay_meter_now_ns();
    return reading;
}

/* A window waits this long for a source that does not answer. */
static const uint64_t SILENCE_NS = 1000000000u;

/* Whether every counter has moved since the last window, so that another window ends with this
 * reading. A source that does not answer, or whose counter stands still, is marked as silent when
 * the window has waited for it. It is not waited for again until its counter moves. */
static bool ends_window(const assay_meter *meter, assay__meter_reading *now)
{
    const uint64_t waited = now->ns - meter->boundary.ns;
    for (size_t i = 0; i < ASSAY__METER_SOURCES; i++) {
        const bool answers = (now->silent >> i & 1) == 0;
        if (!meter->sources[i].counted || (answers && now->joules[i] > meter->boundary.joules[i]))
            continue;
        if ((meter->boundary.silent >> i & 1) == 0 &&
            waited <= (answers ? ASSAY__METER_STUCK_NS : SILENCE_NS))
            return false;
        now->silent |= 1u << i;
    }
    return true;
}

static void tell(assay_meter *meter, assay__meter_reading *now)
{
    const assay__meter_reading from = meter->boundary;
    assay__meter_step step = {.devices = meter->devices,
                              .device_count = meter->device_count,
                              .in_order = meter->in_order,
                              .sources = meter->sources};
    if (ends_window(meter, now)) {
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
        assay__meter_keep(meter, &reading);
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
                              .period_seconds = INFINITY};
    char label[ASSAY__BOARD_LABEL];
    describe(meter, "%s: %s%s%s", assay__board_label(index, meter->in_order, label), device.name,
             counted || !asked ? "" : ", ",
             counted || !asked ? "" : reason(state->energy_joules.validity));
}

/* Write what the sources with counted energy are, of a machine with this number of GPUs. */
static void write_covers(assay_meter *meter, size_t gpus)
{
    size_t counted = 0;
    char some[64] = "GPUs";
    const bool processor = meter->sources[PROCESSOR].counted;
    for (size_t i = 0; i < meter->device_count; i++)
        counted += meter->sources[i].counted;
    if (counted < gpus)
        snprintf(some, sizeof some, "%zu of %zu GPUs", counted, gpus);
    if (counted == 0)
        snprintf(meter->covers, sizeof meter->covers, "%s%s", processor ? "processor" : "nothing",
                 processor && gpus > 0 ? ", not the GPUs" : "");
    else
        snprintf(meter->covers, sizeof meter->covers, "%s%s%s", processor ? "processor and " : "",
                 some, processor ? "" : ", not the processor");
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
    if (count > meter->device_count)
        describe(meter, "%zu further GPUs are not read", count - meter->device_count);
    if (!options->no_processor) {
        assay_status opened = assay__rapl_open(options->powercap, &error, &meter->rapl);
        if (opened == ASSAY_OK) {
            meter->sources[PROCESSOR] =
                (assay__meter_source){.counted = true,
                                      .limit_watts = HEADROOM * meter->rapl.limit_watts,
                                      .update_seconds = RAPL_COUNTER_SECONDS,
                                      .period_seconds = RAPL_COUNTER_SECONDS};
            describe(meter, "processor: RAPL, %zu counter%s", meter->rapl.count,
                     meter->rapl.count == 1 ? "" : "s");
            if (meter->rapl.why_left_out != 0)
                describe(meter, "%s left out: %s", meter->rapl.left_out,
                         strerror(meter->rapl.why_left_out));
        } else {
            describe(meter, "%s", error.message);
            status = opened == ASSAY_E_PERMISSION ? opened : status;
        }
    }
    write_covers(meter, count);
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
    if (own.period_seconds > MOST_PERIOD)
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "a meter reads at least every %g s, because counters wrap around; %g is "
                           "too long",
                           MOST_PERIOD, own.period_seconds);
    if (own.no_devices && own.no_processor)
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "a meter needs the GPUs, the processor, or both");
    assay_meter *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for a meter");
    init_locks(fresh);
    fresh->stride = 2;
    fresh->process = getpid();
    fresh->period_seconds = own.period_seconds > 0 ? own.period_seconds : DEFAULT_PERIOD;
    fresh->parts = own.parts != 0 ? own.parts
                                  : (unsigned)ASSAY_DEVICE_MEMORY | ASSAY_DEVICE_LOAD |
                                        ASSAY_DEVICE_POWER | ASSAY_DEVICE_ENERGY;
    fresh->in_order = assay__boards_in_order();
    status = open_sources(fresh, &own);
    if (status == ASSAY_OK) {
        fresh->boundary = take_reading(fresh);
        assay__meter_keep(fresh, &fresh->boundary);
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

const char *assay_meter_covers(const assay_meter *meter)
{
    return meter->covers;
}

const char *assay_meter_describe(const assay_meter *meter)
{
    return meter->description;
}
