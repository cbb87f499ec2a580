/* A search for a route allocates nothing, whatever its outcome, as the heap interposer counts it.
 * Neither does a step of training on batches that are filled anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "assay/memory.h"
#include "models/road/city.h"
#include "models/road/search.h"
#include "tests/accuracy/preloaded.h"

enum { ROADS = 400, DRIVES = 32 };

static uint64_t allocations(void)
{
    assay_heap_figures figures = {.struct_size = sizeof figures};
    assert_int_equal(assay_heap_read(&figures), ASSAY_OK);
    return figures.allocations;
}

static void train(assay__next_road *model, assay__road_batch *batch,
                  const assay__road_network *city, const assay__trajectories *drives)
{
    int64_t which[DRIVES];
    double loss;
    for (int64_t i = 0; i < DRIVES; i++) {
        which[i] = i;
    }
    assert_int_equal(assay__road_batch_fill(batch, city, drives, which, DRIVES, 30), ASSAY_OK);
    assert_int_equal(assay__next_road_gradient(model, batch, &loss), ASSAY_OK);
    assert_int_equal(assay__next_road_update(model, 1e-3), ASSAY_OK);
}

static void test_nothing_is_allocated(void **state)
{
    (void)state;
    assay__road_network *city = NULL;
    assay__trajectories drives;
    assay__road_batch batch;
    assay__next_road *model = NULL;
    assay__road_searcher *searcher = NULL;
    assay__next_road_shape shape = assay__next_road_shape_of(ASSAY__NEXT_ROAD_VANILLA, ROADS);
    assert_int_equal(assay__city_new(ROADS, 1, NULL, &city), ASSAY_OK);
    assert_int_equal(assay__city_drive(city, DRIVES, 1, NULL, &drives), ASSAY_OK);
    assert_int_equal(assay__road_batch_init(&batch), ASSAY_OK);
    assert_int_equal(assay__next_road_new(&shape, 1, NULL, &model), ASSAY_OK);
    train(model, &batch, city, &drives);
    uint64_t before = allocations();
    for (int i = 0; i < 3; i++) {
        train(model, &batch, city, &drives);
    }
    assert_int_equal(allocations() - before, 0);

    assert_int_equal(assay__road_searcher_new(city, model, 4, 40, NULL, &searcher), ASSAY_OK);
    int outcomes[4] = {0};
    before = allocations();
    for (int64_t i = 0; i < 200; i++) {
        assay__road_route route;
        assert_int_equal(assay__road_search_beam(searcher, 7 * i % ROADS, 11 * i % ROADS, 1 + i % 4,
                                                 NULL, &route),
                         ASSAY_OK);
        outcomes[route.outcome]++;
    }
    assay__road_searcher_refresh(searcher);
    assert_int_equal(allocations() - before, 0);
    assert_true(outcomes[ASSAY__ROUTE_FOUND] > 0 && outcomes[ASSAY__ROUTE_FOUND] < 200);
    assay__road_searcher_free(searcher);
    assay__next_road_free(model);
    assay__road_batch_release(&batch);
    assay__trajectories_release(&drives);
    assay__road_network_free(city);
}

int main(int argc, char **argv)
{
    (void)argc;
    int status = run_preloaded(argv);
    if (status >= 0) {
        return status;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_is_allocated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
