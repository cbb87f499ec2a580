/* Profiles one model: this is what `assay profile` measures, shows and writes.
 *
 *     assay_record *record = NULL;
 *     status = assay__profile_run(&plan, error, &record, NULL);
 *     assay__profile_print(record, stdout);                     80 columns
 *     assay_file_save("p.json", assay__profile_print_json, record, error);
 *     assay_record_save(record, "r.json", 0, error);
 *     assay_record_free(record);
 *
 * The record holds every figure. Text and JSON are views of the record; view.h describes its
 * content. Text and JSON show milliseconds and MB of 2^20 bytes. */
#ifndef ASSAY_STUDIES_PROFILE_PROFILE_H
#define ASSAY_STUDIES_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/model.h"
#include "assay/record.h"
#include "assay/runtime.h"
#include "studies/profile/axes.h"

enum {
    ASSAY__PROFILE_RUNTIME = 1,
    ASSAY__PROFILE_MEMORY = 2,
    ASSAY__PROFILE_FLOPS = 4,
    ASSAY__PROFILE_SCALING = 8
};

/* The names in the order of assay_loss and assay_optimizer, ended by NULL. */
extern const char *const assay__loss_names[], *const assay__optimizer_names[];

typedef struct assay__profile_plan {
    unsigned parts;
    assay_model *model;         /* fresh; training steps and fits change its parameters */
    const assay_tensor *inputs; /* all inputs of its class, in order; data NULL if absent */
    const assay_tensor *target; /* NULL: no backward pass */
    const char *data;           /* where the inputs come from, one line */
    assay_loss loss;            /* of backward passes */
    assay_optimizer optimizer;  /* of training steps */
    size_t num_runs;            /* 0: 100 */
    size_t warmup_runs;         /* 0: 10, unless no_warmup */
    bool no_warmup;
    int64_t forecast_steps; /* 0: 100 */
    size_t threads;         /* of the arithmetic; only for display */
    uint64_t seed;
    const assay__axis *axes; /* if there are none, assay__axes_default() */
    size_t axis_count;
    double budget_seconds; /* of each axis; 0: 5 */
    /* Called before and during each stage with a text such as "runtime, run 7 of 110, 60 s left".
     * May be NULL. */
    void (*progress)(void *context, const char *stage);
    void *progress_context;
} assay__profile_plan;

/* Profile the model and add it, its subjects and its figures to a record. If the class lacks a
 * backward pass, an account of its memory or a description of its arithmetic, the figures of these
 * are missing, with the reason. If the class forecasts and its runtime is measured, `forecast`
 * receives the runtime profile, which borrows the name of the class; `forecast` may be NULL. After
 * a failure the record must not be used. */
ASSAY_MUST_USE assay_status assay__profile_measure(const assay__profile_plan *plan,
                                                   assay_error *error, assay_record *record,
                                                   assay_runtime_profile *forecast);
/* Measure only the axes. */
ASSAY_MUST_USE assay_status assay__profile_scale(const assay__profile_plan *plan,
                                                 assay_error *error, assay_record *record);

/* The same as assay__profile_measure(), into a new record of kind "profile", which also describes
 * the machine. Free it with assay_record_free(). */
ASSAY_MUST_USE assay_status assay__profile_run(const assay__profile_plan *plan, assay_error *error,
                                               assay_record **record,
                                               assay_runtime_profile *forecast);

#endif
