/* Functions of tensors, which are plain arrays with a shape: the number of elements, and the
 * release of the data. */
#include <stdlib.h>

#include "assay/model.h"

int64_t assay_tensor_count(const assay_tensor *tensor)
{
    int64_t count = 1;
    for (uint32_t axis = 0; axis < tensor->rank; axis++)
        count *= tensor->shape[axis];
    return count;
}

void assay_tensor_release(assay_tensor *tensor)
{
    free(tensor->data);
    *tensor = (assay_tensor){0};
}
