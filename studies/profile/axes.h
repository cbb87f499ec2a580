/* The directions in which a model is made larger, by the names people use for them. */
#ifndef ASSAY_STUDIES_PROFILE_AXES_H
#define ASSAY_STUDIES_PROFILE_AXES_H

#include <stdbool.h>

#include "assay/model_scaling.h"
#include "assay/record.h"

enum { ASSAY__AXES_MAX = 16, ASSAY__AXIS_SIZES_MAX = 64, ASSAY__AXIS_NAME = 32 };

/* Without sizes (count 0) some around the model's own are taken. */
typedef struct assay__axis {
    char name[ASSAY__AXIS_NAME]; /* "nodes", "layers", "batch", "hidden", "encodings", an option */
    double sizes[ASSAY__AXIS_SIZES_MAX];
    size_t count;
} assay__axis;

/* Is it a direction of this class? ASSAY_E_NOT_FOUND with the nearest one or all there are. */
ASSAY_MUST_USE assay_status assay__axis_check(const assay_model_class *class_, const char *name,
                                              assay_error *error);

/* What is measured when nobody says: at most 3. Returns how many. */
size_t assay__axes_default(const assay_model_class *class_, assay__axis axes[ASSAY__AXES_MAX]);

/* Do both names mean the same direction ("nodes" and "num-nodes")? */
bool assay__axis_same(const assay_model_class *class_, const char *one, const char *other);

/* Add what was measured to the record, as view.h describes it. */
ASSAY_MUST_USE assay_status assay__axis_run(const assay_model_factory *factory,
                                            const assay__axis *axis,
                                            const assay_scaling_options *options,
                                            assay_error *error, assay_record *record);

#endif
