/* assay study routes: models of the road that a driver takes next. This file has the options,
 * checks them and calls the study (studies/routes). */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/nearest.h"
#include "cli/common/message.h"
#include "cli/models/study.h"
#include "studies/routes/study.h"

/* Limits of the options. The run record holds every search of every pair of origin and destination,
 * some 60 bytes of JSON each, so MAX_PAIRS pairs take 120 MB. */
enum { MAX_WIDTH = 1024, MAX_EPOCHS = 1000, MAX_PAIRS = 1000000, MODEL_BYTES = 64 };

typedef struct routes_options {
    study_common common;
    const char *models, *od_source, *search, *evaluate, *generation_performance;
    const char *dataset, *geo, *rel, *trajectories, *test, *device;
    option_list model_paths;
    size_t num_gene, beam_width, epochs, roads, drives;
    double compare_seconds;
    bool skip_performance;
} routes_options;

static const option options[] = {
    STUDY_COMMON_OPTIONS(routes_options),
    STUDY_DEVICE_OPTION(routes_options, device),
    {"num-gene", 'n', OPTION_COUNT, "N", "Trajectories to generate (default: 100).",
     offsetof(routes_options, num_gene)},
    {"models", 'm', OPTION_TEXT, "LIST",
     "Models to generate with: vanilla, distilled or both, separated by a comma "
     "(default: vanilla,distilled). The second learns from the first.",
     offsetof(routes_options, models)},
    {"model-path", 0, OPTION_LIST, "FILE",
     "Also generate with these weights, which were trained before; NAME=FILE names "
     "the model. May be given several times. Without --models nothing is trained.",
     offsetof(routes_options, model_paths)},
    {"od-source", 0, OPTION_TEXT, "SOURCE",
     "Whose origins and destinations to take, and what to compare with: the "
     "trajectories to test on or to train on, test or train (default: test).",
     offsetof(routes_options, od_source)},
    {"search", 0, OPTION_TEXT, "KIND", "How routes are searched: beam or greedy (default: beam).",
     offsetof(routes_options, search)},
    {"beam-width", 'b', OPTION_COUNT, "N", "Routes a beam search holds (default: 4).",
     offsetof(routes_options, beam_width)},
    {"epochs", 'e', OPTION_COUNT, "N", "Epochs of each training (default: 12, --quick: 10).",
     offsetof(routes_options, epochs)},
    {"dataset", 0, OPTION_TEXT, "DIR",
     "A folder with the files of the next options: one *.geo, one *.rel, "
     "train.csv and test.csv. A study of a made-up city leaves one.",
     offsetof(routes_options, dataset)},
    {"geo", 0, OPTION_TEXT, "FILE", "Roads of a real network (LibCity's .geo).",
     offsetof(routes_options, geo)},
    {"rel", 0, OPTION_TEXT, "FILE", "Which road follows which (LibCity's .rel).",
     offsetof(routes_options, rel)},
    {"trajectories", 0, OPTION_TEXT, "FILE", "Real trajectories on it.",
     offsetof(routes_options, trajectories)},
    {"test-trajectories", 0, OPTION_TEXT, "FILE",
     "Real trajectories to test on (default: a fifth of --trajectories).",
     offsetof(routes_options, test)},
    {"roads", 0, OPTION_COUNT, "N",
     "Without files: roads of the made-up city (default: 1000, --quick: 300).",
     offsetof(routes_options, roads)},
    {"drives", 0, OPTION_COUNT, "N",
     "Without files: trajectories in it (default: 3000, --quick: 1500).",
     offsetof(routes_options, drives)},
    {"compare-time", 0, OPTION_SECONDS, "TIME",
     "How long the models are compared for (default: 5s, --quick: 2s).",
     offsetof(routes_options, compare_seconds)},
    {"skip-performance", 0, OPTION_FLAG, NULL,
     "Leave generation_performance out of results.json and the report.",
     offsetof(routes_options, skip_performance)},
    {"evaluate", 0, OPTION_TEXT, "FILE",
     "Only evaluate trajectories generated before, here or elsewhere.",
     offsetof(routes_options, evaluate)},
    {"generation-performance", 0, OPTION_TEXT, "FILE",
     "With --evaluate: what they cost, as performance.json of a study has it.",
     offsetof(routes_options, generation_performance)},
};

/* ---- Words ---- */

/* The index of `word` among two words, or -1 after a message. */
static int choose(const char *option_name, const char *word, const char *const words[2])
{
    for (int i = 0; i < 2; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    message_error("assay study routes: --%s takes %s or %s, not '%s'", option_name, words[0],
                  words[1], word);
    return -1;
}

static bool take_model(const char *name, assay__routes_settings *settings)
{
    const char *names[ASSAY__ROUTES_TRAINED];
    for (size_t i = 0; i < ASSAY__ROUTES_TRAINED; i++) {
        names[i] = settings->models[i].name;
        if (strcmp(name, names[i]) == 0) {
            settings->models[i].generates = true;
            return true;
        }
    }
    const char *nearest = assay__nearest(name, names, ASSAY__ROUTES_TRAINED, sizeof *names);
    if (nearest != NULL)
        message_error("assay study routes: unknown model '%s'; did you mean '%s'?", name, nearest);
    else
        message_error(
            "assay study routes: unknown model '%s'; there are %s and %s, and --model-path "
            "brings others",
            name, names[0], names[1]);
    return false;
}

static void ask_for_none(assay__routes_settings *settings)
{
    for (size_t i = 0; i < ASSAY__ROUTES_TRAINED; i++)
        settings->models[i].generates = false;
}

static bool take_models(const char *list, assay__routes_settings *settings)
{
    ask_for_none(settings);
    for (const char *at = list;; at++) {
        char name[MODEL_BYTES];
        size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)(length < MODEL_BYTES ? length : MODEL_BYTES), at);
        if (!take_model(name, settings))
            return false;
        at += length;
        if (*at == '\0')
            return true;
    }
}

/* ---- Weights ---- */

/* The memory for the names of models that are given by their weights. */
typedef struct model_names {
    char text[ASSAY__ROUTES_MAX_MODELS][MODEL_BYTES];
} model_names;

/* Derive the name of a model from the path of its weights: both "DIR/NAME/weights.safetensors" and
 * "DIR/NAME.safetensors" give NAME. */
static void name_of_path(const char *path, char name[MODEL_BYTES])
{
    const char *slash = strrchr(path, '/'), *file = slash != NULL ? slash + 1 : path;
    size_t length = strcspn(file, ".");
    if (slash != NULL && length == 7 && strncmp(file, "weights", 7) == 0) {
        const char *folder = slash;
        while (folder > path && folder[-1] != '/')
            folder--;
        file = folder;
        length = (size_t)(slash - folder);
    }
    snprintf(name, MODEL_BYTES, "%.*s", (int)(length < MODEL_BYTES ? length : MODEL_BYTES), file);
}

static bool is_name(const char *name)
{
    return name[0] != '\0' && name[0] != '.' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
               strlen(name);
}

static bool take_path(const char *given, char name[MODEL_BYTES], assay__routes_settings *settings)
{
    const char *equals = strchr(given, '='), *path = equals != NULL ? equals + 1 : given;
    if (settings->model_count == ASSAY__ROUTES_MAX_MODELS) {
        message_error("assay study routes: at most %d models", ASSAY__ROUTES_MAX_MODELS);
        return false;
    }
    if (equals != NULL)
        snprintf(name, MODEL_BYTES, "%.*s", (int)(equals - given), given);
    else
        name_of_path(path, name);
    if (!is_name(name)) {
        message_error("assay study routes: --model-path '%s' gives the model no name; write "
                      "NAME=FILE",
                      given);
        return false;
    }
    bool trained =
        settings->models[ASSAY__VANILLA].generates || settings->models[ASSAY__DISTILLED].generates;
    for (size_t i = trained ? 0 : ASSAY__ROUTES_TRAINED; i < settings->model_count; i++)
        if (strcmp(settings->models[i].name, name) == 0) {
            message_error("assay study routes: two models are called '%s'; write --model-path "
                          "NAME=FILE",
                          name);
            return false;
        }
    settings->models[settings->model_count++] =
        (assay__routes_model){.name = name, .weights = path, .generates = true};
    return true;
}

static bool take_paths(const routes_options *chosen, model_names *names,
                       assay__routes_settings *settings)
{
    if (chosen->models == NULL && chosen->model_paths.count > 0)
        ask_for_none(settings);
    for (size_t i = 0; i < chosen->model_paths.count; i++)
        if (!take_path(chosen->model_paths.items[i], names->text[i % ASSAY__ROUTES_MAX_MODELS],
                       settings))
            return false;
    return true;
}

/* ---- From options to settings ---- */

static bool within(const char *option_name, size_t value, size_t maximum)
{
    if (value <= maximum)
        return true;
    message_error("assay study routes: --%s is at most %zu", option_name, maximum);
    return false;
}

static size_t given(size_t value, size_t otherwise)
{
    return value > 0 ? value : otherwise;
}

static bool take_words(const routes_options *chosen, model_names *names,
                       assay__routes_settings *settings)
{
    static const char *const sources[] = {"test", "train"}, *const searches[] = {"beam", "greedy"};
    int source = chosen->od_source == NULL ? 0 : choose("od-source", chosen->od_source, sources);
    int search = chosen->search == NULL ? 0 : choose("search", chosen->search, searches);
    if (source < 0 || search < 0)
        return false;
    settings->od_source = source == 0 ? ASSAY_OD_TEST : ASSAY_OD_TRAIN;
    settings->beam_search = search == 0;
    return (chosen->models == NULL || take_models(chosen->models, settings)) &&
           take_paths(chosen, names, settings);
}

static bool settle(const routes_options *chosen, model_names *names,
                   assay__routes_settings *settings)
{
    *settings = assay__routes_settings_of(chosen->common.quick);
    if (!take_words(chosen, names, settings) || !within("num-gene", chosen->num_gene, MAX_PAIRS) ||
        !within("beam-width", chosen->beam_width, MAX_WIDTH) ||
        !within("epochs", chosen->epochs, MAX_EPOCHS))
        return false;
    settings->num_gene = given(chosen->num_gene, settings->num_gene);
    settings->beam_width = (int64_t)given(chosen->beam_width, (size_t)settings->beam_width);
    settings->epochs = (int64_t)given(chosen->epochs, (size_t)settings->epochs);
    settings->source = (assay__routes_source){
        .dataset = chosen->dataset,
        .geo = chosen->geo,
        .rel = chosen->rel,
        .trajectories = chosen->trajectories,
        .test = chosen->test,
        .roads = (int64_t)given(chosen->roads, (size_t)settings->source.roads),
        .drives = (int64_t)given(chosen->drives, (size_t)settings->source.drives)};
    settings->device = chosen->device;
    if (chosen->compare_seconds > 0)
        settings->compare_seconds = chosen->compare_seconds;
    settings->skip_performance = chosen->skip_performance;
    settings->evaluate = chosen->evaluate;
    settings->generation_performance = chosen->generation_performance;
    if (chosen->generation_performance != NULL && chosen->evaluate == NULL) {
        message_error("assay study routes: --generation-performance goes with --evaluate");
        return false;
    }
    return true;
}

static int routes_main(const command *self, int argc, char **argv)
{
    routes_options chosen = {0};
    assay__routes_settings settings;
    int code;
    if (!study_parse(self, argc, argv, &chosen, &chosen.common, &code))
        return code;
    if ((code = study_check_device(self->name, "next_road", chosen.device)) != EX_OK)
        return code;
    model_names names;
    if (!settle(&chosen, &names, &settings))
        return EX_USAGE;
    assay__study_plan plan = study_plan(&chosen.common, "routes", "routes", "assay-routes-study");
    assay_error error = {0};
    assay_status status = assay__routes_study(&plan, &settings, chosen.common.json, &error);
    return study_end(self->name, &chosen.common, &plan, status, &error);
}

const command study_routes = {
    .name = "study routes",
    .summary = "next-road models: trained, searched with, timed, compared",
    .operands = "",
    .description = "Trains a model of which road drivers take next, and a small one that learns\n"
                   "from it; generates trajectories between origins and destinations with both,\n"
                   "timing every search and forward pass; tells how like the real trajectories\n"
                   "they are, and which model generates faster. On real files, or in a city that\n"
                   "is made up from the seed.",
    COMMAND_OPTIONS(options),
    .main = routes_main,
};
