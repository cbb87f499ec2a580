/* Checks the inputs of a pass and puts them in the order of the class. The caller names its inputs
 * and may give them in any order. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "models/model.h"
#include "models/problems.h"

static const char *element_name(assay_element element)
{
    return element == ASSAY_F32   ? "float32"
           : element == ASSAY_F64 ? "float64"
           : element == ASSAY_I64 ? "int64"
                                  : "no known type";
}

const char *assay__shape_text(uint32_t rank, const int64_t *shape, char text[ASSAY__SHAPE_TEXT])
{
    size_t used = (size_t)snprintf(text, ASSAY__SHAPE_TEXT, "(");
    for (uint32_t axis = 0; axis < rank && used < ASSAY__SHAPE_TEXT; axis++) {
        used += (size_t)snprintf(text + used, ASSAY__SHAPE_TEXT - used, "%s%lld",
                                 axis > 0 ? ", " : "", (long long)shape[axis]);
    }
    if (used < ASSAY__SHAPE_TEXT)
        snprintf(text + used, ASSAY__SHAPE_TEXT - used, ")");
    return text;
}

/* Returns the index of the first value that is not finite, or -1. A float is NaN or infinite if all
 * bits of its exponent are ones. The test uses integers, so that the compiler vectorises it, and
 * takes 4096 values at a time, so that a bad value is found soon. */
static int64_t first_not_finite_float(const float *values, int64_t count)
{
    for (int64_t start = 0; start < count; start += 4096) {
        int64_t end = count - start < 4096 ? count : start + 4096;
        uint32_t found = 0;
        for (int64_t i = start; i < end; i++) {
            uint32_t bits;
            memcpy(&bits, &values[i], sizeof bits);
            found |= (bits & 0x7F800000u) == 0x7F800000u;
        }
        for (int64_t i = start; found != 0; i++)
            if (!isfinite(values[i]))
                return i;
    }
    return -1;
}

static int64_t first_not_finite_double(const double *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return i;
    return -1;
}

assay_status assay__tensor_check_finite(const assay_tensor *tensor, const char *name,
                                        assay_error *error)
{
    int64_t count = assay_tensor_count(tensor), found = -1;
    if (tensor->element == ASSAY_F32)
        found = first_not_finite_float(tensor->data, count);
    else if (tensor->element == ASSAY_F64)
        found = first_not_finite_double(tensor->data, count);
    if (found < 0)
        return ASSAY_OK;
    double value = tensor->element == ASSAY_F32 ? (double)((const float *)tensor->data)[found]
                                                : ((const double *)tensor->data)[found];
    int64_t position[ASSAY_TENSOR_MAX_RANK], rest = found;
    for (uint32_t axis = tensor->rank; axis-- > 0;) {
        position[axis] = rest % tensor->shape[axis];
        rest /= tensor->shape[axis];
    }
    char text[ASSAY__SHAPE_TEXT];
    return assay__fail(error, ASSAY_E_DATA, "%s holds %s at %s; values have to be finite numbers",
                       name,
                       isnan(value) ? "NaN"
                       : value > 0  ? "infinity"
                                    : "-infinity",
                       assay__shape_text(tensor->rank, position, text));
}

static void check_kind(const assay_model_input *declared, const assay_tensor *given,
                       assay__problems *problems)
{
    char text[ASSAY__SHAPE_TEXT];
    if (given->element != declared->element) {
        assay__problems_add(problems, "'%s' holds %s, not %s", declared->name,
                            element_name(given->element), element_name(declared->element));
    }
    if (given->rank > ASSAY_TENSOR_MAX_RANK) {
        assay__problems_add(problems, "'%s' has %u axes", declared->name, given->rank);
        return;
    }
    bool bad = given->rank != declared->rank;
    for (uint32_t axis = 0; axis < given->rank; axis++)
        bad |= given->shape[axis] < 0;
    if (bad) {
        assay__problems_add(problems, "'%s' has shape %s, expected is %s", declared->name,
                            assay__shape_text(given->rank, given->shape, text), declared->help);
    }
}

static void place(assay_model *model, const assay_tensor *given, assay__problems *problems)
{
    const assay_model_class *class_ = model->class_;
    if (given->data == NULL)
        return; /* an input without data counts as left out */
    const char *name = given->name != NULL ? given->name : class_->inputs[0].name;
    for (size_t i = 0; i < class_->input_count; i++) {
        if (strcmp(class_->inputs[i].name, name) != 0)
            continue;
        if (model->inputs[i].data != NULL) {
            assay__problems_add(problems, "'%s' is given twice", name);
            return;
        }
        model->inputs[i] = *given;
        model->inputs[i].name = class_->inputs[i].name;
        check_kind(&class_->inputs[i], given, problems);
        return;
    }
    assay__problems_add(problems, "there is no input '%s'", name);
}

assay_status assay__inputs_match(assay_model *model, const assay_tensor *inputs, size_t count,
                                 assay_error *error)
{
    const assay_model_class *class_ = model->class_;
    assay__problems problems = {0};
    memset(model->inputs, 0, class_->input_count * sizeof *model->inputs);
    for (size_t i = 0; i < count; i++)
        place(model, &inputs[i], &problems);
    for (size_t i = 0; i < class_->input_count; i++) {
        model->inputs[i].name = class_->inputs[i].name;
        if (model->inputs[i].data == NULL && !class_->inputs[i].optional) {
            assay__problems_add(&problems, "'%s' %s is missing", class_->inputs[i].name,
                                class_->inputs[i].help);
        }
    }
    if (problems.count > 0) {
        return assay__problems_fail(&problems, ASSAY_E_ARGUMENT, error, "inputs of model '%s'",
                                    class_->name);
    }
    for (size_t i = 0; i < class_->input_count; i++) {
        assay_status status =
            model->inputs[i].data == NULL
                ? ASSAY_OK
                : assay__tensor_check_finite(&model->inputs[i], class_->inputs[i].name, error);
        if (status != ASSAY_OK)
            return status;
    }
    return ASSAY_OK;
}
