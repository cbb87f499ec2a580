/* Which of two functions is faster? They take turns until the answer is clear.
 *
 *     cc benchmark.c $(pkg-config --cflags --libs assay) -lm -o benchmark && ./benchmark */
#include <math.h>
#include <stdio.h>

#include <assay/assay.h>

enum { COUNT = 4096 };
static float numbers[COUNT];
static volatile float sink;

/* The norm of a vector, with one addition after the other. */
static assay_status naive(void *context, uint64_t iterations)
{
    (void)context;
    for (uint64_t i = 0; i < iterations; i++) {
        float sum = 0;
        for (int k = 0; k < COUNT; k++)
            sum += numbers[k] * numbers[k];
        sink = sqrtf(sum);
    }
    return ASSAY_OK;
}

/* The same with four independent sums, so that no addition waits for another sum. */
static assay_status unrolled(void *context, uint64_t iterations)
{
    (void)context;
    for (uint64_t i = 0; i < iterations; i++) {
        float sums[4] = {0};
        for (int k = 0; k < COUNT; k += 4)
            for (int lane = 0; lane < 4; lane++)
                sums[lane] += numbers[k + lane] * numbers[k + lane];
        sink = sqrtf(sums[0] + sums[1] + sums[2] + sums[3]);
    }
    return ASSAY_OK;
}

int main(void)
{
    for (int k = 0; k < COUNT; k++)
        numbers[k] = (float)(k % 97) / 97;

    assay_subject subjects[2] = {ASSAY_SUBJECT_INIT, ASSAY_SUBJECT_INIT};
    subjects[0].name = "naive";
    subjects[0].run = naive;
    subjects[1].name = "unrolled";
    subjects[1].run = unrolled;
    assay_record *record = NULL;
    assay_error error;
    if (assay_sampling_run(subjects, 2, NULL, &error, &record) != ASSAY_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    int failed = assay_record_compare(record, NULL) != ASSAY_OK ||
                 assay_report_print(record, "bench", stdout, &error) != ASSAY_OK;
    assay_record_free(record);
    return failed;
}
