/* Two runs compared relative to the speed of the machine: the times over those of the yardstick
 * that stands beside each sample (sampling/yardstick.h). */
#ifndef ASSAY_ANALYZE_RELATIVE_H
#define ASSAY_ANALYZE_RELATIVE_H

#include "analyze/log_ratio.h"
#include "assay/record.h"

/* Whether each sample has a yardstick beside it. */
bool assay__has_yardstick(const assay_record_subject *subject);

/* As assay__log_ratio_init(), but each time is divided by the yardstick beside it, which both
 * subjects must have. Two selections come before that: samples whose yardstick took a time that
 * the other subject's yardsticks never took are left out, unless none would be left, and of the
 * rest only the quickest quarter is used. `machine` is the logarithm by which the yardstick was
 * slower beside the candidate's samples. */
ASSAY_MUST_USE assay_status assay__relative_init(assay__log_ratio *log_ratio,
                                                 const assay_record_subject *baseline,
                                                 const assay_record_subject *candidate,
                                                 double margin, unsigned nature, double *machine);

#endif
