/* Reads the profile of one Python process from its file and checks it. */
#ifndef ASSAY_SNAPSHOT_SCRIPT_READER_H
#define ASSAY_SNAPSHOT_SCRIPT_READER_H

#include <stddef.h>

#include "assay/status.h"
#include "base/buffer.h"
#include "snapshot/script_region.h"

/* The entries of one kind: their offsets in the file, ascending. */
typedef struct assay__script_list {
    uint32_t *places;
    size_t count, capacity;
} assay__script_list;

typedef struct assay__script_view {
    assay__buffer data;
    const assay__script_header *header;
    assay__script_list codes, nodes, threads, events, sites;
} assay__script_view;

/* Read a file. Its process may still be writing it. In the result, every reference of an entry
 * leads to an earlier entry of the right kind, or is 0 where that is allowed, and texts are within
 * their entries. Any other file is refused with ASSAY_E_FORMAT (ASSAY_E_TRUNCATED if it ends too
 * early); the error names the file. */
ASSAY_MUST_USE assay_status assay__script_read(const char *path, assay_error *error,
                                               assay__script_view *view);

/* The same for bytes in memory, which are copied. `name` is used in errors. */
ASSAY_MUST_USE assay_status assay__script_parse(const char *name, const void *bytes, size_t length,
                                                assay_error *error, assay__script_view *view);
void assay__script_release(assay__script_view *view);

/* A pointer to the struct of the entry at this offset. */
const void *assay__script_at(const assay__script_view *view, uint32_t place);

/* The index in the list of the entry at this offset, or -1. */
int32_t assay__script_index(const assay__script_list *list, uint32_t place);

#endif
