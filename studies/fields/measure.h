/* The trainings of the study "fields", and its epochs in turn. The sampling engine times them, and
 * the results are added to records. */
#ifndef ASSAY_STUDIES_FIELDS_MEASURE_H
#define ASSAY_STUDIES_FIELDS_MEASURE_H

#include "assay/record.h"
#include "studies/common/frame.h"
#include "studies/fields/training.h"

enum { ASSAY__FIELDS_NAME_BYTES = 64 };

/* The name of a training in the record: "MLP on waves". */
void assay__fields_training_name(char name[ASSAY__FIELDS_NAME_BYTES], size_t function,
                                 size_t model);

/* The name of the subject for the epochs of a model: "MLP epoch". */
void assay__fields_epoch_name(char name[ASSAY__FIELDS_NAME_BYTES], size_t model);

/* A step of the study that runs epochs. */
typedef struct assay__fields_step {
    assay__study *study;          /* its open step advances with every epoch */
    assay__fields_points *points; /* of the function to learn */
    uint64_t seed;
    assay_record *found; /* receives the results of the step */
} assay__fields_step;

/* Train the model on the function for `epochs` epochs and test it. Adds to `found` the model, and
 * for "MODEL on FUNCTION" the series "loss" and "epoch_time" and the figures of its accuracy. If
 * the user wants to stop, the status is that of assay__study_interrupted().
 *
 * The epochs of one training do not become a subject, because two studies must not be compared by
 * them: a training is short, and a machine that is busy during it makes all its epochs slower. */
ASSAY_MUST_USE assay_status assay__fields_train(const assay__fields_step *step, size_t function,
                                                size_t model, size_t epochs, assay_error *error);

/* Run `rounds` epochs of each model in turn. Adds a subject for each model to `found`; the sampler
 * leaves out disturbed rounds. The status is as above. */
ASSAY_MUST_USE assay_status assay__fields_take_turns(const assay__fields_step *step, size_t rounds,
                                                     assay_error *error);

#endif
