/* Finds the word that somebody probably meant to type. */
#ifndef ASSAY_BASE_NEAREST_H
#define ASSAY_BASE_NEAREST_H

#include <stddef.h>

/* The candidate nearest to what was typed, or NULL when none is near enough to be a slip of the
 * fingers: one slip for every three letters, one in a shorter word, or a beginning of at least
 * three letters. '-' and '_' are alike. Candidates are `count` pointers, each `stride` bytes after
 * the one before: a field of an array of structs will do. */
const char *assay__nearest(const char *typed, const char *const *first, size_t count,
                           size_t stride);

#endif
