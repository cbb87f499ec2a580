/* Makes, fills and frees records.
 *
 * Everything lives in one arena, so a record is freed in one step and a reader that fails halfway
 * leaks nothing. Arrays double when they are full. The outgrown array stays in the arena; all of
 * them together take at most the size of the final array again. */
#include "assay/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "record/build.h"
#include "record/describe.h"
#include "record/fields.h"

static const size_t ARENA_MAXIMUM = (size_t)4 << 30;

enum array {
    OPERATIONS,
    METRICS,
    COUNTERS,
    LANES,
    EVENTS,
    OPEN_SPANS,
    SUBJECTS,
    COMPARISONS,
    DIFFERENCES,
    PROCESSES,
    DEVICES,
    MODELS,
    FIGURES,
    SERIES,
    SCALINGS,
    MACHINE,
    BUILD,
    GIT,
    SETTINGS,
    ARRAY_COUNT
};

/* The capacity of an array that we grew. A caller may replace the array by one of its own, so the
 * capacity counts only as long as the record still points to `items`. */
struct assay__record_growth {
    const void *items;
    size_t capacity;
};

assay_status assay_record_new(assay_record **record)
{
    *record = NULL;
    assay__arena *arena = assay__arena_new(ARENA_MAXIMUM);
    if (arena == NULL)
        return ASSAY_E_MEMORY;
    assay_record *made = assay__arena_allocate(arena, 1, sizeof *made);
    struct assay__record_growth *growths =
        assay__arena_allocate(arena, ARRAY_COUNT, sizeof *growths);
    if (made == NULL || growths == NULL) {
        assay__arena_free(arena);
        return ASSAY_E_MEMORY;
    }
    made->struct_size = sizeof *made;
    made->assay_version = ASSAY_VERSION;
    made->arena = arena;
    made->growths = growths;
    assay__record_clear_readings(assay__record_clock_fields, &made->clock);
    assay__record_clear_readings(assay__record_fields, made);
    assay__record_clear_readings(assay__record_summary_fields, &made->process);
    assay__record_clear_readings(assay__record_process_fields, &made->process);
    assay__record_clear_readings(assay__record_python_fields, &made->python);
    assay__record_clear_readings(assay__record_gpu_fields, &made->gpu);
    *record = made;
    return ASSAY_OK;
}

void assay_record_free(assay_record *record)
{
    if (record != NULL)
        assay__arena_free(record->arena); /* the record itself lives there */
}

void assay_record_operation_init(assay_record_operation *item)
{
    *item = (assay_record_operation){.parent = -1};
    assay__record_clear_readings(assay__record_operation_fields, item);
}

void assay_record_metric_init(assay_record_metric *item)
{
    *item = (assay_record_metric){0};
    assay__record_clear_readings(assay__record_metric_fields, item);
}

void assay_record_subject_init(assay_record_subject *item)
{
    *item = (assay_record_subject){0};
    assay__record_clear_readings(assay__record_subject_fields, item);
}

void assay_record_model_init(assay_record_model *item)
{
    *item = (assay_record_model){0};
    assay__record_clear_readings(assay__record_model_fields, item);
}

void assay_record_scaling_init(assay_record_scaling *item)
{
    *item = (assay_record_scaling){0};
    assay__record_clear_readings(assay__record_scaling_fields, item);
}

void assay_record_device_init(assay_record_device *item)
{
    *item = (assay_record_device){0};
    assay__record_clear_readings(assay__record_device_fields, item);
}

void assay_record_member_init(assay_record_member *item)
{
    *item = (assay_record_member){0};
    assay__record_clear_readings(assay__record_member_fields, item);
}

void assay__record_comparison_init(assay_record_comparison *item)
{
    *item = (assay_record_comparison){.verdict = ASSAY_VERDICT_INCONCLUSIVE};
    assay__record_clear_readings(assay__record_comparison_fields, item);
}

void *assay_record_allocate(assay_record *record, size_t count, size_t size)
{
    return assay__arena_allocate(record->arena, count, size);
}

const char *assay_record_text(assay_record *record, const char *text)
{
    if (text == NULL)
        return NULL;
    size_t length = strlen(text);
    size_t capacity = (length < ASSAY_RECORD_MAX_TEXT ? length : ASSAY_RECORD_MAX_TEXT) + 1;
    char *copy = assay__arena_allocate(record->arena, capacity, 1);
    if (copy != NULL && length > 0) /* a name may not be empty, but a text may */
        assay__text_copy_name(copy, capacity, text, length);
    return copy;
}

assay_status assay__record_set_created(assay_record *record, uint64_t seconds)
{
    char text[ASSAY__UTC_BYTES];
    record->created = assay_record_text(record, assay__text_utc(seconds, text));
    return record->created != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
}

assay_status assay__record_set_clock(assay_record *record, const char *source, double frequency_hz,
                                     assay_reading resolution_ns, assay_reading cost_ns)
{
    record->clock = (assay_record_clock){assay_record_text(record, source),
                                         assay_reading_of(frequency_hz), resolution_ns, cost_ns};
    return record->clock.source != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
}

/* Make `*items` an array with room for one more than `count`. */
static assay_status reserve(assay_record *record, enum array which, void **items, size_t count,
                            size_t size, size_t maximum)
{
    struct assay__record_growth *growth = &record->growths[which];
    if (count >= maximum)
        return ASSAY_E_LIMIT;
    if (growth->items != NULL && growth->items == *items && count < growth->capacity)
        return ASSAY_OK;
    size_t capacity = count < 8 ? 16 : count * 2;
    void *grown = assay__arena_allocate(record->arena, capacity, size);
    if (grown == NULL)
        return ASSAY_E_MEMORY;
    if (count > 0)
        memcpy(grown, *items, count * size);
    *items = grown;
    growth->items = grown;
    growth->capacity = capacity;
    return ASSAY_OK;
}

/* All add functions are the same up to the type of the item, except those for facts. */
#define DEFINE_ADD(function, which, type, array, count)                                            \
    assay_status function(assay_record *record, const type *item)                                  \
    {                                                                                              \
        void *items = record->array;                                                               \
        assay_status status =                                                                      \
            reserve(record, which, &items, record->count, sizeof *item, ASSAY_RECORD_MAX_ITEMS);   \
        if (status != ASSAY_OK)                                                                    \
            return status;                                                                         \
        record->array = items;                                                                     \
        record->array[record->count++] = *item;                                                    \
        return ASSAY_OK;                                                                           \
    }

DEFINE_ADD(assay_record_add_operation, OPERATIONS, assay_record_operation, operations,
           operation_count)
DEFINE_ADD(assay_record_add_metric, METRICS, assay_record_metric, metrics, metric_count)
DEFINE_ADD(assay_record_add_counter, COUNTERS, assay_record_counter, counters, counter_count)
DEFINE_ADD(assay_record_add_lane, LANES, assay_record_lane, lanes, lane_count)
DEFINE_ADD(assay_record_add_event, EVENTS, assay_record_event, events, event_count)
DEFINE_ADD(assay__record_add_open_span, OPEN_SPANS, assay_record_open_span, open_spans,
           open_span_count)
DEFINE_ADD(assay_record_add_subject, SUBJECTS, assay_record_subject, subjects, subject_count)
DEFINE_ADD(assay_record_add_process, PROCESSES, assay_record_member, processes, process_count)
DEFINE_ADD(assay_record_add_device, DEVICES, assay_record_device, devices, device_count)
DEFINE_ADD(assay_record_add_model, MODELS, assay_record_model, models, model_count)
DEFINE_ADD(assay_record_add_figure, FIGURES, assay_record_figure, figures, figure_count)
DEFINE_ADD(assay_record_add_series, SERIES, assay_record_series, series, series_count)
DEFINE_ADD(assay_record_add_scaling, SCALINGS, assay_record_scaling, scalings, scaling_count)
DEFINE_ADD(assay__record_add_comparison, COMPARISONS, assay_record_comparison, comparisons,
           comparison_count)
DEFINE_ADD(assay__record_add_difference, DIFFERENCES, assay_record_difference, differences,
           difference_count)

/* Copy the texts of the fact into the record and make its validity agree with its value. */
static assay_status own_fact(assay_record *record, assay_record_fact *fact)
{
    if (fact->key == NULL || strcmp(fact->key, "unavailable") == 0)
        return ASSAY_E_ARGUMENT;
    if (fact->value != NULL)
        fact->validity = ASSAY_VALID;
    else if (fact->validity == ASSAY_VALID)
        fact->validity = ASSAY_NOT_MEASURED;
    bool valued = fact->value != NULL;
    fact->key = assay_record_text(record, fact->key);
    fact->value = assay_record_text(record, fact->value);
    return fact->key == NULL || (valued && fact->value == NULL) ? ASSAY_E_MEMORY : ASSAY_OK;
}

/* Replace the fact that has the same key. Returns false if there is none. */
static bool replace_fact(assay_record_fact *facts, size_t count, assay_record_fact fact)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(facts[i].key, fact.key) == 0) {
            facts[i] = fact;
            return true;
        }
    return false;
}

static assay_status add_fact(assay_record *record, enum array which, assay_record_fact **facts,
                             size_t *count, assay_record_fact fact)
{
    assay_status owned = own_fact(record, &fact);
    if (owned != ASSAY_OK || replace_fact(*facts, *count, fact))
        return owned;
    void *items = *facts;
    assay_status status =
        reserve(record, which, &items, *count, sizeof fact, ASSAY_RECORD_MAX_FACTS);
    if (status != ASSAY_OK)
        return status;
    *facts = items;
    (*facts)[(*count)++] = fact;
    return ASSAY_OK;
}

assay_status assay_record_add_machine(assay_record *record, const char *key, const char *value,
                                      assay_validity validity)
{
    return add_fact(record, MACHINE, &record->machine, &record->machine_count,
                    (assay_record_fact){key, value, validity});
}

assay_status assay__record_add_build(assay_record *record, const char *key, const char *value,
                                     assay_validity validity)
{
    return add_fact(record, BUILD, &record->build, &record->build_count,
                    (assay_record_fact){key, value, validity});
}

assay_status assay__record_add_git(assay_record *record, const char *key, const char *value,
                                   assay_validity validity)
{
    return add_fact(record, GIT, &record->git, &record->git_count,
                    (assay_record_fact){key, value, validity});
}

assay_status assay_record_add_setting(assay_record *record, const char *key, const char *value)
{
    return add_fact(record, SETTINGS, &record->settings, &record->setting_count,
                    (assay_record_fact){key, value, ASSAY_NOT_MEASURED});
}

/* Add a fact to an item of the record, such as a subject, in a new array that is one fact longer.
 */
static assay_status add_own_fact(assay_record *record, assay_record_fact **facts, size_t *count,
                                 const char *key, const char *value)
{
    assay_record_fact fact = {key, value, ASSAY_NOT_MEASURED};
    assay_status status = own_fact(record, &fact);
    if (status != ASSAY_OK || replace_fact(*facts, *count, fact))
        return status;
    if (*count >= ASSAY_RECORD_MAX_PARAMETERS)
        return ASSAY_E_LIMIT;
    assay_record_fact *grown = assay_record_allocate(record, *count + 1, sizeof *grown);
    if (grown == NULL)
        return ASSAY_E_MEMORY;
    if (*count > 0)
        memcpy(grown, *facts, *count * sizeof *grown);
    grown[(*count)++] = fact;
    *facts = grown;
    return ASSAY_OK;
}

assay_status assay_record_add_parameter(assay_record *record, assay_record_subject *subject,
                                        const char *key, const char *value)
{
    return add_own_fact(record, &subject->parameters, &subject->parameter_count, key, value);
}

assay_status assay_record_add_model_setting(assay_record *record, assay_record_model *model,
                                            const char *key, const char *value)
{
    return add_own_fact(record, &model->settings, &model->setting_count, key, value);
}
