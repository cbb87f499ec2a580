/* Notes on the other differences between two records that are compared. */
#ifndef ASSAY_ANALYZE_COMPARE_NOTES_H
#define ASSAY_ANALYZE_COMPARE_NOTES_H

#include "assay/record.h"

/* Two records that are being compared. */
typedef struct assay__compare_view {
    assay_record *result; /* the notes go into its `differences` */
    const assay_record *baseline, *candidate;
    const char *baseline_origin, *candidate_origin;
} assay__compare_view;

ASSAY_MUST_USE assay_status assay__compare_note(const assay__compare_view *v, const char *what,
                                                const char *baseline, const char *candidate);

/* Note the differences in machine, build, settings, models and results, where both records have
 * them. */
ASSAY_MUST_USE assay_status assay__compare_note_records(const assay__compare_view *v);

/* Note the differences in how two subjects were measured: the tool and the number of iterations. */
ASSAY_MUST_USE assay_status assay__compare_note_subjects(const assay__compare_view *v,
                                                         const assay_record_subject *baseline,
                                                         const assay_record_subject *candidate);

#endif
