/* A small city, drives through it, and a next-road model that learns them. */
#ifndef TESTS_ROAD_SCENE_H
#define TESTS_ROAD_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "models/road/city.h"
#include "models/road/next_road.h"

typedef struct scene {
    assay__road_network *city;
    assay__trajectories drives;
    assay__road_batch batch;
    assay__next_road *model;
} scene;

static inline void open_scene(scene *self, int64_t roads, int64_t drives, int64_t time,
                              assay__next_road_shape shape)
{
    int64_t *which = calloc((size_t)drives, sizeof *which);
    assert_non_null(which);
    for (int64_t i = 0; i < drives; i++)
        which[i] = i;
    shape.roads = roads;
    assert_int_equal(assay__city_new(roads, 5, NULL, &self->city), ASSAY_OK);
    assert_int_equal(assay__city_drive(self->city, drives, 6, NULL, &self->drives), ASSAY_OK);
    assert_int_equal(assay__road_batch_init(&self->batch), ASSAY_OK);
    assert_int_equal(
        assay__road_batch_fill(&self->batch, self->city, &self->drives, which, drives, time),
        ASSAY_OK);
    assert_int_equal(assay__next_road_new(&shape, 7, NULL, &self->model), ASSAY_OK);
    free(which);
}

static inline void close_scene(scene *self)
{
    assay__next_road_free(self->model);
    assay__road_batch_release(&self->batch);
    assay__trajectories_release(&self->drives);
    assay__road_network_free(self->city);
}

static inline double train(scene *self, int steps, double rate)
{
    double loss = 0;
    for (int i = 0; i < steps; i++) {
        assert_int_equal(assay__next_road_gradient(self->model, &self->batch, &loss), ASSAY_OK);
        assert_int_equal(assay__next_road_update(self->model, rate), ASSAY_OK);
    }
    return loss;
}

#endif
