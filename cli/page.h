/* A page: one HTML file that opens without a network and shows what its data blocks hold.
 *
 *     const page_block blocks[] = {{"data", "application/json", print_data, &subject}};
 *     status = page_save("report.html", blocks, 1, &error);
 *
 * The file holds the script and the style of web/, which a content-security policy names by their
 * hashes: nothing else in the page can run, and nothing is requested from anywhere. The data are
 * blocks that the script reads (web/src/block.ts); the characters that could end a block are
 * written as JSON escapes, so that a name with markup stays a name. Large JSON is written
 * compressed, as an "application/octet-stream". */
#ifndef ASSAY_CLI_PAGE_H
#define ASSAY_CLI_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/report.h"
#include "assay/status.h"

enum { PAGE_MAX_BLOCKS = 256, PAGE_ID_BYTES = 32 };

typedef struct page_block {
    char id[PAGE_ID_BYTES];
    const char *type;         /* "application/json" or "application/octet-stream" (as base64) */
    assay_file_printer print; /* prints JSON or base64; <, > and & become \u003c, … on the way */
    const void *subject;
} page_block;

/* Was the command built with pages (with npm's packages in web/)? */
bool page_available(void);

/* Replace `path` by a page with these blocks; it appears complete or not at all ("-": append to
 * standard output). ASSAY_E_UNSUPPORTED without pages in this build; else what a printer or the
 * file answered. */
ASSAY_MUST_USE assay_status page_save(const char *path, const page_block *blocks, size_t count,
                                      assay_error *error);

#endif
