/* Makes the list of subjects that the export formats share: unique names, valid samples, and
 * figures computed from the samples where the record does not have them. */
#include "report/export.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/stats.h"
#include "base/error.h"
#include "base/free_number.h"
#include "base/shell_word.h"
#include "stats/doubt.h"
#include "stats/input.h"
#include "stats/mean.h"

bool assay__export_has_time(const assay__export_item *item)
{
    return item->count > 0 || item->mean_seconds.validity == ASSAY_VALID;
}

bool assay__export_has_spans(const assay_record *record)
{
    return record->operation_count + record->metric_count > 0;
}

void assay__export_command(assay__buffer *text, const assay_record_subject *subject)
{
    assay__shell_words(text, subject->command, subject->command_count);
}

void assay__export_parameters(assay__buffer *text, const assay_record_subject *subject)
{
    for (size_t i = 0; i < subject->parameter_count; i++) {
        const assay_record_fact *fact = &subject->parameters[i];
        assay__buffer_printf(text, "%s%s=%s", i > 0 ? " " : "", fact->key,
                             fact->value != NULL ? fact->value : "");
    }
}

assay_status assay__export_finish(assay__json *json, assay_status composing, assay_error *error)
{
    assay_status writing = assay__json_finish(json);
    assay_status status = composing != ASSAY_OK ? composing : writing;
    if (status == ASSAY_OK)
        return ASSAY_OK;
    return assay__fail(error, status, "cannot write JSON: %s", assay_status_message(status));
}

assay_reading assay__export_sample(const assay_record_subject *subject, size_t index)
{
    double seconds = subject->samples_seconds[index];
    return assay__stats_finite(&seconds, 1) && seconds >= 0.0
               ? assay_reading_of(seconds)
               : assay_reading_missing(ASSAY_NOT_MEASURED);
}

static assay_reading known_or(assay_reading recorded, assay_reading computed)
{
    return recorded.validity == ASSAY_VALID && isfinite(recorded.value) ? recorded : computed;
}

static assay_reading sum_of(assay_reading a, assay_reading b)
{
    if (a.validity != ASSAY_VALID)
        return a;
    return b.validity == ASSAY_VALID ? assay_reading_of(a.value + b.value) : b;
}

static assay_status fill_figures(assay__export_item *item)
{
    const assay_record_subject *subject = item->subject;
    assay_interval mean;
    assay_summary summary;
    assay_status status = assay_stats_summarize(item->seconds, item->count, &summary);
    if (status == ASSAY_OK)
        status = assay__stats_time_interval(item->seconds, item->count, 0.95, &mean);
    if (status != ASSAY_OK)
        return status;
    item->mean_seconds = known_or(subject->mean_seconds, summary.mean);
    item->low_seconds = known_or(subject->low_seconds, (assay_reading){mean.low, mean.validity});
    item->high_seconds = known_or(subject->high_seconds, (assay_reading){mean.high, mean.validity});
    item->median_seconds = known_or(subject->median_seconds, summary.median);
    item->std_seconds = known_or(subject->std_seconds, summary.std);
    item->min_seconds = known_or(subject->min_seconds, summary.min);
    item->max_seconds = known_or(subject->max_seconds, summary.max);
    item->processor_seconds = sum_of(subject->user_seconds, subject->sys_seconds);
    bool recorded = subject->slow_samples > 0;
    item->slow_samples = recorded ? subject->slow_samples : summary.slow_count;
    item->slow_ratio = recorded ? subject->slow_ratio : summary.slow_ratio;
    item->doubt = subject->doubt;
    return item->doubt != NULL ? ASSAY_OK
                               : assay__stats_mean_doubt(item->seconds, item->count, &item->doubt);
}

static bool is_taken(const assay__export_list *list, const char *name)
{
    return assay__name_index_find(&list->names, -1, name) >= 0;
}

/* A name to which a number is added. */
typedef struct numbered_name {
    const assay__export_list *list;
    assay__buffer *text;
    size_t length; /* without the number */
} numbered_name;

static bool is_number_taken(const void *context, unsigned number)
{
    const numbered_name *name = context;
    name->text->length = name->length;
    return assay__buffer_printf(name->text, " #%u", number) == ASSAY_OK &&
           is_taken(name->list, name->text->data);
}

/* Make a unique name: "sort", or with the parameters "sort size=4", or with the file "sort size=4
 * (old.json)", or as the last resort with a number "sort #2". */
static char *unique_name(const assay__export_list *list, const assay_record_subject *subject)
{
    const char *name =
        subject->name != NULL && *subject->name != '\0' ? subject->name : "(unnamed)";
    assay__buffer text;
    assay__buffer_init(&text, ASSAY__EXPORT_MAX_TEXT);
    assay__buffer_append_text(&text, name);
    if (text.status == ASSAY_OK && subject->parameter_count > 0 && is_taken(list, text.data)) {
        assay__buffer_append_text(&text, " ");
        assay__export_parameters(&text, subject);
    }
    if (text.status == ASSAY_OK && subject->origin != NULL && is_taken(list, text.data))
        assay__buffer_printf(&text, " (%s)", subject->origin);
    if (text.status == ASSAY_OK && is_taken(list, text.data)) {
        const numbered_name numbered = {list, &text, text.length};
        unsigned number = assay__free_number(2, is_number_taken, &numbered);
        while (is_number_taken(&numbered, number))
            number++;
    }
    char *unique = assay__buffer_take(&text);
    assay__buffer_release(&text);
    return unique;
}

static assay_status fill_item(assay__export_list *list, size_t index)
{
    assay__export_item *item = &list->items[index];
    const assay_record_subject *subject = item->subject;
    item->name = unique_name(list, subject);
    item->seconds = calloc(subject->sample_count + 1, sizeof *item->seconds);
    if (item->name == NULL || item->seconds == NULL ||
        assay__name_index_add(&list->names, -1, item->name, (int32_t)index) != ASSAY_OK)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < subject->sample_count; i++)
        if (assay__export_sample(subject, i).validity == ASSAY_VALID)
            item->seconds[item->count++] = subject->samples_seconds[i];
    return fill_figures(item);
}

assay_status assay__export_list_init(assay__export_list *list, const assay_record *const *records,
                                     size_t count)
{
    size_t subjects = 0;
    for (size_t i = 0; i < count; i++)
        subjects += records[i]->subject_count;
    *list = (assay__export_list){.records = records, .record_count = count};
    list->items = calloc(subjects + 1, sizeof *list->items);
    if (list->items == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < records[i]->subject_count; k++) {
            size_t index = list->item_count++;
            list->items[index].record = records[i];
            list->items[index].subject = &records[i]->subjects[k];
            assay_status status = fill_item(list, index);
            if (status != ASSAY_OK)
                return status;
        }
    return ASSAY_OK;
}

void assay__export_list_release(assay__export_list *list)
{
    for (size_t i = 0; i < list->item_count; i++) {
        free(list->items[i].name);
        free(list->items[i].seconds);
    }
    free(list->items);
    assay__name_index_release(&list->names);
    *list = (assay__export_list){0};
}
