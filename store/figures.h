/* Extracts the figures of a record that the history follows over time. */
#ifndef ASSAY_STORE_FIGURES_H
#define ASSAY_STORE_FIGURES_H

#include "assay/record.h"
#include "base/arena.h"

typedef struct assay__store_figure {
    const char *benchmark; /* "sort size=4", "train/step/forward" */
    const char *metric;    /* "wall_seconds" */
    const char *unit;      /* "s", "bytes", or "" */
    double value;          /* finite */
} assay__store_figure;

typedef struct assay__store_figures {
    assay__store_figure *items; /* no two have the same benchmark and metric */
    size_t count, capacity;
    assay__arena *arena;
} assay__store_figures;

/* Collect the figures of a record: the means of the samples of benchmarks, the costs of a run, the
 * mean times of spans, and the results of studies. The figures of the first benchmark come first.
 * Call assay__store_figures_release() after success and after failure. ASSAY_E_MEMORY is the only
 * failure. */
ASSAY_MUST_USE assay_status assay__store_figures_of(const assay_record *record,
                                                    assay__store_figures *figures);
void assay__store_figures_release(assay__store_figures *figures);

/* Make a name that is fit for an index: printable, and at most ASSAY__STORE_NAME_MAX bytes long. A
 * longer text is cut and ends in "#" and a hash of the whole text. The name belongs to the arena.
 * NULL when out of memory. */
const char *assay__store_name(assay__arena *arena, const char *text);

/* The 64-bit hash FNV-1a (Fowler, Noll and Vo) of a text. `beginning` is the initial value. */
uint64_t assay__store_hash(const char *text, size_t length, uint64_t beginning);

#endif
