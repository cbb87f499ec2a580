/* Writes Google Benchmark's JSON (json_schema_version 1): one row for each sample, as a repetition,
 * then mean, median and stddev as aggregates.
 *
 * The file satisfies the strictest of its readers. Every row has real_time, cpu_time and time_unit,
 * because Bencher rejects a file that has other rows. Nothing is NaN, because
 * github-action-benchmark uses JSON.parse. The unit is always ns, because compare.py skips rows
 * whose unit differs between two files. compare.py also wants a cpu_time in every row, but assay
 * measures processor time for a subject as a whole. So each sample gets the subject's share of
 * processor time or, if that is not known, its real_time; the context says so. */
#include <math.h>
#include <string.h>

#include "record/fact.h"
#include "report/export.h"

static const double ns_in_second = 1e9;

static const char *machine(const assay_record *record, const char *key)
{
    return assay__fact_value(record->machine, record->machine_count, key);
}

/* "0.52 0.58 0.59" as [0.52, 0.58, 0.59]. */
static void print_load(assay__json *json, const char *loads)
{
    assay__json_row(json, "load_avg");
    while (loads != NULL && *loads != '\0') {
        double whole = 0.0, scale = 0.0;
        for (; *loads != '\0' && *loads != ' '; loads++)
            if (*loads == '.')
                scale = 1.0;
            else if (*loads >= '0' && *loads <= '9') {
                whole = whole * 10.0 + (*loads - '0');
                scale *= 10.0;
            }
        assay__json_number(json, NULL, scale > 0.0 ? whole / scale : whole);
        loads += strspn(loads, " ");
    }
    assay__json_end(json);
}

static void print_context(assay__json *json, const assay_record *record)
{
    const char *host = machine(record, "hostname"), *cores = machine(record, "cores");
    const char *governor = machine(record, "governor");
    int64_t cpus = 0;
    for (; cores != NULL && *cores >= '0' && *cores <= '9' && cpus < 1000000; cores++)
        cpus = cpus * 10 + (*cores - '0');
    assay__json_object(json, "context");
    assay__json_text(json, "date", record->created);
    assay__json_text(json, "host_name", host != NULL ? host : "");
    assay__json_text(json, "executable", "assay");
    if (cpus > 0)
        assay__json_integer(json, "num_cpus", cpus);
    if (record->clock.source != NULL && strcmp(record->clock.source, "tsc") == 0 &&
        record->clock.frequency_hz.validity == ASSAY_VALID)
        assay__json_number(json, "mhz_per_cpu", round(record->clock.frequency_hz.value / 1e6));
    if (governor != NULL)
        assay__json_flag(json, "cpu_scaling_enabled", strcmp(governor, "performance") != 0);
    assay__json_row(json, "caches");
    assay__json_end(json);
    print_load(json, machine(record, "load_average"));
    assay__json_text(json, "library_build_type", "release");
    assay__json_integer(json, "json_schema_version", 1);
    assay__json_text(json, "assay_version", record->assay_version);
    assay__json_text(json, "assay_cpu_time",
                     "real_time times the processor share of the whole subject; real_time itself "
                     "where processor time was not measured");
    assay__json_end(json);
}

typedef struct writer {
    assay__json json;
    assay__buffer name; /* name of an aggregate; its first failure sticks */
} writer;

typedef struct row {
    const assay__export_item *item;
    size_t family;
    double seconds;
    uint64_t iterations;
    const char *aggregate; /* NULL for a repetition */
    size_t repetition;
} row;

/* Processor time for each second of real time. */
static double processor_share(const assay__export_item *item)
{
    double share = item->processor_seconds.value / item->mean_seconds.value;
    return item->processor_seconds.validity == ASSAY_VALID &&
                   item->mean_seconds.validity == ASSAY_VALID && isfinite(share)
               ? share
               : 1.0;
}

static const char *row_name(writer *out, const row *shown)
{
    if (shown->aggregate == NULL)
        return shown->item->name;
    out->name.length = 0;
    assay__buffer_printf(&out->name, "%s_%s", shown->item->name, shown->aggregate);
    return out->name.data;
}

static void print_row(writer *out, const row *shown)
{
    const assay__export_item *item = shown->item;
    assay__json *json = &out->json;
    assay__json_object(json, NULL);
    assay__json_text(json, "name", row_name(out, shown));
    assay__json_count(json, "family_index", shown->family);
    assay__json_integer(json, "per_family_instance_index", 0);
    assay__json_text(json, "run_name", item->name);
    assay__json_text(json, "run_type", shown->aggregate != NULL ? "aggregate" : "iteration");
    assay__json_count(json, "repetitions", item->count > 0 ? item->count : 1);
    if (shown->aggregate == NULL)
        assay__json_count(json, "repetition_index", shown->repetition);
    assay__json_integer(json, "threads", 1);
    if (shown->aggregate != NULL) {
        assay__json_text(json, "aggregate_name", shown->aggregate);
        assay__json_text(json, "aggregate_unit", "time");
    }
    assay__json_count(json, "iterations", shown->iterations);
    assay__json_number(json, "real_time", shown->seconds * ns_in_second);
    assay__json_number(json, "cpu_time", shown->seconds * processor_share(item) * ns_in_second);
    assay__json_text(json, "time_unit", "ns");
    assay__json_end(json);
}

static void print_subject(writer *out, const assay__export_item *item, size_t family)
{
    const struct {
        const char *name;
        assay_reading seconds;
    } aggregates[] = {{"mean", item->mean_seconds},
                      {"median", item->median_seconds},
                      {"stddev", item->std_seconds}};
    uint64_t iterations = item->subject->iterations > 0 ? item->subject->iterations : 1;
    for (size_t i = 0; i < item->count; i++)
        print_row(out, &(row){item, family, item->seconds[i], iterations, NULL, i});
    for (size_t i = 0; i < sizeof aggregates / sizeof *aggregates && item->count != 1; i++)
        if (aggregates[i].seconds.validity == ASSAY_VALID)
            print_row(out, &(row){item, family, aggregates[i].seconds.value, item->count,
                                  aggregates[i].name, 0});
}

assay_status assay__export_google_benchmark(const assay__export_list *list, FILE *stream,
                                            assay_error *error)
{
    writer out;
    assay__json_init(&out.json, stream, 0);
    assay__buffer_init(&out.name, ASSAY__EXPORT_MAX_TEXT);
    assay__json_object(&out.json, NULL);
    print_context(&out.json, list->records[0]);
    assay__json_array(&out.json, "benchmarks");
    for (size_t i = 0; i < list->item_count; i++)
        print_subject(&out, &list->items[i], i);
    assay__json_end(&out.json);
    assay__json_end(&out.json);
    assay_status named = out.name.status;
    assay__buffer_release(&out.name);
    return assay__export_finish(&out.json, named, error);
}
