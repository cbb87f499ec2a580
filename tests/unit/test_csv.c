/* Delimited text: each text gives the expected rows at the expected lines, or is refused at the
 * expected line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/csv.h"

enum { CAPACITY = 3 };

/* The rows as "LINE:<field><field> ", "LINE:!" where one is refused. */
static void cut(const char *text, char separator, bool trims, bool comments, char *result)
{
    size_t count;
    char *fields[CAPACITY], *copy = strdup(text); /* exactly as long, for the address sanitizer */
    assert_non_null(copy);
    assay__csv csv;
    assay__csv_init(&csv, copy, strlen(copy), separator);
    csv.trims = trims;
    csv.comments = comments;
    bool good;
    *result = '\0';
    while ((good = assay__csv_row(&csv, CAPACITY, fields, &count)) && count > 0) {
        result += sprintf(result, "%zu:", csv.line);
        for (size_t i = 0; i < count && i < CAPACITY; i++)
            result += sprintf(result, "<%s>", fields[i]);
        if (count > CAPACITY)
            result += sprintf(result, "+%zu", count - CAPACITY);
        result += sprintf(result, " ");
    }
    if (!good)
        sprintf(result, "%zu:!", csv.line);
    free(copy);
}

typedef struct example {
    const char *text, *rows;
} example;

static void check(const example *examples, size_t count, char separator, bool trims, bool comments)
{
    for (size_t i = 0; i < count; i++) {
        char result[256];
        cut(examples[i].text, separator, trims, comments, result);
        assert_string_equal(result, examples[i].rows);
    }
}

#define CHECK(examples, separator, trims, comments)                                                \
    check(examples, sizeof(examples) / sizeof *(examples), separator, trims, comments)

static void test_rfc_4180(void **state)
{
    (void)state;
    static const example examples[] = {
        {"", ""},
        {"a", "1:<a> "},
        {"a,b\nc,d", "1:<a><b> 2:<c><d> "},
        {"a,b\r\nc,d\r\n", "1:<a><b> 2:<c><d> "},
        {"a,b\rc,d\r", "1:<a><b> 2:<c><d> "},
        {"\n\na\r\n\rb\n\n", "3:<a> 5:<b> "},
        {"\xef\xbb\xbf\"a\",b", "1:<a><b> "},
        {",", "1:<><> "},
        {"a,,b\n,\n", "1:<a><><b> 2:<><> "},
        {" a , b\n \n# c", "1:< a >< b> 2:< > 3:<# c> "},
        {"\"a,\"\"b\"\"\",\"\"\nc", "1:<a,\"b\"><> 2:<c> "},
        {"a,\"b\nc\"\nd", "1:<a><b\nc> 3:<d> "},
        {"a\"b,c", "1:<a\"b><c> "},
        {"a,b,c,d,e\nf", "1:<a><b><c>+2 2:<f> "},
        {"a\n\"b", "1:<a> 2:!"},
        {"a\n\"b\"c\n", "1:<a> 2:!"},
        {"\"a\" ,b", "1:!"},
        {"\"\"\"", "1:!"},
    };
    CHECK(examples, ',', false, false);
}

static void test_blanks_and_comments(void **state)
{
    (void)state;
    static const example commas[] = {
        {" a ,\tb\n\t\n # c\nd", "1:<a><b> 4:<d> "},
        {" \" a\" , \"b \"\t\nc", "1:< a><b > 2:<c> "},
        {"a b,c#", "1:<a b><c#> "},
        {"\"a\" b", "1:!"},
        {"# \"\na", "2:<a> "},
        {"\t", ""},
        {"#", ""},
    };
    CHECK(commas, ',', true, true);
    static const example blanks[] = {
        {"  a \t b\n\"c d\"  e \n", "1:<a><b> 2:<c d><e> "},
        {"a,b c;d", "1:<a,b><c;d> "},
        {"\"a\"b", "1:!"},
    };
    CHECK(blanks, ' ', true, true);
    static const example tabs[] = {
        {" a \tb\t\n\tc", "1:<a><b><> 2:<><c> "},
        {"\t\t\na", "2:<a> "},
    };
    CHECK(tabs, '\t', true, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rfc_4180),
        cmocka_unit_test(test_blanks_and_comments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
