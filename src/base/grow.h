/* Arrays that double their capacity as they fill. */
#ifndef ASSAY_BASE_GROW_H
#define ASSAY_BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>

/* Make room for `needed` elements. `array` is the address of a pointer to *capacity elements of
 * `size` bytes each; the pointer is NULL while the capacity is 0. Returns false when out of memory;
 * nothing has changed then. If several arrays share one capacity, pass a copy of the capacity for
 * all but the last. */
bool assay__grow(void *array, size_t *capacity, size_t needed, size_t size);

#endif
