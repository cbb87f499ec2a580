/* Recovering a conductivity from noisy snapshots: value, gradient and optimum are compared with an
 * independent solver with complex-step gradients in NumPy and SciPy's L-BFGS-B (scipy_heat.py). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/random.h"
#include "models/pde/heat.h"
#include "models/pde/lbfgs.h"

enum { MAX_KNOTS = 8 };

typedef struct problem {
    assay__heat_shape shape;
    int64_t batch;
    double smoothness, noise;
} problem;

static void write_numbers(FILE *file, int64_t count, const double *numbers)
{
    for (int64_t i = 0; i < count; i++) {
        fprintf(file, "%.17g\n", numbers[i]);
    }
}

static void write_problem(const char *path, const problem *p, const double *initial,
                          const double *data)
{
    const assay__heat_shape *s = &p->shape;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%lld %lld %lld %lld %lld\n%.17g %.17g %.17g\n", (long long)s->points,
            (long long)s->knots, (long long)s->snapshots, (long long)s->steps, (long long)p->batch,
            s->duration, s->implicitness, p->smoothness);
    write_numbers(file, p->batch * s->points, initial);
    write_numbers(file, p->batch * s->snapshots * s->points, data);
    assert_int_equal(fclose(file), 0);
}

static void ask_scipy(const char *path, int count, double *answers)
{
    char command[600];
    const char *source = getenv("ASSAY_SOURCE");
    snprintf(command, sizeof command, "/usr/bin/python3 '%s/tests/accuracy/scipy_heat.py' '%s'",
             source != NULL ? source : ".", path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    for (int i = 0; i < count; i++) {
        assert_int_equal(fscanf(pipe, "%lf", &answers[i]), 1);
    }
    assert_int_equal(pclose(pipe), 0);
}

static void make_data(const problem *p, assay__heat *heat, double *initial, double *data)
{
    const assay__heat_shape *s = &p->shape;
    assay__random random;
    assay__random_init(&random, 21);
    for (int64_t b = 0; b < p->batch; b++) {
        for (int mode = 1; mode <= 4; mode++) {
            double size = assay__random_normal(&random);
            for (int64_t i = 0; i < s->points; i++) {
                double x = (double)(i + 1) / (double)(s->points + 1);
                initial[b * s->points + i] += size * sin(mode * M_PI * x);
            }
        }
    }
    double truth[MAX_KNOTS];
    for (int64_t i = 0; i < s->knots; i++) {
        truth[i] = 0.6 * sin(2.5 * (double)i);
    }
    const double *u = NULL;
    assert_int_equal(assay__heat_forward(heat, truth, p->batch, initial, NULL, &u), ASSAY_OK);
    for (int64_t i = 0; i < p->batch * s->snapshots * s->points; i++) {
        data[i] = u[i] + p->noise * assay__random_normal(&random);
    }
}

static void assert_near(double value, double truth, double tolerance)
{
    if (!(fabs(value - truth) <= tolerance)) {
        fail_msg("%.17g is not %.17g", value, truth);
    }
}

static void check(const problem *p)
{
    const assay__heat_shape *s = &p->shape;
    size_t cells = (size_t)(p->batch * s->snapshots * s->points);
    double *initial = calloc((size_t)(p->batch * s->points), sizeof *initial);
    double *data = calloc(cells, sizeof *data), *doutput = calloc(cells, sizeof *doutput);
    assert_true(initial != NULL && data != NULL && doutput != NULL);
    assay__heat *heat = NULL;
    assert_int_equal(assay__heat_new(s, NULL, &heat), ASSAY_OK);
    make_data(p, heat, initial, data);
    char path[] = "/tmp/assay-heat-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    write_problem(path, p, initial, data);
    double answers[2 * MAX_KNOTS + 2], value, gradient[MAX_KNOTS];
    const double start[MAX_KNOTS] = {0};
    int knots = (int)s->knots;
    ask_scipy(path, 2 * knots + 2, answers);
    unlink(path);

    assay__heat_problem ours = {.heat = heat,
                                .batch = p->batch,
                                .initial = initial,
                                .data = data,
                                .smoothness = p->smoothness,
                                .doutput = doutput};
    assert_int_equal(assay__heat_misfit(&ours, start, &value, gradient), ASSAY_OK);
    assert_near(value, answers[0], 1e-12 * answers[0]);
    double most = 0;
    for (int i = 0; i < knots; i++) {
        most = fmax(most, fabs(answers[1 + i]));
    }
    for (int i = 0; i < knots; i++) {
        assert_near(gradient[i], answers[1 + i], 1e-10 * most);
    }
    double x[MAX_KNOTS] = {0};
    assay__lbfgs_state state;
    assay__lbfgs_task task = {.count = (size_t)s->knots,
                              .pairs = 10,
                              .gradient_tolerance = 1e-13,
                              .max_iterations = 500,
                              .objective = assay__heat_misfit,
                              .context = &ours};
    assert_int_equal(assay__lbfgs_minimize(&task, x, &state), ASSAY_OK);
    print_message("%lld iterations, misfit %.12g, SciPy's %.12g\n", (long long)state.iteration,
                  state.value, answers[knots + 1]);
    assert_true(state.value <= answers[knots + 1] * (1 + 1e-9));
    for (int i = 0; i < knots; i++) {
        assert_near(x[i], answers[knots + 2 + i], 1e-5);
    }
    assay__heat_free(heat);
    free(initial);
    free(data);
    free(doutput);
}

static void test_against_scipy(void **unused)
{
    (void)unused;
    check(&(problem){{32, 5, 3, 6, 0.05, 0.5}, 3, 0, 0.01});
    check(&(problem){{20, 8, 2, 10, 0.08, 1}, 2, 1e-4, 0.02});
    check(&(problem){{1, 2, 2, 4, 0.08, 0.5}, 1, 1e-3, 0.02});
}

int main(void)
{
    if (system("/usr/bin/python3 -c 'import numpy, scipy.optimize' 2>/dev/null") != 0) {
        printf("skipped: /usr/bin/python3 has no SciPy\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_scipy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
