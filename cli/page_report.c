/* Prints the data of the page as one JSON object (web/src/record.ts has its types):
 *
 *     {"records": [{"about": {"origin": "a.json"}, "record": {…},
 *                   "growths": [{"about": {"parameter": "n"}, "series": [{…}]}]}],
 *      "comparison": {…}}
 *
 * `record` is the run record without its events. `series` holds the output of
 * assay_growth_print_json(). `comparison` is the record that compares the other records with the
 * first; it is null if there is only one record, or if the records have nothing in common. The
 * traces of the records are blocks of their own (page_trace.h). */
#include "cli/page_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/compare.h"
#include "assay/growth.h"
#include "base/json_writer.h"
#include "cli/page.h"
#include "cli/page_trace.h"

typedef struct report_data {
    const assay_record *const *records;
    const char *const *origins;
    size_t count;
    const assay_record *comparison; /* or NULL */
} report_data;

static assay_status print_growth(const assay_record *record, const char *parameter, bool *first,
                                 FILE *stream, assay_error *error)
{
    assay_growth_sweep fits;
    assay__json json;
    assay_status status = assay_growth_sweep_fit(record, parameter, NULL, error, &fits);
    if (status != ASSAY_OK) {
        assay_growth_sweep_release(&fits);
        return status == ASSAY_E_MEMORY ? status : ASSAY_OK; /* the record is no sweep of sizes */
    }
    fputs(*first ? "{\"about\":" : ",{\"about\":", stream);
    *first = false;
    assay__json_init(&json, stream, ASSAY__JSON_COMPACT);
    assay__json_object(&json, NULL);
    assay__json_text(&json, "parameter", fits.parameter);
    assay__json_end(&json);
    status = assay__json_finish(&json);
    fputs(",\"series\":[", stream);
    for (size_t i = 0; i < fits.count && status == ASSAY_OK; i++) {
        fputs(i > 0 ? "," : "", stream);
        status = assay_growth_print_json(fits.series[i], stream, error);
    }
    fputs("]}", stream);
    assay_growth_sweep_release(&fits);
    return status;
}

/* Whether an earlier scaling of the record has the same parameter. */
static bool is_repeated(const assay_record *record, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(record->scalings[i].parameter, record->scalings[index].parameter) == 0)
            return true;
    return false;
}

/* Print the growths with the parameters that the record names as scalings. If it names none, the
 * growth with the parameter that differs between its subjects. */
static assay_status print_growths(const assay_record *record, FILE *stream, assay_error *error)
{
    bool first = true;
    assay_status status = ASSAY_OK;
    fputs("[", stream);
    if (record->scaling_count == 0)
        status = print_growth(record, NULL, &first, stream, error);
    for (size_t i = 0; i < record->scaling_count && status == ASSAY_OK; i++)
        if (record->scalings[i].parameter != NULL && !is_repeated(record, i))
            status = print_growth(record, record->scalings[i].parameter, &first, stream, error);
    fputs("]", stream);
    return status;
}

static assay_status print_record(const report_data *data, size_t index, FILE *stream,
                                 assay_error *error)
{
    assay__json json;
    fputs("{\"about\":", stream);
    assay__json_init(&json, stream, ASSAY__JSON_COMPACT);
    assay__json_object(&json, NULL);
    assay__json_text(&json, "origin", data->origins[index]);
    assay__json_end(&json);
    assay_status status = assay__json_finish(&json);
    fputs(",\"record\":", stream);
    if (status == ASSAY_OK)
        status = assay_record_print(data->records[index], stream, ASSAY_RECORD_COMPACT, error);
    fputs(",\"growths\":", stream);
    if (status == ASSAY_OK)
        status = print_growths(data->records[index], stream, error);
    fputs("}", stream);
    return status;
}

static assay_status print_data(const void *subject, FILE *stream, assay_error *error)
{
    const report_data *data = subject;
    assay_status status = ASSAY_OK;
    fputs("{\"records\":[", stream);
    for (size_t i = 0; i < data->count && status == ASSAY_OK; i++) {
        fputs(i > 0 ? "," : "", stream);
        status = print_record(data, i, stream, error);
    }
    fputs("],\"comparison\":", stream);
    if (status == ASSAY_OK && data->comparison != NULL)
        status = assay_record_print(data->comparison, stream, ASSAY_RECORD_COMPACT, error);
    else
        fputs("null", stream);
    fputs("}", stream);
    return status;
}

/* Compare each other record with the first. If they have nothing in common, returns ASSAY_OK and
 * sets `*comparison` to NULL. */
static assay_status compare(const report_data *data, assay_error *error, assay_record **comparison)
{
    assay_compare_side sides[PAGE_MAX_RECORDS];
    *comparison = NULL;
    if (data->count < 2)
        return ASSAY_OK;
    for (size_t i = 0; i < data->count; i++) {
        sides[i] = (assay_compare_side)ASSAY_COMPARE_SIDE_INIT;
        sides[i].origin = data->origins[i];
        sides[i].records = &data->records[i];
        sides[i].count = 1;
    }
    assay_status status = assay_records_compare(sides, data->count, NULL, error, comparison);
    return status == ASSAY_E_DATA || status == ASSAY_E_LIMIT ? ASSAY_OK : status;
}

/* Whether the record has nothing to show but the description of the machine. */
static bool is_empty(const assay_record *it)
{
    return it->operation_count == 0 && it->metric_count == 0 && it->counter_count == 0 &&
           it->lane_count == 0 && it->subject_count == 0 && it->comparison_count == 0 &&
           it->figure_count == 0 && it->series_count == 0 && it->model_count == 0 &&
           !it->has_process && !it->has_python && it->device_count == 0 &&
           it->difference_count == 0 && it->event_count == 0 && it->open_span_count == 0;
}

/* Save the page with the block of the data, and with a block "trace-0", … for each record that has
 * a trace. */
static assay_status save(const char *path, const report_data *data, assay_error *error)
{
    page_block blocks[1 + PAGE_MAX_RECORDS] = {{"data", "application/json", print_data, data}};
    size_t count = 1;
    for (size_t i = 0; i < data->count; i++) {
        if (!page_trace_has(data->records[i]))
            continue;
        page_block *it = &blocks[count++];
        *it = (page_block){.type = "application/octet-stream",
                           .print = page_trace_print,
                           .subject = data->records[i]};
        snprintf(it->id, sizeof it->id, "trace-%zu", i);
    }
    return page_save(path, blocks, count, error);
}

assay_status page_report_save(const char *path, const assay_record *const *records,
                              const char *const *origins, size_t count, assay_error *error)
{
    report_data data = {records, origins, count, NULL};
    assay_record *comparison = NULL;
    size_t empty = 0;
    if (count > PAGE_MAX_RECORDS) {
        *error = (assay_error){.status = ASSAY_E_LIMIT};
        snprintf(error->message, sizeof error->message, "a page shows at most %d records, not %zu",
                 PAGE_MAX_RECORDS, count);
        return error->status;
    }
    for (size_t i = 0; i < count; i++)
        empty += is_empty(records[i]);
    if (empty == count) {
        *error = (assay_error){ASSAY_E_DATA, "nothing to show: there are no spans, benchmarks, "
                                             "figures or processes in it"};
        return error->status;
    }
    assay_status status = compare(&data, error, &comparison);
    data.comparison = comparison;
    if (status == ASSAY_OK)
        status = save(path, &data, error);
    assay_record_free(comparison);
    return status;
}
