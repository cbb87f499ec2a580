/* The cost of positional encodings as graphs grow: the time to compute them once, and their
 * storage. */
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
    /* Called before each graph with the share that is done. Return false to stop; the measurement
     * then fails with ASSAY_E_STATE. May be NULL. */
    bool (*advance)(void *context, double share);
    void *context;
} assay__encoding_growth_plan;

/* Measure the encodings and add to the record: the subjects "lap encoding/num_nodes=17", ... and
 * "rwse encoding/...", their scalings, and the figure "encoding_dim"; further, along num_nodes, the
 * series "node_pe_bytes", "relative_pe_dense_bytes", "relative_pe_sparse_bytes" and
 * "attention_bytes". Storage is an estimate (document D of docs/seed-map.md). Relative encodings
 * have one bucket and, if sparse, as many entries as there are edges. */
ASSAY_MUST_USE assay_status assay__encoding_growth_measure(const assay__encoding_growth_plan *plan,
                                                           assay_error *error,
                                                           assay_record *record);

/* Whether the record has these results. */
bool assay__encoding_growth_known(const assay_record *record);

/* Print the results as tables of 80 columns. */
void assay__encoding_growth_print(const assay_record *record, FILE *stream);

/* Write the results as members of an open object: "dim", "num_nodes", "node_pe_mb", ..., and the
 * objects "lap" and "rwse" with "runtime_stats", "class", "exponent", "low", "high", "conclusive".
 */
void assay__encoding_growth_write_json(struct assay__json *json, const assay_record *record);

#endif
