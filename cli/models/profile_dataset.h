/* Graph datasets of `assay profile` by name: their files, or made-up graphs of their size. */
#ifndef ASSAY_CLI_MODELS_PROFILE_DATASET_H
#define ASSAY_CLI_MODELS_PROFILE_DATASET_H

#include "cli/models/model_job.h"

typedef struct profile_dataset {
    char texts[4][32]; /* settings the data decide, as if typed */
    char note[160];    /* where the data come from */
    bool is_made_up;   /* there are no tensors: the model makes up its data */
    assay_tensor tensors[3];
    assay_tensor labels;
} profile_dataset;

/* Before the model is made: load the files (or not, with --synthetic or where there are none and
 * no folder was named, which is said) and set those of the model's options that nobody typed. EX_OK
 * or the exit code after a message. */
int profile_dataset_open(profile_dataset *dataset, model_job *job);
/* If a number of nodes was typed and no number of edges, set this many edges for each node. Returns
 * whether it did so. */
bool profile_dataset_scale_edges(profile_dataset *dataset, model_job *job, double degree);
/* Call this after the model was made: it hands the tensors to the job. */
void profile_dataset_give(profile_dataset *dataset, model_job *job);
void profile_dataset_release(profile_dataset *dataset);

#endif
