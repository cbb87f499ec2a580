/* The memory region in which the heap interposer counts. It is private memory, or it is mapped onto
 * a file.
 *
 * The region is the contract between libassay_heap.so (which writes it), libassay (which reads it
 * in the same process, and moves the watermarks of a thread for spans) and readers of the file.
 * docs/heap-file.md describes the bytes. The layout is fixed for ASSAY__HEAP_VERSION.
 *
 * The region has one header and then slots of 128 bytes. A slot belongs to one thread at a time,
 * and only that thread writes it, with plain stores of aligned words. (Atomic types would keep the
 * compiler from adding to memory in one instruction.) All other code reads with ASSAY__HEAP_LOAD. A
 * thread that takes over the slot of an ended thread continues its counts. So nothing has to be
 * merged when a thread ends, and totals are always the sum over all slots. Some threads have no
 * slot: those beyond ASSAY__HEAP_SLOTS at once, and those that free after their thread-local data
 * are gone. They count in the header's shared slot with atomic additions.
 *
 * The level of the whole process is `published_bytes` in the header. A thread publishes when its
 * level has changed by more than ASSAY__HEAP_DRIFT since its last publication: it adds the change,
 * and it raises the peak by its own highest level in between. So the peak is exact with one thread.
 * With several threads it is exact to ASSAY__HEAP_DRIFT for each thread. */
#ifndef ASSAY_INSTRUMENT_HEAP_REGION_H
#define ASSAY_INSTRUMENT_HEAP_REGION_H

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY__HEAP_MAGIC "ASSAYHP" /* with its terminator: 8 bytes */

enum {
    ASSAY__HEAP_VERSION = 2,
    ASSAY__HEAP_SLOTS = 256,
    ASSAY__HEAP_DRIFT = 64 * 1024,
    ASSAY__HEAP_NAME_BYTES = 64,
    /* One page and a bit more. A slot at the very start of a page would have the same low address
     * bits as glibc's per-thread cache. Processors would then treat loads from the one as dependent
     * on stores to the other (4K aliasing), which costs 10 % in a tight malloc/free loop. */
    ASSAY__HEAP_HEADER_BYTES = 4096 + 1536,
    /* The slots for which a new file has room, in two pages. The thread that needs one more extends
     * the file to all slots. */
    ASSAY__HEAP_FIRST_SLOTS = (2 * 4096 - ASSAY__HEAP_HEADER_BYTES) / 128,
/* The largest page size that a kernel of this architecture may have. The file is mapped over the
 * region in whole pages, so nothing else may be in these pages. */
#if defined(__x86_64__)
    ASSAY__HEAP_PAGE_BYTES = 4096
#else
    ASSAY__HEAP_PAGE_BYTES = 64 * 1024
#endif
};

/* assay__heap_header.state */
enum {
    ASSAY__HEAP_RUNNING = 1,
    ASSAY__HEAP_ENDED = 2,   /* the process ran its exit handlers */
    ASSAY__HEAP_REPLACED = 3 /* it called exec, so the kernel freed what was live */
};

/* assay__heap_header.allocator */
enum {
    ASSAY__HEAP_GLIBC = 1,   /* glibc's; block sizes are read from the chunk header */
    ASSAY__HEAP_OTHER = 2,   /* another one behind the interposer; it is asked for block sizes */
    ASSAY__HEAP_BYPASSED = 3 /* the program's calls do not reach the interposer */
};

/* The level of a slot is allocated_bytes - freed_bytes. It is negative if the threads of the slot
 * freed blocks of other threads. */
typedef struct assay__heap_slot {
    alignas(128) int64_t allocated_bytes;
    int64_t freed_bytes;
    uint64_t allocations;
    uint64_t frees;
    int64_t high_bytes;      /* highest level since the last publication or span begin */
    int64_t span_high_bytes; /* highest level before that, within the innermost open span */
    int64_t peak_high_bytes; /* highest level before that, since the last publication */
    int64_t published_bytes; /* the level at the last publication */
    uint32_t owner;          /* thread id, 0 when free */
} assay__heap_slot;

typedef struct assay__heap_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes; /* offset of the first slot */
    uint32_t slot_bytes;
    uint32_t slot_capacity; /* slots that there is room for */
    uint32_t drift_bytes;
    uint32_t state;
    uint32_t allocator;
    uint32_t slots_used; /* slots 0 … slots_used - 1 were ever taken */
    int64_t process_id;
    int64_t parent_id; /* the process that forked this one, 0 if the program was started */
    /* Totals at that fork, which readers subtract. The slots continue their counts after a fork, so
     * that the figures of open spans stay right. */
    int64_t inherited_allocated_bytes, inherited_freed_bytes;
    uint64_t inherited_allocations, inherited_frees;
    uint64_t start_ticks; /* of the process: field 22 of /proc/PID/stat, 0 if it is not known */
    int64_t started_ns;   /* CLOCK_BOOTTIME: the program was loaded, or forked */
    int64_t ended_ns;     /* it ran its exit handlers; 0 before */
    alignas(128) int64_t published_bytes;
    int64_t peak_bytes; /* highest published level, thread peaks included */
    assay__heap_slot shared;
    char name[ASSAY__HEAP_NAME_BYTES]; /* of the program, cut, terminated */
} assay__heap_header;

typedef struct assay__heap_region {
    alignas(ASSAY__HEAP_PAGE_BYTES) union {
        assay__heap_header header;
        char header_space[ASSAY__HEAP_HEADER_BYTES];
    };
    assay__heap_slot slots[ASSAY__HEAP_SLOTS];
} assay__heap_region;

/* Length of a file: the region without the padding of its last page. */
enum {
    ASSAY__HEAP_FILE_BYTES =
        ASSAY__HEAP_HEADER_BYTES + ASSAY__HEAP_SLOTS * (int)sizeof(assay__heap_slot)
};

_Static_assert(sizeof(assay__heap_slot) == 128, "slots have a fixed size");
_Static_assert(sizeof(assay__heap_header) <= ASSAY__HEAP_HEADER_BYTES, "the header has room");
_Static_assert(offsetof(assay__heap_region, slots) == ASSAY__HEAP_HEADER_BYTES,
               "nothing between header and slots");

/* An announcement of a program that a process is about to start. The file DIR/programs contains one
 * after the other. Programs that were announced and left no heap file are missing in the
 * figures. */
#define ASSAY__HEAP_PROGRAMS "programs"

enum {
    ASSAY__HEAP_UNPRELOADED = 1, /* its environment does not bring the interposer */
    ASSAY__HEAP_CANCELLED = 2    /* it could not be started: ignore the announcement before */
};

typedef struct assay__heap_program {
    int64_t announced_ns; /* CLOCK_BOOTTIME, before it could begin */
    int64_t process_id;   /* in which it runs */
    uint32_t flags;
    char path[236]; /* as it was given, or the end of a longer one; terminated */
} assay__heap_program;

_Static_assert(sizeof(assay__heap_program) == 256, "programs have a fixed size");

/* The interposer's two symbols, found with dlsym; the version is part of their names. */
#define ASSAY__HEAP_REGION_SYMBOL "assay_heap_region_2"
#define ASSAY__HEAP_SLOT_SYMBOL   "assay_heap_slot_2"

/* Returns the region of this process. It is never NULL and never moves. */
typedef assay__heap_region *assay__heap_region_function(void);
/* Returns the slot of the calling thread. Takes a free slot if the thread has none yet; NULL if no
 * slot is free. */
typedef assay__heap_slot *assay__heap_slot_function(void);

#define ASSAY__HEAP_LOAD(field)         __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define ASSAY__HEAP_STORE(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELAXED)

static inline int64_t assay__heap_slot_level(const assay__heap_slot *slot)
{
    return ASSAY__HEAP_LOAD(slot->allocated_bytes) - ASSAY__HEAP_LOAD(slot->freed_bytes);
}

#endif
