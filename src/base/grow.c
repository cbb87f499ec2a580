/* Growing arrays by reallocarray(), which also checks the multiplication. The pointer is copied
 * with memcpy(), because the array can have any element type. */
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST = 16 };

bool assay__grow(void *array, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return true;
    size_t larger = *capacity < LEAST ? LEAST : 2 * *capacity;
    larger = larger < needed ? needed : larger;
    void *block;
    memcpy(&block, array, sizeof block);
    block = reallocarray(block, larger, size);
    if (block == NULL)
        return false;
    memcpy(array, &block, sizeof block);
    *capacity = larger;
    return true;
}
