/* assay profile: measures time, memory, FLOPs and growth of one model. This file reads the options
 * and makes the model and its data. Then it calls studies/profile, which measures and prints. */
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "assay/record.h"
#include "assay/report.h"
#include "base/nearest.h"
#include "cli/common/bench_progress.h"
#include "cli/common/commands.h"
#include "cli/common/history.h"
#include "cli/common/message.h"
#include "cli/common/output.h"
#include "cli/models/model_job.h"
#include "cli/models/profile_dataset.h"
#include "studies/profile/profile.h"
#include "studies/profile/view.h"

enum { DEFAULT_PARTS = ASSAY__PROFILE_RUNTIME | ASSAY__PROFILE_MEMORY | ASSAY__PROFILE_FLOPS };

static const option profile_options[] = {
    {"model", 'm', OPTION_TEXT, "NAME", "A built-in model, or the path of a plugin (./my.so).",
     offsetof(model_settings, model)},
    {"profile", 'p', OPTION_LIST, "PART",
     "What to measure: runtime, memory, flops, scaling; several words or several times "
     "(default: runtime memory flops).",
     offsetof(model_settings, profile.parts)},
    {"weights", 'w', OPTION_TEXT, "FILE",
     "Weights, as safetensors. They also give the model's shape.",
     offsetof(model_settings, weights)},
    {"input", 'i', OPTION_TEXT, "FILE",
     "The model's first input, as .npy, instead of made-up data. Other inputs: --NAME FILE.",
     offsetof(model_settings, input)},
    {"target", 't', OPTION_TEXT, "FILE",
     "What the output should be, as .npy: needed for the backward pass on data of your own.",
     offsetof(model_settings, target)},
    {"graph", 'g', OPTION_TEXT, "DIR",
     "The inputs nodes, edges and graphs, from a folder of OGB's raw tables.",
     offsetof(model_settings, graph)},
    {"dataset", 'd', OPTION_TEXT, "NAME",
     "Graphs of a known dataset, peptides_func or peptides_struct: --batch-size of them.",
     offsetof(model_settings, profile.dataset)},
    {"data-dir", 'D', OPTION_TEXT, "DIR",
     "Where its files are (default: data; without any there, --synthetic).",
     offsetof(model_settings, profile.data_dir)},
    {"synthetic", 0, OPTION_FLAG, NULL,
     "Made-up graphs of the dataset's published average size instead of its files.",
     offsetof(model_settings, profile.synthetic)},
    {"loss", 0, OPTION_TEXT, "NAME",
     "Loss of backward passes: mse, l1, bce (of logits) or cross-entropy (default: mse).",
     offsetof(model_settings, profile.loss)},
    {"optimizer", 0, OPTION_TEXT, "NAME",
     "Optimizer of training steps: adam, adamw, sgd or momentum (default: adam).",
     offsetof(model_settings, profile.optimizer)},
    {"num-runs", 'n', OPTION_COUNT, "N", "Timed runs of each pass (default: 100).",
     offsetof(model_settings, profile.num_runs)},
    {"warmup-runs", 'W', OPTION_NUMBER, "N", "Runs before them (default: 10).",
     offsetof(model_settings, profile.warmup_runs)},
    {"forecast-steps", 'f', OPTION_COUNT, "N",
     "Steps of a whole forecast, of models that forecast (default: 100).",
     offsetof(model_settings, profile.forecast_steps)},
    {"scaling", 'S', OPTION_LIST, "AXIS",
     "What to grow: nodes, layers, hidden, batch, encodings, or any size of the model; several "
     "separated by commas. Implies the part scaling.",
     offsetof(model_settings, profile.axes)},
    {"sizes", 0, OPTION_TEXT, "LIST",
     "The sizes for one such axis: 100,200,400 (default: five around the model's own).",
     offsetof(model_settings, profile.sizes)},
    {"budget", 'b', OPTION_SECONDS, "TIME", "Time to measure each axis for (default: 5s).",
     offsetof(model_settings, profile.budget_seconds)},
    {"seed", 's', OPTION_NUMBER, "N", "Seed of initial weights and made-up data (default: 42).",
     offsetof(model_settings, seed)},
    {"threads", 'T', OPTION_COUNT, "N", "Threads for the arithmetic (default: 1, at most 256).",
     offsetof(model_settings, threads)},
    {"device", 0, OPTION_TEXT, "DEVICE",
     "Where the arithmetic runs: cpu, or a CUDA device such as cuda:0 (default: cpu).",
     offsetof(model_settings, device)},
    {"json", 'j', OPTION_TEXT, "FILE", "Write the profile as JSON; '-' is standard output.",
     offsetof(model_settings, json)},
    {"record", 'r', OPTION_TEXT, "FILE",
     "Write everything as a run record, for 'assay compare' and 'assay report'.",
     offsetof(model_settings, profile.record)},
    {"runtime-profile", 'R', OPTION_TEXT, "FILE",
     "Write a forecasting model's runtime profile: training, inference, memory, complexity.",
     offsetof(model_settings, profile.runtime_profile)},
    HISTORY_SAVE_OPTION(model_settings, profile.save),
};

static const struct part {
    const char *name;
    unsigned bit;
} parts[] = {{"runtime", ASSAY__PROFILE_RUNTIME},
             {"memory", ASSAY__PROFILE_MEMORY},
             {"flops", ASSAY__PROFILE_FLOPS},
             {"scaling", ASSAY__PROFILE_SCALING}};
enum { PARTS = sizeof parts / sizeof *parts };

static bool add_part(const char *word, unsigned *chosen)
{
    for (size_t i = 0; i < PARTS; i++)
        if (strcmp(parts[i].name, word) == 0) {
            *chosen |= parts[i].bit;
            return true;
        }
    const char *nearest = assay__nearest(word, &parts->name, PARTS, sizeof *parts);
    message_error("assay profile: unknown part '%s'; %s%s%s", word,
                  nearest != NULL ? "did you mean '"
                                  : "there are runtime, memory, flops and scaling",
                  nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
    return false;
}

static const char *choice(const void *context, const option *of, size_t index, const char **help)
{
    if (of != NULL && strcmp(of->name, "profile") != 0)
        return model_job_choice(context, of, index, help);
    return index < PARTS ? parts[index].name : NULL;
}

/* Call `take` with each word of a list separated by commas. */
static bool each_word(const char *list, bool (*take)(void *context, const char *word),
                      void *context)
{
    char *copy = strdup(list), *rest = copy, *word;
    bool good = copy != NULL;
    if (!good)
        message_error("assay profile: out of memory");
    while (good && (word = strsep(&rest, ",")) != NULL)
        good = take(context, word);
    free(copy);
    return good;
}

static bool take_part(void *context, const char *word)
{
    return add_part(word, context);
}

static bool choose_parts(const profile_settings *asked, char **operands, int count,
                         unsigned *chosen)
{
    *chosen = asked->axes.count > 0 ? ASSAY__PROFILE_SCALING : 0;
    unsigned named = 0;
    for (size_t i = 0; i < asked->parts.count; i++)
        if (!each_word(asked->parts.items[i], take_part, &named))
            return false;
    for (int i = 0; i < count; i++)
        if (!each_word(operands[i], take_part, &named))
            return false;
    *chosen |= named != 0 ? named : *chosen == 0 ? DEFAULT_PARTS : 0;
    if (asked->runtime_profile != NULL)
        *chosen |= ASSAY__PROFILE_RUNTIME;
    return true;
}

/* ---- axes ---- */

typedef struct axes {
    const model_job *job;
    assay__axis list[ASSAY__AXES_MAX];
    size_t count;
} axes;

static bool take_axis(void *context, const char *word)
{
    axes *self = context;
    assay_error error = {0};
    if (self->count == ASSAY__AXES_MAX || strlen(word) >= ASSAY__AXIS_NAME) {
        message_error("assay profile: too much in '--scaling'");
        return false;
    }
    if (assay__axis_check(self->job->class_, word, &error) != ASSAY_OK) {
        message_error("assay profile: %s", error.message);
        return false;
    }
    for (size_t i = 0; i < self->count; i++)
        if (assay__axis_same(self->job->class_, self->list[i].name, word)) {
            message_error("assay profile: '--scaling' names '%s' twice", word);
            return false;
        }
    strcpy(self->list[self->count++].name, word);
    return true;
}

static bool take_size(void *context, const char *word)
{
    assay__axis *axis = context;
    char *end = NULL;
    double size = strtod(word, &end);
    if (end == word || *end != '\0' || !(size > 0 && size <= 1e15) ||
        axis->count == ASSAY__AXIS_SIZES_MAX) {
        message_error("assay profile: '%s' of '--sizes' is not a size; write: --sizes 100,200,400",
                      word);
        return false;
    }
    axis->sizes[axis->count++] = size;
    return true;
}

static bool choose_axes(axes *self, unsigned chosen)
{
    const profile_settings *asked = &self->job->settings->profile;
    for (size_t i = 0; i < asked->axes.count; i++)
        if (!each_word(asked->axes.items[i], take_axis, self))
            return false;
    if (self->count == 0 && (chosen & ASSAY__PROFILE_SCALING) != 0 && asked->sizes == NULL)
        self->count = assay__axes_default(self->job->class_, self->list);
    if (asked->sizes == NULL)
        return true;
    if (self->count != 1) {
        message_error("assay profile: '--sizes' belongs to one axis; name it: --scaling nodes "
                      "--sizes %s",
                      asked->sizes);
        return false;
    }
    return each_word(asked->sizes, take_size, &self->list[0]);
}

/* ---- the measurement ---- */

static void show_stage(void *context, const char *stage)
{
    (void)context;
    fprintf(stderr, "\r\033[Kassay profile: measuring %s", stage);
}

static int write_outputs(const model_job *job, const assay_record *record,
                         const assay_runtime_profile *forecast)
{
    const profile_settings *asked = &job->settings->profile;
    assay_error error = {0};
    assay_status status = ASSAY_OK;
    if (job->settings->json != NULL)
        status = assay_file_save(job->settings->json, assay__profile_print_json, record, &error);
    if (status == ASSAY_OK && asked->runtime_profile != NULL)
        status = assay_save_profile(forecast, asked->runtime_profile, &error);
    if (status == ASSAY_OK && asked->record != NULL)
        status = assay_record_save(record, asked->record, 0, &error);
    int code = output_check("profile", status, &error) ? EX_OK : message_output_exit(status);
    int saved = history_save("profile", asked->save, record);
    return code != EX_OK ? code : saved;
}

static bool to_stdout(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

/* The index of a word among the choices, which end with NULL; -1 after a message. If the word is
 * NULL, the first choice is taken. */
static int index_of(const char *name, const char *word, const char *const *words)
{
    size_t count = 0;
    for (; words[count] != NULL; count++)
        if (word == NULL || strcmp(word, words[count]) == 0)
            return (int)count;
    const char *nearest = assay__nearest(word, words, count, sizeof *words);
    message_error("assay profile: --%s cannot be '%s'; %s '%s'%s", name, word,
                  nearest != NULL ? "did you mean" : "there is",
                  nearest != NULL ? nearest : words[0],
                  nearest != NULL ? "?" : " and others, see --help");
    return -1;
}

static int measure(model_job *job, const char *data, unsigned chosen, const axes *grown)
{
    const profile_settings *asked = &job->settings->profile;
    int loss = index_of("loss", asked->loss, assay__loss_names);
    int optimizer = index_of("optimizer", asked->optimizer, assay__optimizer_names);
    if (loss < 0 || optimizer < 0)
        return EX_USAGE;
    assay__profile_plan plan = {.parts = chosen,
                                .model = job->model,
                                .inputs = job->inputs,
                                .target = job->target.data != NULL ? &job->target : NULL,
                                .data = data,
                                .loss = (assay_loss)loss,
                                .optimizer = (assay_optimizer)optimizer,
                                .num_runs = asked->num_runs,
                                .warmup_runs = (size_t)asked->warmup_runs.value,
                                .no_warmup =
                                    asked->warmup_runs.given && asked->warmup_runs.value == 0,
                                .forecast_steps = (int64_t)asked->forecast_steps,
                                .threads = job->settings->threads > 0 ? job->settings->threads : 1,
                                .seed = job->settings->seed.value,
                                .axes = grown->list,
                                .axis_count = grown->count,
                                .budget_seconds = asked->budget_seconds};
    bool shown = bench_progress_wanted();
    plan.progress = shown ? show_stage : NULL;
    assay_record *record = NULL;
    assay_runtime_profile forecast;
    assay_error error = {0};
    assay_status status = assay__profile_run(&plan, &error, &record, &forecast);
    if (shown)
        fputs("\r\033[K", stderr);
    if (status != ASSAY_OK)
        return model_fail(job, status, &error);
    if (!to_stdout(job->settings->json) && !to_stdout(asked->record) &&
        !to_stdout(asked->runtime_profile))
        assay__profile_print(record, stdout);
    int code = write_outputs(job, record, &forecast);
    assay_record_free(record);
    return code;
}

/* Run the model once, with every check of its inputs. After this, its functions are called without
 * checks. */
static int try_once(model_job *job)
{
    assay_error error = {0};
    assay_tensor output;
    assay_status status =
        assay_model_forward(job->model, job->inputs, job->class_->input_count, &error, &output);
    return status == ASSAY_OK ? EX_OK : model_fail(job, status, &error);
}

/* The average degree of the made-up graphs. */
enum { EDGES_PER_NODE = 5 };

static int profile_model(model_job *job, unsigned chosen, const axes *grown)
{
    profile_dataset dataset = {0};
    bool named = job->settings->profile.dataset != NULL;
    bool own = job->settings->input != NULL || job->settings->graph != NULL;
    if (!named)
        profile_dataset_scale_edges(&dataset, job, EDGES_PER_NODE);
    int code = named ? profile_dataset_open(&dataset, job) : EX_OK;
    if (code == EX_OK)
        code = model_setup_create(job);
    if (code == EX_OK && named && !dataset.is_made_up) {
        job->inputs = calloc(job->class_->input_count, sizeof *job->inputs);
        if (job->inputs == NULL)
            code = EX_OSERR;
        else
            profile_dataset_give(&dataset, job);
    } else if (code == EX_OK) {
        code = model_setup_inputs(job, true);
        if (code == EX_OK && !job->example && job->settings->target != NULL)
            code = model_setup_target(job);
    }
    if (code == EX_OK)
        code = try_once(job);
    if (code == EX_OK)
        code = measure(job,
                       named          ? dataset.note
                       : own          ? "your own"
                       : job->example ? "made up by the model"
                                      : "your own",
                       chosen, grown);
    profile_dataset_release(&dataset);
    return code;
}

static bool asked_sensibly(const model_job *job)
{
    const model_settings *settings = job->settings;
    const profile_settings *asked = &settings->profile;
    const char *wrong = NULL;
    if (settings->model == NULL)
        wrong = "name a model: --model NAME; 'assay model list' shows them";
    else if (asked->dataset != NULL && (settings->input != NULL || settings->graph != NULL))
        wrong = "give --dataset, or --graph or --input, not both";
    else if (asked->dataset == NULL && (asked->synthetic || asked->data_dir != NULL))
        wrong = "--synthetic and --data-dir belong to a dataset; name it: --dataset peptides_func";
    else if (asked->runtime_profile != NULL && job->class_->forecast == NULL)
        wrong = "--runtime-profile is for models that forecast, such as mvar and lstm";
    else if (asked->num_runs == 1)
        wrong = "--num-runs must be at least 2: one run says nothing about the next";
    if (wrong != NULL)
        message_error("assay profile: %s", wrong);
    return wrong == NULL;
}

static int work(model_job *job, char **operands, int count)
{
    unsigned chosen = 0;
    axes grown = {.job = job};
    if (!asked_sensibly(job) || !choose_parts(&job->settings->profile, operands, count, &chosen) ||
        !choose_axes(&grown, chosen))
        return EX_USAGE;
    const char *outputs[] = {job->settings->json, job->settings->profile.record,
                             job->settings->profile.runtime_profile};
    int code = output_refuse("profile", outputs, 3);
    if (code == EX_OK)
        code = history_refuse("profile", job->settings->profile.save);
    if (code != EX_OK)
        return code;
    if (!job->settings->seed.given)
        job->settings->seed.value = 42;
    return profile_model(job, chosen, &grown);
}

static int profile_main(const command *self, int argc, char **argv)
{
    return model_job_run(self, argc, argv, work);
}

const command command_profile = {
    .name = "profile",
    .summary = PROFILE_SUMMARY,
    .operands = "[PART...]",
    .description =
        "runtime  forward pass, backward pass and training step, timed one by one; of\n"
        "         models that forecast, also a step and a whole forecast.\n"
        "memory   what the model holds after a training step, by use, to the byte.\n"
        "flops    the arithmetic by component, as assay, PyTorch, fvcore and DeepSpeed\n"
        "         count it; with runtime, the rate and its share of the machine's peak.\n"
        "scaling  the forward pass at several sizes, and the class of its growth.\n"
        "The model makes up its data unless given some. Its settings and inputs become\n"
        "options: see 'assay profile --model NAME --help'.",
    COMMAND_OPTIONS(profile_options),
    .print_more = model_print_classes,
    .choice = choice,
    .complete = model_job_complete,
    .main = profile_main,
};
