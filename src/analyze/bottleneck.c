/* Bottlenecks: a table of rules, tried on every operation.
 *
 * Rules, limits and remedies come from the performance monitoring guide the product is built from
 * ("Identifying Bottlenecks", "Common Bottlenecks and Solutions"). To add one, add a row. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/bottleneck.h"
#include "assay/record.h"

#define BATCH_NAMES "batch|step|iteration"

static const assay_bottleneck_rule rules[] = {
    {"dominant",
     "share",
     NULL,
     ASSAY_EVIDENCE_OWN_SHARE,
     0.50,
     ASSAY_SEVERITY_WARNING,
     "BOTTLENECK: {operation} ({value})",
     {"focus on this operation first: it takes more than all others together"}},
    {"large-share",
     "share",
     NULL,
     ASSAY_EVIDENCE_OWN_SHARE,
     0.20,
     ASSAY_SEVERITY_HINT,
     "Consider optimizing: {operation} ({value})",
     {"measure before and after each change to this operation"}},
    {"data-loading",
     "data-loading",
     "dataload|loaddata|datafetch|fetchdata|loadbatch|nextbatch",
     ASSAY_EVIDENCE_SHARE,
     0.30,
     ASSAY_SEVERITY_WARNING,
     "Data loading is slow: {operation} takes {value} of total time",
     {"use more loader workers", "prefetch the next batches while this one is computed",
      "on a GPU: pin host memory for faster transfer"}},
    {"forward",
     "forward",
     "forward",
     ASSAY_EVIDENCE_BATCH_SHARE,
     0.50,
     ASSAY_SEVERITY_WARNING,
     "Forward pass is slow: {operation} takes {value} of batch time",
     {"reduce the model: fewer filters or layers, depthwise separable convolutions",
      "use gradient checkpointing if memory limits the batch size",
      "on a GPU: use mixed precision (FP16)"}},
    {"backward",
     "backward",
     "backward",
     ASSAY_EVIDENCE_BATCH_SHARE,
     0.40,
     ASSAY_SEVERITY_WARNING,
     "Backward pass is slow: {operation} takes {value} of batch time",
     {"use gradient accumulation over smaller batches", "release gradients that are not used",
      "on a GPU: use mixed precision in the backward pass"}},
    {"first-batch",
     "first-batch",
     BATCH_NAMES,
     ASSAY_EVIDENCE_FIRST,
     2.0,
     ASSAY_SEVERITY_HINT,
     "First batch is slow ({value} the others)",
     {"run one warm-up batch before timing",
      "or leave the first batch out: initialisation, compilation and allocation happen there"}},
    {"batch-variance",
     "batch-variance",
     BATCH_NAMES,
     ASSAY_EVIDENCE_SPREAD,
     2.0,
     ASSAY_SEVERITY_WARNING,
     "High variance ({value}) - investigate outliers!",
     {"pad inputs to one size, or sort batches by size",
      "check for cache thrashing: smaller caches", "pre-compute expensive data augmentation",
      "on a GPU: use pinned memory"}},
};

enum { RULE_COUNT = sizeof rules / sizeof rules[0] };

const assay_bottleneck_rule *assay_bottleneck_rules(size_t *count)
{
    *count = RULE_COUNT;
    return rules;
}

/* Whether the letters and digits of `name`, case aside, continue with `word`. */
static bool continues_with(const char *name, const char *word, size_t length)
{
    for (size_t matched = 0; matched < length; name++) {
        if (*name == '\0')
            return false;
        if (*name == '_' || *name == '-' || *name == ' ' || *name == '.')
            continue;
        if (tolower((unsigned char)*name) != word[matched++])
            return false;
    }
    return true;
}

static bool contains_word(const char *name, const char *word, size_t length)
{
    for (; *name != '\0'; name++)
        if (continues_with(name, word, length))
            return true;
    return false;
}

static bool looks_at(const assay_bottleneck_rule *rule, const char *name)
{
    if (rule->operations == NULL)
        return true;
    for (const char *word = rule->operations;;) {
        size_t length = strcspn(word, "|");
        if (contains_word(name, word, length))
            return true;
        if (word[length] == '\0')
            return false;
        word += length + 1;
    }
}

static double ratio(assay_reading dividend, assay_reading divisor)
{
    if (dividend.validity != ASSAY_VALID || divisor.validity != ASSAY_VALID)
        return NAN;
    return dividend.value / divisor.value;
}

/* The figure a rule asks for; NaN or infinite when the row does not have it. */
static double evidence(assay_evidence kind, const assay__operation_row *of, double run_seconds)
{
    switch (kind) {
    case ASSAY_EVIDENCE_OWN_SHARE:
        return of->self_seconds / run_seconds;
    case ASSAY_EVIDENCE_SHARE:
        return of->total_seconds / run_seconds;
    case ASSAY_EVIDENCE_BATCH_SHARE:
        return of->total_seconds / of->enclosing_seconds;
    case ASSAY_EVIDENCE_SPREAD:
        return ratio(of->max_seconds, of->min_seconds);
    case ASSAY_EVIDENCE_FIRST:
        return ratio(of->first_seconds, of->rest_seconds);
    }
    return NAN;
}

/* Whether another rule of the family already holds for this operation; findings of one operation
 * stand together at the end of the list. */
static bool family_reported(const assay_finding *findings, size_t count, const char *operation,
                            const char *family)
{
    while (count > 0 && findings[count - 1].operation == operation)
        if (strcmp(findings[--count].rule->family, family) == 0)
            return true;
    return false;
}

static size_t try_rules(const assay__operation_row *row, double run_seconds,
                        assay_finding *findings, size_t count)
{
    for (size_t i = 0; i < RULE_COUNT; i++) {
        double value = evidence(rules[i].evidence, row, run_seconds);
        if (!isfinite(value) || value <= rules[i].limit || !looks_at(&rules[i], row->name) ||
            family_reported(findings, count, row->name, rules[i].family))
            continue;
        findings[count++] =
            (assay_finding){.rule = &rules[i], .operation = row->name, .value = value};
    }
    return count;
}

static int by_rule_then_value(const void *left, const void *right)
{
    const assay_finding *a = left, *b = right;
    if (a->rule != b->rule)
        return a->rule < b->rule ? -1 : 1;
    return (a->value < b->value) - (a->value > b->value);
}

assay_status assay_bottlenecks_find(const assay_record *record, assay_finding **findings,
                                    size_t *count)
{
    assay__operation_row *rows = NULL;
    size_t operations = 0;
    *findings = NULL;
    *count = 0;
    assay_status status = assay__operation_rows(record, &rows, &operations);
    if (status != ASSAY_OK || operations == 0)
        return status;
    assay_finding *found = calloc(operations, RULE_COUNT * sizeof *found);
    if (found == NULL) {
        free(rows);
        return ASSAY_E_MEMORY;
    }
    for (size_t i = 0; i < operations; i++)
        *count = try_rules(&rows[i], record->total_seconds, found, *count);
    free(rows);
    if (*count == 0) {
        free(found);
        return ASSAY_OK;
    }
    qsort(found, *count, sizeof *found, by_rule_then_value);
    *findings = found;
    return ASSAY_OK;
}

assay_status assay__bottlenecks_of(const assay__operation_row *row, assay_finding **findings,
                                   size_t *count)
{
    assay_finding *found = calloc(RULE_COUNT, sizeof *found);
    *findings = NULL;
    *count = 0;
    if (found == NULL)
        return ASSAY_E_MEMORY;
    *count = try_rules(row, 0.0, found, 0);
    if (*count == 0)
        free(found);
    else
        *findings = found;
    return ASSAY_OK;
}
