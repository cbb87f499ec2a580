/* Measures steps of a training, which assay_sampling_run() cannot sample. The figures are those
 * that it records beside the time of its own samples.
 *
 *     assay__study_watch watch;
 *     assay__study_watch_open(&watch);
 *     for (each step) {
 *         assay__study_watch_start(&watch);
 *         ...
 *         assay__study_watch_stop(&watch);
 *         assay__study_watch_read(&watch, figures);
 *     }
 *     assay__study_watch_close(&watch);
 */
#ifndef ASSAY_STUDIES_COMMON_WATCH_H
#define ASSAY_STUDIES_COMMON_WATCH_H

#include <stddef.h>

#include "sampling/account.h"

/* The first figure is the wall time. */
enum { ASSAY__WATCH_FIGURES = 4 };

/* The metric of each figure. */
extern const char *const assay__study_watch_metrics[ASSAY__WATCH_FIGURES];

typedef struct assay__study_watch {
    int descriptor; /* for assay__account_take(); -1: none */
    assay__account before;
    double started_seconds;
    double seconds, cpu_seconds, waited_seconds; /* between start and stop */
} assay__study_watch;

/* Open a watch for the calling thread, which alone may use it; and close it. */
void assay__study_watch_open(assay__study_watch *watch);
void assay__study_watch_close(assay__study_watch *watch);

void assay__study_watch_start(assay__study_watch *watch);
void assay__study_watch_stop(assay__study_watch *watch);

/* Write the figures, in seconds: the wall time between start and stop, the processor time and the
 * time of waiting for a processor in between (NAN if not known), and the time of the yardstick,
 * which this call runs (sampling/yardstick.h). */
void assay__study_watch_read(const assay__study_watch *watch, double figures[ASSAY__WATCH_FIGURES]);

#endif
