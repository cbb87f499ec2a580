/* Samples that assay_sampling_run() does not take, because they are steps of a training: the same
 * figures that it records beside the time of its own samples.
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
    int descriptor; /* of the accounts; -1: none */
    assay__account before;
    double started_seconds;
    double seconds, cpu_seconds, waited_seconds; /* between start and stop */
} assay__study_watch;

/* The watch belongs to the calling thread. */
void assay__study_watch_open(assay__study_watch *watch);
void assay__study_watch_close(assay__study_watch *watch);

void assay__study_watch_start(assay__study_watch *watch);
void assay__study_watch_stop(assay__study_watch *watch);

/* Seconds between start and stop; processor time and waiting within them, NAN where they are not
 * known; and the yardstick, which runs now (sampling/yardstick.h). */
void assay__study_watch_read(const assay__study_watch *watch, double figures[ASSAY__WATCH_FIGURES]);

#endif
