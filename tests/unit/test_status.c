/* The table of status codes is part of the public interface: its values are fixed and unique, and
 * every status has a message. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "assay/reading.h"
#include "base/error.h"

typedef struct row {
    assay_status status;
    const char *name, *message;
} row;

#define STATUS_ROW(name, value, message) {name, #name, message},
static const row table[] = {ASSAY_STATUS_LIST(STATUS_ROW)};
enum { ROWS = sizeof table / sizeof *table };

static void test_codes_are_unique_and_never_positive(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        assert_true(table[i].status <= 0);
        for (size_t k = 0; k < i; k++) {
            assert_int_not_equal(table[i].status, table[k].status);
            assert_string_not_equal(table[i].message, table[k].message);
        }
    }
}

/* Released values: a renumbering breaks programs compiled against the older header. */
static void test_codes_are_pinned(void **state)
{
    (void)state;
    assert_int_equal(ASSAY_OK, 0);
    assert_int_equal(ASSAY_E_ARGUMENT, -1);
    assert_int_equal(ASSAY_E_MEMORY, -2);
    assert_int_equal(ASSAY_E_IO, -3);
    assert_int_equal(ASSAY_E_FULL, -4);
    assert_int_equal(ASSAY_E_NOT_FOUND, -5);
    assert_int_equal(ASSAY_E_PERMISSION, -6);
    assert_int_equal(ASSAY_E_UNSUPPORTED, -7);
    assert_int_equal(ASSAY_E_LIMIT, -8);
    assert_int_equal(ASSAY_E_STATE, -9);
    assert_int_equal(ASSAY_E_DATA, -10);
    assert_int_equal(ASSAY_E_FORMAT, -20);
    assert_int_equal(ASSAY_E_VERSION, -21);
    assert_int_equal(ASSAY_E_TRUNCATED, -22);
}

static void test_names_and_messages(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        assert_string_equal(assay_status_name(table[i].status), table[i].name);
        assert_string_equal(assay_status_message(table[i].status), table[i].message);
    }
    assert_string_equal(assay_status_name((assay_status)-999), "unknown status");
    assert_string_equal(assay_status_message((assay_status)7), "unknown status");
}

static void test_validity_texts_are_unique(void **state)
{
    (void)state;
    for (int i = ASSAY_VALID; i <= ASSAY_NOT_ENOUGH_DATA; i++) {
        assert_string_not_equal(assay_validity_text((assay_validity)i), "unknown");
        for (int k = ASSAY_VALID; k < i; k++)
            assert_string_not_equal(assay_validity_text((assay_validity)i),
                                    assay_validity_text((assay_validity)k));
    }
    assert_string_equal(assay_validity_text((assay_validity)99), "unknown");
}

static void test_fail_reports_one_printable_line(void **state)
{
    (void)state;
    assay_error error = {0};
    assert_int_equal(assay__fail(&error, ASSAY_E_FORMAT, "line %d of '%s'", 3, "a\nb\x1b[31m"),
                     ASSAY_E_FORMAT);
    assert_int_equal(error.status, ASSAY_E_FORMAT);
    assert_string_equal(error.message, "line 3 of 'a?b?[31m'");
    assert_int_equal(assay__fail(NULL, ASSAY_E_IO, "nobody listens"), ASSAY_E_IO);
}

static void test_long_messages_are_cut(void **state)
{
    (void)state;
    char name[2000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assay_error error;
    memset(&error, 0x7f, sizeof error);
    assay__fail(&error, ASSAY_E_IO, "%s", name);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    errno = ENOENT;
    assert_int_equal(assay__fail_errno(&error, "%s", name), ASSAY_E_NOT_FOUND);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
}

static void test_errno_becomes_a_status_of_its_own(void **state)
{
    (void)state;
    static const struct {
        int number;
        assay_status status;
    } cases[] = {
        {ENOSPC, ASSAY_E_FULL},       {EDQUOT, ASSAY_E_FULL},      {EACCES, ASSAY_E_PERMISSION},
        {EPERM, ASSAY_E_PERMISSION},  {EROFS, ASSAY_E_PERMISSION}, {ENOENT, ASSAY_E_NOT_FOUND},
        {ENOTDIR, ASSAY_E_NOT_FOUND}, {ENOMEM, ASSAY_E_MEMORY},    {EIO, ASSAY_E_IO},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_error error;
        errno = cases[i].number;
        assert_int_equal(assay__fail_errno(&error, "cannot open '%s'", "f"), cases[i].status);
        assert_int_equal(error.status, cases[i].status);
        assert_ptr_equal(strstr(error.message, "cannot open 'f': "), error.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes_are_unique_and_never_positive),
        cmocka_unit_test(test_codes_are_pinned),
        cmocka_unit_test(test_names_and_messages),
        cmocka_unit_test(test_validity_texts_are_unique),
        cmocka_unit_test(test_fail_reports_one_printable_line),
        cmocka_unit_test(test_long_messages_are_cut),
        cmocka_unit_test(test_errno_becomes_a_status_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
