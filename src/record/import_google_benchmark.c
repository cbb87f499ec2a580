/* Reads Google Benchmark's JSON (--benchmark_format=json, schema version 1).
 *
 * A row is one repetition of one benchmark. Repetitions of the same benchmark share their run_name
 * (before version 1.5 their name) and may alternate with those of other benchmarks. So a first pass
 * over the rows counts the repetitions of each name, and a second pass fills them in, in the order
 * of the file. Rows of aggregates (mean, median, BigO, …) add nothing to the repetitions and are
 * skipped. If the file has no repetitions (--benchmark_report_aggregates_only), mean, median and
 * stddev become a subject without samples. The time that is read is real_time. It includes time in
 * which the benchmark waited; with UseManualTime() it is the time that the benchmark set itself. */
#include "record/import.h"

#include <string.h>

enum { NO_SUBJECT = -1 };

bool assay__is_google_benchmark(const json_t *top)
{
    return json_is_object(json_object_get(top, "context")) &&
           json_is_array(json_object_get(top, "benchmarks"));
}

static bool is_aggregate(const json_t *row)
{
    const char *type = json_string_value(json_object_get(row, "run_type"));
    return (type != NULL && strcmp(type, "aggregate") == 0) ||
           json_object_get(row, "aggregate_name") != NULL;
}

static bool has_failed(const json_t *row)
{
    return json_is_true(json_object_get(row, "error_occurred")) ||
           json_is_true(json_object_get(row, "skipped"));
}

/* The run_name of a row. Older files have only a name, which is then the same for all repetitions.
 */
static const char *name_of(const json_t *row, const char **key)
{
    *key = json_object_get(row, "run_name") != NULL ? "run_name" : "name";
    return json_string_value(json_object_get(row, *key));
}

/* The reading of the subject that takes the aggregate of this row, or NULL if no reading does. */
static assay_reading *figure_of(const json_t *row, assay_record_subject *subject)
{
    const char *name = json_string_value(json_object_get(row, "aggregate_name"));
    if (name == NULL || json_object_get(row, "run_name") == NULL)
        return NULL;
    return strcmp(name, "mean") == 0     ? &subject->mean_seconds
           : strcmp(name, "median") == 0 ? &subject->median_seconds
           : strcmp(name, "stddev") == 0 ? &subject->std_seconds
                                         : NULL;
}

/* The index of the row's subject. A subject is made when its name is new. NO_SUBJECT is for
 * aggregates that no subject keeps. */
static assay_status find_subject(assay__decoder *d, json_t *places, const json_t *row,
                                 json_int_t *place)
{
    *place = NO_SUBJECT;
    if (!json_is_object(row))
        return assay__decoder_reject_type(d, NULL, "an object", row);
    if (is_aggregate(row) && figure_of(row, &(assay_record_subject){0}) == NULL)
        return ASSAY_OK;
    const char *key, *name = name_of(row, &key);
    if (name == NULL)
        return assay__decoder_reject_type(d, key, "a string", json_object_get(row, key));
    const json_t *known = json_object_get(places, name);
    if (known != NULL) {
        *place = json_integer_value(known);
        return ASSAY_OK;
    }
    assay_record_subject subject;
    assay_record_subject_init(&subject);
    subject.source = "google-benchmark";
    assay_status status = assay__decode_text(d, key, json_object_get(row, key), &subject.name);
    *place = (json_int_t)d->record->subject_count;
    if (status == ASSAY_OK)
        status = assay__import_subject(d, &subject);
    if (status == ASSAY_OK && json_object_set_new(places, name, json_integer(*place)) != 0)
        status = assay__decoder_out_of_memory(d);
    return status;
}

static assay_status unit_of(const assay__decoder *d, const json_t *row, double *seconds)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
    const json_t *value = json_object_get(row, "time_unit");
    const char *unit = value == NULL ? "ns" : json_string_value(value);
    for (size_t i = 0; unit != NULL && i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].name) == 0) {
            *seconds = units[i].seconds;
            return ASSAY_OK;
        }
    return assay__decoder_reject(d, "time_unit", "ns, us, ms or s is expected");
}

/* Enter an aggregate into a subject whose repetitions are not in the file. */
static assay_status fill_figure(const assay__decoder *d, const json_t *row,
                                assay_record_subject *subject)
{
    double unit = 0, seconds = 0;
    if (subject->sample_count > 0)
        return ASSAY_OK;
    assay_status status = unit_of(d, row, &unit);
    if (status == ASSAY_OK)
        status =
            assay__import_time(d, "real_time", json_object_get(row, "real_time"), unit, &seconds);
    if (status == ASSAY_OK)
        *figure_of(row, subject) = assay_reading_of(seconds);
    return status;
}

/* Append the repetition to the samples that are filled in already. make_room() set `sample_count`
 * to 0, and it is counted up here again. */
static assay_status fill(assay__decoder *d, const json_t *row, assay_record_subject *subject,
                         double *samples)
{
    if (has_failed(row)) {
        subject->failed_runs++;
        return ASSAY_OK;
    }
    double unit = 0;
    assay_status status = unit_of(d, row, &unit);
    if (status == ASSAY_OK)
        status = assay__import_time(d, "real_time", json_object_get(row, "real_time"), unit,
                                    &samples[subject->sample_count]);
    const json_t *iterations = json_object_get(row, "iterations");
    if (status == ASSAY_OK && json_is_integer(iterations) && json_integer_value(iterations) > 0)
        subject->iterations = (uint64_t)json_integer_value(iterations);
    subject->sample_count += status == ASSAY_OK;
    return status;
}

/* Make room for as many samples as the first pass counted. */
static assay_status make_room(assay__decoder *d)
{
    for (size_t i = 0; i < d->record->subject_count; i++) {
        assay_record_subject *subject = &d->record->subjects[i];
        subject->samples_seconds =
            assay_record_allocate(d->record, subject->sample_count, sizeof(double));
        if (subject->samples_seconds == NULL)
            return assay__decoder_out_of_memory(d);
        subject->sample_count = 0;
    }
    return ASSAY_OK;
}

static assay_status read_rows(assay__decoder *d, const json_t *rows, json_t *places, bool filling)
{
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < json_array_size(rows) && status == ASSAY_OK; i++) {
        const json_t *row = json_array_get(rows, i);
        json_int_t place;
        assay__decoder_enter(d, "benchmarks", i);
        status = find_subject(d, places, row, &place);
        if (status == ASSAY_OK && place != NO_SUBJECT) {
            assay_record_subject *subject = &d->record->subjects[place];
            if (is_aggregate(row))
                status = filling ? fill_figure(d, row, subject) : ASSAY_OK;
            else if (filling)
                status = fill(d, row, subject, (double *)subject->samples_seconds);
            else
                subject->sample_count++;
        }
        assay__decoder_leave(d);
    }
    return status;
}

static assay_status read_context(assay__decoder *d, const json_t *context)
{
    static const assay__import_fact machine[] = {{"host_name", "hostname"},
                                                 {"num_cpus", "cores"},
                                                 {"mhz_per_cpu", "cpu_mhz"},
                                                 {"cpu_scaling_enabled", "cpu_scaling"},
                                                 {NULL, NULL}};
    static const assay__import_fact build[] = {
        {"executable", "executable"}, {"library_build_type", "library_build_type"}, {NULL, NULL}};
    const json_t *date = json_object_get(context, "date");
    assay_status status = assay__import_facts(d, context, machine, assay_record_add_machine);
    if (status == ASSAY_OK)
        status = assay__import_facts(d, context, build, assay__record_add_build);
    if (status == ASSAY_OK && json_is_string(date))
        status = assay__decode_text(d, "context.date", date, &d->record->created);
    return status;
}

assay_status assay__import_google_benchmark(assay__decoder *d, const json_t *top)
{
    const json_t *rows = json_object_get(top, "benchmarks");
    json_t *places = json_object();
    if (places == NULL)
        return assay__decoder_out_of_memory(d);
    d->record->kind = "bench";
    d->record->assay_version = NULL;
    assay_status status = read_context(d, json_object_get(top, "context"));
    if (status == ASSAY_OK)
        status = read_rows(d, rows, places, false);
    if (status == ASSAY_OK)
        status = make_room(d);
    if (status == ASSAY_OK)
        status = read_rows(d, rows, places, true);
    json_decref(places);
    return status;
}
