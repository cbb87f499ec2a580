/* Comparisons made together, so that they share the risk of a wrong verdict. */
#ifndef ASSAY_ANALYZE_COMPARE_H
#define ASSAY_ANALYZE_COMPARE_H

#include "assay/compare.h"

#include "assay/record.h"

/* The most subjects of one record: each is compared with all others to find its counterpart. */
enum { ASSAY__COMPARE_SUBJECTS = 4096 };

typedef struct assay__pairing {
    const assay_record_subject *baseline, *candidate;
    bool runs;     /* each sample comes from a different run */
    double spread; /* standard deviation of the log ratio of two runs of the same program, in
                      addition to what the samples show; 0: none */
} assay__pairing;

/* Fill `options` from those given, or with the defaults if `given` is NULL. ASSAY_E_ARGUMENT if
 * they make no sense, ASSAY_E_VERSION if they ask for something unknown. */
ASSAY_MUST_USE assay_status assay__compare_options_read(const assay_compare_options *given,
                                                        assay_error *error,
                                                        assay_compare_options *options);

/* Replace the record's list of comparisons. For each pairing, the comparison that leads comes
 * first: that of `metric` or, with NULL, that of wall time or of processor time in its place. Then
 * comes one for each other metric that both sides have measured. Comparisons of one metric share
 * the risk. */
ASSAY_MUST_USE assay_status assay__compare_into(assay_record *record,
                                                const assay__pairing *pairings, size_t count,
                                                double margin, const char *metric);

/* Whether two subjects have the same parameters, in any order. */
bool assay__same_parameters(const assay_record_subject *a, const assay_record_subject *b);

#endif
