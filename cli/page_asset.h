/* The script and the style of the page. web/build.mjs makes the definitions at build time. */
#ifndef ASSAY_CLI_PAGE_ASSET_H
#define ASSAY_CLI_PAGE_ASSET_H

#include <stddef.h>

typedef struct page_asset {
    const unsigned char *bytes;
    size_t count;
    const char *hash; /* "sha256-…", as a content-security policy names it */
} page_asset;

extern const page_asset page_script, page_style;

#endif
