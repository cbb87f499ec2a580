/* Distances on the earth, by the haversine formula as Sinnott gave it ("Virtues of the haversine",
 * Sky and Telescope 68, 1984), and a projection onto a plane. */
#include "models/road/geometry.h"

#include <math.h>

static const double radians_per_degree = 3.14159265358979323846 / 180;

double assay__haversine_m(assay__place a, assay__place b)
{
    double first = a.latitude * radians_per_degree;
    double second = b.latitude * radians_per_degree;
    double up = sin(0.5 * (second - first));
    double across = sin(0.5 * (b.longitude - a.longitude) * radians_per_degree);
    double h = up * up + cos(first) * cos(second) * across * across;
    return 2 * ASSAY__EARTH_RADIUS_M * asin(sqrt(fmin(h, 1)));
}

void assay__project_m(assay__place centre, assay__place place, double *east_m, double *north_m)
{
    double scale = ASSAY__EARTH_RADIUS_M * radians_per_degree;
    *east_m = scale * cos(centre.latitude * radians_per_degree) *
              remainder(place.longitude - centre.longitude, 360);
    *north_m = scale * (place.latitude - centre.latitude);
}
