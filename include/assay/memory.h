/* Memory of this process: its resident memory and its heap.
 *
 *     assay_memory memory = ASSAY_INIT(assay_memory);
 *     if (assay_memory_read(&memory) == ASSAY_OK && memory.rss_bytes.validity == ASSAY_VALID)
 *         printf("%.0f bytes resident\n", memory.rss_bytes.value);
 *
 * Heap figures are available if libassay_heap.so is preloaded (`assay run --heap`) or linked.
 *
 * Threads: every call may be made from any thread. Nothing here allocates.
 */
#ifndef ASSAY_MEMORY_H
#define ASSAY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/reading.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct assay_memory {
    size_t struct_size;           /* set by the caller */
    assay_reading rss_bytes;      /* resident now */
    assay_reading peak_rss_bytes; /* highest since the program started or since the last reset */
} assay_memory;

/* Read the resident memory of this process. Takes about 10 µs, nearly all of it for the peak. Linux
 * 6.2 and later counts resident pages in batches on each processor, so both figures may be off by
 * some tens of pages for each processor. Fails only for an argument that is NULL or has a wrong
 * size. A figure that cannot be read is a missing reading. */
ASSAY_API ASSAY_MUST_USE assay_status assay_memory_read(assay_memory *memory);

/* Reset the peak to the present resident memory. This changes the kernel's own figure (VmHWM) for
 * every reader, so no other call of assay does it unless you ask for it.
 * ASSAY_E_PERMISSION or ASSAY_E_UNSUPPORTED if the kernel refuses. */
ASSAY_API ASSAY_MUST_USE assay_status assay_memory_reset_peak(void);

/* Figures of a heap. The bytes of a block are its usable size, as malloc_usable_size() gives it:
 * the memory that the block really takes, without the allocator's header (malloc(1) counts 24 with
 * glibc on 64 bits). realloc counts as one free and one allocation. Memory that does not come from
 * malloc (mmap, sbrk, an allocator linked into the program itself) is not counted. */
typedef struct assay_heap_figures {
    size_t struct_size;        /* set by the caller */
    int64_t live_bytes;        /* allocated and not yet freed, `inherited_bytes` included */
    uint64_t peak_bytes;       /* highest live_bytes; exact with one allocating thread, otherwise
                                  within `peak_bound_bytes` either way */
    uint64_t peak_bound_bytes; /* 64 KiB times the number of threads that ever allocated at the same
                                  time; 0 for one thread */
    uint64_t allocations, frees;
    uint64_t allocated_bytes; /* by all allocations so far */
    int64_t inherited_bytes;  /* live at the fork that made this process; 0 without a fork */
    uint64_t processes;       /* 1, or the number that assay_heap_directory_read() summed up */
} assay_heap_figures;

/* Whether the interposer is in this process and sees the program's allocations. */
ASSAY_API bool assay_heap_available(void);

/* Read the heap figures of this process since its start. The counters of other threads are read
 * while those threads run. So each counter is exact, but their sum does not belong to one point in
 * time. ASSAY_E_UNSUPPORTED without the interposer. Takes about a nanosecond for each thread;
 * threads that have ended count only where no later thread has taken their place. */
ASSAY_API ASSAY_MUST_USE assay_status assay_heap_read(assay_heap_figures *figures);

#ifdef __cplusplus
}
#endif

#endif
