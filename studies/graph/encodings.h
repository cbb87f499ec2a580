/* What positional encodings cost as graphs grow: the time to compute them once, and storage. */
#ifndef ASSAY_STUDIES_GRAPH_ENCODINGS_H
#define ASSAY_STUDIES_GRAPH_ENCODINGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/status.h"

typedef struct assay__encoding_growth_plan {
    int64_t num_nodes; /* the largest graph; the others have a half, a quarter, ... of it */
    double avg_degree; /* of every graph */
    int64_t dim;       /* of both encodings */
    uint64_t seed;     /* of the graphs */
    int64_t num_heads, hidden_dim, batch_size; /* for the estimate of attention */
    /* Before each graph, of which `share` are over; false stops with ASSAY_E_STATE. NULL: nobody
     * asks. */
    bool (*advance)(void *context, double share);
    void *context;
} assay__encoding_growth_plan;

/* {"dim", "num_nodes": [..], "lap" and "rwse": {"runtime_stats": [{mean, std, min, max, num_runs,
 * unit}..], "class", "exponent", "low", "high", "conclusive"}, "node_pe_mb",
 * "relative_pe_dense_mb", "relative_pe_sparse_mb", "attention_mb": [..]}. Storage is seed D's
 * estimate, relative encodings with one bucket and as many entries as edges when sparse. Caller
 * releases. */
ASSAY_MUST_USE assay_status assay__encoding_growth_measure(const assay__encoding_growth_plan *plan,
                                                           assay_error *error, json_t **costs);

/* The same as tables, 80 columns. */
void assay__encoding_growth_print(const json_t *costs, FILE *stream);

#endif
