/* Trajectories for the reduced-order-model study, whole and reduced. */
#ifndef ASSAY_STUDIES_ROM_DATA_H
#define ASSAY_STUDIES_ROM_DATA_H

#include <stdbool.h>

#include "models/sequence/pod.h"
#include "studies/rom/study.h"

typedef struct assay__rom_data {
    int64_t trajectories, steps, features;
    int64_t train;  /* the first so many trajectories; the others are for the test */
    double *fields; /* (trajectories, steps, features) */
    assay__pod pod;
    double *latent; /* (trajectories, steps, latent_dim), divided by `scale` */
    double scale;   /* root mean square of the first, largest amplitude */
    bool generated;
} assay__rom_data;

/* Load or make up, split, reduce. One trajectory is cut in two: the last fifth is the test. */
ASSAY_MUST_USE assay_status assay__rom_data_prepare(const assay__rom_settings *settings,
                                                    uint64_t seed, bool quick, assay_error *error,
                                                    assay__rom_data *data);
void assay__rom_data_release(assay__rom_data *data);

/* fields (count, features) from scaled amplitudes (count, latent_dim). */
ASSAY_MUST_USE assay_status assay__rom_restore(const assay__rom_data *data, int64_t count,
                                               const double *latent, double *fields);

#endif
