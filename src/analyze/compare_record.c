/* Chooses the pairs of subjects that are compared within one record. Subjects with equal parameters
 * form a group, and each is compared with the first of its group. In a sweep of two commands over
 * three sizes, these are the two commands at each size. If every subject has parameters of its own
 * (one command over three sizes), the sweep itself is the question, and all subjects are compared
 * with the first. A saved comparison holds subjects of several files. There, subjects are compared
 * only with subjects of the same name, as in the original comparison. */
#include <stdlib.h>
#include <string.h>

#include "analyze/compare.h"
#include "record/fact.h"

static const char *text_of(const assay_record_fact *parameter)
{
    return parameter->value != NULL ? parameter->value : "";
}

bool assay__same_parameters(const assay_record_subject *a, const assay_record_subject *b)
{
    if (a->parameter_count != b->parameter_count)
        return false;
    for (size_t i = 0; i < a->parameter_count; i++) {
        const assay_record_fact *own = &a->parameters[i];
        const assay_record_fact *other =
            assay__fact_find(b->parameters, b->parameter_count, own->key);
        if (other == NULL || strcmp(text_of(own), text_of(other)) != 0)
            return false;
    }
    return true;
}

static bool from_several_files(const assay_record *record)
{
    for (size_t i = 1; i < record->subject_count; i++) {
        const char *first = record->subjects[0].origin, *own = record->subjects[i].origin;
        if (first != NULL && own != NULL && strcmp(first, own) != 0)
            return true;
    }
    return false;
}

typedef enum comparable { ALL, WITH_EQUAL_PARAMETERS, NAMESAKES } comparable;

static bool are_comparable(const assay_record_subject *a, const assay_record_subject *b,
                           comparable which)
{
    return which == ALL ||
           (assay__same_parameters(a, b) && (which != NAMESAKES || strcmp(a->name, b->name) == 0));
}

static comparable choose(const assay_record *record)
{
    if (from_several_files(record))
        return NAMESAKES;
    for (size_t i = 1; i < record->subject_count; i++)
        for (size_t k = 0; k < i; k++)
            if (assay__same_parameters(&record->subjects[i], &record->subjects[k]))
                return WITH_EQUAL_PARAMETERS;
    return ALL;
}

/* Enter the pairings and return their number. If `pairings` is NULL, only count them. */
static size_t pair_up(const assay_record *record, bool all_pairs, comparable which,
                      assay__pairing *pairings)
{
    size_t count = 0;
    for (size_t candidate = 1; candidate < record->subject_count; candidate++)
        for (size_t baseline = 0; baseline < candidate; baseline++) {
            const assay_record_subject *b = &record->subjects[baseline];
            const assay_record_subject *c = &record->subjects[candidate];
            if (!are_comparable(b, c, which))
                continue;
            if (pairings != NULL)
                pairings[count] = (assay__pairing){b, c, false, 0};
            count++;
            if (!all_pairs)
                break;
        }
    return count;
}

assay_status assay_record_compare(assay_record *record, const assay_compare_options *options)
{
    assay_compare_options chosen;
    assay_status status = assay__compare_options_read(options, NULL, &chosen);
    if (status != ASSAY_OK)
        return status;
    if (record->subject_count > ASSAY__COMPARE_SUBJECTS)
        return ASSAY_E_LIMIT;
    comparable which = choose(record);
    size_t count = pair_up(record, chosen.all_pairs, which, NULL);
    assay__pairing *pairings = calloc(count > 0 ? count : 1, sizeof *pairings);
    if (pairings == NULL)
        return ASSAY_E_MEMORY;
    pair_up(record, chosen.all_pairs, which, pairings);
    status = assay__compare_into(record, pairings, count, chosen.margin, chosen.metric);
    free(pairings);
    return status;
}
