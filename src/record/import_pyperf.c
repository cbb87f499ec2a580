/* Reads pyperf's JSON, version 1.0. A benchmark consists of runs, one process each; the values of a
 * run are seconds of one loop. Runs without values only calibrated the loops; warmups are left out.
 * Metadata that all benchmarks share stand at the top of the file. Benchmarks of bytes or integers
 * (pyperf's other units) are left out, and the times of the same file are still read. */
#include "record/import.h"

#include <string.h>

#include "base/error.h"

static const char unnamed[] = "(unnamed)";

/* The files of pytest-benchmark have a version and benchmarks too, but statistics in place of
 * runs. */
bool assay__is_pyperf(const json_t *top)
{
    const json_t *benchmarks = json_object_get(top, "benchmarks");
    return json_is_string(json_object_get(top, "version")) && json_is_array(benchmarks) &&
           json_object_get(json_array_get(benchmarks, 0), "stats") == NULL;
}

/* The metadata `key` of the benchmark, or else of the file, or else NULL. */
static const json_t *find_metadata(const json_t *top, const json_t *benchmark, const char *key)
{
    const json_t *own = json_object_get(json_object_get(benchmark, "metadata"), key);
    return own != NULL ? own : json_object_get(json_object_get(top, "metadata"), key);
}

static uint64_t find_count(const json_t *top, const json_t *benchmark, const char *key)
{
    json_int_t value = json_integer_value(find_metadata(top, benchmark, key));
    return value > 0 ? (uint64_t)value : 1;
}

static assay_status count_values(assay__decoder *d, const json_t *runs, size_t *count,
                                 uint64_t *warmups)
{
    *count = 0;
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const json_t *run = json_array_get(runs, i), *values = json_object_get(run, "values");
        if (!json_is_object(run) || (values != NULL && !json_is_array(values)))
            return assay__decoder_reject(d, "runs", "run %zu: an object with values is expected",
                                         i);
        *count += json_array_size(values);
        *warmups += json_array_size(json_object_get(run, "warmups"));
    }
    return ASSAY_OK;
}

static assay_status read_values(assay__decoder *d, const json_t *benchmark,
                                assay_record_subject *subject)
{
    const json_t *runs = json_object_get(benchmark, "runs");
    if (!json_is_array(runs))
        return assay__decoder_reject_type(d, "runs", "an array", runs);
    size_t count = 0;
    assay_status status = count_values(d, runs, &count, &subject->warmup_samples);
    if (status != ASSAY_OK)
        return status;
    double *samples = assay_record_allocate(d->record, count, sizeof *samples);
    if (samples == NULL)
        return assay__decoder_out_of_memory(d);
    for (size_t i = 0; i < json_array_size(runs) && status == ASSAY_OK; i++) {
        const json_t *values = json_object_get(json_array_get(runs, i), "values");
        assay__decoder_enter(d, "runs", i);
        for (size_t k = 0; k < json_array_size(values) && status == ASSAY_OK; k++)
            status = assay__import_time(d, "values", json_array_get(values, k), 1,
                                        &samples[subject->sample_count++]);
        assay__decoder_leave(d);
    }
    subject->samples_seconds = samples;
    return status;
}

/* The unit, if it is not seconds; else NULL. */
static const char *foreign_unit(const json_t *top, const json_t *benchmark)
{
    const char *unit = json_string_value(find_metadata(top, benchmark, "unit"));
    return unit == NULL || strcmp(unit, "second") == 0 ? NULL : unit;
}

static assay_status read_benchmark(assay__decoder *d, const json_t *top, const json_t *benchmark)
{
    if (!json_is_object(benchmark))
        return assay__decoder_reject_type(d, NULL, "an object", benchmark);
    assay_record_subject subject;
    assay_record_subject_init(&subject);
    subject.source = "pyperf";
    subject.name = unnamed;
    const json_t *name = find_metadata(top, benchmark, "name");
    uint64_t loops = find_count(top, benchmark, "loops");
    uint64_t inner_loops = find_count(top, benchmark, "inner_loops");
    subject.iterations = loops <= UINT32_MAX && inner_loops <= UINT32_MAX ? loops * inner_loops : 0;
    assay_status status =
        name != NULL ? assay__decode_text(d, "metadata.name", name, &subject.name) : ASSAY_OK;
    if (status == ASSAY_OK)
        status = read_values(d, benchmark, &subject);
    return status == ASSAY_OK ? assay__import_subject(d, &subject) : status;
}

static assay_status read_machine(assay__decoder *d, const json_t *metadata)
{
    static const assay__import_fact machine[] = {
        {"hostname", "hostname"}, {"cpu_model_name", "cpu"},  {"cpu_count", "cores"},
        {"platform", "os"},       {"cpu_config", "governor"}, {NULL, NULL}};
    static const assay__import_fact build[] = {{"python_version", "python"},
                                               {"python_compiler", "compiler"},
                                               {"perf_version", "pyperf"},
                                               {NULL, NULL}};
    assay_status status = assay__import_facts(d, metadata, machine, assay_record_add_machine);
    return status == ASSAY_OK ? assay__import_facts(d, metadata, build, assay__record_add_build)
                              : status;
}

/* Leave a remark that `count` benchmarks are not times; `first` is the index of the first of them.
 * Fails if the file contains nothing else. */
static assay_status leave_out(assay__decoder *d, const json_t *top, const json_t *benchmarks,
                              size_t first, size_t count)
{
    const json_t *benchmark = json_array_get(benchmarks, first);
    const char *unit = foreign_unit(top, benchmark);
    if (count == 0)
        return ASSAY_OK;
    if (d->record->subject_count == 0) {
        assay__decoder_enter(d, "benchmarks", first);
        assay_status status = assay__decoder_reject(
            d, "metadata.unit", "'%.40s' is no time; seconds are expected", unit);
        assay__decoder_leave(d);
        return status;
    }
    const char *name = json_string_value(find_metadata(top, benchmark, "name"));
    assay__fail(d->error, ASSAY_E_DATA,
                "%s: %zu of %zu benchmarks left out: the unit of '%.80s' is '%.40s', no time",
                assay__decoder_source(d), count, json_array_size(benchmarks),
                name != NULL ? name : unnamed, unit);
    return ASSAY_OK;
}

assay_status assay__import_pyperf(assay__decoder *d, const json_t *top)
{
    const json_t *benchmarks = json_object_get(top, "benchmarks");
    size_t first_left_out = 0, left_out = 0;
    d->record->kind = "bench";
    d->record->assay_version = NULL;
    assay_status status = read_machine(d, json_object_get(top, "metadata"));
    for (size_t i = 0; i < json_array_size(benchmarks) && status == ASSAY_OK; i++) {
        const json_t *benchmark = json_array_get(benchmarks, i);
        if (foreign_unit(top, benchmark) != NULL) {
            first_left_out = left_out++ == 0 ? i : first_left_out;
            continue;
        }
        assay__decoder_enter(d, "benchmarks", i);
        status = read_benchmark(d, top, benchmark);
        assay__decoder_leave(d);
    }
    return status == ASSAY_OK ? leave_out(d, top, benchmarks, first_left_out, left_out) : status;
}
