/* Measures of similarity, compared with SciPy on random samples and lines, and checked on
 * trajectories whose measures are known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/random.h"
#include "models/road/city.h"
#include "models/road/evaluate.h"

enum { BINS = 40, REAL = 300, GENERATED = 200, A = 37, B = 52, ANSWERS = 6, ROUNDS = 4 };

static const char python_variable[] = "ASSAY_PYTHON";

typedef struct question {
    double p[BINS], q[BINS], real[REAL], generated[GENERATED];
    assay__place a[A], b[B];
} question;

static void write_numbers(const char *folder, const char *name, const double *values, size_t count)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    for (size_t i = 0; i < count; i++) {
        fprintf(stream, "%.17g\n", values[i]);
    }
    fclose(stream);
}

static void make_question(question *self, uint64_t seed, const char *folder)
{
    assay__random random;
    assay__random_init(&random, seed);
    for (size_t i = 0; i < BINS; i++) {
        self->p[i] = i % 5 == 0 ? 0 : assay__random_uniform(&random);
        self->q[i] = i % 7 == 0 ? 0 : 3 * assay__random_uniform(&random);
    }
    /* Every other time multiples of what becomes the width of a bin, which lie on edges. */
    double width = seed % 4 == 0 ? 0.1 : 0.37;
    for (size_t i = 0; i < REAL; i++) {
        self->real[i] = seed % 2 != 0 ? -log(assay__random_uniform(&random))
                        : i == 0      ? width * 99
                                      : width * (double)assay__random_below(&random, 100);
    }
    for (size_t i = 0; i < GENERATED; i++) {
        self->generated[i] = seed % 2 == 0 ? width * (double)assay__random_below(&random, 120)
                                           : -1.3 * log(assay__random_uniform(&random));
    }
    for (size_t i = 0; i < A; i++) {
        self->a[i] = (assay__place){8 + 0.001 * (double)i + 0.01 * assay__random_normal(&random),
                                    50 + 0.01 * assay__random_normal(&random)};
    }
    for (size_t i = 0; i < B; i++) {
        self->b[i] = (assay__place){8.01 + 0.0007 * (double)i, 50.01 + 0.01 * sin(0.3 * (double)i)};
    }
    write_numbers(folder, "p", self->p, BINS);
    write_numbers(folder, "q", self->q, BINS);
    write_numbers(folder, "real", self->real, REAL);
    write_numbers(folder, "generated", self->generated, GENERATED);
    write_numbers(folder, "a", &self->a[0].longitude, 2 * A);
    write_numbers(folder, "b", &self->b[0].longitude, 2 * B);
}

static void answer(const question *self, double ours[ANSWERS])
{
    ours[0] = assay__jensen_shannon(BINS, self->p, self->q);
    assert_int_equal(
        assay__sample_divergence(REAL, self->real, GENERATED, self->generated, &ours[1]), ASSAY_OK);
    assert_int_equal(assay__hausdorff(ASSAY__EUCLID, A, self->a, B, self->b, &ours[2]), ASSAY_OK);
    assert_int_equal(assay__warping(ASSAY__EUCLID, A, self->a, B, self->b, &ours[3]), ASSAY_OK);
    assert_int_equal(assay__hausdorff(ASSAY__GREAT_CIRCLE_KM, A, self->a, B, self->b, &ours[4]),
                     ASSAY_OK);
    assert_int_equal(assay__warping(ASSAY__GREAT_CIRCLE_KM, A, self->a, B, self->b, &ours[5]),
                     ASSAY_OK);
}

static const char *python(void)
{
    const char *named = getenv(python_variable);
    return named != NULL ? named : "/usr/bin/python3";
}

static void test_scipy(void **state)
{
    (void)state;
    const char *source = getenv("ASSAY_SOURCE");
    char command[1024], folder[] = "/tmp/assay-evaluate-XXXXXX";
    snprintf(command, sizeof command, "%s -c 'import scipy.spatial' 2>/dev/null", python());
    if (system(command) != 0) {
        print_message("skipped: %s has no SciPy (Debian: python3-scipy)\n", python());
        skip();
    }
    assert_non_null(mkdtemp(folder));
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        question q;
        double ours[ANSWERS], theirs;
        make_question(&q, seed, folder);
        answer(&q, ours);
        snprintf(command, sizeof command, "%s %s/tests/accuracy/road_scipy.py %s", python(),
                 source != NULL ? source : ".", folder);
        FILE *stream = popen(command, "r");
        assert_non_null(stream);
        for (size_t i = 0; i < ANSWERS; i++) {
            assert_int_equal(fscanf(stream, "%lf", &theirs), 1);
            if (!(fabs(ours[i] - theirs) <= 1e-9 * fabs(theirs))) {
                fail_msg("answer %zu: %.15g, SciPy %.15g", i, ours[i], theirs);
            }
        }
        assert_int_equal(pclose(stream), 0);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

static void test_divergence_at_its_ends(void **state)
{
    (void)state;
    const double p[] = {1, 2, 0, 0}, q[] = {0, 0, 3, 1}, none[] = {-1};
    double divergence;
    assert_true(assay__jensen_shannon(4, p, p) == 0);
    assert_true(fabs(assay__jensen_shannon(4, p, q) - log(2)) < 1e-15);
    assert_int_equal(assay__sample_divergence(0, p, 4, q, &divergence), ASSAY_E_DATA);
    assert_int_equal(assay__sample_divergence(4, p, 1, none, &divergence), ASSAY_E_DATA);
    const double zeros[] = {0, 0};
    assert_int_equal(assay__sample_divergence(2, zeros, 2, zeros, &divergence), ASSAY_OK);
    assert_true(divergence == 0);
}

static void test_lines_of_one_point(void **state)
{
    (void)state;
    const assay__place here[] = {{8, 50}}, there[] = {{8, 51}, {8, 50}};
    double distance, degree_km = ASSAY__EARTH_RADIUS_M / 1000 * 3.14159265358979323846 / 180;
    assert_int_equal(assay__hausdorff(ASSAY__GREAT_CIRCLE_KM, 1, here, 2, there, &distance),
                     ASSAY_OK);
    assert_true(fabs(distance - degree_km) < 1e-9);
    assert_int_equal(assay__warping(ASSAY__GREAT_CIRCLE_KM, 1, here, 2, there, &distance),
                     ASSAY_OK);
    assert_true(fabs(distance - degree_km) < 1e-9);
    assert_int_equal(assay__hausdorff(ASSAY__GREAT_CIRCLE_KM, 1, here, 1, here, &distance),
                     ASSAY_OK);
    assert_true(distance == 0);
}

/* Three points a hundredth of a degree of longitude apart on the equator. */
static void test_known_trajectory(void **state)
{
    (void)state;
    assay__road_network *network = NULL;
    assay__trajectories t;
    double step_km = 0.01 * ASSAY__EARTH_RADIUS_M / 1000 * 3.14159265358979323846 / 180;
    assert_int_equal(assay__road_network_new(&network), ASSAY_OK);
    assay__trajectories_init(&t);
    for (int64_t i = 0; i < 3; i++) {
        assay__place place = {0.01 * (double)i, 0};
        assay__road road = {.id = i, .points = &place, .point_count = 1, .length_m = 90};
        road.speed_mps = 9;
        assert_int_equal(assay__road_network_add(network, &road, NULL), ASSAY_OK);
        assert_int_equal(assay__trajectories_drive(&t, i, 1000 + 60 * i * i), ASSAY_OK);
    }
    assert_int_equal(assay__road_network_finish(network, NULL), ASSAY_OK);
    assert_int_equal(assay__trajectories_end(&t), ASSAY_OK);
    assert_true(fabs(assay__trajectory_distance_km(network, &t, 0) - 2 * step_km) < 1e-9);
    assert_true(fabs(assay__trajectory_duration_minutes(&t, 0) - 4) < 1e-12);
    assert_true(fabs(assay__trajectory_radius_km(network, &t, 0) - step_km * sqrt(2.0 / 3)) < 1e-9);
    double seconds[3];
    assert_int_equal(assay__trajectories_travel_times(&t, network, seconds), ASSAY_OK);
    assert_true(seconds[0] == 60 && seconds[1] == 180 && seconds[2] == 10);
    assay__trajectories_release(&t);
    assay__road_network_free(network);
}

static void test_evaluation(void **state)
{
    (void)state;
    assay__road_network *city = NULL;
    assay__trajectories real, other, empty;
    assay__road_evaluation same, different;
    assay_error error = {0};
    assert_int_equal(assay__city_new(400, 1, NULL, &city), ASSAY_OK);
    assert_int_equal(assay__city_drive(city, 60, 2, NULL, &real), ASSAY_OK);
    assert_int_equal(assay__city_drive(city, 50, 3, NULL, &other), ASSAY_OK);
    assay__trajectories_init(&empty);
    assert_int_equal(assay__road_evaluate(city, &real, &real, NULL, &error, &same), ASSAY_OK);
    assert_true(same.distance_jsd == 0 && same.duration_jsd == 0 && same.radius_jsd == 0);
    assert_true(same.hausdorff_km == 0 && same.warping_km == 0);
    assert_int_equal(same.pairs, 60);
    assert_int_equal(assay__road_evaluate(city, &real, &other, NULL, &error, &different), ASSAY_OK);
    assert_true(different.distance_jsd > 0 && different.distance_jsd < log(2));
    assert_true(different.hausdorff_km > 0 && different.warping_km > different.hausdorff_km);
    assert_int_equal(different.pairs, 50);
    assert_true(different.distance_real_mean_km == same.distance_real_mean_km);
    int64_t matching[50];
    for (size_t i = 0; i < 50; i++) {
        matching[i] = -1;
    }
    assert_int_equal(assay__road_evaluate(city, &real, &other, matching, &error, &different),
                     ASSAY_OK);
    assert_true(different.pairs == 0 && isnan(different.hausdorff_km));
    assert_int_equal(assay__road_evaluate(city, &real, &empty, NULL, &error, &different),
                     ASSAY_E_DATA);
    assert_non_null(strstr(error.message, "generated"));
    for (int64_t i = 0; i < other.first[other.count]; i++)
        other.seconds[i] = -other.seconds[i]; /* every drive ends before it begins */
    assert_int_equal(assay__road_evaluate(city, &real, &other, NULL, &error, &different),
                     ASSAY_E_DATA);
    assert_non_null(strstr(error.message, "has a duration of at least 0"));
    assay__trajectories_release(&real);
    assay__trajectories_release(&other);
    assay__road_network_free(city);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scipy),
        cmocka_unit_test(test_divergence_at_its_ends),
        cmocka_unit_test(test_lines_of_one_point),
        cmocka_unit_test(test_known_trajectory),
        cmocka_unit_test(test_evaluation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
