/* Compares two runs relative to the speed of the machine: each time is divided by the time of the
 * yardstick beside it (sampling/yardstick.h). */
#ifndef ASSAY_ANALYZE_RELATIVE_H
#define ASSAY_ANALYZE_RELATIVE_H

#include "analyze/log_ratio.h"
#include "assay/record.h"

/* Whether each sample has a yardstick beside it. */
bool assay__has_yardstick(const assay_record_subject *subject);

/* Like assay__log_ratio_init(), but each time is divided by the yardstick beside it, which both
 * subjects must have. Two selections come before that. First, only samples are used whose
 * yardsticks took about the same time on both sides; if there are too few of them, all samples are
 * used. Second, only the quickest quarter of the rest is used. `machine` receives the logarithm of
 * the ratio by which the yardstick was slower beside the candidate's samples. */
ASSAY_MUST_USE assay_status assay__relative_init(assay__log_ratio *log_ratio,
                                                 const assay_record_subject *baseline,
                                                 const assay_record_subject *candidate,
                                                 double margin, unsigned nature, double *machine);

#endif
