/* What generating trajectories cost: figures over all searches, their text, and their file.
 *
 * A figure that cannot be known (the 95th percentile of ten searches, the time of a forward pass
 * where there was none) is a reading that says why. */
#ifndef ASSAY_MODELS_ROUTES_PERFORMANCE_H
#define ASSAY_MODELS_ROUTES_PERFORMANCE_H

#include "assay/trajectories.h"
#include "base/json_writer.h"

/* The figures of these searches, of how many trajectories came of them and of how long they took
 * together. Standard deviations divide by the number of searches, as NumPy's do; percentiles as
 * assay_stats_quantile. ASSAY_E_DATA without any search. */
ASSAY_MUST_USE assay_status assay__performance_aggregate(const assay_search_performance *searches,
                                                         size_t count, assay_reading trajectories,
                                                         assay_reading seconds, bool beam_search,
                                                         const char *device,
                                                         assay_generation_performance *performance);

/* The parts of assay_generation_print(): the block of the seed, and the line after it. */
void assay__performance_print(const assay_generation_performance *performance, FILE *stream);
void assay__performance_print_slowest(const assay_search_performance *search, FILE *stream);

/* The readings one by one, by index below their number; keys are those of JSON. */
size_t assay__performance_figures(void);
const char *assay__performance_key(size_t index);
assay_reading assay__performance_read(const assay_generation_performance *performance,
                                      size_t index);
void assay__performance_set(assay_generation_performance *performance, size_t index,
                            assay_reading reading);

/* ---- performance_file.c ---- */

/* The object `key` (NULL: without a key) with all figures. */
void assay__performance_write(assay__json *json, const char *key,
                              const assay_generation_performance *performance);
/* For assay_file_save(). Of an assay_generation_performance, the object; of an assay_generation,
 * {"num_searched", "num_generated", "performance", "slowest", "searches": […]}. */
ASSAY_MUST_USE assay_status assay__performance_print_json(const void *performance, FILE *stream,
                                                          assay_error *error);
ASSAY_MUST_USE assay_status assay__generation_print_json(const void *generation, FILE *stream,
                                                         assay_error *error);

/* Figures from such a file, from generation.json of a study (both have an object "performance"),
 * from results.json ("generation_performance") or from the object alone. What is missing or null is
 * not measured, or what "unavailable" says. ASSAY_E_FORMAT for anything else; at most 256 MiB. */
ASSAY_MUST_USE assay_status assay__performance_load(const char *path, assay_error *error,
                                                    assay_generation_performance *performance);
ASSAY_MUST_USE assay_status assay__performance_parse(const char *text, size_t length,
                                                     const char *name, assay_error *error,
                                                     assay_generation_performance *performance);

#endif
