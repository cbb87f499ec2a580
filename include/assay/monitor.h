/* The monitor: nested spans, their statistics, and counters, written into a journal.
 *
 *     assay_monitor *monitor = NULL;
 *     if (assay_monitor_new(NULL, &monitor) != ASSAY_OK)
 *         return 1;
 *     for (int step = 0; step < steps; step++) {
 *         ASSAY_TRACK(monitor, "forward")  { forward(model, batch); }
 *         ASSAY_TRACK(monitor, "backward") { backward(model, batch); }
 *     }
 *     assay_monitor_print_summary(monitor, stdout, ASSAY_SHOW_AGGREGATE);
 *     assay_monitor_free(monitor);
 *
 * Spans nest per thread and form a tree of operations. Each operation keeps count, sum, spread,
 * extremes and a sketch of its distribution, which gives any quantile to within 1 %. A monitor's
 * memory is bounded: spans for which there is no room are counted as dropped, and the record says
 * how many there were. Monitors never print, exit, block or install signal handlers. A NULL or
 * disabled monitor costs a predictable branch.
 *
 * Threads: every call may be made from any thread, with two exceptions. A span must end on the
 * thread that began it, and assay_monitor_free must not run at the same time as spans of the same
 * monitor.
 * Fork: the child's first span gives the child a journal of its own. The parent's journal does not
 * change.
 */
#ifndef ASSAY_MONITOR_H
#define ASSAY_MONITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/reading.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct assay_monitor assay_monitor;
typedef struct assay_clock assay_clock;   /* clock.h */
typedef struct assay_record assay_record; /* record.h */
struct assay_meter;                       /* meter.h */

enum assay_monitor_memory {
    /* The default. Resident memory is read at the begin and the end of spans, at most once in 10 ms
     * on each thread, and for the first span of each operation. Every span of 15 ms or longer gets
     * a figure, which may include changes of the 15 ms before it. Only some of the shorter spans
     * get one. The sums contain the spans that got one; `rss_spans` of the record counts them. */
    ASSAY_MEMORY_SAMPLED = 0,
    ASSAY_MEMORY_RSS = 1,  /* resident memory at begin and end of every span; about 1 µs each */
    ASSAY_MEMORY_HEAP = 2, /* exact heap figures, if the heap interposer is loaded */
    /* The kernel's peak of resident memory within every span; about 20 µs each. Each begin resets
     * the kernel's peak, which changes it for every other reader. All threads share one peak, so
     * use this for spans of one thread at a time. Implies ASSAY_MEMORY_RSS. */
    ASSAY_MEMORY_PEAK = 4,
    ASSAY_MEMORY_OFF = 8 /* no resident memory unless another bit asks for it */
};

/* Start from ASSAY_MONITOR_OPTIONS_INIT; every zero means the default. */
typedef struct assay_monitor_options {
    size_t struct_size;
    bool disabled;            /* no span is recorded, nothing is allocated */
    const char *name;         /* of this monitor, shown in records; default: the program's name */
    const char *journal_path; /* file for the journal; default: a file in $ASSAY_JOURNAL_DIR or, if
                                 that is not set, private memory. Forked children use the same
                                 directory, wherever they change theirs to */
    bool private_journal;     /* never use a file, even if $ASSAY_JOURNAL_DIR is set */
    size_t journal_bytes;     /* the most room for operations, of all threads together; default
                                 256 MiB. Memory or disk is taken as it is needed. The room for
                                 trace_events and samples comes on top */
    unsigned memory;          /* bits of assay_monitor_memory */
    size_t trace_events;      /* size of the event ring of each thread; 0: no trace */
    size_t samples;           /* raw durations kept for each operation and thread; 0: none */
    const assay_clock *clock; /* for tests; default: the best clock of the machine */
} assay_monitor_options;

#define ASSAY_MONITOR_OPTIONS_INIT ASSAY_INIT(assay_monitor_options)

/* Make a monitor. NULL options are the defaults. A journal in a file grows as spans are recorded.
 * ASSAY_E_FULL if the disk has no room even for its beginning. assay_monitor_open() also describes
 * a failure in `error`. Caller frees. */
ASSAY_API ASSAY_MUST_USE assay_status assay_monitor_new(const assay_monitor_options *options,
                                                        assay_monitor **monitor);
ASSAY_API ASSAY_MUST_USE assay_status assay_monitor_open(const assay_monitor_options *options,
                                                         assay_error *error,
                                                         assay_monitor **monitor);

/* Close the journal and free the monitor. The file of a journal remains, marked as closed. NULL is
 * accepted. */
ASSAY_API void assay_monitor_free(assay_monitor *monitor);

ASSAY_API bool assay_monitor_enabled(const assay_monitor *monitor);

/* Clear all figures. After its next span an operation is in the record again, at its old place in
 * the call tree. This call must not run at the same time as spans of this monitor. */
ASSAY_API void assay_monitor_clear(assay_monitor *monitor);

/* Attach a meter (meter.h). The monitor then records the readings of the meter as counters ("cuda:0
 * power_watts") and the energy of operations, which a record contains as `energy_joules` with its
 * bounds. The energy of an operation is that of the whole machine while the operation ran. If
 * operations run at the same time on several threads, each gets all of the energy.
 *
 * A NULL meter detaches the present one. Freeing the monitor or the meter detaches it as well.
 * ASSAY_E_STATE if the meter is attached to another monitor. With a NULL or disabled monitor the
 * call does nothing. */
ASSAY_API ASSAY_MUST_USE assay_status assay_monitor_attach_meter(assay_monitor *monitor,
                                                                 struct assay_meter *meter);

/* ---- The results -----------------------------------------------------------------------------
 *
 * These calls may be made at any time and from any thread, while spans go on. */

/* Everything measured so far, as a record that also describes the machine, the clock, the build and
 * the git state. A disabled or NULL monitor gives a record without operations. Caller frees. */
ASSAY_API ASSAY_MUST_USE assay_status assay_monitor_record(assay_monitor *monitor,
                                                           assay_error *error,
                                                           assay_record **record);

enum assay_summary_flags {
    ASSAY_SHOW_AGGREGATE = 1,  /* the AGGREGATE STATISTICS table too */
    ASSAY_SHOW_BOTTLENECKS = 2 /* bottlenecks, and what to do about them */
};

/* Print the PERFORMANCE SUMMARY of everything measured so far, as the report format "performance"
 * shows it (report.h). Nothing is printed for a NULL or disabled monitor or a NULL stream. */
ASSAY_API assay_status assay_monitor_print_summary(assay_monitor *monitor, FILE *stream,
                                                   unsigned flags);

/* The time of all top-level spans, and the time of one operation at all its places in the call tree
 * (recursion is counted once). The reading is ASSAY_NOT_MEASURED for a NULL or disabled monitor and
 * for an operation without spans. Each call makes a snapshot, which takes well under a millisecond
 * for a few hundred operations. */
ASSAY_API assay_reading assay_monitor_total_seconds(assay_monitor *monitor);
ASSAY_API assay_reading assay_monitor_operation_seconds(assay_monitor *monitor, const char *name);

#ifdef __cplusplus
}
#endif

#include "assay/span.h"

#endif
