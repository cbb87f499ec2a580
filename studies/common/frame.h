/* The frame of every study: an output folder from which it can be resumed, steps, progress,
 * interruption.
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
 *     ... load what the step left in the folder, and go on ...
 *
 * A step leaves its results in files of the folder (assay__study_file) before it ends; a later run
 * with the same plan skips the steps that ended and reads these files. .study/study.json says what
 * the folder belongs to and which steps have ended; a folder of another study, experiment, seed or
 * settings is refused. Files are a function of plan and seed, but for the times in them.
 *
 * Progress goes to plan.progress (a terminal, or NULL for silence) as one line that is redrawn;
 * plan.output gets the report. One thread. */
#ifndef ASSAY_STUDIES_COMMON_FRAME_H
#define ASSAY_STUDIES_COMMON_FRAME_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/status.h"

typedef struct assay__study_step {
    const char *name; /* "train LSTM": shown in the progress line, kept in .study/study.json */
    double weight;    /* share of the study's time, roughly; any unit */
} assay__study_step;

typedef struct assay__study_plan {
    const char *study;      /* "rom" */
    const char *experiment; /* name of this run; a plain file name */
    const char *folder;     /* made if missing, with its parents */
    uint64_t seed;
    bool quick;
    bool restart;         /* drop what an earlier run left */
    const char *settings; /* everything else that decides the results, as text */
    const assay__study_step *steps;
    size_t step_count;                 /* at most 64 */
    FILE *output;                      /* the report */
    FILE *progress;                    /* NULL: none */
    const volatile sig_atomic_t *stop; /* set when the user interrupts; NULL: never */
} assay__study_plan;

typedef struct assay__study assay__study;

/* ASSAY_E_ARGUMENT for a name that is no plain file name; ASSAY_E_STATE for a folder that belongs
 * to something else, with what and the remedy; ASSAY_E_FORMAT for a damaged .study/study.json. The
 * plan's texts are borrowed. */
ASSAY_MUST_USE assay_status assay__study_open(const assay__study_plan *plan, assay_error *error,
                                              assay__study **study);
/* Takes the progress line away. */
void assay__study_free(assay__study *study);

/* The plan it was opened with. */
const assay__study_plan *assay__study_plan_of(const assay__study *study);

/* Did the step end, now or in an earlier run? Steps are indices into the plan's. */
bool assay__study_done(const assay__study *study, size_t step);
/* How many steps had ended before this run. */
size_t assay__study_resumed(const assay__study *study);

void assay__study_begin(assay__study *study, size_t step);
/* `share` of the open step is over (0 to 1). False when the user wants to stop. Cheap enough for
 * every batch: redraws ten times a second. */
bool assay__study_advance(assay__study *study, double share);
/* The open step is over and its files are written; kept in .study/study.json. */
ASSAY_MUST_USE assay_status assay__study_end(assay__study *study, assay_error *error);

/* The status to return when advance() said false: ASSAY_E_STATE, with how to go on. */
assay_status assay__study_interrupted(assay__study *study, assay_error *error);
bool assay__study_stopped(const assay__study *study);

/* "FOLDER/relative", its folders made; valid until the study is freed. NULL after a failure, told
 * in `error`. */
const char *assay__study_file(assay__study *study, const char *relative, assay_error *error);

/* For a study whose own work draws on the terminal: take the progress line away. */
void assay__study_quiet(assay__study *study);

#endif
