/* The order of the subjects in each round.
 *
 * The rounds are the rows of a Williams design (E. J. Williams, "Experimental designs balanced for
 * the estimation of residual effects of treatments", 1949). This is a Latin square. In one block of
 * rounds, every subject is once at each place and follows every other subject equally often. An odd
 * number of subjects needs the square and its mirror image. So the state in which one subject
 * leaves caches and frequency governors affects all other subjects alike. For two subjects the
 * design is AB, BA.
 *
 * A fixed design, repeated, could synchronise with something periodic on the machine. Therefore
 * each block is randomised in two ways: in the order of its rows, and in the assignment of subjects
 * to the letters of the design. Neither changes the balance. A plain shuffle of each round would be
 * balanced only on average, which is worse for short runs. */
#include "sampling/order.h"

#include <stdlib.h>

assay_status assay__order_init(assay__order *order, size_t count, uint64_t seed)
{
    *order = (assay__order){.count = count};
    assay__random_init(&order->random, seed);
    order->rows = count % 2 == 0 || count == 1 ? count : 2 * count;
    order->next = order->rows;
    order->labels = calloc(count, sizeof *order->labels);
    order->shuffled = calloc(order->rows, sizeof *order->shuffled);
    if (order->labels == NULL || order->shuffled == NULL) {
        assay__order_release(order);
        return ASSAY_E_MEMORY;
    }
    for (size_t i = 0; i < count; i++)
        order->labels[i] = (uint32_t)i;
    for (size_t i = 0; i < order->rows; i++)
        order->shuffled[i] = (uint32_t)i;
    return ASSAY_OK;
}

void assay__order_release(assay__order *order)
{
    free(order->labels);
    free(order->shuffled);
    *order = (assay__order){0};
}

/* The letter at `place` in the first row of the design: 0, 1, n - 1, 2, n - 2, ... */
static size_t zigzag(size_t place, size_t count)
{
    size_t step = (place + 1) / 2;
    return place % 2 == 1 || step == 0 ? step : count - step;
}

void assay__order_next(assay__order *order, uint32_t *round)
{
    if (order->next == order->rows) {
        assay__random_shuffle(&order->random, order->labels, order->count, sizeof *order->labels);
        assay__random_shuffle(&order->random, order->shuffled, order->rows,
                              sizeof *order->shuffled);
        order->next = 0;
    }
    size_t row = order->shuffled[order->next++];
    size_t mirrored = row >= order->count;
    for (size_t place = 0; place < order->count; place++) {
        size_t from = mirrored ? order->count - 1 - place : place;
        size_t letter = (zigzag(from, order->count) + row) % order->count;
        round[place] = order->labels[letter];
    }
}
