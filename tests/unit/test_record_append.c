/* Records to which parts of other records are appended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "assay/record_build.h"
#include "record/append.h"

static assay_record *record_of(const char *first, const char *second)
{
    static const double seconds[] = {0.1, 0.2, 0.3};
    static const uint32_t rounds[] = {2, 3, 5};
    const char *const names[] = {first, second};
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    for (size_t i = 0; i < 2; i++) {
        assay_record_subject subject;
        assay_record_subject_init(&subject);
        subject.name = names[i];
        subject.samples_seconds = seconds;
        subject.sample_count = 3;
        subject.rounds = rounds;
        assert_int_equal(assay_record_add_subject(record, &subject), ASSAY_OK);
    }
    return record;
}

/* Samples of two subjects with the same round are a pair, so two samplings must not share one. */
static void test_rounds_of_two_samplings_stay_apart(void **state)
{
    (void)state;
    assay_record *whole = NULL, *one = record_of("a", "b"), *two = record_of("c", "d");
    assert_int_equal(assay_record_new(&whole), ASSAY_OK);
    assert_int_equal(assay__record_append(whole, one), ASSAY_OK);
    assert_int_equal(assay__record_append(whole, two), ASSAY_OK);
    assay_record_free(one);
    assay_record_free(two);
    assert_int_equal(whole->subject_count, 4);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(whole->subjects[0].rounds[i], whole->subjects[1].rounds[i]);
        assert_int_equal(whole->subjects[2].rounds[i], whole->subjects[3].rounds[i]);
        assert_true(whole->subjects[2].rounds[i] > whole->subjects[0].rounds[2]);
    }
    assert_int_equal(whole->subjects[3].rounds[2] - whole->subjects[3].rounds[0], 3);
    assay_record_free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds_of_two_samplings_stay_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
