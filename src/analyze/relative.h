/* Two runs compared relative to the speed of the machine: the times over those of the yardstick
 * that stands beside each sample (sampling/yardstick.h). */
#ifndef ASSAY_ANALYZE_RELATIVE_H
#define ASSAY_ANALYZE_RELATIVE_H

#include "analyze/log_ratio.h"
#include "assay/record.h"

/* Is there a yardstick beside each sample? */
bool assay__has_yardstick(const assay_record_subject *subject);

/* As assay__log_ratio_init(), but relative to the yardsticks, which both must have. */
ASSAY_MUST_USE assay_status assay__relative_init(assay__log_ratio *log_ratio,
                                                 const assay_record_subject *baseline,
                                                 const assay_record_subject *candidate,
                                                 double margin, unsigned nature);

#endif
