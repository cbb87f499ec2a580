/* Two subjects reduced to what a verdict needs: the logarithm of the ratio of their times, its
 * distribution, and the obstacles to a verdict. */
#ifndef ASSAY_ANALYZE_LOG_RATIO_H
#define ASSAY_ANALYZE_LOG_RATIO_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/record.h"
#include "assay/stats.h"
#include "stats/location.h"

enum { ASSAY__OBSTACLE_BYTES = 256 };

typedef struct assay__log_ratio {
    bool known;                           /* the figures below are there */
    double bare_ratio;                    /* not known, but of single runs: their ratio; else 0 */
    char obstacle[ASSAY__OBSTACLE_BYTES]; /* why there can be no verdict; "": there can */
    char remark[ASSAY__OBSTACLE_BYTES];   /* what a reader of the verdict should know; or "" */
    unsigned nature;                      /* assay__sample_nature */
    bool paired;
    size_t pairs;
    size_t baseline_samples, candidate_samples;
    assay__location location; /* of the log ratio */
    double between;           /* the part of its error that the samples do not show; 0: none */
    /* Its centre if the disturbed samples, or the time spent waiting for a processor, are left out;
     * NAN where that makes no difference or is not known. */
    double undisturbed, without_waiting;
} assay__log_ratio;

/* What is known about the samples beforehand. */
enum assay__sample_nature {
    ASSAY__SAMPLES_BOOKED = 1, /* not wall time, so disturbances of the run do not matter */
    ASSAY__SAMPLES_EXACT = 2,  /* counted, not timed: equal samples are no sign of a coarse clock */
    ASSAY__SAMPLES_INDEPENDENT = 4 /* each is from a different run, so they are independent */
};

/* `margin` as in assay_compare_options, `nature` a sum of assay__sample_nature. ASSAY_E_MEMORY is
 * the only failure. */
ASSAY_MUST_USE assay_status assay__log_ratio_init(assay__log_ratio *log_ratio,
                                                  const assay_record_subject *baseline,
                                                  const assay_record_subject *candidate,
                                                  double margin, unsigned nature);
/* The interval of the ratio that is wrong with probability `risk`; the log ratio must be known. */
assay_interval assay__log_ratio_interval(const assay__log_ratio *log_ratio, double risk);

#endif
