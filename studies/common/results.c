/* Saves and reads the records of a study's steps, and fills records with figures, series, subjects
 * and settings. */
#include "studies/common/results.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "assay/record_build.h"
#include "assay/sampling.h"
#include "base/error.h"
#include "base/json_writer.h"

/* ---- records of steps ---- */

static assay_status no_memory(assay_error *error, assay_status status)
{
    return assay__fail(error, status, "no memory for what the study found");
}

assay_status assay__study_claim(const assay__study *study, assay_record *record, assay_error *error)
{
    const assay__study_plan *plan = assay__study_plan_of(study);
    char seed[32];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)plan->seed);
    record->kind = "study";
    record->study = assay_record_text(record, plan->study);
    record->name = assay_record_text(record, plan->experiment);
    assay_status status = record->study == NULL || record->name == NULL ? ASSAY_E_MEMORY : ASSAY_OK;
    if (status == ASSAY_OK)
        status = assay_record_add_setting(record, "seed", seed);
    if (status == ASSAY_OK)
        status = assay_record_add_setting(record, "quick", plan->quick ? "true" : "false");
    return status == ASSAY_OK ? status : no_memory(error, status);
}

assay_status assay__study_findings(const assay__study *study, assay_error *error,
                                   assay_record **record)
{
    assay_status status = assay_record_new(record);
    if (status != ASSAY_OK)
        return no_memory(error, status);
    status = assay__study_claim(study, *record, error);
    if (status == ASSAY_OK)
        return status;
    assay_record_free(*record);
    *record = NULL;
    return status;
}

static const char *step_file(assay__study *study, size_t step, assay_error *error)
{
    char relative[128];
    snprintf(relative, sizeof relative, ".study/%.100s.json",
             assay__study_plan_of(study)->steps[step].name);
    for (char *at = relative + strlen(".study/"); *at != '\0'; at++)
        if (!isalnum((unsigned char)*at) && strchr("._-", *at) == NULL)
            *at = '_';
    return assay__study_file(study, relative, error);
}

assay_status assay__study_keep(assay__study *study, size_t step, const assay_record *record,
                               assay_error *error)
{
    const char *path = step_file(study, step, error);
    return path == NULL ? ASSAY_E_IO : assay_record_save(record, path, 0, error);
}

assay_status assay__study_recall(assay__study *study, size_t step, assay_error *error,
                                 assay_record **record)
{
    const char *path = step_file(study, step, error);
    assay_error why = {0};
    *record = NULL;
    if (path == NULL)
        return ASSAY_E_IO;
    assay_status status = assay_record_read(path, &why, record);
    return status == ASSAY_OK
               ? status
               : assay__fail(error, status, "%s; --restart begins anew in this folder",
                             why.message);
}

static assay_status work_and_keep(assay__study *study, size_t step, assay__study_work *work,
                                  void *context, assay_record *found, assay_error *error)
{
    assay__study_begin(study, step);
    assay_status status = work(context, found, error);
    if (status == ASSAY_OK)
        status = assay__study_keep(study, step, found, error);
    return status == ASSAY_OK ? assay__study_end(study, error) : status;
}

assay_status assay__study_find(assay__study *study, size_t step, assay__study_work *work,
                               void *context, assay_record *whole, assay_error *error)
{
    assay_record *found = NULL;
    bool ended = assay__study_done(study, step);
    assay_status status = ended ? assay__study_recall(study, step, error, &found)
                                : assay__study_findings(study, error, &found);
    if (status == ASSAY_OK && !ended)
        status = work_and_keep(study, step, work, context, found, error);
    if (status == ASSAY_OK && (status = assay__record_append(whole, found)) != ASSAY_OK)
        no_memory(error, status);
    assay_record_free(found);
    return status;
}

assay_status assay__study_publish(assay__study *study, assay_record *whole, assay_error *error)
{
    const char *path = assay__study_file(study, "record.json", error);
    if (path == NULL)
        return ASSAY_E_IO;
    assay_status status = assay_record_describe(whole);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "cannot describe the machine: %s",
                           assay_status_message(status));
    return assay_record_save(whole, path, 0, error);
}

/* ---- filling ---- */

static assay_status with_texts(bool complete)
{
    return complete ? ASSAY_OK : ASSAY_E_MEMORY;
}

assay_status assay__found_cost(assay_record *record, const char *name, const char *of,
                               assay_reading value, const char *unit, const char *covers)
{
    assay_record_figure figure = {.name = assay_record_text(record, name),
                                  .of = assay_record_text(record, of),
                                  .value = value,
                                  .unit = assay_record_text(record, unit),
                                  .covers = assay_record_text(record, covers)};
    assay_status status = with_texts(figure.name != NULL && (of == NULL || figure.of != NULL) &&
                                     (unit == NULL || figure.unit != NULL) &&
                                     (covers == NULL || figure.covers != NULL));
    return status == ASSAY_OK ? assay_record_add_figure(record, &figure) : status;
}

assay_status assay__found_figure(assay_record *record, const char *name, const char *of,
                                 assay_reading value, const char *unit)
{
    return assay__found_cost(record, name, of, value, unit, NULL);
}

static bool copy_numbers(assay_record *record, const double *numbers, size_t count,
                         const double **copy)
{
    double *room = assay_record_allocate(record, count, sizeof *room);
    if (room != NULL && count > 0)
        memcpy(room, numbers, count * sizeof *room);
    *copy = room;
    return room != NULL;
}

assay_status assay__found_series(assay_record *record, const char *name, const char *of,
                                 const char *along, const double *places, const double *values,
                                 size_t count)
{
    assay_record_series series = {.name = assay_record_text(record, name),
                                  .of = assay_record_text(record, of),
                                  .along = assay_record_text(record, along),
                                  .count = count};
    assay_status status =
        with_texts(series.name != NULL && (of == NULL || series.of != NULL) &&
                   (along == NULL || series.along != NULL) &&
                   copy_numbers(record, values, count, &series.values) &&
                   (places == NULL || copy_numbers(record, places, count, &series.places)));
    return status == ASSAY_OK ? assay_record_add_series(record, &series) : status;
}

/* Compute the figures of the subject from its samples. */
static assay_status summarize(assay_record_subject *subject)
{
    assay_timing timing;
    if (subject->sample_count == 0)
        return ASSAY_OK;
    assay_status status =
        assay_timing_summarize(subject->samples_seconds, subject->sample_count, &timing);
    if (status != ASSAY_OK)
        return status;
    subject->mean_seconds = assay_reading_of(timing.mean_seconds);
    subject->low_seconds = timing.low_seconds;
    subject->high_seconds = timing.high_seconds;
    subject->median_seconds = timing.p50_seconds;
    subject->std_seconds = timing.std_seconds;
    subject->min_seconds = assay_reading_of(timing.min_seconds);
    subject->max_seconds = assay_reading_of(timing.max_seconds);
    return ASSAY_OK;
}

assay_status assay__found_times(assay_record *record, const char *name, const char *model,
                                const char *covers, const double *seconds, size_t count)
{
    assay_record_subject subject;
    assay_record_subject_init(&subject);
    subject.name = assay_record_text(record, name);
    subject.model = assay_record_text(record, model);
    subject.covers = assay_record_text(record, covers);
    subject.source = "assay";
    subject.sample_count = count;
    subject.iterations = 1;
    assay_status status =
        with_texts(subject.name != NULL && (model == NULL || subject.model != NULL) &&
                   (covers == NULL || subject.covers != NULL) &&
                   copy_numbers(record, seconds, count, &subject.samples_seconds));
    if (status == ASSAY_OK)
        status = summarize(&subject);
    return status == ASSAY_OK ? assay_record_add_subject(record, &subject) : status;
}

assay_status assay__found_measure(assay_record *record, const char *metric, const double *samples)
{
    assay_record_subject *subject = &record->subjects[record->subject_count - 1];
    size_t count = subject->measure_count;
    assay_record_measure *measures = assay_record_allocate(record, count + 1, sizeof *measures);
    if (measures == NULL)
        return ASSAY_E_MEMORY;
    if (count > 0)
        memcpy(measures, subject->measures, count * sizeof *measures);
    measures[count].metric = assay_record_text(record, metric);
    measures[count].sample_count = subject->sample_count;
    if (measures[count].metric == NULL ||
        !copy_numbers(record, samples, subject->sample_count, &measures[count].samples))
        return ASSAY_E_MEMORY;
    subject->measures = measures;
    subject->measure_count = count + 1;
    return ASSAY_OK;
}

assay_status assay__found_inputs(assay_record *record, const char *inputs)
{
    assay_record_subject *subject = &record->subjects[record->subject_count - 1];
    subject->inputs = assay_record_text(record, inputs);
    return with_texts(subject->inputs != NULL);
}

static void add_counts(assay_record_subject *whole, const assay_record_subject *part)
{
    whole->warmup_samples += part->warmup_samples;
    whole->rejected_samples += part->rejected_samples;
    whole->disturbed_samples += part->disturbed_samples;
    whole->failed_runs += part->failed_runs;
}

/* Append the samples of a part. Its first round is the one after the last round of the part before.
 * If a part has no rounds, neither has the whole. */
static void add_samples(assay_record_subject *whole, const assay_record_subject *part,
                        double *samples, uint32_t *rounds)
{
    size_t at = whole->sample_count;
    uint32_t first = at > 0 ? rounds[at - 1] + 1 : 0;
    for (size_t i = 0; i < part->sample_count; i++) {
        samples[at + i] = part->samples_seconds[i];
        rounds[at + i] = first + (part->rounds != NULL ? part->rounds[i] : 0);
    }
    whole->sample_count += part->sample_count;
    if (part->rounds == NULL)
        whole->rounds = NULL;
}

assay_status assay__found_joined(assay_record *record, const assay_record_subject *const *parts,
                                 size_t count)
{
    assay_record_subject whole;
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += parts[i]->sample_count;
    double *samples = assay_record_allocate(record, total, sizeof *samples);
    uint32_t *rounds = assay_record_allocate(record, total, sizeof *rounds);
    if (samples == NULL || rounds == NULL)
        return ASSAY_E_MEMORY;
    assay_record_subject_init(&whole);
    whole.name = parts[0]->name;
    whole.model = parts[0]->model;
    whole.covers = parts[0]->covers;
    whole.source = parts[0]->source;
    whole.stopped = parts[0]->stopped;
    whole.iterations = parts[0]->iterations;
    whole.samples_seconds = samples;
    whole.rounds = rounds;
    for (size_t i = 0; i < count; i++) {
        add_samples(&whole, parts[i], samples, rounds);
        add_counts(&whole, parts[i]);
    }
    assay_status status = summarize(&whole);
    if (status == ASSAY_OK)
        status = assay__record_join_measures(record, parts, count, &whole);
    return status == ASSAY_OK ? assay__record_append_subject(record, &whole) : status;
}

assay_status assay__found_setting(assay_record *record, const char *key, double value)
{
    char text[ASSAY__JSON_NUMBER_BYTES];
    assay__json_format_number(text, value);
    return assay_record_add_setting(record, key, text);
}

assay_status assay__found_model_setting(assay_record *record, assay_record_model *model,
                                        const char *key, double value)
{
    char text[ASSAY__JSON_NUMBER_BYTES];
    assay__json_format_number(text, value);
    return assay_record_add_model_setting(record, model, key, text);
}

/* ---- views ---- */

int assay__json_set_reading(json_t *object, const char *key, assay_reading reading)
{
    if (reading.validity == ASSAY_VALID && isfinite(reading.value))
        return json_object_set_new(object, key, json_real(reading.value));
    json_t *reasons = json_object_get(object, "unavailable");
    if (reasons == NULL) {
        if (json_object_set_new(object, "unavailable", json_object()) != 0)
            return -1;
        reasons = json_object_get(object, "unavailable");
    }
    const char *why =
        reading.validity == ASSAY_VALID ? "not finite" : assay_validity_text(reading.validity);
    if (json_object_set_new(reasons, key, json_string(why)) != 0)
        return -1;
    return json_object_set_new(object, key, json_null());
}

json_t *assay__json_numbers(const double *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count && list != NULL; i++)
        if (json_array_append_new(list, isfinite(values[i]) ? json_real(values[i]) : json_null()) !=
            0) {
            json_decref(list);
            return NULL;
        }
    return list;
}
