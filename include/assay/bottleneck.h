/* Bottlenecks: what stands out in a record, and what to do about it.
 *
 *     assay_finding *findings = NULL;
 *     size_t count = 0;
 *     if (assay_bottlenecks_find(record, &findings, &count) != ASSAY_OK) ...
 *     assay_findings_print(findings, count, stdout, ASSAY_SHOW_REMEDIES);
 *     free(findings);
 *
 * A rule is data: it says which operations it looks at, which figure it compares with which limit,
 * and what to do about a finding. assay_bottleneck_rules() returns all rules. The report format
 * "advice" (report.h) prints the findings of a record.
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
    ASSAY_EVIDENCE_FIRST = 5,       /* first span / mean of the others */
    /* Of the GPUs as a whole, where they were measured (`assay run --gpu`): time without a kernel
     * from one cause / time from the first to the last activity. docs/gpu.md has the causes. */
    ASSAY_EVIDENCE_GPU_LAUNCH = 6,
    ASSAY_EVIDENCE_GPU_DATA = 7,
    ASSAY_EVIDENCE_GPU_HOST = 8,
    ASSAY_EVIDENCE_GPU_SYNC = 9,
    ASSAY_EVIDENCE_GPU_COPIES = 10,
    ASSAY_EVIDENCE_GPU_PAGEABLE = 11, /* bytes copied from or to pageable host memory / all that
                                         were copied from or to the host, where copies take 1 % */
    ASSAY_EVIDENCE_GPU_UNUSED = 12    /* 1 - mean utilisation that a meter read (meter.h), where
                                         nothing better was measured */
} assay_evidence;

typedef enum assay_severity { ASSAY_SEVERITY_HINT = 1, ASSAY_SEVERITY_WARNING = 2 } assay_severity;

/* A second symptom, which makes a finding likelier where it was measured. */
typedef enum assay_circumstance {
    ASSAY_CIRCUMSTANCE_NONE = 0,
    ASSAY_CIRCUMSTANCE_GPU_IDLE = 1, /* a GPU was busy for less than half of the time (a meter) */
    ASSAY_CIRCUMSTANCE_GPU_BUSY = 2, /* for more than 80 % of it */
    ASSAY_CIRCUMSTANCE_MEMORY = 3    /* the peak of memory is 1.2 times that of its siblings */
} assay_circumstance;

enum { ASSAY_RULE_REMEDIES = 4 };

typedef struct assay_bottleneck_rule {
    const char *id;         /* "data-loading" */
    const char *family;     /* for an operation, only the first rule of a family that holds is
                               reported */
    const char *operations; /* words separated by '|'; the rule looks at operations whose name
                               contains one of them, ignoring case and separators; NULL: all */
    assay_evidence evidence;
    double limit; /* the rule holds above it: a share of 1, or a ratio */
    assay_severity severity;
    const char *symptom; /* the line to print, with {operation} and {value} to fill in */
    const char *remedies[ASSAY_RULE_REMEDIES]; /* until NULL */
    assay_circumstance beside;
    const char *code; /* a remedy in Python and PyTorch, lines ended by '\n'; or NULL */
} assay_bottleneck_rule;

typedef struct assay_finding {
    const assay_bottleneck_rule *rule;
    const char *operation; /* borrowed from the record; "batch" for a training loop, "GPU" for what
                              concerns the devices as a whole */
    double value;          /* the evidence: share or ratio */
    /* Of the rule's second symptom, if it holds: the share of the time in which the GPU was busy,
     * or the ratio of the peaks. Not measured: it does not hold, or is not known. */
    assay_reading beside;
} assay_finding;

/* All rules, in the order in which they are tried; static storage. */
ASSAY_API const assay_bottleneck_rule *assay_bottleneck_rules(size_t *count);

/* Find the operations of a record for which a rule holds. Caller frees `*findings` with free(). It
 * is NULL, and the count 0, when no rule holds. */
ASSAY_API ASSAY_MUST_USE assay_status assay_bottlenecks_find(const assay_record *record,
                                                             assay_finding **findings,
                                                             size_t *count);

/* Print one line for each finding, and below it the second symptom if that holds. With
 * ASSAY_SHOW_REMEDIES its remedies follow, and with ASSAY_SHOW_CODE a remedy in code. Remedies that
 * begin with "on a GPU: " are left out unless you also pass ASSAY_SHOW_GPU_REMEDIES; do so if the
 * measured program uses a GPU. */
enum assay_findings_flags {
    ASSAY_SHOW_REMEDIES = 1,
    ASSAY_SHOW_GPU_REMEDIES = 2,
    ASSAY_SHOW_CODE = 4
};
ASSAY_API assay_status assay_findings_print(const assay_finding *findings, size_t count,
                                            FILE *stream, unsigned flags);

#ifdef __cplusplus
}
#endif

#endif
