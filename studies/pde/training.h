/* What the two trainers of the study "pde" share. */
#ifndef ASSAY_STUDIES_PDE_TRAINING_H
#define ASSAY_STUDIES_PDE_TRAINING_H

#include <jansson.h>

#include "assay/monitor.h"
#include "assay/record.h"
#include "assay/training.h"
#include "studies/pde/study.h"

/* A training under way, and what it leaves. */
typedef struct assay__pde_training {
    const assay__pde_config *config;
    assay__study *study; /* its one step is open */
    FILE *output;
    uint64_t seed;
    assay_monitor *monitor;      /* NULL or disabled: monitoring is off */
    assay_epoch_monitor *epochs; /* likewise; its spans are its own */
    json_t *results;             /* an object: what does not depend on time */
    json_t *batch_seconds;       /* an array */
    assay_error *error;
} assay__pde_training;

/* "losses" of the results goes to losses.csv, whatever the status. */
ASSAY_MUST_USE assay_status assay__pde_train_burgers(assay__pde_training *training);
ASSAY_MUST_USE assay_status assay__pde_train_heat(assay__pde_training *training);

/* Around one batch; the end prints, so the progress line is taken away before it. */
double assay__pde_batch_start(assay__pde_training *training, uint64_t index);
void assay__pde_batch_end(assay__pde_training *training, uint64_t index, double start, double loss);

/* Append to the array `name` of the results. */
void assay__pde_append(assay__pde_training *training, const char *name, double value);

/* The report, from what was kept: `results` and `timing` are those of results.json. */
typedef struct assay__pde_kept {
    json_t *results, *timing; /* owned */
    assay_record *record;     /* NULL where monitoring was off */
} assay__pde_kept;

ASSAY_MUST_USE assay_status assay__pde_report(const assay__pde_kept *kept,
                                              const assay__pde_config *config, FILE *stream,
                                              assay_error *error);

json_t *assay__pde_statistics_json(const assay_epoch_statistics *statistics);

#endif
