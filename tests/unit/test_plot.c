/* Plots as SVG: the marks are at the positions of the record's figures, names cannot inject markup,
 * and values that cannot be shown are not drawn. Positions are read back from the document through
 * the ticks of its axes, whose texts are the values. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assay/plot.h"
#include "assay/record_build.h"
#include "plot/axis.h"
#include "plot/levels.h"
#include "plot/svg.h"
#include "record/build.h"
#include "tests/unit/comma_locale.h"

static char *plot(const assay_record *record, const char *kind, const char *of)
{
    char *text = NULL;
    size_t size = 0;
    assay_error error = {0};
    assay_plot_settings settings = ASSAY_PLOT_SETTINGS_INIT;
    settings.of = of;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    if (assay_plot_print(record, kind, &settings, stream, &error) != ASSAY_OK)
        fail_msg("%s: %s", kind, error.message);
    assert_int_equal(fclose(stream), 0);
    assert_memory_equal(text, "<svg ", 5);
    assert_string_equal(text + size - 7, "</svg>\n");
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    return text;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%g is not within %g of %g", value, tolerance, expected);
}

static size_t occurrences(const char *text, const char *what)
{
    size_t count = 0;
    for (; (text = strstr(text, what)) != NULL; text++)
        count++;
    return count;
}

/* The number behind `name="` from `at` on. */
static double attribute(const char *at, const char *name)
{
    char key[32];
    snprintf(key, sizeof key, " %s=\"", name);
    const char *found = strstr(at, key);
    assert_non_null(found);
    return strtod(found + strlen(key), NULL);
}

/* Where the tick labelled so stands: the text carries the place of its middle. */
static double tick(const char *text, const char *label, const char *coordinate)
{
    char tail[64];
    snprintf(tail, sizeof tail, "class=\"small\">%s</text>", label);
    const char *end = strstr(text, tail);
    if (end == NULL)
        fail_msg("no tick %s", label);
    const char *start = end;
    while (strncmp(start, "<text", 5) != 0)
        start--;
    return attribute(start, coordinate);
}

static assay_record *new_record(void)
{
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    return record;
}

static void add_subject(assay_record *record, const char *name, const char *size,
                        const double *seconds, size_t count)
{
    assay_record_subject subject;
    assay_record_subject_init(&subject);
    subject.name = name;
    subject.samples_seconds = seconds;
    subject.sample_count = count;
    if (size != NULL)
        assert_int_equal(assay_record_add_parameter(record, &subject, "n", size), ASSAY_OK);
    assert_int_equal(assay_record_add_subject(record, &subject), ASSAY_OK);
}

/* 3 µs an item, exactly: every median lies on the line, and both axes say so. */
static void test_growth_stands_on_its_axes(void **state)
{
    (void)state;
    static const char *const sizes[] = {"10", "100", "1000", "10000", "100000"};
    assay_record *record = new_record();
    double seconds[5][3]; /* the record borrows them */
    for (size_t i = 0; i < 5; i++) {
        double n = strtod(sizes[i], NULL);
        seconds[i][0] = 3e-6 * n;
        seconds[i][1] = 3.003e-6 * n;
        seconds[i][2] = 2.997e-6 * n;
        add_subject(record, "work", sizes[i], seconds[i], 3);
    }
    char *text = plot(record, "growth", NULL);
    assert_int_equal(occurrences(text, "<circle"), 5);
    assert_non_null(strstr(text, "work: n, exponent "));
    double x10 = tick(text, "10", "x"), x100k = tick(text, "100k", "x");
    double y_low = tick(text, "1 ms", "y") - 3, y_high = tick(text, "100 ms", "y") - 3;
    const char *at = text;
    for (size_t i = 0; i < 5; i++) {
        at = strstr(at + 1, "<circle");
        double n = strtod(sizes[i], NULL);
        assert_near(attribute(at, "cx"), x10 + (x100k - x10) * log(n / 10) / log(1e4), 0.02);
        assert_near(attribute(at, "cy"), y_low + (y_high - y_low) * log(3e-6 * n / 1e-3) / log(100),
                    0.02);
    }
    free(text);
    assay_record_free(record);
}

/* Of subjects with several parameters those count that have the one asked for. */
static void test_growth_of_a_parameter(void **state)
{
    (void)state;
    static const char *const sizes[] = {"10", "100", "1000"};
    assay_record *record = new_record();
    static const double seconds[] = {1e-3, 2e-3, 3e-3};
    add_subject(record, "other", NULL, seconds, 1);
    for (size_t i = 0; i < 3; i++)
        add_subject(record, "work", sizes[i], &seconds[i], 1);
    char *text = plot(record, "growth", "n");
    assert_int_equal(occurrences(text, "<circle"), 3);
    free(text);
    assay_error error = {0};
    assert_int_equal(assay_plot_print(record, "growth", NULL, stdout, &error), ASSAY_E_DATA);
    assert_non_null(strstr(error.message, "sweep"));
    assay_record_free(record);
}

static void add_comparison(assay_record *record, const char *candidate, double ratio,
                           assay_verdict verdict)
{
    assay_record_comparison it = {.baseline = "old",
                                  .candidate = candidate,
                                  .ratio = assay_reading_of(ratio),
                                  .low = assay_reading_of(ratio / 1.1),
                                  .high = assay_reading_of(ratio * 1.1),
                                  .verdict = verdict,
                                  .margin = 0.01};
    assert_int_equal(assay__record_add_comparison(record, &it), ASSAY_OK);
}

static void test_ratios_have_interval_colour_and_words(void **state)
{
    (void)state;
    assay_record *record = new_record();
    add_comparison(record, "<b>new</b> & \"worse\"", 2, ASSAY_VERDICT_SLOWER);
    add_comparison(record, "better", 0.5, ASSAY_VERDICT_FASTER);
    char *text = plot(record, "ratios", NULL);
    double one = tick(text, "1", "x"), two = tick(text, "2", "x");
    const char *circle = strstr(text, "<circle class=\"bad\"");
    assert_near(attribute(circle, "cx"), two, 0.02);
    const char *line = strstr(text, "<line class=\"thick bad\"");
    assert_near(attribute(line, "x2") - attribute(line, "x1"), (two - one) * 2 * log(1.1) / log(2),
                0.02);
    assert_near(attribute(strstr(text, "<circle class=\"good\""), "cx"), 2 * one - two, 0.02);
    assert_non_null(strstr(text, "2.000 slower"));
    assert_non_null(strstr(text, "0.500 faster"));
    assert_non_null(strstr(text, "&lt;b&gt;new"));
    assert_null(strstr(text, "<b>"));
    free(text);
    text = plot(record, "ratios", "better");
    assert_int_equal(occurrences(text, "<circle"), 1);
    free(text);
    assay_record_free(record);
}

/* Values that are no times are not drawn; the tallest bin holds most of them. */
static void test_distribution_counts_what_is_a_time(void **state)
{
    (void)state;
    static const double seconds[] = {1e-3, 1e-3, 1e-3, 1e-2, NAN, -1, INFINITY, 0};
    assay_record *record = new_record();
    add_subject(record, "work", NULL, seconds, 8);
    char *text = plot(record, "distribution", NULL);
    double low = tick(text, "1 ms", "x"), high = tick(text, "10 ms", "x");
    const char *path = strstr(text, "<path class=\"pale s0\" d=\"");
    assert_non_null(path);
    path = strchr(path, 'M') + 1;
    double x, y, top = INFINITY, top_x = 0, bottom = 0, second = INFINITY;
    for (int used; sscanf(path, "%lf %lf%n", &x, &y, &used) == 2; path += used + 1) {
        bottom = fmax(bottom, y);
        if (y < top) {
            top = y;
            top_x = x;
        }
        if (x > (low + high) / 2)
            second = fmin(second, y);
    }
    assert_true(fabs(top_x - low) < (high - low) / 20);
    assert_near((bottom - second) / (bottom - top), 1.0 / 3, 0.01);
    free(text);
    assay_record_free(record);
}

/* Many spans in a lane take no more marks than there are places. */
static void test_timeline_of_many_spans_is_small(void **state)
{
    (void)state;
    enum { SPANS = 50000 };
    assay_record *record = new_record();
    assay_record_operation operation;
    assay_record_operation_init(&operation);
    operation.name = "step";
    operation.parent = -1;
    operation.count = SPANS;
    assert_int_equal(assay_record_add_operation(record, &operation), ASSAY_OK);
    assay_record_lane lane = {.name = "main", .process_id = 1, .thread_id = 1};
    assert_int_equal(assay_record_add_lane(record, &lane), ASSAY_OK);
    for (int i = 0; i < SPANS; i++) {
        assay_record_event event = {
            .kind = ASSAY_EVENT_SPAN, .start_seconds = i * 1e-3, .duration_seconds = 0.9e-3};
        assert_int_equal(assay_record_add_event(record, &event), ASSAY_OK);
    }
    char *text = plot(record, "timeline", NULL);
    size_t marks = occurrences(text, "<rect class=\"pale");
    assert_in_range(marks, 100, 800);
    free(text);
    assay_record_free(record);
}

/* Deep nesting: the levels that are drawn get room and no others, a note counts the spans below
 * them, and spans that are chosen by name are drawn however deep they are. */
static void test_timeline_of_deep_spans(void **state)
{
    (void)state;
    enum { DEPTH = 12, SHOWN = 8, LEVEL = 14 };
    assay_record *record = new_record();
    assay_record_lane lane = {.name = "main", .process_id = 1, .thread_id = 1};
    assert_int_equal(assay_record_add_lane(record, &lane), ASSAY_OK);
    lane.thread_id = 2;
    assert_int_equal(assay_record_add_lane(record, &lane), ASSAY_OK);
    for (uint32_t i = 0; i < DEPTH; i++) {
        char name[16];
        snprintf(name, sizeof name, "level%u.", i);
        assay_record_operation operation;
        assay_record_operation_init(&operation);
        operation.name = assay_record_text(record, name);
        operation.parent = (int32_t)i - 1;
        operation.count = 1;
        assert_int_equal(assay_record_add_operation(record, &operation), ASSAY_OK);
        assay_record_event event = {.kind = ASSAY_EVENT_SPAN, .name = i, .duration_seconds = 1};
        event.lane = i == DEPTH - 1; /* the deepest is all that the second lane has */
        assert_int_equal(assay_record_add_event(record, &event), ASSAY_OK);
    }
    char *text = plot(record, "timeline", NULL);
    assert_int_equal(occurrences(text, "<rect class=\"pale"), SHOWN);
    assert_non_null(strstr(text, "4 spans nest deeper than 8 levels; choose them by name"));
    double height = attribute(text, "height");
    free(text);
    text = plot(record, "timeline", "level10.");
    assert_int_equal(occurrences(text, "<rect class=\"pale"), 1);
    assert_null(strstr(text, "deeper"));
    assert_true(attribute(text, "height") < height - (SHOWN - 2) * LEVEL);
    free(text);
    text = plot(record, "timeline", "level11.");
    assert_int_equal(occurrences(text, "<rect class=\"pale"), 1);
    free(text);
    assay_record_free(record);
}

static void add_series(assay_record *record, const char *name, const char *of, const char *along,
                       const double *values, size_t count)
{
    assay_record_series it = {
        .name = name, .of = of, .along = along, .values = values, .count = count};
    assert_int_equal(assay_record_add_series(record, &it), ASSAY_OK);
}

static void test_convergence_prefers_losses(void **state)
{
    (void)state;
    static const double values[] = {1, 0.1, 0.01, NAN, 0.001};
    assay_record *record = new_record();
    add_series(record, "relative_error", "LSTM", "step", values, 5);
    add_series(record, "loss", "LSTM", "epoch", values, 5);
    add_series(record, "loss", "MLP", "epoch", values, 3);
    add_series(record, "conductivity", NULL, "x", values, 5);
    char *text = plot(record, "convergence", NULL);
    assert_int_equal(occurrences(text, "<path class=\"line"), 2);
    assert_non_null(strstr(text, ">epoch</text>"));
    /* the missing value is left out: four points, evenly falling on the logarithmic axis */
    const char *path = strstr(text, "<path class=\"line s0\" d=\"M");
    double x[4], y[4];
    assert_int_equal(sscanf(strchr(path, 'M'), "M%lf %lfL%lf %lfL%lf %lfL%lf %lf\"", &x[0], &y[0],
                            &x[1], &y[1], &x[2], &y[2], &x[3], &y[3]),
                     8);
    assert_near(y[2] - y[1], y[1] - y[0], 0.02);
    assert_near(y[3] - y[2], y[1] - y[0], 0.02);
    assert_near(x[3] - x[2], 2 * (x[1] - x[0]), 0.02);
    free(text);
    text = plot(record, "convergence", "relative_error");
    assert_non_null(strstr(text, ">step</text>"));
    free(text);
    assay_record_free(record);
}

static void add_figure(assay_record *record, const char *name, const char *of, double value)
{
    assay_record_figure it = {.name = name, .of = of, .value = assay_reading_of(value)};
    assert_int_equal(assay_record_add_figure(record, &it), ASSAY_OK);
}

/* A pass at the ridge that reaches the peak stands on the corner of the roof. */
static void test_roofline_meets_its_corner(void **state)
{
    (void)state;
    assay_record *record = new_record();
    add_figure(record, "flops_per_second", "forward", 100e9);
    add_figure(record, "flops_per_byte", "forward", 5);
    add_figure(record, "peak_flops_per_second", NULL, 100e9);
    add_figure(record, "peak_bytes_per_second", NULL, 20e9);
    char *text = plot(record, "roofline", NULL);
    double x, y;
    const char *roof = strstr(text, "<path class=\"line s5\" d=\"M");
    assert_non_null(roof);
    assert_int_equal(sscanf(strchr(roof, 'L'), "L%lf %lf", &x, &y), 2);
    assert_near(attribute(strstr(text, "<circle"), "cx"), x, 0.02);
    assert_near(attribute(strstr(text, "<circle"), "cy"), y, 0.02);
    free(text);
    assay_record_free(record);
}

/* 20 ms until the fourth run, 30 ms from the fifth on: points, levels and the step between them. */
static void test_levels_and_the_step_between_them(void **state)
{
    (void)state;
    const double values[] = {0.02, 0.02, 0.02, 0.02, 0.03, 0.03, 0.03, 0.03};
    const assay__plot_level levels[] = {{0, 0.02}, {4, 0.03}};
    assay__plot_levels what = {.title = "parse <b>",
                               .legend = "build7",
                               .along = "runs",
                               .figure = "wall_seconds",
                               .unit = ASSAY__AXIS_SECONDS,
                               .values = values,
                               .count = 8,
                               .levels = levels,
                               .level_count = 2};
    char *text = NULL;
    size_t size = 0;
    assay_error error = {0};
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(assay__plot_levels_print(&what, stream, &error), ASSAY_OK);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(occurrences(text, "<circle"), 8);
    assert_int_equal(occurrences(text, "class=\"line s1\""), 2);
    assert_non_null(strstr(text, ">+50.0 %<"));
    assert_null(strstr(text, "<b>"));
    double low = tick(text, "20 ms", "y") - 3, high = tick(text, "30 ms", "y") - 3;
    const char *fourth = text, *fifth;
    for (int i = 0; i < 4; i++)
        fourth = strstr(fourth + 1, "<circle");
    fifth = strstr(fourth + 1, "<circle");
    assert_near(attribute(fourth, "cy"), low, 0.6);
    assert_near(attribute(fifth, "cy"), high, 0.6);
    assert_near(attribute(strstr(text, "<line class=\"rule\""), "x1"),
                (attribute(fourth, "cx") + attribute(fifth, "cx")) / 2, 0.6);
    free(text);
    what.count = 0;
    assert_int_equal(assay__plot_levels_print(&what, stderr, &error), ASSAY_E_DATA);
}

static void test_refusals_say_what_would_help(void **state)
{
    (void)state;
    size_t count;
    const assay_plot_kind *kinds = assay_plot_kinds(&count);
    assay_record *record = new_record();
    for (size_t i = 0; i < count; i++) {
        assay_error error = {0};
        assert_int_equal(assay_plot_print(record, kinds[i].name, NULL, stdout, &error),
                         ASSAY_E_DATA);
        assert_true(strlen(error.message) > 20);
    }
    assay_error error = {0};
    assert_int_equal(assay_plot_print(record, "pie", NULL, stdout, &error), ASSAY_E_NOT_FOUND);
    assert_non_null(strstr(error.message, "'pie'"));
    assay_plot_settings narrow = ASSAY_PLOT_SETTINGS_INIT;
    narrow.width = 12;
    assert_int_equal(assay_plot_print(record, "growth", &narrow, stdout, &error), ASSAY_E_ARGUMENT);
    assay_record_free(record);
}

static void test_ticks_are_round_and_inside(void **state)
{
    (void)state;
    static const double ends[][2] = {{0, 1}, {3, 17}, {-5, 5}, {0.98, 1.02}, {1e-9, 1e4}, {7, 7}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (int logarithmic = 0; logarithmic < 2; logarithmic++) {
            assay__axis axis = assay__axis_of("x", ASSAY__AXIS_NUMBER, logarithmic);
            double ticks[ASSAY__AXIS_MAX_TICKS];
            assay__axis_include(&axis, ends[i][0]);
            assay__axis_include(&axis, ends[i][1]);
            assay__axis_include(&axis, NAN);
            assert_true(assay__axis_finish(&axis));
            for (size_t most = 3; most < 12; most++) {
                size_t count = assay__axis_ticks(&axis, most, ticks);
                assert_in_range(count, 1, most);
                for (size_t k = 0; k < count; k++) {
                    double share = assay__axis_share(&axis, ticks[k]);
                    assert_true(share >= -1e-9 && share <= 1 + 1e-9);
                    assert_true(k == 0 || ticks[k] > ticks[k - 1]);
                }
            }
        }
}

static void test_texts_of_ticks(void **state)
{
    (void)state;
    static const struct {
        assay__axis_unit unit;
        double value;
        const char *text;
    } cases[] = {{ASSAY__AXIS_SECONDS, 0.02, "20 ms"},    {ASSAY__AXIS_SECONDS, 0, "0 s"},
                 {ASSAY__AXIS_SECONDS, 2.5e-6, "2.5 µs"}, {ASSAY__AXIS_BYTES, 65536, "64 KiB"},
                 {ASSAY__AXIS_NUMBER, 1e6, "1M"},         {ASSAY__AXIS_NUMBER, 1000, "1000"},
                 {ASSAY__AXIS_NUMBER, 1e-5, "1e-5"},      {ASSAY__AXIS_NUMBER, 0.05, "0.05"},
                 {ASSAY__AXIS_NUMBER, 1.05, "1.05"},      {ASSAY__AXIS_SECONDS, 1e-9, "1 ns"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[ASSAY__AXIS_TEXT];
        assert_string_equal(assay__axis_text(cases[i].unit, cases[i].value, text), cases[i].text);
    }
}

static void test_numbers_have_points_in_any_locale(void **state)
{
    (void)state;
    comma_locale_folder folder;
    if (!comma_locale_begin(&folder)) {
        comma_locale_end(&folder);
        print_message("no locale with decimal commas: package locales is missing\n");
        skip();
    }
    assay_record *record = new_record();
    add_comparison(record, "new", 1.25, ASSAY_VERDICT_SLOWER);
    char *text = plot(record, "ratios", NULL);
    comma_locale_end(&folder);
    for (const char *at = text; (at = strchr(at, ',')) != NULL; at++)
        assert_false(at[-1] >= '0' && at[-1] <= '9' && at[1] >= '0' && at[1] <= '9');
    free(text);
    assay_record_free(record);
}

static void test_long_names_are_cut_between_characters(void **state)
{
    (void)state;
    char shown[32];
    assert_string_equal(assay__svg_fit("short", 100, shown, sizeof shown), "short");
    const char *cut = assay__svg_fit("µµµµµµµµµµµµµµµµµµµµµµµµµµµµµµ", 1e6, shown, sizeof shown);
    assert_true(strlen(cut) < sizeof shown);
    assert_string_equal(cut + strlen(cut) - 3, "…");
    assert_int_equal((unsigned char)cut[strlen(cut) - 4], 0xb5); /* the end of a whole µ */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growth_stands_on_its_axes),
        cmocka_unit_test(test_growth_of_a_parameter),
        cmocka_unit_test(test_ratios_have_interval_colour_and_words),
        cmocka_unit_test(test_distribution_counts_what_is_a_time),
        cmocka_unit_test(test_timeline_of_many_spans_is_small),
        cmocka_unit_test(test_timeline_of_deep_spans),
        cmocka_unit_test(test_convergence_prefers_losses),
        cmocka_unit_test(test_roofline_meets_its_corner),
        cmocka_unit_test(test_levels_and_the_step_between_them),
        cmocka_unit_test(test_refusals_say_what_would_help),
        cmocka_unit_test(test_ticks_are_round_and_inside),
        cmocka_unit_test(test_texts_of_ticks),
        cmocka_unit_test(test_numbers_have_points_in_any_locale),
        cmocka_unit_test(test_long_names_are_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
