/* Zeroed memory for large objects of which only a small part is used: a page takes memory only once
 * it is touched. calloc() does not promise this, because it writes zeros into memory that it
 * reuses. */
#ifndef ASSAY_BASE_SPARSE_H
#define ASSAY_BASE_SPARSE_H

#include <stddef.h>

/* Returns NULL when out of memory. Free the result with assay__sparse_free(). */
void *assay__sparse_new(size_t bytes);

/* `bytes` must be the number that was passed to assay__sparse_new(). NULL is accepted. */
void assay__sparse_free(void *memory, size_t bytes);

#endif
