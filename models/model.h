/* What an instance is made of, and the checks of what goes into it. */
#ifndef ASSAY_MODELS_MODEL_H
#define ASSAY_MODELS_MODEL_H

#include "assay/model.h"

struct assay_model {
    const assay_model_class *class_;
    void *state;
    double *settings;     /* option_count */
    assay_tensor *inputs; /* input_count, in the class's order: what the functions are given */
};

/* Put `inputs` into model->inputs: found by name (one without a name is the first), of the declared
 * element and rank, floats finite; an absent optional one has data NULL. ASSAY_E_ARGUMENT names all
 * that are missing, unknown, double or of another kind; ASSAY_E_DATA the first value that is not
 * finite. Index tensors are the model's to check: only it knows what they point into. */
ASSAY_MUST_USE assay_status assay__inputs_match(assay_model *model, const assay_tensor *inputs,
                                                size_t count, assay_error *error);

/* ASSAY_E_DATA names the first NaN or infinity and where it stands. */
ASSAY_MUST_USE assay_status assay__tensor_check_finite(const assay_tensor *tensor, const char *name,
                                                       assay_error *error);

/* `status`, with a message if the function of the class left none. */
assay_status assay__model_status(const assay_model_class *class_, assay_status status,
                                 assay_error *error, const char *function);

enum { ASSAY__SHAPE_TEXT = 96 };
/* "(32, 20, 4)"; returns `text`. */
const char *assay__shape_text(uint32_t rank, const int64_t *shape, char text[ASSAY__SHAPE_TEXT]);

#endif
