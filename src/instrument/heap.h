/* Heap figures of a span, exact for the thread that runs it. */
#ifndef ASSAY_INSTRUMENT_HEAP_H
#define ASSAY_INSTRUMENT_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct assay__heap_slot;

/* The heap at the begin of a span. The caller stores it together with the span. */
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

/* Begin to measure a span. Takes a few nanoseconds, without a system call, and without an
 * allocation once the thread has allocated before. Marks nest per thread, and the innermost one
 * ends first, on the thread that began it. If a mark is never ended, its enclosing span loses the
 * peak that it had reached before that mark. */
void assay__heap_span_begin(assay__heap_mark *mark);

/* End a span. Returns false and leaves `span` unchanged if there is no interposer or no slot. */
bool assay__heap_span_end(const assay__heap_mark *mark, assay__heap_span *span);

#endif
