/* Names from outside: the characters that may reach a terminal, a JSON file or a table cell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "record/fact.h"
#include "tests/unit/comma_locale.h"

static void check_copy(const char *source, size_t capacity, const char *expected)
{
    char target[300];
    size_t length = assay__text_copy_name(target, capacity, source, strlen(source));
    assert_string_equal(target, expected);
    assert_int_equal(length, strlen(expected));
}

static void test_plain_names_pass(void **state)
{
    (void)state;
    check_copy("forward", 256, "forward");
    check_copy("größe λ ✓ 𝛼", 256, "größe λ ✓ 𝛼");
}

static void test_controls_and_bad_utf8_are_replaced(void **state)
{
    (void)state;
    check_copy("a\tb\nc\x7f", 256, "a?b?c?");
    check_copy("\x1b[31mred", 256, "?[31mred");
    check_copy("c1 \xC2\x9B here", 256, "c1 ? here");
    check_copy("overlong \xC0\xAF", 256, "overlong ??");
    check_copy("surrogate \xED\xA0\x80", 256, "surrogate ???");
    check_copy("cut \xE2\x82", 256, "cut ??");
}

/* By code point: one that turns or hides what follows, then neighbours that are letters. */
static void test_turning_and_invisible_characters_are_replaced(void **state)
{
    (void)state;
    check_copy("exe.\u202Etxt", 256, "exe.?txt");
    check_copy("\u202A\u202D\u2066\u2069\u200E\u200F\u061C", 256, "???????");
    check_copy("a\u200Bb\u2060c\uFEFFd\u00ADe\U000E0041f", 256, "a?b?c?d?e?f");
    check_copy("line\u2028paragraph\u2029", 256, "line?paragraph?");
    check_copy("\u2027\u202F\u2070\u061B\u061D می\u200Cخواهم 👩\u200D🔬", 256,
               "\u2027\u202F\u2070\u061B\u061D می\u200Cخواهم 👩\u200D🔬");
    char text[] = "x\u202Ey";
    assay__text_make_printable(text);
    assert_string_equal(text, "x?y");
}

static void test_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t bytes;
    } good[] = {{"1", 1},          {"65536", 65536},        {"512K", 512 << 10},
                {"64M", 64 << 20}, {"2G", (size_t)2 << 30}, {"3MiB", 3 << 20},
                {"7B", 7}};
    static const char *const bad[] = {"",
                                      "0",
                                      "-1",
                                      "1.5G",
                                      "G",
                                      "2g",
                                      "2 G",
                                      "2GG",
                                      "1KB2",
                                      "99999999T",
                                      "99999999999999999999"};
    size_t bytes;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(assay__text_bytes(good[i].text, &bytes));
        assert_int_equal(bytes, good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(assay__text_bytes(bad[i], &bytes));
}

static void test_long_names_are_cut_at_a_character(void **state)
{
    (void)state;
    check_copy("abcdefghij", 11, "abcdefghij");
    check_copy("abcdefghij", 10, "abcdef...");
    check_copy("ééééé", 9, "éé...");
    char *huge = malloc(1 << 20);
    assert_non_null(huge);
    memset(huge, 'x', 1 << 20);
    char target[ASSAY__NAME_MAX + 1];
    assert_int_equal(assay__text_copy_name(target, sizeof target, huge, 1 << 20), ASSAY__NAME_MAX);
    assert_string_equal(target + ASSAY__NAME_MAX - 4, "x...");
    free(huge);
}

static void test_empty_names_are_named(void **state)
{
    (void)state;
    check_copy("", 256, "(unnamed)");
    check_copy("", 5, "(...");
}

static void test_columns(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t columns, fitting; /* bytes that fit into three columns */
    } cases[] = {{"", 0, 0},           {"abcd", 4, 3},         {"größe", 5, 4},
                 {"名前", 4, 3},       {"a名前", 5, 4},        {"한글 x", 6, 3},
                 {"e\xCC\x81x", 2, 4}, {"👍!", 3, 5},           {"ＡＢ", 4, 3},
                 {"𝛼…µ", 3, 9},        {"\xFF\xE5\x90", 3, 3}, {"⚠\xEF\xB8\x8F", 1, 6}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(assay__text_columns(cases[i].text), cases[i].columns);
        assert_int_equal(assay__text_fitting(cases[i].text, 3), cases[i].fitting);
    }
}

static void check_lines(const char *text, size_t columns, const char *expected)
{
    char lines[300] = "";
    for (const char *rest; *text != '\0'; text = rest) {
        size_t bytes = assay__text_line(text, columns, &rest);
        assert_true(rest > text);
        strncat(lines, text, bytes);
        strcat(lines, "|");
    }
    assert_string_equal(lines, expected);
}

static void test_lines_end_between_words(void **state)
{
    (void)state;
    check_lines("", 10, "");
    check_lines("one", 10, "one|");
    check_lines("one two", 7, "one two|");
    check_lines("one two", 6, "one|two|");
    check_lines("a word_too_long b", 4, "a|word_too_long|b|");
    check_lines("ü λ ü λ", 3, "ü λ|ü λ|");
    check_lines("名前 名前 x", 6, "名前|名前 x|");
    check_lines("≥ λ ≥ λ", 3, "≥|λ|≥|λ|"); /* ">= λ" has four columns in ASCII */
    check_lines("1 … 2", 7, "1 … 2|");
    check_lines("1 … 2", 6, "1 …|2|");
    check_lines("\xFF \xFF", 3, "\xFF \xFF|"); /* no UTF-8: one column for each byte */
    check_lines("the 95 % of 1 %", 8, "the 95 %|of 1 %|");
    check_lines("the 95 % of 1 %", 6, "the|95 %|of 1 %|");
    check_lines("% %", 2, "% %|");
    check_lines("in 1 ± 5 % of all", 8, "in|1 ± 5 %|of all|");
    check_lines("± ± a", 1, "± ± a|");
    check_lines("blanks   between  ", 9, "blanks|between|");
    check_lines("  ", 9, "|");
    check_lines("risk of 1 %: up", 9, "risk of|1 %: up|");
    check_lines("1 %, 2 %", 5, "1 %,|2 %|");
    check_lines("beyond 1 ± 1 %; same", 10, "beyond|1 ± 1 %;|same|");
    check_lines("± 1 ±", 4, "± 1|±|");
    check_lines("% of 3", 4, "% of|3|");
    check_lines(" %", 4, " %|");
}

static void test_moments_are_written_in_utc(void **state)
{
    (void)state;
    char text[ASSAY__UTC_BYTES];
    assert_string_equal(assay__text_utc(0, text), "1970-01-01T00:00:00Z");
    assert_string_equal(assay__text_utc(1763179909, text), "2025-11-15T04:11:49Z");
    assert_string_equal(assay__text_utc(UINT64_MAX / 1000000000u, text), "2554-07-21T23:34:33Z");
    assert_string_equal(assay__text_utc(INT64_MAX, text), "");
}

/* A record made in a host program that writes 1,5 keeps its numbers as numbers. */
static void test_numbers_have_a_decimal_point_in_every_locale(void **state)
{
    (void)state;
    comma_locale_folder folder;
    bool found = comma_locale_begin(&folder);
    char *end = NULL;
    double number = assay__text_number("2.5e3 rest", &end), fact = 0;
    assay_record_fact setting = {.key = "rate", .value = "0.25"};
    bool is_number = assay__fact_number(&setting, &fact);
    comma_locale_end(&folder);
    if (!found)
        skip();
    assert_true(number == 2500);
    assert_string_equal(end, " rest");
    assert_true(is_number);
    assert_true(fact == 0.25);
}

static void test_equal_texts(void **state)
{
    (void)state;
    assert_true(assay__text_same(NULL, NULL) && assay__text_same("a", "a"));
    assert_false(assay__text_same(NULL, "") || assay__text_same("", NULL));
    assert_true(assay__text_same_option("num-nodes", "num_nodes=5", 9));
    assert_true(assay__text_same_option("num_nodes", "num-nodes", 9));
    assert_false(assay__text_same_option("num-nodes", "num-node", 8));
    assert_false(assay__text_same_option("num-nodes", "num.nodes", 9));
    assert_true(assay__text_is_number("0") && assay__text_is_number("999999999999999999"));
    assert_false(assay__text_is_number("") || assay__text_is_number("1000000000000000000"));
    assert_false(assay__text_is_number("-1") || assay__text_is_number("1 "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_plain_names_pass),
        cmocka_unit_test(test_controls_and_bad_utf8_are_replaced),
        cmocka_unit_test(test_turning_and_invisible_characters_are_replaced),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_equal_texts),
        cmocka_unit_test(test_long_names_are_cut_at_a_character),
        cmocka_unit_test(test_empty_names_are_named),
        cmocka_unit_test(test_lines_end_between_words),
        cmocka_unit_test(test_moments_are_written_in_utc),
        cmocka_unit_test(test_numbers_have_a_decimal_point_in_every_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
