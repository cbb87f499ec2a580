/* Finds the series of a sweep and fits a growth to each. The record does not say which subjects
 * belong to the same command: their words differ by the size, and a label may replace them. The
 * order of the subjects tells it, because `assay bench` and hyperfine repeat all commands for each
 * value of a parameter. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "assay/growth.h"
#include "base/error.h"
#include "base/text.h"

/* The largest number of subjects. They are compared pairwise, and no benchmark has more. */
enum { MAX_SUBJECTS = 1024 };

static const char column_prefix[] = "parameter_"; /* as CSV exports write it */

static const char *value_of(const assay_record_subject *subject, const char *key)
{
    for (size_t i = 0; i < subject->parameter_count; i++)
        if (strcmp(subject->parameters[i].key, key) == 0)
            return subject->parameters[i].value;
    return NULL;
}

/* The parameter as a number above 0. NAN if it is none. */
static double size_of(const assay_record_subject *subject, const char *key)
{
    const char *text = value_of(subject, key);
    char *end = NULL;
    double size = text != NULL && *text != '\0' ? assay__text_number(text, &end) : (double)NAN;
    return end != NULL && *end == '\0' && isfinite(size) && size > 0 ? size : (double)NAN;
}

/* Whether the parameter is a size that differs between subjects. Every subject must have it or,
 * with `some`, at least some of them. */
static bool is_size(const assay_record *record, const char *key, bool some)
{
    double first = (double)NAN;
    bool differs = false;
    for (size_t i = 0; i < record->subject_count; i++) {
        double size = size_of(&record->subjects[i], key);
        if (isnan(size) && some && value_of(&record->subjects[i], key) == NULL)
            continue;
        if (isnan(size))
            return false;
        first = isnan(first) ? size : first;
        differs = differs || size != first;
    }
    return differs;
}

/* The key as the record spells it, if a subject has it. */
static const char *find_key(const assay_record *record, const char *asked)
{
    for (size_t i = 0; i < record->subject_count; i++)
        for (size_t k = 0; k < record->subjects[i].parameter_count; k++)
            if (strcmp(record->subjects[i].parameters[k].key, asked) == 0)
                return record->subjects[i].parameters[k].key;
    return NULL;
}

static assay_status take_parameter(const assay_record *record, const char *asked,
                                   assay_error *error, const char **chosen)
{
    size_t prefix = sizeof column_prefix - 1;
    *chosen = find_key(record, asked);
    if (*chosen == NULL && strncmp(asked, column_prefix, prefix) == 0)
        *chosen = find_key(record, asked + prefix);
    if (*chosen == NULL || !is_size(record, *chosen, true))
        return assay__fail(error, ASSAY_E_DATA,
                           "'%s' is no parameter that is a number above 0 for every benchmark and "
                           "differs between them",
                           asked);
    return ASSAY_OK;
}

static assay_status choose_parameter(const assay_record *record, assay_error *error,
                                     const char **chosen)
{
    const assay_record_subject *first = &record->subjects[0];
    *chosen = NULL;
    for (size_t i = 0; record->subject_count > 0 && i < first->parameter_count; i++) {
        const char *key = first->parameters[i].key;
        if (!is_size(record, key, false))
            continue;
        if (*chosen != NULL)
            return assay__fail(error, ASSAY_E_DATA,
                               "both '%s' and '%s' may be the size; choose with --size-column",
                               *chosen, key);
        *chosen = key;
    }
    if (*chosen == NULL)
        return assay__fail(error, ASSAY_E_DATA,
                           "the benchmarks differ in no parameter that is a number above 0; make a "
                           "sweep with: assay bench --param n=1..1024*2 -- COMMAND {n}");
    return ASSAY_OK;
}

/* Whether two subjects have equal parameters, apart from `key`. If `key` is NULL, all parameters
 * must be equal. */
static bool are_alike(const assay_record_subject *a, const assay_record_subject *b, const char *key)
{
    if (a->parameter_count != b->parameter_count)
        return false;
    for (size_t i = 0; i < a->parameter_count; i++) {
        const char *own = a->parameters[i].value, *name = a->parameters[i].key;
        const char *other = value_of(b, name);
        bool is_key = key != NULL && strcmp(name, key) == 0;
        if (is_key && other != NULL)
            continue;
        if (own == NULL || other == NULL || strcmp(own, other) != 0)
            return false;
    }
    return true;
}

/* The number of earlier subjects with all parameters equal. It is the index of the subject's
 * command. */
static size_t place_of(const assay_record *record, size_t index)
{
    size_t place = 0;
    for (size_t i = 0; i < index; i++)
        place += are_alike(&record->subjects[i], &record->subjects[index], NULL);
    return place;
}

static const double *values_of(const assay_record_subject *subject, const char *metric,
                               size_t *count)
{
    *count = subject->sample_count;
    if (metric == NULL)
        return subject->samples_seconds;
    for (size_t i = 0; i < subject->measure_count; i++)
        if (strcmp(subject->measures[i].metric, metric) == 0)
            return subject->measures[i].samples;
    *count = 0;
    return NULL;
}

/* Write the name that two subjects of a series have in common, with {key} in the place of their
 * sizes. Returns false if the names differ in more than that. */
static bool generalise(const assay_record_subject *a, const assay_record_subject *b,
                       const char *key, char *to, size_t room)
{
    const char *one = a->name, *other = b->name;
    const char *size = value_of(a, key), *other_size = value_of(b, key);
    size_t length = strlen(size), other_length = strlen(other_size), used = 0;
    while (*one != '\0' && used + 1 < room) {
        bool found =
            strncmp(one, size, length) == 0 && strncmp(other, other_size, other_length) == 0;
        if (!found && *one != *other)
            return false;
        used += (size_t)(found ? snprintf(to + used, room - used, "{%s}", key)
                               : snprintf(to + used, room - used, "%c", *one));
        one += found ? length : 1;
        other += found ? other_length : 1;
    }
    return used + 1 >= room || *other == '\0';
}

/* Name the series: "sort {n}". Of the label "sort (n=1000)" only the beginning is used. */
static void name_series(const assay_record_subject *first, const assay_record_subject *largest,
                        const char *key, assay_growth *growth)
{
    char *name = growth->name, tail[sizeof growth->name];
    if (!generalise(largest, first, key, name, sizeof growth->name))
        snprintf(name, sizeof growth->name, "%.250s", largest->name);
    int length = snprintf(tail, sizeof tail, " (%.100s={%.100s})", key, key);
    size_t whole = strlen(name), cut = (size_t)length;
    if (whole > cut && strcmp(name + whole - cut, tail) == 0)
        name[whole - cut] = '\0';
}

/* Fit the series that begins with subject `first`. */
static assay_status fit_series(const assay_record *record, size_t first, const size_t *places,
                               const char *key, const char *metric, assay_error *error,
                               assay_growth **growth)
{
    double *sizes = NULL, *costs = NULL;
    size_t count = 0, all = 0;
    const assay_record_subject *largest = &record->subjects[first];
    for (size_t i = first; i < record->subject_count; i++)
        all += record->subjects[i].sample_count;
    sizes = calloc(all + 1, sizeof *sizes);
    costs = calloc(all + 1, sizeof *costs);
    assay_status status = sizes != NULL && costs != NULL
                              ? ASSAY_OK
                              : assay__fail(error, ASSAY_E_MEMORY, "out of memory");
    for (size_t i = first; i < record->subject_count && status == ASSAY_OK; i++) {
        const assay_record_subject *it = &record->subjects[i];
        size_t samples;
        const double *values = values_of(it, metric, &samples);
        if (places[i] != places[first] || !are_alike(&record->subjects[first], it, key))
            continue;
        for (size_t k = 0; k < samples; k++)
            if (isfinite(values[k]) && values[k] > 0) {
                sizes[count] = size_of(it, key);
                costs[count++] = values[k];
            }
        largest = size_of(it, key) > size_of(largest, key) ? it : largest;
    }
    if (status == ASSAY_OK && count == 0)
        status = assay__fail(error, ASSAY_E_DATA, "'%.200s' has no samples of %.100s",
                             record->subjects[first].name, metric != NULL ? metric : "its time");
    if (status == ASSAY_OK)
        status = assay_growth_fit(sizes, costs, count, error, growth);
    if (status == ASSAY_OK) {
        name_series(&record->subjects[first], largest, key, *growth);
        snprintf((*growth)->metric, sizeof(*growth)->metric, "%s", metric != NULL ? metric : "");
    }
    free(sizes);
    free(costs);
    return status;
}

/* Whether an earlier subject belongs to the same series. */
static bool has_begun(const assay_record *record, size_t index, const size_t *places,
                      const char *key)
{
    for (size_t i = 0; i < index; i++)
        if (places[i] == places[index] &&
            are_alike(&record->subjects[i], &record->subjects[index], key))
            return true;
    return false;
}

assay_status assay_growth_sweep_fit(const assay_record *record, const char *parameter,
                                    const char *metric, assay_error *error,
                                    assay_growth_sweep *result)
{
    size_t subjects = record->subject_count;
    *result = (assay_growth_sweep){0};
    if (subjects > MAX_SUBJECTS)
        return assay__fail(error, ASSAY_E_LIMIT, "at most %d benchmarks can be one sweep, not %zu",
                           MAX_SUBJECTS, subjects);
    if (subjects == 0)
        return assay__fail(error, ASSAY_E_DATA, "the record has no benchmarks");
    assay_status status = parameter != NULL
                              ? take_parameter(record, parameter, error, &result->parameter)
                              : choose_parameter(record, error, &result->parameter);
    if (status != ASSAY_OK)
        return status;
    size_t *places = calloc(subjects, sizeof *places);
    result->series = calloc(subjects, sizeof *result->series);
    if (places == NULL || result->series == NULL)
        status = assay__fail(error, ASSAY_E_MEMORY, "out of memory");
    for (size_t i = 0; i < subjects && status == ASSAY_OK; i++)
        places[i] = place_of(record, i);
    for (size_t i = 0; i < subjects && status == ASSAY_OK; i++)
        if (value_of(&record->subjects[i], result->parameter) != NULL &&
            !has_begun(record, i, places, result->parameter)) {
            status = fit_series(record, i, places, result->parameter, metric, error,
                                &result->series[result->count]);
            result->count += status == ASSAY_OK;
        }
    free(places);
    return status;
}

void assay_growth_sweep_release(assay_growth_sweep *released)
{
    for (size_t i = 0; i < released->count; i++)
        assay_growth_free(released->series[i]);
    free(released->series);
    *released = (assay_growth_sweep){0};
}
