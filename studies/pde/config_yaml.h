/* A YAML file as a flat list of settings. */
#ifndef ASSAY_STUDIES_PDE_CONFIG_YAML_H
#define ASSAY_STUDIES_PDE_CONFIG_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/status.h"
#include "base/arena.h"

enum { ASSAY__CONFIG_ENTRIES_MAX = 4096, ASSAY__CONFIG_FILE_BYTES = 1 << 16 };

/* One scalar: "trainer_params.epochs" = "50". Items of a list carry the path of the list. Texts
 * belong to the arena of the list. */
typedef struct assay__config_entry {
    const char *path;
    const char *text;
    const char *file;    /* as the user knows it; NULL for an override */
    size_t line, column; /* from 1 */
    bool in_list;
} assay__config_entry;

typedef struct assay__config_entries {
    assay__arena *arena; /* the caller's */
    assay__config_entry *list;
    size_t count, capacity;
} assay__config_entries;

void assay__config_entries_release(assay__config_entries *entries); /* the arena stays */

ASSAY_MUST_USE assay_status assay__config_entries_add(assay__config_entries *entries,
                                                      assay__config_entry entry);

/* Append what `bytes` say. A mapping inside a list contributes "list.key". Empty values are kept as
 * empty text. ASSAY_E_FORMAT with file, line and column for what is no YAML, more than one
 * document, nested deeper than 16, or has more than 256 anchors. */
ASSAY_MUST_USE assay_status assay__config_parse(const char *bytes, size_t length, const char *file,
                                                assay__config_entries *entries, assay_error *error);

#endif
