/* One model profiled: what `assay profile` measures, shows and writes.
 *
 *     assay_record *record = NULL;
 *     status = assay__profile_run(&plan, error, &record, NULL);
 *     assay__profile_print(record, stdout);                     80 columns
 *     assay_file_save("p.json", assay__profile_print_json, record, error);
 *     assay_record_save(record, "r.json", 0, error);
 *     assay_record_free(record);
 *
 * The record holds every figure, text and JSON are views of it (view.h says what is where in it).
 * Text and JSON show milliseconds and MB of 2^20 bytes. */
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

/* By assay_loss and assay_optimizer; NULL-terminated. */
extern const char *const assay__loss_names[], *const assay__optimizer_names[];

typedef struct assay__profile_plan {
    unsigned parts;
    assay_model *model;         /* fresh; training steps and fits change its parameters */
    const assay_tensor *inputs; /* input_count of its class, in its order; data NULL: absent */
    const assay_tensor *target; /* NULL: no backward */
    const char *data;           /* where the inputs come from, one line */
    assay_loss loss;            /* of backward passes */
    assay_optimizer optimizer;  /* of training steps */
    size_t num_runs;            /* 0: 100 */
    size_t warmup_runs;         /* 0: 10, unless no_warmup */
    bool no_warmup;
    int64_t forecast_steps; /* 0: 100 */
    size_t threads;         /* that the arithmetic runs on; only shown */
    uint64_t seed;
    const assay__axis *axes; /* none: assay__axes_default() */
    size_t axis_count;
    double budget_seconds; /* of each axis; 0: 5 */
    /* Before each stage and while it lasts, in words: "runtime, run 7 of 110, 60 s left". NULL: not
     * called. */
    void (*progress)(void *context, const char *stage);
    void *progress_context;
} assay__profile_plan;

/* Add the model, its subjects and its figures to a record. What the class lacks (a backward pass,
 * an account of its memory, a description of its arithmetic) is missing there, with the reason.
 * `forecast` (or NULL) receives the runtime profile if the class forecasts and its runtime is
 * measured; it borrows the name of the class. After a failure the record is of no use. */
ASSAY_MUST_USE assay_status assay__profile_measure(const assay__profile_plan *plan,
                                                   assay_error *error, assay_record *record,
                                                   assay_runtime_profile *forecast);
/* The axes alone, without the model. */
ASSAY_MUST_USE assay_status assay__profile_scale(const assay__profile_plan *plan,
                                                 assay_error *error, assay_record *record);

/* The same into a new record of kind "profile", which also describes the machine. Caller frees. */
ASSAY_MUST_USE assay_status assay__profile_run(const assay__profile_plan *plan, assay_error *error,
                                               assay_record **record,
                                               assay_runtime_profile *forecast);

#endif
