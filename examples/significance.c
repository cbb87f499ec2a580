/* Is one function really faster? This program shows assay's verdict, and the classical tests and
 * intervals beside it.
 *
 *     cc significance.c $(pkg-config --cflags --libs assay) -lm -o significance
 *     ./significance
 *
 * Two ways to add up numbers take turns for 40 rounds. The verdict is enough by itself: it allows
 * for autocorrelation, and for a difference that is too small to matter. The tests are for people
 * who report p-values; they assume that the timings are independent. */
#include <assay/assay.h>
#include <assay/stats.h>

enum { COUNT = 8192, ROUNDS = 40 };

static double numbers[COUNT];
static volatile double sink;

static assay_status forwards(void *context, uint64_t iterations)
{
    (void)context;
    for (uint64_t i = 0; i < iterations; i++) {
        double sum = 0.0;
        for (int k = 0; k < COUNT; k++)
            sum += numbers[k];
        sink = sum;
    }
    return ASSAY_OK;
}

/* Two independent sums, so that no addition waits for the other sum. */
static assay_status in_halves(void *context, uint64_t iterations)
{
    (void)context;
    for (uint64_t i = 0; i < iterations; i++) {
        double low = 0.0, high = 0.0;
        for (int k = 0; k < COUNT / 2; k++) {
            low += numbers[k];
            high += numbers[k + COUNT / 2];
        }
        sink = low + high;
    }
    return ASSAY_OK;
}

static void show_test(const char *name, assay_status status, const assay_test *test)
{
    if (status == ASSAY_OK)
        printf("  %-28s %12.5g  p = %.3g%s\n", name, test->statistic, test->p_value,
               test->exact ? " (exact)" : "");
    else
        printf("  %-28s %s\n", name, assay_status_message(status));
}

static void show_tests(const double *a, const double *b, const double *differences, size_t count)
{
    assay_test test;
    printf("\nTwo samples:                      statistic\n");
    assay_status status = assay_stats_mann_whitney(a, count, b, count, &test);
    show_test("Mann-Whitney U", status, &test);
    status = assay_stats_welch_t(a, count, b, count, &test);
    show_test("Welch's t", status, &test);
    status = assay_stats_permutation(a, count, b, count, 2000, 1, &test);
    show_test("permutation of the means", status, &test);
    printf("Differences of the rounds:\n");
    status = assay_stats_signed_rank(differences, count, &test);
    show_test("Wilcoxon signed rank", status, &test);
    status = assay_stats_sign_test(differences, count, &test);
    show_test("sign test", status, &test);
    status = assay_stats_paired_t(differences, count, &test);
    show_test("paired t", status, &test);
}

static void show_intervals(const char *name, const double *seconds, size_t count)
{
    assay_interval mean, median;
    if (assay_stats_mean_interval(seconds, count, 0.95, &mean) != ASSAY_OK ||
        assay_stats_quantile_interval(seconds, count, 0.5, 0.95, &median) != ASSAY_OK ||
        mean.validity != ASSAY_VALID || median.validity != ASSAY_VALID)
        return;
    printf("  %-10s mean %6.3f (%6.3f to %6.3f), median %6.3f (%6.3f to %6.3f)\n", name,
           mean.estimate * 1e6, mean.low * 1e6, mean.high * 1e6, median.estimate * 1e6,
           median.low * 1e6, median.high * 1e6);
}

static void show(const assay_record *record)
{
    const assay_record_subject *a = &record->subjects[0], *b = &record->subjects[1];
    const assay_record_comparison *verdict = &record->comparisons[0];
    double differences[ROUNDS];
    const size_t count = a->sample_count < b->sample_count ? a->sample_count : b->sample_count;
    for (size_t i = 0; i < count; i++) /* `runs` is fixed, so the i-th samples are of one round */
        differences[i] = b->samples_seconds[i] - a->samples_seconds[i];

    printf("The verdict: %s is %s, ratio %.3f (95 %%: %.3f to %.3f)\n", b->name,
           assay_verdict_text(verdict->verdict), verdict->ratio.value, verdict->low.value,
           verdict->high.value);
    if (verdict->reason != NULL)
        printf("  %s\n", verdict->reason);
    printf("\nIn microseconds, with 95 %% intervals, %zu samples each:\n", count);
    show_intervals(a->name, a->samples_seconds, count);
    show_intervals(b->name, b->samples_seconds, count);
    show_tests(a->samples_seconds, b->samples_seconds, differences, count);
}

int main(void)
{
    for (int k = 0; k < COUNT; k++)
        numbers[k] = k % 13;
    assay_subject subjects[2] = {ASSAY_SUBJECT_INIT, ASSAY_SUBJECT_INIT};
    subjects[0].name = "forwards";
    subjects[0].run = forwards;
    subjects[1].name = "in halves";
    subjects[1].run = in_halves;
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.runs = ROUNDS;
    options.warmup = 5;
    assay_error error = {0};
    assay_record *record = NULL;
    assay_status status = assay_sampling_run(subjects, 2, &options, &error, &record);
    if (status == ASSAY_OK)
        status = assay_record_compare(record, NULL);
    if (status == ASSAY_OK)
        show(record);
    else
        fprintf(stderr, "%s: %s\n", assay_status_name(status),
                error.message[0] != '\0' ? error.message : assay_status_message(status));
    assay_record_free(record);
    return status == ASSAY_OK ? 0 : 1;
}
