/* Reduces two subjects to the figures that a verdict needs: the logarithm of the ratio of their
 * times, its distribution, and the obstacles to a verdict. */
#ifndef ASSAY_ANALYZE_LOG_RATIO_H
#define ASSAY_ANALYZE_LOG_RATIO_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/record.h"
#include "assay/stats.h"
#include "stats/location.h"

enum { ASSAY__OBSTACLE_BYTES = 256 };

typedef struct assay__log_ratio {
    bool known;                           /* the location was estimated */
    double bare_ratio;                    /* of too few runs for a location: their ratio; else 0 */
    char obstacle[ASSAY__OBSTACLE_BYTES]; /* the reason why there can be no verdict, or "" */
    char remark[ASSAY__OBSTACLE_BYTES];   /* a remark for the reader of the verdict, or "" */
    unsigned nature;                      /* assay__sample_nature */
    bool paired;                          /* the subjects took turns */
    bool by_input; /* they did not, but sample i of both had the same input */
    size_t pairs;
    size_t baseline_samples, candidate_samples;
    assay__location location; /* of the log ratio */
    double between;           /* the part of its error that the samples do not show */
    /* The centre of the log ratio without the disturbed samples, and without the time spent waiting
     * for a processor. NAN where that makes no difference or is not known. */
    double undisturbed, without_waiting;
} assay__log_ratio;

/* Properties of the samples that the caller knows beforehand. */
enum assay__sample_nature {
    ASSAY__SAMPLES_BOOKED = 1, /* not wall time, so disturbances do not matter */
    ASSAY__SAMPLES_EXACT = 2,  /* counted, not timed: equal samples are no sign of a coarse clock */
    ASSAY__SAMPLES_INDEPENDENT = 4 /* each is from a different run, so they are independent */
};

/* `margin` is that of assay_compare_options; `nature` is a sum of assay__sample_nature. The only
 * failure is ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__log_ratio_init(assay__log_ratio *log_ratio,
                                                  const assay_record_subject *baseline,
                                                  const assay_record_subject *candidate,
                                                  double margin, unsigned nature);

/* Whether sample i of both subjects had the same input. */
bool assay__have_common_inputs(const assay_record_subject *baseline,
                               const assay_record_subject *candidate);

/* The interval of the ratio that is wrong with probability `risk`. The log ratio must be known. */
assay_interval assay__log_ratio_interval(const assay__log_ratio *log_ratio, double risk);

#endif
