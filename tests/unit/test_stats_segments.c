/* Cuts of a series, compared with a search of all cuts in NumPy with full covariance matrices.
 * Noise, outliers, ρ and prices are those described at the top of segments.c. */
#include "tests/unit/stats_fixture.h"

#include "stats/segments.h"

enum { COUNT = 60, MOST = 3 };

/* 10 and noise with memory: before `end` a line that ends at `step`, after it one that starts at 0.
 */
typedef struct recipe {
    uint32_t seed;
    double memory;
    int end;
    double step, slope, after;
    double tick; /* of a coarse clock; 0: none */
    int spike;   /* an outlier here; 0: none */
} recipe;

static void cook(const recipe *what, double *series)
{
    uint32_t random = what->seed;
    double noise = 0;
    for (int i = 0; i < COUNT; i++) {
        random = (random * 1103515245U + 12345U) % (1U << 31);
        noise = what->memory * noise + (random >> 8) % 65536 / 65536.0 - 0.5;
        double slope = i < what->end ? what->slope : what->after;
        series[i] = 10 + (i < what->end ? what->step : 0) + slope * (i - what->end) + noise;
        if (what->tick > 0)
            series[i] = floor(series[i] / what->tick + 0.5) * what->tick;
        if (what->spike > 0 && i == what->spike)
            series[i] += 20;
    }
}

typedef struct expectation {
    recipe what;
    double noise;
    size_t count;
    assay__segment segments[MOST];
} expectation;

static const expectation known[] = {
    /* a step */
    {{.seed = 1, .end = 25, .step = 1.5},
     0.28274231667256305,
     2,
     {{0, 25, false, 11.544485473632813, 11.544485473632813},
      {25, 60, false, 9.985527692522322, 9.985527692522322}}},
    /* a fall that ends, ρ = 0.16 */
    {{.seed = 2, .memory = 0.6, .end = 30, .slope = -0.2},
     0.2994205346526171,
     2,
     {{0, 26, true, 16.009534601104782, 11.165563435601378},
      {26, 60, true, 10.326354638743494, 9.56263932148301}}},
    /* ρ at its most, 0.9, and three values drawn in */
    {{.seed = 3, .memory = 0.8, .after = 0.08},
     0.6532207292043333,
     1,
     {{0, 60, true, 9.912621307274758, 14.785323208824318}}},
    /* ρ = 0.83 and an outlier */
    {{.seed = 4, .memory = 0.5, .end = 20, .step = 3, .after = 0.05, .spike = 40},
     0.5557696162406247,
     2,
     {{0, 20, false, 12.903924573359237, 12.903924573359237},
      {20, 60, true, 10.024676112422124, 11.878112049007663}}},
    /* steep beside its noise, which is that of the first */
    {{.seed = 5, .after = 1},
     0.2818316472088157,
     1,
     {{0, 60, true, 9.98188082168666, 68.97212257593705}}},
    /* ticks, most of which equal their neighbours; two stretches joined by a slope */
    {{.seed = 6, .memory = 0.3, .end = 25, .step = 2, .tick = 0.9},
     0.5695144558783831,
     1,
     {{0, 60, true, 12.28306182853555, 9.431724845923828}}},
    /* a walk, ρ = 0.52 */
    {{.seed = 7, .memory = 0.95},
     0.28921723211337363,
     3,
     {{0, 5, false, 9.687537195214295, 9.687537195214295},
      {5, 20, false, 8.722869188073956, 8.722869188073956},
      {20, 60, true, 9.553209594254287, 8.304087888856237}}},
    /* a fall and a rise that are as short as a slope may be */
    {{.seed = 8, .memory = 0.2, .end = 9, .slope = -0.7},
     0.519081325372078,
     2,
     {{0, 12, true, 15.632408015301541, 9.428808683511196},
      {12, 60, false, 10.002300905978268, 10.002300905978268}}},
    {{.seed = 9, .memory = 0.4, .end = 50, .after = 0.6},
     0.30729081893885946,
     2,
     {{0, 48, false, 10.003240366678218, 10.003240366678218},
      {48, 60, true, 9.583990391398954, 15.09314712957663}}},
};

static void check(const assay__segment *found, const assay__segment *expected, double unit)
{
    assert_int_equal(found->begin, expected->begin);
    assert_int_equal(found->end, expected->end);
    assert_int_equal(found->sloped, expected->sloped);
    assert_close(found->first, expected->first * unit, 1e-9);
    assert_close(found->last, expected->last * unit, 1e-9);
}

static void check_all(const expectation *expected, double unit)
{
    double series[COUNT];
    assay__segments segments;
    cook(&expected->what, series);
    for (size_t i = 0; i < COUNT; i++)
        series[i] *= unit;
    assert_int_equal(assay__segments_find(series, COUNT, false, &segments), ASSAY_OK);
    assert_int_equal(segments.count, expected->count);
    assert_close(segments.noise, expected->noise * unit, 1e-9);
    for (size_t k = 0; k < segments.count; k++)
        check(&segments.items[k], &expected->segments[k], unit);
    assay__segments_release(&segments);
}

static void the_best_of_all_cuts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        check_all(&known[i], 1);
        check_all(&known[i], 1000);
        check_all(&known[i], 1e-9);
    }
}

/* Three values to a point, and two left over at the end. */
static void groups_are_counted_as_values(void **state)
{
    enum { LONG = 5000, STEP = 3000 };
    static double values[LONG];
    assay__segments segments;
    uint32_t random = 1;
    (void)state;
    for (size_t i = 0; i < LONG; i++) {
        random = (random * 1103515245U + 12345U) % (1U << 31);
        values[i] = (i < STEP ? 12 : 10) + (random >> 8) % 65536 / 65536.0 - 0.5;
    }
    assert_int_equal(assay__segments_find(values, LONG, false, &segments), ASSAY_OK);
    assert_int_equal(segments.group, 3);
    assert_int_equal(segments.count, 2);
    assert_int_equal(segments.items[0].begin, 0);
    assert_int_equal(segments.items[0].end, STEP);
    assert_int_equal(segments.items[1].begin, STEP);
    assert_int_equal(segments.items[1].end, LONG);
    assert_close(segments.items[0].first, 12, 0.003);
    assert_close(segments.items[1].last, 10, 0.003);
    assert_close(segments.noise, 1 / sqrt(12), 0.1);
    assay__segments_release(&segments);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_of_all_cuts),
        cmocka_unit_test(groups_are_counted_as_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
