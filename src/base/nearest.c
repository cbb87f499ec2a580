/* Finds the nearest word by computing the edit distance to every candidate. */
#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

/* Words longer than MAX_TYPED are not compared. LEAST_BEGINNING letters are enough for the
 * beginning of a word to stand for the word. */
enum { MAX_TYPED = 64, LEAST_BEGINNING = 3 };

static char folded(char c)
{
    return c == '_' ? '-' : c;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The optimal string alignment distance: it counts insertions, deletions, substitutions and swaps
 * of neighbours, which are the usual typing errors. */
static size_t distance(const char *a, const char *b)
{
    size_t rows = strlen(a), columns = strlen(b);
    if (rows > MAX_TYPED || columns > MAX_TYPED)
        return SIZE_MAX;
    size_t table[3][MAX_TYPED + 1];
    for (size_t j = 0; j <= columns; j++)
        table[0][j] = j;
    for (size_t i = 1; i <= rows; i++) {
        size_t *row = table[i % 3], *above = table[(i + 2) % 3], *two_above = table[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t change = folded(a[i - 1]) != folded(b[j - 1]);
            row[j] = smaller(smaller(row[j - 1], above[j]) + 1, above[j - 1] + change);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], two_above[j - 2] + 1);
        }
    }
    return table[rows % 3][columns];
}

const char *assay__nearest(const char *typed, const char *const *first, size_t count, size_t stride)
{
    const char *nearest = NULL;
    size_t length = strlen(typed), best = length / 3 + 1; /* one error in three letters */
    best = best < 2 && length > 1 ? 2 : best;
    for (size_t i = 0; i < count; i++) {
        const char *candidate = *(const char *const *)((const char *)first + i * stride);
        size_t d = distance(typed, candidate);
        if (length >= LEAST_BEGINNING && strncmp(typed, candidate, length) == 0)
            d = smaller(d, 1);
        if (d < best) {
            best = d;
            nearest = candidate;
        }
    }
    return nearest;
}
