/* The history in a SQLite database: which parts of a record become figures, what can be found
 * again, and that a run is saved as a whole or not at all. tests/cli/test_history.sh tests the rest
 * with a server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "assay/record_build.h"
#include "store/figures.h"
#include "store/line.h"
#include "store/session.h"

static char path[64];
static assay__store *store;

static void begin(void)
{
    assay_error error = {0};
    snprintf(path, sizeof path, "/tmp/assay-store-%ld.sqlite", (long)getpid());
    unlink(path);
    assay_status status = assay__store_open(path, true, &error, &store);
    if (status == ASSAY_E_UNSUPPORTED) {
        print_message("%s\n", error.message);
        skip();
    }
    assert_int_equal(status, ASSAY_OK);
}

static void end(void)
{
    assay__store_close(store);
    unlink(path);
}

static assay_record *bench(int day, double seconds)
{
    assay_record *record;
    char created[32];
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    snprintf(created, sizeof created, "2026-01-%02dT00:00:00Z", day);
    record->kind = "bench";
    record->created = assay_record_text(record, created);
    assay_record_subject subject;
    assay_record_subject_init(&subject);
    subject.name = "sort";
    subject.mean_seconds = assay_reading_of(seconds);
    assert_int_equal(assay_record_add_subject(record, &subject), ASSAY_OK);
    return record;
}

static int64_t save(assay_record *record)
{
    assay__store_saved saved;
    assert_int_equal(assay__store_save(store, record, "here", NULL, &saved), ASSAY_OK);
    assert_false(saved.was_there);
    assert_int_equal(assay__store_save(store, record, "here", NULL, &saved), ASSAY_OK);
    assert_true(saved.was_there);
    assay_record_free(record);
    return saved.run;
}

static size_t count_runs(assay__store_filter filter)
{
    assay__store_runs runs;
    assert_int_equal(assay__store_find_runs(store, &filter, NULL, &runs), ASSAY_OK);
    size_t count = runs.count;
    assay__store_runs_release(&runs);
    return count;
}

static const assay__store_figure *figure(const assay__store_figures *figures, const char *benchmark,
                                         const char *metric)
{
    for (size_t i = 0; i < figures->count; i++)
        if (strcmp(figures->items[i].benchmark, benchmark) == 0 &&
            strcmp(figures->items[i].metric, metric) == 0)
            return &figures->items[i];
    fail_msg("no %s of %s", metric, benchmark);
    return NULL;
}

static void figures_have_names(void **state)
{
    (void)state;
    assay_record *record = bench(1, 0.5);
    assay__store_figures figures;
    record->name = "nightly";
    assay_record_subject again = record->subjects[0];
    assert_int_equal(assay_record_add_subject(record, &again), ASSAY_OK);
    again.model = "lstm";
    again.user_seconds = assay_reading_of(0.2);
    again.sys_seconds = assay_reading_of(0.1);
    assert_int_equal(assay_record_add_subject(record, &again), ASSAY_OK);
    assay_record_operation operation;
    assay_record_operation_init(&operation);
    operation.name = "step";
    operation.mean_seconds = assay_reading_of(2);
    assert_int_equal(assay_record_add_operation(record, &operation), ASSAY_OK);
    operation.name = "forward";
    operation.parent = 0;
    operation.mean_seconds = assay_reading_missing(ASSAY_UNSUPPORTED);
    operation.heap_peak_bytes = assay_reading_of(7);
    assert_int_equal(assay_record_add_operation(record, &operation), ASSAY_OK);
    assert_int_equal(assay__store_figures_of(record, &figures), ASSAY_OK);
    assert_true(figure(&figures, "nightly/sort", "wall_seconds")->value == 0.5);
    assert_string_equal(figure(&figures, "nightly/sort #2", "wall_seconds")->unit, "s");
    assert_true(figure(&figures, "nightly/lstm/sort", "cpu_seconds")->value > 0.29);
    assert_true(figure(&figures, "nightly/step", "wall_seconds")->value == 2);
    assert_string_equal(figure(&figures, "nightly/step/forward", "heap_peak_bytes")->unit, "bytes");
    assert_int_equal(figures.count, 6); /* and nothing that was not measured */
    assay__store_figures_release(&figures);
    assay_record_free(record);
}

/* What has no name has one name: the run, its spans and the results of a study alike. */
static void unnamed_figures_have_one_name(void **state)
{
    (void)state;
    assay_record *record;
    assay__store_figures figures;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    record->has_process = true;
    record->process.wall_seconds = assay_reading_of(3);
    assay_record_figure result = {.name = "loss", .value = assay_reading_of(0.5)};
    assert_int_equal(assay_record_add_figure(record, &result), ASSAY_OK);
    assay_record_subject subject;
    assay_record_subject_init(&subject);
    subject.name = "";
    subject.mean_seconds = assay_reading_of(1);
    assert_int_equal(assay_record_add_subject(record, &subject), ASSAY_OK);
    assert_int_equal(assay__store_figures_of(record, &figures), ASSAY_OK);
    assert_true(figure(&figures, "(unnamed)", "wall_seconds")->value == 1);
    assert_true(figure(&figures, "(unnamed) #2", "wall_seconds")->value == 3);
    assert_true(figure(&figures, "(unnamed)", "loss")->value == 0.5);
    assay__store_figures_release(&figures);
    assay_record_free(record);
}

static void long_names_stay_apart(void **state)
{
    (void)state;
    static char text[100001];
    assay__arena *arena = assay__arena_new(1 << 20);
    memset(text, 'x', sizeof text - 1);
    const char *one = assay__store_name(arena, text);
    text[sizeof text - 2] = 'y';
    const char *other = assay__store_name(arena, text);
    assert_true(strlen(one) < ASSAY__STORE_NAME_MAX && strlen(one) > 800);
    assert_string_not_equal(one, other);
    memset(text, 0, sizeof text);
    for (size_t i = 0; i + 3 < 3000; i += 3)
        memcpy(text + i, "€", 3); /* cut between characters */
    assert_null(strchr(assay__store_name(arena, text), '?'));
    assert_string_equal(assay__store_name(arena, "a\033b"), "a?b");
    assay__arena_free(arena);
}

static void runs_are_found_and_deleted(void **state)
{
    (void)state;
    begin();
    for (int day = 1; day <= 20; day++)
        assert_int_equal(save(bench(day, (day < 11 ? 1 : 2) + (day * 7 % 5) * 1e-3)), day);
    assert_int_equal(count_runs((assay__store_filter){0}), 20);
    assert_int_equal(count_runs((assay__store_filter){.last = 3}), 3);
    assert_int_equal(count_runs((assay__store_filter){.benchmark = "s*t"}), 20);
    assert_int_equal(count_runs((assay__store_filter){.benchmark = "s_rt*"}), 0);
    assert_int_equal(count_runs((assay__store_filter){.machine = "there"}), 0);
    assay__store_series_list list;
    const assay__store_filter filter = {.benchmark = "sort", .metric = "wall_seconds"};
    assert_int_equal(assay__store_find_series(store, &filter, NULL, &list), ASSAY_OK);
    assert_int_equal(list.count, 1);
    assert_int_equal(assay__store_read_series(store, &filter, NULL, &list, 0), ASSAY_OK);
    assert_int_equal(list.items[0].count, 20);
    assert_true(list.items[0].points[0].value == 1.002);
    assert_int_equal(list.items[0].change_count, 1);
    assert_int_equal(list.items[0].points[list.items[0].changes[0].at].run, 11);
    assert_true(list.items[0].changes[0].before < 1.1 && list.items[0].changes[0].after > 2);
    assay__store_series_list_release(&list);

    assay__store_runs runs;
    const assay__store_filter first = {.run = 1};
    assert_int_equal(assay__store_find_runs(store, &first, NULL, &runs), ASSAY_OK);
    assert_int_equal(assay__store_tag(store, &runs, "kept", false, NULL), ASSAY_OK);
    assert_int_equal(assay__store_tag(store, &runs, "kept", false, NULL), ASSAY_OK);
    assay__store_runs_release(&runs);
    assert_int_equal(count_runs((assay__store_filter){.tag = "kept"}), 1);
    size_t deleted;
    assay__store_retention rules = {.keep = 5, .dry = true};
    assert_int_equal(assay__store_prune(store, &rules, NULL, &deleted), ASSAY_OK);
    assert_int_equal(deleted, 14);
    assert_int_equal(count_runs((assay__store_filter){0}), 20);
    rules.dry = false;
    assert_int_equal(assay__store_prune(store, &rules, NULL, &deleted), ASSAY_OK);
    assert_int_equal(count_runs((assay__store_filter){0}), 6);
    assay_record *record = NULL;
    assert_int_equal(assay__store_read_record(store, 2, NULL, &record), ASSAY_E_NOT_FOUND);
    assert_int_equal(assay__store_read_record(store, 1, NULL, &record), ASSAY_OK);
    assert_string_equal(record->subjects[0].name, "sort");
    assay_record_free(record);
    end();
}

/* Beside a figure of 0, one that is too large for statistics. */
static void huge_figures_have_a_series(void **state)
{
    (void)state;
    begin();
    for (int day = 1; day <= 20; day++)
        save(bench(day, day > 10 ? 1.7e308 : 0));
    assay__store_series_list list;
    const assay__store_filter filter = {.benchmark = "sort", .metric = "wall_seconds"};
    assert_int_equal(assay__store_find_series(store, &filter, NULL, &list), ASSAY_OK);
    assert_int_equal(assay__store_read_series(store, &filter, NULL, &list, 0), ASSAY_OK);
    assert_int_equal(list.items[0].count, 20);
    assert_int_equal(list.items[0].change_count, 1);
    assert_int_equal(list.items[0].points[list.items[0].changes[0].at].run, 11);
    assert_true(list.items[0].changes[0].after == 1.7e308);
    assay__store_series_list_release(&list);
    end();
}

/* The last statement of the transaction fails: nothing of the run is there. */
static void nothing_is_half_saved(void **state)
{
    (void)state;
    begin();
    assay__store_saved saved;
    assay_error error = {0};
    assay_record *record = bench(1, 1);
    assert_int_equal(assay__store_execute(store, "DROP TABLE assay_document", NULL), ASSAY_OK);
    assert_int_not_equal(assay__store_save(store, record, NULL, &error, &saved), ASSAY_OK);
    assert_non_null(strstr(error.message, "assay_document"));
    assay__store_series_list list;
    const assay__store_filter all = {0};
    assert_int_equal(count_runs(all), 0);
    assert_int_equal(assay__store_find_series(store, &all, NULL, &list), ASSAY_OK);
    assert_int_equal(list.count, 0);
    assay__store_series_list_release(&list);
    assay_record_free(record);
    end();
}

/* The file would become longer than this process may write. */
static void a_limit_on_the_size_of_files_is_an_error(void **state)
{
    (void)state;
    begin();
    assay__store_saved saved;
    assay_error error = {0};
    assay_record *record = bench(1, 1);
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){100, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assay_status status = assay__store_save(store, record, NULL, &error, &saved);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_not_equal(status, ASSAY_OK);
    assert_true(error.message[0] != '\0');
    assert_int_equal(count_runs((assay__store_filter){0}), 0);
    assert_int_equal(save(record), 1);
    end();
}

static void other_databases_are_refused(void **state)
{
    (void)state;
    begin();
    assay_error error = {0};
    assay__store *again;
    /* A folder. The caller of assay__store_open() names it. */
    assert_int_equal(assay__store_open("/", false, &error, &again), ASSAY_E_PERMISSION);
    assert_string_equal(error.message, "the history cannot be used: unable to open database file; "
                                       "the file and its folder must be writable");
    assert_int_equal(assay__store_execute(store, "UPDATE assay_history SET version = 9", NULL),
                     ASSAY_OK);
    assert_int_equal(assay__store_open(path, true, &error, &again), ASSAY_E_VERSION);
    assert_null(again);
    assert_int_equal(assay__store_execute(store, "DROP TABLE assay_history", NULL), ASSAY_OK);
    assert_int_equal(assay__store_open(path, true, &error, &again), ASSAY_E_FORMAT);
    assert_int_equal(assay__store_open(path, false, &error, &again), ASSAY_E_NOT_FOUND);
    end();
}

static void lines_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        assay_status status;
    } bad[] = {{"", ASSAY_E_TRUNCATED},
               {"[1]", ASSAY_E_FORMAT},
               {"{\"assay_history\": 2}", ASSAY_E_VERSION},
               {"{\"assay_history\": \"1\"}", ASSAY_E_FORMAT},
               {"{\"assay_history\": 1}", ASSAY_E_FORMAT},
               {"{\"assay_history\": 1, \"tags\": [\"a,b\"], \"record\": {}}", ASSAY_E_FORMAT},
               {"{\"assay_history\": 1, \"machine\": 1, \"record\": {}}", ASSAY_E_FORMAT}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assay__store_line line;
        assay_error error = {0};
        assert_int_equal(assay__store_line_read(bad[i].text, strlen(bad[i].text), &error, &line),
                         bad[i].status);
        assert_true(error.message[0] != '\0' && line.record == NULL);
    }
    begin();
    assay__store_runs runs;
    char *text = NULL;
    size_t length;
    save(bench(1, 1));
    const assay__store_filter all = {0};
    assert_int_equal(assay__store_find_runs(store, &all, NULL, &runs), ASSAY_OK);
    assert_int_equal(assay__store_tag(store, &runs, "b", false, NULL), ASSAY_OK);
    assert_int_equal(assay__store_tag(store, &runs, "a", false, NULL), ASSAY_OK);
    assay__store_runs_release(&runs);
    assert_int_equal(assay__store_find_runs(store, &all, NULL, &runs), ASSAY_OK);
    assert_string_equal(runs.items[0].tags, "a, b");
    FILE *stream = open_memstream(&text, &length);
    assert_int_equal(assay__store_line_write(store, &runs.items[0], stream, NULL), ASSAY_OK);
    fclose(stream);
    assay__store_line line;
    assert_int_equal(assay__store_line_read(text, length, NULL, &line), ASSAY_OK);
    assert_string_equal(line.machine, "here");
    assert_int_equal(line.tag_count, 2);
    assert_string_equal(line.tags[1], "b");
    assay__store_saved saved; /* what went out and came in is the same run */
    assert_int_equal(assay__store_save(store, line.record, line.machine, NULL, &saved), ASSAY_OK);
    assert_true(saved.was_there);
    assay__store_line_release(&line);
    assay__store_runs_release(&runs);
    free(text);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_have_names),
        cmocka_unit_test(unnamed_figures_have_one_name),
        cmocka_unit_test(long_names_stay_apart),
        cmocka_unit_test(runs_are_found_and_deleted),
        cmocka_unit_test(huge_figures_have_a_series),
        cmocka_unit_test(a_limit_on_the_size_of_files_is_an_error),
        cmocka_unit_test(nothing_is_half_saved),
        cmocka_unit_test(other_databases_are_refused),
        cmocka_unit_test(lines_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
