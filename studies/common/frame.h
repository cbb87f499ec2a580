/* The frame of every study. It provides an output folder from which the study can be resumed,
 * steps, a progress line, and interruption by the user.
 *
 *     assay__study *study = NULL;
 *     status = assay__study_open(&plan, error, &study);
 *     if (!assay__study_done(study, TRAIN)) {
 *         assay__study_begin(study, TRAIN);
 *         for (...) {
 *             ...
 *             if (!assay__study_advance(study, done / total))
 *                 return assay__study_interrupted(study, error);
 *         }
 *         status = assay__study_end(study, error);           now it will not be done again
 *     }
 *     ... load the files that the step left in the folder, and go on ...
 *
 * A step writes its results to files of the folder (assay__study_file) before it ends. A later run
 * with the same plan skips the steps that have ended and reads these files. .study/study.json says
 * which plan the folder belongs to and which steps have ended. A folder of another study,
 * experiment, seed or settings is refused. The content of the files depends only on the plan and
 * the seed, except for the times in them.
 *
 * The progress line goes to plan.progress, which is a terminal, or NULL for no progress line. The
 * report goes to plan.output. A study must be used by one thread. */
#ifndef ASSAY_STUDIES_COMMON_FRAME_H
#define ASSAY_STUDIES_COMMON_FRAME_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/status.h"

typedef struct assay__study_step {
    const char *name; /* "train LSTM": for the progress line and .study/study.json */
    double weight;    /* approximate share of the study's time, in any unit */
} assay__study_step;

typedef struct assay__study_plan {
    const char *study;      /* "rom" */
    const char *experiment; /* name of this run; a plain file name */
    const char *folder;     /* made if missing, with its parents */
    uint64_t seed;
    bool quick;
    bool restart;         /* ignore the results of an earlier run */
    const char *settings; /* all other settings that influence the results, as text */
    const assay__study_step *steps;
    size_t step_count;                 /* at most 64 */
    FILE *output;                      /* the report */
    FILE *progress;                    /* NULL: no progress line */
    const volatile sig_atomic_t *stop; /* not 0 once the user interrupts; may be NULL */
} assay__study_plan;

typedef struct assay__study assay__study;

/* Open a study, or resume it. The plan is copied, but its texts are borrowed. ASSAY_E_ARGUMENT if
 * the experiment is not a plain file name; ASSAY_E_STATE if the folder cannot be made, or belongs
 * to something else, with a message that names it and the remedy; ASSAY_E_FORMAT if
 * .study/study.json is damaged. */
ASSAY_MUST_USE assay_status assay__study_open(const assay__study_plan *plan, assay_error *error,
                                              assay__study **study);
/* Also removes the progress line. */
void assay__study_free(assay__study *study);

/* The plan that the study was opened with. */
const assay__study_plan *assay__study_plan_of(const assay__study *study);

/* Whether the step has ended, in this or an earlier run. `step` is an index into plan.steps. */
bool assay__study_done(const assay__study *study, size_t step);
/* The number of steps that had ended before this run. */
size_t assay__study_resumed(const assay__study *study);

/* Begin a step, which is then the open one. */
void assay__study_begin(assay__study *study, size_t step);
/* Report that `share` of the open step is done (0 to 1). Returns false if the user wants to stop.
 * The call is cheap enough for every batch, as the line is redrawn at most ten times a second. */
bool assay__study_advance(assay__study *study, double share);
/* End the open step, after its files are written, and note this in .study/study.json. */
ASSAY_MUST_USE assay_status assay__study_end(assay__study *study, assay_error *error);

/* Set the error to return after advance() returned false: ASSAY_E_STATE, with a message that says
 * how to continue. */
assay_status assay__study_interrupted(assay__study *study, assay_error *error);
/* Whether the user wants to stop. */
bool assay__study_stopped(const assay__study *study);

/* The path "FOLDER/relative", whose folders are made. It is valid until the study is freed. Returns
 * NULL after a failure, which `error` describes. */
const char *assay__study_file(assay__study *study, const char *relative, assay_error *error);

/* Remove the progress line, before the study itself writes to the terminal. */
void assay__study_quiet(assay__study *study);

#endif
