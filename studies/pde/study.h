/* The study "pde": learning with differential equations, monitored.
 *
 *     burgers   a net learns from solutions of Burgers' equation (trainer "synthetic")
 *     heat      a conductivity is recovered by gradients through a solver (trainer "physical")
 *
 * The equation and the training are configured by YAML files (config.h). The study writes these
 * files to its folder:
 *     config.yaml               everything as composed
 *     record.json               the run record: all results and, if monitoring is on, the monitor's
 *                               operations; the following files are views of it
 *     losses.csv                a row for each epoch or iteration; also after an interruption
 *     performance_metrics.csv   operation, time, cpu_mb, gpu_mb; only if monitoring is on
 *     results.json              losses, errors, recovered values; times only below "timing" */
#ifndef ASSAY_STUDIES_PDE_STUDY_H
#define ASSAY_STUDIES_PDE_STUDY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/record.h"
#include "studies/common/frame.h"
#include "studies/pde/config.h"

typedef enum assay__pde_equation { ASSAY__PDE_BURGERS, ASSAY__PDE_HEAT } assay__pde_equation;

typedef struct assay__pde_config {
    int equation; /* assay__pde_equation */
    int trainer;  /* the same order: synthetic, physical */
    int64_t points, samples;
    double duration;
    /* burgers */
    double viscosity;
    int64_t modes, held_out;
    int64_t hidden_dim, num_layers;
    int64_t batch_size, num_workers;
    double learning_rate;
    /* heat */
    int64_t knots, snapshots, steps;
    double noise, smoothness;
    int64_t history;
    double tolerance;
    /* both */
    bool enable_memory_monitoring;
    int64_t memory_monitor_batches, epochs;
} assay__pde_config;

/* Compose the configuration. `quick` sets smaller numbers, which overrides can still change. Fails
 * as assay__config_load() does. A key of the other equation is an unknown key, and the trainer of
 * the other equation is ASSAY_E_ARGUMENT. */
ASSAY_MUST_USE assay_status assay__pde_config_load(const assay__config_source *source, bool quick,
                                                   assay_error *error, assay__pde_config *config);
void assay__pde_config_print(const assay__pde_config *config, FILE *stream);
json_t *assay__pde_config_json(const assay__pde_config *config); /* the caller releases it */
/* Add all values to the settings of the record, under their keys. */
ASSAY_MUST_USE assay_status assay__pde_config_settings(const assay__pde_config *config,
                                                       assay_record *record);

/* Run the study. It fills in the settings and the steps of `plan`; the plan's experiment is the
 * name of the configuration. A copy of results.json goes to `json_path` ("-": standard output),
 * unless that is NULL. */
ASSAY_MUST_USE assay_status assay__pde_run(const assay__study_plan *plan,
                                           const assay__pde_config *config, const char *json_path,
                                           assay_error *error);

#endif
