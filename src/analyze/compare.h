/* Comparisons made together, so that they share the risk of a wrong verdict. */
#ifndef ASSAY_ANALYZE_COMPARE_H
#define ASSAY_ANALYZE_COMPARE_H

#include "assay/compare.h"

#include "assay/record.h"

/* The most subjects of one record: counterparts are looked for among all. */
enum { ASSAY__COMPARE_SUBJECTS = 4096 };

typedef struct assay__pairing {
    const assay_record_subject *baseline, *candidate;
    bool runs;     /* each sample is of a run of its own */
    double spread; /* standard deviation of the log ratio of two runs that nobody changed; 0: what
                      the samples show is all */
} assay__pairing;

/* The options given, or the defaults; ASSAY_E_ARGUMENT when they make no sense, ASSAY_E_VERSION
 * when they ask for something unknown. */
ASSAY_MUST_USE assay_status assay__compare_options_read(const assay_compare_options *given,
                                                        assay_error *error,
                                                        assay_compare_options *options);

/* The record's list of comparisons, which it replaces: of each pairing the one that leads
 * (`metric`, or NULL for wall time or what stands in for it), then each other metric that both
 * sides have measured. Comparisons of one metric share the risk. */
ASSAY_MUST_USE assay_status assay__compare_into(assay_record *record,
                                                const assay__pairing *pairings, size_t count,
                                                double margin, const char *metric);

/* Do two subjects have the same parameters? Order does not matter. */
bool assay__same_parameters(const assay_record_subject *a, const assay_record_subject *b);

#endif
