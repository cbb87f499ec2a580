/* The four tables of a graph folder with any content, one after another between NUL bytes. They are
 * refused with a message, or give edges between nodes that exist. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/file/graph_folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Cut the next table off the input. */
static assay_status open_next(assay__number_table *table, const uint8_t **data, size_t *size)
{
    const uint8_t *end = *size > 0 ? memchr(*data, 0, *size) : NULL;
    size_t length = end != NULL ? (size_t)(end - *data) : *size;
    assay_status status = assay__number_table_open_bytes(table, "table", *data, length, NULL);
    size_t used = length + (end != NULL);
    *data += used;
    *size -= used;
    return status;
}

static void check(const assay_tensor tensors[3])
{
    const int64_t nodes = tensors[0].shape[0], edges = tensors[1].shape[1];
    const int64_t *edge = tensors[1].data, *graph = tensors[2].data;
    for (int64_t i = 0; i < 2 * edges; i++) {
        if (edge[i] < 0 || edge[i] >= nodes) {
            abort();
        }
    }
    for (int64_t i = 0; i < edges; i++) {
        if (graph[edge[i]] != graph[edge[edges + i]]) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay_error error = {0};
    assay_tensor tensors[3];
    assay__graph_tables *tables = calloc(1, sizeof *tables);
    if (tables == NULL || open_next(&tables->nodes_per_graph, &data, &size) != ASSAY_OK ||
        open_next(&tables->edges_per_graph, &data, &size) != ASSAY_OK ||
        open_next(&tables->edges, &data, &size) != ASSAY_OK ||
        open_next(&tables->features, &data, &size) != ASSAY_OK) {
        abort();
    }
    assay_status status = assay__graph_read(tables, &error, tensors);
    if (status == ASSAY_OK) {
        check(tensors);
    } else if (error.message[0] == '\0' || tensors[0].data != NULL) {
        abort();
    }
    for (int i = 0; i < 3; i++) {
        assay_tensor_release(&tensors[i]);
    }
    assay__number_table_release(&tables->nodes_per_graph);
    assay__number_table_release(&tables->edges_per_graph);
    assay__number_table_release(&tables->edges);
    assay__number_table_release(&tables->features);
    free(tables);
    return 0;
}
