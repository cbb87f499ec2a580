/* How like the real trajectories generated ones are: results.json. */
#ifndef ASSAY_MODELS_ROUTES_EVALUATE_H
#define ASSAY_MODELS_ROUTES_EVALUATE_H

#include "models/routes/data.h"

/* Evaluate the trajectories in `generated_file` (any of the forms of road/trajectory.h) against
 * `real`: divergences over all of both; Hausdorff distance and time warping over pairs with the
 * same first and last road, each real one taken once as long as there are enough. Results have no
 * generation_performance. ASSAY_E_DATA for a file without trajectories. */
ASSAY_MUST_USE assay_status assay__evaluate_trajectories(const assay__road_network *network,
                                                         const assay__trajectories *real,
                                                         const char *generated_file,
                                                         assay_error *error,
                                                         assay_trajectory_results *results);

/* The readings of the results: where each is, what it is called in a record, and in results.json,
 * in it or in one of its objects. */
typedef struct assay__result_figure {
    const char *name, *unit;
    size_t offset;
    const char *object, *key;
} assay__result_figure;

const assay__result_figure *assay__result_figures(size_t *count);
assay_reading assay__result_read(const assay_trajectory_results *results,
                                 const assay__result_figure *figure);
void assay__result_set(assay_trajectory_results *results, const assay__result_figure *figure,
                       assay_reading reading);

/* results.json of an assay_trajectory_results, for assay_file_save(). */
ASSAY_MUST_USE assay_status assay__results_print_json(const void *results, FILE *stream,
                                                      assay_error *error);

#endif
