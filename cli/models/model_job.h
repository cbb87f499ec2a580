/* One call of `assay model` or `assay profile`: its settings, and the functions that the actions of
 * these commands share.
 *
 * The command line depends on the model: the settings and inputs of the model become options of the
 * command. So the model is looked up before the options are parsed, and a table of options is made
 * for it. */
#ifndef ASSAY_CLI_MODELS_MODEL_JOB_H
#define ASSAY_CLI_MODELS_MODEL_JOB_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "assay/model.h"
#include "cli/common/options.h"

/* The settings of `assay profile` that `assay model` does not have. */
typedef struct profile_settings {
    option_list parts, axes;
    const char *sizes, *dataset, *data_dir, *record, *runtime_profile, *loss, *optimizer;
    bool synthetic, save;
    size_t num_runs, forecast_steps;
    option_number warmup_runs;
    double budget_seconds;
} profile_settings;

/* The table of options stores values here. `values` belongs to the options that a model adds: first
 * its settings, then its inputs. */
typedef struct model_settings {
    const char *model, *weights, *input, *graph, *target, *output, *json, *device;
    size_t steps, epochs, batch, threads;
    double learning_rate; /* 0 if not given */
    option_number seed;
    profile_settings profile;
    const char *values[];
} model_settings;

typedef struct model_job {
    const char *command;             /* "model" or "profile", as messages begin with it */
    const assay_model_class *class_; /* NULL if no model was named, as in `assay model list` */
    model_settings *settings;
    option *options; /* the table that was made for this model */
    char **names;    /* name and help of each option that the model adds; NULL if not allocated */
    /* The number of options in the table, of the command itself, and of those the model can add. */
    size_t option_count, static_count, added_count;
    assay_model *model;
    assay_tensor *inputs; /* in the order of the class; data is NULL for an input not given */
    assay_tensor target;
    bool example; /* the model made up inputs and target, and owns their data */
} model_job;

/* ---- model_job.c ---- */

/* Parse the command line with the table that is made for its model, and call `work` with the
 * operands. Afterwards everything that the job owns is released. Returns the exit code. */
int model_job_run(const command *self, int argc, char **argv,
                  int (*work)(model_job *job, char **operands, int count));

/* The `complete` function of such a command. It uses the table for the model that was typed. The
 * `choice` function of the command gets the job as context. */
void model_job_complete(const command *self, int argc, char **argv);

/* Choice number `index` for an option of the table: the name of a model for --model, or a word for
 * one of the model's settings. NULL after the last. */
const char *model_job_choice(const model_job *job, const option *of, size_t index,
                             const char **help);

/* ---- model_options.c ---- */

/* Find the model that the command line names, if it names one, and make the table. Returns EX_OK,
 * or the exit code after a message. */
int model_options_prepare(model_job *job, const command *self, int argc, char **argv);
/* The value that was typed for a setting or an input of the class; NULL if none was typed. */
const char *model_options_setting(const model_job *job, size_t index);
const char *model_options_input(const model_job *job, size_t index);
void model_options_release(model_job *job);

/* ---- model_setup.c: these functions return EX_OK, or the exit code after a message ---- */

/* Make the model and load its weights, if a file of weights was given. The weights give the shape
 * of the model, and options that were typed override it. */
int model_setup_create(model_job *job);
/* Load the inputs. If none is given and `example` is set, the model makes up inputs and a target.
 */
int model_setup_inputs(model_job *job, bool example);
/* Load the target. With --graph this is the file of labels, unless --target was given. */
int model_setup_target(model_job *job);
void model_setup_release(model_job *job);

/* Print "assay COMMAND: MESSAGE". Returns the exit code for the status. */
int model_fail(const model_job *job, assay_status status, const assay_error *error);

/* ---- the actions ---- */

int model_list(model_job *job);
int model_info(model_job *job);
int model_eval(model_job *job);
int model_grad(model_job *job);
int model_train(model_job *job);

/* ---- model_show.c ---- */

/* These functions return new JSON objects, which the caller owns.
 * {"kind": "model", "model": ..., "settings": {...}, "parameters": n} */
json_t *model_json(const model_job *job);
/* {"name", "summary", "options", "inputs", "can"} */
json_t *model_class_json(const assay_model_class *class_);
json_t *model_memory_json(const assay_model_memory *memory);
/* Write `root` to the file of --json and release it. A root that is NULL means out of memory.
 * Returns EX_OK, or the exit code after a message. */
int model_write_json(const model_job *job, json_t *root);
/* Write the shape as "(32, 20, 4)". Returns `text`. */
enum { MODEL_SHAPE_TEXT = 96 };
const char *model_shape_text(const assay_tensor *tensor, char text[MODEL_SHAPE_TEXT]);
json_t *model_shape_json(const assay_tensor *tensor);
void model_print_classes(FILE *stream);
void model_print_memory(const assay_model_memory *memory, FILE *stream);

#endif
