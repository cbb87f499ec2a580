/* What the two files of the meter share: meter.c takes readings, meter_window.c finds the energy of
 * a window in them. */
#ifndef ASSAY_INSTRUMENT_METER_STATE_H
#define ASSAY_INSTRUMENT_METER_STATE_H

#include <pthread.h>
#include <sys/types.h>

#include "instrument/meter.h"
#include "instrument/rapl.h"

enum { ASSAY__METER_READINGS = 8192 /* that are kept */ };

/* A counter that has not moved for this long is no longer waited for. */
#define ASSAY__METER_STUCK_NS UINT64_C(10000000000)

/* The moves of a counter that were seen: readings that differ from the reading before. */
typedef struct assay__meter_moves {
    uint64_t count, first_ns, last_ns;
} assay__meter_moves;

struct assay_meter {
    pthread_mutex_t lock;      /* guards the readings, `moves`, the periods and `ending` */
    pthread_cond_t read_one;   /* a reading was made, or the meter ends */
    pthread_mutex_t observing; /* guards the observer, and is held while it is called */
    pthread_t thread;
    pid_t process;
    bool ending;
    double period_seconds;
    unsigned parts;
    char description[2048], covers[128];
    assay__meter_observer observer;
    assay__meter_source sources[ASSAY__METER_SOURCES];
    assay__meter_moves moves[ASSAY__METER_SOURCES];
    double first_joules[ASSAY__METER_SOURCES]; /* the value of a device's counter at the start */
    size_t device_count;
    bool in_order; /* assay__boards_in_order(), when the meter was made */
    assay_device_state devices[ASSAY__METER_DEVICES];
    assay__rapl rapl;
    assay__meter_reading boundary; /* the last reading that ended a window */
    uint64_t first_ns;             /* when the first reading ended */
    /* The readings that are kept, in order. The first `thinned` ones are old: apart from the very
     * first, which all stay, only every `stride`-th of those that were taken is among them. */
    uint64_t made, thinned, stride;
    assay__meter_reading readings[ASSAY__METER_READINGS];
};

/* Keep a reading, and enter what it shows of the periods of the counters. */
void assay__meter_keep(assay_meter *meter, const assay__meter_reading *reading);

#endif
