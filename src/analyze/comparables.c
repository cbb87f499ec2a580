/* Makes subjects from the parts of records. Runs are pooled by the means of their logarithms,
 * because ratios are compared. A run counts as one observation, however many samples it has,
 * because all its samples share the conditions that stay the same during a run (memory layout,
 * clock frequency, load by others). */
#include "analyze/comparables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare.h"
#include "base/buffer.h"
#include "record/append.h"
#include "record/build.h"
#include "record/metric.h"

static const char WHOLE_RUN[] = "run";

bool assay__same_subject(const assay_record_subject *a, const assay_record_subject *b)
{
    return strcmp(a->name, b->name) == 0 && assay__same_parameters(a, b);
}

bool assay__is_whole_run(const assay_record_subject *subject)
{
    return subject->sample_count == 1 && strcmp(subject->name, WHOLE_RUN) == 0;
}

/* ---- one record ---- */

/* One run of a command as a single sample with its measures. */
typedef struct one_run {
    double seconds;
    assay_record_measure measures[4];
    double values[4];
    size_t measure_count;
} one_run;

static void add_measure(one_run *run, const char *metric, assay_reading reading)
{
    if (reading.validity != ASSAY_VALID)
        return;
    run->values[run->measure_count] = reading.value;
    run->measures[run->measure_count] = (assay_record_measure){.metric = metric, .sample_count = 1};
    run->measure_count++;
}

static assay_status take_run(const assay_record *record, const char *origin, assay_record *result)
{
    const assay_record_process *process = &record->process;
    one_run run = {.seconds = process->wall_seconds.value};
    if (!record->has_process || process->wall_seconds.validity != ASSAY_VALID)
        return ASSAY_OK;
    if (process->user_seconds.validity == ASSAY_VALID &&
        process->sys_seconds.validity == ASSAY_VALID)
        add_measure(&run, ASSAY__METRIC_CPU,
                    assay_reading_of(process->user_seconds.value + process->sys_seconds.value));
    add_measure(&run, ASSAY__METRIC_PEAK_RSS, process->peak_rss_bytes);
    add_measure(&run, ASSAY__METRIC_HEAP_PEAK, process->heap_peak_bytes);
    add_measure(&run, ASSAY__METRIC_HEAP_ALLOCATIONS, process->heap_allocations);
    for (size_t i = 0; i < run.measure_count; i++)
        run.measures[i].samples = &run.values[i];
    assay_record_subject subject;
    assay_record_subject_init(&subject);
    subject.name = WHOLE_RUN;
    subject.source = "assay";
    subject.samples_seconds = &run.seconds;
    subject.sample_count = subject.iterations = 1;
    subject.mean_seconds = process->wall_seconds;
    subject.measures = run.measures;
    subject.measure_count = run.measure_count;
    subject.failed_runs = process->signal != 0 || process->exit_status != 0;
    subject.failures_timed = true;
    return assay__record_append_alone(result, &subject, origin);
}

/* Append the path of an operation in the call tree, such as "step/forward". */
static assay_status append_path(const assay_record *record, int32_t index, assay__buffer *path)
{
    const assay_record_operation *it = &record->operations[index];
    assay_status status = it->parent >= 0 ? append_path(record, it->parent, path) : ASSAY_OK;
    if (status == ASSAY_OK && it->parent >= 0)
        status = assay__buffer_append_text(path, "/");
    return status == ASSAY_OK ? assay__buffer_append_text(path, it->name) : status;
}

static assay_status take_operation(const assay_record *record, size_t index, const char *origin,
                                   bool mean_will_do, assay_record *result, size_t *left_out)
{
    enum { PATH_MAXIMUM = 1 << 16 };
    const assay_record_operation *it = &record->operations[index];
    bool has_mean = it->mean_seconds.validity == ASSAY_VALID && it->mean_seconds.value > 0;
    if (it->sample_count == 0 && !(mean_will_do && has_mean)) {
        *left_out += it->count > 0;
        return ASSAY_OK;
    }
    assay__buffer path;
    assay__buffer_init(&path, PATH_MAXIMUM);
    assay_status status = append_path(record, (int32_t)index, &path);
    assay_record_subject subject;
    assay_record_subject_init(&subject);
    subject.name = path.data;
    subject.source = "assay";
    subject.covers = "one span";
    subject.iterations = 1;
    subject.mean_seconds = it->mean_seconds;
    subject.samples_seconds = mean_will_do ? &it->mean_seconds.value : it->samples_seconds;
    subject.sample_count = mean_will_do ? 1 : it->sample_count;
    if (status == ASSAY_OK)
        status = assay__record_append_alone(result, &subject, origin);
    assay__buffer_release(&path);
    return status;
}

static assay_status take_all(const assay_record *record, const char *origin, bool mean_will_do,
                             assay_record *result, size_t *left_out)
{
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < record->subject_count && status == ASSAY_OK; i++)
        status = assay__record_append_alone(result, &record->subjects[i], origin);
    if (status == ASSAY_OK)
        status = take_run(record, origin, result);
    for (size_t i = 0; i < record->operation_count && status == ASSAY_OK; i++)
        status = take_operation(record, i, origin, mean_will_do, result, left_out);
    return status;
}

assay_status assay__comparables_of(const assay_record *record, const char *origin,
                                   assay_record *result, size_t *without_samples)
{
    *without_samples = 0;
    return take_all(record, origin, false, result, without_samples);
}

/* ---- several runs ---- */

static double log_mean(const double *samples, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += log(samples[i]);
    return count > 0 ? exp(sum / (double)count) : NAN;
}

/* Find subject `at` of the first run in another run. If several subjects of a run are the same,
 * they correspond in their order. NULL if there is none. */
static const assay_record_subject *find_in(const assay_record *run, const assay_record *first,
                                           size_t at)
{
    size_t earlier = 0;
    for (size_t i = 0; i < at; i++)
        earlier += assay__same_subject(&first->subjects[i], &first->subjects[at]);
    for (size_t i = 0; i < run->subject_count; i++)
        if (assay__same_subject(&run->subjects[i], &first->subjects[at]) && earlier-- == 0)
            return &run->subjects[i];
    return NULL;
}

/* The mean of the subject in each run that has it: of the metric or, with NULL, of its time.
 * Returns the number of means. */
static size_t means_of_runs(assay_record *const *runs, size_t count, size_t at, const char *metric,
                            double *means)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const assay_record_subject *it = find_in(runs[i], runs[0], at);
        const double *measured =
            it != NULL && metric != NULL ? assay__record_measure_samples(it, metric) : NULL;
        if (it != NULL && metric == NULL && it->sample_count > 0)
            means[found++] = log_mean(it->samples_seconds, it->sample_count);
        else if (measured != NULL && it->sample_count > 0)
            means[found++] = log_mean(measured, it->sample_count);
    }
    return found;
}

/* Append subject `at` of the first run, with one sample for each run. */
static assay_status pool_subject(assay_record *const *runs, size_t count, size_t at,
                                 const char *origin, assay_record *result)
{
    assay_record_subject pooled = runs[0]->subjects[at];
    double *means = assay_record_allocate(result, count, sizeof *means);
    assay_record_measure *measures =
        assay_record_allocate(result, pooled.measure_count, sizeof *measures);
    if (means == NULL || measures == NULL)
        return ASSAY_E_MEMORY;
    size_t kept = 0;
    pooled.sample_count = means_of_runs(runs, count, at, NULL, means);
    pooled.samples_seconds = means;
    for (size_t k = 0; k < pooled.measure_count; k++) {
        double *values = assay_record_allocate(result, count, sizeof *values);
        if (values == NULL)
            return ASSAY_E_MEMORY;
        const char *metric = pooled.measures[k].metric;
        if (means_of_runs(runs, count, at, metric, values) == pooled.sample_count)
            measures[kept++] = (assay_record_measure){
                .metric = metric, .samples = values, .sample_count = pooled.sample_count};
    }
    pooled.measures = measures;
    pooled.measure_count = kept;
    pooled.failed_runs = pooled.rejected_samples = pooled.disturbed_samples = 0;
    for (size_t i = 0; i < count; i++) {
        const assay_record_subject *it = find_in(runs[i], runs[0], at);
        pooled.failed_runs += it != NULL ? it->failed_runs : 0;
    }
    return assay__record_append_alone(result, &pooled, origin);
}

assay_status assay__comparables_of_runs(const assay_record *const *records, size_t count,
                                        const char *origin, assay_record *result)
{
    assay_record **runs = calloc(count, sizeof *runs);
    assay_status status = runs != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    size_t left_out = 0;
    for (size_t i = 0; i < count && status == ASSAY_OK; i++) {
        status = assay_record_new(&runs[i]);
        if (status == ASSAY_OK)
            status = take_all(records[i], origin, true, runs[i], &left_out);
    }
    for (size_t at = 0; status == ASSAY_OK && at < runs[0]->subject_count; at++)
        status = pool_subject(runs, count, at, origin, result);
    for (size_t i = 0; runs != NULL && i < count; i++)
        assay_record_free(runs[i]);
    free(runs);
    return status;
}
