/* Writes the formats of two services that follow benchmarks over time: Bencher's metric format and
 * the custom format of github-action-benchmark (tool: customSmallerIsBetter).
 *
 * Both services compare numbers over months, so the unit never changes with the size. Times are in
 * nanoseconds, the unit of Bencher's built-in measure "latency". */
#include <math.h>

#include "report/cell.h"
#include "report/export.h"

static const double ns_in_second = 1e9;

static double ns(assay_reading seconds)
{
    return seconds.validity == ASSAY_VALID ? seconds.value * ns_in_second : NAN;
}

static void print_metrics(assay__json *json, const assay__export_item *item)
{
    assay__json_object(json, item->name);
    assay__json_object(json, "latency");
    assay__json_number(json, "value", ns(item->mean_seconds));
    if (item->low_seconds.validity == ASSAY_VALID && item->high_seconds.validity == ASSAY_VALID) {
        assay__json_number(json, "lower_value", ns(item->low_seconds));
        assay__json_number(json, "upper_value", ns(item->high_seconds));
    }
    assay__json_end(json);
    if (item->subject->peak_rss_bytes.validity == ASSAY_VALID) {
        assay__json_object(json, "peak-memory");
        assay__json_number(json, "value", item->subject->peak_rss_bytes.value);
        assay__json_end(json);
    }
    assay__json_end(json);
}

assay_status assay__export_bencher(const assay__export_list *list, FILE *stream, assay_error *error)
{
    assay__json json;
    assay__json_init(&json, stream, 0);
    assay__json_object(&json, NULL);
    for (size_t i = 0; i < list->item_count; i++)
        if (list->items[i].mean_seconds.validity == ASSAY_VALID)
            print_metrics(&json, &list->items[i]);
    assay__json_end(&json);
    return assay__export_finish(&json, ASSAY_OK, error);
}

/* "± 123": half the width of the interval of the mean. */
static void print_range(assay__json *json, const assay__export_item *item)
{
    char half[ASSAY__CELL_BYTES], range[ASSAY__CELL_BYTES + 8];
    if (item->low_seconds.validity != ASSAY_VALID || item->high_seconds.validity != ASSAY_VALID)
        return;
    assay__cell_number(half, (ns(item->high_seconds) - ns(item->low_seconds)) / 2.0, 2, 30);
    snprintf(range, sizeof range, "± %s", half);
    assay__json_text(json, "range", range);
}

static void print_extra(assay__json *json, const assay__export_item *item)
{
    char extra[128], median[ASSAY__CELL_BYTES], std[ASSAY__CELL_BYTES];
    if (item->count < 2)
        return;
    snprintf(extra, sizeof extra, "samples: %zu\nmedian: %s ns\nstddev: %s ns", item->count,
             assay__cell_number(median, ns(item->median_seconds), 2, 30),
             assay__cell_number(std, ns(item->std_seconds), 2, 30));
    assay__json_text(json, "extra", extra);
}

assay_status assay__export_github_action(const assay__export_list *list, FILE *stream,
                                         assay_error *error)
{
    assay__json json;
    assay__json_init(&json, stream, 0);
    assay__json_array(&json, NULL);
    for (size_t i = 0; i < list->item_count; i++) {
        const assay__export_item *item = &list->items[i];
        if (item->mean_seconds.validity != ASSAY_VALID)
            continue;
        assay__json_object(&json, NULL);
        assay__json_text(&json, "name", item->name);
        assay__json_text(&json, "unit", "ns");
        assay__json_number(&json, "value", ns(item->mean_seconds));
        print_range(&json, item);
        print_extra(&json, item);
        assay__json_end(&json);
    }
    assay__json_end(&json);
    return assay__export_finish(&json, ASSAY_OK, error);
}
