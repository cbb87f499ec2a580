/* One process, as /proc shows it: its parent, times, memory, I/O and children. */
#ifndef ASSAY_INSTRUMENT_PROCESS_STAT_H
#define ASSAY_INSTRUMENT_PROCESS_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "assay/reading.h"
#include "assay/status.h"

enum { ASSAY__PROCESS_NAME_BYTES = 64 };

typedef struct assay__process_times {
    double user_seconds, sys_seconds;
} assay__process_times;

typedef struct assay__process_stat {
    pid_t process, parent;
    char name[ASSAY__PROCESS_NAME_BYTES]; /* of its program, as the kernel cuts it */
    uint64_t start_ticks; /* since boot; process id and start together identify a process */
    bool zombie;          /* ended, not yet waited for: memory is gone, times remain */
    uint64_t threads;
    double user_seconds, sys_seconds; /* without children */
    assay__process_times waited;      /* of children that it waited for, and of their children */
    uint64_t rss_bytes;
} assay__process_stat;

/* Read /proc/PID/stat. ASSAY_E_NOT_FOUND if there is no such process, or no longer. */
ASSAY_MUST_USE assay_status assay__process_stat_read(pid_t process, assay__process_stat *stat);

/* Parse the text of /proc/PID/stat; ASSAY_E_FORMAT if it is something else. The name of the program
 * in it may contain spaces, parentheses and newlines. */
ASSAY_MUST_USE assay_status assay__process_stat_parse(const char *text, assay__process_stat *stat);

/* Processor time of the first thread, exact to the nanosecond (the other times are in ticks); 0 if
 * the kernel does not show it. */
double assay__process_run_seconds(pid_t process);

/* The kernel's peak of resident memory. Missing for zombies, which have no memory any more. */
assay_reading assay__process_peak_rss(pid_t process);

/* The proportional set size: the resident memory of the process, in which each shared page counts
 * only by its share. Takes 100 µs or more; the time grows with the memory. */
assay_reading assay__process_pss(pid_t process);

/* Storage I/O of the process and of the children it has waited for. */
void assay__process_io(pid_t process, assay_reading *read_bytes, assay_reading *written_bytes);

/* Called for each child; returns false to stop. */
typedef bool (*assay__process_visitor)(void *context, pid_t child);

/* Visit the children of a process, which /proc/PID/task/TID/children lists. ASSAY_E_UNSUPPORTED on
 * kernels built without these files (CONFIG_PROC_CHILDREN), ASSAY_E_NOT_FOUND if the process is
 * gone. */
ASSAY_MUST_USE assay_status assay__process_children(pid_t process, assay__process_visitor visit,
                                                    void *context);

/* Visit all processes of the machine. */
ASSAY_MUST_USE assay_status assay__process_all(assay__process_visitor visit, void *context);

#endif
