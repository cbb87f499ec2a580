/* The events of a record as slices: what each lane did from one time to another, strictly nested.
 * Also its processes as bars. */
#ifndef ASSAY_REPORT_SLICES_H
#define ASSAY_REPORT_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/record.h"
#include "assay/status.h"

typedef struct assay__slice {
    const char *name; /* borrowed from the record */
    uint32_t lane;
    int32_t depth;
    int64_t begin_ns, end_ns;
    size_t order;         /* index among the events; the outer of two functions comes first */
    bool open;            /* it never ended, and is drawn to the end of the trace */
    const char *category; /* "span", "sampled" (a function of Python), "kernel" or "copy"; static */
} assay__slice;

typedef struct assay__slices {
    assay__slice *items; /* sorted by lane and begin, outer ones first */
    size_t count;
    int64_t end_ns; /* end of the whole trace */
} assay__slices;

/* Seconds in whole nanoseconds; 0 for a number that is no time. */
int64_t assay__trace_ns(double seconds);

/* Collect the slices. The only failure is ASSAY_E_MEMORY. The record must outlive the slices. */
ASSAY_MUST_USE assay_status assay__slices_collect(const assay_record *record, assay_error *error,
                                                  assay__slices *slices);
void assay__slices_release(assay__slices *slices);

/* The processes of a run (trace_processes.c), ordered by their begin. Each bar reaches from the
 * start of the process to its end, or to the end of the trace if the process was still running.
 * `row` is the first of the `rows` rows that was free at the begin of the process. */
typedef struct assay__process_bar {
    const assay_record_member *process; /* borrowed from the record */
    int64_t begin_ns, end_ns;
    size_t row;
} assay__process_bar;

typedef struct assay__process_bars {
    assay__process_bar *items;
    size_t count, rows;
} assay__process_bars;

ASSAY_MUST_USE assay_status assay__process_bars_collect(const assay_record *record,
                                                        int64_t trace_end_ns,
                                                        assay__process_bars *bars);
void assay__process_bars_release(assay__process_bars *bars);

#endif
