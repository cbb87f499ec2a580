/* How like the real trajectories generated ones are: results.json. */
#ifndef ASSAY_STUDIES_ROUTES_EVALUATE_H
#define ASSAY_STUDIES_ROUTES_EVALUATE_H

#include "models/road/evaluate.h"
#include "studies/routes/data.h"
#include "studies/routes/performance.h"

/* Evaluate the trajectories in `generated_file` (any of the forms of road/trajectory.h) against
 * `real`: divergences over all of both; Hausdorff distance and time warping over pairs with the
 * same first and last road, each real one taken once as long as there are enough. `pairs` of the
 * result is 0 and both are NaN when there is none. ASSAY_E_DATA for a file without trajectories. */
ASSAY_MUST_USE assay_status assay__evaluate_trajectories(const assay__road_network *network,
                                                         const assay__trajectories *real,
                                                         const char *generated_file,
                                                         assay_error *error, int64_t *num_generated,
                                                         assay__road_evaluation *evaluation);

/* results.json: Distance_JSD, Duration_JSD, Radius_JSD, Hausdorff and DTW (kilometres, means over
 * pairs), the means of both sides, and generation_performance unless it is NULL. NULL when out of
 * memory. */
json_t *assay__evaluation_json(const assay__road_evaluation *evaluation, int64_t num_generated,
                               int64_t num_real,
                               const assay__generation_performance *generation_performance);

#endif
