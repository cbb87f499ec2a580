/* The directions in which a model is made larger, by the names people use for them. */
#ifndef ASSAY_STUDIES_PROFILE_AXES_H
#define ASSAY_STUDIES_PROFILE_AXES_H

#include "assay/flops.h"
#include "assay/model_scaling.h"

enum { ASSAY__AXES_MAX = 16, ASSAY__AXIS_SIZES_MAX = 64, ASSAY__AXIS_NAME = 32 };

/* Without sizes (count 0) some around the model's own are taken. */
typedef struct assay__axis {
    char name[ASSAY__AXIS_NAME]; /* "nodes", "layers", "batch", "hidden", "encodings", an option */
    double sizes[ASSAY__AXIS_SIZES_MAX];
    size_t count;
} assay__axis;

/* What an encoding costs in every pass, and what computing it once does. */
typedef struct assay__encoding_cost {
    assay_pe_config config;
    assay_timing forward, computing; /* count 0: nothing to compute */
    double storage_bytes;
} assay__encoding_cost;

typedef struct assay__axis_result {
    char name[ASSAY__AXIS_NAME];
    assay_scaling *scaling;      /* NULL for encodings */
    assay_record *encodings;     /* else this, and */
    assay__encoding_cost *costs; /* one for each of its subjects */
    size_t cost_count;
} assay__axis_result;

/* Is it a direction of this class? ASSAY_E_NOT_FOUND with the nearest one or all there are. */
ASSAY_MUST_USE assay_status assay__axis_check(const assay_model_class *class_, const char *name,
                                              assay_error *error);

/* What is measured when nobody says: at most 3. Returns how many. */
size_t assay__axes_default(const assay_model_class *class_, assay__axis axes[ASSAY__AXES_MAX]);

/* Release the result afterwards. */
ASSAY_MUST_USE assay_status assay__axis_run(const assay_model_factory *factory,
                                            const assay__axis *axis,
                                            const assay_scaling_options *options,
                                            assay_error *error, assay__axis_result *result);
void assay__axis_release(assay__axis_result *result);

#endif
