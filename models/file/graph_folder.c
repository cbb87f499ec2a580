/* Reads a folder of graphs. The sizes that the two lists announce are not believed until the rows
 * are there. Memory grows with the rows that have been read, so a hostile list of sizes costs
 * nothing. */
#include "models/file/graph_folder.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/grow.h"

enum { MAX_PATH = 4096 };

typedef struct vector {
    void *data;
    size_t count, capacity;
} vector;

/* Makes room for `more` elements of `size` bytes past the count. */
static bool reserve(vector *grown, size_t more, size_t size)
{
    size_t needed;
    return !__builtin_add_overflow(grown->count, more, &needed) &&
           assay__grow(&grown->data, &grown->capacity, needed, size);
}

static assay_status fail_memory(const assay__number_table *table, assay_error *error)
{
    return assay__fail(error, ASSAY_E_MEMORY, "out of memory while reading '%s'", table->name);
}

static assay_status fail_line(const assay__number_table *table, assay_error *error,
                              const char *what)
{
    return assay__fail(error, ASSAY_E_FORMAT, "%s, line %zu: %s", table->name, table->line, what);
}

/* Whole numbers up to 2^53 are exact in the doubles that rows are read into. */
static bool whole(double value)
{
    return value >= 0 && value <= 0x1p53 && value == floor(value);
}

/* Reads one column of whole numbers; `total` receives their sum. */
static assay_status read_list(assay__number_table *table, assay_error *error, vector *list,
                              int64_t *total)
{
    *total = 0;
    for (;;) {
        assay_status status = assay__number_table_next(table, error);
        if (status != ASSAY_OK || table->count == 0)
            return status;
        if (table->count != 1 || !whole(table->row[0]))
            return fail_line(table, error, "expected is one whole number, the size of a graph");
        if (!reserve(list, 1, sizeof(int64_t)))
            return fail_memory(table, error);
        int64_t value = (int64_t)table->row[0];
        ((int64_t *)list->data)[list->count++] = value;
        if (__builtin_add_overflow(*total, value, total) || *total > INT64_C(1) << 53)
            return fail_line(table, error, "the graphs are too large to be true");
    }
}

/* The state while edges are read. */
typedef struct edge_reader {
    assay__number_table *table;
    const int64_t *nodes;
    size_t graph;
    int64_t first_node; /* first node of the present graph, counted over all graphs */
    vector source, target;
} edge_reader;

static assay_status take_edge(edge_reader *reader, assay_error *error)
{
    assay__number_table *table = reader->table;
    if (table->count != 2 || !whole(table->row[0]) || !whole(table->row[1]))
        return fail_line(table, error, "expected are two whole numbers, the nodes of an edge");
    int64_t nodes = reader->nodes[reader->graph];
    for (int side = 0; side < 2; side++) {
        if (table->row[side] >= (double)nodes) {
            return assay__fail(error, ASSAY_E_FORMAT,
                               "%s, line %zu: there is no node %.0f; graph %zu has %" PRId64
                               ", counted from 0",
                               table->name, table->line, table->row[side], reader->graph, nodes);
        }
    }
    if (!reserve(&reader->source, 1, sizeof(int64_t)) ||
        !reserve(&reader->target, 1, sizeof(int64_t)))
        return fail_memory(table, error);
    int64_t *source = reader->source.data, *target = reader->target.data;
    source[reader->source.count++] = reader->first_node + (int64_t)table->row[0];
    target[reader->target.count++] = reader->first_node + (int64_t)table->row[1];
    return ASSAY_OK;
}

static assay_status fail_short(const assay__number_table *table, const char *what,
                               int64_t announced, assay_error *error)
{
    return assay__fail(error, ASSAY_E_TRUNCATED, "%s ends too soon: %" PRId64 " %s are announced",
                       table->name, announced, what);
}

static assay_status read_edges(edge_reader *reader, const int64_t *edges, size_t graphs,
                               int64_t total, assay_error *error)
{
    assay__number_table *table = reader->table;
    for (reader->graph = 0; reader->graph < graphs; reader->graph++) {
        for (int64_t i = 0; i < edges[reader->graph]; i++) {
            assay_status status = assay__number_table_next(table, error);
            if (status == ASSAY_OK && table->count == 0)
                status = fail_short(table, "edges", total, error);
            if (status == ASSAY_OK)
                status = take_edge(reader, error);
            if (status != ASSAY_OK)
                return status;
        }
        reader->first_node += reader->nodes[reader->graph];
    }
    assay_status status = assay__number_table_next(table, error);
    if (status == ASSAY_OK && table->count != 0)
        status = fail_line(table, error, "more edges than num-edge-list announces");
    return status;
}

assay_status assay__number_table_read(assay__number_table *table, assay_error *error,
                                      assay_tensor *tensor)
{
    vector values = {0};
    int64_t rows = 0;
    size_t columns = 0;
    assay_status status;
    *tensor = (assay_tensor){0};
    while ((status = assay__number_table_next(table, error)) == ASSAY_OK && table->count > 0) {
        columns = rows == 0 ? table->count : columns;
        if (table->count != columns)
            status = fail_line(table, error, "it has not as many columns as the lines before");
        else if (!reserve(&values, columns, sizeof(float)))
            status = fail_memory(table, error);
        for (size_t i = 0; i < columns && status == ASSAY_OK; i++) {
            float value = (float)table->row[i];
            ((float *)values.data)[values.count++] = value;
            if (!isfinite(value))
                status = fail_line(table, error, "a number is too large for a float32");
        }
        if (status != ASSAY_OK)
            break;
        rows++;
    }
    if (status == ASSAY_OK && !reserve(&values, 1, sizeof(float))) /* data is never NULL */
        status = fail_memory(table, error);
    if (status != ASSAY_OK) {
        free(values.data);
        return status;
    }
    *tensor = (assay_tensor){
        .element = ASSAY_F32, .rank = 2, .shape = {rows, (int64_t)columns}, .data = values.data};
    return ASSAY_OK;
}

static assay_status make_edges(const edge_reader *reader, assay_error *error, assay_tensor *edges)
{
    size_t count = reader->source.count, bytes = count * sizeof(int64_t);
    int64_t *data = reallocarray(NULL, 2 * count + 1, sizeof *data);
    if (data == NULL)
        return fail_memory(reader->table, error);
    if (count > 0) {
        memcpy(data, reader->source.data, bytes);
        memcpy(data + count, reader->target.data, bytes);
    }
    *edges = (assay_tensor){"edges", ASSAY_I64, 2, {2, (int64_t)count}, data};
    return ASSAY_OK;
}

/* Called when the features have been read, so that `total` is confirmed. */
static assay_status make_graphs(const assay__number_table *table, const vector *nodes,
                                int64_t total, assay_error *error, assay_tensor *graphs)
{
    int64_t *data = reallocarray(NULL, (size_t)total + 1, sizeof *data), at = 0;
    if (data == NULL)
        return fail_memory(table, error);
    for (size_t graph = 0; graph < nodes->count; graph++)
        for (int64_t i = 0; i < ((int64_t *)nodes->data)[graph]; i++)
            data[at++] = (int64_t)graph;
    *graphs = (assay_tensor){"graphs", ASSAY_I64, 1, {total}, data};
    return ASSAY_OK;
}

static assay_status read_nodes(assay__number_table *table, int64_t total, assay_error *error,
                               assay_tensor *nodes)
{
    assay_status status = assay__number_table_read(table, error, nodes);
    if (status == ASSAY_OK && nodes->shape[0] != total) {
        return assay__fail(error, ASSAY_E_FORMAT,
                           "%s has %" PRId64 " rows, num-node-list announces %" PRId64 " nodes",
                           table->name, nodes->shape[0], total);
    }
    nodes->name = "nodes";
    return status;
}

assay_status assay__graph_read(assay__graph_tables *tables, assay_error *error,
                               assay_tensor tensors[3])
{
    vector nodes = {0}, edges = {0};
    edge_reader reader = {.table = &tables->edges};
    int64_t node_total, edge_total;
    memset(tensors, 0, 3 * sizeof *tensors);
    assay_status status = read_list(&tables->nodes_per_graph, error, &nodes, &node_total);
    if (status == ASSAY_OK)
        status = read_list(&tables->edges_per_graph, error, &edges, &edge_total);
    if (status == ASSAY_OK && (nodes.count != edges.count || nodes.count == 0)) {
        status = assay__fail(error, ASSAY_E_FORMAT, "%s has %zu graphs, %s has %zu",
                             tables->nodes_per_graph.name, nodes.count,
                             tables->edges_per_graph.name, edges.count);
    }
    if (status == ASSAY_OK)
        status = read_nodes(&tables->features, node_total, error, &tensors[0]);
    if (status == ASSAY_OK)
        status = make_graphs(&tables->features, &nodes, node_total, error, &tensors[2]);
    if (status == ASSAY_OK) {
        reader.nodes = nodes.data;
        status = read_edges(&reader, edges.data, edges.count, edge_total, error);
    }
    if (status == ASSAY_OK)
        status = make_edges(&reader, error, &tensors[1]);
    if (status != ASSAY_OK)
        for (int i = 0; i < 3; i++)
            assay_tensor_release(&tensors[i]);
    free(reader.source.data);
    free(reader.target.data);
    free(nodes.data);
    free(edges.data);
    return status;
}

/* Opens FOLDER/NAME.csv or FOLDER/NAME.csv.gz, or the same in FOLDER/raw. ASSAY_E_NOT_FOUND if none
 * exists. */
static assay_status open_table(const char *folder, const char *name, assay_error *error,
                               assay__number_table *table)
{
    static const char *const places[] = {"", "/raw"}, *const endings[] = {"", ".gz"};
    char path[MAX_PATH];
    for (int i = 0; i < 4; i++) {
        int length = snprintf(path, sizeof path, "%s%s/%s.csv%s", folder, places[i / 2], name,
                              endings[i % 2]);
        if (length >= 0 && (size_t)length < sizeof path && access(path, F_OK) == 0)
            return assay__number_table_open(table, path, error);
    }
    if (access(folder, F_OK) != 0)
        return assay__fail_errno(error, "cannot read graph folder '%s'", folder);
    return assay__fail(error, ASSAY_E_NOT_FOUND, "graph folder '%s' has no %s.csv or %s.csv.gz",
                       folder, name, name);
}

assay_status assay_tensor_load_graph(const char *folder, assay_error *error,
                                     assay_tensor tensors[3])
{
    memset(tensors, 0, 3 * sizeof *tensors);
    assay__graph_tables *tables = calloc(1, sizeof *tables);
    if (tables == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory while reading '%s'", folder);
    assay_status status = open_table(folder, "num-node-list", error, &tables->nodes_per_graph);
    if (status == ASSAY_OK)
        status = open_table(folder, "num-edge-list", error, &tables->edges_per_graph);
    if (status == ASSAY_OK)
        status = open_table(folder, "edge", error, &tables->edges);
    if (status == ASSAY_OK)
        status = open_table(folder, "node-feat", error, &tables->features);
    if (status == ASSAY_OK)
        status = assay__graph_read(tables, error, tensors);
    assay__number_table_release(&tables->nodes_per_graph);
    assay__number_table_release(&tables->edges_per_graph);
    assay__number_table_release(&tables->edges);
    assay__number_table_release(&tables->features);
    free(tables);
    return status;
}

assay_status assay_tensor_load_graph_labels(const char *folder, assay_error *error,
                                            assay_tensor *labels)
{
    *labels = (assay_tensor){0};
    assay__number_table *table = calloc(1, sizeof *table);
    if (table == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory while reading '%s'", folder);
    assay_status status = open_table(folder, "node-label", error, table);
    if (status == ASSAY_E_NOT_FOUND)
        status = open_table(folder, "graph-label", error, table);
    if (status == ASSAY_OK)
        status = assay__number_table_read(table, error, labels);
    assay__number_table_release(table);
    free(table);
    return status;
}
