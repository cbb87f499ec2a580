/* The trainable tensors of a model: declared by name and shape, then allocated as one block of
 * values and one of gradients, so that an optimizer runs over one array.
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
    assay_model_parameter *list; /* names and gradients included; what a class hands out */
    size_t count, capacity;
    size_t total;     /* elements in all */
    float *values;    /* (total) */
    float *gradients; /* (total) */
    assay_status status;
} assay__parameters;

void assay__parameters_init(assay__parameters *parameters);
/* Frees the table; the values belong to the model's memory. */
void assay__parameters_release(assay__parameters *parameters);

/* Returns the index. A failure is kept and reported by allocate(). */
ASSAY_PRINTF(4, 5)
size_t assay__parameters_add(assay__parameters *parameters, uint32_t rank, const int64_t *shape,
                             const char *name_format, ...);

ASSAY_MUST_USE assay_status assay__parameters_allocate(assay__parameters *parameters,
                                                       assay__memory *memory);

/* What a class's parameters() hands out. */
const assay_model_parameter *assay__parameters_list(const assay__parameters *parameters,
                                                    size_t *count);

float *assay__parameters_value(const assay__parameters *parameters, size_t index);
float *assay__parameters_gradient(const assay__parameters *parameters, size_t index);
void assay__parameters_zero_gradients(assay__parameters *parameters);

/* Draw one parameter from U(-bound, bound) or set it to a constant. */
void assay__parameters_uniform(assay__parameters *parameters, size_t index, float bound,
                               assay__random *random);
void assay__parameters_fill(assay__parameters *parameters, size_t index, float value);

/* The tensor of that name and rank among those of a file, from which a class infers its settings;
 * NULL where there is none. */
const assay_tensor *assay__tensor_find(const assay_tensor *tensors, size_t count, const char *name,
                                       uint32_t rank);

#endif
