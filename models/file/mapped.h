/* A whole file as bytes in memory. A regular file is mapped, so that only the pages that are used
 * are read. Anything else, such as a pipe, is read in, up to a maximum. The file must not be
 * truncated while it is mapped. */
#ifndef ASSAY_MODELS_FILE_MAPPED_H
#define ASSAY_MODELS_FILE_MAPPED_H

#include <stddef.h>

#include "assay/status.h"
#include "base/buffer.h"

enum { ASSAY__MAPPED_PIPE_MAX = 1 << 30 };

typedef struct assay__mapped { /* all zero: holds nothing */
    const unsigned char *bytes;
    size_t size;
    void *mapping; /* NULL if `buffer` holds the bytes */
    assay__buffer buffer;
} assay__mapped;

/* Opens the file; release `mapped` with assay__mapped_release(). After a failure it holds nothing.
 */
ASSAY_MUST_USE assay_status assay__mapped_open(const char *path, assay_error *error,
                                               assay__mapped *mapped);
void assay__mapped_release(assay__mapped *mapped);

#endif
