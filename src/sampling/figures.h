/* Computes the figures of a subject from its samples. */
#ifndef ASSAY_SAMPLING_FIGURES_H
#define ASSAY_SAMPLING_FIGURES_H

#include "assay/record.h"

/* Compute the mean with its 95 % interval and any doubt about it, the median, the spread, the
 * extremes and the slow mode of `samples_seconds`. */
ASSAY_MUST_USE assay_status assay__subject_fill_time(assay_record_subject *subject);

#endif
