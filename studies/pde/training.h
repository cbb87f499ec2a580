/* What the two trainers of the study "pde" share, and what becomes of their numbers: they are added
 * to the run record of the study, and everything shown comes from there. */
#ifndef ASSAY_STUDIES_PDE_TRAINING_H
#define ASSAY_STUDIES_PDE_TRAINING_H

#include "assay/monitor.h"
#include "assay/training.h"
#include "studies/common/results.h"
#include "studies/common/watch.h"
#include "studies/pde/study.h"

/* Numbers that come one by one. */
typedef struct assay__pde_numbers {
    double *values; /* owned */
    size_t count, capacity;
    bool incomplete; /* there was no memory for one of them */
} assay__pde_numbers;

/* A training under way, and what it leaves. */
typedef struct assay__pde_training {
    const assay__pde_config *config;
    assay__study *study; /* its one step is open */
    FILE *output;
    uint64_t seed;
    assay_monitor *monitor;      /* NULL or disabled: monitoring is off */
    assay_epoch_monitor *epochs; /* likewise; its spans are its own */
    /* By epoch (burgers) or by iteration (heat, which has losses only). */
    assay__pde_numbers losses, held_out_losses, relative_errors;
    assay__study_watch watch;
    assay__pde_numbers batches[ASSAY__WATCH_FIGURES]; /* what each batch cost */
    assay_record *found; /* figures, series and models that are complete */
    assay_error *error;
} assay__pde_training;

/* The name that the model of the experiment has in the record: "surrogate", "conductivity". */
const char *assay__pde_model_of(const assay__pde_config *config);

/* Numbers are complete up to an interruption; what depends on the end is in `found` only after
 * success. */
ASSAY_MUST_USE assay_status assay__pde_train_burgers(assay__pde_training *training);
ASSAY_MUST_USE assay_status assay__pde_train_heat(assay__pde_training *training);

/* Around one batch; the end prints, so the progress line is taken away before it. */
void assay__pde_batch_start(assay__pde_training *training, uint64_t index);
void assay__pde_batch_end(assay__pde_training *training, uint64_t index, double loss);

void assay__pde_append(assay__pde_numbers *numbers, double value);
void assay__pde_numbers_release(assay__pde_numbers *numbers);

/* Add the numbers so far to `found`: series of losses and errors, batches, statistics of epochs. */
ASSAY_MUST_USE assay_status assay__pde_found_numbers(assay__pde_training *training);
/* Add the model, with as many parameters. */
ASSAY_MUST_USE assay_status assay__pde_found_model(assay__pde_training *training,
                                                   const char *class_name, double parameters);

/* Why L-BFGS ended, by assay__lbfgs_outcome. The figure "stopped_by" is an index into it. */
enum { ASSAY__PDE_STOP_WORDS = 4 };
extern const char *const assay__pde_stop_words[ASSAY__PDE_STOP_WORDS];

/* ---- views ---- */

ASSAY_MUST_USE assay_status assay__pde_report(const assay_record *found,
                                              const assay__pde_config *config, FILE *stream,
                                              assay_error *error);
/* losses.csv. */
void assay__pde_losses_print(const assay_record *found, const assay__pde_config *config,
                             FILE *stream);
/* "results" and "timing" of results.json; NULL when out of memory. */
json_t *assay__pde_results_json(const assay_record *found, const assay__pde_config *config);
json_t *assay__pde_timing_json(const assay_record *found, const assay__pde_config *config);

/* What the epochs took, as the record has it. */
assay_epoch_statistics assay__pde_statistics_of(const assay_record *found);
int assay__pde_set_statistics(json_t *object, const assay_record *found);

#endif
