/* Writes events of Chrome's trace format (trace.c). */
#ifndef ASSAY_REPORT_TRACE_EVENT_H
#define ASSAY_REPORT_TRACE_EVENT_H

#include <stdint.h>

#include "assay/record.h"
#include "assay/status.h"
#include "base/json_writer.h"

/* The first of our own thread ids. They are above 2^22, Linux's largest process id, so no thread
 * has them. */
enum { ASSAY__TRACE_LANE_TID = 10000000, ASSAY__TRACE_PROCESS_TID = 20000000 };

/* Open an event. The caller adds members to it and ends it with assay__json_end(). */
void assay__trace_begin(assay__json *json, const char *phase, const char *name, int64_t pid);

/* Write metadata: the name of a process or thread, and its place in the order of the viewer. */
void assay__trace_name(assay__json *json, const char *kind, int64_t pid, int64_t tid,
                       const char *name);
void assay__trace_sort_index(assay__json *json, const char *kind, int64_t pid, int64_t tid,
                             size_t index);

/* Write the processes of a run (slices.h) as slices of their own. */
ASSAY_MUST_USE assay_status assay__trace_processes(assay__json *json, const assay_record *record,
                                                   int64_t trace_end_ns);

#endif
