/* The heat solver compared with its eigenfunctions, its adjoint with differences, the optimizer on
 * functions with known minima, and all three together on finding a conductivity. */
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
#include "models/pde/heat.h"
#include "models/pde/lbfgs.h"

static assay__heat *make(assay__heat_shape shape)
{
    assay__heat *heat = NULL;
    assay_error error;
    assert_int_equal(assay__heat_new(&shape, &error, &heat), ASSAY_OK);
    return heat;
}

/* sin(m pi x) of several m in a batch. */
static void fill_modes(int64_t points, int64_t batch, double *initial)
{
    for (int64_t b = 0; b < batch; b++) {
        for (int64_t i = 0; i < points; i++) {
            double x = (double)(i + 1) / (double)(points + 1);
            initial[b * points + i] = sin((double)(b + 1) * M_PI * x);
        }
    }
}

/* The sines are eigenvectors of the discrete operator too: each step multiplies them by (1 - (1 -
 * theta) z) / (1 + theta z), z = dt k (4 / dx^2) sin^2(m pi dx / 2), to rounding. */
static void test_modes_decay_as_the_scheme_says(void **state)
{
    (void)state;
    enum { POINTS = 31, BATCH = 5, SNAPSHOTS = 3, STEPS = 7 };
    const double thetas[] = {0.5, 0.7, 1}, log_k = log(0.3);
    double initial[BATCH * POINTS];
    fill_modes(POINTS, BATCH, initial);
    for (int t = 0; t < 3; t++) {
        assay__heat *heat = make((assay__heat_shape){.points = POINTS,
                                                     .knots = 1,
                                                     .snapshots = SNAPSHOTS,
                                                     .steps = STEPS,
                                                     .duration = 0.4,
                                                     .implicitness = thetas[t]});
        const double *u = NULL;
        assert_int_equal(assay__heat_forward(heat, &log_k, BATCH, initial, NULL, &u), ASSAY_OK);
        double dt = 0.4 / (SNAPSHOTS * STEPS), dx = 1.0 / (POINTS + 1);
        for (int64_t b = 0; b < BATCH; b++) {
            double z = dt * 0.3 * 4 / (dx * dx) * pow(sin((double)(b + 1) * M_PI * dx / 2), 2);
            double factor = (1 - (1 - thetas[t]) * z) / (1 + thetas[t] * z);
            for (int64_t s = 0; s < SNAPSHOTS; s++) {
                double decay = pow(factor, (double)((s + 1) * STEPS));
                for (int64_t i = 0; i < POINTS; i++) {
                    double truth = decay * initial[b * POINTS + i];
                    assert_true(fabs(u[(b * SNAPSHOTS + s) * POINTS + i] - truth) < 1e-13);
                }
            }
        }
        assay__heat_free(heat);
    }
}

static double error_of_first_mode(int64_t points, int64_t steps, double theta)
{
    assay__heat *heat = make((assay__heat_shape){.points = points,
                                                 .knots = 1,
                                                 .snapshots = 1,
                                                 .steps = steps,
                                                 .duration = 0.2,
                                                 .implicitness = theta});
    double initial[200], log_k = log(0.5), worst = 0;
    fill_modes(points, 1, initial);
    const double *u = NULL;
    assert_int_equal(assay__heat_forward(heat, &log_k, 1, initial, NULL, &u), ASSAY_OK);
    for (int64_t i = 0; i < points; i++)
        worst = fmax(worst, fabs(u[i] - exp(-0.5 * M_PI * M_PI * 0.2) * initial[i]));
    assay__heat_free(heat);
    return worst;
}

/* exp(-k pi^2 t) sin(pi x): halving dx and dt divides the error by 4 (Crank-Nicolson) or, where
 * time dominates, by 2 (backward Euler). */
static void test_converges_to_the_closed_form(void **state)
{
    (void)state;
    double ratio = error_of_first_mode(19, 20, 0.5) / error_of_first_mode(39, 40, 0.5);
    print_message("Crank-Nicolson: order %.3f\n", log2(ratio));
    assert_true(fabs(log2(ratio) - 2) < 0.05);
    ratio = error_of_first_mode(199, 20, 1) / error_of_first_mode(199, 40, 1);
    print_message("backward Euler: order %.3f\n", log2(ratio));
    assert_true(fabs(log2(ratio) - 1) < 0.1);
}

/* The steady flux argument turned round: with conductivity k(x) the operator is symmetric, so
 * (u(T; a), b) = (a, u(T; b)) for any two initial values. */
static void test_operator_is_symmetric_with_varying_conductivity(void **state)
{
    (void)state;
    enum { POINTS = 23 };
    const double log_k[] = {-1, 0.5, -0.3, 1};
    double initial[2 * POINTS];
    assay__random random;
    assay__random_init(&random, 5);
    for (int i = 0; i < 2 * POINTS; i++)
        initial[i] = assay__random_normal(&random);
    assay__heat *heat = make((assay__heat_shape){.points = POINTS,
                                                 .knots = 4,
                                                 .snapshots = 1,
                                                 .steps = 9,
                                                 .duration = 0.05,
                                                 .implicitness = 0.5});
    const double *u = NULL;
    assert_int_equal(assay__heat_forward(heat, log_k, 2, initial, NULL, &u), ASSAY_OK);
    double one = 0, other = 0;
    for (int i = 0; i < POINTS; i++) {
        one += u[i] * initial[POINTS + i];
        other += initial[i] * u[POINTS + i];
    }
    assert_true(fabs(one - other) < 1e-13);
    assay__heat_free(heat);
}

typedef struct fixture {
    assay__heat *heat;
    assay__heat_problem problem;
    double *initial, *data, *doutput;
    int64_t knots;
} fixture;

/* Snapshots of smooth random initial values under the conductivity `truth` (knots). */
static void setup(fixture *f, assay__heat_shape shape, int64_t batch, const double *truth)
{
    int64_t count = batch * shape.snapshots * shape.points;
    f->heat = make(shape);
    f->knots = shape.knots;
    f->initial = calloc((size_t)(batch * shape.points), sizeof(double));
    f->data = calloc((size_t)count, sizeof(double));
    f->doutput = calloc((size_t)count, sizeof(double));
    assert_true(f->initial != NULL && f->data != NULL && f->doutput != NULL);
    assay__random random;
    assay__random_init(&random, 11);
    for (int64_t b = 0; b < batch; b++) {
        for (int mode = 1; mode <= 4; mode++) {
            double size = assay__random_normal(&random);
            for (int64_t i = 0; i < shape.points; i++) {
                double x = (double)(i + 1) / (double)(shape.points + 1);
                f->initial[b * shape.points + i] += size * sin(mode * M_PI * x);
            }
        }
    }
    const double *u = NULL;
    assert_int_equal(assay__heat_forward(f->heat, truth, batch, f->initial, NULL, &u), ASSAY_OK);
    memcpy(f->data, u, (size_t)count * sizeof(double));
    f->problem = (assay__heat_problem){.heat = f->heat,
                                       .batch = batch,
                                       .initial = f->initial,
                                       .data = f->data,
                                       .doutput = f->doutput};
}

static void teardown(fixture *f)
{
    assay__heat_free(f->heat);
    free(f->initial);
    free(f->data);
    free(f->doutput);
}

static void check_gradient(assay__heat_shape shape, int64_t batch, double smoothness)
{
    double truth[8] = {0.2, -0.4, 0.1, 0.3, -0.2, 0, 0.4, 0.1}, at[8] = {0}, gradient[8], unused[8];
    fixture f;
    setup(&f, shape, batch, truth);
    f.problem.smoothness = smoothness;
    for (int i = 0; i < 8; i++)
        at[i] = 0.1 * i - 0.2;
    double value, worst = 0, most = 0;
    assert_int_equal(assay__heat_misfit(&f.problem, at, &value, gradient), ASSAY_OK);
    for (int64_t i = 0; i < shape.knots; i++) {
        double kept = at[i], up, down, h = 1e-5;
        at[i] = kept + h;
        assert_int_equal(assay__heat_misfit(&f.problem, at, &up, unused), ASSAY_OK);
        at[i] = kept - h;
        assert_int_equal(assay__heat_misfit(&f.problem, at, &down, unused), ASSAY_OK);
        at[i] = kept;
        worst = fmax(worst, fabs((up - down) / (2 * h) - gradient[i]));
        most = fmax(most, fabs(gradient[i]));
    }
    print_message("gradient off by %.1e of %.1e\n", worst, most);
    assert_true(worst <= 1e-6 * most);
    teardown(&f);
}

static void test_gradient_by_differences(void **state)
{
    (void)state;
    check_gradient((assay__heat_shape){24, 8, 3, 5, 0.05, 0.5}, 3, 0);
    check_gradient((assay__heat_shape){24, 8, 1, 11, 0.05, 1}, 1, 0.01);
    check_gradient((assay__heat_shape){7, 1, 2, 3, 0.1, 0.6}, 2, 0.01);
    check_gradient((assay__heat_shape){1, 2, 2, 3, 0.1, 0.5}, 2, 0);
    check_gradient((assay__heat_shape){5, 8, 2, 3, 0.1, 0.5}, 17, 0); /* more knots than nodes */
}

/* The solution is linear in the initial values: (dinitial, v) is exactly (doutput, u(v)). */
static void test_gradient_by_initial_values(void **state)
{
    (void)state;
    enum { POINTS = 13, BATCH = 2, SNAPSHOTS = 2 };
    const double log_k[] = {0.3, -0.7};
    double initial[BATCH * POINTS], doutput[BATCH * SNAPSHOTS * POINTS], dinitial[BATCH * POINTS];
    assay__random random;
    assay__random_init(&random, 7);
    for (int i = 0; i < BATCH * POINTS; i++)
        initial[i] = assay__random_normal(&random);
    for (int i = 0; i < BATCH * SNAPSHOTS * POINTS; i++)
        doutput[i] = assay__random_normal(&random);
    assay__heat *heat = make((assay__heat_shape){POINTS, 2, SNAPSHOTS, 4, 0.03, 0.5});
    const double *u = NULL;
    double dlog_k[2], forward = 0, backward = 0;
    assert_int_equal(assay__heat_forward(heat, log_k, BATCH, initial, NULL, &u), ASSAY_OK);
    assay__heat_backward(heat, doutput, dlog_k, dinitial);
    for (int i = 0; i < BATCH * SNAPSHOTS * POINTS; i++)
        forward += doutput[i] * u[i];
    for (int i = 0; i < BATCH * POINTS; i++)
        backward += dinitial[i] * initial[i];
    assert_true(fabs(forward - backward) < 1e-13);
    assay__heat_free(heat);
}

/* The value never rises, and every iteration is seen once. */
static bool watch(void *context, const assay__lbfgs_state *now)
{
    assay__lbfgs_state *last = context;
    assert_int_equal(now->iteration, now->evaluations == 1 ? 0 : last->iteration + 1);
    assert_true(now->evaluations == 1 || now->value <= last->value);
    *last = *now;
    return true;
}

static assay__lbfgs_state run(size_t count, size_t pairs, assay__objective objective, void *context,
                              double tolerance, int64_t limit, double *x)
{
    assay__lbfgs_state final, last = {0};
    assay__lbfgs_task task = {.count = count,
                              .pairs = pairs,
                              .gradient_tolerance = tolerance,
                              .max_iterations = limit,
                              .objective = objective,
                              .context = context,
                              .observer = watch,
                              .observer_context = &last};
    assert_int_equal(assay__lbfgs_minimize(&task, x, &final), ASSAY_OK);
    assert_int_equal(final.iteration, last.iteration);
    assert_true(final.value == last.value);
    return final;
}

/* No noise: the conductivity comes back. */
static void test_conductivity_is_recovered(void **state)
{
    (void)state;
    const double truth[] = {-0.5, 0.4, 0.9, 0.1, -0.8};
    double x[5] = {0};
    fixture f;
    setup(&f, (assay__heat_shape){48, 5, 4, 8, 0.1, 0.5}, 4, truth);
    assay__lbfgs_state final = run(5, 8, assay__heat_misfit, &f.problem, 1e-12, 100, x);
    print_message("recovered in %lld iterations, %lld evaluations, misfit %.1e\n",
                  (long long) final.iteration, (long long) final.evaluations, final.value);
    for (int i = 0; i < 5; i++)
        assert_true(fabs(x[i] - truth[i]) < 1e-6);
    assert_true(final.iteration < 60);
    teardown(&f);
}

/* Rosenbrock's valley in `n` dimensions: minimum 0 at (1, ..., 1). */
static assay_status rosenbrock(void *context, const double *x, double *value, double *gradient)
{
    size_t n = *(const size_t *)context;
    *value = 0;
    memset(gradient, 0, n * sizeof *gradient);
    for (size_t i = 0; i + 1 < n; i++) {
        double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
        *value += 100 * a * a + b * b;
        gradient[i] += -400 * a * x[i] - 2 * b;
        gradient[i + 1] += 200 * a;
    }
    return ASSAY_OK;
}

/* A narrow trough at `*context`: slopes of almost -1 before it and almost 1 after. Only points
 * close to its bottom are flat enough, so the search has to close in from both sides. */
static assay_status trough(void *context, const double *x, double *value, double *gradient)
{
    double off = x[0] - *(const double *)context;
    *value = sqrt(off * off + 1e-6);
    gradient[0] = off / *value;
    return ASSAY_OK;
}

static void test_search_closes_in(void **state)
{
    (void)state;
    for (double bottom = 0.037; bottom < 9; bottom *= 1.31) {
        double x = 0;
        assay__lbfgs_state at = run(1, 3, trough, &bottom, 1e-8, 1, &x);
        assert_int_equal(at.iteration, 1);
        assert_true(at.gradient_size <= 0.9);
        assert_true(at.evaluations <= 20);
    }
}

/* Every step ends where the strong Wolfe conditions hold: lower by a share of what the slope
 * promised, and flatter. */
typedef struct walk {
    double x[30];                /* the point that the optimizer moves */
    double last[30], before[30]; /* the point of the last iteration and its gradient */
    double value;
    int64_t steps;
} walk;

static bool check_wolfe(void *context, const assay__lbfgs_state *at)
{
    walk *self = context;
    size_t n = 30;
    double after[30], next, promised = 0, left = 0;
    (void)rosenbrock(&n, self->x, &next, after);
    assert_true(next == at->value);
    for (size_t i = 0; i < n; i++) {
        double step = self->x[i] - self->last[i];
        promised += self->before[i] * step;
        left += after[i] * step;
    }
    if (at->iteration > 0) {
        assert_true(promised < 0);
        assert_true(next <= self->value + 0.99e-4 * promised);
        assert_true(fabs(left) <= -0.91 * promised);
    }
    memcpy(self->last, self->x, sizeof self->last);
    memcpy(self->before, after, sizeof self->before);
    self->value = next;
    self->steps = at->iteration;
    return at->iteration < 30;
}

static void test_steps_satisfy_wolfe(void **state)
{
    (void)state;
    size_t n = 30;
    walk walked = {.steps = 0};
    for (size_t i = 0; i < n; i++)
        walked.x[i] = i % 2 == 0 ? -1.2 : 1;
    assay__lbfgs_state final;
    assay__lbfgs_task task = {.count = n,
                              .pairs = 7,
                              .max_iterations = 150,
                              .objective = rosenbrock,
                              .context = &n,
                              .observer = check_wolfe,
                              .observer_context = &walked};
    assert_int_equal(assay__lbfgs_minimize(&task, walked.x, &final), ASSAY_OK);
    assert_int_equal(final.outcome, ASSAY__LBFGS_RUNNING); /* the observer stopped it */
    assert_int_equal(walked.steps, 30);
    assert_int_equal(final.iteration, 30);
}

static void test_rosenbrock(void **state)
{
    (void)state;
    const size_t sizes[] = {2, 30};
    for (int s = 0; s < 2; s++) {
        size_t n = sizes[s];
        double x[30];
        for (size_t i = 0; i < n; i++)
            x[i] = i % 2 == 0 ? -1.2 : 1;
        assay__lbfgs_state final = run(n, 7, rosenbrock, &n, 1e-8, 500, x);
        print_message("Rosenbrock %zu: %lld iterations, %lld evaluations\n", n,
                      (long long) final.iteration, (long long) final.evaluations);
        assert_int_equal(final.outcome, ASSAY__LBFGS_GRADIENT);
        for (size_t i = 0; i < n; i++)
            assert_true(fabs(x[i] - 1) < 1e-7);
        assert_true(final.evaluations < (n == 2 ? 80 : 250));
    }
}

/* A quadratic with condition 1e4. SciPy's L-BFGS-B takes 117 iterations from the same start to the
 * same gradient, 38 and 205 on the valleys above. */
static assay_status quadratic(void *context, const double *x, double *value, double *gradient)
{
    (void)context;
    *value = 0;
    for (int i = 0; i < 6; i++) {
        double curvature = pow(10, 0.8 * i), off = x[i] - i;
        *value += 0.5 * curvature * off * off;
        gradient[i] = curvature * off;
    }
    return ASSAY_OK;
}

static void test_quadratic(void **state)
{
    (void)state;
    double x[6] = {10, 10, 10, 10, 10, 10};
    assay__lbfgs_state final = run(6, 6, quadratic, NULL, 1e-8, 130, x);
    print_message("quadratic: %lld iterations\n", (long long) final.iteration);
    assert_int_equal(final.outcome, ASSAY__LBFGS_GRADIENT);
    for (int i = 0; i < 6; i++)
        assert_true(fabs(x[i] - i) < 1e-6);
    /* at the minimum already, exactly and almost: nothing happens */
    for (int i = 0; i < 12; i++) {
        x[i % 6] = i % 6 + (i < 6 ? 0 : 1e-13);
        if (i % 6 != 5)
            continue;
        final = run(6, 6, quadratic, NULL, 1e-8, 100, x);
        assert_int_equal(final.iteration, 0);
        assert_int_equal(final.evaluations, 1);
        assert_int_equal(final.outcome, ASSAY__LBFGS_GRADIENT);
    }
}

/* Not finite beyond 1, and steep before: a step too far is taken back. */
static assay_status walled(void *context, const double *x, double *value, double *gradient)
{
    (void)context;
    *value = x[0] < 1 ? -log(1 - x[0]) - 3 * x[0] : NAN;
    gradient[0] = x[0] < 1 ? 1 / (1 - x[0]) - 3 : NAN;
    return ASSAY_OK;
}

static assay_status lying(void *context, const double *x, double *value, double *gradient)
{
    (void)context;
    *value = x[0] * x[0] + x[1] * x[1];
    gradient[0] = -2 * x[0];
    gradient[1] = -2 * x[1];
    return ASSAY_OK;
}

static assay_status failing(void *context, const double *x, double *value, double *gradient)
{
    int *calls = context;
    assay_status status = quadratic(NULL, x, value, gradient);
    return (*calls)++ == 1 ? ASSAY_E_IO : status;
}

static void test_bad_objectives(void **state)
{
    (void)state;
    assay__lbfgs_state final;
    double x[6] = {-5};
    final = run(1, 3, walled, NULL, 1e-8, 100, x);
    print_message("behind a wall: %lld evaluations\n", (long long) final.evaluations);
    assert_true(fabs(x[0] - 2.0 / 3) < 1e-7);
    x[0] = 2;
    assay__lbfgs_task task = {
        .count = 1, .pairs = 3, .max_iterations = 100, .objective = walled, .context = NULL};
    assert_int_equal(assay__lbfgs_minimize(&task, x, &final), ASSAY_E_DATA);

    x[1] = 1;
    final = run(2, 3, lying, NULL, 1e-8, 100, x);
    assert_int_equal(final.outcome, ASSAY__LBFGS_STALLED);
    assert_true(final.value == 5);
    assert_true(x[0] == 2 && x[1] == 1);

    for (int calls = -3; calls <= 1; calls++) { /* the fifth, ..., the first evaluation fails */
        int left = calls;
        double at[6] = {2, 1, 1, 1, 1, 1};
        task = (assay__lbfgs_task){
            .count = 6, .pairs = 3, .max_iterations = 100, .objective = failing, .context = &left};
        assert_int_equal(assay__lbfgs_minimize(&task, at, &final), ASSAY_E_IO);
        assert_int_equal(final.evaluations, 2 - calls);
    }
    task.count = 0;
    assert_int_equal(assay__lbfgs_minimize(&task, x, &final), ASSAY_E_ARGUMENT);
    task.count = 2;
    task.pairs = 101;
    assert_int_equal(assay__lbfgs_minimize(&task, x, &final), ASSAY_E_ARGUMENT);
}

static void test_bad_shapes_are_named(void **state)
{
    (void)state;
    const struct {
        assay__heat_shape shape;
        const char *named;
    } cases[] = {{{0, 1, 1, 1, 1, 0.5}, "points"},      {{4, 0, 1, 1, 1, 0.5}, "knots"},
                 {{4, 1, 0, 1, 1, 0.5}, "snapshots"},   {{4, 1, 1, 0, 1, 0.5}, "steps"},
                 {{4, 1, 1, 1, 0, 0.5}, "duration"},    {{4, 1, 1, 1, NAN, 0.5}, "duration"},
                 {{4, 1, 1, 1, 1, 0.4}, "implicitness"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_error error;
        assay__heat *heat = NULL;
        assert_int_equal(assay__heat_new(&cases[i].shape, &error, &heat), ASSAY_E_ARGUMENT);
        assert_non_null(strstr(error.message, cases[i].named));
    }
    assay__heat_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modes_decay_as_the_scheme_says),
        cmocka_unit_test(test_converges_to_the_closed_form),
        cmocka_unit_test(test_operator_is_symmetric_with_varying_conductivity),
        cmocka_unit_test(test_gradient_by_differences),
        cmocka_unit_test(test_gradient_by_initial_values),
        cmocka_unit_test(test_conductivity_is_recovered),
        cmocka_unit_test(test_search_closes_in),
        cmocka_unit_test(test_steps_satisfy_wolfe),
        cmocka_unit_test(test_rosenbrock),
        cmocka_unit_test(test_quadratic),
        cmocka_unit_test(test_bad_objectives),
        cmocka_unit_test(test_bad_shapes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
