/* The trainings of the study "fields" and its epochs in turns. The sampling engine times them, and
 * what they found goes into records. */
#ifndef ASSAY_STUDIES_FIELDS_MEASURE_H
#define ASSAY_STUDIES_FIELDS_MEASURE_H

#include "assay/record.h"
#include "studies/common/frame.h"
#include "studies/fields/training.h"

enum { ASSAY__FIELDS_NAME_BYTES = 64 };

/* What belongs to one training is named so in the record: "MLP on waves". */
void assay__fields_training_name(char name[ASSAY__FIELDS_NAME_BYTES], size_t function,
                                 size_t model);

/* The epochs of a model, as a subject: "MLP epoch". */
void assay__fields_epoch_name(char name[ASSAY__FIELDS_NAME_BYTES], size_t model);

/* A step of the study that runs epochs. */
typedef struct assay__fields_step {
    assay__study *study;          /* its open step advances with every epoch */
    assay__fields_points *points; /* of the function to learn */
    uint64_t seed;
    assay_record *found; /* receives what the step finds */
} assay__fields_step;

/* Train the model on the function for so many epochs and test it. Adds the model, and of "MODEL on
 * FUNCTION" the series "loss" and "epoch_time" and the figures of its accuracy. The status is that
 * of assay__study_interrupted when the user wants to stop.
 *
 * The epochs of one training are no subject that two studies could be compared by: they last for a
 * moment, and a machine that is busy just then makes all of them slow alike. */
ASSAY_MUST_USE assay_status assay__fields_train(const assay__fields_step *step, size_t function,
                                                size_t model, size_t epochs, assay_error *error);

/* Run so many epochs of each model in turns. Adds a subject for each model; the sampler leaves
 * disturbed rounds out. The status is as above. */
ASSAY_MUST_USE assay_status assay__fields_take_turns(const assay__fields_step *step, size_t rounds,
                                                     assay_error *error);

#endif
