/* Measures of the similarity of generated and real trajectories. This file computes numbers only;
 * studies decide what to compare.
 *
 * A trajectory is represented by the midpoints of its roads, and distances are measured along great
 * circles (road/geometry.h). */
#ifndef ASSAY_MODELS_ROAD_EVALUATE_H
#define ASSAY_MODELS_ROAD_EVALUATE_H

#include "models/road/network.h"
#include "models/road/trajectory.h"

/* ---- One trajectory ---- */

/* The sum of the distances between neighbouring midpoints; 0 for a single road. */
double assay__trajectory_distance_km(const assay__road_network *network,
                                     const assay__trajectories *trajectories, int64_t index);
/* The time from entering the first road to entering the last. */
double assay__trajectory_duration_minutes(const assay__trajectories *trajectories, int64_t index);
/* The radius of gyration: the root of the mean squared distance of the midpoints from their mean
 * (Gonzalez, Hidalgo and Barabasi 2008, "Understanding individual human mobility patterns"). */
double assay__trajectory_radius_km(const assay__road_network *network,
                                   const assay__trajectories *trajectories, int64_t index);

/* ---- Two distributions ---- */

enum { ASSAY__DIVERGENCE_BINS = 100 };

/* The Jensen-Shannon divergence of two histograms, with the natural logarithm. It is 0 for equal
 * histograms and log 2 for histograms without a common bin. SciPy's jensenshannon is its root. The
 * counts need not add up to 1, but their sum must be larger than 0. */
double assay__jensen_shannon(int64_t bins, const double *p, const double *q);

/* The divergence of two samples. The histograms have 99 equal bins from 0 to the largest value of
 * `real`, closed below and open above, and one bin for that value and all larger ones, as in the
 * evaluation of HOSER. Values below 0 are ignored. ASSAY_E_DATA if a sample is empty or has no
 * value in the bins. */
ASSAY_MUST_USE assay_status assay__sample_divergence(int64_t real_count, const double *real,
                                                     int64_t generated_count,
                                                     const double *generated, double *divergence);

/* ---- Two lines ---- */

typedef enum assay__line_metric {
    ASSAY__GREAT_CIRCLE_KM,
    ASSAY__EUCLID /* longitude and latitude as coordinates of a plane */
} assay__line_metric;

/* Hausdorff distance: the largest distance from a point of one line to the nearest point of the
 * other. Counts are at least 1. */
ASSAY_MUST_USE assay_status assay__hausdorff(assay__line_metric metric, int64_t count_a,
                                             const assay__place *a, int64_t count_b,
                                             const assay__place *b, double *distance);
/* Dynamic time warping, exact: the least sum of distances over all ways to walk along both lines
 * from the first point to the last, where each step advances by one point on either line or on
 * both. The time is proportional to count_a x count_b. */
ASSAY_MUST_USE assay_status assay__warping(assay__line_metric metric, int64_t count_a,
                                           const assay__place *a, int64_t count_b,
                                           const assay__place *b, double *distance);

/* ---- All together ---- */

typedef struct assay__road_evaluation {
    double distance_jsd, duration_jsd, radius_jsd;
    double distance_real_mean_km, distance_generated_mean_km;
    double duration_real_mean_minutes, duration_generated_mean_minutes;
    double radius_real_mean_km, radius_generated_mean_km;
    double hausdorff_km, warping_km; /* means over the pairs; NaN if there are none */
    int64_t pairs;
} assay__road_evaluation;

/* Evaluate generated trajectories against real ones. `matching` (generated->count) has for each
 * generated trajectory the index of the real one that it is paired with, or -1 if it has no
 * partner. If `matching` is NULL, trajectories with the same index are pairs. ASSAY_E_DATA if there
 * is no trajectory, or if a side has only negative distances, durations or radii; the message names
 * the quantity. ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__road_evaluate(const assay__road_network *network,
                                                 const assay__trajectories *real,
                                                 const assay__trajectories *generated,
                                                 const int64_t *matching, assay_error *error,
                                                 assay__road_evaluation *evaluation);

#endif
