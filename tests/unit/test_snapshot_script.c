/* Profiles of scripts: a file that the test makes becomes a record, and a damaged file is refused.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "snapshot/script_merge.h"

/* A file that is put together entry by entry. */
typedef struct made {
    _Alignas(8) char bytes[4096];
    size_t used;
} made;

static assay__script_header *header_of(made *m)
{
    return (assay__script_header *)(void *)m->bytes;
}

static uint32_t append(made *m, const void *entry, size_t bytes)
{
    uint32_t padded = (uint32_t)((bytes + 7) & ~(size_t)7);
    size_t at = m->used;
    assert_true(at + padded <= sizeof m->bytes);
    memcpy(m->bytes + at, entry, bytes);
    memcpy(m->bytes + at + offsetof(assay__script_entry, bytes), &padded, sizeof padded);
    m->used += padded;
    header_of(m)->used = m->used;
    return (uint32_t)at;
}

static uint32_t append_code(made *m, const char *file, const char *name, uint32_t line)
{
    struct {
        assay__script_code head;
        char texts[64];
    } code = {.head = {.entry.kind = ASSAY__SCRIPT_CODE,
                       .first_line = line,
                       .file_bytes = (uint32_t)strlen(file),
                       .name_bytes = (uint32_t)strlen(name)}};
    snprintf(code.texts, sizeof code.texts, "%s%s", file, name);
    return append(m, &code, sizeof code.head + strlen(code.texts));
}

static uint32_t append_node(made *m, uint32_t parent, uint32_t code, uint32_t line, double seconds)
{
    assay__script_node node = {.entry.kind = ASSAY__SCRIPT_NODE,
                               .parent = parent,
                               .code = code,
                               .line = line,
                               .is_main = 1,
                               .busy_ns = (uint64_t)(seconds * 1e9),
                               .watched_ns = (uint64_t)(seconds * 1e9) / 2,
                               .native_ns = (uint64_t)(seconds * 1e9) / 4,
                               .samples = 10,
                               .squares = seconds * seconds / 10 * 1e18};
    return append(m, &node, sizeof node);
}

static void append_event(made *m, uint32_t thread, uint32_t node, uint64_t time_ns)
{
    assay__script_event event = {
        .entry.kind = ASSAY__SCRIPT_EVENT, .thread = thread, .node = node, .time_ns = time_ns};
    append(m, &event, sizeof event);
}

/* main:1 calls f:5, which calls itself, for 1 s and 3 s; two sites allocate. */
static void make_profile(made *m)
{
    *m = (made){.used = sizeof(assay__script_header)};
    *header_of(m) = (assay__script_header){.magic = ASSAY__SCRIPT_MAGIC,
                                           .header_bytes = sizeof(assay__script_header),
                                           .process_id = 4711,
                                           .start_ns = 1000,
                                           .end_ns = 5000,
                                           .process_samples = 8,
                                           .interval_bytes = 65536,
                                           .samples = 20,
                                           .sampler_ns = 1000000000,
                                           .process_ns = 7000000000,
                                           .allocated_bytes = 300,
                                           .peak_bytes = 150,
                                           .peak_epoch = 2};
    uint32_t module = append_code(m, "script.py", "<module>", 1);
    uint32_t function = append_code(m, "script.py", "f", 4);
    uint32_t outer = append_node(m, 0, module, 1, 0);
    uint32_t first = append_node(m, outer, function, 5, 1);
    uint32_t second = append_node(m, first, function, 5, 3);
    assay__script_thread thread = {.entry.kind = ASSAY__SCRIPT_THREAD, .thread_id = 4711};
    uint32_t main_thread = append(m, &thread, sizeof thread);
    append_event(m, main_thread, first, 2000);
    append_event(m, main_thread, second, 3000);
    append_event(m, main_thread, outer, 4000);
    assay__script_site before = {.entry.kind = ASSAY__SCRIPT_SITE,
                                 .code = module,
                                 .line = 2,
                                 .bytes = 100,
                                 .live_bytes = 50,
                                 .epoch = 1};
    assay__script_site since = {.entry.kind = ASSAY__SCRIPT_SITE,
                                .code = function,
                                .line = 6,
                                .bytes = 200,
                                .peak_bytes = 100,
                                .epoch = 2};
    append(m, &before, sizeof before);
    append(m, &since, sizeof since);
}

static assay_status parse(const made *m, assay__script_view *view)
{
    assay_error error;
    return assay__script_parse("made", m->bytes, m->used, &error, view);
}

static assay_record *record_of(const made *m, int times)
{
    assay__script_view view;
    assay__script_merge merge = {.origin_ns = 1000};
    assert_int_equal(assay_record_new(&merge.record), ASSAY_OK);
    for (int i = 0; i < times; i++) {
        assert_int_equal(parse(m, &view), ASSAY_OK);
        assert_int_equal(assay__script_merge_add(&merge, &view), ASSAY_OK);
        assay__script_release(&view);
    }
    assert_int_equal(assay__script_merge_finish(&merge), ASSAY_OK);
    assay__script_merge_release(&merge);
    return merge.record;
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static void test_times(void **state)
{
    (void)state;
    made m;
    make_profile(&m);
    assay_record *record = record_of(&m, 2); /* two processes of one script */
    const assay_record_python *python = &record->python;
    assert_true(record->has_python && python->processes == 2 && python->function_count == 2);
    assert_string_equal(python->functions[0].name, "f");
    assert_true(near(python->functions[0].self_seconds, 8));
    assert_true(near(python->functions[0].total_seconds, 8)); /* once, although it recurs */
    assert_true(near(python->functions[0].native_seconds.value, 4));
    assert_true(near(python->functions[1].self_seconds, 0));
    assert_true(near(python->functions[1].total_seconds, 8));
    assert_true(python->lines[0].line == 5 && near(python->lines[0].self_seconds, 8));
    assert_true(near(python->busy_seconds, 8) && near(python->other_seconds, 4));
    assert_true(near(python->rate_hz, 8 / 4e-6));
    assert_true(near(python->functions[0].self_error_seconds.value, 0)); /* it has all the time */
    assert_int_equal(python->functions[1].self_error_seconds.validity, ASSAY_VALID);
    assay_record_free(record);
}

/* A line of 3 s, seen in native code for all of the time that it was watched, and one of 1 s, seen
 * in Python for all of its time. */
static void check_native(double watched_seconds, assay_validity validity, double native_seconds)
{
    made m = {.used = sizeof(assay__script_header)};
    *header_of(&m) = (assay__script_header){.magic = ASSAY__SCRIPT_MAGIC,
                                            .header_bytes = sizeof(assay__script_header)};
    uint32_t code = append_code(&m, "a.py", "f", 1);
    assay__script_node node = {.entry.kind = ASSAY__SCRIPT_NODE,
                               .code = code,
                               .line = 2,
                               .busy_ns = 3000000000,
                               .watched_ns = (uint64_t)(watched_seconds * 1e9),
                               .native_ns = (uint64_t)(watched_seconds * 1e9),
                               .samples = 10};
    append(&m, &node, sizeof node);
    node.line = 3;
    node.busy_ns = node.watched_ns = 1000000000;
    node.native_ns = 0;
    append(&m, &node, sizeof node);
    assay_record *record = record_of(&m, 1);
    assert_int_equal(record->python.native_seconds.validity, validity);
    assert_int_equal(record->python.functions[0].native_seconds.validity, validity);
    if (validity == ASSAY_VALID)
        assert_true(near(record->python.native_seconds.value, native_seconds));
    assay_record_free(record);
}

static void test_native_time_of_all_lines(void **state)
{
    (void)state;
    check_native(0.1, ASSAY_VALID, 3);
    check_native(0, ASSAY_NOT_ENOUGH_DATA, 0); /* three quarters of the time are unknown */
}

/* Two functions of 3 s and 1 s: ten samples of 0.3 s, ten of 0.1 s. */
static void test_errors(void **state)
{
    (void)state;
    made m = {.used = sizeof(assay__script_header)};
    *header_of(&m) = (assay__script_header){.magic = ASSAY__SCRIPT_MAGIC,
                                            .header_bytes = sizeof(assay__script_header)};
    append_node(&m, 0, append_code(&m, "a.py", "f", 1), 2, 3);
    append_node(&m, 0, append_code(&m, "a.py", "g", 4), 5, 1);
    assay_record *record = record_of(&m, 1);
    double expected = sqrt(0.25 * 0.25 * 10 * 0.09 + 0.75 * 0.75 * 10 * 0.01);
    for (int i = 0; i < 2; i++) {
        assert_true(near(record->python.functions[i].self_error_seconds.value, expected));
        assert_true(near(record->python.lines[i].self_error_seconds.value, expected));
    }
    assay_record_free(record);
}

static void test_allocations(void **state)
{
    (void)state;
    made m;
    make_profile(&m);
    assay_record *record = record_of(&m, 1);
    const assay_record_python *python = &record->python;
    assert_int_equal(python->allocation_count, 2);
    assert_true(python->allocations[0].line == 6 && near(python->allocations[0].peak_bytes, 100));
    assert_true(python->allocations[1].line == 2 && near(python->allocations[1].peak_bytes, 50));
    assay_record_free(record);
}

static void test_events(void **state)
{
    (void)state;
    made m;
    make_profile(&m);
    assay_record *record = record_of(&m, 1);
    /* The module from 2000 to the end, f in it from 2000 to 4000, and f in f from 3000. */
    static const struct {
        const char *name;
        double start, duration;
    } expected[] = {{"<module>", 1e-6, 3e-6}, {"f", 1e-6, 2e-6}, {"f", 2e-6, 1e-6}};
    assert_int_equal(record->event_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const assay_record_event *event = &record->events[i];
        assert_int_equal(event->kind, ASSAY_EVENT_FUNCTION);
        assert_string_equal(record->python.functions[event->name].name, expected[i].name);
        assert_true(fabs(event->start_seconds - expected[i].start) < 1e-12);
        assert_true(fabs(event->duration_seconds - expected[i].duration) < 1e-12);
    }
    assay_record_free(record);
}

/* Every number of 32 bits in turn, set to something absurd: refused, or read without a crash. */
static void test_damaged(void **state)
{
    (void)state;
    made whole, m;
    size_t refused = 0;
    make_profile(&whole);
    for (size_t at = 0; at + 4 <= whole.used; at += 4) {
        assay__script_view view;
        m = whole;
        memset(m.bytes + at, 0x7F, 4);
        if (parse(&m, &view) == ASSAY_OK)
            assay__script_release(&view);
        else
            refused++;
    }
    assert_true(refused > 30);
    m = whole;
    m.used -= 8;
    assay__script_view view;
    assert_int_equal(parse(&m, &view), ASSAY_E_TRUNCATED);
    const char *path = getenv("ASSAY_SCRIPT_SAMPLE"); /* for tests/fuzz/corpus/script */
    FILE *sample = path != NULL ? fopen(path, "wb") : NULL;
    if (sample != NULL) {
        fwrite(whole.bytes, 1, whole.used, sample);
        fclose(sample);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),  cmocka_unit_test(test_native_time_of_all_lines),
        cmocka_unit_test(test_errors), cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_events), cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
