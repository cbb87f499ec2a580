/* Sets the limit on the size of input files. The library reads the limit from the environment
 * variable ASSAY_MAX_INPUT, so this file sets that variable. */
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
