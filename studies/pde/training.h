/* The parts that the two trainers of the study "pde" share. The trainers add their numbers to the
 * run record of the study, and everything that is shown comes from the record. */
#ifndef ASSAY_STUDIES_PDE_TRAINING_H
#define ASSAY_STUDIES_PDE_TRAINING_H

#include "assay/monitor.h"
#include "assay/training.h"
#include "studies/common/results.h"
#include "studies/common/watch.h"
#include "studies/pde/study.h"

/* A growing list of numbers. */
typedef struct assay__pde_numbers {
    double *values; /* owned */
    size_t count, capacity;
    bool incomplete; /* there was no memory for some of the numbers */
} assay__pde_numbers;

/* A running training, and its results. */
typedef struct assay__pde_training {
    const assay__pde_config *config;
    assay__study *study; /* its one step is open */
    FILE *output;
    uint64_t seed;
    assay_monitor *monitor;      /* NULL or disabled: monitoring is off */
    assay_epoch_monitor *epochs; /* likewise; it has spans of its own */
    /* Values by epoch (burgers) or by iteration (heat, which has only losses). */
    assay__pde_numbers losses, held_out_losses, relative_errors;
    assay__study_watch watch;
    assay__pde_numbers batches[ASSAY__WATCH_FIGURES]; /* cost of each batch */
    assay_record *found; /* figures, series and models that are complete */
    assay_error *error;
} assay__pde_training;

/* The name that the model of the experiment has in the record: "surrogate", "conductivity". */
const char *assay__pde_model_of(const assay__pde_config *config);

/* Train. After an interruption the lists of numbers are complete up to that point. Results that
 * depend on the end of the training are in `found` only after success. */
ASSAY_MUST_USE assay_status assay__pde_train_burgers(assay__pde_training *training);
ASSAY_MUST_USE assay_status assay__pde_train_heat(assay__pde_training *training);

/* Call these before and after each batch. The end of a batch may print a line; it removes the
 * progress line before. */
void assay__pde_batch_start(assay__pde_training *training, uint64_t index);
void assay__pde_batch_end(assay__pde_training *training, uint64_t index, double loss);

void assay__pde_append(assay__pde_numbers *numbers, double value);
void assay__pde_numbers_release(assay__pde_numbers *numbers);

/* Add the numbers so far to `found`: the series of losses and errors, the batches, and the
 * statistics of the epochs. */
ASSAY_MUST_USE assay_status assay__pde_found_numbers(assay__pde_training *training);
/* Add the model and its number of parameters. */
ASSAY_MUST_USE assay_status assay__pde_found_model(assay__pde_training *training,
                                                   const char *class_name, double parameters);

/* The reasons why L-BFGS ended, in the order of assay__lbfgs_outcome. The figure "stopped_by" is an
 * index into this array. */
enum { ASSAY__PDE_STOP_WORDS = 4 };
extern const char *const assay__pde_stop_words[ASSAY__PDE_STOP_WORDS];

/* ---- views ---- */

/* Print the report. */
ASSAY_MUST_USE assay_status assay__pde_report(const assay_record *found,
                                              const assay__pde_config *config, FILE *stream,
                                              assay_error *error);
/* Print losses.csv. */
void assay__pde_losses_print(const assay_record *found, const assay__pde_config *config,
                             FILE *stream);
/* The objects "results" and "timing" of results.json. NULL if there is no memory. */
json_t *assay__pde_results_json(const assay_record *found, const assay__pde_config *config);
json_t *assay__pde_timing_json(const assay_record *found, const assay__pde_config *config);

/* The times of the epochs from the record; and the same as members of a JSON object. The second
 * returns 0, or another value if there is no memory. */
assay_epoch_statistics assay__pde_statistics_of(const assay_record *found);
int assay__pde_set_statistics(json_t *object, const assay_record *found);

#endif
