/* The offset of a tensor in the blocks is known only when every tensor has been declared. So
 * `value.data` and `gradient` are NULL until assay__parameters_allocate() hands out slices of the
 * two blocks. */
#include "models/kernel/parameters.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "models/kernel/threads.h"

enum { MAX_NAME_BYTES = 256 };

void assay__parameters_init(assay__parameters *parameters)
{
    *parameters = (assay__parameters){.status = ASSAY_OK};
}

void assay__parameters_release(assay__parameters *parameters)
{
    for (size_t i = 0; i < parameters->count; i++)
        free((char *)parameters->list[i].value.name);
    free(parameters->list);
    assay__parameters_init(parameters);
}

static assay_status append(assay__parameters *parameters, assay_tensor tensor)
{
    if (!assay__grow(&parameters->list, &parameters->capacity, parameters->count + 1,
                     sizeof *parameters->list))
        return ASSAY_E_MEMORY;
    int64_t elements = 1;
    for (uint32_t axis = 0; axis < tensor.rank; axis++)
        if (tensor.shape[axis] < 0 ||
            __builtin_mul_overflow(elements, tensor.shape[axis], &elements))
            return ASSAY_E_LIMIT;
    if (__builtin_add_overflow(parameters->total, (size_t)elements, &parameters->total))
        return ASSAY_E_LIMIT;
    parameters->list[parameters->count++] = (assay_model_parameter){.value = tensor};
    return ASSAY_OK;
}

size_t assay__parameters_add(assay__parameters *parameters, uint32_t rank, const int64_t *shape,
                             const char *name_format, ...)
{
    size_t index = parameters->count;
    if (parameters->status != ASSAY_OK)
        return index;
    char text[MAX_NAME_BYTES];
    va_list arguments;
    va_start(arguments, name_format);
    int length = vsnprintf(text, sizeof text, name_format, arguments);
    va_end(arguments);
    char *name = length < MAX_NAME_BYTES ? strdup(text) : NULL;
    if (name == NULL) {
        parameters->status = length < MAX_NAME_BYTES ? ASSAY_E_MEMORY : ASSAY_E_LIMIT;
        return index;
    }
    assay_tensor tensor = {.name = name, .element = ASSAY_F32, .rank = rank};
    memcpy(tensor.shape, shape, rank * sizeof *shape);
    parameters->status = append(parameters, tensor);
    if (parameters->status != ASSAY_OK)
        free(name);
    return index;
}

assay_status assay__parameters_allocate(assay__parameters *parameters, assay__memory *memory)
{
    if (parameters->status != ASSAY_OK)
        return parameters->status;
    parameters->values = assay__memory_floats(memory, ASSAY__PARAMETERS, parameters->total);
    parameters->gradients = assay__memory_floats(memory, ASSAY__GRADIENTS, parameters->total);
    if (parameters->values == NULL || parameters->gradients == NULL)
        return ASSAY_E_MEMORY;
    size_t offset = 0;
    for (size_t i = 0; i < parameters->count; i++) {
        assay_model_parameter *parameter = &parameters->list[i];
        parameter->value.data = parameters->values + offset;
        parameter->gradient = parameters->gradients + offset;
        offset += (size_t)assay_tensor_count(&parameter->value);
    }
    return ASSAY_OK;
}

const assay_model_parameter *assay__parameters_list(const assay__parameters *parameters,
                                                    size_t *count)
{
    *count = parameters->count;
    return parameters->list;
}

float *assay__parameters_value(const assay__parameters *parameters, size_t index)
{
    return parameters->list[index].value.data;
}

float *assay__parameters_gradient(const assay__parameters *parameters, size_t index)
{
    return parameters->list[index].gradient;
}

static void zero(void *values, int64_t first, int64_t count)
{
    memset((float *)values + first, 0, (size_t)count * sizeof(float));
}

void assay__parameters_zero_gradients(assay__parameters *parameters)
{
    enum { GRAIN = 1024, LEAST = 65536 }; /* floats of a part, which take some ten microseconds */
    assay__parallel_ranges((int64_t)parameters->total, GRAIN, LEAST, zero, parameters->gradients);
}

void assay__parameters_uniform(assay__parameters *parameters, size_t index, float bound,
                               assay__random *random)
{
    float *value = assay__parameters_value(parameters, index);
    int64_t count = assay_tensor_count(&parameters->list[index].value);
    for (int64_t i = 0; i < count; i++)
        value[i] = bound * (float)(2 * assay__random_uniform(random) - 1);
}

void assay__parameters_fill(assay__parameters *parameters, size_t index, float value)
{
    float *values = assay__parameters_value(parameters, index);
    int64_t count = assay_tensor_count(&parameters->list[index].value);
    for (int64_t i = 0; i < count; i++)
        values[i] = value;
}

const assay_tensor *assay__tensor_find(const assay_tensor *tensors, size_t count, const char *name,
                                       uint32_t rank)
{
    for (size_t i = 0; i < count; i++)
        if (tensors[i].rank == rank && strcmp(tensors[i].name, name) == 0)
            return &tensors[i];
    return NULL;
}
