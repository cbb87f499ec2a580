/* Heap figures of a span, exact for the thread that runs it. */
#ifndef ASSAY_INSTRUMENT_HEAP_H
#define ASSAY_INSTRUMENT_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct assay__heap_slot;

/* What a span remembers of its begin; lives where the span lives. */
typedef struct assay__heap_mark {
    struct assay__heap_slot *slot; /* NULL: no interposer, or no slot for this thread */
    int64_t level_bytes;
    int64_t outer_high_bytes; /* the enclosing span's highest level until this one began */
    uint64_t allocations, frees;
} assay__heap_mark;

typedef struct assay__heap_span {
    int64_t live_delta_bytes;   /* the thread's live heap, end minus begin */
    uint64_t peak_growth_bytes; /* highest level within the span, above the level at its begin */
    uint64_t allocations, frees;
} assay__heap_span;

/* A few nanoseconds, no system call, no allocation once the thread has allocated before. Marks nest
 * per thread and end innermost first, on the thread that began them; a mark that is never ended
 * hides from its enclosing span the peak that this one reached before it. */
void assay__heap_span_begin(assay__heap_mark *mark);

/* False, and `span` untouched, when there is nothing to measure with. */
bool assay__heap_span_end(const assay__heap_mark *mark, assay__heap_span *span);

#endif
