/* The frame of every study. The state of a study, which is the identity of its plan and the names
 * of the steps that have ended, is kept in .study/study.json and written anew after each step. */
#include "studies/common/frame.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "assay/clock.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "studies/common/json_file.h"

enum { MAX_STEPS = 64, MAX_PATH = 4096, MAX_NAMES_BYTES = 8 << 20 };
enum { BAR = 20 };

static const uint64_t redraw_ns = 100000000;

struct assay__study {
    assay__study_plan plan;
    assay__arena *names;
    bool done[MAX_STEPS];
    size_t resumed;
    size_t open;        /* the open step, or step_count if there is none */
    double done_before; /* weight of the steps that ended before this run */
    uint64_t start_ns;
    uint64_t drawn_ns;
    bool drawn;
};

static uint64_t now_ns(void)
{
    return assay_clock_now_ns(assay_clock_default());
}

/* ---- folders ---- */

/* Make a folder and its parents, as mkdir -p does. */
static assay_status make_folders(const char *path, assay_error *error)
{
    char partial[MAX_PATH];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof partial)
        return assay__fail(error, ASSAY_E_ARGUMENT, "'%.100s' is no path for results", path);
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(partial, path, i);
        partial[i] = '\0';
        struct stat info;
        if (mkdir(partial, 0777) != 0 && errno != EEXIST)
            return assay__fail_errno(error, "cannot make the folder '%s'", partial);
        if (stat(partial, &info) != 0 || !S_ISDIR(info.st_mode))
            return assay__fail(error, ASSAY_E_IO, "'%s' is in the way: it is no folder", partial);
    }
    return ASSAY_OK;
}

const char *assay__study_file(assay__study *study, const char *relative, assay_error *error)
{
    char folder[MAX_PATH];
    size_t size = strlen(study->plan.folder) + strlen(relative) + 2;
    char *path = assay__arena_allocate(study->names, size, 1);
    if (path == NULL) {
        assay__fail(error, ASSAY_E_MEMORY, "no memory for the path of '%s'", relative);
        return NULL;
    }
    snprintf(path, size, "%s/%s", study->plan.folder, relative);
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    return make_folders(folder, error) == ASSAY_OK ? path : NULL;
}

/* ---- study.json ---- */

static json_t *state_as_json(const assay__study *study)
{
    json_t *steps = json_array();
    for (size_t i = 0; i < study->plan.step_count; i++)
        if (study->done[i])
            json_array_append_new(steps, json_string(study->plan.steps[i].name));
    return json_pack("{ss, ss, sI, sb, ss, so}", "study", study->plan.study, "experiment",
                     study->plan.experiment, "seed", (json_int_t)study->plan.seed, "quick",
                     (int)study->plan.quick, "settings", study->plan.settings, "finished_steps",
                     steps);
}

static assay_status save_state(assay__study *study, assay_error *error)
{
    const char *path = assay__study_file(study, ".study/study.json", error);
    return path == NULL ? ASSAY_E_IO : assay__json_file_write(state_as_json(study), path, error);
}

static void take_finished_steps(assay__study *study, json_t *names)
{
    size_t index;
    json_t *name;
    json_array_foreach(names, index, name)
    {
        for (size_t i = 0; i < study->plan.step_count; i++) {
            if (json_is_string(name) &&
                strcmp(json_string_value(name), study->plan.steps[i].name) == 0 &&
                !study->done[i]) {
                study->done[i] = true;
                study->resumed++;
            }
        }
    }
}

/* Check that the state in the folder belongs to this plan, and take its finished steps over. */
static assay_status check_state(assay__study *study, json_t *state, const char *path,
                                assay_error *error)
{
    const assay__study_plan *plan = &study->plan;
    const char *kind, *experiment, *settings;
    json_int_t seed;
    int quick;
    json_t *steps;
    if (state == NULL || json_unpack(state, "{ss, ss, sI, sb, ss, so}", "study", &kind,
                                     "experiment", &experiment, "seed", &seed, "quick", &quick,
                                     "settings", &settings, "finished_steps", &steps) != 0)
        return assay__fail(error, ASSAY_E_FORMAT,
                           "'%s' is damaged; --restart begins anew in this folder", path);
    const char *differs = strcmp(kind, plan->study) != 0              ? "another study"
                          : strcmp(experiment, plan->experiment) != 0 ? "another experiment"
                          : (uint64_t)seed != plan->seed              ? "another seed"
                          : (quick != 0) != plan->quick               ? "another --quick"
                          : strcmp(settings, plan->settings) != 0     ? "other settings"
                                                                      : NULL;
    if (differs != NULL)
        return assay__fail(error, ASSAY_E_STATE,
                           "the folder '%s' belongs to study '%s', experiment '%s' with %s;"
                           " choose another --out, or --restart to begin anew in it",
                           plan->folder, kind, experiment, differs);
    take_finished_steps(study, steps);
    return ASSAY_OK;
}

/* Make the folder of the results. If there can be no such folder, the status is ASSAY_E_STATE, as
 * it is for a folder that belongs to something else. A full disk keeps its own status. */
static assay_status make_results_folder(const assay__study *study, assay_error *error)
{
    assay_status status = make_folders(study->plan.folder, error);
    if (status != ASSAY_E_IO && status != ASSAY_E_PERMISSION && status != ASSAY_E_NOT_FOUND)
        return status;
    if (error != NULL)
        error->status = ASSAY_E_STATE;
    return ASSAY_E_STATE;
}

static assay_status load_state(assay__study *study, assay_error *error)
{
    assay_status made = make_results_folder(study, error);
    if (made != ASSAY_OK)
        return made;
    const char *path = assay__study_file(study, ".study/study.json", error);
    struct stat info;
    if (path == NULL)
        return ASSAY_E_IO;
    if (stat(path, &info) != 0 || study->plan.restart)
        return save_state(study, error);
    json_t *state = NULL;
    assay_status status = assay__json_file_read(path, error, &state);
    if (status == ASSAY_OK || status == ASSAY_E_FORMAT)
        status = check_state(study, state, path, error);
    json_decref(state);
    return status;
}

/* ---- life ---- */

static bool plain_name(const char *name)
{
    return name != NULL && *name != '\0' && *name != '.' && strchr(name, '/') == NULL &&
           strlen(name) <= ASSAY__NAME_MAX;
}

assay_status assay__study_open(const assay__study_plan *plan, assay_error *error,
                               assay__study **study)
{
    *study = NULL;
    if (!plain_name(plan->experiment))
        return assay__fail(error, ASSAY_E_ARGUMENT, "'%.100s' is no name for an experiment",
                           plan->experiment != NULL ? plan->experiment : "");
    if (plan->step_count > MAX_STEPS)
        return assay__fail(error, ASSAY_E_LIMIT, "a study has at most %d steps", MAX_STEPS);
    assay__study *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory");
    fresh->plan = *plan;
    fresh->open = plan->step_count;
    fresh->start_ns = now_ns();
    fresh->names = assay__arena_new(MAX_NAMES_BYTES);
    assay_status status = fresh->names == NULL ? assay__fail(error, ASSAY_E_MEMORY, "out of memory")
                                               : load_state(fresh, error);
    if (status != ASSAY_OK) {
        assay__study_free(fresh);
        return status;
    }
    for (size_t i = 0; i < plan->step_count; i++)
        fresh->done_before += fresh->done[i] ? plan->steps[i].weight : 0;
    *study = fresh;
    return ASSAY_OK;
}

void assay__study_free(assay__study *study)
{
    if (study == NULL)
        return;
    assay__study_quiet(study);
    assay__arena_free(study->names);
    free(study);
}

const assay__study_plan *assay__study_plan_of(const assay__study *study)
{
    return &study->plan;
}

bool assay__study_done(const assay__study *study, size_t step)
{
    return study->done[step];
}

size_t assay__study_resumed(const assay__study *study)
{
    return study->resumed;
}

/* ---- progress ---- */

void assay__study_quiet(assay__study *study)
{
    if (study->drawn)
        fputs("\r\033[K", study->plan.progress);
    study->drawn = false;
}

static void draw(assay__study *study, double share)
{
    const assay__study_plan *plan = &study->plan;
    double total = 0, over = 0;
    for (size_t i = 0; i < plan->step_count; i++) {
        total += plan->steps[i].weight;
        over += study->done[i] ? plan->steps[i].weight : 0;
    }
    over += share * plan->steps[study->open].weight;
    double part = total > 0 ? fmin(over / total, 1) : 0;
    double elapsed = (double)(now_ns() - study->start_ns) * 1e-9;
    double own = over - study->done_before;
    char bar[BAR + 1], left[32] = "";
    for (int i = 0; i < BAR; i++)
        bar[i] = i < (int)(part * BAR) ? '=' : i == (int)(part * BAR) ? '>' : ' ';
    bar[BAR] = '\0';
    if (own > 0 && elapsed > 0.5)
        snprintf(left, sizeof left, ", %.0f s left", ceil(elapsed * (total - over) / own));
    fprintf(plan->progress, "\r[%s] %3.0f%% %.40s%s\033[K", bar, 100 * part,
            plan->steps[study->open].name, left);
    fflush(plan->progress);
    study->drawn = true;
    study->drawn_ns = now_ns();
}

void assay__study_begin(assay__study *study, size_t step)
{
    study->open = step;
    if (study->plan.progress != NULL)
        draw(study, 0);
}

bool assay__study_stopped(const assay__study *study)
{
    return study->plan.stop != NULL && *study->plan.stop != 0;
}

bool assay__study_advance(assay__study *study, double share)
{
    if (study->plan.progress != NULL && study->open < study->plan.step_count &&
        now_ns() - study->drawn_ns > redraw_ns)
        draw(study, fmin(fmax(share, 0), 1));
    return !assay__study_stopped(study);
}

assay_status assay__study_end(assay__study *study, assay_error *error)
{
    if (study->open >= study->plan.step_count)
        return assay__fail(error, ASSAY_E_STATE, "no step is open");
    study->done[study->open] = true;
    study->open = study->plan.step_count;
    return save_state(study, error);
}

assay_status assay__study_interrupted(assay__study *study, assay_error *error)
{
    size_t done = 0;
    for (size_t i = 0; i < study->plan.step_count; i++)
        done += study->done[i];
    assay__study_quiet(study);
    return assay__fail(
        error, ASSAY_E_STATE,
        "interrupted after %zu of %zu steps; what they found is in '%s', and the same "
        "command goes on from there",
        done, study->plan.step_count, study->plan.folder);
}
