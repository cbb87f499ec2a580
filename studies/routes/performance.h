/* What generating trajectories cost: per search, over all of them, as text and as JSON. The run
 * record is in between: searches are added to it, and all figures are views of it.
 *
 * Names are the seed's. Times are in seconds. A figure that cannot be known (the 95th percentile of
 * ten searches, the time of a forward pass where there was none) is a reading that says why. */
#ifndef ASSAY_STUDIES_ROUTES_PERFORMANCE_H
#define ASSAY_STUDIES_ROUTES_PERFORMANCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/record.h"
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

/* Add the searches of a model to what was found: the subject "MODEL search", whose measures are the
 * time in forward passes and their number, and how the searches went about it. ASSAY_E_DATA without
 * any search. */
ASSAY_MUST_USE assay_status assay__found_searches(assay_record *found, const char *model,
                                                  const assay__search_performance *searches,
                                                  size_t count, bool beam_search);
/* Add how many trajectories came of them, the figure of this name, and the wall clock from the
 * first search to the last. */
#define ASSAY__TRAJECTORIES "trajectories"
ASSAY_MUST_USE assay_status assay__found_generation(assay_record *found, const char *model,
                                                    size_t trajectories, double seconds);

/* The figures of these searches. Standard deviations divide by the number of searches, as NumPy's
 * do; percentiles as assay_stats_quantile. ASSAY_E_DATA where the record has no searches of the
 * model. Needs memory. */
ASSAY_MUST_USE assay_status assay__generation_performance_of(
    const assay_record *found, const char *model, assay__generation_performance *performance);

/* The block "--- Generation Performance ---". Times from 10 ms up are shown in seconds with three
 * decimals; shorter ones, which would read 0.000s, in ms or us. What is not known reads n/a. */
void assay__generation_performance_print(const assay__generation_performance *performance,
                                         FILE *stream);

/* Figures that are not known are null, with the reason in "unavailable". NULL when out of memory.
 */
json_t *assay__generation_performance_json(const assay__generation_performance *performance);

#endif
