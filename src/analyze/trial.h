/* One comparison of two subjects by one metric, from its figures to its verdict by the rule of
 * assay/compare.h. */
#ifndef ASSAY_ANALYZE_TRIAL_H
#define ASSAY_ANALYZE_TRIAL_H

#include "analyze/log_ratio.h"
#include "assay/record.h"

typedef struct assay__trial {
    const assay_record_subject *baseline, *candidate;
    const char *metric;
    double margin;
    assay__log_ratio log_ratio;
    assay__log_ratio relative; /* times divided by the yardstick; may be unknown */
    assay_verdict verdict;     /* faster or slower once decided */
    double risk;               /* risk at which it was decided or last tried */
} assay__trial;

/* Decide the trials of one metric, which share `risk`. */
void assay__trials_decide(assay__trial *const *trials, size_t count, double risk);

/* Fill in the figures, the verdict and the reason of a decided trial. Texts belong to `record`. The
 * only failure is ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__trial_finish(const assay__trial *it, assay_record *record,
                                                assay_record_comparison *comparison);

#endif
