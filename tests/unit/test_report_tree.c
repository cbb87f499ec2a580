/* The call tree and the run summary as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assay/record.h"
#include "base/text.h"
#include "record/build.h"
#include "report/export.h"
#include "report/format.h"

static void add(assay_record *record, const char *name, int32_t parent, double total)
{
    assay_record_operation operation;
    assay_record_operation_init(&operation);
    operation.name = name;
    operation.parent = parent;
    operation.count = 1;
    operation.total_seconds = total;
    assert_int_equal(assay_record_add_operation(record, &operation), ASSAY_OK);
}

/* What a printer prints; caller frees. */
static char *printed(assay_status (*print)(const assay_record *, FILE *, assay_error *),
                     const assay_record *record)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assay_error error = {0};
    assert_int_equal(print(record, stream, &error), ASSAY_OK);
    assert_int_equal(fclose(stream), 0);
    return text;
}

/* What was measured is named in full. */
static bool is_title(const char *line)
{
    return strncmp(line, "monitor ", 8) == 0 || strncmp(line, "name ", 5) == 0 ||
           strncmp(line, "command ", 8) == 0;
}

static void assert_fits(char *text)
{
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        if (assay__text_columns(line) > 80 && !is_title(line))
            fail_msg("wider than 80 columns: %s", line);
}

static assay_record *new_record(void)
{
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    return record;
}

/* Characters of two columns move nothing, wherever a name is cut. */
static void wide_names_keep_the_columns(void **state)
{
    (void)state;
    static const char *const names[] = {"ab", "名前", "a名前名前名前名前名前名前名前",
                                        "名前名前名前名前名前名前名前a"};
    for (size_t width = 4; width < 12; width++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            for (int ends = 0; ends < 2; ends++) {
                char *text = NULL;
                size_t length = 0;
                FILE *stream = open_memstream(&text, &length);
                assert_non_null(stream);
                (ends ? assay__format_ends : assay__format_left)(stream, names[i], width);
                assert_int_equal(fclose(stream), 0);
                assert_int_equal(assay__text_columns(text), width);
                free(text);
            }
    const char *rest = "名前";
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    while (*rest != '\0')
        assay__format_cell(stream, &rest, 1);
    assert_int_equal(fclose(stream), 0);
    assert_string_equal(text, "名前");
    free(text);
}

static void children_stand_below_their_parent_most_expensive_first(void **state)
{
    (void)state;
    assay_record *record = new_record();
    add(record, "cheap", -1, 1);
    add(record, "dear", -1, 9);
    add(record, "of-cheap", 0, 0.5);
    add(record, "of-dear-small", 1, 2);
    add(record, "of-dear-large", 1, 6);
    add(record, "deepest", 4, 5);
    static const char *const expected[] = {
        "dear", "  of-dear-large", "    deepest", "  of-dear-small", "cheap", "  of-cheap"};
    char *text = printed(assay__report_tree, record);
    char *at = strchr(strchr(text, '\n') + 1, '\n') + 1;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(strncmp(at, expected[i], strlen(expected[i])), 0);
        assert_true(at[strlen(expected[i])] == ' ');
        at = strchr(at, '\n') + 1;
    }
    assert_string_equal(at, "");
    free(text);
    assay_record_free(record);
}

/* A tree as deep as a hostile record can make it must not need a stack as deep. */
static void a_chain_of_half_a_million_is_printed(void **state)
{
    (void)state;
    enum { DEPTH = 500000 };
    assay_record *record = new_record();
    for (int32_t i = 0; i < DEPTH; i++)
        add(record, "n", i - 1, 1);
    char *text = printed(assay__report_tree, record);
    size_t lines = 0;
    for (const char *at = text; *at != '\0'; at++)
        lines += *at == '\n';
    assert_int_equal(lines, DEPTH + 2);
    free(text);
    assay_record_free(record);
}

static void parents_out_of_range_are_shown_at_the_top(void **state)
{
    (void)state;
    assay_record *record = new_record();
    add(record, "own-parent", 0, 1);
    add(record, "later-parent", 2, 1);
    add(record, "lost", 1000, 1);
    char *text = printed(assay__report_tree, record);
    assert_non_null(strstr(text, "\nown-parent "));
    assert_non_null(strstr(text, "\nlater-parent "));
    assert_non_null(strstr(text, "\nlost "));
    free(text);
    assay_record_free(record);
}

static void everything_fits_in_80_columns(void **state)
{
    (void)state;
    assay_record *record = new_record();
    char name[300];
    memset(name, 'w', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (int32_t i = 0; i < 40; i++)
        add(record, name, i - 1, 123456.789);
    for (size_t i = 0; i < record->operation_count; i++) {
        record->operations[i].count = UINT64_MAX;
        record->operations[i].mean_seconds = assay_reading_of(999.95e-6);
        record->operations[i].p99_seconds = assay_reading_of(-0.0009999);
    }
    assay_record_open_span span = {name, 99, 77, 1234.5, {0}};
    assay_record_counter counter = {name, UINT64_MAX, -1.2345678e-5, 1e300, -1e-300, 0, {0}};
    assay_record_metric metric;
    assay_record_metric_init(&metric);
    metric.operation = name;
    metric.depth = 5;
    metric.cpu_delta_bytes = assay_reading_of(-1e18);
    assert_int_equal(assay__record_add_open_span(record, &span), ASSAY_OK);
    assert_int_equal(assay_record_add_counter(record, &counter), ASSAY_OK);
    assert_int_equal(assay_record_add_metric(record, &metric), ASSAY_OK);
    record->name = name;
    record->has_process = true;
    record->process.command = (const char *const[]){name, name};
    record->process.command_count = 2;
    char *journal = printed(assay__report_journal, record),
         *run = printed(assay__report_run, record);
    assert_fits(journal);
    assert_fits(run);
    free(journal);
    free(run);
    assay_record_free(record);
}

static void a_missing_figure_is_shown_with_its_reason(void **state)
{
    (void)state;
    assay_record *record = new_record();
    record->has_process = true;
    record->process.finished = true;
    record->process.signal = 9;
    record->process.wall_seconds = assay_reading_of(1.5);
    record->process.peak_rss_bytes = assay_reading_missing(ASSAY_NOT_PERMITTED);
    record->process.heap_peak_bytes = assay_reading_missing(ASSAY_UNSUPPORTED);
    char *text = printed(assay__report_run, record);
    assert_non_null(strstr(text, "killed by signal 9 (SIGKILL)"));
    assert_non_null(strstr(text, "1.500 s"));
    assert_non_null(strstr(text, "not permitted, largest process"));
    assert_non_null(strstr(text, "heap              unsupported"));
    assert_null(strstr(text, "cores busy"));
    free(text);
    assay_record_free(record);
}

static void figures_keep_four_digits(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *seconds, *bytes;
    } cases[] = {
        {0, "0 ns", "0 B"},
        {0.3125e-9, "0.312 ns", "0 B"},
        {1e-9, "1 ns", "0 B"},
        {23.4e-9, "23.40 ns", "0 B"},
        {99.996e-9, "100 ns", "0 B"},
        {999.4e-9, "999 ns", "0 B"},
        {999.6e-9, "1.000 µs", "0 B"},
        {12.3456e-6, "12.35 µs", "0 B"},
        {999.96e-6, "1.000 ms", "0 B"},
        {0.99996, "1.000 s", "1 B"},
        {1023, "1023 s", "1023 B"},
        {1024, "1024 s", "1.000 KiB"},
        {1048576, "1048576 s", "1.000 MiB"},
        {123456789, "123456789 s", "117.7 MiB"},
    };
    char text[ASSAY__FORMAT_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(assay__format_seconds(cases[i].value, text), cases[i].seconds);
        assert_string_equal(assay__format_bytes(cases[i].value, text), cases[i].bytes);
    }
    assert_string_equal(assay__format_count(9999999, text), "9999999");
    assert_string_equal(assay__format_count(10000000, text), "10.00M");
    assert_string_equal(assay__format_count(UINT64_MAX, text), "18.45E");
}

/* The lines of a cell. A text of megabytes takes no longer than its length says: reading all of it
 * again for each line takes a quarter of an hour. */
static void cells_of_many_lines_take_one_pass(void **state)
{
    (void)state;
    enum { WORDS = 300000, WIDTH = 27 };
    static const char word[] = "1 ± 5 % word";
    static char text[WORDS * sizeof word + 1];
    for (size_t i = 0; i < WORDS; i++) {
        memcpy(text + i * sizeof word, word, sizeof word - 1);
        text[(i + 1) * sizeof word - 1] = ' ';
    }
    char *shown = NULL;
    size_t bytes, lines = 0;
    FILE *stream = open_memstream(&shown, &bytes);
    assert_non_null(stream);
    for (const char *rest = text; *rest != '\0'; lines++) {
        size_t columns = assay__format_cell(stream, &rest, WIDTH);
        assert_true(columns > 0 && columns <= WIDTH);
        fputc('\n', stream);
    }
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(lines, WORDS / 2);
    assert_memory_equal(shown, "1 ± 5 % word 1 ± 5 % word\n", 28);
    free(shown);
    memset(text, 'x', sizeof text - 1);
    stream = fopen("/dev/null", "w");
    assert_non_null(stream);
    lines = 0;
    for (const char *rest = text; *rest != '\0'; lines++)
        assert_in_range(assay__format_cell(stream, &rest, WIDTH), 1, WIDTH);
    fclose(stream);
    assert_int_equal(lines, (sizeof text - 1 + WIDTH - 1) / WIDTH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_names_keep_the_columns),
        cmocka_unit_test(children_stand_below_their_parent_most_expensive_first),
        cmocka_unit_test(a_chain_of_half_a_million_is_printed),
        cmocka_unit_test(parents_out_of_range_are_shown_at_the_top),
        cmocka_unit_test(everything_fits_in_80_columns),
        cmocka_unit_test(a_missing_figure_is_shown_with_its_reason),
        cmocka_unit_test(figures_keep_four_digits),
        cmocka_unit_test(cells_of_many_lines_take_one_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
