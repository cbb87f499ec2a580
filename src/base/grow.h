/* Arrays that double as they fill. */
#ifndef ASSAY_BASE_GROW_H
#define ASSAY_BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>

/* `array` is the address of a pointer to *capacity elements of `size` bytes, NULL while that is 0.
 * Make room for `needed` of them. False when out of memory: nothing has changed. Arrays that share
 * a capacity are given copies of it, all but the last. */
bool assay__grow(void *array, size_t *capacity, size_t needed, size_t size);

#endif
