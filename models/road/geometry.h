/* Distances on the earth. Longitudes and latitudes are in degrees (WGS 84, as LibCity has them). */
#ifndef ASSAY_MODELS_ROAD_GEOMETRY_H
#define ASSAY_MODELS_ROAD_GEOMETRY_H

/* The mean radius of the earth, (2a + b) / 3 (Moritz 2000, "Geodetic Reference System 1980"). */
#define ASSAY__EARTH_RADIUS_M 6371008.8

typedef struct assay__place {
    double longitude, latitude;
} assay__place;

/* The distance of two places in metres, along a great circle of the mean sphere. The haversine
 * formula stays accurate for places close together, where the law of cosines does not. */
double assay__haversine_m(assay__place a, assay__place b);

/* Project `place` onto a plane (equirectangular): its metres east and north of `centre`. Within 50
 * km of the centre, distances are accurate to about one part in a thousand at a latitude of 60
 * degrees. */
void assay__project_m(assay__place centre, assay__place place, double *east_m, double *north_m);

#endif
