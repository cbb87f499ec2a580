/* Writes the HTML document around script, style and data. A filter replaces '<', '>' and '&' in the
 * data by JSON escapes. In JSON these characters occur only within strings, where an escape means
 * the same. */
#include "cli/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/page_asset.h"
#include "cli/page_pack.h"

#ifdef ASSAY_HAVE_PAGE

/* JSON of more than this many bytes is compressed. Smaller data stay readable in the file. */
enum { PACK_BYTES = 200000 };

/* Write bytes with '<', '>' and '&' as JSON escapes, so that they cannot act as HTML. */
static void write_inert(const char *bytes, size_t count, FILE *page)
{
    size_t begin = 0;
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != '<' && bytes[i] != '>' && bytes[i] != '&')
            continue;
        fwrite(bytes + begin, 1, i - begin, page);
        fprintf(page, "\\u%04x", (unsigned)bytes[i]);
        begin = i + 1;
    }
    fwrite(bytes + begin, 1, count - begin, page);
}

/* Collect the output of the block's printer in memory that the caller frees. */
static assay_status collect(const page_block *block, char **text, size_t *length,
                            assay_error *error)
{
    FILE *memory = open_memstream(text, length);
    assay_status status = ASSAY_E_MEMORY;
    if (memory != NULL) {
        status = block->print(block->subject, memory, error);
        bool lost = ferror(memory) != 0;
        if ((fclose(memory) != 0 || lost) && status == ASSAY_OK)
            status = ASSAY_E_MEMORY;
    }
    if (status == ASSAY_E_MEMORY)
        *error = (assay_error){status, "out of memory for the data of the page"};
    return status;
}

static assay_status print_block(const page_block *block, FILE *page, assay_error *error)
{
    char *text = NULL;
    unsigned char *packed = NULL;
    size_t length = 0, size = 0;
    bool json = strcmp(block->type, "application/json") == 0;
    assay_status status = collect(block, &text, &length, error);
    if (status == ASSAY_OK && json && length > PACK_BYTES) {
        status = page_compress(text, length, &packed, &size);
        if (status != ASSAY_OK)
            *error = (assay_error){status, "out of memory for the data of the page"};
    }
    if (status == ASSAY_OK) {
        fprintf(page, "<script type=\"%s\" id=\"%s\">",
                packed != NULL ? "application/octet-stream" : block->type, block->id);
        if (packed != NULL)
            page_print_base64(packed, size, page);
        else
            write_inert(text, length, page);
        fputs("</script>\n", page);
    }
    free(packed);
    free(text);
    return status;
}

static void print_asset(const char *element, const page_asset *asset, FILE *page)
{
    fprintf(page, "<%s>", element);
    fwrite(asset->bytes, 1, asset->count, page);
    fprintf(page, "</%s>\n", element);
}

typedef struct document {
    const page_block *blocks;
    size_t count;
} document;

static assay_status print_document(const void *subject, FILE *page, assay_error *error)
{
    const document *it = subject;
    fprintf(page,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; "
            "form-action 'none'\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n"
            "<meta name=\"generator\" content=\"assay " ASSAY_VERSION "\">\n"
            "<title>assay report</title>\n<link rel=\"icon\" href=\"data:,\">\n",
            page_script.hash, page_style.hash);
    print_asset("style", &page_style, page);
    fputs("</head>\n<body>\n<noscript>This page needs JavaScript. `assay report RECORD` shows the "
          "same record as text.</noscript>\n",
          page);
    for (size_t i = 0; i < it->count; i++) {
        assay_status status = print_block(&it->blocks[i], page, error);
        if (status != ASSAY_OK)
            return status;
    }
    print_asset("script", &page_script, page);
    fputs("</body>\n</html>\n", page);
    return ASSAY_OK;
}

bool page_available(void)
{
    return true;
}

assay_status page_save(const char *path, const page_block *blocks, size_t count, assay_error *error)
{
    const document it = {blocks, count};
    return assay_file_save(path, print_document, &it, error);
}

#else

bool page_available(void)
{
    return false;
}

assay_status page_save(const char *path, const page_block *blocks, size_t count, assay_error *error)
{
    (void)path, (void)blocks, (void)count;
    *error =
        (assay_error){ASSAY_E_UNSUPPORTED,
                      "this assay was built without pages: `npm ci` in web/, then build again"};
    return ASSAY_E_UNSUPPORTED;
}

#endif
