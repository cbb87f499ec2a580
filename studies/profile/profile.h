/* One model profiled: what `assay profile` measures, shows and writes.
 *
 *     assay__profile profile;
 *     status = assay__profile_measure(&plan, error, &profile);
 *     assay__profile_print(&profile, stdout);                   80 columns
 *     assay_file_save("p.json", assay__profile_print_json, &profile, error);
 *     status = assay__profile_fill_record(&profile, record);
 *     assay__profile_release(&profile);
 *
 * All outputs are views of the same figures; nothing is measured twice. Text and JSON show
 * milliseconds and MB of 2^20 bytes, as seed D does. */
#ifndef ASSAY_STUDIES_PROFILE_PROFILE_H
#define ASSAY_STUDIES_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/flops.h"
#include "assay/model.h"
#include "assay/profile.h"
#include "assay/record.h"
#include "assay/runtime.h"
#include "studies/common/peak.h"
#include "studies/profile/axes.h"
#include "studies/profile/complexity.h"
#include "studies/profile/roofline.h"

/* MB of the seed's JSON and of the tables. */
#define ASSAY__BYTES_IN_MB 1048576.0

enum {
    ASSAY__PROFILE_RUNTIME = 1,
    ASSAY__PROFILE_MEMORY = 2,
    ASSAY__PROFILE_FLOPS = 4,
    ASSAY__PROFILE_SCALING = 8
};

typedef struct assay__profile_plan {
    unsigned parts;
    assay_model *model;         /* fresh; training steps and fits change its parameters */
    const assay_tensor *inputs; /* input_count of its class, in its order; data NULL: absent */
    const assay_tensor *target; /* NULL: no backward */
    const char *data;           /* where the inputs come from, one line */
    size_t num_runs;            /* 0: 100 */
    size_t warmup_runs;         /* 0: 10, unless no_warmup */
    bool no_warmup;
    int64_t forecast_steps; /* 0: 100 */
    size_t threads;         /* that the arithmetic runs on; only shown */
    uint64_t seed;
    const assay__axis *axes; /* none: assay__axes_default() */
    size_t axis_count;
    double budget_seconds; /* of each axis; 0: 5 */
    /* Before each stage, in words; NULL: nobody wants to know. */
    void (*progress)(void *context, const char *stage);
    void *progress_context;
} assay__profile_plan;

enum { ASSAY__PASS_FORWARD, ASSAY__PASS_BACKWARD, ASSAY__PASS_TRAINING, ASSAY__PASSES };

typedef struct assay__pass {
    assay_timing timing; /* count 0: the class cannot do it, or it was not asked for */
    double *seconds;     /* of each run */
    size_t count;
} assay__pass;

typedef struct assay__profile {
    assay__profile_plan plan; /* what it points to is borrowed */
    const assay_model_class *class_;
    char timestamp[32]; /* 2026-11-15T07:40:00Z */
    uint64_t parameters;
    double parameter_bytes;
    double element_bytes; /* 4 or 8 */

    assay__pass passes[ASSAY__PASSES];
    bool has_forecast; /* the class forecasts: */
    assay_runtime_profile forecast;
    int64_t forecast_steps;

    bool has_memory;
    assay_memory_stats process;
    bool has_breakdown; /* the class accounts for its memory */
    assay_model_memory breakdown;

    assay_flop_account *components, *groups; /* NULL: the class does not describe itself */
    assay__work work[ASSAY__PASSES];         /* a training step: both and the update's traffic */
    const assay__complexity *complexity;     /* NULL: not stated */
    bool has_peak;
    assay__peak peak;

    assay__axis_result *axes;
    size_t axis_count;
} assay__profile;

/* On failure there is nothing to release. What the class lacks (a backward pass, an account of its
 * memory, a description of its arithmetic) is left out and said to be. */
ASSAY_MUST_USE assay_status assay__profile_measure(const assay__profile_plan *plan,
                                                   assay_error *error, assay__profile *profile);
void assay__profile_release(assay__profile *profile);

/* The sum over all uses. */
uint64_t assay__profile_model_bytes(const assay_model_memory *memory);

/* "forward", "backward", "training_step" */
const char *assay__pass_name(int pass);

void assay__profile_print(const assay__profile *profile, FILE *stream);
/* Of that, the tables and plots of its axes alone. */
void assay__profile_print_scaling(const assay__profile *profile, FILE *stream);

/* The seed's JSON. An assay_file_printer: `profile` is an assay__profile. */
ASSAY_MUST_USE assay_status assay__profile_print_json(const void *profile, FILE *stream,
                                                      assay_error *error);

/* A subject for each pass, each forecast and each size, with its samples. */
ASSAY_MUST_USE assay_status assay__profile_fill_record(const assay__profile *profile,
                                                       assay_record *record);

#endif
