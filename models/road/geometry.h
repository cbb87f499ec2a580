/* Distances on the earth. Longitudes and latitudes in degrees (WGS 84, as LibCity stores them). */
#ifndef ASSAY_MODELS_ROAD_GEOMETRY_H
#define ASSAY_MODELS_ROAD_GEOMETRY_H

/* The mean radius of the earth, (2a + b) / 3 (Moritz 2000, "Geodetic Reference System 1980"). */
#define ASSAY__EARTH_RADIUS_M 6371008.8

typedef struct assay__place {
    double longitude, latitude;
} assay__place;

/* Metres between two places along a great circle of the mean sphere, by the haversine formula,
 * which keeps its digits for neighbours (the law of cosines does not). */
double assay__haversine_m(assay__place a, assay__place b);

/* Metres east and north of `centre` on the plane that touches the sphere there (equirectangular).
 * Within 50 km of the centre distances are right to about one part in a thousand at 60 degrees. */
void assay__project_m(assay__place centre, assay__place place, double *east_m, double *north_m);

#endif
