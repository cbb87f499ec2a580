/* The processes of a run in its text: programs by processor time, and those that the heap figures
 * miss. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assay/record.h"
#include "assay/record_build.h"
#include "assay/report.h"

static void add(assay_record *record, int64_t id, const char *name, double user_seconds,
                double peak_bytes, const char *unseen)
{
    assay_record_member member;
    assay_record_member_init(&member);
    member.process_id = id;
    member.name = name;
    member.unseen = unseen;
    if (user_seconds >= 0) {
        member.user_seconds = assay_reading_of(user_seconds);
        member.sys_seconds = assay_reading_of(0);
        member.peak_rss_bytes = assay_reading_of(peak_bytes);
    }
    assert_int_equal(assay_record_add_process(record, &member), ASSAY_OK);
}

static assay_record *make_run(double user_seconds)
{
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    record->kind = "run";
    record->has_process = true;
    record->process.user_seconds = assay_reading_of(user_seconds);
    record->process.sys_seconds = assay_reading_of(0);
    return record;
}

/* The part of the text from the line that begins with `begin` to the one that begins with `end`.
 * Caller frees. */
static char *part_of(const assay_record *record, const char *begin, const char *end)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assert_int_equal(assay_report_print(record, "run", stream, NULL), ASSAY_OK);
    fclose(stream);
    char *first = strstr(text, begin);
    char *last = first != NULL && end != NULL ? strstr(first, end) : NULL;
    if (last != NULL)
        *last = '\0';
    char *part = strdup(first != NULL ? first : "");
    free(text);
    return part;
}

static void test_programs_by_processor_time(void **state)
{
    (void)state;
    assay_record *record = make_run(10);
    add(record, 1, "make", 0, 2 << 20, NULL);
    add(record, 2, "cc1", 3, 30 << 20, NULL);
    add(record, 3, "as", 1, 4 << 20, NULL);
    add(record, 4, "cc1", 4, 20 << 20, NULL);
    add(record, 5, "sh", -1, 0, NULL);
    char *text = part_of(record, "program ", NULL);
    assert_string_equal(
        text, "program                       processes     processor    share       largest\n"
              "cc1                                   2       7.000 s    70.0%     30.00 MiB\n"
              "as                                    1       1.000 s    10.0%     4.000 MiB\n"
              "make                                  1          0 ns     0.0%     2.000 MiB\n"
              "sh                                    1          0 ns     0.0%           n/a\n"
              "not seen by samples                           2.000 s    20.0%\n");
    free(text);
    assay_record_free(record);
}

static void test_rows_are_bounded(void **state)
{
    (void)state;
    char names[40][8];
    assay_record *record = make_run(40);
    for (int i = 0; i < 40; i++) {
        snprintf(names[i], sizeof names[i], "p%02d", i);
        add(record, i + 1, names[i], 1, (double)((i + 1) << 20), NULL);
    }
    char *text = part_of(record, "others", NULL);
    assert_string_equal(
        text, "others                               28       28.00 s    70.0%     40.00 MiB\n");
    free(text);
    assay_record_free(record);
}

/* One program alone, or hardly any time, needs no table. */
static void test_no_table_for_little(void **state)
{
    (void)state;
    assay_record *record = make_run(10);
    add(record, 1, "train", 10, 2 << 20, NULL);
    char *text = part_of(record, "program ", NULL);
    assert_string_equal(text, "");
    free(text);
    add(record, 2, "sh", 0, 1 << 20, NULL);
    record->process.user_seconds.value = 0.05;
    text = part_of(record, "program ", NULL);
    assert_string_equal(text, "");
    free(text);
    assay_record_free(record);
}

static void test_heap_figures_that_are_a_part(void **state)
{
    (void)state;
    static const char without[] = "heap: it was started without LD_PRELOAD";
    assay_record *record = make_run(0);
    record->process.heap_peak_bytes = assay_reading_of(1024);
    record->process.heap_allocations = assay_reading_of(10);
    record->process.heap_leaked_bytes = assay_reading_of(0);
    record->process.heap_unseen_processes = 4;
    add(record, 1, "sh", 0, 0, NULL);
    add(record, 2, "tool", 0, 0, without);
    add(record, 3, "tool", 0, 0, without);
    add(record, 4, "go", 0, 0, "heap: it is statically linked or set-user-id");
    add(record, 5, "other", 0, 0, "2 spans, for which its journal had no room");
    char *text = part_of(record, "heap", "context");
    assert_string_equal(
        text, "heap              ≥ 1.000 KiB peak, ≥ 10 allocations, ≥ 0 B never freed\n"
              "not counted       go: it is statically linked or set-user-id\n"
              "                  tool (2 processes): it was started without LD_PRELOAD\n");
    free(text);
    for (int i = 0; i < 4; i++) {
        static const char *const names[] = {"u", "v", "w", "x"};
        add(record, 10 + i, names[i], 0, 0, without);
    }
    text = part_of(record, "                  and", "context");
    assert_string_equal(text, "                  and 2 more processes\n");
    free(text);
    record->process.heap_unseen_processes = 0;
    text = part_of(record, "heap", "context");
    assert_string_equal(text,
                        "heap              1.000 KiB peak, 10 allocations, 0 B never freed\n");
    free(text);
    assay_record_free(record);
}

/* Which of the two peaks of the tree is shown, the text says. */
static void test_shared_pages(void **state)
{
    (void)state;
    assay_record *record = make_run(0);
    record->process.peak_rss_bytes = assay_reading_of(200 << 20);
    record->process.tree_peak_rss_bytes = assay_reading_of(1000 << 20);
    char *text = part_of(record, "                  ", "context");
    assert_string_equal(
        text, "                  1000 MiB, whole tree at once (sampled; shared pages in each)\n");
    free(text);
    record->process.tree_peak_pss_bytes = assay_reading_of(202 << 20);
    text = part_of(record, "                  ", "context");
    assert_string_equal(text, "                  202.0 MiB, whole tree at once (sampled)\n");
    free(text);
    assay_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs_by_processor_time),
        cmocka_unit_test(test_rows_are_bounded),
        cmocka_unit_test(test_no_table_for_little),
        cmocka_unit_test(test_heap_figures_that_are_a_part),
        cmocka_unit_test(test_shared_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
