/* Writes pyperf's JSON, version "1.0": each benchmark has one run that holds all samples, in
 * seconds.
 *
 * pyperf refuses a whole file for a value that is not above zero and for a metadata text that is
 * empty, so neither is written. Samples that read zero (below the clock's resolution) are left out
 * and counted in the metadata. assay does not keep the times of warm-up samples, only their number.
 */
#include <string.h>

#include "record/fact.h"
#include "report/export.h"

static void print_fact(assay__json *json, const char *key, const char *value)
{
    if (value != NULL && value[strspn(value, " \t\r\n")] != '\0')
        assay__json_text(json, key, value);
}

/* "2026-11-15T04:11:49Z" as pyperf writes dates: "2026-11-15 04:11:49". */
static void print_date(assay__json *json, const char *created)
{
    char date[20];
    if (created == NULL || strlen(created) < 19 || created[10] != 'T')
        return;
    memcpy(date, created, 19);
    date[10] = ' ';
    date[19] = '\0';
    assay__json_text(json, "date", date);
}

static void print_machine(assay__json *json, const assay_record *record)
{
    static const struct {
        const char *theirs, *ours;
    } facts[] = {{"hostname", "hostname"},
                 {"cpu_model_name", "cpu"},
                 {"platform", "os"},
                 {"cpu_governor", "governor"}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        print_fact(json, facts[i].theirs,
                   assay__fact_value(record->machine, record->machine_count, facts[i].ours));
    print_date(json, record->created);
}

static size_t usable(const assay__export_item *item)
{
    size_t count = 0;
    for (size_t i = 0; i < item->count; i++)
        count += item->seconds[i] > 0.0;
    return count;
}

static void print_subject(assay__json *json, const assay__export_item *item, size_t values,
                          const char *parameters)
{
    const assay_record_subject *subject = item->subject;
    assay__json_object(json, NULL);
    assay__json_object(json, "metadata");
    assay__json_text(json, "name", item->name);
    assay__json_text(json, "unit", "second");
    if (subject->iterations > 0)
        assay__json_count(json, "loops", subject->iterations);
    assay__json_count(json, "assay_warmup_samples", subject->warmup_samples);
    if (values < item->count)
        assay__json_count(json, "assay_zero_samples", item->count - values);
    print_fact(json, "parameters", parameters);
    print_machine(json, item->record);
    assay__json_end(json);
    assay__json_array(json, "runs");
    assay__json_object(json, NULL);
    assay__json_row(json, "values");
    for (size_t i = 0; i < item->count; i++)
        if (item->seconds[i] > 0.0)
            assay__json_number(json, NULL, item->seconds[i]);
    assay__json_end(json);
    assay__json_end(json);
    assay__json_end(json);
    assay__json_end(json);
}

assay_status assay__export_pyperf(const assay__export_list *list, FILE *stream, assay_error *error)
{
    assay__json json;
    assay__buffer parameters;
    assay__json_init(&json, stream, 0);
    assay__buffer_init(&parameters, ASSAY__EXPORT_MAX_TEXT);
    assay__json_object(&json, NULL);
    assay__json_array(&json, "benchmarks");
    for (size_t i = 0; i < list->item_count; i++) {
        size_t values = usable(&list->items[i]);
        parameters.length = 0;
        assay__buffer_append_text(&parameters, "");
        assay__export_parameters(&parameters, list->items[i].subject);
        if (values > 0)
            print_subject(&json, &list->items[i], values, parameters.data);
    }
    assay__json_end(&json);
    assay__json_text(&json, "version", "1.0");
    assay__json_end(&json);
    assay_status listed = parameters.status;
    assay__buffer_release(&parameters);
    return assay__export_finish(&json, listed, error);
}
