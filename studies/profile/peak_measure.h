/* Measures the machine's peak: the rate of large single-precision matrix products (OpenBLAS, one
 * thread) and of copying-and-adding through memory (the triad of McCalpin's STREAM), each the best
 * of several runs, because a peak is what the machine can do and not what neighbours left of it. */
#ifndef ASSAY_STUDIES_PROFILE_PEAK_MEASURE_H
#define ASSAY_STUDIES_PROFILE_PEAK_MEASURE_H

#include "studies/common/peak.h"

/* About two seconds and 200 MB. */
ASSAY_MUST_USE assay_status assay__peak_measure(assay__peak *peak, assay_error *error);

#endif
