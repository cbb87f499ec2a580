/* Timers written for other tools: CSV with one row for each timer, JSON with all its figures.
 *
 *     {"timestamp": "2026-11-15T04:11:49Z", "section": "Section 1.1",
 *      "timings": {"MLP": 120, "KAN": {"time": 12.45, "peak_memory_mb": 234.5}}}
 *
 * A timer that has nothing but a time is written as a number. Any other timer is written as an
 * object. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "assay/report.h"
#include "assay/timers.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "report/cell.h"
#include "report/csv_writer.h"

assay_status assay_export_timing_csv(const assay_timers *timers, const char *path,
                                     const char *section_name, assay_error *error)
{
    char section[ASSAY__LABEL_BYTES];
    assay__buffer csv;
    assay__buffer_init(&csv, ASSAY__TABLE_MAX_BYTES);
    assay__cell_label(section, section_name);
    assay__buffer_append_text(&csv, "Section,Model,Time (s)\n");
    for (size_t i = 0; i < assay_timers_count(timers); i++) {
        assay_timer timer = assay_timers_at(timers, i);
        assay__csv_text(&csv, section_name != NULL ? section : "");
        assay__buffer_append_text(&csv, ",");
        assay__csv_text(&csv, timer.name);
        assay__buffer_append_text(&csv, ",");
        assay__csv_reading(&csv, timer.time);
        assay__buffer_append_text(&csv, "\n");
    }
    return assay__table_write(&csv, path, error);
}

typedef struct timing_export {
    const assay_timers *timers;
    const char *section_name;
} timing_export;

/* Write one metric. The JSON counts memory in MB of 2^20 bytes (document B of docs/seed-map.md), so
 * a key that ends in "_bytes" becomes one that ends in "_mb", in place. */
static void print_metric(assay__json *json, assay_timer_metric *metric)
{
    static const char bytes[] = "_bytes";
    size_t length = strlen(metric->key), suffix = sizeof bytes - 1;
    if (length > suffix && strcmp(metric->key + length - suffix, bytes) == 0) {
        memcpy(metric->key + length - suffix, "_mb", sizeof "_mb");
        metric->value = assay__in_mb(metric->value);
    }
    assay__json_reading(json, metric->key, metric->value);
}

static void print_timer(assay__json *json, const assay_timers *timers, size_t index)
{
    assay_timer timer = assay_timers_at(timers, index);
    if (timer.metric_count == 0 && timer.parent < 0 && timer.time.validity == ASSAY_VALID) {
        assay__json_number(json, timer.name, timer.time.value);
        return;
    }
    assay_timer_metric metrics[ASSAY_TIMER_METRICS]; /* their keys are used until the object ends */
    assay__json_object(json, timer.name);
    assay__json_reading(json, "time", timer.time);
    for (size_t i = 0; i < timer.metric_count; i++) {
        metrics[i] = timer.metrics[i];
        print_metric(json, &metrics[i]);
    }
    if (timer.parent >= 0)
        assay__json_text(json, "inside", assay_timers_at(timers, (size_t)timer.parent).name);
    assay__json_end(json);
}

static assay_status print_json(const void *subject, FILE *stream, assay_error *error)
{
    const timing_export *export = subject;
    char timestamp[ASSAY__UTC_BYTES], section[ASSAY__LABEL_BYTES];
    assay__cell_label(section, export->section_name);
    assay__json json;
    assay__json_init(&json, stream, 0);
    assay__json_object(&json, NULL);
    assay__json_text(&json, "timestamp", assay__text_utc((uint64_t)time(NULL), timestamp));
    assay__json_text(&json, "section", export->section_name != NULL ? section : NULL);
    assay__json_object(&json, "timings");
    for (size_t i = 0; i < assay_timers_count(export->timers); i++)
        print_timer(&json, export->timers, i);
    assay__json_end(&json);
    assay__json_end(&json);
    assay_status status = assay__json_finish(&json);
    if (status == ASSAY_OK)
        return ASSAY_OK;
    return assay__fail(error, status, "cannot write timings: %s", assay_status_message(status));
}

assay_status assay_export_timing_json(const assay_timers *timers, const char *path,
                                      const char *section_name, assay_error *error)
{
    const timing_export export = {timers, section_name};
    return assay_file_save(path, print_json, &export, error);
}
