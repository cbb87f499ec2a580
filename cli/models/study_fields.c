/* assay study fields: MLP, SIREN and KAN learn nine functions of two variables. This file has the
 * options and calls the study (studies/fields). */
#include <sysexits.h>

#include "cli/models/study.h"
#include "studies/fields/functions.h"
#include "studies/fields/study.h"

typedef struct fields_settings {
    study_common common;
    size_t epochs, samples;
    double threshold;
    const char *baseline, *depths, *activations, *grids;
    bool sweep;
} fields_settings;

static const option fields_options[] = {
    STUDY_COMMON_OPTIONS(fields_settings),
    {"epochs", 'e', OPTION_COUNT, "N", "Epochs of each training (default: 200, quick 30).",
     offsetof(fields_settings, epochs)},
    {"samples", 'n', OPTION_COUNT, "N", "Random points to learn from (default: 4096, quick 1024).",
     offsetof(fields_settings, samples)},
    {"threshold", 't', OPTION_REAL, "LOSS",
     "Loss at which a training has converged (default: 0.01).",
     offsetof(fields_settings, threshold)},
    {"baseline", 'b', OPTION_TEXT, "MODEL", "What speed-ups refer to (default: the slowest).",
     offsetof(fields_settings, baseline)},
    {"sweep", 0, OPTION_FLAG, NULL,
     "Also train the models at several depths, with several activations and grids.",
     offsetof(fields_settings, sweep)},
    {"depths", 0, OPTION_TEXT, "LIST",
     "Hidden layers of MLP and SIREN in the sweep (default: 2,3,4).",
     offsetof(fields_settings, depths)},
    {"activations", 0, OPTION_TEXT, "LIST",
     "Activations of MLP in the sweep (default: relu,tanh,gelu).",
     offsetof(fields_settings, activations)},
    {"grids", 0, OPTION_TEXT, "LIST", "Intervals of KAN's splines in the sweep (default: 4,8,16).",
     offsetof(fields_settings, grids)},
};

static int fields_main(const command *self, int argc, char **argv)
{
    fields_settings settings = {0};
    int code;
    if (!study_parse(self, argc, argv, &settings, &settings.common, &code))
        return code;
    assay__study_plan plan = study_plan(&settings.common, "fields", "fields", "assay-fields-study");
    const assay__fields_options options = {.epochs = (int64_t)settings.epochs,
                                           .samples = (int64_t)settings.samples,
                                           .threshold = settings.threshold,
                                           .baseline = settings.baseline,
                                           .sweep = settings.sweep,
                                           .depths = settings.depths,
                                           .activations = settings.activations,
                                           .grids = settings.grids,
                                           .json_path = settings.common.json};
    assay_error error = {0};
    assay_status status = assay__fields_run(&plan, &options, &error);
    return study_end(self->name, &settings.common, &plan, status, &error);
}

static void print_functions(FILE *stream)
{
    fputs("functions, on [-1, 1] x [-1, 1]:\n", stream);
    for (size_t i = 0; i < ASSAY__FIELDS_FUNCTIONS; i++)
        fprintf(stream, "  %-10s%-30s%s\n", assay__fields_functions[i].name,
                assay__fields_functions[i].formula, assay__fields_functions[i].detail);
}

const command study_fields = {
    .name = "study fields",
    .summary = "MLP, SIREN and KAN learn nine 2-D functions: time and accuracy",
    .operands = "",
    .description = "Trains each model on each function, timed, and shows the total times, the\n"
                   "speed-ups with a verdict from interleaved repetitions, how many epochs each\n"
                   "needed to converge, the warm-up of the first epochs, and the accuracy on test\n"
                   "points. Leaves accuracy.csv, fields_timing.csv, fields_timing.json,\n"
                   "record.json and results.json in the folder.",
    COMMAND_OPTIONS(fields_options),
    .print_more = print_functions,
    .main = fields_main,
};
