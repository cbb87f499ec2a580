/* Monitors that are switched off, misused, or filled beyond their limits: every such case is
 * counted, reported and harmless. */
#include "tests/unit/monitor_fixture.h"

#include <pthread.h>
#include <stdio.h>

static void test_null_and_disabled_monitors_do_nothing(void **state)
{
    (void)state;
    int visits = 0;
    ASSAY_TRACK(NULL, "nothing") {
        visits++;
    }
    assay_monitor_options options = by_hand();
    options.disabled = true;
    assay_monitor *monitor = open_monitor(&options);
    assert_false(assay_monitor_enabled(monitor));
    assert_false(assay_monitor_enabled(NULL));
    ASSAY_TRACK(monitor, "nothing") {
        visits++;
    }
    ASSAY_METRIC(monitor, "nothing") {
        visits++;
    }
    assay_span span = assay_monitor_begin(monitor, "nothing");
    assert_int_equal(assay_span_end_ns(span), 0);
    assay_monitor_add(monitor, "nothing", 5);
    assay_monitor_count(monitor, "nothing", 5);
    assay_monitor_clear(monitor);
    assert_int_equal(visits, 3);
    assay_record *record = record_of(monitor);
    assert_int_equal(record->operation_count, 0);
    assay_record_free(record);
    record = record_of(NULL);
    assert_int_equal(record->operation_count, 0);
    assay_record_free(record);
    assay_monitor_free(monitor);
    assay_monitor_free(NULL);
}

static void test_hostile_names_are_kept_safe(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    char *huge = malloc(1 << 20);
    assert_non_null(huge);
    memset(huge, 'n', (1 << 20) - 1);
    huge[(1 << 20) - 1] = '\0';
    assay_span_end(assay_monitor_begin(monitor, huge));
    assay_span_end(assay_monitor_begin(monitor, "line\nbreak\x1b[2J"));
    assay_span_end(assay_monitor_begin(monitor, ""));
    assay_span_end(assay_monitor_begin(monitor, NULL));
    assay_record *record = record_of(monitor);
    assert_int_equal(record->operation_count, 3);
    assert_int_equal(strlen(record->operations[0].name), 255);
    assert_string_equal(record->operations[1].name, "line?break?[2J");
    assert_string_equal(record->operations[2].name, "(unnamed)");
    assert_int_equal(record->operations[2].count, 2);
    assay_record_free(record);
    free(huge);
    assay_monitor_free(monitor);
}

static void test_mismatched_ends_are_counted_and_harmless(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    assay_span outer = assay_monitor_begin(monitor, "outer");
    assay_span inner = assay_monitor_begin(monitor, "inner");
    hand_ns += 100;
    assay_span_end(outer); /* inner was forgotten */
    assay_span_end(inner); /* too late */
    assay_span_end(outer); /* twice */
    ASSAY_TRACK(monitor, "after") {
        hand_ns += 1;
    }
    assay_record *record = record_of(monitor);
    assert_int_equal(record->integrity.abandoned_spans, 1);
    assert_int_equal(record->integrity.mismatched_ends, 2);
    assert_int_equal(operation_of(record, "outer")->count, 1);
    assert_int_equal(operation_of(record, "inner")->count, 0);
    assert_int_equal(operation_of(record, "after")->parent, -1);
    assert_int_equal(operation_of(record, "after")->count, 1);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* A span that ended says nothing to a later one that stands where it stood. */
static void test_an_end_that_comes_again_leaves_later_spans_alone(void **state)
{
    (void)state;
    assay_monitor *monitor = open_monitor(NULL);
    assay_span first = assay_monitor_begin(monitor, "first");
    assay_span_end(first);
    for (int i = 0; i < 3; i++) {
        assay_span later = assay_monitor_begin(monitor, "later");
        assay_span_end(first);
        (void)assay_span_end_ns(first);
        assay_span_end(later);
    }
    assay_record *record = record_of(monitor);
    assert_int_equal(record->integrity.mismatched_ends, 6);
    assert_int_equal(operation_of(record, "first")->count, 1);
    assert_int_equal(operation_of(record, "later")->count, 3);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void test_huge_durations_do_not_wrap_around(void **state)
{
    (void)state;
    assay_monitor *monitor = open_monitor(NULL);
    assay_monitor_add(monitor, "eternity", UINT64_MAX);
    assay_record *record = record_of(monitor);
    double once = operation_of(record, "eternity")->total_seconds;
    assay_record_free(record);
    assay_monitor_add(monitor, "eternity", UINT64_MAX);
    record = record_of(monitor);
    assert_int_equal(operation_of(record, "eternity")->count, 2);
    assert_true(once > 1e9 && operation_of(record, "eternity")->total_seconds >= once);
    assay_record_free(record);
    assay_monitor_add(monitor, "eternity", UINT64_MAX);
    for (int i = 0; i < 1000; i++) /* most of them take the fast path */
        assay_span_end(assay_monitor_begin(monitor, "eternity"));
    record = record_of(monitor);
    assert_true(operation_of(record, "eternity")->total_seconds >= once);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void *end_elsewhere(void *span)
{
    assay_span_end(*(assay_span *)span);
    return NULL;
}

static void test_an_end_on_another_thread_is_counted(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    assay_span span = assay_monitor_begin(monitor, "mine");
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, end_elsewhere, &span), 0);
    pthread_join(thread, NULL);
    assay_record *record = record_of(monitor);
    assert_int_equal(record->integrity.mismatched_ends, 1);
    assert_int_equal(record->open_span_count, 1);
    assert_string_equal(record->open_spans[0].operation, "mine");
    assay_record_free(record);
    assay_span_end(span);
    record = record_of(monitor);
    assert_int_equal(operation_of(record, "mine")->count, 1);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void recurse(assay_monitor *monitor, int depth)
{
    if (depth == 0)
        return;
    ASSAY_TRACK(monitor, "recurse") {
        hand_ns += 1;
        recurse(monitor, depth - 1);
    }
}

static void test_nesting_beyond_the_limit_is_dropped_and_said(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    recurse(monitor, 1000);
    recurse(monitor, 1000);
    assay_record *record = record_of(monitor);
    assert_int_equal(record->operation_count, ASSAY_LANE_FRAMES - 1);
    assert_int_equal(record->integrity.dropped_spans, 2 * (1000 - (ASSAY_LANE_FRAMES - 1)));
    assert_int_equal(record->operations[0].count, 2);
    assert_seconds(record->operations[0].total_seconds, 2000e-9);
    assert_int_equal(record->open_span_count, 0);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* The journal is full, and no span is lost. */
static void test_operations_beyond_the_room_are_the_others(void **state)
{
    (void)state;
    enum { NAMES = 10000 };
    assay_monitor_options options = by_hand();
    options.journal_bytes = 4 << 20;
    assay_monitor *monitor = open_monitor(&options);
    for (int i = 0; i < NAMES; i++) {
        char name[32];
        snprintf(name, sizeof name, "batch %d", i);
        assay_span_end(assay_monitor_begin(monitor, name));
    }
    ASSAY_TRACK(monitor, "still works, or is counted") {
        hand_ns += 1;
    }
    assay_record *record = record_of(monitor);
    assert_in_range(record->operation_count, 1000, NAMES - 1);
    assert_int_equal(record->integrity.dropped_spans, 0);
    assert_int_equal(operation_of(record, "(other)")->count,
                     NAMES + 1 - (record->operation_count - 1));
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* Fill the journal with operations at the top level. */
static void fill(assay_monitor *monitor)
{
    for (int i = 0; i < 10000; i++) {
        char name[32];
        snprintf(name, sizeof name, "filler %d", i);
        assay_span_end(assay_monitor_begin(monitor, name));
    }
}

/* The journal is full. A new operation below another one is gathered below that one: its time is in
 * the total once. */
static void test_nested_operations_beyond_the_room_are_in_the_total_once(void **state)
{
    (void)state;
    assay_monitor_options options = by_hand();
    options.journal_bytes = 4 << 20;
    assay_monitor *monitor = open_monitor(&options);
    for (int round = 0; round < 2; round++) {
        assay_span step = assay_monitor_begin(monitor, "step");
        if (round == 1) {
            assay_span late = assay_monitor_begin(monitor, "late");
            assay_span later = assay_monitor_begin(monitor, "within late");
            hand_ns += 5;
            assay_span_end(later);
            assay_span_end(late);
            assay_monitor_add(monitor, "added late", 1);
        }
        hand_ns += 10;
        assay_span_end(step);
        if (round == 0)
            fill(monitor);
    }
    assay_record *record = record_of(monitor);
    const assay_record_operation *step = operation_of(record, "step");
    const assay_record_operation *gathered = NULL;
    for (size_t i = 0; i < record->operation_count; i++)
        if (record->operations[i].parent == (int32_t)(step - record->operations))
            gathered = &record->operations[i];
    assert_seconds(record->total_seconds, 25e-9);
    assert_seconds(step->total_seconds, 25e-9);
    assert_seconds(step->self_seconds, 19e-9);
    assert_non_null(gathered);
    assert_string_equal(gathered->name, "(other)");
    assert_int_equal(gathered->count, 2);
    assert_seconds(gathered->total_seconds, 6e-9);
    assert_int_equal(record->integrity.dropped_spans, 1); /* "within late" */
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* When the room for gathering nodes is used up too, nested spans are dropped and counted. */
static void test_nested_operations_beyond_every_room_are_dropped(void **state)
{
    (void)state;
    enum { PARENTS = 4000 };
    assay_monitor_options options = by_hand();
    options.journal_bytes = 4 << 20;
    assay_monitor *monitor = open_monitor(&options);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < PARENTS; i++) {
            char name[32];
            snprintf(name, sizeof name, "parent %d", i);
            assay_span parent = assay_monitor_begin(monitor, name);
            assay_span child = round == 1 ? assay_monitor_begin(monitor, "late") : (assay_span){0};
            hand_ns += 1;
            if (round == 1)
                assay_span_end(child);
            assay_span_end(parent);
        }
        if (round == 0)
            fill(monitor);
    }
    assay_record *record = record_of(monitor);
    uint64_t gathered = 0;
    for (size_t i = 0; i < record->operation_count; i++)
        if (record->operations[i].parent >= 0)
            gathered += record->operations[i].count;
    assert_seconds(record->total_seconds, 2 * PARENTS * 1e-9);
    assert_in_range(gathered, 100, PARENTS - 1);
    assert_int_equal(gathered + record->integrity.dropped_spans, PARENTS);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* Beyond the room for names the new ones are one operation; the known ones go on. */
static void test_names_beyond_the_room_are_the_others(void **state)
{
    (void)state;
    enum { NAMES = 9000, TWICE = 2 };
    assay_monitor_options options = by_hand();
    options.journal_bytes = 64 << 20;
    assay_monitor *monitor = open_monitor(&options);
    for (int round = 0; round < TWICE; round++)
        for (int i = 0; i < NAMES; i++) {
            char name[32];
            snprintf(name, sizeof name, "name %d", i);
            assay_span_end(assay_monitor_begin(monitor, name));
        }
    ASSAY_TRACK(monitor, "a literal name that comes late") {
    }
    assay_record *record = record_of(monitor);
    uint64_t spans = 0;
    for (size_t i = 0; i < record->operation_count; i++)
        spans += record->operations[i].count;
    assert_int_equal(spans, TWICE * NAMES + 1);
    assert_int_equal(record->integrity.dropped_spans, 0);
    assert_int_equal(operation_of(record, "name 0")->count, TWICE);
    assert_int_equal(operation_of(record, "name 8000")->count, TWICE);
    assert_null(find_operation(record, "name 8999"));
    assert_int_equal(operation_of(record, "(other)")->count,
                     TWICE * (NAMES - (record->operation_count - 1)) + 1);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* A record has room for 65,536 operations. The new ones beyond are gathered below their parents,
 * and what is below those is counted as dropped. */
static void test_operations_beyond_the_record_are_the_others_of_their_parent(void **state)
{
    (void)state;
    enum { PARENTS = 300, CHILDREN = 300, MOST = 1 << 16 };
    assay_monitor *monitor = new_monitor();
    for (int i = 0; i < PARENTS; i++) {
        char name[32];
        snprintf(name, sizeof name, "parent %d", i);
        assay_span around = assay_monitor_begin(monitor, name);
        for (int j = 0; j < CHILDREN; j++) {
            snprintf(name, sizeof name, "child %d", j);
            assay_span child = assay_monitor_begin(monitor, name);
            assay_span grandchild = assay_monitor_begin(monitor, "grandchild");
            hand_ns += 1;
            assay_span_end(grandchild);
            assay_span_end(child);
        }
        assay_span_end(around);
    }
    assay_record *record = record_of(monitor);
    uint64_t spans = 0, parents = 0;
    for (size_t i = 0; i < record->operation_count; i++) {
        spans += record->operations[i].count;
        parents += strncmp(record->operations[i].name, "parent", 6) == 0;
    }
    const assay_record_operation *last = &record->operations[record->operation_count - 1];
    assert_int_equal(record->operation_count, MOST + 2);
    assert_int_equal(parents, MOST / (1 + 2 * CHILDREN) + 1);
    assert_string_equal(last[-1].name, "(other)");
    assert_string_equal(record->operations[last[-1].parent].name, "parent 109");
    assert_string_equal(last->name, "(other)");
    assert_int_equal(last->parent, -1);
    assert_int_equal(last->count, PARENTS - parents);
    assert_int_equal(spans + record->integrity.dropped_spans, PARENTS * (1 + 2 * CHILDREN));
    assert_int_equal(last[-1].count + record->integrity.dropped_spans,
                     (PARENTS - parents) * 2 * CHILDREN + 2 * (CHILDREN - 13));
    assert_seconds(record->total_seconds, PARENTS * CHILDREN * 1e-9);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

/* A clock that steps back must not give a span of 584 years. */
static void test_a_clock_that_steps_back_gives_zero(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    hand_ns = 1000000;
    ASSAY_TRACK(monitor, "op") {
        hand_ns = 500000;
    }
    assay_record *record = record_of(monitor);
    assert_int_equal(operation_of(record, "op")->count, 1);
    assert_seconds(operation_of(record, "op")->total_seconds, 0);
    assay_record_free(record);
    assay_monitor_free(monitor);
}

static void test_bad_options_are_refused(void **state)
{
    (void)state;
    assay_monitor *monitor = NULL;
    assay_error error;
    assay_monitor_options options = by_hand();
    options.struct_size = 3;
    assert_int_equal(assay_monitor_open(&options, &error, &monitor), ASSAY_E_ARGUMENT);
    options = by_hand();
    options.journal_bytes = 100;
    assert_int_equal(assay_monitor_open(&options, &error, &monitor), ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "100"));
    options = by_hand();
    options.private_journal = false;
    options.journal_path = "/nonexistent/dir/x.assay";
    assert_int_equal(assay_monitor_open(&options, &error, &monitor), ASSAY_E_NOT_FOUND);
    assert_non_null(strstr(error.message, "/nonexistent/dir/x.assay"));
    assert_null(monitor);
    assert_int_equal(assay_monitor_new(NULL, NULL), ASSAY_E_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null_and_disabled_monitors_do_nothing),
        cmocka_unit_test(test_hostile_names_are_kept_safe),
        cmocka_unit_test(test_mismatched_ends_are_counted_and_harmless),
        cmocka_unit_test(test_an_end_that_comes_again_leaves_later_spans_alone),
        cmocka_unit_test(test_huge_durations_do_not_wrap_around),
        cmocka_unit_test(test_an_end_on_another_thread_is_counted),
        cmocka_unit_test(test_nesting_beyond_the_limit_is_dropped_and_said),
        cmocka_unit_test(test_operations_beyond_the_room_are_the_others),
        cmocka_unit_test(test_nested_operations_beyond_the_room_are_in_the_total_once),
        cmocka_unit_test(test_nested_operations_beyond_every_room_are_dropped),
        cmocka_unit_test(test_names_beyond_the_room_are_the_others),
        cmocka_unit_test(test_operations_beyond_the_record_are_the_others_of_their_parent),
        cmocka_unit_test(test_a_clock_that_steps_back_gives_zero),
        cmocka_unit_test(test_bad_options_are_refused),
    };
    return cmocka_run_group_tests(tests, make_clock, drop_clock);
}
