/* The internal interface of a meter: its sources, its readings, and its observer. */
#ifndef ASSAY_INSTRUMENT_METER_H
#define ASSAY_INSTRUMENT_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/meter.h"

enum {
    ASSAY__METER_DEVICES = 16,                      /* the most GPUs that are read */
    ASSAY__METER_SOURCES = ASSAY__METER_DEVICES + 1 /* the processor is the last */
};

/* Something whose energy is counted. */
typedef struct assay__meter_source {
    bool counted;          /* it has a counter of energy that could be read */
    bool gpu;              /* it is a GPU; the index of the source is that of the device */
    double limit_watts;    /* the highest power that it may draw; 0: not known */
    double update_seconds; /* its counter moves within this time; 0: only its moves show that */
    double period_seconds; /* between two moves of its counter; INFINITY until it moved twice */
} assay__meter_source;

typedef struct assay__meter_reading {
    uint64_t begin_ns, ns;               /* it was begun and ended */
    double joules[ASSAY__METER_SOURCES]; /* since the meter was made */
    unsigned throttle;                   /* reasons of all devices together */
    unsigned silent; /* a bit for each source that did not answer: its joules are the old ones */
    /* How often a counter has started again. What it counted just before is lost. */
    uint16_t restarts[ASSAY__METER_SOURCES];
} assay__meter_reading;

/* An observer receives this at each reading, on the meter's thread. */
typedef struct assay__meter_step {
    const assay_device_state *devices; /* [device_count] */
    size_t device_count;
    bool in_order;                      /* assay__boards_in_order() */
    const assay__meter_source *sources; /* [ASSAY__METER_SOURCES] */
    /* The window between two readings in which every counter moved that is not silent in `to`. NULL
     * if some counter has not moved since the last window. A counter that is silent in `from` stood
     * still or did not answer in the window before: its energy belongs to an unknown time. */
    const assay__meter_reading *from, *to;
} assay__meter_step;

typedef struct assay__meter_observer {
    void (*reading)(void *context, assay_meter *meter, const assay__meter_step *step);
    void (*closed)(void *context); /* the meter is being freed */
    void *context;
} assay__meter_observer;

/* Set the observer. ASSAY_E_STATE if there is one already, and in a forked child. */
ASSAY_MUST_USE assay_status assay__meter_observe(assay_meter *meter,
                                                 const assay__meter_observer *observer);

/* Remove the observer. It is not called any more once this returns. An observer must not call
 * this. */
void assay__meter_forget(assay_meter *meter);

/* Keep the observer from being called, from the return of assay__meter_hold() until
 * assay__meter_let_go(). An observer must not call these. */
void assay__meter_hold(assay_meter *meter);
void assay__meter_let_go(assay_meter *meter);

/* The latest reading that is not later than `ns`, or the earliest one that is kept. Only observers
 * may call this, because it takes no lock. */
const assay__meter_reading *assay__meter_reading_at(const assay_meter *meter, uint64_t ns);

/* The longest time by which a counter may have been late in that reading: the time since it last
 * moved. INFINITY if it has not moved. Only observers may call this. */
double assay__meter_late_seconds(const assay_meter *meter, size_t source, uint64_t ns);

/* The energy of one source within a window, from the readings so far. False if it is not counted.
 * `joules` is NAN and only the bounds are known if the source has not moved since the window, or if
 * the window began before the readings that are kept. `high` is then infinite, unless the highest
 * power of the source is known. */
bool assay__meter_window(assay_meter *meter, size_t source, uint64_t begin_ns, uint64_t end_ns,
                         double *joules, double *low, double *high);

/* The same for all sources together. */
bool assay__meter_total(assay_meter *meter, uint64_t begin_ns, uint64_t end_ns, double *joules,
                        double *low, double *high);

/* Whether the meter's thread is in this process. It is not in a forked child. */
bool assay__meter_runs(const assay_meter *meter);

/* Whether later readings can add nothing about a window that ends at `end_ns`. */
bool assay__meter_has_settled(assay_meter *meter, uint64_t end_ns);

/* Wait until that is so, but for at most ten periods of the readings, two of the counters, and a
 * second. */
void assay__meter_settle(assay_meter *meter, uint64_t end_ns);

/* Why a GPU was throttled between two times: a sum of assay_device_throttle. */
unsigned assay__meter_throttle(assay_meter *meter, uint64_t begin_ns, uint64_t end_ns);

/* The least length of a window, in seconds, for which there is a figure and not only bounds. This
 * is the longest period of a counter that is read, or the period of the readings if that is longer.
 * INFINITY while the period of a counter is not known; 0 if no energy is counted. */
double assay__meter_least_window(assay_meter *meter);

/* The same after waiting until the periods of all counters are known, but for at most 10 s. On most
 * GPUs this takes 0.3 s after the meter was made. */
double assay__meter_learn(assay_meter *meter);

#endif
