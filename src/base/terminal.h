/* Properties of the terminal behind a stream. Each call asks the file descriptor of the stream,
 * because a terminal can be resized. */
#ifndef ASSAY_BASE_TERMINAL_H
#define ASSAY_BASE_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The number of columns of the terminal behind `stream`: the kernel's answer, else the variable
 * COLUMNS, else 80. Returns 0 when `stream` is no terminal. */
size_t assay__terminal_columns(FILE *stream);

/* Whether the cursor can be moved. It can only on a terminal, and only if TERM is not "dumb". */
bool assay__terminal_moves(FILE *stream);

/* Whether to use colour. The conditions of assay__terminal_moves hold here too, and NO_COLOR must
 * be unset or empty (https://no-color.org). */
bool assay__terminal_colour(FILE *stream);

/* The meanings that have a colour. */
typedef enum assay__shade {
    ASSAY__SHADE_PLAIN, /* back to the normal colour */
    ASSAY__SHADE_GOOD,
    ASSAY__SHADE_DOUBTFUL,
    ASSAY__SHADE_BAD,
    ASSAY__SHADE_TITLE
} assay__shade;

/* The characters that switch to a shade, or "" where there is no colour. */
const char *assay__terminal_shade(FILE *stream, assay__shade shade);

#endif
