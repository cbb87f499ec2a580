/* Spans of bindings to other languages: they end out of order, fail, and are found by call site and
 * start. */
#include "tests/unit/monitor_fixture.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/binding.h"

static assay_site outer = {.name = "outer"}, inner = {.name = "inner"}, leaf = {.name = "leaf"};

static uint64_t begin(assay_monitor *monitor, assay_site *site)
{
    uint64_t start = assay_site_begin(site, monitor);
    assert_true(start > 0);
    return start;
}

static void test_in_order(void **state)
{
    (void)state;
    assay_monitor *monitor = open_monitor(NULL);
    for (int i = 0; i < 100; i++) {
        begin(monitor, &outer);
        uint64_t start = begin(monitor, &inner);
        assert_true(assay_site_end(&inner, monitor, start, false) > 0);
        assert_true(assay_site_end(&outer, monitor, 0, i % 10 == 0) > 0);
    }
    assay_record *record = record_of(monitor);
    assert_int_equal(record->operation_count, 2);
    assert_int_equal(record->operations[0].count, 100);
    assert_int_equal(record->operations[0].failed_spans, 10);
    assert_int_equal(record->operations[1].parent, 0);
    assert_int_equal(record->operations[1].failed_spans, 0);
    assert_int_equal(record->integrity.mismatched_ends, 0);
    assay_record_free(record);
    assay_monitor_clear(monitor);
    record = record_of(monitor);
    for (size_t i = 0; i < record->operation_count; i++)
        assert_int_equal(record->operations[i].failed_spans, 0);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* The first span of an operation has its resident memory read at begin and end, whether its end
 * knows its start or not; so has one that is open while a reading is due. */
static void test_memory(void **state)
{
    (void)state;
    assay_monitor *monitor = open_monitor(NULL);
    begin(monitor, &outer);
    uint64_t start = begin(monitor, &inner);
    usleep(30000);
    begin(monitor, &leaf);
    assay_site_end(&outer, monitor, 0, false);
    assay_site_end(&leaf, monitor, 0, false);
    assay_site_end(&inner, monitor, start, false);
    assay_record *record = record_of(monitor);
    assert_int_equal(record->operation_count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(record->operations[i].rss_spans, 1);
        assert_int_equal(record->operations[i].rss_delta_bytes.validity, ASSAY_VALID);
    }
    assert_clean(record);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* The durations of all operations, by hand: outer 0–30, inner 10–60, leaf 20–40. */
static void test_out_of_order(void **state)
{
    (void)state;
    assay_monitor_options options = by_hand();
    assay_monitor *monitor = open_monitor(&options);
    hand_ns = 1000000;
    begin(monitor, &outer);
    hand_ns += 10;
    begin(monitor, &inner);
    hand_ns += 10;
    begin(monitor, &leaf);
    hand_ns += 10;
    assay_site_end(&outer, monitor, 0, false);
    hand_ns += 10;
    assay_site_end(&leaf, monitor, 0, false);
    hand_ns += 20;
    assay_site_end(&inner, monitor, 0, true);
    assay_record *record = record_of(monitor);
    assert_int_equal(record->operation_count, 3);
    const char *names[] = {"outer", "inner", "leaf"};
    const double seconds[] = {30e-9, 50e-9, 20e-9};
    for (int i = 0; i < 3; i++) {
        assert_string_equal(record->operations[i].name, names[i]);
        assert_int_equal(record->operations[i].parent, i - 1);
        assert_int_equal(record->operations[i].count, 1);
        assert_true(fabs(record->operations[i].total_seconds - seconds[i]) < 1e-12);
    }
    assert_int_equal(record->operations[1].failed_spans, 1);
    assert_int_equal(record->integrity.mismatched_ends, 0);
    assert_int_equal(record->integrity.abandoned_spans, 0);
    assert_int_equal(record->open_span_count, 0);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

enum { CHILDREN = 100, ROUNDS = 3 };

static void visit_children(assay_monitor *monitor, int count)
{
    static assay_site children[CHILDREN];
    static char names[CHILDREN][16];
    for (int i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "child %d", i);
        children[i].name = names[i];
        begin(monitor, &children[i]);
        assay_site_end(&children[i], monitor, 0, false);
    }
}

/* A span has children in a table. After the span around it ended it gets so many more that the
 * table moves. The next span at the same place must find the new table. */
static void test_children_after_the_parent_ended(void **state)
{
    (void)state;
    assay_monitor *monitor = open_monitor(NULL);
    for (int round = 0; round < ROUNDS; round++) {
        begin(monitor, &outer);
        begin(monitor, &inner);
        visit_children(monitor, 4);
        assay_site_end(&outer, monitor, 0, false);
        visit_children(monitor, CHILDREN);
        assay_site_end(&inner, monitor, 0, false);
    }
    assay_record *record = record_of(monitor);
    assert_int_equal(record->operation_count, 2 + CHILDREN);
    for (size_t i = 0; i < record->operation_count; i++) {
        bool twice = i >= 2 && i < 6;
        assert_int_equal(record->operations[i].count, twice ? 2 * ROUNDS : ROUNDS);
        assert_int_equal(record->operations[i].parent, i == 0 ? -1 : i == 1 ? 0 : 1);
    }
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* Two spans of one site, ended in the order they began: each start finds its own. */
static void test_by_start(void **state)
{
    (void)state;
    assay_monitor_options options = by_hand();
    assay_monitor *monitor = open_monitor(&options);
    hand_ns = 2000000;
    uint64_t first = begin(monitor, &outer);
    hand_ns += 10;
    uint64_t second = begin(monitor, &outer);
    hand_ns += 10;
    assert_int_equal(assay_site_end(&outer, monitor, first, false), 20);
    hand_ns += 30;
    assert_int_equal(assay_site_end(&outer, monitor, second, false), 40);
    assert_int_equal(assay_site_end(&outer, monitor, second, false), 0);
    assert_int_equal(assay_site_end(&leaf, monitor, 0, false), 0);
    assay_record *record = record_of(monitor);
    assert_int_equal(record->integrity.mismatched_ends, 2);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assert_int_equal(assay_site_begin(&outer, NULL), 0);
    assert_int_equal(assay_site_end(&outer, NULL, 0, false), 0);
}

/* A child that leaves the blocks of its parent ends nothing, and says nothing of it. */
static void test_fork(void **state)
{
    (void)state;
    assay_monitor *monitor = open_monitor(NULL);
    uint64_t start = begin(monitor, &outer);
    begin(monitor, &inner);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        begin(monitor, &leaf);
        assay_site_end(&leaf, monitor, 0, false);
        assay_site_end(&inner, monitor, 0, false);
        assay_site_end(&outer, monitor, start, false);
        assay_record *record = NULL;
        bool good = assay_monitor_record(monitor, NULL, &record) == ASSAY_OK &&
                    record->operation_count == 1 && record->operations[0].count == 1 &&
                    record->integrity.mismatched_ends == 0;
        _exit(good ? 0 : 1);
    }
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assay_site_end(&inner, monitor, 0, false);
    assay_site_end(&outer, monitor, start, false);
    assay_record *record = record_of(monitor);
    assert_int_equal(record->operation_count, 2);
    assert_int_equal(record->integrity.mismatched_ends, 0);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* The journal is full. A span gathered in the "(other)" of its parent is found by its site alone.
 */
static void test_spans_beyond_the_room(void **state)
{
    (void)state;
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.private_journal = true;
    options.journal_bytes = 4 << 20;
    assay_monitor *monitor = open_monitor(&options);
    begin(monitor, &outer);
    assay_site_end(&outer, monitor, 0, false);
    for (int i = 0; i < 10000; i++) {
        char name[32];
        snprintf(name, sizeof name, "filler %d", i);
        assay_span_end(assay_monitor_begin(monitor, name));
    }
    static assay_site late = {.name = "late"};
    begin(monitor, &outer);
    begin(monitor, &late);
    assert_true(assay_site_end(&late, monitor, 0, false) > 0);
    assert_true(assay_site_end(&outer, monitor, 0, false) > 0);
    assay_record *record = record_of(monitor);
    assert_int_equal(record->integrity.mismatched_ends, 0);
    assert_int_equal(record->integrity.abandoned_spans, 0);
    uint64_t gathered = 0;
    for (size_t i = 0; i < record->operation_count; i++)
        if (record->operations[i].parent >= 0)
            gathered += record->operations[i].count;
    assert_int_equal(gathered, 1);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_order),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_out_of_order),
        cmocka_unit_test(test_children_after_the_parent_ended),
        cmocka_unit_test(test_by_start),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_spans_beyond_the_room),
    };
    return cmocka_run_group_tests(tests, make_clock, drop_clock);
}
