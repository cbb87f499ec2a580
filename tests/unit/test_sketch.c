/* Quantiles of known distributions through the whole path: durations go into a monitor, and the
 * quantiles of its record are compared with the exact quantiles of the same numbers. */
#include "tests/unit/monitor_fixture.h"

#include "snapshot/merge.h"
#include "stats/moments.h"
#include "stats/sketch.h"

enum { COUNT = 200000 };

static uint64_t seed = 20261115;

/* xorshift64* (Vigna 2016); uniform in (0, 1). */
static double uniform(void)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return ((double)((seed * 0x2545F4914F6CDD1Du) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

static double draw_uniform(void)
{
    return 1000 + 1e6 * uniform();
}

static double draw_lognormal(void)
{
    return exp(12 + 1.5 * normal());
}

static double draw_bimodal(void)
{
    return uniform() < 0.7 ? 5000 + 50 * normal() : 4e6 + 1e4 * normal();
}

static double draw_constant(void)
{
    return 123457;
}

static int ascending(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void check_quantile(const uint64_t *sorted, double q, assay_reading reading,
                           const char *what)
{
    double exact = (double)sorted[(size_t)ceil(q * COUNT) - 1] * 1e-9;
    assert_int_equal(reading.validity, ASSAY_VALID);
    if (fabs(reading.value / exact - 1) > 0.01)
        fail_msg("%s: q%g is %g, exactly %g", what, q, reading.value, exact);
}

static void check_distribution(double (*draw)(void), const char *what)
{
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.private_journal = true;
    assay_clock *clock = hand_clock();
    options.clock = clock;
    assay_monitor *monitor = open_monitor(&options);
    uint64_t *durations = malloc(COUNT * sizeof *durations);
    assert_non_null(durations);
    double sum = 0, square_sum = 0;
    for (size_t i = 0; i < COUNT; i++) {
        durations[i] = (uint64_t)fmax(1, draw());
        sum += (double)durations[i];
        assay_monitor_add(monitor, "op", durations[i]);
    }
    double mean = sum / COUNT;
    for (size_t i = 0; i < COUNT; i++)
        square_sum += ((double)durations[i] - mean) * ((double)durations[i] - mean);
    qsort(durations, COUNT, sizeof *durations, ascending);
    assay_record *record = record_of(monitor);
    const assay_record_operation *op = operation_of(record, "op");
    check_quantile(durations, 0.5, op->p50_seconds, what);
    check_quantile(durations, 0.95, op->p95_seconds, what);
    check_quantile(durations, 0.99, op->p99_seconds, what);
    check_quantile(durations, 0.999, op->p999_seconds, what);
    assert_true(fabs(op->mean_seconds.value / (mean * 1e-9) - 1) < 1e-9);
    double deviation = sqrt(square_sum / (COUNT - 1)) * 1e-9;
    assert_true(fabs(op->std_seconds.value - deviation) <= 1e-7 * deviation);
    free(durations);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assay_clock_free(clock);
}

static void test_quantiles_are_within_one_percent(void **state)
{
    (void)state;
    check_distribution(draw_uniform, "uniform");
    check_distribution(draw_lognormal, "log-normal");
    check_distribution(draw_bimodal, "bimodal");
    check_distribution(draw_constant, "constant");
}

/* Every bucket's middle is within 1/128 of whatever falls into it, over the whole range. */
static void test_buckets_are_narrow_everywhere(void **state)
{
    (void)state;
    for (double exponent = 0; exponent < 62.9; exponent += 0.0137) {
        uint64_t value = (uint64_t)exp2(exponent);
        double middle = assay__sketch_middle(assay__sketch_place_of(value));
        assert_true(fabs(middle / (double)value - 1) <= 1.0 / 128 + 1e-12);
    }
    assert_true(assay__sketch_middle(assay__sketch_place_of(0)) == 1.0);
    for (uint64_t value = 1; value < 128; value++)
        assert_true(assay__sketch_middle(assay__sketch_place_of(value)) == (double)value);
}

/* The inlined span code computes the place by itself; this is the same formula on the same bits. */
static void test_places_ascend_with_the_value(void **state)
{
    (void)state;
    double previous = 0;
    for (uint32_t exponent = 0; exponent < 63; exponent++)
        for (uint32_t bucket = 0; bucket < ASSAY__SKETCH_BUCKETS; bucket++) {
            assay__sketch_place place = {exponent, bucket};
            double middle = assay__sketch_middle(place);
            assert_true(middle > previous || exponent < 6);
            previous = middle;
        }
}

static void test_moments_merge_to_the_whole(void **state)
{
    (void)state;
    assay__moments whole = {0}, merged = {0};
    for (int group = 0; group < 5; group++) {
        double sum = 0, squares = 0;
        for (int i = 0; i < 100; i++) {
            double value = 1e6 + group * 10 + i % 7;
            sum += value - 1e6;
            squares += (value - 1e6) * (value - 1e6);
            assay__moments_merge(&whole, (assay__moments){.count = 1, .mean = value});
        }
        assay__moments_merge(&merged, assay__moments_from_shifted(100, 1e6, sum, squares));
    }
    assert_int_equal(merged.count, 500);
    assert_true(fabs(merged.mean / whole.mean - 1) < 1e-14);
    assert_true(fabs(assay__moments_deviation(merged) / assay__moments_deviation(whole) - 1) <
                1e-9);
    assert_true(assay__moments_deviation((assay__moments){.count = 1}) == 0);
}

/* The ceil(q n)-th smallest. */
static void test_quantiles_of_few_steps(void **state)
{
    (void)state;
    static const assay_record_bucket steps[] = {{10, 0}, {20, 1}, {30, 1}, {40, 1}};
    assert_true(assay__bucket_quantile(steps, 4, 0) == 20);
    assert_true(assay__bucket_quantile(steps, 4, 0.3) == 20);
    assert_true(assay__bucket_quantile(steps, 4, 0.5) == 30);
    assert_true(assay__bucket_quantile(steps, 4, 0.6) == 30);
    assert_true(assay__bucket_quantile(steps, 4, 0.7) == 40);
    assert_true(assay__bucket_quantile(steps, 4, 1) == 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantiles_are_within_one_percent),
        cmocka_unit_test(test_quantiles_of_few_steps),
        cmocka_unit_test(test_buckets_are_narrow_everywhere),
        cmocka_unit_test(test_places_ascend_with_the_value),
        cmocka_unit_test(test_moments_merge_to_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
