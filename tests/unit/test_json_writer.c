/* The JSON writer: valid output from any input, numbers that read back, failures that stick. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <float.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>

#include "base/json_writer.h"
#include "tests/unit/comma_locale.h"

typedef struct target {
    char *text;
    size_t length;
    FILE *stream;
    assay__json json;
} target;

static void begin(target *to, unsigned flags)
{
    to->text = NULL;
    to->stream = open_memstream(&to->text, &to->length);
    assert_non_null(to->stream);
    assay__json_init(&to->json, to->stream, flags);
}

static void release(target *to)
{
    fclose(to->stream);
    free(to->text);
}

static void expect(target *to, const char *expected)
{
    assert_int_equal(assay__json_finish(&to->json), ASSAY_OK);
    fflush(to->stream);
    assert_string_equal(to->text, expected);
    release(to);
}

static void write_everything(assay__json *json)
{
    assay__json_object(json, NULL);
    assay__json_text(json, "text", "a\"b\\c\n\x01/é");
    assay__json_text(json, "nothing", NULL);
    assay__json_integer(json, "least", INT64_MIN);
    assay__json_count(json, "most", UINT64_MAX);
    assay__json_flag(json, "yes", true);
    assay__json_flag(json, "no", false);
    assay__json_row(json, "row");
    assay__json_row(json, NULL);
    assay__json_number(json, NULL, 0.5);
    assay__json_integer(json, NULL, -3);
    assay__json_end(json);
    assay__json_null(json, NULL);
    assay__json_end(json);
    assay__json_array(json, "empty");
    assay__json_end(json);
    assay__json_array(json, "list");
    assay__json_object(json, NULL);
    assay__json_end(json);
    assay__json_number(json, NULL, NAN);
    assay__json_end(json);
    assay__json_end(json);
}

static void test_indented(void **state)
{
    (void)state;
    target to;
    begin(&to, 0);
    write_everything(&to.json);
    expect(&to, "{\n"
                "  \"text\": \"a\\\"b\\\\c\\n\\u0001/é\",\n"
                "  \"nothing\": null,\n"
                "  \"least\": -9223372036854775808,\n"
                "  \"most\": 18446744073709551615,\n"
                "  \"yes\": true,\n"
                "  \"no\": false,\n"
                "  \"row\": [[0.5, -3], null],\n"
                "  \"empty\": [],\n"
                "  \"list\": [\n"
                "    {},\n"
                "    null\n"
                "  ]\n"
                "}\n");
}

static void test_compact(void **state)
{
    (void)state;
    target to;
    begin(&to, ASSAY__JSON_COMPACT);
    write_everything(&to.json);
    expect(&to,
           "{\"text\":\"a\\\"b\\\\c\\n\\u0001/é\",\"nothing\":null,\"least\":-9223372036854775808,"
           "\"most\":18446744073709551615,\"yes\":true,\"no\":false,\"row\":[[0.5,-3],null],"
           "\"empty\":[],\"list\":[{},null]}\n");
}

static void test_missing_readings_say_why(void **state)
{
    (void)state;
    target to;
    begin(&to, ASSAY__JSON_COMPACT);
    assay__json_object(&to.json, NULL);
    assay__json_reading(&to.json, "a", assay_reading_missing(ASSAY_UNSUPPORTED));
    assay__json_object(&to.json, "inner");
    assay__json_reading(&to.json, "b", assay_reading_missing(ASSAY_NOT_PERMITTED));
    assay__json_reading(&to.json, "c", assay_reading_of(3));
    assay__json_end(&to.json);
    assay__json_object(&to.json, "clean");
    assay__json_reading(&to.json, "d", assay_reading_of(4));
    assay__json_end(&to.json);
    assay__json_reading(&to.json, "e", assay_reading_of(INFINITY));
    assay__json_end(&to.json);
    expect(&to,
           "{\"a\":null,\"inner\":{\"b\":null,\"c\":3,\"unavailable\":{\"b\":\"not permitted\"}},"
           "\"clean\":{\"d\":4},\"e\":null,"
           "\"unavailable\":{\"a\":\"unsupported\",\"e\":\"not measured\"}}\n");
}

static void test_invalid_utf8_becomes_the_replacement_character(void **state)
{
    (void)state;
    target to;
    begin(&to, ASSAY__JSON_COMPACT);
    assay__json_text(&to.json, NULL, "\xFFx\xC0\xAF\xE2\x82\x7F");
    expect(&to, "\"\xEF\xBF\xBDx\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\\u007f\"\n");
}

static void test_long_text_crosses_the_buffer(void **state)
{
    (void)state;
    enum { LENGTH = 3 * ASSAY__JSON_BUFFER_BYTES + 1 };
    char *text = malloc(LENGTH + 1);
    assert_non_null(text);
    for (size_t i = 0; i < LENGTH; i++)
        text[i] = i % 7 == 0 ? '\n' : (char)('a' + i % 26);
    text[LENGTH] = '\0';
    target to;
    begin(&to, 0);
    assay__json_array(&to.json, NULL);
    assay__json_text(&to.json, NULL, text);
    assay__json_end(&to.json);
    assert_int_equal(assay__json_finish(&to.json), ASSAY_OK);
    fflush(to.stream);
    json_t *read = json_loads(to.text, 0, NULL);
    assert_non_null(read);
    assert_string_equal(json_string_value(json_array_get(read, 0)), text);
    json_decref(read);
    release(&to);
    free(text);
}

static void check_number(double value, const char *expected)
{
    char text[ASSAY__JSON_NUMBER_BYTES];
    size_t length = assay__json_format_number(text, value);
    assert_int_equal(length, strlen(text));
    if (expected != NULL)
        assert_string_equal(text, expected);
    double back = strtod(text, NULL);
    assert_memory_equal(&back, &value, sizeof value);
}

static size_t significant_digits(const char *text)
{
    size_t digits = 0, zeros = 0;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text == '0' && digits > 0)
            zeros++;
        else if (*text >= '1' && *text <= '9') {
            digits += zeros + 1;
            zeros = 0;
        }
    }
    return digits;
}

static void check_shortest(double value)
{
    char text[ASSAY__JSON_NUMBER_BYTES], printed[64];
    int digits = 15;
    do
        snprintf(printed, sizeof printed, "%.*e", digits - 1, value);
    while (strtod(printed, NULL) != value && digits++ < 17);
    assay__json_format_number(text, value);
    assert_true(significant_digits(text) <= significant_digits(printed));
    check_number(value, NULL);
}

static void test_numbers_read_back(void **state)
{
    (void)state;
    check_number(0, "0");
    check_number(-0.0, "-0.0");
    check_number(1, "1");
    check_number(-45.32, "-45.32");
    check_number(1e-9, "0.000000001");
    check_number(0.1 + 0.2, "0.30000000000000004");
    check_number(8589934592.0, "8589934592");
    check_number(9007199254740991.0, "9007199254740991");
    check_number(9007199254740992.0, NULL);
    check_number(9007199.254740993, NULL);
    check_number(1e300, "1e+300");
    check_number(DBL_MAX, NULL);
    check_number(DBL_MIN, NULL);
    check_number(4.9406564584124654e-324, NULL);
    check_number(1.5e-10, "1.5e-10");
    char text[ASSAY__JSON_NUMBER_BYTES];
    assay__json_format_number(text, -INFINITY);
    assert_string_equal(text, "null");
    for (int exponent = -60; exponent < 60; exponent++) { /* the gap below a power of two is half */
        check_shortest(ldexp(1, exponent));
        check_shortest(nextafter(ldexp(1, exponent), 0));
        check_shortest(nextafter(ldexp(1, exponent), 1e300));
        check_shortest(pow(10, exponent));
    }
    uint64_t seed = 88172645463325252u; /* xorshift64: bit patterns all over the range */
    for (int i = 0; i < 200000; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        double value;
        memcpy(&value, &seed, sizeof value);
        if (isfinite(value))
            check_number(value, NULL);
        check_shortest((double)(seed % 10000000000000000u) / 1e9);
        check_shortest((double)(seed >> 40) * 0.37037037e-9);
        check_shortest(-ldexp((double)(seed >> 11), -(int)(seed % 110)));
    }
}

static void test_a_comma_locale_does_not_reach_the_output(void **state)
{
    (void)state;
    comma_locale_folder folder;
    bool found = comma_locale_begin(&folder);
    char text[ASSAY__JSON_NUMBER_BYTES], printed[ASSAY__JSON_NUMBER_BYTES];
    assay__json_format_number(text, 1.5e-40); /* of those that need printf */
    snprintf(printed, sizeof printed, "%g", 1.5);
    comma_locale_end(&folder);
    if (!found)
        skip();
    assert_string_equal(printed, "1,5");
    assert_string_equal(text, "1.5e-40");
}

static void test_misuse_is_reported_once_and_for_all(void **state)
{
    (void)state;
    target to;
    begin(&to, 0);
    assay__json_object(&to.json, NULL);
    assay__json_integer(&to.json, NULL, 1); /* no key */
    assay__json_end(&to.json);
    assert_int_equal(assay__json_finish(&to.json), ASSAY_E_STATE);
    release(&to);

    begin(&to, 0);
    assay__json_array(&to.json, NULL);
    assay__json_integer(&to.json, "key", 1);
    assay__json_end(&to.json);
    assert_int_equal(assay__json_finish(&to.json), ASSAY_E_STATE);
    release(&to);

    begin(&to, 0);
    assay__json_array(&to.json, NULL); /* left open */
    assert_int_equal(assay__json_finish(&to.json), ASSAY_E_STATE);
    release(&to);

    begin(&to, 0);
    assay__json_end(&to.json);
    assert_int_equal(assay__json_finish(&to.json), ASSAY_E_STATE);
    release(&to);

    begin(&to, 0);
    assay__json_integer(&to.json, NULL, 1);
    assay__json_integer(&to.json, NULL, 2); /* two values at the top */
    assert_int_equal(assay__json_finish(&to.json), ASSAY_E_STATE);
    release(&to);

    begin(&to, 0);
    for (int i = 0; i <= ASSAY__JSON_MAX_DEPTH; i++)
        assay__json_array(&to.json, NULL);
    assert_int_equal(assay__json_finish(&to.json), ASSAY_E_LIMIT);
    release(&to);
}

static void test_a_full_disk_is_reported(void **state)
{
    (void)state;
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL)
        skip();
    setvbuf(full, NULL, _IONBF, 0);
    assay__json json;
    assay__json_init(&json, full, 0);
    assay__json_integer(&json, NULL, 1);
    assert_int_equal(assay__json_finish(&json), ASSAY_E_IO);
    fclose(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_indented),
        cmocka_unit_test(test_compact),
        cmocka_unit_test(test_missing_readings_say_why),
        cmocka_unit_test(test_invalid_utf8_becomes_the_replacement_character),
        cmocka_unit_test(test_long_text_crosses_the_buffer),
        cmocka_unit_test(test_numbers_read_back),
        cmocka_unit_test(test_a_comma_locale_does_not_reach_the_output),
        cmocka_unit_test(test_misuse_is_reported_once_and_for_all),
        cmocka_unit_test(test_a_full_disk_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
