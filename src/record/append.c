/* Copies parts of one record into another. Every text and array is copied into the memory of the
 * record that takes it, so that the other record may be freed. */
#include "record/append.h"

#include <string.h>

#include "base/text.h"
#include "record/build.h"
#include "record/fact.h"

/* ---- copies, each in the memory of the record that takes it ---- */

static bool copy_text(assay_record *into, const char **text)
{
    if (*text == NULL)
        return true;
    *text = assay_record_text(into, *text);
    return *text != NULL;
}

/* Copy all texts of a list that ends with NULL. */
#define COPY_TEXTS(into, ...) copy_texts(into, (const char **[]){__VA_ARGS__, NULL})

static bool copy_texts(assay_record *into, const char ***texts)
{
    for (; *texts != NULL; texts++)
        if (!copy_text(into, *texts))
            return false;
    return true;
}

static bool copy_numbers(assay_record *into, const double **numbers, size_t count)
{
    if (*numbers == NULL)
        return true;
    double *copy = assay_record_allocate(into, count, sizeof *copy);
    if (copy != NULL && count > 0)
        memcpy(copy, *numbers, count * sizeof *copy);
    *numbers = copy;
    return copy != NULL;
}

static bool copy_facts(assay_record *into, assay_record_fact **facts, size_t count)
{
    if (*facts == NULL)
        return true;
    assay_record_fact *copy = assay_record_allocate(into, count, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < count; i++) {
        copy[i] = (*facts)[i];
        if (!COPY_TEXTS(into, &copy[i].key, &copy[i].value))
            return false;
    }
    *facts = copy;
    return copy != NULL;
}

static bool copy_command(assay_record *into, assay_record_subject *subject)
{
    const char **copy = assay_record_allocate(into, subject->command_count, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < subject->command_count; i++)
        if ((copy[i] = assay_record_text(into, subject->command[i])) == NULL)
            return false;
    subject->command = copy;
    return copy != NULL;
}

static bool copy_rounds(assay_record *into, uint32_t offset, assay_record_subject *subject)
{
    if (subject->rounds == NULL)
        return true;
    uint32_t *copy = assay_record_allocate(into, subject->sample_count, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < subject->sample_count; i++)
        copy[i] = subject->rounds[i] + offset;
    subject->rounds = copy;
    return copy != NULL;
}

/* The first round number that no subject of the record uses. */
static uint32_t next_round(const assay_record *record)
{
    uint32_t next = 0;
    for (size_t i = 0; i < record->subject_count; i++) {
        const assay_record_subject *it = &record->subjects[i];
        if (it->rounds != NULL && it->sample_count > 0 && it->rounds[it->sample_count - 1] >= next)
            next = it->rounds[it->sample_count - 1] + 1;
    }
    return next;
}

static bool copy_measures(assay_record *into, assay_record_subject *subject)
{
    if (subject->measure_count == 0)
        return true;
    assay_record_measure *copy = assay_record_allocate(into, subject->measure_count, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < subject->measure_count; i++) {
        copy[i] = subject->measures[i];
        if (!copy_text(into, &copy[i].metric) ||
            !copy_numbers(into, &copy[i].samples, copy[i].sample_count))
            return false;
    }
    subject->measures = copy;
    return copy != NULL;
}

static assay_status append_subject(assay_record *into, const assay_record_subject *subject,
                                   uint32_t offset)
{
    assay_record_subject copy = *subject;
    bool copied =
        COPY_TEXTS(into, &copy.name, &copy.source, &copy.origin, &copy.stopped, &copy.model,
                   &copy.covers, &copy.inputs, &copy.doubt, &copy.throttle) &&
        copy_facts(into, &copy.parameters, copy.parameter_count) && copy_command(into, &copy) &&
        copy_numbers(into, &copy.samples_seconds, copy.sample_count) &&
        copy_numbers(into, &copy.look_pairs, copy.look_count) &&
        copy_numbers(into, &copy.look_spent, copy.look_count) && copy_rounds(into, offset, &copy) &&
        copy_measures(into, &copy);
    return copied ? assay_record_add_subject(into, &copy) : ASSAY_E_MEMORY;
}

assay_status assay__record_append_subject(assay_record *into, const assay_record_subject *subject)
{
    return append_subject(into, subject, 0);
}

assay_status assay__record_append_alone(assay_record *into, const assay_record_subject *subject,
                                        const char *origin)
{
    assay_record_subject alone = *subject;
    alone.origin = origin;
    alone.rounds = NULL;
    return append_subject(into, &alone, 0);
}

static bool copy_flops(assay_record *into, assay_record_model *model)
{
    assay_record_flops *copy = assay_record_allocate(into, model->flop_count, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < model->flop_count; i++) {
        copy[i] = model->flops[i];
        if (!COPY_TEXTS(into, &copy[i].component, &copy[i].convention))
            return false;
    }
    model->flops = copy;
    return copy != NULL;
}

static assay_status append_model(assay_record *into, const assay_record_model *model)
{
    assay_record_model copy = *model;
    if (!COPY_TEXTS(into, &copy.name, &copy.class_name) ||
        !copy_facts(into, &copy.settings, copy.setting_count) || !copy_flops(into, &copy))
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < into->model_count; i++)
        if (strcmp(into->models[i].name, copy.name) == 0) {
            into->models[i] = copy;
            return ASSAY_OK;
        }
    return assay_record_add_model(into, &copy);
}

static assay_status append_figure(assay_record *into, const assay_record_figure *figure)
{
    assay_record_figure copy = *figure;
    if (!COPY_TEXTS(into, &copy.name, &copy.of, &copy.unit, &copy.covers))
        return ASSAY_E_MEMORY;
    return assay_record_add_figure(into, &copy);
}

static assay_status append_series(assay_record *into, const assay_record_series *series)
{
    assay_record_series copy = *series;
    if (!COPY_TEXTS(into, &copy.name, &copy.of, &copy.unit, &copy.along) ||
        !copy_numbers(into, &copy.places, copy.count) ||
        !copy_numbers(into, &copy.values, copy.count))
        return ASSAY_E_MEMORY;
    return assay_record_add_series(into, &copy);
}

static assay_status append_scaling(assay_record *into, const assay_record_scaling *scaling)
{
    assay_record_scaling copy = *scaling;
    if (!COPY_TEXTS(into, &copy.name, &copy.of, &copy.parameter, &copy.growth_class))
        return ASSAY_E_MEMORY;
    return assay_record_add_scaling(into, &copy);
}

static assay_status append_comparison(assay_record *into, const assay_record_comparison *comparison)
{
    assay_record_comparison copy = *comparison;
    if (!COPY_TEXTS(into, &copy.baseline, &copy.candidate, &copy.baseline_origin,
                    &copy.candidate_origin, &copy.metric, &copy.reason))
        return ASSAY_E_MEMORY;
    return assay__record_add_comparison(into, &copy);
}

assay_status assay__record_append(assay_record *into, const assay_record *from)
{
    uint32_t offset = next_round(into);
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < from->setting_count && status == ASSAY_OK; i++)
        status = assay_record_add_setting(into, from->settings[i].key, from->settings[i].value);
    for (size_t i = 0; i < from->subject_count && status == ASSAY_OK; i++)
        status = append_subject(into, &from->subjects[i], offset);
    for (size_t i = 0; i < from->model_count && status == ASSAY_OK; i++)
        status = append_model(into, &from->models[i]);
    for (size_t i = 0; i < from->figure_count && status == ASSAY_OK; i++)
        status = append_figure(into, &from->figures[i]);
    for (size_t i = 0; i < from->series_count && status == ASSAY_OK; i++)
        status = append_series(into, &from->series[i]);
    for (size_t i = 0; i < from->scaling_count && status == ASSAY_OK; i++)
        status = append_scaling(into, &from->scalings[i]);
    for (size_t i = 0; i < from->comparison_count && status == ASSAY_OK; i++)
        status = append_comparison(into, &from->comparisons[i]);
    return status;
}

/* ---- joining ---- */

/* Join the samples of one metric over all parts. *joined stays NULL if a part lacks the metric. */
static assay_status join_measure(assay_record *record, const assay_record_subject *const *parts,
                                 size_t count, size_t total, const char *metric,
                                 const double **joined)
{
    double *room = assay_record_allocate(record, total, sizeof *room);
    size_t at = 0;
    if (room == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const double *part = assay__record_measure_samples(parts[i], metric);
        if (part == NULL)
            return ASSAY_OK;
        memcpy(room + at, part, parts[i]->sample_count * sizeof *room);
        at += parts[i]->sample_count;
    }
    *joined = room;
    return ASSAY_OK;
}

assay_status assay__record_join_measures(assay_record *record,
                                         const assay_record_subject *const *parts, size_t count,
                                         assay_record_subject *whole)
{
    size_t most = parts[0]->measure_count;
    assay_record_measure *measures = assay_record_allocate(record, most, sizeof *measures);
    assay_status status = measures != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    whole->measures = measures;
    whole->measure_count = 0;
    for (size_t i = 0; i < most && status == ASSAY_OK; i++) {
        const char *metric = parts[0]->measures[i].metric;
        const double *joined = NULL;
        status = join_measure(record, parts, count, whole->sample_count, metric, &joined);
        if (status != ASSAY_OK || joined == NULL)
            continue;
        assay_record_measure *to = &measures[whole->measure_count++];
        to->metric = assay_record_text(record, metric);
        to->samples = joined;
        to->sample_count = whole->sample_count;
        status = to->metric != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    }
    return status;
}

/* ---- finding ---- */

const assay_record_subject *assay__record_find_subject(const assay_record *record, const char *name)
{
    for (size_t i = 0; i < record->subject_count; i++)
        if (strcmp(record->subjects[i].name, name) == 0)
            return &record->subjects[i];
    return NULL;
}

const assay_record_model *assay__record_find_model(const assay_record *record, const char *name)
{
    for (size_t i = 0; i < record->model_count; i++)
        if (strcmp(record->models[i].name, name) == 0)
            return &record->models[i];
    return NULL;
}

const assay_record_series *assay__record_find_series(const assay_record *record, const char *name,
                                                     const char *of)
{
    for (size_t i = 0; i < record->series_count; i++)
        if (strcmp(record->series[i].name, name) == 0 && assay__text_same(record->series[i].of, of))
            return &record->series[i];
    return NULL;
}

const double *assay__record_measure_samples(const assay_record_subject *subject, const char *metric)
{
    for (size_t i = 0; i < subject->measure_count; i++)
        if (strcmp(subject->measures[i].metric, metric) == 0)
            return subject->measures[i].samples;
    return NULL;
}

const char *assay__record_setting(const assay_record *record, const char *key)
{
    return assay__fact_value(record->settings, record->setting_count, key);
}

assay_reading assay__record_figure(const assay_record *record, const char *name, const char *of)
{
    for (size_t i = 0; i < record->figure_count; i++)
        if (strcmp(record->figures[i].name, name) == 0 &&
            assay__text_same(record->figures[i].of, of))
            return record->figures[i].value;
    return assay_reading_missing(ASSAY_NOT_MEASURED);
}
