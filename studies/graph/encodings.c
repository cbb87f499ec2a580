/* Graphs of five sizes, each twice the one before, because a class of growth cannot be told from
 * less; computed from the edges alone (encoding_cost.h), so that no model's cache hides the cost.
 */
#include "studies/graph/encodings.h"

#include "assay/flops.h"
#include "assay/growth.h"
#include "base/error.h"
#include "studies/graph/files.h"
#include "studies/profile/encoding_cost.h"
#include "studies/profile/profile.h"

enum { SIZES = 5, ENCODINGS = 2 };
static const char *const names[ENCODINGS] = {"lap", "rwse"};

typedef struct costs_table {
    int64_t nodes[SIZES];
    double edges[SIZES];
    assay_timing stats[ENCODINGS][SIZES];
} costs_table;

static assay_status measure(const assay__encoding_growth_plan *plan, assay_error *error,
                            costs_table *table)
{
    assay_scaling_graph *graphs = NULL;
    for (int i = 0; i < SIZES; i++) {
        int64_t nodes = plan->num_nodes >> (SIZES - 1 - i), least = plan->dim + 1 + i;
        table->nodes[i] = nodes > least ? nodes : least;
    }
    assay_status status = assay_generate_scaling_graphs(table->nodes, SIZES, plan->avg_degree, 1,
                                                        plan->seed, error, &graphs);
    for (int i = 0; i < SIZES && status == ASSAY_OK; i++) {
        table->edges[i] = (double)graphs[i].num_edges;
        if (plan->advance != NULL && !plan->advance(plan->context, (double)i / SIZES))
            status = ASSAY_E_STATE;
        for (int e = 0; e < ENCODINGS && status == ASSAY_OK; e++)
            status = assay__encoding_measure(&(assay_pe_config){names[e], plan->dim}, &graphs[i],
                                             error, &table->stats[e][i]);
    }
    assay_scaling_graphs_free(graphs, SIZES);
    return status;
}

static json_t *stats_json(const assay_timing *timing)
{
    return json_pack("{sf, sf, sf, sf, sI, ss}", "mean", 1e3 * timing->mean_seconds, "std",
                     1e3 * timing->std_seconds.value, "min", 1e3 * timing->min_seconds, "max",
                     1e3 * timing->max_seconds, "num_runs", (json_int_t)timing->count, "unit",
                     "ms");
}

static json_t *reading_json(assay_reading reading)
{
    return reading.validity == ASSAY_VALID ? json_real(reading.value) : json_null();
}

static assay_status encoding_json(const costs_table *table, int e, assay_error *error,
                                  json_t **object)
{
    double sizes[SIZES], seconds[SIZES];
    json_t *list = json_array();
    assay_growth *growth = NULL;
    for (int i = 0; i < SIZES; i++) {
        sizes[i] = (double)table->nodes[i];
        seconds[i] = table->stats[e][i].mean_seconds;
        json_array_append_new(list, stats_json(&table->stats[e][i]));
    }
    assay_status status = assay_growth_fit(sizes, seconds, SIZES, error, &growth);
    if (status != ASSAY_OK) {
        json_decref(list);
        return status;
    }
    *object = json_pack("{so, ss, so, so, so, sb}", "runtime_stats", list, "class",
                        assay_growth_class_name(growth->growth_class), "exponent",
                        reading_json(growth->exponent), "low", reading_json(growth->low), "high",
                        reading_json(growth->high), "conclusive", (int)growth->conclusive);
    assay_growth_free(growth);
    return *object == NULL ? assay__fail(error, ASSAY_E_MEMORY, "out of memory") : ASSAY_OK;
}

static json_t *storage_json(const assay__encoding_growth_plan *plan, const costs_table *table)
{
    json_t *nodes = json_array(), *node = json_array(), *dense = json_array();
    json_t *sparse = json_array(), *attention = json_array();
    for (int i = 0; i < SIZES; i++) {
        double all = (double)table->nodes[i] * (double)table->nodes[i];
        assay_pe_storage storage =
            assay_estimate_pe_storage(table->nodes[i], plan->dim, 1, table->edges[i] / all);
        json_array_append_new(nodes, json_integer(table->nodes[i]));
        json_array_append_new(node, json_real(storage.node_pe_bytes / ASSAY__BYTES_IN_MB));
        json_array_append_new(dense,
                              json_real(storage.relative_pe_dense_bytes / ASSAY__BYTES_IN_MB));
        json_array_append_new(sparse,
                              json_real(storage.relative_pe_sparse_bytes / ASSAY__BYTES_IN_MB));
        json_array_append_new(attention, json_real(assay_estimate_attention_memory(
                                                       table->nodes[i], plan->num_heads,
                                                       plan->hidden_dim, plan->batch_size) /
                                                   ASSAY__BYTES_IN_MB));
    }
    return json_pack("{sI, so, so, so, so, so}", "dim", (json_int_t)plan->dim, "num_nodes", nodes,
                     "node_pe_mb", node, "relative_pe_dense_mb", dense, "relative_pe_sparse_mb",
                     sparse, "attention_mb", attention);
}

assay_status assay__encoding_growth_measure(const assay__encoding_growth_plan *plan,
                                            assay_error *error, json_t **costs)
{
    costs_table table = {0};
    assay_status status = measure(plan, error, &table);
    if (status != ASSAY_OK)
        return status;
    json_t *result = storage_json(plan, &table);
    if (result == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory");
    for (int e = 0; e < ENCODINGS && status == ASSAY_OK; e++) {
        json_t *object = NULL;
        status = encoding_json(&table, e, error, &object);
        if (status == ASSAY_OK && json_object_set_new(result, names[e], object) != 0)
            status = assay__fail(error, ASSAY_E_MEMORY, "out of memory");
    }
    if (status == ASSAY_OK)
        *costs = result;
    else
        json_decref(result);
    return status;
}

/* ---- Text ---- */

static double number_at(const json_t *object, const char *key, size_t index)
{
    return json_number_value(json_array_get(json_object_get(object, key), index));
}

static double mean_at(const json_t *costs, const char *name, size_t index)
{
    const json_t *stats =
        json_array_get(json_object_get(json_object_get(costs, name), "runtime_stats"), index);
    return json_number_value(json_object_get(stats, "mean"));
}

static void print_growth(const json_t *costs, const char *name, FILE *stream)
{
    const json_t *one = json_object_get(costs, name);
    fprintf(stream, "%-4s grows as %s", name, json_string_value(json_object_get(one, "class")));
    assay__graph_print_exponent(one, ", exponent ", stream);
    fputc('\n', stream);
}

void assay__encoding_growth_print(const json_t *costs, FILE *stream)
{
    fputs("\nENCODINGS BY NODES: time computed once, storage in MB\n", stream);
    fprintf(stream, "%-8s%12s%12s%10s%14s%14s%10s\n", "nodes", "lap (ms)", "rwse (ms)", "node",
            "rel. dense", "rel. sparse", "attention");
    for (size_t i = 0; i < json_array_size(json_object_get(costs, "num_nodes")); i++)
        fprintf(stream, "%-8.0f%12.4f%12.4f%10.4f%14.4f%14.4f%10.4f\n",
                number_at(costs, "num_nodes", i), mean_at(costs, names[0], i),
                mean_at(costs, names[1], i), number_at(costs, "node_pe_mb", i),
                number_at(costs, "relative_pe_dense_mb", i),
                number_at(costs, "relative_pe_sparse_mb", i), number_at(costs, "attention_mb", i));
    for (int e = 0; e < ENCODINGS; e++)
        print_growth(costs, names[e], stream);
    fprintf(stream, "dim %lld; storage is estimated, of relative encodings with one bucket\n",
            (long long)json_integer_value(json_object_get(costs, "dim")));
}
