/* Notes on what else differs between two records that are compared. */
#ifndef ASSAY_ANALYZE_COMPARE_NOTES_H
#define ASSAY_ANALYZE_COMPARE_NOTES_H

#include "assay/record.h"

/* Two records being held against each other. */
typedef struct assay__compare_view {
    assay_record *result; /* its `differences` take the notes */
    const assay_record *baseline, *candidate;
    const char *baseline_origin, *candidate_origin;
} assay__compare_view;

ASSAY_MUST_USE assay_status assay__compare_note(const assay__compare_view *v, const char *what,
                                                const char *baseline, const char *candidate);

/* Machine, build, settings, models and results, where both records have them and they differ. */
ASSAY_MUST_USE assay_status assay__compare_note_records(const assay__compare_view *v);

/* Two subjects that are compared: by whom and how they were measured. */
ASSAY_MUST_USE assay_status assay__compare_note_subjects(const assay__compare_view *v,
                                                         const assay_record_subject *baseline,
                                                         const assay_record_subject *candidate);

#endif
