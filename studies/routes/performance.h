/* Adds the results of generating and evaluating trajectories to the run record, and reads them
 * back: searches, outcomes and measures of similarity. Everything that the study shows comes from
 * the record. */
#ifndef ASSAY_STUDIES_ROUTES_PERFORMANCE_H
#define ASSAY_STUDIES_ROUTES_PERFORMANCE_H

#include "assay/record.h"
#include "assay/trajectories.h"
#include "models/routes/data.h"

/* Add a generation by a model: the subject "MODEL search", whose samples are the searches and whose
 * measures are the time in forward passes and their number, and whose inputs are the pairs of
 * roads; the settings of the search; the number
 * of searches with each outcome; and the wall time of all searches. ASSAY_E_DATA if there is no
 * search. */
ASSAY_MUST_USE assay_status assay__found_generation(assay_record *found, const char *model,
                                                    const assay_generation *generation);

/* Read the generation by a model from a record. The record does not have the outcomes of single
 * searches. Pass network and pairs to get the road ids of the searches, or NULL for both.
 * Free the generation with assay_generation_free(). ASSAY_E_DATA if the record has no searches of
 * the model. */
ASSAY_MUST_USE assay_status assay__generation_of(const assay_record *found, const char *model,
                                                 const assay__road_network *network,
                                                 const assay__od_pair *pairs,
                                                 assay_generation **generation);

/* The number of trajectories that a model has generated. */
size_t assay__generated_count(const assay_record *found, const char *model);

/* Add the results of evaluating a model, and read them back. The second function returns false if
 * nothing was evaluated. */
ASSAY_MUST_USE assay_status assay__found_results(assay_record *found, const char *model,
                                                 const assay_trajectory_results *results);
bool assay__results_of(const assay_record *found, const char *model,
                       assay_trajectory_results *results);

#endif
