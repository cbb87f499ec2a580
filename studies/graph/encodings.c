/* Measures encodings on graphs of five sizes, each twice as large as the one before, because fewer
 * sizes do not show the class of growth. The encodings are computed from the edges alone
 * (encoding_cost.h), so that no model's cache hides the cost. */
#include "studies/graph/encodings.h"

#include <string.h>

#include "assay/flops.h"
#include "assay/growth.h"
#include "assay/record_build.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "studies/common/results.h"
#include "studies/graph/files.h"
#include "studies/profile/encoding_cost.h"
#include "studies/profile/view.h"

enum { SIZES = 5, STORES = 4 };
static const char parameter[] = "num_nodes", dim_figure[] = "encoding_dim";

/* The kinds of storage: the name of the series in bytes, and the member of the JSON in MB. */
static const struct {
    const char *series, *key;
} stores[STORES] = {{"node_pe_bytes", "node_pe_mb"},
                    {"relative_pe_dense_bytes", "relative_pe_dense_mb"},
                    {"relative_pe_sparse_bytes", "relative_pe_sparse_mb"},
                    {"attention_bytes", "attention_mb"}};

/* ---- measuring ---- */

static assay_status measure_graphs(const assay__encoding_growth_plan *plan,
                                   const assay_scaling_graph *graphs, assay_error *error,
                                   assay_record *record)
{
    assay_status status = ASSAY_OK;
    for (int i = 0; i < SIZES && status == ASSAY_OK; i++) {
        if (plan->advance != NULL && !plan->advance(plan->context, (double)i / SIZES))
            return ASSAY_E_STATE;
        status = assay__encodings_measure(&graphs[i], plan->dim, parameter, error, record);
    }
    return status;
}

static assay_status store(const assay__encoding_growth_plan *plan,
                          const assay_scaling_graph *graphs, assay_record *record)
{
    double nodes[SIZES], bytes[STORES][SIZES];
    for (int i = 0; i < SIZES; i++) {
        nodes[i] = (double)graphs[i].num_nodes;
        assay_pe_storage storage = assay_estimate_pe_storage(
            graphs[i].num_nodes, plan->dim, 1, (double)graphs[i].num_edges / (nodes[i] * nodes[i]));
        bytes[0][i] = storage.node_pe_bytes;
        bytes[1][i] = storage.relative_pe_dense_bytes;
        bytes[2][i] = storage.relative_pe_sparse_bytes;
        bytes[3][i] = assay_estimate_attention_memory(graphs[i].num_nodes, plan->num_heads,
                                                      plan->hidden_dim, plan->batch_size);
    }
    assay_status status =
        assay__found_figure(record, dim_figure, NULL, assay_reading_of((double)plan->dim), NULL);
    for (int s = 0; s < STORES && status == ASSAY_OK; s++)
        status =
            assay__found_series(record, stores[s].series, NULL, parameter, nodes, bytes[s], SIZES);
    return status;
}

/* The axis whose subjects are those of an encoding, in the order of their sizes. */
static assay__axis_view axis_of(const char *model)
{
    return (assay__axis_view){.name = model, .parameter = parameter, .model = model};
}

static assay_status fit(const char *model, const double *nodes, assay_error *error,
                        assay_record *record)
{
    const assay__axis_view axis = axis_of(model);
    const assay_record_subject *subject;
    double seconds[SIZES];
    size_t count = 0;
    for (size_t at = 0; count < SIZES && (subject = assay__axis_next(record, &axis, &at)) != NULL;)
        seconds[count++] = subject->mean_seconds.value;
    assay_growth *growth = NULL;
    assay_status status = assay_growth_fit(nodes, seconds, count, error, &growth);
    if (status != ASSAY_OK)
        return status;
    assay_record_scaling scaling;
    assay_record_scaling_init(&scaling);
    scaling.name = model;
    scaling.of = model;
    scaling.parameter = parameter;
    scaling.growth_class = assay_growth_class_name(growth->growth_class);
    scaling.exponent = growth->exponent;
    scaling.low = growth->low;
    scaling.high = growth->high;
    scaling.conclusive = growth->conclusive;
    assay_growth_free(growth);
    return assay_record_add_scaling(record, &scaling);
}

assay_status assay__encoding_growth_measure(const assay__encoding_growth_plan *plan,
                                            assay_error *error, assay_record *record)
{
    assay_scaling_graph *graphs = NULL;
    int64_t nodes[SIZES];
    for (int i = 0; i < SIZES; i++) {
        int64_t wanted = plan->num_nodes >> (SIZES - 1 - i), least = plan->dim + 1 + i;
        nodes[i] = wanted > least ? wanted : least;
    }
    assay_status status = assay_generate_scaling_graphs(nodes, SIZES, plan->avg_degree, 1,
                                                        plan->seed, error, &graphs);
    if (status == ASSAY_OK)
        status = measure_graphs(plan, graphs, error, record);
    if (status == ASSAY_OK)
        status = store(plan, graphs, record);
    if (graphs != NULL)
        assay_scaling_graphs_free(graphs, SIZES);
    for (int e = 0; e < ASSAY__ENCODINGS && status == ASSAY_OK; e++) {
        const assay_record_series *places =
            assay__record_find_series(record, stores[0].series, NULL);
        status = fit(assay__encoding_model(e), places->places, error, record);
    }
    return status;
}

/* ---- views ---- */

bool assay__encoding_growth_known(const assay_record *record)
{
    return assay__record_find_series(record, stores[STORES - 1].series, NULL) != NULL;
}

/* The subject of an encoding at one of its sizes, or NULL if there is none. */
static const assay_record_subject *subject_at(const assay_record *record, int encoding,
                                              size_t index)
{
    const assay__axis_view axis = axis_of(assay__encoding_model(encoding));
    const assay_record_subject *subject = NULL;
    size_t at = 0;
    for (size_t i = 0; i <= index; i++)
        subject = assay__axis_next(record, &axis, &at);
    return subject;
}

static void print_row(const assay_record *record, size_t index, FILE *stream)
{
    const assay_record_series *first = assay__record_find_series(record, stores[0].series, NULL);
    fprintf(stream, "%-8.0f", first->places[index]);
    for (int e = 0; e < ASSAY__ENCODINGS; e++) {
        const assay_record_subject *subject = subject_at(record, e, index);
        fprintf(stream, " %11.4f", subject != NULL ? 1e3 * subject->mean_seconds.value : 0);
    }
    static const int widths[STORES] = {10, 14, 14, 10};
    for (int s = 0; s < STORES; s++) {
        const assay_record_series *series =
            assay__record_find_series(record, stores[s].series, NULL);
        fprintf(stream, "%*.4f", widths[s], series->values[index] / ASSAY__BYTES_IN_MB);
    }
    fputc('\n', stream);
}

void assay__encoding_growth_print(const assay_record *record, FILE *stream)
{
    const assay_record_series *first = assay__record_find_series(record, stores[0].series, NULL);
    fputs("\nENCODINGS BY NODES: time computed once, storage in MB\n", stream);
    fprintf(stream, "%-8s %11s %11s %9s %13s %13s %9s\n", "nodes", "lap (ms)", "rwse (ms)", "node",
            "rel. dense", "rel. sparse", "attention");
    for (size_t i = 0; i < first->count; i++)
        print_row(record, i, stream);
    for (int e = 0; e < ASSAY__ENCODINGS; e++) {
        const assay_record_scaling *scaling =
            assay__graph_scaling(record, assay__encoding_model(e));
        if (scaling == NULL)
            continue;
        fprintf(stream, "%-4s grows as %s", assay__encoding_name(e),
                scaling->growth_class != NULL ? scaling->growth_class : "n/a");
        assay__graph_print_exponent(scaling, ", exponent ", stream);
        fputc('\n', stream);
    }
    fprintf(stream, "dim %.0f; storage is estimated, of relative encodings with one bucket\n",
            assay__record_figure(record, dim_figure, NULL).value);
}

static void write_encoding(assay__json *json, const assay_record *record, int encoding)
{
    const assay__axis_view axis = axis_of(assay__encoding_model(encoding));
    const assay_record_scaling *scaling = assay__graph_scaling(record, axis.model);
    const assay_record_subject *subject;
    assay__json_object(json, assay__encoding_name(encoding));
    assay__json_array(json, "runtime_stats");
    for (size_t at = 0; (subject = assay__axis_next(record, &axis, &at)) != NULL;) {
        const assay__times times = assay__times_of(subject);
        assay__times_write_json(json, NULL, &times);
    }
    assay__json_end(json);
    if (scaling != NULL) {
        assay__json_text(json, "class", scaling->growth_class);
        assay__json_reading(json, "exponent", scaling->exponent);
        assay__json_reading(json, "low", scaling->low);
        assay__json_reading(json, "high", scaling->high);
        assay__json_flag(json, "conclusive", scaling->conclusive);
    }
    assay__json_end(json);
}

void assay__encoding_growth_write_json(assay__json *json, const assay_record *record)
{
    const assay_record_series *first = assay__record_find_series(record, stores[0].series, NULL);
    assay__json_reading(json, "dim", assay__record_figure(record, dim_figure, NULL));
    assay__json_row(json, parameter);
    for (size_t i = 0; i < first->count; i++)
        assay__json_number(json, NULL, first->places[i]);
    assay__json_end(json);
    for (int s = 0; s < STORES; s++) {
        const assay_record_series *series =
            assay__record_find_series(record, stores[s].series, NULL);
        assay__json_row(json, stores[s].key);
        for (size_t i = 0; i < series->count; i++)
            assay__json_number(json, NULL, series->values[i] / ASSAY__BYTES_IN_MB);
        assay__json_end(json);
    }
    for (int e = 0; e < ASSAY__ENCODINGS; e++)
        write_encoding(json, record, e);
}
