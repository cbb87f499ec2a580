/* Writes a page: one HTML file that opens without a network and shows the data that its blocks
 * hold.
 *
 *     const page_block blocks[] = {{"data", "application/json", print_data, &subject}};
 *     status = page_save("report.html", blocks, 1, &error);
 *
 * The file holds the script and the style of web/. A content-security policy names them by their
 * hashes, so that nothing else in the page can run, and the browser requests nothing from a server.
 * The data are blocks that the script reads (web/src/block.ts). Characters that could end a block
 * are written as JSON escapes, so that a name with markup in it stays a name. Large JSON is
 * compressed and written as an "application/octet-stream". */
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
    assay_file_printer print; /* prints JSON or base64; page_save() turns <, > and & into escapes */
    const void *subject;
} page_block;

/* Whether the command was built with pages, which needs npm's packages in web/. */
bool page_available(void);

/* Write a page with these blocks to `path`, or to standard output if `path` is "-". The file
 * appears complete or not at all, and replaces an earlier one. Returns ASSAY_E_UNSUPPORTED if the
 * command was built without pages; otherwise it fails as a printer or the writing fails. */
ASSAY_MUST_USE assay_status page_save(const char *path, const page_block *blocks, size_t count,
                                      assay_error *error);

#endif
