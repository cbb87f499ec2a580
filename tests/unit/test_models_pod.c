/* The proper orthogonal decomposition, compared with a closed form and with its definition. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/random.h"
#include "models/sequence/pod.h"

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* Two orthogonal directions with variances 9 : 1, in a plane of a wider space. */
static void test_known_directions(void **state)
{
    (void)state;
    enum { COUNT = 8, WIDTH = 3 };
    double x[COUNT * WIDTH];
    for (int i = 0; i < COUNT; i++) {
        double angle = 2 * M_PI * i / COUNT;
        double a = 3 * cos(angle), b = sin(angle);
        x[i * WIDTH] = 5 + a / sqrt(2);
        x[i * WIDTH + 1] = -2 + a / sqrt(2);
        x[i * WIDTH + 2] = 7 + b;
    }
    assay__pod pod;
    assert_int_equal(assay__pod_fit(COUNT, WIDTH, x, 2, NULL, &pod), ASSAY_OK);
    assert_near(pod.mean[0], 5, 1e-12);
    assert_near(pod.energy[0], 0.9, 1e-12);
    assert_near(pod.energy[1], 0.1, 1e-12);
    assert_near(pod.basis[0], sqrt(0.5), 1e-12);
    assert_near(pod.basis[1], sqrt(0.5), 1e-12);
    assert_near(pod.basis[5], 1, 1e-12);
    assay__pod_release(&pod);
    assay_error error = {0};
    assert_int_equal(assay__pod_fit(COUNT, WIDTH, x, 3, &error, &pod), ASSAY_E_DATA);
}

static void check_random(int64_t count, int64_t width, int64_t rank)
{
    assay__random random;
    assay__random_init(&random, 7);
    double *x = calloc((size_t)(count * width), sizeof *x),
           *back = calloc((size_t)(count * width), sizeof *x);
    double *z = calloc((size_t)(count * rank), sizeof *z);
    assert_true(x != NULL && z != NULL && back != NULL);
    for (int64_t i = 0; i < count * width; i++)
        x[i] = assay__random_normal(&random) * (1 + (double)(i % width));
    assay__pod pod;
    assert_int_equal(assay__pod_fit(count, width, x, rank, NULL, &pod), ASSAY_OK);
    for (int64_t a = 0; a < rank; a++)
        for (int64_t b = 0; b <= a; b++) {
            double dot = 0;
            for (int64_t j = 0; j < width; j++)
                dot += pod.basis[a * width + j] * pod.basis[b * width + j];
            assert_near(dot, a == b, 1e-10);
        }
    assay__pod_reduce(&pod, count, x, z);
    assay__pod_restore(&pod, count, z, back);
    double lost = 0, whole = 0, kept = 0;
    for (int64_t i = 0; i < count * width; i++) {
        lost += (x[i] - back[i]) * (x[i] - back[i]);
        whole += (x[i] - pod.mean[i % width]) * (x[i] - pod.mean[i % width]);
    }
    for (int64_t k = 0; k < rank; k++)
        kept += pod.energy[k];
    assert_near(lost / whole, 1 - kept, 1e-10); /* Eckart and Young */
    assay__pod_release(&pod);
    free(x);
    free(back);
    free(z);
}

static void test_what_is_lost_is_what_the_energies_say(void **state)
{
    (void)state;
    check_random(60, 12, 5); /* by features */
    check_random(12, 60, 5); /* by snapshots */
    check_random(30, 30, 29);
}

static void test_bad_input(void **state)
{
    (void)state;
    double x[6] = {1, 2, 3, 4, NAN, 6};
    assay__pod pod;
    assay_error error = {0};
    assert_int_equal(assay__pod_fit(3, 2, x, 3, &error, &pod), ASSAY_E_ARGUMENT);
    assert_int_equal(assay__pod_fit(3, 2, x, 1, &error, &pod), ASSAY_E_DATA);
    assert_null(pod.basis);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_directions),
        cmocka_unit_test(test_what_is_lost_is_what_the_energies_say),
        cmocka_unit_test(test_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
