/* Benchmark results with every case that an exporter can meet: a plain subject, subjects with the
 * same name, names that need quoting, a single sample, samples that are no valid times, and a
 * command that always failed. */
#ifndef ASSAY_TESTS_EXPORT_SAMPLE_H
#define ASSAY_TESTS_EXPORT_SAMPLE_H

#include <math.h>

#include <cmocka.h>

#include "assay/record.h"
#include "record/build.h"

static inline void add_sample_subject(assay_record *record, const char *name, const double *seconds,
                                      size_t count, const char *const *command, size_t words,
                                      const char *size)
{
    assay_record_subject subject;
    assay_record_subject_init(&subject);
    subject.name = name;
    subject.source = "assay";
    subject.samples_seconds = seconds;
    subject.sample_count = count;
    subject.command = command;
    subject.command_count = words;
    subject.iterations = 10;
    if (size != NULL)
        assert_int_equal(assay_record_add_parameter(record, &subject, "size", size), ASSAY_OK);
    assert_int_equal(assay_record_add_subject(record, &subject), ASSAY_OK);
}

/* Figures as the record has them, so that documents do not depend on how they are computed. */
static inline void set_figures(assay_record_subject *subject, double mean)
{
    subject->mean_seconds = assay_reading_of(mean);
    subject->low_seconds = assay_reading_of(mean * 0.75);
    subject->high_seconds = assay_reading_of(mean * 1.5);
    subject->median_seconds = assay_reading_of(mean * 0.875);
    subject->std_seconds = assay_reading_of(mean * 0.25);
    subject->min_seconds = assay_reading_of(mean * 0.5);
    subject->max_seconds = assay_reading_of(mean * 2.0);
}

static inline assay_record *export_sample(void)
{
    static const double fast[] = {0.001, 0.0011, 0.0012, 0.0013};
    static const double slow[] = {0.002, 0.1 / 3, 0.0024, 1e-9};
    static const double mixed[] = {0.5, NAN, -1.0, INFINITY, 0.0};
    static const uint32_t rounds[] = {0, 1, 3, 4};
    static const char *const command[] = {"sort", "--key=a b", "it's.txt"};
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    record->kind = "bench";
    record->name = "nightly";
    record->created = "2026-11-15T04:11:49Z";
    record->assay_version = "0.1.0";
    record->clock.source = "tsc";
    record->clock.frequency_hz = assay_reading_of(2999998000.0);
    assert_int_equal(assay_record_add_machine(record, "hostname", "box", ASSAY_VALID), ASSAY_OK);
    assert_int_equal(assay_record_add_machine(record, "cores", "8", ASSAY_VALID), ASSAY_OK);
    assert_int_equal(assay_record_add_machine(record, "governor", "powersave", ASSAY_VALID),
                     ASSAY_OK);
    assert_int_equal(
        assay_record_add_machine(record, "load_average", "0.52 1.00 12.5", ASSAY_VALID), ASSAY_OK);
    add_sample_subject(record, "plain", fast, 4, NULL, 0, NULL);
    record->subjects[0].rounds = rounds;
    set_figures(&record->subjects[0], 0.001);
    record->subjects[0].user_seconds = assay_reading_of(0.000375);
    record->subjects[0].sys_seconds = assay_reading_of(0.000125);
    record->subjects[0].peak_rss_bytes = assay_reading_of(4096);
    record->subjects[0].stopped = "precision";
    add_sample_subject(record, "sort, \"it's\" | `x`", slow, 4, command, 3, "4");
    record->subjects[1].rounds = rounds;
    set_figures(&record->subjects[1], 0.25);
    add_sample_subject(record, "sort, \"it's\" | `x`", fast, 1, command, 3, "8");
    add_sample_subject(record, "plain", fast + 1, 3, NULL, 0, NULL);
    add_sample_subject(record, "mixed", mixed, 5, NULL, 0, NULL);
    add_sample_subject(record, "always failed", NULL, 0, command, 1, NULL);
    set_figures(&record->subjects[3], 0.002);
    set_figures(&record->subjects[4], 0.5);
    record->subjects[5].failed_runs = 3;
    assay_record_comparison comparison;
    assay__record_comparison_init(&comparison);
    comparison.baseline = "plain";
    comparison.candidate_origin = "new|.json";
    comparison.candidate = "sort, \"it's\" | `x`";
    comparison.ratio = assay_reading_of(1.75);
    comparison.low = assay_reading_of(1.5);
    comparison.high = assay_reading_of(2.0);
    comparison.verdict = ASSAY_VERDICT_SLOWER;
    assert_int_equal(assay__record_add_comparison(record, &comparison), ASSAY_OK);
    return record;
}

#endif
