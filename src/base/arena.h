/* An arena: memory that is handed out in pieces, freed all at once, and limited by a declared
 * maximum. */
#ifndef ASSAY_BASE_ARENA_H
#define ASSAY_BASE_ARENA_H

#include <stddef.h>

typedef struct assay__arena assay__arena;

/* Returns NULL when out of memory. The arena never hands out more than `maximum` bytes in total. */
assay__arena *assay__arena_new(size_t maximum);
void assay__arena_free(assay__arena *arena);

/* Returns zeroed memory, aligned for any type, that lives as long as the arena. Returns NULL when
 * out of memory, past the maximum, or when count * size overflows. */
void *assay__arena_allocate(assay__arena *arena, size_t count, size_t size);

#endif
