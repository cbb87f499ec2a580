/* One comparison on its way to its verdict: the rule of assay/compare.h. */
#ifndef ASSAY_ANALYZE_TRIAL_H
#define ASSAY_ANALYZE_TRIAL_H

#include "analyze/log_ratio.h"
#include "assay/record.h"

typedef struct assay__trial {
    const assay_record_subject *baseline, *candidate;
    const char *metric;
    double margin;
    assay__log_ratio log_ratio;
    assay__log_ratio relative; /* of the times over those of the yardstick; may be unknown */
    assay_verdict verdict;     /* decided: faster or slower */
    double risk;               /* at which it was, or was last tried */
} assay__trial;

/* Decide the trials of one metric, which share `risk`. */
void assay__trials_decide(assay__trial *const *trials, size_t count, double risk);

/* Figures, verdict and reason of a decided trial; texts belong to `record`. ASSAY_E_MEMORY is the
 * only failure. */
ASSAY_MUST_USE assay_status assay__trial_finish(const assay__trial *it, assay_record *record,
                                                assay_record_comparison *comparison);

#endif
