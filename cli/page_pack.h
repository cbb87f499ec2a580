/* Packs bytes for a page: compresses them with zlib and prints them as base64. web/src/block.ts
 * unpacks them. */
#ifndef ASSAY_CLI_PAGE_PACK_H
#define ASSAY_CLI_PAGE_PACK_H

#include <stddef.h>
#include <stdio.h>

#include "assay/status.h"

/* Compress into new memory, which the caller frees. ASSAY_E_MEMORY is the only failure. */
ASSAY_MUST_USE assay_status page_compress(const void *bytes, size_t count,
                                          unsigned char **compressed, size_t *size);

void page_print_base64(const unsigned char *bytes, size_t count, FILE *stream);

#endif
