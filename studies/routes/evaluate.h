/* How like the real trajectories generated ones are: results.json. */
#ifndef ASSAY_STUDIES_ROUTES_EVALUATE_H
#define ASSAY_STUDIES_ROUTES_EVALUATE_H

#include "models/road/evaluate.h"
#include "studies/routes/data.h"
#include "studies/routes/performance.h"

/* Evaluate the trajectories in `generated_file` (any of the forms of road/trajectory.h) against
 * `real`: divergences over all of both; Hausdorff distance and time warping over pairs with the
 * same first and last road, each real one taken once as long as there are enough. The figures are
 * added to `found` as those of `model` (NULL: the whole record's); where there is no such pair, the
 * last two are not enough data. ASSAY_E_DATA for a file without trajectories. */
ASSAY_MUST_USE assay_status assay__evaluate_trajectories(const assay__road_network *network,
                                                         const assay__trajectories *real,
                                                         const char *generated_file,
                                                         const char *model, assay_error *error,
                                                         assay_record *found);

/* Does the record have such figures of this model? */
bool assay__evaluated(const assay_record *found, const char *model);

/* The block "--- Evaluation ---". */
void assay__evaluation_print(const assay_record *found, const char *model, FILE *stream);

/* results.json: Distance_JSD, Duration_JSD, Radius_JSD, Hausdorff and DTW (kilometres, means over
 * pairs), the means of both sides, and generation_performance unless it is NULL. Without figures of
 * the model only the number of its trajectories, 0. NULL when out of memory. */
json_t *assay__evaluation_json(const assay_record *found, const char *model,
                               const assay__generation_performance *generation_performance);

#endif
