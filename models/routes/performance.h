/* The cost of generating trajectories: figures over all searches, their text, and their file.
 *
 * Some figures cannot be known, such as the 95th percentile of ten searches, or the time of a
 * forward pass if there was none. Such a figure is a reading that says why it is missing. */
#ifndef ASSAY_MODELS_ROUTES_PERFORMANCE_H
#define ASSAY_MODELS_ROUTES_PERFORMANCE_H

#include "assay/trajectories.h"
#include "base/json_writer.h"

/* Compute the figures from the searches, from the number of trajectories that they generated, and
 * from the time that all of them took together. Standard deviations divide by the number of
 * searches, as NumPy's do. Percentiles are those of assay_stats_quantile. ASSAY_E_DATA if there is
 * no search. */
ASSAY_MUST_USE assay_status assay__performance_aggregate(const assay_search_performance *searches,
                                                         size_t count, assay_reading trajectories,
                                                         assay_reading seconds, bool beam_search,
                                                         const char *device,
                                                         assay_generation_performance *performance);

/* The two parts of assay_generation_print(): the block of figures as in the seed document, and the
 * line about the slowest search after it. */
void assay__performance_print(const assay_generation_performance *performance, FILE *stream);
void assay__performance_print_slowest(const assay_search_performance *search, FILE *stream);

/* Access to the readings by index, from 0 to assay__performance_figures() - 1. The keys are those
 * of the JSON. */
size_t assay__performance_figures(void);
const char *assay__performance_key(size_t index);
assay_reading assay__performance_read(const assay_generation_performance *performance,
                                      size_t index);
void assay__performance_set(assay_generation_performance *performance, size_t index,
                            assay_reading reading);

/* ---- performance_file.c ---- */

/* Write an object with all figures. `key` is NULL at the top level and in arrays. */
void assay__performance_write(assay__json *json, const char *key,
                              const assay_generation_performance *performance);
/* Functions for assay_file_save(). The first writes an assay_generation_performance as this object.
 * The second writes an assay_generation as {"num_searched", "num_generated", "performance",
 * "slowest", "searches": […]}. */
ASSAY_MUST_USE assay_status assay__performance_print_json(const void *performance, FILE *stream,
                                                          assay_error *error);
ASSAY_MUST_USE assay_status assay__generation_print_json(const void *generation, FILE *stream,
                                                         assay_error *error);

/* Read figures from one of these files: a file of the functions above, generation.json of a study
 * (object "performance"), or results.json (object "generation_performance"). A figure that is
 * missing or null becomes a missing reading: "not enough data" if the object "unavailable" says so,
 * otherwise "not measured". A file has at most 256 MiB. ASSAY_E_FORMAT for any other content. */
ASSAY_MUST_USE assay_status assay__performance_load(const char *path, assay_error *error,
                                                    assay_generation_performance *performance);
ASSAY_MUST_USE assay_status assay__performance_parse(const char *text, size_t length,
                                                     const char *name, assay_error *error,
                                                     assay_generation_performance *performance);

#endif
