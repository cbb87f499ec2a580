/* Where a pass stands under the roofline (Williams, Waterman and Patterson, CACM 52(4), 2009): the
 * rate it achieves against what this machine was measured to do.
 *
 * FLOPs are those of the convention assay. Bytes are counted as if every operation read its
 * operands from memory and wrote its result back, once each, with nothing kept in caches between
 * two operations: what a kernel-by-kernel implementation moves at least. A pass whose data stay in
 * caches can therefore lie above the sloped part of the roof. */
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

/* An update by Adam: parameter, gradient and two moments read, all but the gradient written. Its
 * arithmetic is not counted. */
assay__work assay__work_of_update(double parameter_bytes);

typedef struct assay__roofline_point {
    double gflops_per_second;
    double intensity;     /* FLOPs a byte */
    double share_of_peak; /* of the float32 products' rate; NaN without a peak */
    double roof;          /* the most that this intensity allows, GFLOP/s; NaN without a peak */
    bool compute_bound;   /* intensity above the ridge; false without a peak */
} assay__roofline_point;

/* `peak` NULL: not measured. */
assay__roofline_point assay__roofline(assay__work work, double seconds, const assay__peak *peak);

/* The intensity where the roof stops rising, FLOPs a byte. */
double assay__roofline_ridge(const assay__peak *peak);

#endif
