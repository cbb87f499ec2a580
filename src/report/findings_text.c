/* Prints findings as text: one line each, with its remedies below if the caller asks for them. */
#include <string.h>

#include "assay/bottleneck.h"
#include "report/cell.h"
#include "report/export.h"

static const char *sign_of(assay_severity severity)
{
    return severity == ASSAY_SEVERITY_WARNING ? "⚠️  " : "⚡ ";
}

static bool is_share(assay_evidence evidence)
{
    return evidence != ASSAY_EVIDENCE_SPREAD && evidence != ASSAY_EVIDENCE_FIRST;
}

/* The rule's symptom with {operation} and {value} filled in. */
static void symptom(assay__buffer *text, const assay_finding *finding)
{
    char label[ASSAY__LABEL_BYTES], number[ASSAY__CELL_BYTES];
    for (const char *at = finding->rule->symptom; *at != '\0';) {
        size_t plain = strcspn(at, "{");
        assay__buffer_append(text, at, plain);
        at += plain;
        if (strncmp(at, "{operation}", 11) == 0) {
            assay__buffer_append_text(text, assay__cell_label(label, finding->operation));
            at += 11;
        } else if (strncmp(at, "{value}", 7) == 0) {
            bool share = is_share(finding->rule->evidence);
            assay__cell_fixed(number, share ? 100.0 * finding->value : finding->value, 1);
            assay__buffer_printf(text, "%s%s", number, share ? "%" : "x");
            at += 7;
        } else if (*at != '\0') {
            assay__buffer_append(text, at++, 1);
        }
    }
}

static bool is_shown(const char *remedy, unsigned flags)
{
    return (flags & ASSAY_SHOW_REMEDIES) != 0 &&
           ((flags & ASSAY_SHOW_GPU_REMEDIES) != 0 || strncmp(remedy, "on a GPU: ", 10) != 0);
}

static bool measured(assay_reading reading)
{
    return reading.validity == ASSAY_VALID;
}

unsigned assay__findings_flags(const assay_record *record)
{
    bool gpu = record->has_gpu;
    for (size_t i = 0; i < record->metric_count && !gpu; i++)
        gpu = measured(record->metrics[i].gpu_peak_bytes) ||
              measured(record->metrics[i].gpu_delta_bytes);
    for (size_t i = 0; i < record->operation_count && !gpu; i++)
        gpu = measured(record->operations[i].gpu_peak_bytes) ||
              measured(record->operations[i].gpu_delta_bytes);
    return ASSAY_SHOW_REMEDIES | (gpu ? (unsigned)ASSAY_SHOW_GPU_REMEDIES : 0);
}

/* Append a line about the second symptom, if it was measured. */
static void second_symptom(assay__buffer *text, const assay_finding *finding)
{
    char number[ASSAY__CELL_BYTES];
    if (!measured(finding->beside))
        return;
    if (finding->rule->beside == ASSAY_CIRCUMSTANCE_MEMORY)
        assay__buffer_printf(text,
                             "      its peak of memory is %sx that of the operations beside it\n",
                             assay__cell_fixed(number, finding->beside.value, 1));
    else
        assay__buffer_printf(text, "      the GPU is busy for %s%% of the time\n",
                             assay__cell_fixed(number, 100 * finding->beside.value, 1));
}

static void code_of(assay__buffer *text, const char *code)
{
    while (code != NULL && *code != '\0') {
        size_t length = strcspn(code, "\n");
        assay__buffer_append_text(text, "          ");
        assay__buffer_append(text, code, length);
        assay__buffer_append_text(text, "\n");
        code += length + (code[length] == '\n');
    }
}

assay_status assay_findings_print(const assay_finding *findings, size_t count, FILE *stream,
                                  unsigned flags)
{
    assay__buffer text;
    assay__buffer_init(&text, ASSAY__TABLE_MAX_BYTES);
    for (size_t i = 0; i < count; i++) {
        const assay_bottleneck_rule *rule = findings[i].rule;
        assay__buffer_append_text(&text, sign_of(rule->severity));
        symptom(&text, &findings[i]);
        assay__buffer_append_text(&text, "\n");
        second_symptom(&text, &findings[i]);
        for (size_t k = 0; k < ASSAY_RULE_REMEDIES && rule->remedies[k] != NULL; k++)
            if (is_shown(rule->remedies[k], flags))
                assay__buffer_printf(&text, "      - %s\n", rule->remedies[k]);
        if ((flags & ASSAY_SHOW_CODE) != 0)
            code_of(&text, rule->code);
    }
    return assay__table_print(&text, stream);
}
