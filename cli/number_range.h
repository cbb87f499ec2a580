/* Expands ranges of numbers as they are written on a command line: 1..10, 0..1..0.25, 1..1024*2. */
#ifndef ASSAY_CLI_NUMBER_RANGE_H
#define ASSAY_CLI_NUMBER_RANGE_H

#include "cli/command_words.h"

typedef enum number_range_result {
    NUMBER_RANGE_NONE,  /* the text is no range; nothing was appended */
    NUMBER_RANGE_DONE,  /* the numbers were appended to `values` */
    NUMBER_RANGE_WRONG, /* the text looks like a range; `*problem` says what is wrong with it */
    NUMBER_RANGE_MEMORY /* out of memory */
} number_range_result;

/* The most numbers that one range may have. */
enum { NUMBER_RANGE_MOST = 1024 };

/* Expand a range and append its numbers to `values` as texts. FROM..TO has the step 1,
 * FROM..TO..STEP has another step, and FROM..TO*FACTOR multiplies. A range with FROM above TO
 * counts down. The numbers of a range are decimal and may have an exponent (1..1e6*10). The results
 * have as many decimals as FROM or STEP. A product is rounded to the decimals of FROM, and it is
 * left out if it is 0 or the same as the number before. TO is part of the range if a step meets it.
 * Other texts are not ranges. `*problem` is a static text that continues "'TEXT' …". */
number_range_result number_range_expand(const char *text, words *values, const char **problem);

/* Append a copy of the first `length` bytes of `text`. Returns 0, or -1 when out of memory. */
int number_range_append(words *values, const char *text, size_t length);

#endif
