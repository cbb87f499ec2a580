/* The order in which subjects take turns. It is balanced for carry-over effects, randomised and
 * reproducible. */
#ifndef ASSAY_SAMPLING_ORDER_H
#define ASSAY_SAMPLING_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"
#include "base/random.h"

typedef struct assay__order {
    size_t count; /* subjects */
    size_t rows;  /* rounds of one block of the design: count, or twice that if it is odd */
    size_t next;  /* the next row of the block */
    assay__random random;
    uint32_t *labels;   /* the subject for each letter of the design, in this block */
    uint32_t *shuffled; /* the order of the block's rows */
} assay__order;

ASSAY_MUST_USE assay_status assay__order_init(assay__order *order, size_t count, uint64_t seed);
void assay__order_release(assay__order *order);

/* Get the order of the next round. `round` receives the index of each subject once. */
void assay__order_next(assay__order *order, uint32_t *round);

#endif
