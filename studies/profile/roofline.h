/* The roofline model (Williams, Waterman and Patterson, CACM 52(4), 2009): it compares the rate of
 * a pass with the measured peak of the machine.
 *
 * FLOPs are those of the convention assay. Bytes are counted as if every operation read its
 * operands from memory and wrote its result back, once each, with nothing kept in caches between
 * two operations. An implementation that runs one kernel per operation moves at least as many. A
 * pass whose data stay in caches can therefore lie above the sloped part of the roof. */
#ifndef ASSAY_STUDIES_PROFILE_ROOFLINE_H
#define ASSAY_STUDIES_PROFILE_ROOFLINE_H

#include <stdbool.h>

#include "assay/model.h"
#include "studies/common/peak.h"

/* The work of one pass. */
typedef struct assay__work {
    double flops, bytes;
} assay__work;

typedef struct assay__work_account {
    double element_bytes; /* set by the caller: 4 or 8 */
    assay__work forward, backward;
} assay__work_account;

/* An assay_term_sink; the context is an assay__work_account. */
void assay__work_add(void *account, const assay_term *operation);

/* The work of an update by Adam. It reads parameters, gradients and two moments, and writes all but
 * the gradients. Its arithmetic is not counted. */
assay__work assay__work_of_update(double parameter_bytes);

typedef struct assay__roofline_point {
    double gflops_per_second;
    double intensity;     /* FLOPs per byte */
    double share_of_peak; /* of the peak rate of float32 products; NaN without a peak */
    double roof;          /* largest rate at this intensity, in GFLOP/s; NaN without a peak */
    bool compute_bound;   /* intensity above the ridge; false without a peak */
} assay__roofline_point;

/* The point of a pass that took `seconds`. `peak` is NULL if it was not measured. */
assay__roofline_point assay__roofline(assay__work work, double seconds, const assay__peak *peak);

/* The intensity at which the roof stops rising, in FLOPs per byte. */
double assay__roofline_ridge(const assay__peak *peak);

#endif
