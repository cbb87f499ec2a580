/* The Burgers solver compared with the exact solution by Hopf (1950) and Cole (1951): u = -2 v f_x
 * / f, f_t = v f_xx, f(x, 0) = exp(-(integral of u) / 2 v). f is a Fourier series whose terms decay
 * independently; it is summed here term by term on its own grid. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "models/pde/burgers.h"

/* A few waves of mean 0: sum of sine[k] sin(2 pi (k + 1) x) + cosine[k] cos(...). */
enum { WAVES = 3, FINE = 1024, TERMS = 200 };
typedef struct wave {
    double sine[WAVES], cosine[WAVES];
} wave;

static double wave_at(const wave *w, double x)
{
    double u = 0;
    for (int k = 0; k < WAVES; k++) {
        double angle = 2 * M_PI * (k + 1) * x;
        u += w->sine[k] * sin(angle) + w->cosine[k] * cos(angle);
    }
    return u;
}

static double integral_at(const wave *w, double x)
{
    double sum = 0;
    for (int k = 0; k < WAVES; k++) {
        double angle = 2 * M_PI * (k + 1) * x, per = 2 * M_PI * (k + 1);
        sum += w->sine[k] * (1 - cos(angle)) / per + w->cosine[k] * sin(angle) / per;
    }
    return sum;
}

static void cole_hopf(const wave *w, double viscosity, double t, int64_t points, double *u)
{
    double real[TERMS], imaginary[TERMS];
    for (int n = 0; n < TERMS; n++) { /* the trapezoid rule is exact for periodic functions */
        real[n] = imaginary[n] = 0;
        for (int j = 0; j < FINE; j++) {
            double f = exp(-integral_at(w, (double)j / FINE) / (2 * viscosity));
            double angle = 2 * M_PI * (double)(n * j % FINE) / FINE;
            real[n] += f * cos(angle) * (n == 0 ? 1 : 2) / FINE;
            imaginary[n] += f * sin(angle) * (n == 0 ? 1 : 2) / FINE;
        }
    }
    for (int64_t i = 0; i < points; i++) {
        double f = 0, slope = 0;
        for (int n = 0; n < TERMS; n++) {
            double rate = 2 * M_PI * n, angle = rate * (double)i / (double)points;
            double decay = exp(-viscosity * rate * rate * t);
            f += decay * (real[n] * cos(angle) + imaginary[n] * sin(angle));
            slope += decay * rate * (imaginary[n] * cos(angle) - real[n] * sin(angle));
        }
        u[i] = -2 * viscosity * slope / f;
    }
}

static const wave gentle = {{1, 0.3, -0.2}, {0, 0.4, 0.1}};

static double error_at(int64_t points, const wave *w, double viscosity, double t)
{
    double *u = calloc((size_t)(2 * points), sizeof *u), worst = 0;
    assert_non_null(u);
    for (int64_t i = 0; i < points; i++)
        u[i] = wave_at(w, (double)i / (double)points);
    assay__burgers *burgers = NULL;
    assert_int_equal(assay__burgers_new(points, viscosity, NULL, &burgers), ASSAY_OK);
    assert_true(assay__burgers_advance(burgers, t, u) > 0);
    cole_hopf(w, viscosity, t, points, u + points);
    for (int64_t i = 0; i < points; i++)
        worst = fmax(worst, fabs(u[i] - u[points + i]));
    assay__burgers_free(burgers);
    free(u);
    return worst;
}

static void test_exact_solution(void **state)
{
    (void)state;
    /* a front some 0.1 wide has formed by then */
    double coarse = error_at(128, &gentle, 0.02, 0.3), fine = error_at(256, &gentle, 0.02, 0.3);
    print_message("error %.1e at 128 points, %.1e at 256: order %.2f\n", coarse, fine,
                  log2(coarse / fine));
    assert_true(fine < 1e-5);
    assert_true(log2(coarse / fine) > 3.7);
    double steep = error_at(512, &gentle, 0.01, 0.2);
    print_message("steep: %.1e at 512 points\n", steep);
    assert_true(steep < 2e-5);
}

/* Time steps alone: with a smooth solution and a fine grid, two halves are one whole. */
static void test_time_can_be_divided(void **state)
{
    (void)state;
    enum { POINTS = 64 };
    double whole[POINTS], parts[POINTS], before[POINTS];
    assay__random random;
    assay__random_init(&random, 3);
    assay__burgers_initial(POINTS, 3, &random, whole);
    memcpy(parts, whole, sizeof parts);
    memcpy(before, whole, sizeof before);
    assay__burgers *burgers = NULL;
    assert_int_equal(assay__burgers_new(POINTS, 0.05, NULL, &burgers), ASSAY_OK);
    assert_int_equal(assay__burgers_advance(burgers, 0, whole), 0);
    assert_memory_equal(whole, before, sizeof whole);
    assay__burgers_advance(burgers, 0.1, whole);
    for (int i = 0; i < 10; i++)
        assay__burgers_advance(burgers, 0.01, parts);
    for (int i = 0; i < POINTS; i++)
        assert_true(fabs(whole[i] - parts[i]) < 1e-7);
    assay__burgers_free(burgers);
}

/* On a grid far too coarse for the front the mean stays, the energy falls and nothing grows. */
static void test_unresolved_fronts_stay_bounded(void **state)
{
    (void)state;
    enum { POINTS = 64 };
    double u[POINTS], mean = 0, energy = 0;
    for (int i = 0; i < POINTS; i++) {
        u[i] = 0.3 + wave_at(&gentle, (double)i / POINTS);
        mean += u[i] / POINTS;
        energy += u[i] * u[i];
    }
    assay__burgers *burgers = NULL;
    assert_int_equal(assay__burgers_new(POINTS, 1e-4, NULL, &burgers), ASSAY_OK);
    for (int k = 0; k < 20; k++) {
        assay__burgers_advance(burgers, 0.1, u);
        double now = 0, sum = 0;
        for (int i = 0; i < POINTS; i++) {
            now += u[i] * u[i];
            sum += u[i] / POINTS;
        }
        assert_true(now <= energy);
        assert_true(fabs(sum - mean) < 1e-13);
        energy = now;
    }
    assay__burgers_free(burgers);
}

/* Shifting the initial values shifts the solution, across the seam too. */
static void test_ring_has_no_seam(void **state)
{
    (void)state;
    enum { POINTS = 40, SHIFT = 39 };
    double u[POINTS], v[POINTS];
    for (int i = 0; i < POINTS; i++) {
        u[i] = wave_at(&gentle, (double)i / POINTS);
        v[(i + SHIFT) % POINTS] = u[i];
    }
    assay__burgers *burgers = NULL;
    assert_int_equal(assay__burgers_new(POINTS, 0.02, NULL, &burgers), ASSAY_OK);
    assay__burgers_advance(burgers, 0.2, u);
    assay__burgers_advance(burgers, 0.2, v);
    for (int i = 0; i < POINTS; i++)
        assert_true(fabs(v[(i + SHIFT) % POINTS] - u[i]) < 1e-14);
    assay__burgers_free(burgers);
}

static void test_initial_values(void **state)
{
    (void)state;
    enum { COARSE = 50, DENSE = 100 };
    double coarse[COARSE], dense[DENSE], mean = 0, square = 0;
    assay__random random;
    assay__random_init(&random, 9);
    assay__burgers_initial(COARSE, 5, &random, coarse);
    assay__random_init(&random, 9);
    assay__burgers_initial(DENSE, 5, &random, dense);
    for (int i = 0; i < COARSE; i++) {
        assert_true(fabs(coarse[i] - dense[2 * i]) < 1e-14);
        mean += coarse[i] / COARSE;
        square += coarse[i] * coarse[i] / COARSE;
    }
    assert_true(fabs(mean) < 1e-14);
    assert_true(fabs(sqrt(square) - 0.5) < 1e-14);
}

/* A sample depends on seed and index only; its last snapshot is the solution. */
static void test_data(void **state)
{
    (void)state;
    enum { POINTS = 32, SNAPSHOTS = 3 };
    const assay__burgers_data_shape shape = {POINTS, 4, SNAPSHOTS, 0.02, 0.3};
    assay__burgers_data *data = NULL;
    assert_int_equal(assay__burgers_data_new(&shape, 7, NULL, &data), ASSAY_OK);
    float first[POINTS], later[SNAPSHOTS * POINTS], again[POINTS], other[SNAPSHOTS * POINTS];
    assay__burgers_data_sample(data, 5, first, later);
    assay__burgers_data_sample(data, 6, again, other);
    assert_memory_not_equal(first, again, sizeof first);
    assay__burgers_data_sample(data, 5, again, other);
    assert_memory_equal(first, again, sizeof first);
    assert_memory_equal(later, other, sizeof later);
    assay__burgers_data_free(data);
    assert_int_equal(assay__burgers_data_new(&shape, 8, NULL, &data), ASSAY_OK);
    assay__burgers_data_sample(data, 5, again, other);
    assert_memory_not_equal(first, again, sizeof first);
    assay__burgers_data_free(data);

    double u[POINTS];
    for (int i = 0; i < POINTS; i++)
        u[i] = (double)first[i];
    assay__burgers *burgers = NULL;
    assert_int_equal(assay__burgers_new(POINTS, 0.02, NULL, &burgers), ASSAY_OK);
    assay__burgers_advance(burgers, 0.3, u);
    for (int i = 0; i < POINTS; i++)
        assert_true(fabs(u[i] - (double)later[(SNAPSHOTS - 1) * POINTS + i]) < 1e-5);
    assay__burgers_free(burgers);
}

static void test_bad_settings_are_named(void **state)
{
    (void)state;
    assay__burgers *burgers = NULL;
    assay__burgers_data *data = NULL;
    assay_error error;
    assert_int_equal(assay__burgers_new(4, 0.1, &error, &burgers), ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "points"));
    assert_int_equal(assay__burgers_new(16, 0, &error, &burgers), ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "viscosity"));
    assert_int_equal(assay__burgers_new(16, NAN, &error, &burgers), ASSAY_E_ARGUMENT);
    assay__burgers_data_shape shape = {16, 4, 1, 0.02, 0};
    assert_int_equal(assay__burgers_data_new(&shape, 7, &error, &data), ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "duration"));
    shape = (assay__burgers_data_shape){16, 4, 1, -1, 1};
    assert_int_equal(assay__burgers_data_new(&shape, 7, &error, &data), ASSAY_E_ARGUMENT);
    assay__burgers_free(NULL);
    assay__burgers_data_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_solution),
        cmocka_unit_test(test_time_can_be_divided),
        cmocka_unit_test(test_unresolved_fronts_stay_bounded),
        cmocka_unit_test(test_ring_has_no_seam),
        cmocka_unit_test(test_initial_values),
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_bad_settings_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
