/* Zeroed memory for large things of which little is touched: only the pages touched cost anything.
 * calloc gives no such promise; it fills memory that it uses again. */
#ifndef ASSAY_BASE_SPARSE_H
#define ASSAY_BASE_SPARSE_H

#include <stddef.h>

/* NULL when there is no memory. */
void *assay__sparse_new(size_t bytes);

/* NULL is accepted. `bytes` as it was asked for. */
void assay__sparse_free(void *memory, size_t bytes);

#endif
