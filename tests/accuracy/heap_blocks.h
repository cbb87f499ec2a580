/* Allocates blocks of many sizes and counts their bytes independently of the interposer, in a
 * program that starts itself again under it. */
#ifndef TESTS_HEAP_BLOCKS_H
#define TESTS_HEAP_BLOCKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <malloc.h>

#include "assay/memory.h"
#include "instrument/heap.h"
#include "tests/accuracy/preloaded.h"

enum { BLOCKS = 1000 };

/* Calls the compiler must not see through: it knows malloc and removes what is not used. */
static void *(*volatile do_malloc)(size_t) = malloc;
static void (*volatile do_free)(void *) = free;

static inline assay_heap_figures read_heap(void)
{
    assay_heap_figures figures = {.struct_size = sizeof figures};
    assert_int_equal(assay_heap_read(&figures), ASSAY_OK);
    return figures;
}

static inline size_t size_of(size_t i)
{
    return i * 37 % 5000 + (size_t)(i % 100 == 0) * 300000;
}

static inline int64_t allocate_blocks(void *blocks[BLOCKS])
{
    int64_t bytes = 0;
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = do_malloc(size_of(i));
        bytes += (int64_t)malloc_usable_size(blocks[i]);
    }
    return bytes;
}

static inline void free_blocks(void *blocks[BLOCKS])
{
    for (size_t i = 0; i < BLOCKS; i++)
        do_free(blocks[i]);
}

#endif
