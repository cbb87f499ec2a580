/* The graph datasets that `assay profile` knows by name. It reads their files, or the model makes
 * up graphs of the same size. */
#ifndef ASSAY_CLI_MODELS_PROFILE_DATASET_H
#define ASSAY_CLI_MODELS_PROFILE_DATASET_H

#include "cli/models/model_job.h"

typedef struct profile_dataset {
    char texts[4][32]; /* values of settings that follow from the data */
    char note[160];    /* where the data come from */
    bool is_made_up;   /* there are no tensors: the model makes up its data */
    assay_tensor tensors[3];
    assay_tensor labels; /* data is NULL if there are none */
} profile_dataset;

/* Call this before the model is made: it loads the files of the dataset and sets the options of the
 * model that follow from the data, unless the user typed them. With --synthetic no files are
 * loaded. If there are no files and the user named no folder, a note says that graphs are made up
 * instead. Returns EX_OK, or the exit code after a message. The values of the options belong to
 * `dataset`. */
int profile_dataset_open(profile_dataset *dataset, model_job *job);
/* If the user typed a number of nodes and no number of edges, set `degree` edges for each node.
 * Returns whether it did so. */
bool profile_dataset_scale_edges(profile_dataset *dataset, model_job *job, double degree);
/* Call this after the model was made: it hands the tensors to the job. */
void profile_dataset_give(profile_dataset *dataset, model_job *job);
void profile_dataset_release(profile_dataset *dataset);

#endif
