/* The profile of one Python process, read from its file and checked. */
#ifndef ASSAY_SNAPSHOT_SCRIPT_READER_H
#define ASSAY_SNAPSHOT_SCRIPT_READER_H

#include <stddef.h>

#include "assay/status.h"
#include "base/buffer.h"
#include "snapshot/script_region.h"

/* Entries of one kind, by their places in the file, ascending. */
typedef struct assay__script_list {
    uint32_t *places;
    size_t count, capacity;
} assay__script_list;

typedef struct assay__script_view {
    assay__buffer data;
    const assay__script_header *header;
    assay__script_list codes, nodes, threads, events, sites;
} assay__script_view;

/* Read a file that its process may still write to. Every reference in the lists' entries is to an
 * entry of the right kind that comes before, or 0 where that is allowed; texts lie within their
 * entries. ASSAY_E_FORMAT, with the file named, for anything else than such a file. */
ASSAY_MUST_USE assay_status assay__script_read(const char *path, assay_error *error,
                                               assay__script_view *view);

/* The same for bytes in memory, which are copied. */
ASSAY_MUST_USE assay_status assay__script_parse(const char *name, const void *bytes, size_t length,
                                                assay_error *error, assay__script_view *view);
void assay__script_release(assay__script_view *view);

/* The entry, as a pointer to its struct. */
const void *assay__script_at(const assay__script_view *view, uint32_t place);

/* The index of the entry at this place, or -1. */
int32_t assay__script_index(const assay__script_list *list, uint32_t place);

#endif
