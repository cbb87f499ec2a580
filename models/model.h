/* The struct of an instance, and the checks of its inputs. */
#ifndef ASSAY_MODELS_MODEL_H
#define ASSAY_MODELS_MODEL_H

#include "assay/model.h"

struct assay_model {
    const assay_model_class *class_;
    void *state;
    double *settings;     /* option_count values */
    assay_tensor *inputs; /* input_count, in the order of the class; passed to its functions */
};

/* Checks `inputs` and puts them into model->inputs. Inputs are found by name; an input without a
 * name is the first one. They must have the declared element and rank, and floats must be finite.
 * An optional input that is absent has data NULL. ASSAY_E_ARGUMENT names all inputs that are
 * missing, unknown, given twice, or of the wrong element or rank. ASSAY_E_DATA names the first
 * value that is not finite. The model itself has to check index tensors, because only the model
 * knows what they index. */
ASSAY_MUST_USE assay_status assay__inputs_match(assay_model *model, const assay_tensor *inputs,
                                                size_t count, assay_error *error);

/* Checks that all floats of a tensor are finite. ASSAY_E_DATA names the first NaN or infinity and
 * its position; `name` begins the message. */
ASSAY_MUST_USE assay_status assay__tensor_check_finite(const assay_tensor *tensor, const char *name,
                                                       assay_error *error);

/* Returns `status`. Adds a message if it is a failure and the function of the class left no
 * message. */
assay_status assay__model_status(const assay_model_class *class_, assay_status status,
                                 assay_error *error, const char *function);

/* Brings the values and gradients of a model's parameters to the host, so that they may be read and
 * changed. Fails with the error of the device. */
ASSAY_MUST_USE assay_status assay__model_fetch(assay_model *model, assay_error *error);

enum { ASSAY__SHAPE_TEXT = 96 };
/* Writes a shape as "(32, 20, 4)"; returns `text`. */
const char *assay__shape_text(uint32_t rank, const int64_t *shape, char text[ASSAY__SHAPE_TEXT]);

#endif
