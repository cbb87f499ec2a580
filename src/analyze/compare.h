/* Makes several comparisons together, so that they share the risk of a wrong verdict. */
#ifndef ASSAY_ANALYZE_COMPARE_H
#define ASSAY_ANALYZE_COMPARE_H

#include "assay/compare.h"

#include "assay/record.h"

/* The largest number of subjects in one record. There is a limit because each subject is compared
 * with all others to find its counterpart. */
enum { ASSAY__COMPARE_SUBJECTS = 4096 };

typedef struct assay__pairing {
    const assay_record_subject *baseline, *candidate;
    bool runs;     /* each sample comes from a different run */
    double spread; /* standard deviation of the log ratio of two runs of the same program, in
                      addition to what the samples show; 0: none */
} assay__pairing;

/* Fill `options` from `given`, or with the defaults if `given` is NULL. Fails with ASSAY_E_ARGUMENT
 * if the options make no sense, and with ASSAY_E_VERSION if they ask for something unknown. */
ASSAY_MUST_USE assay_status assay__compare_options_read(const assay_compare_options *given,
                                                        assay_error *error,
                                                        assay_compare_options *options);

/* Replace the record's list of comparisons. The leading comparison of each pairing comes first: the
 * one by `metric` or, if `metric` is NULL, by wall time, or by processor time where wall time
 * cannot decide. Then comes one comparison for each other metric that both sides have measured.
 * Comparisons by the same metric share the risk. */
ASSAY_MUST_USE assay_status assay__compare_into(assay_record *record,
                                                const assay__pairing *pairings, size_t count,
                                                double margin, const char *metric);

/* Whether two subjects have the same parameters, in any order. */
bool assay__same_parameters(const assay_record_subject *a, const assay_record_subject *b);

#endif
