/* assay model: lists, describes, runs and trains the built-in models and plugins. This file has the
 * table of options, checks which options an action takes, and calls the action. The actions are in
 * model_*.c. */
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/nearest.h"
#include "cli/common/commands.h"
#include "cli/common/message.h"
#include "cli/common/output.h"
#include "cli/models/model_job.h"

enum { INFO = 1, EVAL = 2, GRAD = 4, TRAIN = 8, LIST = 16, ALL = 31, ANY_MODEL = 15 };

static const option model_options[] = {
    {"model", 'm', OPTION_TEXT, "NAME", "A built-in model, or the path of a plugin (./my.so).",
     offsetof(model_settings, model)},
    {"weights", 'w', OPTION_TEXT, "FILE",
     "Weights, as safetensors. They also give the model's shape.",
     offsetof(model_settings, weights)},
    {"input", 'i', OPTION_TEXT, "FILE",
     "The model's first input, as .npy. Other inputs: --NAME FILE.",
     offsetof(model_settings, input)},
    {"graph", 'g', OPTION_TEXT, "DIR",
     "The inputs nodes, edges and graphs, from a folder of OGB's raw tables.",
     offsetof(model_settings, graph)},
    {"target", 't', OPTION_TEXT, "FILE",
     "What the output should be, as .npy (default: the labels in the graph folder).",
     offsetof(model_settings, target)},
    {"output", 'o', OPTION_TEXT, "FILE",
     "Where to write: .npy from eval, safetensors from grad and train.",
     offsetof(model_settings, output)},
    {"steps", 'n', OPTION_COUNT, "N",
     "eval: forecast N steps ahead. train: make N steps of gradient (default: 100).",
     offsetof(model_settings, steps)},
    {"epochs", 'e', OPTION_COUNT, "N", "train: go N times over the data, instead of --steps.",
     offsetof(model_settings, epochs)},
    {"batch", 'b', OPTION_COUNT, "N", "train: rows in a step, drawn anew (default: all of them).",
     offsetof(model_settings, batch)},
    {"learning-rate", 'l', OPTION_REAL, "RATE", "train: of Adam (default: 0.001).",
     offsetof(model_settings, learning_rate)},
    {"seed", 's', OPTION_NUMBER, "N",
     "Seed of initial weights, made-up data and batches (default: 0).",
     offsetof(model_settings, seed)},
    {"threads", 'T', OPTION_COUNT, "N", "Threads for the arithmetic (default: 1, at most 256).",
     offsetof(model_settings, threads)},
    {"device", 0, OPTION_TEXT, "DEVICE",
     "Where the arithmetic runs: cpu, or a CUDA device such as cuda:0 (default: cpu).",
     offsetof(model_settings, device)},
    {"json", 'j', OPTION_TEXT, "FILE", "Write the result as JSON; '-' is standard output.",
     offsetof(model_settings, json)},
};

/* For each option, in the order of the table: the actions that take it. */
static const unsigned char applies[] = {
    ALL & ~LIST, ANY_MODEL, ANY_MODEL, ANY_MODEL, GRAD | TRAIN, EVAL | GRAD | TRAIN, EVAL | TRAIN,
    TRAIN,       TRAIN,     TRAIN,     ANY_MODEL, ANY_MODEL,    ANY_MODEL,           ALL,
};
_Static_assert(sizeof applies == sizeof model_options / sizeof *model_options, "one entry each");

static const struct action {
    const char *name;
    unsigned char bit;
    int (*run)(model_job *job);
} actions[] = {
    {"list", LIST, model_list}, {"info", INFO, model_info},    {"eval", EVAL, model_eval},
    {"grad", GRAD, model_grad}, {"train", TRAIN, model_train},
};

static const struct action *find_action(char **operands, int count)
{
    const size_t action_count = sizeof actions / sizeof *actions;
    if (count == 0) {
        message_error("assay model: say what to do: assay model list|info|eval|grad|train");
        return NULL;
    }
    if (count > 1) {
        message_error("assay model: unexpected '%s'; files are given by options, as --input FILE",
                      operands[1]);
        return NULL;
    }
    for (size_t i = 0; i < action_count; i++)
        if (strcmp(actions[i].name, operands[0]) == 0)
            return &actions[i];
    const char *nearest =
        assay__nearest(operands[0], &actions->name, action_count, sizeof *actions);
    message_error("assay model: unknown action '%s'; %s%s", operands[0],
                  nearest != NULL ? "did you mean: assay model " : "see 'assay model --help'",
                  nearest != NULL ? nearest : "");
    return NULL;
}

static const char *choice(const void *context, const option *of, size_t index, const char **help)
{
    if (of != NULL)
        return model_job_choice(context, of, index, help);
    return index < sizeof actions / sizeof *actions ? actions[index].name : NULL;
}

static bool given(const option *asked, const model_settings *settings)
{
    const void *field = (const char *)settings + asked->offset;
    switch (asked->type) {
    case OPTION_TEXT:
        return *(const char *const *)field != NULL;
    case OPTION_COUNT:
        return *(const size_t *)field != 0;
    case OPTION_REAL:
        return *(const double *)field > 0;
    default:
        return ((const option_number *)field)->given;
    }
}

static bool options_fit(const struct action *action, const model_settings *settings)
{
    for (size_t i = 0; i < sizeof applies; i++)
        if ((applies[i] & action->bit) == 0 && given(&model_options[i], settings)) {
            message_error("assay model %s: it takes no '--%s'", action->name,
                          model_options[i].name);
            return false;
        }
    if (settings->output != NULL && strcmp(settings->output, "-") == 0) {
        message_error("assay model %s: --output takes a file, not standard output", action->name);
        return false;
    }
    if (action->bit != LIST && settings->model == NULL) {
        message_error("assay model %s: name a model: --model NAME; 'assay model list' shows them",
                      action->name);
        return false;
    }
    return true;
}

static int work(model_job *job, char **operands, int count)
{
    const struct action *action = find_action(operands, count);
    if (action == NULL || !options_fit(action, job->settings))
        return EX_USAGE;
    const char *outputs[] = {job->settings->output, job->settings->json};
    int code = output_refuse("model", outputs, 2);
    if (code != EX_OK)
        return code;
    return action->run(job);
}

static int model_main(const command *self, int argc, char **argv)
{
    return model_job_run(self, argc, argv, work);
}

const command command_model = {
    .name = "model",
    .summary = MODEL_SUMMARY,
    .operands = "list|info|eval|grad|train",
    .description =
        "list    the models there are.\n"
        "info    tensors, bytes and arithmetic of a model: of --weights, or of the shape\n"
        "        given by the model's own options (--hidden-dim 64).\n"
        "eval    the model's output for an input; with --steps N, a forecast.\n"
        "grad    the loss against --target (mean square over all elements, unless the\n"
        "        model says otherwise) and its gradient for every tensor.\n"
        "train   weights fitted to the data, saved to --output. Without data the model\n"
        "        makes up its own.\n"
        "Arrays are .npy files; sequences are (batch, time, feature). A model adds its\n"
        "settings and inputs to the options: see 'assay model --model NAME --help'.",
    COMMAND_OPTIONS(model_options),
    .print_more = model_print_classes,
    .choice = choice,
    .complete = model_job_complete,
    .main = model_main,
};
