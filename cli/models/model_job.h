/* One call of `assay model` or `assay profile`: what was asked, and the pieces that their actions
 * share.
 *
 * The command line depends on the model: its options and inputs become options of the command. So
 * the model is looked up before the options are parsed, and the table is made for it. */
#ifndef ASSAY_CLI_MODELS_MODEL_JOB_H
#define ASSAY_CLI_MODELS_MODEL_JOB_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "assay/model.h"
#include "cli/common/options.h"

/* What `assay profile` takes beside what `assay model` does. */
typedef struct profile_settings {
    option_list parts, axes;
    const char *sizes, *dataset, *data_dir, *record, *runtime_profile, *loss, *optimizer;
    bool synthetic, save;
    size_t num_runs, forecast_steps;
    option_number warmup_runs;
    double budget_seconds;
} profile_settings;

/* Where the table of options stores. `values` belong to the options that a model adds: first its
 * settings, then its inputs. */
typedef struct model_settings {
    const char *model, *weights, *input, *graph, *target, *output, *json, *device;
    size_t steps, epochs, batch, threads;
    double learning_rate; /* 0: not given */
    option_number seed;
    profile_settings profile;
    const char *values[];
} model_settings;

typedef struct model_job {
    const char *command;             /* "model", "profile": who speaks in messages */
    const assay_model_class *class_; /* NULL: list without a model */
    model_settings *settings;
    option *options; /* the table made for this model */
    char **names;    /* name and help of each value the model adds; NULL where not made */
    size_t option_count, static_count, added_count;
    assay_model *model;
    assay_tensor *inputs; /* input_count of the class, in its order; data NULL: not given */
    assay_tensor target;
    bool example; /* inputs and target are the model's own */
} model_job;

/* ---- model_job.c ---- */

/* Parse the command line by the table made for its model, and do the work with what is left of it;
 * everything the job took is released afterwards. The exit code. */
int model_job_run(const command *self, int argc, char **argv,
                  int (*work)(model_job *job, char **operands, int count));

/* The `complete` of such a command: by the table made for the model that is typed. Its `choice`
 * gets the job as context. */
void model_job_complete(const command *self, int argc, char **argv);

/* What may be typed for an option of the table: a model's name, or a word of one of its settings.
 */
const char *model_job_choice(const model_job *job, const option *of, size_t index,
                             const char **help);

/* Set the number of threads of the arithmetic, if it was given. */
void model_job_set_threads(const model_job *job);

/* ---- model_options.c ---- */

/* Find the model named on the command line (if any) and make the table. EX_OK or the exit code
 * after a message. */
int model_options_prepare(model_job *job, const command *self, int argc, char **argv);
/* The value typed for an option of the class; NULL: not given. */
const char *model_options_setting(const model_job *job, size_t index);
const char *model_options_input(const model_job *job, size_t index);
void model_options_release(model_job *job);

/* ---- model_setup.c: all return EX_OK or the exit code after a message ---- */

/* Make the model: shape from the weights, if given, overridden by the options. Loads the weights.
 */
int model_setup_create(model_job *job);
/* Load the inputs; with none given and `example`, let the model make its own, with a target. */
int model_setup_inputs(model_job *job, bool example);
/* Load the target (of a graph folder, its labels). */
int model_setup_target(model_job *job);
void model_setup_release(model_job *job);

/* "assay COMMAND: MESSAGE", and the exit code for it. */
int model_fail(const model_job *job, assay_status status, const assay_error *error);

/* ---- the actions ---- */

int model_list(model_job *job);
int model_info(model_job *job);
int model_eval(model_job *job);
int model_grad(model_job *job);
int model_train(model_job *job);

/* ---- model_show.c ---- */

/* {"model": ..., "settings": {...}, "parameters": n} */
json_t *model_json(const model_job *job);
/* {"name", "summary", "options", "inputs", "can"} */
json_t *model_class_json(const assay_model_class *class_);
json_t *model_memory_json(const assay_model_memory *memory);
/* Write to --json (takes `root`; NULL: out of memory). EX_OK or the exit code after a message. */
int model_write_json(const model_job *job, json_t *root);
/* "(32, 20, 4)" into `text`, which is returned. */
enum { MODEL_SHAPE_TEXT = 96 };
const char *model_shape_text(const assay_tensor *tensor, char text[MODEL_SHAPE_TEXT]);
json_t *model_shape_json(const assay_tensor *tensor);
void model_print_classes(FILE *stream);
void model_print_memory(const assay_model_memory *memory, FILE *stream);

#endif
