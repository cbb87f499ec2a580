/* Two subjects reduced to what a verdict needs: the logarithm of the ratio of their times, how well
 * it is known, and what forbids a verdict. */
#ifndef ASSAY_ANALYZE_CONTRAST_H
#define ASSAY_ANALYZE_CONTRAST_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/record.h"
#include "assay/stats.h"

enum { ASSAY__OBSTACLE_BYTES = 256 };

typedef struct assay__contrast {
    bool known;                           /* the figures below are there */
    char obstacle[ASSAY__OBSTACLE_BYTES]; /* why there can be no verdict; "": there can */
    char remark[ASSAY__OBSTACLE_BYTES];   /* what a reader of the verdict should know; or "" */
    bool paired;
    size_t pairs;
    size_t baseline_samples, candidate_samples;
    double *log_ratios;                     /* paired: of each pair, in order; owned */
    double mean, error, degrees_of_freedom; /* of the log ratio */
} assay__contrast;

/* `margin` as in assay_compare_options. ASSAY_E_MEMORY is the only failure. */
ASSAY_MUST_USE assay_status assay__contrast_init(assay__contrast *contrast,
                                                 const assay_record_subject *baseline,
                                                 const assay_record_subject *candidate,
                                                 double margin);
void assay__contrast_release(assay__contrast *contrast);

/* How many times wider than its noise asks for an interval is made; 1 with enough samples (of the
 * shorter series when not paired). */
double assay__contrast_widening(size_t count);

/* The interval of the ratio at `level`; the contrast must be known. */
assay_interval assay__contrast_interval(const assay__contrast *contrast, double level);

#endif
