/* Python's allocator gives out the blocks of one size in an order that depends on which of them are
 * free. So it is enough to hold some blocks of a size: the objects of the function then get the
 * blocks behind them. (C. Curtsinger and E. Berger 2013, "Stabilizer: statistically sound
 * performance evaluation", move the heap, the stack and the code of C programs for the same
 * reason.) */
#define PY_SSIZE_T_CLEAN
#include "python/core/layout.h"

#include <Python.h>

enum { ALIGNMENT = 16, FREQUENT_CLASSES = 8 }; /* integers, floats, short texts, tuples, frames */

/* Marsaglia 2003, "Xorshift RNGs". */
static unsigned draw(layout *self, unsigned below)
{
    uint64_t x = self->random != 0 ? self->random : UINT64_C(0x9E3779B97F4A7C15);
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    self->random = x;
    return (unsigned)((x >> 32) % below);
}

static void give_back(layout *self, unsigned size_class)
{
    while (self->count[size_class] > 0)
        PyObject_Free(self->blocks[size_class][--self->count[size_class]]);
}

static void hold_others(layout *self, unsigned size_class)
{
    give_back(self, size_class);
    for (unsigned wanted = draw(self, LAYOUT_MOST_BLOCKS + 1); wanted > 0; wanted--) {
        void *block = PyObject_Malloc((size_t)(size_class + 1) * ALIGNMENT);
        if (block == NULL)
            return; /* fewer blocks are a layout as well */
        self->blocks[size_class][self->count[size_class]++] = block;
    }
}

void layout_change(layout *self)
{
    for (unsigned i = 0; i < FREQUENT_CLASSES; i++)
        hold_others(self, i);
    hold_others(self, FREQUENT_CLASSES + draw(self, LAYOUT_CLASSES - FREQUENT_CLASSES));
}

void layout_release(layout *self)
{
    for (unsigned i = 0; i < LAYOUT_CLASSES; i++)
        give_back(self, i);
}
