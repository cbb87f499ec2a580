/* Graphs in the raw form of the Open Graph Benchmark (ogb/io/README.md, read_csv_graph_raw). Four
 * tables without headers hold the rows of all graphs, one graph after the other:
 *
 *     num-node-list.csv   (graphs, 1)       nodes of each graph
 *     num-edge-list.csv   (graphs, 1)       edges of each graph
 *     edge.csv            (edges, 2)        source and target, counted from 0 within their graph
 *     node-feat.csv       (nodes, features)
 *
 * Each table is plain or NAME.csv.gz, in the folder or in its subfolder raw/. Edges are taken as
 * they are written: an undirected graph has both directions in the file. */
#ifndef ASSAY_MODELS_FILE_GRAPH_FOLDER_H
#define ASSAY_MODELS_FILE_GRAPH_FOLDER_H

#include "assay/model.h"
#include "models/file/number_table.h"

typedef struct assay__graph_tables {
    assay__number_table nodes_per_graph, edges_per_graph, edges, features;
} assay__graph_tables;

/* Does the work of assay_tensor_load_graph() on open tables. An edge to a node that does not exist
 * is ASSAY_E_FORMAT, with its file and line. */
ASSAY_MUST_USE assay_status assay__graph_read(assay__graph_tables *tables, assay_error *error,
                                              assay_tensor tensors[3]);

/* Reads all rows of one table as (rows, columns) float32. Release the tensor with
 * assay_tensor_release(). */
ASSAY_MUST_USE assay_status assay__number_table_read(assay__number_table *table, assay_error *error,
                                                     assay_tensor *tensor);

#endif
