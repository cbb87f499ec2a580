/* The bottlenecks of a run, the advice for them, and the rules by which assay finds them.
 *
 *     cc advice.c $(pkg-config --cflags --libs assay) -lm -o advice
 *     ./advice
 *
 * bottleneck.c prints ready-made tables; this program uses the findings as data. */
#include <math.h>
#include <stdlib.h>

#include <assay/assay.h>
#include <assay/bottleneck.h>

enum { VALUES = 200000, STEPS = 5 };

static double values[VALUES];

static void load(void)
{
    for (int i = 0; i < VALUES; i++)
        values[i] = sin(i * 0.001) * exp(-i * 1e-6);
}

static double forward(void)
{
    double sum = 0.0;
    for (int i = 0; i < VALUES; i++)
        sum += values[i];
    return sum;
}

static const char *evidence_text(assay_evidence evidence)
{
    switch (evidence) {
    case ASSAY_EVIDENCE_OWN_SHARE:
        return "own share of the total";
    case ASSAY_EVIDENCE_SHARE:
        return "share of the total";
    case ASSAY_EVIDENCE_BATCH_SHARE:
        return "share of the batch";
    case ASSAY_EVIDENCE_SPREAD:
        return "slowest over fastest";
    case ASSAY_EVIDENCE_FIRST:
        return "first over the others";
    default:
        return "share, of the GPUs";
    }
}

static void list_rules(void)
{
    size_t count = 0;
    const assay_bottleneck_rule *rules = assay_bottleneck_rules(&count);
    printf("\n%zu rules, in the order they are tried:\n", count);
    for (size_t i = 0; i < count; i++)
        printf("  %-24s %-24s > %g\n", rules[i].id, evidence_text(rules[i].evidence),
               rules[i].limit);
}

static assay_status advise(assay_monitor *monitor, assay_error *error)
{
    assay_record *record = NULL;
    assay_finding *findings = NULL;
    size_t count = 0;
    assay_status status = assay_monitor_record(monitor, error, &record);
    if (status == ASSAY_OK)
        status = assay_bottlenecks_find(record, &findings, &count);
    if (status == ASSAY_OK) {
        for (size_t i = 0; i < count; i++)
            printf("%s: rule %s, %.2f > %g\n", findings[i].operation, findings[i].rule->id,
                   findings[i].value, findings[i].rule->limit);
        printf("\n");
        status = assay_findings_print(findings, count, stdout, ASSAY_SHOW_REMEDIES);
    }
    free(findings);
    assay_record_free(record); /* after the findings, because they borrow names from it */
    return status;
}

int main(void)
{
    assay_error error = {0};
    assay_monitor *monitor = NULL;
    assay_status status = assay_monitor_open(NULL, &error, &monitor);
    double sum = 0.0;
    for (int step = 0; status == ASSAY_OK && step < STEPS; step++)
        ASSAY_TRACK(monitor, "batch") {
            ASSAY_TRACK(monitor, "data_loading") {
                load();
            }
            ASSAY_TRACK(monitor, "forward") {
                sum += forward();
            }
        }
    if (status == ASSAY_OK) {
        printf("sum %.3f\n\n", sum);
        status = advise(monitor, &error);
    }
    if (status == ASSAY_OK)
        list_rules();
    else
        fprintf(stderr, "%s: %s\n", assay_status_name(status),
                error.message[0] != '\0' ? error.message : assay_status_message(status));
    assay_monitor_free(monitor);
    return status == ASSAY_OK ? 0 : 1;
}
