/* How much of its time does sampling spend in samples? The rest goes into deciding whether there
 * are enough samples. The subject takes a microsecond, so its samples are as short as possible, and
 * no precision ends the run. Bar: 0.85, in the median of nine runs. */
#include <stdio.h>
#include <stdlib.h>

#include <assay/assay.h>

enum { RUNS = 9, STEPS = 500 };

static const double seconds = 0.5;

static assay_status chain(void *context, uint64_t iterations)
{
    double *state = context, x = *state;
    for (uint64_t i = 0; i < iterations * STEPS; i++) {
        x = x * 0.999 + 0.001;
        __asm__ volatile("" : "+x"(x));
    }
    *state = x;
    return ASSAY_OK;
}

/* The share of the time that was spent in samples; negative after a failure. Samples that were left
 * out took as long as the others. */
static double measure_share(void)
{
    double state = 1;
    assay_subject subject = ASSAY_SUBJECT_INIT;
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    assay_record *record = NULL;
    subject.name = "chain";
    subject.context = &state;
    subject.run = chain;
    options.budget_seconds = seconds;
    options.max_rounds = ASSAY_SAMPLING_MAX_ROUNDS;
    options.fixed_rounds = true;
    double start = assay_clock_seconds(assay_clock_default());
    if (assay_sampling_run(&subject, 1, &options, NULL, &record) != ASSAY_OK)
        return -1;
    double elapsed = assay_clock_seconds(assay_clock_default()) - start, inside = 0;
    const assay_record_subject *taken = &record->subjects[0];
    for (size_t i = 0; i < taken->sample_count; i++)
        inside += taken->samples_seconds[i];
    size_t all = taken->sample_count + taken->warmup_samples + taken->rejected_samples;
    inside *= (double)taken->iterations * (double)all / (double)taken->sample_count;
    fprintf(stderr, "%zu samples, %.3f of %.3f s\n", all, inside, elapsed);
    assay_record_free(record);
    return inside / elapsed;
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int main(void)
{
    double shares[RUNS];
    for (size_t i = 0; i < RUNS; i++)
        if ((shares[i] = measure_share()) < 0)
            return 1;
    qsort(shares, RUNS, sizeof *shares, ascending);
    double median = shares[RUNS / 2];
    printf("{\"name\": \"share of sampling's time that is spent in samples\", \"value\": %.3f, "
           "\"unit\": \"\", \"bar\": 0.85, \"ok\": %s}\n",
           median, median >= 0.85 ? "true" : "false");
    return 0;
}
