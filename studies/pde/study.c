/* One step: data and training together, since an optimizer's state is not kept. What they leave,
 * the run record included, is read back for the report, so that a finished study shows the same
 * tables again without training. */
#include "studies/pde/study.h"

#include <stdlib.h>
#include <string.h>

#include "assay/clock.h"
#include "assay/monitor.h"
#include "assay/record.h"
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
    assay__pde_kept kept;
    assay_error *error;
} pde;

static const assay__study_step the_step[] = {{"data and training", 1}};

/* ---- around batches ---- */

double assay__pde_batch_start(assay__pde_training *training, uint64_t index)
{
    assay_epoch_monitor_on_batch_start(training->epochs, index);
    return assay_clock_seconds(assay_clock_default());
}

void assay__pde_batch_end(assay__pde_training *training, uint64_t index, double start, double loss)
{
    double seconds = assay_clock_seconds(assay_clock_default()) - start;
    if (training->epochs != NULL && (int64_t)index < training->config->memory_monitor_batches)
        assay__study_quiet(training->study);
    assay_epoch_monitor_on_batch_end(training->epochs, index, loss);
    json_array_append_new(training->batch_seconds, json_real(seconds));
}

void assay__pde_append(assay__pde_training *training, const char *name, double value)
{
    json_t *list = json_object_get(training->results, name);
    if (list == NULL) {
        json_object_set_new(training->results, name, json_array());
        list = json_object_get(training->results, name);
    }
    json_array_append_new(list, json_real(value));
}

/* ---- files ---- */

static assay_status write_losses(pde *self)
{
    const char *path = assay__study_file(self->study, "losses.csv", self->error);
    json_t *results = self->training.results, *losses = json_object_get(results, "losses");
    json_t *held_out = json_object_get(results, "held_out_losses");
    json_t *relative = json_object_get(results, "relative_errors");
    assay__output output;
    if (path == NULL)
        return ASSAY_E_IO;
    assay_status status = assay__output_begin(&output, path, self->error);
    if (status != ASSAY_OK)
        return status;
    fputs(held_out != NULL ? "epoch,loss,held_out_loss,relative_error\n" : "iteration,loss\n",
          output.stream);
    for (size_t i = 0; i < json_array_size(losses); i++) {
        fprintf(output.stream, "%zu,%.9g", i + 1, json_number_value(json_array_get(losses, i)));
        if (held_out != NULL)
            fprintf(output.stream, ",%.9g,%.9g", json_number_value(json_array_get(held_out, i)),
                    json_number_value(json_array_get(relative, i)));
        fputc('\n', output.stream);
    }
    return assay__output_commit(&output, self->error);
}

static assay_status write_text(pde *self, const char *relative, const char *text)
{
    const char *path = assay__study_file(self->study, relative, self->error);
    assay__output output;
    if (path == NULL)
        return ASSAY_E_IO;
    assay_status status = assay__output_begin(&output, path, self->error);
    if (status != ASSAY_OK)
        return status;
    fputs(text, output.stream);
    return assay__output_commit(&output, self->error);
}

static assay_status keep(pde *self)
{
    assay__pde_training *training = &self->training;
    assay_epoch_statistics statistics = assay_epoch_monitor_get_statistics(training->epochs);
    const char *path = assay__study_file(self->study, ".study/training.json", self->error);
    json_t *timing = json_pack("{sO}", "batch_seconds", training->batch_seconds);
    if (path == NULL || timing == NULL) {
        json_decref(timing);
        return path == NULL ? ASSAY_E_IO
                            : assay__fail(self->error, ASSAY_E_MEMORY, "out of memory");
    }
    if (training->epochs != NULL)
        json_object_set_new(timing, "statistics", assay__pde_statistics_json(&statistics));
    return assay__json_file_write(
        json_pack("{sO, so}", "results", training->results, "timing", timing), path, self->error);
}

static assay_status keep_record(pde *self)
{
    const char *path = assay__study_file(self->study, "record.json", self->error);
    const char *csv = assay__study_file(self->study, "performance_metrics.csv", self->error);
    assay_record *record = NULL;
    if (path == NULL || csv == NULL)
        return ASSAY_E_IO;
    assay_status status = assay_monitor_record(self->training.monitor, self->error, &record);
    if (status == ASSAY_OK)
        status = assay_record_save(record, path, 0, self->error);
    if (status == ASSAY_OK)
        status = assay_report_save(record, "csv-spans", csv, self->error);
    assay_record_free(record);
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

static assay_status train(pde *self)
{
    assay__pde_training *training = &self->training;
    *training = (assay__pde_training){.config = self->config,
                                      .study = self->study,
                                      .output = self->plan.output,
                                      .seed = self->plan.seed,
                                      .results = json_object(),
                                      .batch_seconds = json_array(),
                                      .error = self->error};
    if (training->results == NULL || training->batch_seconds == NULL)
        return assay__fail(self->error, ASSAY_E_MEMORY, "out of memory");
    assay__study_begin(self->study, 0);
    assay_status status = make_monitors(self);
    if (status == ASSAY_OK)
        status = write_text(self, "config.yaml", self->composed);
    if (status != ASSAY_OK)
        return status;
    status = self->config->equation == ASSAY__PDE_BURGERS ? assay__pde_train_burgers(training)
                                                          : assay__pde_train_heat(training);
    assay__study_quiet(self->study);
    assay_error unwritten = {0};
    pde losses = *self;
    losses.error = &unwritten; /* an interruption stays what is reported */
    assay_status written = write_losses(&losses);
    if (status != ASSAY_OK)
        return status;
    if (written != ASSAY_OK)
        return assay__fail(self->error, written, "%s", unwritten.message);
    if (training->monitor != NULL)
        status = keep_record(self);
    if (status == ASSAY_OK)
        status = keep(self);
    return status == ASSAY_OK ? assay__study_end(self->study, self->error) : status;
}

/* ---- the report ---- */

static assay_status load(pde *self)
{
    const char *path = assay__study_file(self->study, ".study/training.json", self->error);
    const char *record = assay__study_file(self->study, "record.json", self->error);
    json_t *root = NULL;
    if (path == NULL || record == NULL)
        return ASSAY_E_IO;
    assay_status status = assay__json_file_read(path, self->error, &root);
    if (status == ASSAY_OK && json_unpack(root, "{sO, sO}", "results", &self->kept.results,
                                          "timing", &self->kept.timing) != 0)
        status = assay__fail(self->error, ASSAY_E_FORMAT, "'%s' is damaged; --restart begins anew",
                             path);
    json_decref(root);
    if (status == ASSAY_OK && self->config->enable_memory_monitoring)
        status = assay_record_read(record, self->error, &self->kept.record);
    return status;
}

static json_t *results_json(const pde *self)
{
    return json_pack("{ss, ss, sI, sb, so, sO, sO}", "study", self->plan.study, "experiment",
                     self->plan.experiment, "seed", (json_int_t)self->plan.seed, "quick",
                     (int)self->plan.quick, "config", assay__pde_config_json(self->config),
                     "results", self->kept.results, "timing", self->kept.timing);
}

static assay_status report(pde *self)
{
    const char *path = assay__study_file(self->study, "results.json", self->error);
    assay_status status = path == NULL ? ASSAY_E_IO : load(self);
    if (status == ASSAY_OK)
        status = assay__json_file_write(results_json(self), path, self->error);
    if (status == ASSAY_OK && self->json_path != NULL)
        status = assay__json_file_write(results_json(self), self->json_path, self->error);
    if (status == ASSAY_OK)
        status = assay__pde_report(&self->kept, self->config, self->plan.output, self->error);
    if (status == ASSAY_OK)
        fprintf(self->plan.output, "\nResults in %s: config.yaml, losses.csv, %sresults.json\n",
                self->plan.folder,
                self->kept.record != NULL ? "performance_metrics.csv, record.json, " : "");
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

assay_status assay__pde_run(const assay__study_plan *plan, const assay__pde_config *config,
                            const char *json_path, assay_error *error)
{
    pde self = {.plan = *plan, .config = config, .json_path = json_path, .error = error};
    assay_status status = run(&self);
    assay_epoch_monitor_free(self.training.epochs);
    assay_monitor_free(self.training.monitor);
    json_decref(self.training.results);
    json_decref(self.training.batch_seconds);
    json_decref(self.kept.results);
    json_decref(self.kept.timing);
    assay_record_free(self.kept.record);
    assay__study_free(self.study);
    free(self.composed);
    return status;
}
