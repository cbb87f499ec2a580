/* The limit on the size of input files, and the option that changes it. */
#ifndef ASSAY_CLI_COMMON_INPUT_H
#define ASSAY_CLI_COMMON_INPUT_H

#include <stddef.h>

/* The option of every command that reads records; `field` is a size_t of its settings. */
#define INPUT_MAX_OPTION(settings, field)                                                          \
    {                                                                                              \
        "max-input", 0, OPTION_BYTES, "SIZE",                                                      \
            "Largest file to read (default 64M); one of 300 MB can take 6 GB of memory.",          \
            offsetof(settings, field)                                                              \
    }

/* Accept input files of up to `bytes` bytes. 0 keeps the default limit. */
void input_set_maximum(size_t bytes);

#endif
