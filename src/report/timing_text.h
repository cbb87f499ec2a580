/* Parts of the timing utilities' tables that others build on. */
#ifndef ASSAY_REPORT_TIMING_TEXT_H
#define ASSAY_REPORT_TIMING_TEXT_H

#include "assay/analyze.h"
#include "base/buffer.h"

/* The warm-up table up to its last rule. */
void assay__timing_warmup(assay__buffer *table, const assay_warmup *warmup, const char *model_name);

#endif
