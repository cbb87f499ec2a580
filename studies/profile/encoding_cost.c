/* Samples the functions of models/graph/encoding.h on a graph, without a model. */
#include "studies/profile/encoding_cost.h"

#include <inttypes.h>
#include <stdlib.h>

#include "assay/record_build.h"
#include "assay/sampling.h"
#include "base/error.h"
#include "models/graph/encoding.h"
#include "studies/common/results.h"

enum { RUNS = 10, WARMUP = 2, NAME_BYTES = 128 };

typedef assay_status (*encode)(assay__encoder *encoder, assay__graph *graph, int64_t width,
                               float *values, int64_t stride, assay_error *error);

static const struct {
    const char *name, *model;
    encode run;
} encodings[ASSAY__ENCODINGS] = {{"lap", "lap encoding", assay__encode_laplacian},
                                 {"rwse", "rwse encoding", assay__encode_walk}};

const char *assay__encoding_name(int encoding)
{
    return encodings[encoding].name;
}

const char *assay__encoding_model(int encoding)
{
    return encodings[encoding].model;
}

typedef struct encoding {
    encode run;
    assay__encoder encoder;
    assay__graph *graph;
    int64_t width;
    float *values; /* (nodes, width) */
    assay_error *error;
} encoding;

static assay_status run(void *context, uint64_t iterations)
{
    encoding *self = context;
    assay_status status = ASSAY_OK;
    for (uint64_t i = 0; i < iterations && status == ASSAY_OK; i++)
        status = self->run(&self->encoder, self->graph, self->width, self->values, self->width,
                           self->error);
    return status;
}

static assay_status sample(assay__graph *graph, int64_t width, float *values, const char *parameter,
                           int64_t nodes, assay_error *error, assay_record **record)
{
    encoding all[ASSAY__ENCODINGS];
    assay_subject subjects[ASSAY__ENCODINGS];
    char names[ASSAY__ENCODINGS][NAME_BYTES], size[24];
    assay_error words = {0}; /* message of the encoding; that of the sampling says less */
    snprintf(size, sizeof size, "%" PRId64, nodes);
    const assay_record_fact fact = {parameter, size, ASSAY_VALID};
    for (int i = 0; i < ASSAY__ENCODINGS; i++) {
        all[i] = (encoding){.run = encodings[i].run,
                            .graph = graph,
                            .width = width,
                            .values = values,
                            .error = &words};
        if (parameter != NULL)
            snprintf(names[i], NAME_BYTES, "%s/%s=%s", encodings[i].model, parameter, size);
        else
            snprintf(names[i], NAME_BYTES, "%s", encodings[i].model);
        subjects[i] = (assay_subject)ASSAY_SUBJECT_INIT;
        subjects[i].name = names[i];
        subjects[i].run = run;
        subjects[i].context = &all[i];
        subjects[i].parameters = &fact;
        subjects[i].parameter_count = parameter != NULL ? 1 : 0;
    }
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.yardstick = true;
    options.runs = RUNS;
    options.warmup = WARMUP;
    assay_status status = assay_sampling_run(subjects, ASSAY__ENCODINGS, &options, error, record);
    if (status != ASSAY_OK && words.message[0] != '\0' && error != NULL)
        *error = words;
    return status;
}

static assay_status take(const assay_record *sampled, assay_record *record)
{
    size_t first = record->subject_count;
    assay_status status = assay__record_append(record, sampled);
    for (size_t i = 0; i < ASSAY__ENCODINGS && status == ASSAY_OK; i++) {
        record->subjects[first + i].model = encodings[i].model;
        record->subjects[first + i].covers = "computed once, from the edges";
    }
    return status;
}

assay_status assay__encodings_measure(const assay_scaling_graph *graph, int64_t width,
                                      const char *parameter, assay_error *error,
                                      assay_record *record)
{
    assay__graph edges;
    assay_record *sampled = NULL;
    assay__memory *memory = assay__memory_new();
    float *values = calloc((size_t)(graph->num_nodes * width), sizeof *values);
    assay_status status = memory != NULL && values != NULL
                              ? ASSAY_OK
                              : assay__fail(error, ASSAY_E_MEMORY, "no memory for an encoding");
    if (status == ASSAY_OK) {
        assay__graph_init(&edges, memory);
        status =
            assay__graph_set(&edges, graph->num_nodes, graph->num_edges, graph->edges, NULL, error);
    }
    if (status == ASSAY_OK)
        status = sample(&edges, width, values, parameter, graph->num_nodes, error, &sampled);
    if (status == ASSAY_OK)
        status = take(sampled, record);
    assay_record_free(sampled);
    free(values);
    assay__memory_free(memory);
    return status;
}
