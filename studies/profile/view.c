/* Reads the figures of a profile from its record, for the text and the JSON. */
#include "studies/profile/view.h"

#include <stdlib.h>
#include <string.h>

#include "models/profile/flop_group.h"
#include "studies/common/results.h"
#include "studies/profile/profile.h"

const char *assay__pass_name(int pass)
{
    static const char *const names[ASSAY__PASSES] = {"forward", "backward", "training_step"};
    return names[pass];
}

/* ---- times ---- */

assay__times assay__times_of(const assay_record_subject *subject)
{
    if (subject == NULL)
        return (assay__times){0};
    return (assay__times){.count = subject->sample_count,
                          .mean = subject->mean_seconds,
                          .std = subject->std_seconds,
                          .min = subject->min_seconds,
                          .max = subject->max_seconds,
                          .low = subject->low_seconds,
                          .high = subject->high_seconds};
}

const assay_record_subject *assay__profile_subject(const assay_record *record, const char *what)
{
    char name[512];
    if (record->model_count == 0)
        return NULL;
    snprintf(name, sizeof name, "%s %s", record->models[0].name, what);
    return assay__record_find_subject(record, name);
}

/* The times of the backward pass. The count is that of the gradient. Single backward passes were
 * not timed, so there is no deviation, minimum or maximum. */
static assay__times backward_times(const assay_record *record)
{
    const assay_record_subject *gradient = assay__profile_subject(record, "gradient");
    if (gradient == NULL)
        return (assay__times){0};
    const char *model = record->models[0].name;
    const assay_reading none = assay_reading_missing(ASSAY_UNSUPPORTED);
    return (assay__times){.count = gradient->sample_count,
                          .mean = assay__record_figure(record, ASSAY__FIGURE_BACKWARD, model),
                          .std = none,
                          .min = none,
                          .max = none,
                          .low = assay__record_figure(record, ASSAY__FIGURE_BACKWARD_LOW, model),
                          .high = assay__record_figure(record, ASSAY__FIGURE_BACKWARD_HIGH, model)};
}

assay__times assay__pass_times(const assay_record *record, int pass)
{
    return pass == ASSAY__PASS_BACKWARD
               ? backward_times(record)
               : assay__times_of(assay__profile_subject(record, assay__pass_name(pass)));
}

/* ---- settings ---- */

const char *assay__profile_setting(const assay_record *record, const char *key)
{
    for (size_t i = 0; i < record->setting_count; i++)
        if (strcmp(record->settings[i].key, key) == 0)
            return record->settings[i].value;
    return NULL;
}

uint64_t assay__profile_count(const assay_record *record, const char *key)
{
    const char *value = assay__profile_setting(record, key);
    return value != NULL ? strtoull(value, NULL, 10) : 0;
}

/* ---- parts ---- */

static bool has_figure(const assay_record *record, const char *name)
{
    for (size_t i = 0; i < record->figure_count; i++)
        if (strcmp(record->figures[i].name, name) == 0)
            return true;
    return false;
}

unsigned assay__profile_parts(const assay_record *record)
{
    return (has_figure(record, ASSAY__FIGURE_BACKWARD) ? ASSAY__PROFILE_RUNTIME : 0U) |
           (has_figure(record, ASSAY__FIGURE_PROCESS_PEAK) ? ASSAY__PROFILE_MEMORY : 0U) |
           (has_figure(record, ASSAY__FIGURE_FLOPS) ? ASSAY__PROFILE_FLOPS : 0U);
}

double assay__profile_model_bytes(const assay_record_model *model)
{
    return model->parameter_bytes.value + model->gradient_bytes.value +
           model->optimizer_bytes.value + model->activation_bytes.value +
           model->workspace_bytes.value;
}

bool assay__figure_leaves_out(const assay_record_figure *figure, const char *convention)
{
    return strcmp(figure->name, ASSAY__FIGURE_LEFT_OUT) == 0 && figure->covers != NULL &&
           figure->of != NULL && strcmp(figure->of, convention) == 0;
}

const char *assay__pass_bound(const assay_record *record, int pass)
{
    assay_reading intensity =
        assay__record_figure(record, ASSAY__FIGURE_INTENSITY, assay__pass_name(pass));
    assay_reading flops = assay__record_figure(record, ASSAY__FIGURE_PEAK_FLOPS, NULL);
    assay_reading bytes = assay__record_figure(record, ASSAY__FIGURE_PEAK_BYTES, NULL);
    if (flops.validity != ASSAY_VALID || bytes.validity != ASSAY_VALID ||
        intensity.validity != ASSAY_VALID)
        return NULL;
    return intensity.value >= flops.value / bytes.value ? "compute" : "memory";
}

/* ---- FLOPs ---- */

static assay_flop_component *find_row(assay__flop_table *table, const char *name, size_t length)
{
    for (size_t i = table->count; i-- > 0;)
        if (strncmp(table->rows[i].name, name, length) == 0 && table->rows[i].name[length] == '\0')
            return &table->rows[i];
    char *copy = strndup(name, length);
    if (copy == NULL)
        return NULL;
    table->rows[table->count] = (assay_flop_component){.name = copy};
    return &table->rows[table->count++];
}

static int convention_of(const char *name)
{
    int c = 0;
    while (c < ASSAY_FLOP_CONVENTIONS &&
           strcmp(assay_flop_convention_name((assay_flop_convention)c), name) != 0)
        c++;
    return c;
}

assay_status assay__flop_table_make(const assay_record_model *model, bool grouped,
                                    assay__flop_table *table)
{
    *table = (assay__flop_table){.rows = calloc(model->flop_count + 1, sizeof *table->rows)};
    bool made = table->rows != NULL;
    for (size_t i = 0; i < model->flop_count && made; i++) {
        const assay_record_flops *from = &model->flops[i];
        size_t length = strlen(from->component);
        const char *name = grouped ? assay__flop_group(from->component, &length) : from->component;
        int convention = convention_of(from->convention);
        assay_flop_component *row = find_row(table, name, length);
        made = row != NULL;
        if (made && convention < ASSAY_FLOP_CONVENTIONS) {
            row->flops[convention].forward += (uint64_t)from->forward;
            row->flops[convention].backward += (uint64_t)from->backward;
        }
    }
    if (!made)
        assay__flop_table_release(table);
    return made ? ASSAY_OK : ASSAY_E_MEMORY;
}

void assay__flop_table_release(assay__flop_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free((char *)(uintptr_t)table->rows[i].name);
    free(table->rows);
    *table = (assay__flop_table){0};
}

assay_flops assay__flop_table_total(const assay__flop_table *table, assay_flop_convention which)
{
    assay_flops total = {0};
    for (size_t i = 0; i < table->count; i++) {
        total.forward += table->rows[i].flops[which].forward;
        total.backward += table->rows[i].flops[which].backward;
    }
    return total;
}

/* ---- axes ---- */

static const char encoding_parameter[] = "encoding";

static bool same(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

const char *assay__parameter_of(const assay_record_subject *subject, const char *key)
{
    for (size_t i = 0; i < subject->parameter_count; i++)
        if (strcmp(subject->parameters[i].key, key) == 0)
            return subject->parameters[i].value;
    return NULL;
}

static const assay_record_scaling *find_scaling(const assay_record *record, const char *model,
                                                const char *parameter)
{
    for (size_t i = 0; i < record->scaling_count; i++)
        if (same(record->scalings[i].of, model) && same(record->scalings[i].parameter, parameter))
            return &record->scalings[i];
    return NULL;
}

size_t assay__axes_view(const assay_record *record, assay__axis_view *axes, size_t room)
{
    const char *model = record->model_count > 0 ? record->models[0].name : NULL;
    const char *last = NULL; /* the subjects of an axis follow one another */
    size_t count = 0;
    for (size_t i = 0; i < record->subject_count && count < room; i++) {
        const assay_record_subject *subject = &record->subjects[i];
        const char *key = subject->parameter_count > 0 ? subject->parameters[0].key : NULL;
        if (key == NULL || same(key, last) || (model != NULL && !same(subject->model, model)))
            continue;
        const assay_record_scaling *scaling = find_scaling(record, subject->model, key);
        last = key;
        if (scaling != NULL)
            axes[count++] = (assay__axis_view){scaling->name, key, subject->model, scaling};
        else if (strcmp(key, encoding_parameter) == 0)
            axes[count++] = (assay__axis_view){"encodings", key, subject->model, NULL};
    }
    return count;
}

const assay_record_subject *assay__axis_next(const assay_record *record,
                                             const assay__axis_view *axis, size_t *at)
{
    for (; *at < record->subject_count; ++*at) {
        const assay_record_subject *subject = &record->subjects[*at];
        if (same(subject->model, axis->model) && subject->parameter_count > 0 &&
            strcmp(subject->parameters[0].key, axis->parameter) == 0) {
            ++*at;
            return subject;
        }
    }
    return NULL;
}

const assay_record_subject *assay__encoding_computing(const assay_record *record, const char *name)
{
    char text[128];
    snprintf(text, sizeof text, "%s encoding", name);
    return assay__record_find_subject(record, text);
}

assay_reading assay__encoding_storage(const assay_record *record, const char *name)
{
    char text[128];
    snprintf(text, sizeof text, "%s encoding", name);
    return assay__record_figure(record, ASSAY__FIGURE_STORAGE, text);
}

assay_status assay__axis_growth(const assay_record *record, const assay__axis_view *axis,
                                assay_growth **growth)
{
    *growth = NULL;
    for (size_t i = 0; i < record->series_count; i++) {
        const assay_record_series *points = &record->series[i];
        if (strcmp(points->name, ASSAY__SERIES_POINTS) == 0 && same(points->of, axis->model) &&
            same(points->along, axis->parameter) && points->places != NULL)
            return assay_growth_fit(points->places, points->values, points->count, NULL, growth);
    }
    return ASSAY_E_NOT_FOUND;
}
