/* The similarity of generated and real trajectories: the content of results.json. */
#ifndef ASSAY_MODELS_ROUTES_EVALUATE_H
#define ASSAY_MODELS_ROUTES_EVALUATE_H

#include "models/routes/data.h"

/* Evaluate the trajectories in `generated_file` (in any format of road/trajectory.h) against
 * `real`. The divergences compare all trajectories of both sides. The Hausdorff distance and
 * dynamic time warping compare pairs: each generated trajectory is paired with a real one that has
 * the same first and last road. A real trajectory is used a second time only if there are too few
 * of them. The results have no generation_performance. ASSAY_E_DATA for a file without
 * trajectories. */
ASSAY_MUST_USE assay_status assay__evaluate_trajectories(const assay__road_network *network,
                                                         const assay__trajectories *real,
                                                         const char *generated_file,
                                                         assay_error *error,
                                                         assay_trajectory_results *results);

/* One reading of the results: its offset in the struct, its name and unit in a record, and its key
 * in results.json. The key is at the top level or in `object`. */
typedef struct assay__result_figure {
    const char *name, *unit;
    size_t offset;
    const char *object, *key;
} assay__result_figure;

/* All figures, in a static array; and the value of a figure in `results`. */
const assay__result_figure *assay__result_figures(size_t *count);
assay_reading assay__result_read(const assay_trajectory_results *results,
                                 const assay__result_figure *figure);
void assay__result_set(assay_trajectory_results *results, const assay__result_figure *figure,
                       assay_reading reading);

/* Write an assay_trajectory_results as results.json. A function for assay_file_save(). */
ASSAY_MUST_USE assay_status assay__results_print_json(const void *results, FILE *stream,
                                                      assay_error *error);

#endif
