/* Measures the machine's peak: the rate of large single-precision matrix products (OpenBLAS, one
 * thread), and the rate of memory traffic (the triad of McCalpin's STREAM). Each is the best of
 * several runs, because a peak is the rate that the machine can reach when other programs do not
 * slow it down. */
#ifndef ASSAY_STUDIES_PROFILE_PEAK_MEASURE_H
#define ASSAY_STUDIES_PROFILE_PEAK_MEASURE_H

#include "studies/common/peak.h"

/* Measure the peak. This takes about two seconds and 200 MB. It sets the number of threads of the
 * models to 1. */
ASSAY_MUST_USE assay_status assay__peak_measure(assay__peak *peak, assay_error *error);

#endif
