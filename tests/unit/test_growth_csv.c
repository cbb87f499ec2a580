/* Tables of sizes and times: every accepted form gives the same numbers, and every error names its
 * line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/growth_csv.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static assay_status parse(const char *text, const char *size_column, const char *seconds_column,
                          assay_error *error, assay_growth_table *table)
{
    *error = (assay_error){0};
    char *copy = strdup(text);
    assert_non_null(copy);
    assay_status status = assay__growth_csv_parse(copy, strlen(copy), "data.csv", size_column,
                                                  seconds_column, error, table);
    free(copy);
    return status;
}

static void forms_of_one_table(void **state)
{
    (void)state;
    static const struct {
        const char *text, *size_column, *seconds_column;
    } forms[] = {
        {"n,seconds\n10,0.5\n2000,1.5\n", NULL, NULL},
        {"10,0.5\n2000,1.5", NULL, NULL},
        {"n,seconds\r\n10,0.5\r\n2000,1.5\r\n", NULL, NULL},
        {"# remark\r\rn,seconds\r10,0.5\r2000,1.5\r", NULL, NULL},
        {"\t10,0.5\r2000,1.5", NULL, NULL},
        {"\xef\xbb\xbfN , Seconds\n\n# remark\n 10 ,\t0.5 \n  # more\n2000,1.5\n", NULL, NULL},
        {"seconds,n\n0.5,10\n1.5,2000\n", NULL, NULL},
        {"\"n\",\"seconds\"\n\"10\",\"0.5\"\n2e3,1.5E0\n", NULL, NULL},
        {"n;seconds\n10;0,5\n2000;1,5\n", NULL, NULL},
        {"n\tseconds\n10\t0.5\n2000\t1.5\n", NULL, NULL},
        {"n seconds\n10  0.5\n2000 1.5\n", NULL, NULL},
        {"size,time\n+10,.5\n2000.,15e-1\n", NULL, NULL},
        {"who,n,note,seconds\nann,10,\"a, b\",0.5\nbob,2000,,1.5,more\n", NULL, NULL},
        {"who,size,ms\nann,10,0.5\nbob,2000,1.5\n", "size", "ms"},
        {"ann,10,0.5\nbob,2000,1.5\n", "2", "3"},
        {"10,0.5\n2000,1.5\n", "1", "2"},
        {"0.5,10\n1.5,2000\n", "2", "1"},
        {",,,,,,,,,10,0.5\n,,,,,,,,,2000,1.5\n", "10", "11"},
        {"\xef\xbb\xbfseconds,n\n0.5,10\n1.5,2000\n", NULL, NULL},
        {"seconds n\n0.5 \t 10\n1.5\t2000\n", NULL, NULL},
        {"who,n,seconds\n\"a \"\"b\"\", c\",10,0.5\n\"\"\"d\"\"\",2000,1.5\n", NULL, NULL},
        {"ms,\"the \"\"size\"\"\"\n0.5,10\n1.5,2000\n", "the \"size\"", "ms"},
    };
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        assay_error error;
        assay_growth_table table;
        if (parse(forms[i].text, forms[i].size_column, forms[i].seconds_column, &error, &table) !=
            ASSAY_OK)
            fail_msg("form %zu: %s", i, error.message);
        assert_int_equal(table.count, 2);
        assert_true(table.sizes[0] == 10 && table.seconds[0] == 0.5);
        assert_true(table.sizes[1] == 2000 && table.seconds[1] == 1.5);
        assay_growth_table_release(&table);
    }
}

static void mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } known[] = {
        {"n,seconds\n10,0.5\n20,abc\n", "line 3: seconds 'abc' is not a number"},
        {"n,seconds\r\n10,0.5\r\n20,abc\r\n", "line 3: seconds 'abc' is not a number"},
        {"n,seconds\r10,0.5\r20,abc\r", "line 3: seconds 'abc' is not a number"},
        {"n,seconds\n10,nan\n", "line 2: seconds 'nan' is not a finite number above 0"},
        {"n,seconds\n# remark\n0,1\n", "line 3: n '0' is not a finite number above 0"},
        {"10,-0.5\n", "line 1: seconds '-0.5' is not a finite number above 0"},
        {"10,1e999\n", "line 1: seconds '1e999' is not a finite number above 0"},
        {"10,0x10\n", "line 1: seconds '0x10' is not a number"},
        {"10,1 2\n", "line 1: seconds '1 2' is not a number"},
        {"10,1-2\n", "line 1: seconds '1-2' is not a number"},
        {"10,1e5e\n", "line 1: seconds '1e5e' is not a number"},
        {"10,oops\n20,1\n", "line 1: seconds 'oops' is not a number"},
        {"n,seconds\n10\n", "line 2: seconds is missing"},
        {"who\tn\tseconds\nann\t10\t0.5\n\t20\n", "line 3: seconds is missing"},
        {"n,seconds\n10,\"0.5\n20,1\n", "line 2: a quote is not closed or misplaced"},
        {"n,seconds,note\n10,0.5,\"a\nb\"\n20,abc,\n", "line 4: seconds 'abc' is not a number"},
        {"n,seconds\n10,\n", "line 2: seconds is missing"},
        {"n,seconds\n,1\n", "line 2: n is missing"},
        {"who,size,ms\nann,10,0.5\n", "line 1: no column 'n'"},
        {"seconds,size\n1,2\n", "same column"},
        {"10\n20\n", "line 1: 1 column; two are needed"},
        {"n,seconds\n10,1."
         "000000000000000000000000000000000000000000000000000000000000000000000000000000e5\n",
         "is not a number"},
    };
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        assay_error error;
        assay_growth_table table;
        assert_int_equal(parse(known[i].text, NULL, NULL, &error, &table), ASSAY_E_FORMAT);
        if (strstr(error.message, known[i].message) == NULL)
            fail_msg("'%s' does not say '%s'", error.message, known[i].message);
        assert_int_equal(table.count, 0);
        assert_null(table.sizes);
    }
}

static void columns_that_are_not_there(void **state)
{
    (void)state;
    assay_error error;
    assay_growth_table table;
    assert_int_equal(parse("n,seconds\n1,2\n", "size", NULL, &error, &table), ASSAY_E_FORMAT);
    assert_non_null(strstr(error.message, "no column 'size'"));
    assert_int_equal(parse("1,2\n", NULL, "3", &error, &table), ASSAY_E_FORMAT);
    assert_int_equal(parse("1,2\n", NULL, "0", &error, &table), ASSAY_E_FORMAT);
    assert_int_equal(parse("1,2\n", NULL, "2nd", &error, &table), ASSAY_E_FORMAT);
    assert_int_equal(parse("1,2\n", "1", "1", &error, &table), ASSAY_E_FORMAT);
}

static void bytes_that_are_no_text(void **state)
{
    (void)state;
    char bytes[] = "10,1\n20,2\0\n";
    assay_error error = {0};
    assay_growth_table table;
    assert_int_equal(
        assay__growth_csv_parse(bytes, sizeof bytes - 1, "data.csv", NULL, NULL, &error, &table),
        ASSAY_E_FORMAT);
    assert_string_equal(error.message, "'data.csv' is no text: it contains zero bytes");
    assert_null(table.sizes);
}

static void nothing_at_all(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "\n\n", "# only a remark", "n,seconds\n"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        assay_error error;
        assay_growth_table table;
        assert_int_equal(parse(texts[i], NULL, NULL, &error, &table), ASSAY_OK);
        assert_int_equal(table.count, 0);
        assay_growth_table_release(&table);
    }
}

static void many_rows(void **state)
{
    (void)state;
    enum { ROWS = 10000, ROW_BYTES = 32 };
    char *text = calloc(ROWS, ROW_BYTES), *at = text;
    assert_non_null(text);
    for (int i = 1; i <= ROWS; i++)
        at += snprintf(at, ROW_BYTES, "%d,%d.5\n", i, i);
    assay_error error;
    assay_growth_table table;
    assert_int_equal(parse(text, NULL, NULL, &error, &table), ASSAY_OK);
    assert_int_equal(table.count, ROWS);
    assert_true(table.sizes[ROWS - 1] == ROWS && table.seconds[ROWS - 1] == ROWS + 0.5);
    assay_growth_table_release(&table);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_of_one_table),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(columns_that_are_not_there),
        cmocka_unit_test(bytes_that_are_no_text),
        cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(many_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
