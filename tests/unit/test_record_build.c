/* A record under construction: items stay within their limits, and the record survives its JSON
 * form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/build.h"
#include "tests/unit/record_same.h"

static void test_arrays_grow_also_after_a_caller_put_its_own(void **state)
{
    (void)state;
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    assay_record_lane lane = {"x", ASSAY_LANE_THREAD, 0, 0, 0, false, NULL, NULL, 0, 0, {0}};
    for (int i = 0; i < 40; i++) {
        lane.thread_id = i;
        assert_int_equal(assay_record_add_lane(record, &lane), ASSAY_OK);
    }
    assay_record_lane *own = assay_record_allocate(record, 40, sizeof *own);
    assert_non_null(own);
    memcpy(own, record->lanes, 40 * sizeof *own);
    char *neighbour = assay_record_allocate(record, 64, 1); /* right behind it in the arena */
    assert_non_null(neighbour);
    record->lanes = own; /* exactly full, though ours had room for more */
    for (int i = 40; i < 1000; i++) {
        lane.thread_id = i;
        assert_int_equal(assay_record_add_lane(record, &lane), ASSAY_OK);
    }
    for (int i = 0; i < 64; i++)
        assert_int_equal(neighbour[i], 0);
    assert_int_equal(record->lane_count, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(record->lanes[i].thread_id, i);
    record->lane_count = ASSAY_RECORD_MAX_ITEMS;
    assert_int_equal(assay_record_add_lane(record, &lane), ASSAY_E_LIMIT);
    assay_record_free(record);
}

static void test_facts_are_unique_and_bounded(void **state)
{
    (void)state;
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    assert_int_equal(assay__record_add_git(record, "branch", "a", ASSAY_VALID), ASSAY_OK);
    assert_int_equal(assay__record_add_git(record, "dirty", NULL, ASSAY_VALID), ASSAY_OK);
    assert_int_equal(assay__record_add_git(record, "branch", "b", ASSAY_UNSUPPORTED), ASSAY_OK);
    assert_int_equal(assay__record_add_git(record, "unavailable", "x", ASSAY_VALID),
                     ASSAY_E_ARGUMENT);
    assert_int_equal(record->git_count, 2);
    assert_string_equal(record->git[0].value, "b");
    assert_int_equal(record->git[0].validity, ASSAY_VALID);
    assert_int_equal(record->git[1].validity, ASSAY_NOT_MEASURED);
    char key[16];
    for (int i = 2; i < ASSAY_RECORD_MAX_FACTS; i++) {
        snprintf(key, sizeof key, "k%d", i);
        assert_int_equal(assay__record_add_git(record, key, NULL, ASSAY_UNSUPPORTED), ASSAY_OK);
    }
    assert_int_equal(assay__record_add_git(record, "more", "x", ASSAY_VALID), ASSAY_E_LIMIT);
    check_round_trip(record, 0);
    assay_record_free(record);
}

/* Whatever lay there before. */
static void test_items_begin_with_zero_in_reserve(void **state)
{
    (void)state;
    assay_record_operation operation;
    assay_record_metric metric;
    assay_record_subject subject;
    assay_record_comparison comparison;
    memset(&operation, 0xff, sizeof operation);
    memset(&metric, 0xff, sizeof metric);
    memset(&subject, 0xff, sizeof subject);
    memset(&comparison, 0xff, sizeof comparison);
    assay_record_operation_init(&operation);
    assay_record_metric_init(&metric);
    assay_record_subject_init(&subject);
    assay__record_comparison_init(&comparison);
    SAME_RESERVED(&operation, &operation);
    SAME_RESERVED(&subject, &subject);
    SAME_RESERVED(&metric, &metric);
    SAME_RESERVED(&comparison, &comparison);
}

static void test_parameters_are_unique_and_bounded(void **state)
{
    (void)state;
    assay_record *record = NULL;
    assay_record_subject subject;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    assay_record_subject_init(&subject);
    subject.name = "x";
    char key[16];
    for (int i = 0; i < ASSAY_RECORD_MAX_PARAMETERS; i++) {
        snprintf(key, sizeof key, "k%d", i);
        assert_int_equal(assay_record_add_parameter(record, &subject, key, "1"), ASSAY_OK);
    }
    assert_int_equal(assay_record_add_parameter(record, &subject, "k5", "2"), ASSAY_OK);
    assert_int_equal(assay_record_add_parameter(record, &subject, "more", "1"), ASSAY_E_LIMIT);
    assert_int_equal(assay_record_add_parameter(record, &subject, "unavailable", "1"),
                     ASSAY_E_ARGUMENT);
    assert_int_equal(subject.parameter_count, ASSAY_RECORD_MAX_PARAMETERS);
    assert_string_equal(subject.parameters[5].value, "2");
    assert_string_equal(subject.parameters[63].key, "k63");
    assert_int_equal(assay_record_add_subject(record, &subject), ASSAY_OK);
    check_round_trip(record, 0);
    assay_record_free(record);
}

static void test_texts_are_made_printable_and_bounded(void **state)
{
    (void)state;
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    assert_null(assay_record_text(record, NULL));
    assert_string_equal(assay_record_text(record, ""), "");
    assert_string_equal(assay_record_text(record, "a\nb\xFF"), "a?b?");
    size_t length = 1 << 20;
    char *huge = malloc(length + 1);
    assert_non_null(huge);
    memset(huge, 'x', length);
    huge[length] = '\0';
    record->name = assay_record_text(record, huge);
    free(huge);
    assert_int_equal(strlen(record->name), ASSAY_RECORD_MAX_TEXT);
    assert_string_equal(record->name + ASSAY_RECORD_MAX_TEXT - 4, "x...");
    check_round_trip(record, 0);
    assay_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays_grow_also_after_a_caller_put_its_own),
        cmocka_unit_test(test_facts_are_unique_and_bounded),
        cmocka_unit_test(test_items_begin_with_zero_in_reserve),
        cmocka_unit_test(test_parameters_are_unique_and_bounded),
        cmocka_unit_test(test_texts_are_made_printable_and_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
