/* Finds the word that somebody probably meant to type. */
#ifndef ASSAY_BASE_NEAREST_H
#define ASSAY_BASE_NEAREST_H

#include <stddef.h>

/* Returns the candidate that is nearest to `typed`, or NULL when none is near enough to be a typing
 * error. Near enough is one error in three letters, or in a word of two; or `typed` is the
 * beginning of the candidate and has at least three letters. '-' and '_' count as the same letter.
 * The candidates are `count` pointers, each `stride` bytes after the one before, so they can be a
 * field of an array of structs. */
const char *assay__nearest(const char *typed, const char *const *first, size_t count,
                           size_t stride);

#endif
