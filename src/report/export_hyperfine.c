/* Writes hyperfine's JSON, in seconds. hyperfine has a number everywhere except for the standard
 * deviation of one run, which is null. Figures that assay did not measure are null too. `times` are
 * the seconds of one iteration; `command` is the subject's name, as with hyperfine's
 * --command-name. memory_usage_byte is left out, because assay knows the peak of a subject, not of
 * each run. */
#include "report/export.h"

static void print_reading(assay__json *json, const char *key, assay_reading reading)
{
    if (reading.validity == ASSAY_VALID)
        assay__json_number(json, key, reading.value);
    else
        assay__json_null(json, key);
}

static void print_times(assay__json *json, const assay__export_item *item)
{
    assay__json_row(json, "times");
    for (size_t i = 0; i < item->count; i++)
        assay__json_number(json, NULL, item->seconds[i]);
    assay__json_end(json);
    bool some_failed = item->subject->failures_timed && item->subject->failed_runs > 0;
    if (item->subject->command_count == 0 || some_failed) /* it is not known which failed */
        return;
    assay__json_row(json, "exit_codes");
    for (size_t i = 0; i < item->count; i++)
        assay__json_integer(json, NULL, 0);
    assay__json_end(json);
}

static void print_subject(assay__json *json, const assay__export_item *item)
{
    const assay_record_subject *subject = item->subject;
    assay__json_object(json, NULL);
    assay__json_text(json, "command", item->name);
    print_reading(json, "mean", item->mean_seconds);
    print_reading(json, "stddev", item->std_seconds);
    print_reading(json, "median", item->median_seconds);
    print_reading(json, "user", subject->user_seconds);
    print_reading(json, "system", subject->sys_seconds);
    print_reading(json, "min", item->min_seconds);
    print_reading(json, "max", item->max_seconds);
    print_times(json, item);
    if (subject->parameter_count > 0) {
        assay__json_object(json, "parameters");
        for (size_t i = 0; i < subject->parameter_count; i++)
            assay__json_text(json, subject->parameters[i].key, subject->parameters[i].value);
        assay__json_end(json);
    }
    assay__json_end(json);
}

assay_status assay__export_hyperfine(const assay__export_list *list, FILE *stream,
                                     assay_error *error)
{
    assay__json json;
    assay__json_init(&json, stream, 0);
    assay__json_object(&json, NULL);
    assay__json_array(&json, "results");
    for (size_t i = 0; i < list->item_count; i++)
        if (assay__export_has_time(&list->items[i]))
            print_subject(&json, &list->items[i]);
    assay__json_end(&json);
    assay__json_end(&json);
    return assay__export_finish(&json, ASSAY_OK, error);
}
