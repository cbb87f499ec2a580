/* The machine's clock: chooses between the processor's counter and CLOCK_MONOTONIC, and calibrates
 * the counter.
 *
 * Method, as in fio's gettime.c: the counter and CLOCK_MONOTONIC are read together three times,
 * some milliseconds apart. Each time many brackets "counter, clock, counter" are read, and the
 * tightest bracket is kept. The rate is the slope over the whole window. The counter is used only
 * if the rates of both halves of the window agree with it. The error of one bracket is tens of
 * nanoseconds; over 4 ms this gives an error of the rate of some ten ppm. Journals store anchors
 * from the start and the end of the run, so that the events of a long run still get exact times. */
#include "clock/clock.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/struct_size.h"
#include "clock/counter.h"

enum {
    BRACKETS = 64,       /* for one pair of readings */
    ANCHOR_BRACKETS = 8, /* the same for an anchor, which every forked process takes */
    WINDOW_NS = 2000000, /* each of two halves */
    COST_READINGS = 2000 /* to measure cost and resolution */
};

/* The rate of either half of the window may differ by this share from the rate of the whole window
 * before the counter is rejected. NTP slews CLOCK_MONOTONIC by up to 500 ppm; a wrong or stopping
 * counter is off by percents. */
static const double RATE_TOLERANCE = 2e-3;

/* One time, as the counter and as CLOCK_MONOTONIC show it. */
typedef struct pair {
    uint64_t ticks, nanoseconds;
} pair;

struct assay_clock {
    bool hardware;
    const char *source, *reason;
    double ns_per_tick;
    pair origin; /* ticks convert relative to here, to keep the precision of the product */
    assay_reading resolution_ns, cost_ns;
    assay_clock_source injected;
    void *context;
};

static uint64_t system_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Read both clocks at one moment, as well as can be: of several tries the one that took least. */
static pair take_pair(int brackets)
{
    pair best = {0, 0};
    uint64_t tightest = UINT64_MAX;
    for (int i = 0; i < brackets; i++) {
        uint64_t before = assay__counter_read_ordered();
        uint64_t now = system_ns(CLOCK_MONOTONIC);
        uint64_t after = assay__counter_read_ordered();
        if (after - before < tightest) {
            tightest = after - before;
            best = (pair){before + (after - before) / 2, now};
        }
    }
    return best;
}

static double rate_between(pair from, pair to)
{
    return (double)(to.ticks - from.ticks) / ((double)(to.nanoseconds - from.nanoseconds) * 1e-9);
}

static void wait_until(uint64_t monotonic_ns)
{
    while (system_ns(CLOCK_MONOTONIC) < monotonic_ns)
        continue;
}

static bool calibrate(assay_clock *clock)
{
    pair start = take_pair(BRACKETS);
    wait_until(start.nanoseconds + WINDOW_NS);
    pair middle = take_pair(BRACKETS);
    wait_until(middle.nanoseconds + WINDOW_NS);
    pair end = take_pair(BRACKETS);
    double rate = rate_between(start, end);
    double first = rate_between(start, middle), second = rate_between(middle, end);
    if (!(rate > 1e5 && rate < 1e11) || fabs(first / rate - 1) > RATE_TOLERANCE ||
        fabs(second / rate - 1) > RATE_TOLERANCE)
        return false;
    clock->ns_per_tick = 1e9 / rate;
    clock->origin = start;
    return true;
}

/* Smallest step between successive different readings, and the mean cost of a reading. */
static void measure_quality(assay_clock *clock)
{
    double step = INFINITY;
    uint64_t start = system_ns(CLOCK_MONOTONIC);
    uint64_t previous = assay__clock_ticks(clock);
    for (int i = 0; i < COST_READINGS; i++) {
        uint64_t now = assay__clock_ticks(clock);
        if (now > previous)
            step = fmin(step, (double)(now - previous));
        previous = now;
    }
    double elapsed = (double)(system_ns(CLOCK_MONOTONIC) - start);
    clock->cost_ns = assay_reading_of(elapsed / COST_READINGS);
    clock->resolution_ns = isfinite(step) ? assay_reading_of(assay__clock_ns_of_ticks(clock, step))
                                          : assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
}

static void choose(assay_clock *clock)
{
    const char *reason = NULL;
    *clock = (assay_clock){.hardware = true};
    if (assay__counter_name() != NULL && assay__counter_is_trustworthy(&reason)) {
        if (calibrate(clock)) {
            clock->source = assay__counter_name();
            clock->reason = reason;
            measure_quality(clock);
            return;
        }
        reason = "the processor's counter disagrees with CLOCK_MONOTONIC";
    }
    *clock = (assay_clock){.source = "clock-monotonic",
                           .reason = reason != NULL ? reason : "no readable counter",
                           .ns_per_tick = 1.0};
    measure_quality(clock);
}

static assay_clock machine_clock;
static pthread_once_t machine_clock_once = PTHREAD_ONCE_INIT;

static void initialise_machine_clock(void)
{
    choose(&machine_clock);
}

const assay_clock *assay_clock_default(void)
{
    pthread_once(&machine_clock_once, initialise_machine_clock);
    return &machine_clock;
}

uint64_t assay__clock_ticks(const assay_clock *clock)
{
    if (clock->hardware)
        return assay__counter_read_ordered();
    if (clock->injected != NULL)
        return clock->injected(clock->context);
    return system_ns(CLOCK_MONOTONIC);
}

double assay__clock_ns_of_ticks(const assay_clock *clock, double ticks)
{
    return ticks * clock->ns_per_tick;
}

double assay__clock_ticks_of_ns(const assay_clock *clock, double ns)
{
    return ns / clock->ns_per_tick;
}

bool assay__clock_is_hardware(const assay_clock *clock)
{
    return clock->hardware;
}

uint64_t assay_clock_now_ns(const assay_clock *clock)
{
    uint64_t ticks = assay__clock_ticks(clock);
    if (!clock->hardware)
        return ticks;
    int64_t since_origin = (int64_t)(ticks - clock->origin.ticks);
    return clock->origin.nanoseconds +
           (uint64_t)(int64_t)assay__clock_ns_of_ticks(clock, (double)since_origin);
}

double assay_clock_seconds(const assay_clock *clock)
{
    return (double)assay_clock_now_ns(clock) * 1e-9;
}

assay__clock_anchor assay__clock_anchor_now(const assay_clock *clock)
{
    assay__clock_anchor anchor = {0};
    if (clock->hardware) {
        pair now = take_pair(ANCHOR_BRACKETS);
        anchor.ticks = now.ticks;
        anchor.monotonic_ns = now.nanoseconds;
    } else {
        anchor.ticks = assay__clock_ticks(clock);
        anchor.monotonic_ns = system_ns(CLOCK_MONOTONIC);
    }
    anchor.realtime_ns = system_ns(CLOCK_REALTIME);
    return anchor;
}

assay_status assay_clock_describe(const assay_clock *clock, assay_clock_info *info)
{
    if (clock == NULL || !assay__struct_has_room(info, sizeof *info))
        return ASSAY_E_ARGUMENT;
    info->source = clock->source;
    info->reason = clock->reason;
    info->frequency_hz = assay__clock_ticks_of_ns(clock, 1e9);
    info->resolution_ns = clock->resolution_ns;
    info->cost_ns = clock->cost_ns;
    return ASSAY_OK;
}

assay_status assay_clock_new_injected(assay_clock_source now_ns, void *context, assay_clock **clock)
{
    if (now_ns == NULL || clock == NULL)
        return ASSAY_E_ARGUMENT;
    assay_clock *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL)
        return ASSAY_E_MEMORY;
    *fresh = (assay_clock){.source = "injected",
                           .reason = "given by the program",
                           .ns_per_tick = 1.0,
                           .resolution_ns = assay_reading_missing(ASSAY_NOT_MEASURED),
                           .cost_ns = assay_reading_missing(ASSAY_NOT_MEASURED),
                           .injected = now_ns,
                           .context = context};
    *clock = fresh;
    return ASSAY_OK;
}

void assay_clock_free(assay_clock *clock)
{
    if (clock != &machine_clock)
        free(clock);
}
