/* Distribution functions and quantiles that other methods use. */
#ifndef ASSAY_STATS_DISTRIBUTION_H
#define ASSAY_STATS_DISTRIBUTION_H

/* P(X ≤ x) and its inverse, to about 12 digits, and to 9 digits for F and χ² with a million degrees
 * of freedom. An argument outside the domain gives NaN. Degrees of freedom need not be whole. They
 * may be infinite: Student's t is then normal, and F is a χ² divided by its degrees of freedom. */
double assay__stats_normal_cdf(double x);
double assay__stats_normal_quantile(double p);
double assay__stats_student_cdf(double t, double degrees_of_freedom);
double assay__stats_student_quantile(double p, double degrees_of_freedom);
double assay__stats_f_cdf(double f, double numerator_df, double denominator_df);
double assay__stats_chi_square_cdf(double x, double degrees_of_freedom);

/* P(B ≤ successes) of a binomial distribution. */
double assay__stats_binomial_cdf(double successes, double trials, double probability);

#endif
