/* New addresses for the temporaries of a Python function.
 *
 * How fast a function runs depends on where its small objects lie: on an AMD EPYC a loop over
 * integers took 1.5 times as long in 0 to 7 % of all heap layouts, and a process that met such a
 * layout kept it through a whole measurement. So bench() takes each sample in another layout. A
 * slow layout then makes a few samples slow, as a rare disturbance does, and not all of them. */
#ifndef ASSAY_PYTHON_LAYOUT_H
#define ASSAY_PYTHON_LAYOUT_H

#include <stdint.h>

enum {
    LAYOUT_CLASSES = 32,    /* sizes of Python's allocator: 16, 32, … 512 bytes */
    LAYOUT_MOST_BLOCKS = 64 /* held of each */
};

/* Start from zeros. */
typedef struct layout {
    uint64_t random;
    unsigned count[LAYOUT_CLASSES];
    void *blocks[LAYOUT_CLASSES][LAYOUT_MOST_BLOCKS];
} layout;

/* Free the blocks that are held of the eight smallest sizes and of one other size. Then hold a
 * random number of new blocks of each of these sizes. Takes about 10 µs. The caller holds the
 * interpreter's lock. */
void layout_change(layout *self);

/* Give everything back. */
void layout_release(layout *self);

#endif
