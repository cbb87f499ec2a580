/* All of assay in one include; each header says what it holds. */
#ifndef ASSAY_ASSAY_H
#define ASSAY_ASSAY_H

#include "assay/analyze.h"
#include "assay/clock.h"
#include "assay/facade.h"
#include "assay/flops.h"
#include "assay/growth.h"
#include "assay/instrument.h"
#include "assay/model.h"
#include "assay/model_scaling.h"
#include "assay/monitor.h"
#include "assay/profile.h"
#include "assay/reading.h"
#include "assay/record.h"
#include "assay/report.h"
#include "assay/runtime.h"
#include "assay/sampling.h"
#include "assay/scaling.h"
#include "assay/snapshot.h"
#include "assay/stats.h"
#include "assay/status.h"

#endif
