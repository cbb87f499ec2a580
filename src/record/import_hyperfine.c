/* Reads hyperfine's JSON (--export-json): one result for each command, with its runs in times[], in
 * seconds. A file from which the runs were removed, to make it smaller, still has the mean and
 * other figures; a benchmark then has these and no samples.
 *
 * A file has runs with an exit code other than 0 only if the user asked for --ignore-failure;
 * otherwise the first failure ends hyperfine. hyperfine's own figures count these runs like the
 * others. So does this import, as `assay bench --ignore-failure` does: they are timed, and also
 * counted as failed. */
#include "record/import.h"

bool assay__is_hyperfine(const json_t *top)
{
    return json_is_array(json_object_get(top, "results"));
}

static bool run_failed(const json_t *exit_codes, size_t run)
{
    const json_t *code = json_array_get(exit_codes, run);
    return code != NULL && !(json_is_integer(code) && json_integer_value(code) == 0);
}

static assay_status read_times(assay__decoder *d, const json_t *result,
                               assay_record_subject *subject)
{
    const json_t *times = json_object_get(result, "times");
    const json_t *exit_codes = json_object_get(result, "exit_codes");
    if ((times == NULL || json_is_null(times)) && json_is_number(json_object_get(result, "mean")))
        return ASSAY_OK;
    if (times == NULL)
        return assay__decoder_reject(d, NULL,
                                     "neither 'times' nor 'mean'; export with hyperfine "
                                     "--export-json");
    if (!json_is_array(times))
        return assay__decoder_reject_type(d, "times", "an array of seconds", times);
    size_t count = json_array_size(times);
    double *samples = assay_record_allocate(d->record, count, sizeof *samples);
    if (samples == NULL)
        return assay__decoder_out_of_memory(d);
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < count && status == ASSAY_OK; i++) {
        subject->failed_runs += run_failed(exit_codes, i);
        assay__decoder_enter(d, "times", i);
        status = assay__import_time(d, NULL, json_array_get(times, i), 1,
                                    &samples[subject->sample_count++]);
        assay__decoder_leave(d);
    }
    subject->samples_seconds = samples;
    subject->failures_timed = subject->failed_runs > 0;
    return status;
}

static assay_status read_summary(const assay__decoder *d, const json_t *result,
                                 assay_record_subject *subject)
{
    const struct {
        const char *key;
        assay_reading *reading;
    } figures[] = {
        {"mean", &subject->mean_seconds},     {"stddev", &subject->std_seconds},
        {"median", &subject->median_seconds}, {"min", &subject->min_seconds},
        {"max", &subject->max_seconds},       {"user", &subject->user_seconds},
        {"system", &subject->sys_seconds},
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        const json_t *value = json_object_get(result, figures[i].key);
        double seconds = 0;
        if (!json_is_number(value))
            continue; /* the deviation of a single run is null */
        assay_status status = assay__import_time(d, figures[i].key, value, 1, &seconds);
        if (status != ASSAY_OK)
            return status;
        *figures[i].reading = assay_reading_of(seconds);
    }
    const json_t *memory = json_object_get(result, "memory_usage_byte");
    double peak_bytes = 0;
    for (size_t i = 0; i < json_array_size(memory); i++) {
        double bytes = json_number_value(json_array_get(memory, i));
        peak_bytes = bytes > peak_bytes ? bytes : peak_bytes;
    }
    if (peak_bytes > 0)
        subject->peak_rss_bytes = assay_reading_of(peak_bytes);
    return ASSAY_OK;
}

static assay_status read_parameters(assay__decoder *d, const json_t *result,
                                    assay_record_subject *subject)
{
    char scalar[ASSAY__IMPORT_SCALAR];
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(result, "parameters"), key, value)
    {
        assay_status status = assay_record_add_parameter(d->record, subject, key,
                                                         assay__import_scalar(value, scalar));
        if (status == ASSAY_E_MEMORY)
            return assay__decoder_out_of_memory(d);
        if (status != ASSAY_OK)
            return assay__decoder_reject(d, "parameters", "'%.40s' cannot be taken over: %s", key,
                                         assay_status_message(status));
    }
    return ASSAY_OK;
}

static assay_status read_result(assay__decoder *d, const json_t *result)
{
    if (!json_is_object(result))
        return assay__decoder_reject_type(d, NULL, "an object", result);
    assay_record_subject subject;
    assay_record_subject_init(&subject);
    subject.source = "hyperfine";
    subject.iterations = 1;
    assay_status status =
        assay__decode_text(d, "command", json_object_get(result, "command"), &subject.name);
    if (status == ASSAY_OK)
        status = read_times(d, result, &subject);
    if (status == ASSAY_OK)
        status = read_parameters(d, result, &subject);
    if (status == ASSAY_OK)
        status = read_summary(d, result, &subject);
    return status == ASSAY_OK ? assay__import_subject(d, &subject) : status;
}

assay_status assay__import_hyperfine(assay__decoder *d, const json_t *top)
{
    const json_t *results = json_object_get(top, "results");
    assay_status status = ASSAY_OK;
    d->record->kind = "bench";
    d->record->assay_version = NULL;
    for (size_t i = 0; i < json_array_size(results) && status == ASSAY_OK; i++) {
        assay__decoder_enter(d, "results", i);
        status = read_result(d, json_array_get(results, i));
        assay__decoder_leave(d);
    }
    return status;
}
