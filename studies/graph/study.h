/* The study of the graph transformer: everything that `assay profile` can say about it, in one
 * report.
 *
 * The study writes these files to the folder of the plan:
 *   report.txt     runtime, memory, FLOPs, roofline; then a table and a plot for each axis
 *   profile.json   the same figures as JSON, with "scaling" by axis
 *   scaling.csv    a row for each measured size
 *   record.json    everything as a run record, when all steps have ended
 * The first three are views of the record. They are written anew after each step, so that an
 * interrupted study can be read. */
#ifndef ASSAY_STUDIES_GRAPH_STUDY_H
#define ASSAY_STUDIES_GRAPH_STUDY_H

#include "studies/common/frame.h"

typedef struct assay__graph_settings {
    size_t num_nodes, num_edges, hidden_dim, num_layers, num_heads, ffn_dim, batch_size;
    const char *device;    /* NULL: the processor */
    size_t num_runs;       /* of each pass, at least 2 */
    double budget_seconds; /* of each axis */
} assay__graph_settings;

/* The sizes of the example in document D (docs/seed-map.md) or, with `quick`, small sizes. */
assay__graph_settings assay__graph_settings_of(bool quick);

/* Run the study, or the steps that an earlier run has left. The study fills in the steps and the
 * settings of the plan. A copy of profile.json goes to `json_path` ("-": standard output), unless
 * that is NULL. If the model refuses the sizes, the call fails with ASSAY_E_ARGUMENT before
 * anything is written. */
ASSAY_MUST_USE assay_status assay__graph_study(const assay__study_plan *plan,
                                               const assay__graph_settings *settings,
                                               const char *json_path, assay_error *error);

#endif
