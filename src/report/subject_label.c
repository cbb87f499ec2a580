/* assay__subject_label(): a short label for a subject in tables of comparisons. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/export.h"

static bool same_parameters(const assay_record_subject *a, const assay_record_subject *b)
{
    bool same = a->parameter_count == b->parameter_count;
    for (size_t i = 0; i < a->parameter_count && same; i++)
        same = assay__text_same(a->parameters[i].key, b->parameters[i].key) &&
               assay__text_same(a->parameters[i].value, b->parameters[i].value);
    return same;
}

/* Whether the parameters alone identify the subject. */
static bool stands_alone(const assay_record *record, const assay_record_subject *subject)
{
    for (size_t i = 0; i < record->subject_count; i++)
        if (record->subjects[i].parameter_count == 0 ||
            (&record->subjects[i] != subject && same_parameters(&record->subjects[i], subject)))
            return false;
    return record->subject_count > 1;
}

const char *assay__subject_label(const assay_record *record, const char *name,
                                 char label[ASSAY__SUBJECT_LABEL])
{
    const assay_record_subject *subject = NULL;
    for (size_t i = 0; i < record->subject_count && subject == NULL; i++)
        if (assay__text_same(record->subjects[i].name, name))
            subject = &record->subjects[i];
    if (subject == NULL || !stands_alone(record, subject))
        return name;
    assay__buffer text;
    assay__buffer_init(&text, ASSAY__EXPORT_MAX_TEXT);
    assay__export_parameters(&text, subject);
    bool composed = text.status == ASSAY_OK && text.length > 0;
    if (composed)
        assay__text_copy_name(label, ASSAY__SUBJECT_LABEL, text.data, text.length);
    assay__buffer_release(&text);
    return composed ? label : name;
}
