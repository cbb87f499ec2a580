/* The functions that the commands of all studies share: the common options, the interruption by
 * Ctrl-C, and the exit codes. */
#ifndef ASSAY_CLI_MODELS_STUDY_H
#define ASSAY_CLI_MODELS_STUDY_H

#include "cli/common/history.h"
#include "cli/common/options.h"
#include "studies/common/frame.h"

/* Each study is a command of its own, defined in study_NAME.c; its name is "study NAME". */
extern const command study_rom;
extern const command study_fields;
extern const command study_graph;
extern const command study_routes;
extern const command study_pde;

typedef struct study_common {
    const char *out;
    option_number seed;
    bool quick, restart, save;
    const char *json;
} study_common;

/* The options that every study takes. `settings` is a type with a field `common`. */
/* clang-format off */
#define STUDY_COMMON_OPTIONS(settings)                                                             \
    {"out", 'o', OPTION_TEXT, "DIR", "Folder of the results (default: assay-NAME-study).",         \
     offsetof(settings, common.out)},                                                              \
    {"seed", 's', OPTION_NUMBER, "N", "Everything random comes from it (default: 42).",            \
     offsetof(settings, common.seed)},                                                             \
    {"quick", 'q', OPTION_FLAG, NULL, "A small version, done in under 15 seconds.",                \
     offsetof(settings, common.quick)},                                                            \
    {"restart", 0, OPTION_FLAG, NULL,                                                              \
     "Begin anew in a folder that holds results, instead of going on.",                            \
     offsetof(settings, common.restart)},                                                          \
    HISTORY_SAVE_OPTION(settings, common.save),                                                    \
    {"json", 'j', OPTION_TEXT, "FILE", "Write the summary as JSON; '-' is standard output.",       \
     offsetof(settings, common.json)}
/* The option of a study whose models can run on a GPU. `field` is a const char *. */
#define STUDY_DEVICE_OPTION(settings, field)                                                       \
    {"device", 0, OPTION_TEXT, "DEVICE",                                                           \
     "Where the models run: cpu, or a CUDA device such as cuda:0 (default: cpu).",                 \
     offsetof(settings, field)}
/* clang-format on */

/* Parse the options of a study without operands, as options_parse() does. `common` is a field of
 * `settings`. A path to which the JSON cannot be written is refused here, before the study begins.
 */
bool study_parse(const command *self, int argc, char **argv, void *settings,
                 const study_common *common, int *code);

/* Check before a study begins whether a model can run on a device. Returns EX_OK, or the exit code
 * after a message. */
int study_check_device(const char *study, const char *model, const char *device);

/* Make the plan of a study and fill in the fields that come from the common options. After this
 * call, Ctrl-C asks the study to stop, and a second Ctrl-C kills it. `folder` is the default for
 * --out. The report goes to standard error if the JSON goes to standard output. */
assay__study_plan study_plan(const study_common *common, const char *study, const char *experiment,
                             const char *folder);

/* The exit code for the way a study ended, after a message if it failed: 130 if it was interrupted,
 * EX_CANTCREAT for a folder that cannot be made or belongs to something else. */
int study_exit(const char *study, assay_status status, const assay_error *error);

/* The same for a study that was run. If it succeeded and --save or ASSAY_HISTORY asks for it, its
 * record is saved in the history. */
int study_end(const char *study, const study_common *common, const assay__study_plan *plan,
              assay_status status, const assay_error *error);

#endif
