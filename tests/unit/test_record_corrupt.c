/* Records that are truncated, corrupted, foreign or malicious: the error is always one line that
 * names file and place, and the reader never crashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>
#include <unistd.h>

#include "assay/record_build.h"
#include "record/decode.h"
#include "tests/unit/record_sample.h"

static void check_error(const char *json, size_t length, assay_status status, const char *message)
{
    assay_error error = {0};
    assay_record *record = (assay_record *)&error;
    assert_int_equal(assay__record_parse(json, length, &error, &record), status);
    assert_null(record);
    assert_int_equal(error.status, status);
    assert_string_equal(error.message, message);
}

/* The rest of the message is jansson's own. */
static void check_syntax(const char *json, size_t length, assay_status status, const char *begin)
{
    assay_error error = {0};
    assay_record *record = NULL;
    assert_int_equal(assay__record_parse(json, length, &error, &record), status);
    error.message[strlen(begin)] = '\0';
    assert_string_equal(error.message, begin);
}

static json_t *sample_json(void)
{
    assay_record *record = sample_record();
    char *text = printed(record, ASSAY_RECORD_EVENTS);
    json_t *top = json_loads(text, 0, NULL);
    assert_non_null(top);
    free(text);
    assay_record_free(record);
    return top;
}

static assay_status parse_json(const json_t *top, assay_error *error)
{
    char *text = json_dumps(top, JSON_REAL_PRECISION(17));
    assert_non_null(text);
    assay_record *record = NULL;
    assay_status status = assay__record_parse(text, strlen(text), error, &record);
    free(text);
    assay_record_free(record);
    return status;
}

static void test_cut_at_every_byte(void **state)
{
    (void)state;
    assay_record *record = sample_record();
    char *text = printed(record, ASSAY_RECORD_EVENTS | ASSAY_RECORD_COMPACT);
    size_t length = strlen(text) - 1; /* the last newline may be missing */
    for (size_t cut = 0; cut < length; cut++) {
        char *exact = malloc(cut == 0 ? 1 : cut); /* so that a sanitizer sees every overrun */
        assert_non_null(exact);
        memcpy(exact, text, cut);
        assay_error error = {0};
        assay_record *back = NULL;
        assay_status status = assay__record_parse(exact, cut, &error, &back);
        assert_true(status == ASSAY_E_TRUNCATED || status == ASSAY_E_FORMAT);
        assert_null(back);
        assert_memory_equal(error.message, "record:", 7);
        free(exact);
    }
    free(text);
    assay_record_free(record);
}

static void test_every_bit_flipped(void **state)
{
    (void)state;
    assay_record *record = sample_record();
    char *text = printed(record, ASSAY_RECORD_EVENTS | ASSAY_RECORD_COMPACT);
    size_t length = strlen(text);
    for (size_t bit = 0; bit < length * 8; bit++) {
        text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
        assay_error error = {0};
        assay_record *back = NULL;
        if (assay__record_parse(text, length, &error, &back) != ASSAY_OK)
            assert_null(strchr(error.message, '\n'));
        assay_record_free(back);
        text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
    }
    free(text);
    assay_record_free(record);
}

/* Replace every value in turn by one of a type that is wrong everywhere, and see that the error
 * names its place. `unavailable` objects are entered with the key of their reading; the values of
 * rows (buckets, events) are named by their row. */
static void check_wrong_types(json_t *top, json_t *container, const char *place, bool row)
{
    bool object = json_is_object(container);
    size_t count = object ? json_object_size(container) : json_array_size(container);
    void *iterator = object ? json_object_iter(container) : NULL;
    for (size_t i = 0; i < count; i++) {
        char here[256];
        const char *key = object ? json_object_iter_key(iterator) : NULL;
        json_t *value =
            json_incref(object ? json_object_iter_value(iterator) : json_array_get(container, i));
        if (object)
            snprintf(here, sizeof here, "%s%s%s", place, *place != '\0' ? "." : "", key);
        else
            snprintf(here, sizeof here, row ? "%s" : "%s[%zu]", place, i);
        bool inner_row = !object && json_is_array(value);
        if (json_is_object(value) || json_is_array(value))
            check_wrong_types(top, value, here, row || inner_row);
        json_t *wrong = json_is_object(value) ? json_array() : json_object();
        assert_int_equal(object ? json_object_iter_set_new(container, iterator, wrong)
                                : json_array_set_new(container, i, wrong),
                         0);
        assay_error error = {0};
        char expected[512];
        snprintf(expected, sizeof expected, "record: %s: ", here);
        if (parse_json(top, &error) != ASSAY_E_FORMAT)
            fail_msg("a wrong type at %s was accepted", here);
        if (strcmp(here, "schema") != 0 && strncmp(error.message, expected, strlen(expected)) != 0)
            fail_msg("'%s' does not name %s", error.message, here);
        assert_int_equal(object ? json_object_iter_set_new(container, iterator, value)
                                : json_array_set_new(container, i, value),
                         0);
        iterator = object ? json_object_iter_next(container, iterator) : NULL;
    }
}

static void test_a_wrong_type_in_every_field(void **state)
{
    (void)state;
    json_t *top = sample_json();
    check_wrong_types(top, top, "", false);
    assay_error error = {0};
    if (parse_json(top, &error) != ASSAY_OK) /* everything was put back */
        fail_msg("%s", error.message);
    json_decref(top);
}

/* A record with one key of its first operation replaced. */
static void check_operation(const char *key, json_t *value, const char *message)
{
    json_t *top = sample_json();
    json_t *operation = json_array_get(json_object_get(top, "operations"), 0);
    assert_int_equal(json_object_set_new(operation, key, value), 0);
    assay_error error = {0};
    assert_int_equal(parse_json(top, &error), ASSAY_E_FORMAT);
    assert_string_equal(error.message, message);
    json_decref(top);
}

static void test_values_out_of_range(void **state)
{
    (void)state;
    check_operation("count", json_integer(-1),
                    "record: operations[0].count: -1 is not within 0 … 9223372036854775807");
    check_operation("count", json_real(1.5),
                    "record: operations[0].count: an integer is expected, not a number with a "
                    "fraction");
    check_operation("count", json_null(),
                    "record: operations[0].count: an integer is expected, not null");
    check_operation("parent", json_integer(0),
                    "record: operations[0].parent: 0 is not an earlier operation");
    check_operation("parent", json_integer(-1),
                    "record: operations[0].parent: -1 is not within 0 … 2147483647");
    check_operation("parent", json_integer(INT64_MAX),
                    "record: operations[0].parent: 9223372036854775807 is not within 0 … "
                    "2147483647");
    check_operation("buckets", json_pack("[[fi][fi]]", 2.0, 1, 1.0, 1),
                    "record: operations[0].buckets[1]: does not ascend");
    check_operation("buckets", json_pack("[[f]]", 2.0),
                    "record: operations[0].buckets[0]: a pair [seconds, count] is expected");
    check_operation("unavailable", json_pack("{ss}", "gpu_peak_bytes", "valid"),
                    "record: operations[0].unavailable.gpu_peak_bytes: 'valid' is no known reason");
}

static void check_item(const char *array, size_t index, json_t *value, const char *message)
{
    json_t *top = sample_json();
    assert_int_equal(json_array_set_new(json_object_get(top, array), index, value), 0);
    assay_error error = {0};
    assert_int_equal(parse_json(top, &error), ASSAY_E_FORMAT);
    assert_string_equal(error.message, message);
    json_decref(top);
}

static void test_references_that_point_nowhere(void **state)
{
    (void)state;
    check_item("events", 0, json_pack("[siiff]", "span", 2, 0, 0.0, 0.0),
               "record: events[0]: there is no operation 2");
    check_item("events", 1, json_pack("[siiff]", "counter", 1, 0, 0.0, 0.0),
               "record: events[1]: there is no counter 1");
    check_item("events", 1, json_pack("[siiff]", "span", 1, 2, 0.0, 0.0),
               "record: events[1]: there is no lane 2");
    check_item("events", 0, json_pack("[siiff]", "flow", 1, 1, 0.0, 0.0),
               "record: events[0]: \"span\", \"counter\", \"function\", \"kernel\" or \"copy\" is "
               "expected first");
    check_item("events", 0, json_pack("[siif]", "span", 1, 1, 0.0),
               "record: events[0]: [kind, name, lane, start, duration or value] is expected");
    check_item(
        "open_spans", 0,
        json_pack("{sssisisf}", "operation", "x", "lane", 7, "depth", 0, "start_seconds", 0.0),
        "record: open_spans[0].lane: there is no lane 7");
    check_item("lanes", 1,
               json_pack("{sssssisisisb}", "name", "x", "kind", "fiber", "process_id", 1,
                         "thread_id", 1, "spans", 1, "ended", 0),
               "record: lanes[1].kind: 'fiber' is no kind of lane");
}

/* A record with one key of the first item of an array replaced. */
static void check_first(const char *array, const char *key, json_t *value, const char *message)
{
    json_t *top = sample_json();
    json_t *item = json_array_get(json_object_get(top, array), 0);
    assert_int_equal(json_object_set_new(item, key, value), 0);
    assay_error error = {0};
    assert_int_equal(parse_json(top, &error), ASSAY_E_FORMAT);
    assert_string_equal(error.message, message);
    json_decref(top);
}

static void test_benchmarks_that_do_not_add_up(void **state)
{
    (void)state;
    check_first("subjects", "rounds", json_pack("[ii]", 1, 2),
                "record: subjects[0].rounds: 2 for 3 samples");
    check_first("subjects", "rounds", json_pack("[iii]", 1, 2, 2),
                "record: subjects[0].rounds[2]: does not ascend");
    check_first("subjects", "rounds", json_pack("[iii]", 1, 2, -2),
                "record: subjects[0].rounds[2]: -2 is not within 0 … 4294967295");
    check_first("subjects", "samples_seconds", json_pack("[s]", "1 s"),
                "record: subjects[0].samples_seconds[0]: a number is expected, not a string");
    check_first("subjects", "parameters", json_pack("{sb}", "n", 1),
                "record: subjects[0].parameters.n: a string is expected, not a truth value");
    check_first("subjects", "measures", json_pack("[{sss[f]}]", "metric", "x", "samples", 1.0),
                "record: subjects[0].measures[0]: not one for each sample");
    check_first("models", "name", json_string("mvar"),
                "record: models[1].name: 'mvar' is the name of another one");
    check_first("series", "places", json_pack("[f]", 1.0),
                "record: series[0].places: 1 for 2 values");
    check_first("comparisons", "verdict", json_string("better"),
                "record: comparisons[0].verdict: 'better' is no verdict");
}

static void test_not_a_record(void **state)
{
    (void)state;
    static const char foreign[] =
        "{\"results\": [{\"command\": \"sleep 0.1\", \"mean\": 0.1, \"times\": [0.1]}]}";
    static const char hint[] = "record: not an assay record (\"schema\" is not \"assay-record\"); "
                               "`assay run --json FILE` writes one";
    static const char newer[] = "{\"schema\": \"assay-record\", \"version\": 3}";
    static const char twice[] = "{\"schema\": \"assay-record\",\n \"version\": 1, \"version\": 1}";
    static const char nul[] =
        "{\"schema\": \"assay-record\", \"version\": 1, \"name\": \"a\\u0000\"}";
    static const char binary[] = "\x7f"
                                 "ELF\0\1\2";
    check_error(foreign, sizeof foreign - 1, ASSAY_E_FORMAT, hint);
    check_error("[]", 2, ASSAY_E_FORMAT, hint);
    check_error("", 0, ASSAY_E_TRUNCATED, "record: empty; a run record in JSON is expected");
    check_error(newer, sizeof newer - 1, ASSAY_E_VERSION,
                "record: schema version 3 is newer than 2, the newest this assay reads; update "
                "assay");
    check_syntax(binary, sizeof binary - 1, ASSAY_E_FORMAT, "record:1:1: not JSON: ");
    check_syntax(twice, sizeof twice - 1, ASSAY_E_FORMAT, "record:2:24: not JSON: duplicate ");
    check_syntax(nul, sizeof nul - 1, ASSAY_E_FORMAT, "record:1:58: not JSON: \\u0000 ");
    check_syntax("{\"a\": 1e999}", 12, ASSAY_E_FORMAT, "record:1:11: not JSON: ");
    check_syntax("{\"a\": ", 6, ASSAY_E_TRUNCATED, "record:1:6: cut short: ");
    check_syntax("\x1f\x8b\x08", 3, ASSAY_E_FORMAT, "record: compressed; unpack it with gunzip");
    check_syntax("\xff\xfe{", 3, ASSAY_E_FORMAT, "record: text in UTF-16; save it as UTF-8");
    check_syntax("\xfe\xff\0{", 4, ASSAY_E_FORMAT, "record: text in UTF-16; save it as UTF-8");
    check_error("\xef\xbb\xbf", 3, ASSAY_E_TRUNCATED,
                "record: empty; a run record in JSON is expected");
}

/* Editors and scripts write a byte order mark before JSON, and 2.0 for the integer 2. */
static void test_the_same_json_written_by_others(void **state)
{
    (void)state;
    static const char marked[] = "\xef\xbb\xbf{\"schema\": \"assay-record\", \"version\": 2.0}";
    static const char half[] = "{\"schema\": \"assay-record\", \"version\": 1.5}";
    static const char vast[] = "{\"schema\": \"assay-record\", \"version\": 1e300}";
    assay_error error = {0};
    assay_record *record = NULL;
    if (assay__record_parse(marked, sizeof marked - 1, &error, &record) != ASSAY_OK)
        fail_msg("%s", error.message);
    assay_record_free(record);
    check_error(half, sizeof half - 1, ASSAY_E_FORMAT,
                "record: version: an integer is expected, not a number with a fraction");
    check_error(vast, sizeof vast - 1, ASSAY_E_FORMAT,
                "record: version: an integer is expected, not a number with a fraction");
}

static void test_nesting_without_end(void **state)
{
    (void)state;
    size_t length = 1 << 20;
    char *text = malloc(length);
    assert_non_null(text);
    memset(text, '[', length);
    assay_record *record = NULL;
    assay_error error;
    assert_int_equal(assay__record_parse(text, length, &error, &record), ASSAY_E_FORMAT);
    assert_non_null(strstr(error.message, "maximum parsing depth reached"));
    free(text);
}

static void test_names_from_outside(void **state)
{
    (void)state;
    size_t length = 1 << 20;
    char *huge = malloc(length + 1);
    assert_non_null(huge);
    memset(huge, 'x', length);
    huge[length] = '\0';
    check_operation("name", json_string(huge),
                    "record: operations[0].name: 1048576 bytes of text, at most 131072 are "
                    "accepted");
    json_t *top = sample_json();
    assay_error error = {0};
    assert_int_equal(json_object_set_new(json_object_get(top, "machine"), huge, json_null()), 0);
    assert_int_equal(parse_json(top, &error), ASSAY_E_FORMAT);
    assert_non_null(strstr(error.message, "the key is too long"));
    json_decref(top);
    free(huge);

    static const char bent[] =
        "{\"schema\": \"assay-record\", \"version\": 1, \"total_seconds\": 0, "
        "\"name\": \"a\\u001b[31m\\nb\", \"machine\": {\"\\u0007\": \"x\"}}";
    assay_record *record = NULL;
    assert_int_equal(assay__record_parse(bent, sizeof bent - 1, NULL, &record), ASSAY_OK);
    assert_string_equal(record->name, "a?[31m?b");
    assert_string_equal(record->machine[0].key, "?");
    assay_record_free(record);
}

static void test_more_facts_than_accepted(void **state)
{
    (void)state;
    json_t *top = sample_json();
    char key[16];
    for (int i = 0; i < ASSAY_RECORD_MAX_FACTS; i++) {
        snprintf(key, sizeof key, "k%d", i);
        assert_int_equal(json_object_set_new(json_object_get(top, "build"), key, json_null()), 0);
    }
    assay_error error = {0};
    assert_int_equal(parse_json(top, &error), ASSAY_E_FORMAT);
    assert_string_equal(error.message, "record: build: more than 1024 entries");
    json_decref(top);
}

static void test_unknown_keys_are_ignored(void **state)
{
    (void)state;
    json_t *top = sample_json();
    assay_error error = {0};
    assert_int_equal(json_object_set_new(top, "predictions", json_pack("[{si}]", "x", 1)), 0);
    assert_int_equal(json_object_set_new(json_object_get(top, "clock"), "drift", json_true()), 0);
    if (parse_json(top, &error) != ASSAY_OK)
        fail_msg("%s", error.message);
    json_decref(top);
}

static void test_the_error_names_the_file(void **state)
{
    (void)state;
    char path[] = "/tmp/assay-record-XXXXXX", expected[128];
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, "{\n\n  oops", 9), 9);
    close(descriptor);
    assay_error error = {0};
    assay_record *record = NULL;
    assert_int_equal(assay_record_read(path, &error, &record), ASSAY_E_FORMAT);
    snprintf(expected, sizeof expected, "%s:3:6: not JSON: ", path);
    assert_memory_equal(error.message, expected, strlen(expected));
    unlink(path);
    assert_int_equal(assay_record_read("/tmp", &error, &record), ASSAY_E_IO);
    assert_non_null(strstr(error.message, "/tmp"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_at_every_byte),
        cmocka_unit_test(test_every_bit_flipped),
        cmocka_unit_test(test_a_wrong_type_in_every_field),
        cmocka_unit_test(test_values_out_of_range),
        cmocka_unit_test(test_references_that_point_nowhere),
        cmocka_unit_test(test_benchmarks_that_do_not_add_up),
        cmocka_unit_test(test_not_a_record),
        cmocka_unit_test(test_the_same_json_written_by_others),
        cmocka_unit_test(test_nesting_without_end),
        cmocka_unit_test(test_names_from_outside),
        cmocka_unit_test(test_more_facts_than_accepted),
        cmocka_unit_test(test_unknown_keys_are_ignored),
        cmocka_unit_test(test_the_error_names_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
