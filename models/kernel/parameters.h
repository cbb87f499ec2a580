/* The trainable tensors of a model. They are first declared by name and shape, and then allocated
 * as one block of values and one block of gradients, so that an optimizer runs over one array.
 *
 *     assay__parameters_init(&parameters);
 *     size_t weight = assay__parameters_add(&parameters, 2, (int64_t[]){out, in}, "fc.weight");
 *     status = assay__parameters_allocate(&parameters, memory);     reports what add() failed at
 *     float *w = assay__parameters_value(&parameters, weight);      (out, in)
 */
#ifndef ASSAY_MODELS_KERNEL_PARAMETERS_H
#define ASSAY_MODELS_KERNEL_PARAMETERS_H

#include "assay/model.h"
#include "base/random.h"
#include "models/kernel/memory.h"

typedef struct assay__parameters {
    assay_model_parameter *list; /* with names, values and gradients */
    size_t count, capacity;
    size_t total;        /* elements of all tensors together */
    float *values;       /* (total) */
    float *gradients;    /* (total) */
    assay_status status; /* the first failure of add() */
} assay__parameters;

void assay__parameters_init(assay__parameters *parameters);
/* Frees the list and its names. The values and gradients belong to the model's memory. */
void assay__parameters_release(assay__parameters *parameters);

/* Declares a tensor and returns its index. A failure is kept in `status` and reported by
 * allocate(). */
ASSAY_PRINTF(4, 5)
size_t assay__parameters_add(assay__parameters *parameters, uint32_t rank, const int64_t *shape,
                             const char *name_format, ...);

/* Takes the two blocks from `memory` and sets the pointers of every declared tensor.
 * ASSAY_E_MEMORY, or the first failure of add(). */
ASSAY_MUST_USE assay_status assay__parameters_allocate(assay__parameters *parameters,
                                                       assay__memory *memory);

/* Returns all tensors, in the order of their declaration; a class's parameters() hands them out.
 * The list belongs to `parameters`. */
const assay_model_parameter *assay__parameters_list(const assay__parameters *parameters,
                                                    size_t *count);

/* The elements, or the gradient, of the tensor with that index. */
float *assay__parameters_value(const assay__parameters *parameters, size_t index);
float *assay__parameters_gradient(const assay__parameters *parameters, size_t index);
void assay__parameters_zero_gradients(assay__parameters *parameters);

/* Draws the elements of one tensor from U(-bound, bound), or sets them to a constant. */
void assay__parameters_uniform(assay__parameters *parameters, size_t index, float bound,
                               assay__random *random);
void assay__parameters_fill(assay__parameters *parameters, size_t index, float value);

/* Returns the tensor of that name and rank among the tensors of a file, or NULL if there is none. A
 * class infers its settings from it. */
const assay_tensor *assay__tensor_find(const assay_tensor *tensors, size_t count, const char *name,
                                       uint32_t rank);

#endif
