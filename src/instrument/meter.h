/* Inside of a meter: its sources and readings, and who is told about them. */
#ifndef ASSAY_INSTRUMENT_METER_H
#define ASSAY_INSTRUMENT_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/meter.h"

enum {
    ASSAY__METER_DEVICES = 8,
    ASSAY__METER_SOURCES = ASSAY__METER_DEVICES + 1 /* the processor is the last */
};

/* Something whose energy is counted. */
typedef struct assay__meter_source {
    bool counted;          /* it has a counter that could be read */
    bool gpu;              /* its index is that of the device */
    double limit_watts;    /* the most that it may draw; 0: not known */
    double period_seconds; /* between two moves of its counter */
} assay__meter_source;

typedef struct assay__meter_reading {
    uint64_t ns;
    double joules[ASSAY__METER_SOURCES]; /* since the meter was made */
    unsigned throttle;                   /* of any device */
    unsigned silent; /* a bit for each source that did not answer: its joules are older */
} assay__meter_reading;

/* What an observer is told at each reading, on the meter's thread. */
typedef struct assay__meter_step {
    const assay_device_state *devices; /* [device_count] */
    size_t device_count;
    bool in_order;                      /* assay__boards_in_order() */
    const assay__meter_source *sources; /* [ASSAY__METER_SOURCES] */
    /* The window between two readings in which every counter moved; NULL: they have not yet. */
    const assay__meter_reading *from, *to;
} assay__meter_step;

typedef struct assay__meter_observer {
    void (*reading)(void *context, assay_meter *meter, const assay__meter_step *step);
    void (*closed)(void *context); /* the meter is being freed */
    void *context;
} assay__meter_observer;

/* Tell this observer. ASSAY_E_STATE if another one is told already, and in a forked child. */
ASSAY_MUST_USE assay_status assay__meter_observe(assay_meter *meter,
                                                 const assay__meter_observer *observer);

/* Tell nobody any more, once this returns. Not to be called by an observer. */
void assay__meter_forget(assay_meter *meter);

/* Keep the observer from being told until it is let go, once this returns. Not to be called by an
 * observer. */
void assay__meter_hold(assay_meter *meter);
void assay__meter_let_go(assay_meter *meter);

/* The latest reading that is not later than `ns`, or the earliest that is known. For observers. */
const assay__meter_reading *assay__meter_reading_at(const assay_meter *meter, uint64_t ns);

/* The energy of one source within a window, from what is known now; false: it was not counted. If
 * the source fell silent within the window, `joules` is NAN and only the bounds are known; `high`
 * is then infinite, unless the most that the source may draw is known. */
bool assay__meter_window(assay_meter *meter, size_t source, uint64_t begin_ns, uint64_t end_ns,
                         double *joules, double *low, double *high);

/* The same of all sources together. */
bool assay__meter_total(assay_meter *meter, uint64_t begin_ns, uint64_t end_ns, double *joules,
                        double *low, double *high);

/* Is its thread in this process, and not in the parent of a fork? */
bool assay__meter_runs(const assay_meter *meter);

/* Do readings tell all that they can about a window which ends at `end_ns`? */
bool assay__meter_has_settled(assay_meter *meter, uint64_t end_ns);

/* Wait until they do; not for ever. */
void assay__meter_settle(assay_meter *meter, uint64_t end_ns);

/* Why a GPU was throttled between two times: a sum of assay_device_throttle. */
unsigned assay__meter_throttle(assay_meter *meter, uint64_t begin_ns, uint64_t end_ns);

/* A window that is shorter has bounds and no figure: the longest period of a counter that is read,
 * or the period of the readings, if that is longer. 0: no energy is counted. */
double assay__meter_least_window(const assay_meter *meter);

#endif
