/* The trajectories of the reduced-order-model study, as fields and as reduced amplitudes. */
#ifndef ASSAY_STUDIES_ROM_DATA_H
#define ASSAY_STUDIES_ROM_DATA_H

#include <stdbool.h>

#include "models/sequence/pod.h"
#include "studies/rom/study.h"

typedef struct assay__rom_data {
    int64_t trajectories, steps, features;
    int64_t train;  /* number of trajectories for training; the others are for the test */
    double *fields; /* (trajectories, steps, features) */
    assay__pod pod;
    double *latent; /* (trajectories, steps, latent_dim), divided by `scale` */
    double scale;   /* root mean square of the first amplitude, the largest */
    bool generated;
} assay__rom_data;

/* Load or make up the trajectories, split them into training and test, and reduce them. A single
 * trajectory is cut into five pieces, of which the last is the test. Free the data with
 * assay__rom_data_release(). */
ASSAY_MUST_USE assay_status assay__rom_data_prepare(const assay__rom_settings *settings,
                                                    uint64_t seed, bool quick, assay_error *error,
                                                    assay__rom_data *data);
void assay__rom_data_release(assay__rom_data *data);

/* Compute fields (count, features) from scaled amplitudes (count, latent_dim). */
ASSAY_MUST_USE assay_status assay__rom_restore(const assay__rom_data *data, int64_t count,
                                               const double *latent, double *fields);

#endif
