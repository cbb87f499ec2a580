/* The entries of timers, and how they are set, found and nested. They are an array that is searched
 * in order: a program has tens of them, and their order is part of the result. Each entry holds its
 * strings and metrics itself, so the array is the only allocation and nothing else has to be freed.
 */
#include "facade/timers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static const char time_key[] = "time";

assay_status assay_timers_new(FILE *progress, assay_timers **timers)
{
    *timers = calloc(1, sizeof **timers);
    if (*timers == NULL)
        return ASSAY_E_MEMORY;
    (*timers)->progress = progress;
    (*timers)->open = -1;
    return ASSAY_OK;
}

void assay_timers_free(assay_timers *timers)
{
    if (timers == NULL)
        return;
    free(timers->entries);
    free(timers);
}

assay_status assay_timers_status(const assay_timers *timers)
{
    return timers->status;
}

void assay__timers_keep_first(assay_timers *timers, assay_status status)
{
    if (timers->status == ASSAY_OK)
        timers->status = status;
}

static assay__timer *find(const assay_timers *timers, const char *name)
{
    char kept[ASSAY__NAME_MAX + 1];
    assay__text_copy_name(kept, sizeof kept, name, name == NULL ? 0 : strlen(name));
    for (size_t i = 0; i < timers->count; i++)
        if (strcmp(timers->entries[i].name, kept) == 0)
            return &timers->entries[i];
    return NULL;
}

static assay_status append(assay_timers *timers, const char *name, assay__timer **entry)
{
    if (timers->count == ASSAY_TIMERS_MAX)
        return ASSAY_E_LIMIT;
    if (!assay__grow(&timers->entries, &timers->capacity, timers->count + 1,
                     sizeof *timers->entries))
        return ASSAY_E_MEMORY;
    *entry = &timers->entries[timers->count++];
    **entry = (assay__timer){.parent = -1, .time = assay_reading_missing(ASSAY_NOT_MEASURED)};
    assay__text_copy_name((*entry)->name, sizeof(*entry)->name, name,
                          name == NULL ? 0 : strlen(name));
    return ASSAY_OK;
}

static assay_status find_or_append(assay_timers *timers, const char *name, assay__timer **entry)
{
    *entry = find(timers, name);
    return *entry != NULL ? ASSAY_OK : append(timers, name, entry);
}

static bool is_time(assay_reading value)
{
    return value.validity != ASSAY_VALID || (isfinite(value.value) && value.value >= 0.0);
}

assay_status assay_timers_set(assay_timers *timers, const char *name, double seconds)
{
    if (!is_time(assay_reading_of(seconds)))
        return ASSAY_E_ARGUMENT;
    assay__timer *entry = NULL;
    assay_status status = find_or_append(timers, name, &entry);
    if (status != ASSAY_OK)
        return status;
    entry->parent = -1;
    entry->metric_count = 0;
    entry->time = assay_reading_of(seconds);
    return ASSAY_OK;
}

static assay_timer_metric *find_metric(assay__timer *entry, const char *key)
{
    for (size_t i = 0; i < entry->metric_count; i++)
        if (strcmp(entry->metrics[i].key, key) == 0)
            return &entry->metrics[i];
    return NULL;
}

assay_status assay_timers_set_metric(assay_timers *timers, const char *name, const char *key,
                                     assay_reading value)
{
    bool sets_time = strcmp(key, time_key) == 0;
    if ((sets_time && !is_time(value)) || *key == '\0')
        return ASSAY_E_ARGUMENT;
    if (strlen(key) > ASSAY_TIMER_KEY_MAX)
        return ASSAY_E_LIMIT;
    assay__timer *entry = NULL;
    assay_status status = find_or_append(timers, name, &entry);
    if (status != ASSAY_OK)
        return status;
    if (sets_time) {
        entry->time = value;
        return ASSAY_OK;
    }
    assay_timer_metric *metric = find_metric(entry, key);
    if (metric == NULL) {
        if (entry->metric_count == ASSAY_TIMER_METRICS)
            return ASSAY_E_LIMIT;
        metric = &entry->metrics[entry->metric_count++];
        snprintf(metric->key, sizeof metric->key, "%s", key);
        assay__text_make_printable(metric->key);
    }
    metric->value = value;
    return ASSAY_OK;
}

static bool is_inside(const assay_timers *timers, int32_t index, int32_t ancestor)
{
    for (; index >= 0; index = timers->entries[index].parent)
        if (index == ancestor)
            return true;
    return false;
}

assay_status assay_timers_set_parent(assay_timers *timers, const char *name, const char *parent)
{
    assay__timer *entry = find(timers, name);
    const assay__timer *outer = parent != NULL ? find(timers, parent) : NULL;
    if (entry == NULL || (parent != NULL && outer == NULL))
        return ASSAY_E_NOT_FOUND;
    int32_t place = outer != NULL ? (int32_t)(outer - timers->entries) : -1;
    if (is_inside(timers, place, (int32_t)(entry - timers->entries)))
        return ASSAY_E_ARGUMENT;
    entry->parent = place;
    return ASSAY_OK;
}

assay_reading assay_timers_get(const assay_timers *timers, const char *name, const char *key)
{
    assay__timer *entry = find(timers, name);
    if (entry == NULL)
        return assay_reading_missing(ASSAY_NOT_MEASURED);
    if (strcmp(key, time_key) == 0)
        return entry->time;
    const assay_timer_metric *metric = find_metric(entry, key);
    return metric != NULL ? metric->value : assay_reading_missing(ASSAY_NOT_MEASURED);
}

size_t assay_timers_count(const assay_timers *timers)
{
    return timers->count;
}

size_t assay__timers_find(const assay_timers *timers, const char *name)
{
    const assay__timer *entry = find(timers, name);
    return entry != NULL ? (size_t)(entry - timers->entries) : timers->count;
}

assay_timer assay_timers_at(const assay_timers *timers, size_t index)
{
    const assay__timer *entry = &timers->entries[index];
    return (assay_timer){.name = entry->name,
                         .parent = entry->parent,
                         .time = entry->time,
                         .metric_count = entry->metric_count,
                         .metrics = entry->metrics};
}

/* An entry that is still running has no time yet. The total then counts its finished children
 * instead. */
static bool has_measured_ancestor(const assay_timers *timers, size_t index)
{
    for (int32_t i = timers->entries[index].parent; i >= 0; i = timers->entries[i].parent)
        if (timers->entries[i].time.validity == ASSAY_VALID)
            return true;
    return false;
}

double assay_timers_total(const assay_timers *timers)
{
    double total = 0.0;
    for (size_t i = 0; i < timers->count; i++)
        if (timers->entries[i].time.validity == ASSAY_VALID && !has_measured_ancestor(timers, i))
            total += timers->entries[i].time.value;
    return total;
}

assay_status assay__timers_begin(assay_timers *timers, const char *name, assay__timer_mark *mark)
{
    *mark = (assay__timer_mark){.index = -1, .enclosing = timers->open};
    assay__timer *entry = NULL;
    assay_status status = find_or_append(timers, name, &entry);
    if (status != ASSAY_OK)
        return status;
    mark->index = (int32_t)(entry - timers->entries);
    if (!is_inside(timers, timers->open,
                   mark->index)) { /* recursion: an entry may not be inside itself */
        entry->parent = timers->open;
        timers->open = mark->index;
    }
    return ASSAY_OK;
}

void assay__timers_end(assay_timers *timers, assay__timer_mark mark, double seconds)
{
    if (mark.index < 0)
        return;
    assay__timer *entry = &timers->entries[mark.index];
    entry->time = assay_reading_of(seconds > 0.0 ? seconds : 0.0);
    entry->metric_count = 0;
    timers->open = mark.enclosing;
}
