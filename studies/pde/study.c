/* The study has one step, data and training together, because the state of an optimizer is not
 * saved. The results are one run record, which starts as the monitor's record if there is a
 * monitor. The record is read back for the report, so that a finished study shows the same tables
 * again without training. */
#include "studies/pde/study.h"

#include <stdlib.h>
#include <string.h>

#include "assay/monitor.h"
#include "assay/report.h"
#include "assay/training.h"
#include "base/error.h"
#include "base/file.h"
#include "studies/common/json_file.h"
#include "studies/pde/training.h"

typedef struct pde {
    assay__study_plan plan;
    const assay__pde_config *config;
    const char *json_path;
    char *composed; /* the configuration as YAML */
    assay__study *study;
    assay__pde_training training;
    assay_record *found; /* the record that was kept, read back */
    assay_error *error;
} pde;

static const assay__study_step the_step[] = {{"data and training", 1}};

/* ---- around batches ---- */

void assay__pde_batch_start(assay__pde_training *training, uint64_t index)
{
    assay_epoch_monitor_on_batch_start(training->epochs, index);
    assay__study_watch_start(&training->watch);
}

void assay__pde_batch_end(assay__pde_training *training, uint64_t index, double loss)
{
    double figures[ASSAY__WATCH_FIGURES];
    assay__study_watch_stop(&training->watch);
    if (training->epochs != NULL && (int64_t)index < training->config->memory_monitor_batches)
        assay__study_quiet(training->study);
    assay_epoch_monitor_on_batch_end(training->epochs, index, loss);
    assay__study_watch_read(&training->watch, figures);
    for (size_t i = 0; i < ASSAY__WATCH_FIGURES; i++)
        assay__pde_append(&training->batches[i], figures[i]);
}

/* ---- files ---- */

static assay_status write_losses(pde *self, const assay_record *found, assay_error *error)
{
    const char *path = assay__study_file(self->study, "losses.csv", error);
    assay__output output;
    if (path == NULL)
        return ASSAY_E_IO;
    assay_status status = assay__output_begin(&output, path, error);
    if (status != ASSAY_OK)
        return status;
    assay__pde_losses_print(found, self->config, output.stream);
    return assay__output_commit(&output, error);
}

static assay_status write_configuration(pde *self)
{
    const char *path = assay__study_file(self->study, "config.yaml", self->error);
    assay__output output;
    if (path == NULL)
        return ASSAY_E_IO;
    assay_status status = assay__output_begin(&output, path, self->error);
    if (status != ASSAY_OK)
        return status;
    fputs(self->composed, output.stream);
    return assay__output_commit(&output, self->error);
}

static json_t *results_json(const pde *self)
{
    return json_pack("{ss, ss, sI, sb, so, so, so}", "study", self->plan.study, "experiment",
                     self->plan.experiment, "seed", (json_int_t)self->plan.seed, "quick",
                     (int)self->plan.quick, "config", assay__pde_config_json(self->config),
                     "results", assay__pde_results_json(self->found, self->config), "timing",
                     assay__pde_timing_json(self->found, self->config));
}

static assay_status write_views(pde *self)
{
    const char *results = assay__study_file(self->study, "results.json", self->error);
    const char *csv = assay__study_file(self->study, "performance_metrics.csv", self->error);
    if (results == NULL || csv == NULL)
        return ASSAY_E_IO;
    assay_status status = write_losses(self, self->found, self->error);
    if (status == ASSAY_OK && self->config->enable_memory_monitoring)
        status = assay_report_save(self->found, "csv-spans", csv, self->error);
    if (status == ASSAY_OK)
        status = assay__json_file_write(results_json(self), results, self->error);
    if (status == ASSAY_OK && self->json_path != NULL)
        status = assay__json_file_write(results_json(self), self->json_path, self->error);
    return status;
}

/* ---- training ---- */

static assay_status make_monitors(pde *self)
{
    const assay__pde_config *config = self->config;
    assay_monitor_options monitor = ASSAY_MONITOR_OPTIONS_INIT;
    assay_epoch_monitor_options epochs = ASSAY_EPOCH_MONITOR_OPTIONS_INIT;
    if (!config->enable_memory_monitoring)
        return ASSAY_OK;
    monitor.name = self->plan.experiment;
    epochs.output = self->plan.output;
    epochs.verbose_batches =
        config->memory_monitor_batches > 0 ? (int)config->memory_monitor_batches : -1;
    assay_status status = assay_monitor_open(&monitor, self->error, &self->training.monitor);
    if (status == ASSAY_OK)
        status = assay_epoch_monitor_new(&epochs, &self->training.epochs);
    return status;
}

/* Join the results and the monitor's operations in one record, and keep it. */
static assay_status keep(pde *self)
{
    assay__pde_training *training = &self->training;
    assay_record *recorded = NULL;
    if (training->monitor == NULL)
        return assay__study_keep(self->study, 0, training->found, self->error);
    assay_status status = assay_monitor_record(training->monitor, self->error, &recorded);
    if (status == ASSAY_OK)
        status = assay__study_claim(self->study, recorded, self->error);
    if (status == ASSAY_OK && assay__record_append(recorded, training->found) != ASSAY_OK)
        status = assay__fail(self->error, ASSAY_E_MEMORY, "out of memory");
    if (status == ASSAY_OK)
        status = assay__study_keep(self->study, 0, recorded, self->error);
    assay_record_free(recorded);
    return status;
}

static assay_status prepare(pde *self)
{
    assay__pde_training *training = &self->training;
    *training = (assay__pde_training){.config = self->config,
                                      .study = self->study,
                                      .output = self->plan.output,
                                      .seed = self->plan.seed,
                                      .error = self->error};
    assay_status status = assay__study_findings(self->study, self->error, &training->found);
    if (status == ASSAY_OK && assay__pde_config_settings(self->config, training->found) != ASSAY_OK)
        status = assay__fail(self->error, ASSAY_E_MEMORY, "out of memory");
    if (status == ASSAY_OK)
        status = make_monitors(self);
    return status == ASSAY_OK ? write_configuration(self) : status;
}

static assay_status train(pde *self)
{
    assay__pde_training *training = &self->training;
    assay__study_begin(self->study, 0);
    assay_status status = prepare(self);
    if (status != ASSAY_OK)
        return status;
    assay__study_watch_open(&training->watch);
    status = self->config->equation == ASSAY__PDE_BURGERS ? assay__pde_train_burgers(training)
                                                          : assay__pde_train_heat(training);
    assay__study_watch_close(&training->watch);
    assay__study_quiet(self->study);
    bool complete = assay__pde_found_numbers(training) == ASSAY_OK;
    if (status != ASSAY_OK) { /* report this failure, not a later one */
        assay_error ignored = {0};
        assay_status unwritten = write_losses(self, training->found, &ignored);
        (void)unwritten;
        return status;
    }
    if (!complete)
        return assay__fail(self->error, ASSAY_E_MEMORY, "out of memory for what was measured");
    status = keep(self);
    return status == ASSAY_OK ? assay__study_end(self->study, self->error) : status;
}

/* ---- the report ---- */

static assay_status report(pde *self)
{
    assay_status status = assay__study_recall(self->study, 0, self->error, &self->found);
    if (status == ASSAY_OK)
        status = assay__study_publish(self->study, self->found, self->error);
    if (status == ASSAY_OK)
        status = write_views(self);
    if (status == ASSAY_OK)
        status = assay__pde_report(self->found, self->config, self->plan.output, self->error);
    if (status == ASSAY_OK)
        fprintf(self->plan.output,
                "\nResults in %s:\n"
                "config.yaml, losses.csv, %srecord.json, results.json\n",
                self->plan.folder,
                self->config->enable_memory_monitoring ? "performance_metrics.csv, " : "");
    return status;
}

/* ---- the study ---- */

static assay_status run(pde *self)
{
    size_t length = 0;
    FILE *composed = open_memstream(&self->composed, &length);
    if (composed == NULL)
        return assay__fail(self->error, ASSAY_E_MEMORY, "out of memory");
    assay__pde_config_print(self->config, composed);
    if (fclose(composed) != 0)
        return assay__fail(self->error, ASSAY_E_MEMORY, "out of memory");
    self->plan.settings = self->composed;
    self->plan.steps = the_step;
    self->plan.step_count = 1;
    assay_status status = assay__study_open(&self->plan, self->error, &self->study);
    if (status != ASSAY_OK)
        return status;
    if (assay__study_done(self->study, 0))
        fputs("The training was finished by an earlier run\n", self->plan.output);
    else
        status = train(self);
    return status == ASSAY_OK ? report(self) : status;
}

static void release_training(assay__pde_training *training)
{
    assay_epoch_monitor_free(training->epochs);
    assay_monitor_free(training->monitor);
    assay_record_free(training->found);
    assay__pde_numbers_release(&training->losses);
    assay__pde_numbers_release(&training->held_out_losses);
    assay__pde_numbers_release(&training->relative_errors);
    for (size_t i = 0; i < ASSAY__WATCH_FIGURES; i++)
        assay__pde_numbers_release(&training->batches[i]);
}

assay_status assay__pde_run(const assay__study_plan *plan, const assay__pde_config *config,
                            const char *json_path, assay_error *error)
{
    pde self = {.plan = *plan, .config = config, .json_path = json_path, .error = error};
    assay_status status = run(&self);
    release_training(&self.training);
    assay_record_free(self.found);
    assay__study_free(self.study);
    free(self.composed);
    return status;
}
