/* Memory that is freed all at once, with a declared maximum. */
#ifndef ASSAY_BASE_ARENA_H
#define ASSAY_BASE_ARENA_H

#include <stddef.h>

typedef struct assay__arena assay__arena;

/* NULL when out of memory. At most `maximum` bytes are ever handed out. */
assay__arena *assay__arena_new(size_t maximum);
void assay__arena_free(assay__arena *arena);

/* Zeroed, aligned for any type. NULL when out of memory, past the maximum, or when count * size
 * overflows. */
void *assay__arena_allocate(assay__arena *arena, size_t count, size_t size);

#endif
