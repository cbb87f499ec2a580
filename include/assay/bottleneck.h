/* Bottlenecks: operations that stand out in a record, and what to do about them.
 *
 *     assay_finding *findings = NULL;
 *     size_t count = 0;
 *     if (assay_bottlenecks_find(record, &findings, &count) != ASSAY_OK) ...
 *     assay_findings_print(findings, count, stdout, ASSAY_SHOW_REMEDIES);
 *     free(findings);
 *
 * A rule is a row of a table. It names the operations that it checks, the figure that it compares
 * with a limit, and the remedies for a finding. assay_bottleneck_rules() returns all rules. The
 * report format "advice" (report.h) prints the findings of a record.
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

/* The figure that a rule compares with its limit. */
typedef enum assay_evidence {
    ASSAY_EVIDENCE_OWN_SHARE = 1,   /* own time (without children) / total time of the run */
    ASSAY_EVIDENCE_SHARE = 2,       /* its whole time / total time of the run */
    ASSAY_EVIDENCE_BATCH_SHARE = 3, /* its whole time / time of the enclosing operation */
    ASSAY_EVIDENCE_SPREAD = 4,      /* slowest span / fastest span */
    ASSAY_EVIDENCE_FIRST = 5,       /* first span / mean of the others */
    /* The next five concern the GPUs as a whole and need `assay run --gpu`. Each is the time
     * without a kernel that has one cause / the time from the first to the last activity.
     * docs/gpu.md explains the causes. */
    ASSAY_EVIDENCE_GPU_LAUNCH = 6,
    ASSAY_EVIDENCE_GPU_DATA = 7,
    ASSAY_EVIDENCE_GPU_HOST = 8,
    ASSAY_EVIDENCE_GPU_SYNC = 9,
    ASSAY_EVIDENCE_GPU_COPIES = 10,
    ASSAY_EVIDENCE_GPU_PAGEABLE = 11, /* bytes copied from or to pageable host memory / bytes copied
                                         from or to any host memory; only if copies take 1 % */
    ASSAY_EVIDENCE_GPU_UNUSED = 12    /* 1 - mean utilisation that a meter read (meter.h); only if
                                         nothing better was measured */
} assay_evidence;

typedef enum assay_severity { ASSAY_SEVERITY_HINT = 1, ASSAY_SEVERITY_WARNING = 2 } assay_severity;

/* A second symptom. A finding is more certain if this symptom was measured as well. */
typedef enum assay_circumstance {
    ASSAY_CIRCUMSTANCE_NONE = 0,
    ASSAY_CIRCUMSTANCE_GPU_IDLE = 1, /* by a meter, the GPUs were busy less than half of the time */
    ASSAY_CIRCUMSTANCE_GPU_BUSY = 2, /* by a meter, the GPUs were busy more than 80 % of the time */
    ASSAY_CIRCUMSTANCE_MEMORY = 3    /* its memory peak is above 1.2 times that of its siblings */
} assay_circumstance;

enum { ASSAY_RULE_REMEDIES = 4 };

typedef struct assay_bottleneck_rule {
    const char *id;         /* "data-loading" */
    const char *family;     /* of the rules of one family that hold for an operation, only the first
                               is reported */
    const char *operations; /* words separated by '|'. The rule checks operations whose name
                               contains one of them; case and separators are ignored. NULL: all
                               operations */
    assay_evidence evidence;
    double limit; /* the rule holds if the figure is above it; a share from 0 to 1, or a ratio */
    assay_severity severity;
    const char *symptom; /* the line to print, with {operation} and {value} to fill in */
    const char *remedies[ASSAY_RULE_REMEDIES]; /* until NULL */
    assay_circumstance beside;
    const char *code; /* a remedy as PyTorch code, each line ended by '\n'; or NULL */
} assay_bottleneck_rule;

typedef struct assay_finding {
    const assay_bottleneck_rule *rule;
    const char *operation; /* borrowed from the record; "batch" for a training loop, "GPU" for a
                              finding about the devices as a whole */
    double value;          /* the evidence: share or ratio */
    /* The figure of the rule's second symptom: the share of the time in which the GPUs were busy,
     * or the ratio of the memory peaks. The reading is ASSAY_NOT_MEASURED if the symptom was not
     * measured or does not hold. */
    assay_reading beside;
} assay_finding;

/* All rules, in the order in which they are tried; static storage. */
ASSAY_API const assay_bottleneck_rule *assay_bottleneck_rules(size_t *count);

/* Find the operations of a record for which a rule holds. Caller frees `*findings` with free().
 * If no rule holds, `*findings` is NULL and the count is 0. */
ASSAY_API ASSAY_MUST_USE assay_status assay_bottlenecks_find(const assay_record *record,
                                                             assay_finding **findings,
                                                             size_t *count);

/* Print one line for each finding, and below it the second symptom if that holds. The flag
 * ASSAY_SHOW_REMEDIES adds the remedies of the finding, and ASSAY_SHOW_CODE adds a remedy as code.
 * Remedies that begin with "on a GPU: " are left out unless you also pass ASSAY_SHOW_GPU_REMEDIES.
 * Do so if the measured program uses a GPU. */
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
