/* Measures of the similarity of trajectories. To compare two lines, each place is first converted
 * to a point of the unit sphere. The chord between two points gives their great-circle distance
 * without sines and cosines for every pair. A longer chord means a longer distance, so the
 * Hausdorff distance needs only one arcsine in all. Dynamic time warping keeps one row of its
 * table. */
#include "models/road/evaluate.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"

static const double radians_per_degree = 3.14159265358979323846 / 180;

/* ---- One trajectory ---- */

double assay__trajectory_distance_km(const assay__road_network *network,
                                     const assay__trajectories *trajectories, int64_t index)
{
    double sum_m = 0;
    for (int64_t i = trajectories->first[index] + 1; i < trajectories->first[index + 1]; i++) {
        sum_m += assay__haversine_m(network->middles[trajectories->roads[i - 1]],
                                    network->middles[trajectories->roads[i]]);
    }
    return sum_m / 1000;
}

double assay__trajectory_duration_minutes(const assay__trajectories *trajectories, int64_t index)
{
    int64_t first = trajectories->first[index], last = trajectories->first[index + 1] - 1;
    return (double)(trajectories->seconds[last] - trajectories->seconds[first]) / 60;
}

double assay__trajectory_radius_km(const assay__road_network *network,
                                   const assay__trajectories *trajectories, int64_t index)
{
    int64_t first = trajectories->first[index], end = trajectories->first[index + 1];
    double each = 1 / (double)(end - first), sum = 0;
    assay__place mean = {0, 0};
    for (int64_t i = first; i < end; i++) {
        mean.longitude += each * network->middles[trajectories->roads[i]].longitude;
        mean.latitude += each * network->middles[trajectories->roads[i]].latitude;
    }
    for (int64_t i = first; i < end; i++) {
        double d = assay__haversine_m(mean, network->middles[trajectories->roads[i]]);
        sum += d * d;
    }
    return sqrt(sum * each) / 1000;
}

/* ---- Two distributions ---- */

double assay__jensen_shannon(int64_t bins, const double *p, const double *q)
{
    double p_sum = 0, q_sum = 0, divergence = 0;
    for (int64_t i = 0; i < bins; i++) {
        p_sum += p[i];
        q_sum += q[i];
    }
    for (int64_t i = 0; i < bins; i++) {
        double a = p[i] / p_sum, b = q[i] / q_sum, middle = 0.5 * (a + b);
        divergence += a > 0 ? 0.5 * a * log(a / middle) : 0;
        divergence += b > 0 ? 0.5 * b * log(b / middle) : 0;
    }
    return fmax(divergence, 0);
}

/* Count the values in `histogram`. Returns how many values were counted. */
static int64_t fill_histogram(int64_t count, const double *values, double largest,
                              double histogram[ASSAY__DIVERGENCE_BINS])
{
    const int64_t last = ASSAY__DIVERGENCE_BINS - 1;
    double step = largest / (double)last;
    int64_t counted = 0;
    for (int64_t i = 0; i < ASSAY__DIVERGENCE_BINS; i++)
        histogram[i] = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!(values[i] >= 0))
            continue;
        int64_t bin = values[i] >= largest ? last : (int64_t)(values[i] / step);
        if (values[i] < largest) { /* the division may have rounded across an edge */
            bin -= values[i] < (double)bin * step;
            bin += values[i] >= (double)(bin + 1) * step;
            bin = bin < last ? bin : last - 1;
        }
        histogram[bin]++;
        counted++;
    }
    return counted;
}

assay_status assay__sample_divergence(int64_t real_count, const double *real,
                                      int64_t generated_count, const double *generated,
                                      double *divergence)
{
    double p[ASSAY__DIVERGENCE_BINS], q[ASSAY__DIVERGENCE_BINS], largest = 0;
    for (int64_t i = 0; i < real_count; i++)
        largest = fmax(largest, real[i]);
    if (fill_histogram(real_count, real, largest, p) == 0 ||
        fill_histogram(generated_count, generated, largest, q) == 0)
        return ASSAY_E_DATA;
    *divergence = assay__jensen_shannon(ASSAY__DIVERGENCE_BINS, p, q);
    return ASSAY_OK;
}

/* ---- Two lines ---- */

typedef struct point {
    double x, y, z;
} point;

static point point_of(assay__line_metric metric, assay__place place)
{
    if (metric == ASSAY__EUCLID)
        return (point){place.longitude, place.latitude, 0};
    double longitude = place.longitude * radians_per_degree;
    double latitude = place.latitude * radians_per_degree;
    return (point){cos(latitude) * cos(longitude), cos(latitude) * sin(longitude), sin(latitude)};
}

static double squared(point a, point b)
{
    double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return x * x + y * y + z * z;
}

/* The distance of two places, from the squared distance of their points. */
static double distance_of(assay__line_metric metric, double square)
{
    double chord = sqrt(square);
    return metric == ASSAY__EUCLID ? chord
                                   : 2 * ASSAY__EARTH_RADIUS_M / 1000 * asin(fmin(0.5 * chord, 1));
}

/* Allocate an array with the points of a, then those of b, then room for `extra` doubles. The
 * caller frees it. Returns NULL if there is no memory. */
static point *points_of(assay__line_metric metric, int64_t count_a, const assay__place *a,
                        int64_t count_b, const assay__place *b, int64_t extra)
{
    size_t count = (size_t)(count_a + count_b);
    point *points = malloc(count * sizeof *points + (size_t)extra * sizeof(double));
    for (size_t i = 0; points != NULL && i < count; i++)
        points[i] = point_of(metric, i < (size_t)count_a ? a[i] : b[i - (size_t)count_a]);
    return points;
}

static double farthest(int64_t count_a, const point *a, int64_t count_b, const point *b)
{
    double most = 0;
    for (int64_t i = 0; i < count_a; i++) {
        double least = INFINITY;
        for (int64_t j = 0; j < count_b; j++)
            least = fmin(least, squared(a[i], b[j]));
        most = fmax(most, least);
    }
    return most;
}

assay_status assay__hausdorff(assay__line_metric metric, int64_t count_a, const assay__place *a,
                              int64_t count_b, const assay__place *b, double *distance)
{
    point *points = points_of(metric, count_a, a, count_b, b, 0);
    if (points == NULL)
        return ASSAY_E_MEMORY;
    const point *others = points + count_a;
    *distance = distance_of(metric, fmax(farthest(count_a, points, count_b, others),
                                         farthest(count_b, others, count_a, points)));
    free(points);
    return ASSAY_OK;
}

assay_status assay__warping(assay__line_metric metric, int64_t count_a, const assay__place *a,
                            int64_t count_b, const assay__place *b, double *distance)
{
    point *points = points_of(metric, count_a, a, count_b, b, count_b + 1);
    if (points == NULL)
        return ASSAY_E_MEMORY;
    const point *others = points + count_a;
    double *row = (double *)(void *)(points + count_a + count_b); /* row[j]: up to point j of b */
    for (int64_t j = 0; j <= count_b; j++)
        row[j] = j == 0 ? 0 : INFINITY;
    for (int64_t i = 0; i < count_a; i++) {
        double diagonal = row[0];
        row[0] = INFINITY;
        for (int64_t j = 1; j <= count_b; j++) {
            double least = fmin(fmin(row[j], row[j - 1]), diagonal);
            diagonal = row[j];
            row[j] = least + distance_of(metric, squared(points[i], others[j - 1]));
        }
    }
    *distance = row[count_b];
    free(points);
    return ASSAY_OK;
}

/* ---- All together ---- */

typedef enum quantity { DISTANCE, DURATION, RADIUS } quantity;

static void measure(quantity what, const assay__road_network *network,
                    const assay__trajectories *trajectories, double *values, double *mean)
{
    double sum = 0;
    for (int64_t i = 0; i < trajectories->count; i++) {
        values[i] = what == DISTANCE   ? assay__trajectory_distance_km(network, trajectories, i)
                    : what == DURATION ? assay__trajectory_duration_minutes(trajectories, i)
                                       : assay__trajectory_radius_km(network, trajectories, i);
        sum += values[i];
    }
    *mean = sum / (double)trajectories->count;
}

static assay_status no_memory(assay_error *error)
{
    return assay__fail(error, ASSAY_E_MEMORY, "no memory to evaluate the trajectories");
}

static assay_status diverge(const assay__road_network *network, const assay__trajectories *real,
                            const assay__trajectories *generated, assay_error *error,
                            assay__road_evaluation *evaluation)
{
    const struct {
        quantity what;
        const char *name;
        double *real_mean, *generated_mean, *divergence;
    } rows[] = {{DISTANCE, "distance", &evaluation->distance_real_mean_km,
                 &evaluation->distance_generated_mean_km, &evaluation->distance_jsd},
                {DURATION, "duration", &evaluation->duration_real_mean_minutes,
                 &evaluation->duration_generated_mean_minutes, &evaluation->duration_jsd},
                {RADIUS, "radius", &evaluation->radius_real_mean_km,
                 &evaluation->radius_generated_mean_km, &evaluation->radius_jsd}};
    double *values = calloc((size_t)(real->count + generated->count), sizeof *values);
    assay_status status = values == NULL ? no_memory(error) : ASSAY_OK;
    for (size_t i = 0; status == ASSAY_OK && i < sizeof rows / sizeof *rows; i++) {
        measure(rows[i].what, network, real, values, rows[i].real_mean);
        measure(rows[i].what, network, generated, values + real->count, rows[i].generated_mean);
        status = assay__sample_divergence(real->count, values, generated->count,
                                          values + real->count, rows[i].divergence);
        if (status != ASSAY_OK)
            assay__fail(error, status,
                        "no real or no generated trajectory has a %s of at least 0, so the two "
                        "distributions cannot be compared",
                        rows[i].name);
    }
    free(values);
    return status;
}

static int64_t longest(const assay__trajectories *trajectories)
{
    int64_t most = 0;
    for (int64_t i = 0; i < trajectories->count; i++) {
        int64_t length = trajectories->first[i + 1] - trajectories->first[i];
        most = length > most ? length : most;
    }
    return most;
}

static int64_t line_of(const assay__road_network *network, const assay__trajectories *trajectories,
                       int64_t index, assay__place *places)
{
    int64_t first = trajectories->first[index], count = trajectories->first[index + 1] - first;
    for (int64_t i = 0; i < count; i++)
        places[i] = network->middles[trajectories->roads[first + i]];
    return count;
}

static assay_status pair_up(const assay__road_network *network, const assay__trajectories *real,
                            const assay__trajectories *generated, const int64_t *matching,
                            assay_error *error, assay__road_evaluation *evaluation)
{
    int64_t room = longest(real);
    assay__place *a = calloc((size_t)(room + longest(generated)), sizeof *a), *b = a + room;
    assay_status status = a == NULL ? ASSAY_E_MEMORY : ASSAY_OK;
    double hausdorff = 0, warping = 0;
    for (int64_t i = 0; status == ASSAY_OK && i < generated->count; i++) {
        int64_t other = matching != NULL ? matching[i] : i;
        if (other < 0 || other >= real->count)
            continue;
        int64_t count_a = line_of(network, real, other, a);
        int64_t count_b = line_of(network, generated, i, b);
        double near, warped = 0;
        status = assay__hausdorff(ASSAY__GREAT_CIRCLE_KM, count_a, a, count_b, b, &near);
        if (status == ASSAY_OK)
            status = assay__warping(ASSAY__GREAT_CIRCLE_KM, count_a, a, count_b, b, &warped);
        if (status == ASSAY_OK) {
            hausdorff += near;
            warping += warped;
            evaluation->pairs++;
        }
    }
    free(a);
    evaluation->hausdorff_km = hausdorff / (double)evaluation->pairs; /* NaN if there are none */
    evaluation->warping_km = warping / (double)evaluation->pairs;
    return status == ASSAY_OK ? status : no_memory(error);
}

assay_status assay__road_evaluate(const assay__road_network *network,
                                  const assay__trajectories *real,
                                  const assay__trajectories *generated, const int64_t *matching,
                                  assay_error *error, assay__road_evaluation *evaluation)
{
    *evaluation = (assay__road_evaluation){0};
    if (real->count == 0 || generated->count == 0) {
        return assay__fail(error, ASSAY_E_DATA, "no %s trajectory to evaluate",
                           real->count == 0 ? "real" : "generated");
    }
    assay_status status = diverge(network, real, generated, error, evaluation);
    if (status == ASSAY_OK)
        status = pair_up(network, real, generated, matching, error, evaluation);
    return status;
}
