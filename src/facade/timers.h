/* The inside of assay_timers, shared by the files timers*.c, track_time.c, speedup.c and
 * phase_timer.c. */
#ifndef ASSAY_FACADE_TIMERS_H
#define ASSAY_FACADE_TIMERS_H

#include "assay/timers.h"
#include "base/text.h"

typedef struct assay__timer {
    char name[ASSAY__NAME_MAX + 1];
    int32_t parent;
    assay_reading time;
    size_t metric_count;
    assay_timer_metric metrics[ASSAY_TIMER_METRICS];
} assay__timer;

struct assay_timers {
    FILE *progress;
    assay_status status; /* the first failure of a tracking call or of a phase timer */
    int32_t open;        /* the innermost entry being measured, -1 when none */
    bool memory_tracked;
    double memory_base_bytes; /* live heap when memory tracking began */
    size_t count, capacity;
    assay__timer *entries;
};

/* An entry that is being measured now. `index` is -1 when the timers had no room for it. */
typedef struct assay__timer_mark {
    int32_t index;
    int32_t enclosing;
} assay__timer_mark;

/* Find or make the entry and make it the innermost open one. */
ASSAY_MUST_USE assay_status assay__timers_begin(assay_timers *timers, const char *name,
                                                assay__timer_mark *mark);
/* Close the entry, and replace all its figures by this time. */
void assay__timers_end(assay_timers *timers, assay__timer_mark mark, double seconds);

/* Remember a failure, unless there was one before. */
void assay__timers_keep_first(assay_timers *timers, assay_status status);

/* The place of an entry, or the count when there is none of that name. */
size_t assay__timers_find(const assay_timers *timers, const char *name);

/* "NAME - Detailed Breakdown:", the largest entry first, with shares. */
ASSAY_MUST_USE assay_status assay__timers_print_breakdown(const assay_timers *timers, FILE *stream,
                                                          const char *name);

#endif
