/* Ranges of numbers as one writes them on a command line: 1..10, 0..1..0.25, 1..1024*2. */
#ifndef ASSAY_CLI_NUMBER_RANGE_H
#define ASSAY_CLI_NUMBER_RANGE_H

#include "cli/command_words.h"

typedef enum number_range_result {
    NUMBER_RANGE_NONE,  /* the text is no range; nothing was appended */
    NUMBER_RANGE_DONE,  /* its numbers were appended to `values` */
    NUMBER_RANGE_WRONG, /* it looks like a range; `*problem` says what is wrong */
    NUMBER_RANGE_MEMORY
} number_range_result;

/* The most numbers that one range may have. */
enum { NUMBER_RANGE_MOST = 1024 };

/* FROM..TO has the step 1, FROM..TO..STEP another one, and FROM..TO*FACTOR multiplies. A range
 * with FROM above TO counts down. Numbers are decimal, with an exponent if wanted (1..1e6*10), and
 * come with as many decimals as FROM and STEP have; a product is rounded to the decimals of FROM,
 * and left out if it repeats the number before. TO is part of the range if a step meets it. Other
 * texts are no ranges. `*problem` is a static text that continues "'TEXT' …". */
number_range_result number_range_expand(const char *text, words *values, const char **problem);

/* Append a copy of `length` bytes. -1 when out of memory. */
int number_range_append(words *values, const char *text, size_t length);

#endif
