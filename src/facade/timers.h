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

/* Find the entry of this name, or make it, and make it the innermost open one. Fails with
 * ASSAY_E_LIMIT or ASSAY_E_MEMORY when there is no room for a new entry. */
ASSAY_MUST_USE assay_status assay__timers_begin(assay_timers *timers, const char *name,
                                                assay__timer_mark *mark);
/* Close the entry, and replace all its figures by this time. */
void assay__timers_end(assay_timers *timers, assay__timer_mark mark, double seconds);

/* Keep this failure as the status of the timers, unless an earlier one is kept already. */
void assay__timers_keep_first(assay_timers *timers, assay_status status);

/* The index of the entry with this name, or the number of entries when there is none. */
size_t assay__timers_find(const assay_timers *timers, const char *name);

/* Print "NAME - Detailed Breakdown:" and the entries with their shares of the total, the largest
 * entry first. */
ASSAY_MUST_USE assay_status assay__timers_print_breakdown(const assay_timers *timers, FILE *stream,
                                                          const char *name);

#endif
