/* assay_print_inference_benchmark(): prints the latencies of a timing, and the throughput that
 * follows from them, as a table. */
#include "assay/inference.h"

#include "report/cell.h"

enum { WIDTH = 40 };

assay_status assay_print_inference_benchmark(const assay_timing *timing, size_t samples_per_call,
                                             FILE *stream, const char *model_name)
{
    const struct {
        const char *label;
        double seconds;
    } latencies[] = {{"Mean latency:", timing->mean_seconds},
                     {"Min latency:", timing->min_seconds},
                     {"Max latency:", timing->max_seconds}};
    char number[ASSAY__CELL_BYTES], label[ASSAY__LABEL_BYTES];
    assay_reading throughput = assay_timing_throughput(timing, samples_per_call);
    assay__buffer table;
    assay__buffer_init(&table, ASSAY__TABLE_MAX_BYTES);
    assay__buffer_printf(&table, "%s Inference Benchmark:\n", assay__cell_label(label, model_name));
    assay__cell_rule(&table, '-', WIDTH);
    for (size_t i = 0; i < sizeof latencies / sizeof *latencies; i++)
        assay__buffer_printf(&table, "  %-18s%8s ms\n", latencies[i].label,
                             assay__cell_number(number, 1e3 * latencies[i].seconds, 3, 8));
    assay__buffer_printf(&table, "  %-18s%8s samples/sec\n",
                         "Throughput:", assay__cell_reading(number, throughput, 1, 10));
    assay__cell_rule(&table, '-', WIDTH);
    return assay__table_print(&table, stream);
}
