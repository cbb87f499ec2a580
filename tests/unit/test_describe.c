/* A record that describes itself: where, with what, by which clock and when it was made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "assay/record.h"
#include "assay/record_build.h"

static void test_everything_is_said(void **state)
{
    (void)state;
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    assert_int_equal(assay_record_describe(record), ASSAY_OK);
    assert_true(record->machine_count > 0 && record->build_count > 0 && record->git_count > 0);
    assert_non_null(record->clock.source);
    assert_int_equal(record->clock.frequency_hz.validity, ASSAY_VALID);
    assert_int_equal(record->clock.cost_ns.validity, ASSAY_VALID);
    assert_non_null(record->created);
    assert_int_equal(strlen(record->created), strlen("2026-11-15T10:11:12Z"));
    assay_record_free(record);
}

static void test_what_is_known_is_kept(void **state)
{
    (void)state;
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    record->created = assay_record_text(record, "2001-02-03T04:05:06Z");
    record->clock.source = assay_record_text(record, "injected");
    assert_int_equal(assay_record_describe(record), ASSAY_OK);
    assert_string_equal(record->created, "2001-02-03T04:05:06Z");
    assert_string_equal(record->clock.source, "injected");
    assert_int_equal(record->clock.frequency_hz.validity, ASSAY_NOT_MEASURED);
    assay_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything_is_said),
        cmocka_unit_test(test_what_is_known_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
