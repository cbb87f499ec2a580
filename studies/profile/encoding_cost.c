#include "studies/profile/encoding_cost.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "models/graph/encoding.h"

typedef struct encoding {
    assay__encoder encoder;
    assay__graph graph;
    int64_t width;
    float *values; /* (nodes, width) */
    assay_error *error;
} encoding;

static assay_status encode_laplacian(void *data)
{
    encoding *self = data;
    return assay__encode_laplacian(&self->encoder, &self->graph, self->width, self->values,
                                   self->width, self->error);
}

static assay_status encode_walk(void *data)
{
    encoding *self = data;
    return assay__encode_walk(&self->encoder, &self->graph, self->width, self->values, self->width,
                              self->error);
}

assay_status assay__encoding_measure(const assay_pe_config *config,
                                     const assay_scaling_graph *graph, assay_error *error,
                                     assay_timing *timing)
{
    *timing = (assay_timing){0};
    if (strcmp(config->name, "none") == 0 || config->dim == 0)
        return ASSAY_OK;
    bool laplacian = strcmp(config->name, "lap") == 0;
    if (!laplacian && strcmp(config->name, "rwse") != 0)
        return assay__fail(error, ASSAY_E_ARGUMENT, "'%s' is no encoding", config->name);
    encoding self = {.width = config->dim, .error = error};
    assay__memory *memory = assay__memory_new();
    self.values = calloc((size_t)(graph->num_nodes * config->dim), sizeof *self.values);
    assay_status status = memory != NULL && self.values != NULL
                              ? ASSAY_OK
                              : assay__fail(error, ASSAY_E_MEMORY, "no memory for an encoding");
    if (status == ASSAY_OK) {
        assay__graph_init(&self.graph, memory);
        status = assay__graph_set(&self.graph, graph->num_nodes, graph->num_edges, graph->edges,
                                  NULL, error);
    }
    if (status == ASSAY_OK)
        status = assay_profile_pe_computation(laplacian ? encode_laplacian : encode_walk, &self,
                                              NULL, error, timing);
    free(self.values);
    assay__memory_free(memory);
    return status;
}
