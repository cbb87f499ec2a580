/* The figures of a record that are followed over time. */
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

/* Benchmarks give the means of their samples, runs and spans what they took, studies what they
 * found. The first figures are of what the record measured first. */
ASSAY_MUST_USE assay_status assay__store_figures_of(const assay_record *record,
                                                    assay__store_figures *figures);
void assay__store_figures_release(assay__store_figures *figures);

/* A name fit for an index: printable, at most ASSAY__STORE_NAME_MAX bytes; what is longer is cut
 * and ends in "#" and a hash of the whole. NULL when out of memory. */
const char *assay__store_name(assay__arena *arena, const char *text);

/* 64 bits of FNV-1a (Fowler, Noll and Vo) from this beginning. */
uint64_t assay__store_hash(const char *text, size_t length, uint64_t beginning);

#endif
