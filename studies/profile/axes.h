/* Axes: the directions in which a model is made larger. An axis has a short name such as "nodes",
 * or the name of an option. */
#ifndef ASSAY_STUDIES_PROFILE_AXES_H
#define ASSAY_STUDIES_PROFILE_AXES_H

#include <stdbool.h>

#include "assay/model_scaling.h"
#include "assay/record.h"

enum { ASSAY__AXES_MAX = 16, ASSAY__AXIS_SIZES_MAX = 64, ASSAY__AXIS_NAME = 32 };

/* If there are no sizes (count 0), sizes around the model's own size are used. */
typedef struct assay__axis {
    char name[ASSAY__AXIS_NAME]; /* "nodes", "layers", "batch", "hidden", "encodings", an option */
    double sizes[ASSAY__AXIS_SIZES_MAX];
    size_t count;
} assay__axis;

/* Check that the class has this axis. ASSAY_E_NOT_FOUND if not; the message names the most similar
 * axis, or all of them. */
ASSAY_MUST_USE assay_status assay__axis_check(const assay_model_class *class_, const char *name,
                                              assay_error *error);

/* The axes to measure if none are named, at most 3. Returns their number. */
size_t assay__axes_default(const assay_model_class *class_, assay__axis axes[ASSAY__AXES_MAX]);

/* Whether both names mean the same axis, such as "nodes" and "num-nodes". */
bool assay__axis_same(const assay_model_class *class_, const char *one, const char *other);

/* Measure the model along the axis and add the results to the record, as view.h describes them. */
ASSAY_MUST_USE assay_status assay__axis_run(const assay_model_factory *factory,
                                            const assay__axis *axis,
                                            const assay_scaling_options *options,
                                            assay_error *error, assay_record *record);

#endif
