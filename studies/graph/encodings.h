/* What positional encodings cost as graphs grow: the time to compute them once, and storage. */
#ifndef ASSAY_STUDIES_GRAPH_ENCODINGS_H
#define ASSAY_STUDIES_GRAPH_ENCODINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/record.h"
#include "assay/status.h"

struct assay__json;

typedef struct assay__encoding_growth_plan {
    int64_t num_nodes; /* the largest graph; the others have a half, a quarter, ... of it */
    double avg_degree; /* of every graph */
    int64_t dim;       /* of both encodings */
    uint64_t seed;     /* of the graphs */
    int64_t num_heads, hidden_dim, batch_size; /* for the estimate of attention */
    /* Called before each graph with the share that is done; false stops with ASSAY_E_STATE. NULL:
     * not called. */
    bool (*advance)(void *context, double share);
    void *context;
} assay__encoding_growth_plan;

/* Adds to the record: the subjects "lap encoding/num_nodes=17", ... and "rwse encoding/...", their
 * scalings, the figure "encoding_dim"; and along num_nodes the series "node_pe_bytes",
 * "relative_pe_dense_bytes", "relative_pe_sparse_bytes" and "attention_bytes". Storage is an
 * estimate (document D of docs/seed-map.md); relative encodings have one bucket and, if sparse, as
 * many entries as edges. */
ASSAY_MUST_USE assay_status assay__encoding_growth_measure(const assay__encoding_growth_plan *plan,
                                                           assay_error *error,
                                                           assay_record *record);

/* Does the record hold all this? */
bool assay__encoding_growth_known(const assay_record *record);

/* The same as tables, 80 columns. */
void assay__encoding_growth_print(const assay_record *record, FILE *stream);

/* The same as members of an open object: "dim", "num_nodes", "node_pe_mb", ..., and of "lap" and
 * "rwse" "runtime_stats", "class", "exponent", "low", "high", "conclusive". */
void assay__encoding_growth_write_json(struct assay__json *json, const assay_record *record);

#endif
