/* What generating trajectories cost: per search, over all of them, as text and as JSON.
 *
 * Names are the seed's. Times are in seconds. A figure that cannot be known (the 95th percentile of
 * ten searches, the time of a forward pass where there was none) is a reading that says why. */
#ifndef ASSAY_STUDIES_ROUTES_PERFORMANCE_H
#define ASSAY_STUDIES_ROUTES_PERFORMANCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/reading.h"
#include "assay/status.h"

/* Of one search. */
typedef struct assay__search_performance {
    double total_time;
    double forward_time_total;
    int64_t forward_count;          /* batched forward passes */
    assay_reading forward_time_avg; /* not enough data without a pass */
    int64_t beam_width;             /* 1 in a greedy search */
} assay__search_performance;

/* Over all searches, the failed ones included: they took their time too. */
typedef struct assay__generation_performance {
    assay_reading total_time_mean, total_time_std, total_time_min, total_time_max;
    assay_reading total_time_median, total_time_p95;
    assay_reading forward_time_mean, forward_time_std; /* of the searches' forward_time_total */
    assay_reading forward_count_mean, forward_count_std;
    assay_reading throughput_traj_per_sec;    /* trajectories, not searches */
    assay_reading total_generation_time;      /* wall clock, from the first search to the last */
    assay_reading forward_time_per_step_mean; /* all forward time / all forward passes */
    bool beam_search_enabled;
    int64_t beam_width;
    char device[32]; /* "cpu" */
} assay__generation_performance;

/* Standard deviations divide by the number of searches, as NumPy's do; percentiles as
 * assay_stats_quantile. `trajectories` is how many of the searches gave one. ASSAY_E_DATA without
 * any search. Needs memory. */
ASSAY_MUST_USE assay_status assay__generation_performance_of(
    const assay__search_performance *searches, size_t count, size_t trajectories,
    double total_generation_time, bool beam_search, assay__generation_performance *performance);

/* The block "--- Generation Performance ---". Times from 10 ms up are shown in seconds with three
 * decimals; shorter ones, which would read 0.000s, in ms or us. What is not known reads n/a. */
void assay__generation_performance_print(const assay__generation_performance *performance,
                                         FILE *stream);

/* Figures that are not known are null, with the reason in "unavailable". NULL when out of memory.
 */
json_t *assay__generation_performance_json(const assay__generation_performance *performance);
/* The way back. ASSAY_E_FORMAT for an object that is none of ours. */
ASSAY_MUST_USE assay_status assay__generation_performance_read(
    const json_t *object, assay_error *error, assay__generation_performance *performance);

#endif
