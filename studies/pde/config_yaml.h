/* Reads a YAML file into a flat list of settings. */
#ifndef ASSAY_STUDIES_PDE_CONFIG_YAML_H
#define ASSAY_STUDIES_PDE_CONFIG_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/status.h"
#include "base/arena.h"

enum { ASSAY__CONFIG_ENTRIES_MAX = 4096, ASSAY__CONFIG_FILE_BYTES = 1 << 16 };

/* One scalar, such as "trainer_params.epochs" = "50". Items of a list have the path of the list.
 * The texts belong to the arena. */
typedef struct assay__config_entry {
    const char *path;
    const char *text;
    const char *file;    /* its path, for messages; NULL for an override */
    size_t line, column; /* from 1 */
    bool in_list;
} assay__config_entry;

typedef struct assay__config_entries {
    assay__arena *arena; /* belongs to the caller */
    assay__config_entry *list;
    size_t count, capacity;
} assay__config_entries;

void assay__config_entries_release(assay__config_entries *entries); /* does not free the arena */

ASSAY_MUST_USE assay_status assay__config_entries_add(assay__config_entries *entries,
                                                      assay__config_entry entry);

/* Parse `bytes` and append its settings. The keys of a mapping inside a list become "list.key".
 * Empty values become empty texts. ASSAY_E_FORMAT, with file, line and column, if the text is not
 * YAML, has more than one document, is nested deeper than 16, or has more than 256 anchors. */
ASSAY_MUST_USE assay_status assay__config_parse(const char *bytes, size_t length, const char *file,
                                                assay__config_entries *entries, assay_error *error);

#endif
