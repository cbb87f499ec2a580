/* The limit on the size of input files, which the library reads from the environment. */
#include "cli/common/input.h"

#include <stdio.h>
#include <stdlib.h>

void input_set_maximum(size_t bytes)
{
    char text[32];
    snprintf(text, sizeof text, "%zu", bytes);
    if (bytes > 0)
        setenv("ASSAY_MAX_INPUT", text, 1);
}
