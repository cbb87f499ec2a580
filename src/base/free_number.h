/* Finds a number for a file of which many may exist already: a program that replaces itself a
 * thousand times leaves a thousand files under one process id. Trying them one after the other
 * would cost each of these programs more than the one before. */
#ifndef ASSAY_BASE_FREE_NUMBER_H
#define ASSAY_BASE_FREE_NUMBER_H

#include <stdbool.h>

enum { ASSAY__MOST_NUMBERS = 100000 };

/* A number from `first` to ASSAY__MOST_NUMBERS that is not taken although the one before it is; if
 * the numbers from `first` are taken without a gap, the first free one. `is_taken` is called some
 * 2 * log2(n) times, if n numbers are taken. Returns a larger number if all seem to be taken.
 * Another process may take the number meanwhile, so the caller must be able to go on with the next
 * one. */
static inline unsigned assay__free_number(unsigned first, bool (*is_taken)(const void *, unsigned),
                                          const void *context)
{
    unsigned taken = first - 1, step = 1;
    while (taken + step <= ASSAY__MOST_NUMBERS && is_taken(context, taken + step)) {
        taken += step;
        step *= 2;
    }
    unsigned open = taken + step <= ASSAY__MOST_NUMBERS ? taken + step : ASSAY__MOST_NUMBERS + 1;
    while (open - taken > 1) {
        unsigned middle = taken + (open - taken) / 2;
        if (is_taken(context, middle))
            taken = middle;
        else
            open = middle;
    }
    return open;
}

#endif
