/* Records whose samples are known, for the tests of comparisons. Include after cmocka.h. */
#ifndef ASSAY_TESTS_COMPARE_FIXTURE_H
#define ASSAY_TESTS_COMPARE_FIXTURE_H

#include <math.h>

#include "assay/compare.h"
#include "assay/record.h"
#include "assay/record_build.h"
#include "base/random.h"
#include "stats/distribution.h"
#include "stats/mean.h"

enum { MANY = 100 };

static inline void check_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.15g is not within %g of %.15g", value, tolerance, expected);
}

/* Normal quantiles, shuffled: noise without memory or trend whose mean is exactly 0. */
static inline void fill_noise(double *noise, uint64_t seed)
{
    assay__random random;
    assay__random_init(&random, seed);
    for (size_t i = 0; i < MANY; i++)
        noise[i] = assay__stats_normal_quantile(((double)i + 0.5) / MANY);
    for (size_t i = MANY - 1; i > 0; i--) {
        size_t other = (size_t)assay__random_below(&random, i + 1);
        double kept = noise[i];
        noise[i] = noise[other];
        noise[other] = kept;
    }
}

static inline assay_record *empty_record(void)
{
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    return record;
}

/* A subject of `count` samples around `seconds` with a relative standard deviation. */
static inline assay_record_subject *add(assay_record *record, const char *name, size_t count,
                                        double seconds, double deviation)
{
    assay_record_subject subject;
    assay_record_subject_init(&subject);
    double noise[MANY], *samples = assay_record_allocate(record, count, sizeof *samples);
    assert_non_null(samples);
    fill_noise(noise, record->subject_count);
    for (size_t i = 0; i < count; i++)
        samples[i] = seconds * exp(deviation * noise[i]);
    subject.name = assay_record_text(record, name);
    subject.samples_seconds = samples;
    subject.sample_count = count;
    assert_int_equal(assay_record_add_subject(record, &subject), ASSAY_OK);
    return &record->subjects[record->subject_count - 1];
}

static inline void interleave(assay_record *record)
{
    uint32_t *rounds = assay_record_allocate(record, MANY, sizeof *rounds);
    assert_non_null(rounds);
    for (uint32_t i = 0; i < MANY; i++)
        rounds[i] = 2 * i;
    for (size_t i = 0; i < record->subject_count; i++)
        record->subjects[i].rounds = rounds;
}

static inline const assay_record_comparison *compare(assay_record *record, double margin,
                                                     bool all_pairs)
{
    assay_compare_options options = ASSAY_COMPARE_OPTIONS_INIT;
    options.margin = margin;
    options.no_margin = margin == 0;
    options.all_pairs = all_pairs;
    assert_int_equal(assay_record_compare(record, &options), ASSAY_OK);
    return record->comparisons;
}

/* Compare two runs, which are freed. Returns the comparisons of the result. */
static inline const assay_record_comparison *compare_runs(assay_record *before, assay_record *after,
                                                          assay_record **result)
{
    const assay_record *records[] = {before, after};
    const assay_compare_side sides[] = {{sizeof *sides, "before", &records[0], 1},
                                        {sizeof *sides, "after", &records[1], 1}};
    assert_int_equal(assay_records_compare(sides, 2, NULL, NULL, result), ASSAY_OK);
    assay_record_free(before);
    assay_record_free(after);
    return (*result)->comparisons;
}

/* A clear difference, with the candidate's first sample and count replaced. */
static inline assay_record *with_sample(double seconds, size_t count)
{
    assay_record *record = empty_record();
    add(record, "a", MANY, 1e-3, 0.02);
    add(record, "b", MANY, 2e-3, 0.02);
    ((double *)record->subjects[1].samples_seconds)[0] = seconds;
    record->subjects[1].sample_count = count;
    return record;
}

#endif
