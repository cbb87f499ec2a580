/* The posterior distribution of a location (a mean, or a difference of means): a mixture of
 * Student's t distributions, one for each autocorrelation that the noise may have.
 *
 * The autocorrelation of a series is not known, and a short series hardly shows it. So some fifty
 * autocorrelations are tried. The location is estimated under each of them, and each estimate is
 * weighted with the probability that the data give to its autocorrelation. The interval of the
 * mixture is as wide as this uncertainty requires, and as narrow as Student's where the data rule
 * out autocorrelation. */
#ifndef ASSAY_STATS_LOCATION_H
#define ASSAY_STATS_LOCATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"

enum { ASSAY__LOCATION_TERMS = 46 };

typedef struct assay__location_term {
    double weight; /* the weights sum to 1 */
    double centre, error, degrees_of_freedom;
} assay__location_term;

typedef struct assay__location {
    size_t count;
    assay__location_term terms[ASSAY__LOCATION_TERMS];
} assay__location;

/* Student's t for the mean of independent values; count ≥ 2. */
void assay__location_of_independent(const double *values, size_t count, assay__location *location);

/* The mean of differences between subjects that took turns in random order. The random order
 * removes the autocorrelation of the machine's noise. The autocorrelation of the subjects
 * themselves is allowed for, weighted by its probability. A value beyond 1.2 standard deviations
 * counts as one at that distance. Rounds 2k and 2k + 1 belong to one block of the order. count ≥ 2.
 * The only failure is ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__location_of_pairs(const double *differences,
                                                     const uint32_t *rounds, size_t count,
                                                     assay__location *location);

/* The mean of one series, such as the differences between two runs, input by input. The order of
 * the series is that of measuring, and it may be autocorrelated. count ≥ 2. The only failure is
 * ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__location_of_series(const double *values, size_t count,
                                                      assay__location *location);

/* The mean of `b` minus the mean of `a`, for two series that were measured one after the other.
 * Both have the same autocorrelation, and each has its own spread. Counts ≥ 2. The only failure is
 * ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__location_of_difference(const double *a, size_t a_count,
                                                          const double *b, size_t b_count,
                                                          assay__location *location);

/* The same for independent values, by Welch (1947) and Satterthwaite (1946). */
void assay__location_of_independent_difference(const double *a, size_t a_count, const double *b,
                                               size_t b_count, assay__location *location);

/* Add a known standard error that the values of the series do not show. */
void assay__location_widen(assay__location *location, double error);

/* A single value `b` minus the mean of `a`, all of them independent: Student's prediction interval.
 * It assumes that b has the variance of `a`. a_count ≥ 2. */
void assay__location_of_one_more(const double *a, size_t a_count, double b,
                                 assay__location *location);

/* The probability that the location lies below x. */
double assay__location_below(const assay__location *location, double x);

/* The x below which the location lies with probability p; 0 < p < 1. */
double assay__location_quantile(const assay__location *location, double p);

/* Whether the location lies above `high` (returns 1), below `low` (returns -1), or neither can be
 * said (returns 0), with a two-sided risk of `risk`. The bounds must be low < 0 < high. */
int assay__location_beyond(const assay__location *location, double low, double high, double risk);

/* Whether the location lies between the bounds, with the same risk. */
bool assay__location_within(const assay__location *location, double low, double high, double risk);

/* Whether another estimate `centre` of the location agrees with a verdict: it lies above `high`
 * (side 1), below `low` (side -1), or between them (side 0). NAN, an estimate that is not known,
 * agrees with each. */
bool assay__location_agrees(int side, double centre, double low, double high);

/* The number of values with which a new run would answer either question in five cases of six, if
 * the present estimate is true. `count` values gave the present estimate. INFINITY if more than
 * `most` values are needed. */
double assay__location_forecast(const assay__location *location, double count, double low,
                                double high, double beyond_risk, double within_risk, double most);

/* The mean of the centres, and the standard deviation of the mixture without the part that heavy
 * tails would add. */
double assay__location_centre(const assay__location *location);
double assay__location_error(const assay__location *location);

#endif
