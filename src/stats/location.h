/* What is known of a location (a mean, a difference of means): a mixture of Student's
 * distributions, one for each way in which the noise may remember.
 *
 * Nobody tells a series how strongly its values remember their predecessors, and few values do not
 * show it. So each of some fifty memories is tried, the location is estimated under each, and each
 * counts with the probability that the data give it: an interval of the mixture is as wide as what
 * is not known about the memory asks for, and as narrow as Student's where memory can be ruled
 * out. */
#ifndef ASSAY_STATS_LOCATION_H
#define ASSAY_STATS_LOCATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"

enum { ASSAY__LOCATION_TERMS = 46 };

typedef struct assay__location_term {
    double weight; /* they sum to 1 */
    double centre, error, degrees_of_freedom;
} assay__location_term;

typedef struct assay__location {
    size_t count;
    assay__location_term terms[ASSAY__LOCATION_TERMS];
} assay__location;

/* Student's mean of values that have no memory; count ≥ 2. */
void assay__location_of_independent(const double *values, size_t count, assay__location *location);

/* The mean of differences between subjects that took turns in random order: what befell the machine
 * has become noise without memory, and what memory the subjects have themselves is weighed in.
 * Outliers count as far as a standard deviation and a half. Rounds 2k and 2k + 1 belong to one
 * block of the order. count ≥ 2; ASSAY_E_MEMORY is the only failure. */
ASSAY_MUST_USE assay_status assay__location_of_pairs(const double *differences,
                                                     const uint32_t *rounds, size_t count,
                                                     assay__location *location);

/* The mean of `b` less that of `a`, two series measured one after the other: both remember alike,
 * each has its own spread. Counts ≥ 2; ASSAY_E_MEMORY is the only failure. */
ASSAY_MUST_USE assay_status assay__location_of_difference(const double *a, size_t a_count,
                                                          const double *b, size_t b_count,
                                                          assay__location *location);

/* The same for values without memory: Welch (1947) and Satterthwaite (1946). */
void assay__location_of_independent_difference(const double *a, size_t a_count, const double *b,
                                               size_t b_count, assay__location *location);

/* Add a standard error that no value of the series shows, and that is known exactly. */
void assay__location_widen(assay__location *location, double error);

/* One more value `b` less the mean of `a`, all without memory: a prediction interval of Student's
 * kind, which supposes that b spreads as the others do. a_count ≥ 2. */
void assay__location_of_one_more(const double *a, size_t a_count, double b,
                                 assay__location *location);

/* The probability that the location lies below x. */
double assay__location_below(const assay__location *location, double x);

/* The x below which it lies with probability p; 0 < p < 1. */
double assay__location_quantile(const assay__location *location, double p);

/* Does the location lie beyond ± margin, but for a risk of `risk` (two-sided)? 1: above, -1: below,
 * 0: it cannot be said. The bounds are low < 0 < high. */
int assay__location_beyond(const assay__location *location, double low, double high, double risk);

/* Does it lie between the bounds, but for that risk? */
bool assay__location_within(const assay__location *location, double low, double high, double risk);

/* How many values, of `count` now, let a new run answer either question in five cases of six, if
 * what is known now is true; INFINITY if more than `most` are needed. */
double assay__location_forecast(const assay__location *location, double count, double low,
                                double high, double beyond_risk, double within_risk, double most);

/* The mean of the centres, and the spread of the mixture without what a heavy tail adds. */
double assay__location_centre(const assay__location *location);
double assay__location_error(const assay__location *location);

#endif
