/* The rule of docs/growth.md, computed again for series of every kind from the figures that the
 * candidates report: their probabilities, the tests that reject them, the choice, and the cases
 * without a conclusion. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "assay/growth.h"
#include "base/random.h"
#include "stats/distribution.h"
#include "stats/fit.h"

enum { NAMED = ASSAY_GROWTH_POWER - 1, POWER = NAMED, CLASSES = NAMED + 1, VALUES_MAX = 64 };
enum { DOUBTS = 8 };

typedef struct series {
    double n[VALUES_MAX], t[VALUES_MAX];
    size_t sizes, repeats;
} series;

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.12g is not within %g of %.12g", value, tolerance, expected);
}

static double noise_of(assay__random *random)
{
    return assay__stats_normal_quantile((double)(assay__random_below(random, 9999) + 1) / 10000);
}

/* t = overhead + n^exponent (log n)^logs, and from the middle on by a further power `bend`. */
static series draw(assay__random *random, size_t sizes, size_t repeats, double noise)
{
    static const double shapes[][3] = {{0, 0, 0}, {0, 1, 0},   {1, 0, 0}, {1, 1, 0},
                                       {2, 0, 0}, {0.5, 0, 0}, {3, 0, 0}, {1.5, 0, 0},
                                       {1, 0, 1}, {-0.5, 0, 0}};
    const double *shape = shapes[assay__random_below(random, sizeof shapes / sizeof *shapes)];
    double first = pow(10, (double)assay__random_below(random, 6)), step = sizes > 5 ? 1.8 : 3;
    double overhead = assay__random_below(random, 2) ? 0 : pow(first, shape[0]);
    series drawn = {.sizes = sizes, .repeats = repeats};
    for (size_t i = 0; i < sizes * repeats; i++) {
        double n = first * pow(step, (double)(i / repeats)), middle = first * pow(step, 3);
        double curve = pow(n, shape[0]) * pow(log(n) + 1e-9, shape[1]);
        drawn.n[i] = n;
        drawn.t[i] =
            (overhead + curve * pow(fmax(1, n / middle), shape[2])) * exp(noise * noise_of(random));
    }
    return drawn;
}

static assay_growth *fit(const series *drawn)
{
    assay_growth *growth = NULL;
    assert_int_equal(
        assay_growth_fit(drawn->n, drawn->t, drawn->sizes * drawn->repeats, NULL, &growth),
        ASSAY_OK);
    return growth;
}

/* The Bayesian information criterion, with one more value that deviates by 1 %; `1` has a bonus of
 * 12 to 1. */
static double score(const assay_growth *growth, int index)
{
    const assay_growth_candidate *it = &growth->candidates[index];
    double values = (double)(growth->value_count - growth->outlier_count);
    double squares = pow(it->relative_error, 2) * values;
    int parameters = (index == POWER ? 2 : 1) + (it->overhead_seconds > 0);
    if (!it->possible)
        return INFINITY;
    return (values + 1) * log(squares + 1e-4) + parameters * log(values) - (index == 0 ? 5 : 0);
}

static void check_weights(const assay_growth *growth)
{
    double best = INFINITY, sum = 0;
    for (int i = 0; i < NAMED; i++)
        best = fmin(best, score(growth, i));
    for (int i = 0; i < NAMED; i++)
        sum += exp((best - score(growth, i)) / 2);
    for (int i = 0; i < NAMED; i++)
        assert_near(growth->candidates[i].weight, exp((best - score(growth, i)) / 2) / sum, 1e-6);
}

/* ---- lack of fit ----------------------------------------------------------------------------- */

/* What a class leaves unexplained with every parameter it may have. */
typedef struct remainder {
    double squares, parameters;
} remainder_of;

static double log_shape(int index, double log_n)
{
    static const double powers[] = {0, 0, 1, 1, 2, 3};
    return powers[index] * log_n + (index == 1 || index == 3 ? log(log_n) : 0);
}

static remainder_of leave(const assay__fit_points *points, int index)
{
    double shape[VALUES_MAX];
    for (size_t i = 0; i < points->count && index != POWER; i++)
        shape[i] = log_shape(index, points->log_x[i]);
    assay__fit_curve plain =
        index == POWER ? assay__fit_power(points) : assay__fit_scale(points, shape);
    assay__fit_curve full = index == 0       ? plain
                            : index == POWER ? assay__fit_offset_power(points, shape)
                                             : assay__fit_offset_scale(points, shape);
    if (plain.squares <= full.squares)
        full = plain;
    return (remainder_of){full.squares, (index == POWER ? 2 : 1) + (full.offset > 0)};
}

/* The F test: against the repeats, or without them against the best of all curves. */
static void check_p_values(const series *drawn, const assay_growth *growth)
{
    double x[VALUES_MAX], y[VALUES_MAX] = {0}, weight[VALUES_MAX], within = 0;
    size_t values = drawn->sizes * drawn->repeats;
    for (size_t i = 0; i < values; i++) {
        x[i / drawn->repeats] = log(drawn->n[i]);
        y[i / drawn->repeats] += log(drawn->t[i]) / (double)drawn->repeats;
        weight[i / drawn->repeats] = (double)drawn->repeats;
    }
    for (size_t i = 0; i < values; i++)
        within += pow(log(drawn->t[i]) - y[i / drawn->repeats], 2);
    assay__fit_points points = {x, y, weight, drawn->sizes};
    int best = 0;
    for (int i = 1; i < CLASSES; i++)
        best = score(growth, i) < score(growth, best) ? i : best;
    remainder_of least = leave(&points, best);
    bool repeated = values - drawn->sizes >= 4;
    double freedom = repeated ? (double)(values - drawn->sizes) : (double)values - least.parameters;
    double variance = fmax((within + (repeated ? 0 : least.squares)) / freedom, 1e-6);
    for (int i = 0; i < CLASSES && freedom >= 1; i++) {
        if (!growth->candidates[i].possible)
            continue;
        remainder_of own = leave(&points, i);
        double more = repeated ? own.squares : fmax(0, own.squares - least.squares);
        double parameters = repeated ? (double)drawn->sizes - own.parameters
                                     : fmax(1, least.parameters - own.parameters);
        double p = 1 - assay__stats_f_cdf(more / parameters / variance, parameters, freedom);
        assert_int_equal(growth->candidates[i].p_value.validity, ASSAY_VALID);
        assert_near(growth->candidates[i].p_value.value, p, 1e-5);
        assert_int_equal(growth->candidates[i].rejected,
                         growth->candidates[i].p_value.value < 0.01);
    }
    assert_near(growth->noise.value, sqrt(variance), 1e-6 * sqrt(variance));
}

/* ---- the choice ------------------------------------------------------------------------------ */

static int best_of(const assay_growth *growth, bool rejected_too, int but)
{
    int best = -1;
    for (int i = 0; i < NAMED; i++)
        if (i != but && growth->candidates[i].possible &&
            (rejected_too || !growth->candidates[i].rejected) &&
            (best < 0 || growth->candidates[i].weight > growth->candidates[best].weight))
            best = i;
    return best;
}

static int choose(const assay_growth *growth)
{
    int best = best_of(growth, false, -1);
    if (best >= 0)
        return best;
    best = best_of(growth, true, -1);
    return score(growth, POWER) < score(growth, best) ? POWER : best;
}

/* Half the slope that log n has over these sizes, in log t over log n: what noise may not hide. */
static double half_slope_of_log(const assay_growth *growth)
{
    double first = log(growth->sizes[0].n), last = log(growth->sizes[growth->size_count - 1].n);
    return first > 1 ? (log(last) - log(first)) / (last - first) / 2 : 1 / last / 2;
}

static bool power_is_better(const assay_growth *growth, int chosen)
{
    static const double exponents[] = {0, NAN, 1, NAN, 2, 3};
    double apart = fabs(growth->exponent.value - exponents[chosen]);
    return !(apart < 0.1) && exp((score(growth, chosen) - score(growth, POWER)) / 2) > 3;
}

/* The words of the reason that is to be given; "" if it is conclusive. */
static const char *find_doubt(const assay_growth *growth, int chosen)
{
    const assay_growth_candidate *candidates = growth->candidates;
    int second = best_of(growth, false, chosen);
    if (growth->size_count < 5)
        return "different sizes; measure at least 5";
    if (candidates[chosen].rejected)
        return chosen == POWER ? "the growth changes within" : "comes nearest";
    if (chosen == 0 &&
        (growth->high.validity != ASSAY_VALID || growth->high.value > half_slope_of_log(growth)))
        return "no growth is seen";
    if (chosen != POWER && second >= 0 && candidates[second].weight > (chosen == 0 ? 0.1 : 0.02))
        return "fits about as well as";
    if (chosen != POWER && power_is_better(growth, chosen))
        return "a power of n fits better";
    bool repeated = growth->value_count - growth->outlier_count - growth->size_count >= 4;
    return !repeated && candidates[chosen].relative_error > 0.07 ? "the times deviate from" : "";
}

/* The one doubt that is not computed again here, see test_growth_rivals.c. */
static bool has_rival(const assay_growth *growth)
{
    return strstr(growth->reason, "without repeats the noise is not known") != NULL;
}

static void check_choice(const assay_growth *growth, int *doubts)
{
    static const char *const words[] = {
        "different",      "changes within",    "nearest", "no growth", "fits about as well as n",
        "a power of n f", "the times deviate", ""};
    int chosen = choose(growth);
    assert_int_equal(growth->growth_class, chosen + 1);
    const char *doubt = find_doubt(growth, chosen);
    if (has_rival(growth)) {
        assert_int_equal(growth->value_count, growth->size_count);
        assert_false(growth->conclusive);
        assert_true(doubt[0] == '\0' || strstr(doubt, "the times deviate") != NULL);
        return;
    }
    assert_int_equal(growth->conclusive, doubt[0] == '\0');
    if (strstr(growth->reason, doubt) == NULL || (growth->conclusive && growth->reason[0] != '\0'))
        fail_msg("'%s' is not '%s'", growth->reason, doubt);
    for (int i = 0; i < DOUBTS; i++)
        if (strstr(growth->reason, words[i]) != NULL) {
            doubts[i]++;
            break;
        }
    if (strcmp(doubt, "fits about as well as") == 0) {
        const char *name =
            assay_growth_class_name((assay_growth_class)(best_of(growth, false, chosen) + 1));
        assert_memory_equal(growth->reason, name, strlen(name));
    }
}

static void every_kind_of_series(void **state)
{
    (void)state;
    static const double noises[] = {0.003, 0.03, 0.1, 0.3};
    static const size_t sizes[] = {4, 5, 8, 9}, repeats[] = {1, 1, 2, 3};
    int doubts[DOUBTS] = {0};
    assay__random random;
    assay__random_init(&random, 5);
    for (int i = 0; i < 400; i++) {
        series drawn = draw(&random, sizes[i / 16 % 4], repeats[i / 4 % 4], noises[i % 4]);
        assay_growth *growth = fit(&drawn);
        check_weights(growth);
        if (growth->outlier_count == 0)
            check_p_values(&drawn, growth);
        check_choice(growth, doubts);
        assay_growth_free(growth);
    }
    for (int i = 0; i < DOUBTS; i++)
        if (doubts[i] < 2)
            fail_msg("doubt %d was hardly seen", i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_series),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
