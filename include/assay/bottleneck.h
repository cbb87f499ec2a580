/* Bottlenecks: what stands out in a record, and what to do about it.
 *
 *     assay_finding *findings = NULL;
 *     size_t count = 0;
 *     if (assay_bottlenecks_find(record, &findings, &count) != ASSAY_OK) ...
 *     assay_findings_print(findings, count, stdout, ASSAY_SHOW_REMEDIES);
 *     free(findings);
 *
 * A rule is data: which operations it looks at, which figure it compares with which limit, and what
 * to do about it. assay_bottleneck_rules() shows them all; docs and reports quote them. The report
 * format "advice" (report.h) prints the findings of a record.
 *
 * Threads: any; a record is read without locks.
 */
#ifndef ASSAY_BOTTLENECK_H
#define ASSAY_BOTTLENECK_H

#include <stddef.h>
#include <stdio.h>

#include "assay/record.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum assay_evidence {
    ASSAY_EVIDENCE_OWN_SHARE = 1,   /* own time (without children) / total time of the run */
    ASSAY_EVIDENCE_SHARE = 2,       /* its whole time / total time of the run */
    ASSAY_EVIDENCE_BATCH_SHARE = 3, /* its whole time / time of the enclosing operation */
    ASSAY_EVIDENCE_SPREAD = 4,      /* slowest span / fastest span */
    ASSAY_EVIDENCE_FIRST = 5        /* first span / mean of the others */
} assay_evidence;

typedef enum assay_severity { ASSAY_SEVERITY_HINT = 1, ASSAY_SEVERITY_WARNING = 2 } assay_severity;

enum { ASSAY_RULE_REMEDIES = 4 };

typedef struct assay_bottleneck_rule {
    const char *id;         /* "data-loading" */
    const char *family;     /* of the rules of one family only the first that holds is reported for
                               an operation */
    const char *operations; /* words separated by '|', one of which the operation's name contains,
                               letter case and separators aside; NULL: every operation */
    assay_evidence evidence;
    double limit; /* the rule holds above it: a share of 1, or a ratio */
    assay_severity severity;
    const char *symptom; /* the line to print; {operation} and {value} stand for the finding's */
    const char *remedies[ASSAY_RULE_REMEDIES]; /* until NULL */
} assay_bottleneck_rule;

typedef struct assay_finding {
    const assay_bottleneck_rule *rule;
    const char *operation; /* borrowed from the record; "batch" for a training loop */
    double value;          /* the evidence: share or ratio */
} assay_finding;

/* The rules, in the order they are tried; static storage. */
ASSAY_API const assay_bottleneck_rule *assay_bottleneck_rules(size_t *count);

/* What stands out in a record: for each rule, the operations it holds for. Caller frees
 * `*findings` with free(); NULL with count 0 when nothing does. */
ASSAY_API ASSAY_MUST_USE assay_status assay_bottlenecks_find(const assay_record *record,
                                                             assay_finding **findings,
                                                             size_t *count);

/* One line for each finding, in the seeds' words; with ASSAY_SHOW_REMEDIES what to do about it. */
enum assay_findings_flags { ASSAY_SHOW_REMEDIES = 1 };
ASSAY_API assay_status assay_findings_print(const assay_finding *findings, size_t count,
                                            FILE *stream, unsigned flags);

#ifdef __cplusplus
}
#endif

#endif
