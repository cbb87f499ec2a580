/* The writer of the plots in docs/trust. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/svg_plot.h"

static char *text_of(void (*draw)(FILE *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    draw(out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void draw_text(FILE *out)
{
    svg_text(out, "a < b && \"c\" > 'd'\x01, µ");
}

static void test_text_is_escaped(void **state)
{
    (void)state;
    char *text = text_of(draw_text);
    assert_string_equal(text, "a &lt; b &amp;&amp; &quot;c&quot; &gt; 'd'?, µ");
    free(text);
}

static void draw_names(FILE *out)
{
    static const char *const groups[] = {"<group>"};
    static const double value = 1;
    svg_plot plot = {.out = out,
                     .x = {.label = "<x>", .low = -0.5, .high = 0.5, .names = groups},
                     .y = {.label = "<y>", .high = 2, .step = 1}};
    svg_plot_begin(&plot, "<title>");
    svg_plot_bars(&plot, "<series>", &value, 1, 1);
    svg_plot_rule(&plot, -0.5, 1, 0.5, 1, "<rule>");
    svg_plot_end(&plot);
}

static void test_every_name_is_escaped(void **state)
{
    (void)state;
    static const char *const names[] = {"group", "x", "y", "title", "series", "rule"};
    char *text = text_of(draw_names);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char escaped[32];
        snprintf(escaped, sizeof escaped, ">&lt;%s&gt;<", names[i]);
        assert_non_null(strstr(text, escaped));
    }
    free(text);
}

static void draw_points(FILE *out)
{
    static const double x[] = {1, 10, 100, 1000}, y[] = {0, 5, INFINITY, 10};
    svg_plot plot = {.out = out,
                     .x = {"x", 1, 1000, 10, true, NULL},
                     .y = {.label = "y", .high = 10, .step = 5}};
    svg_plot_begin(&plot, "points");
    svg_plot_points(&plot, "series", x, y, 4, true);
    svg_plot_end(&plot);
}

/* The corners of the axes and their middle, the horizontal one logarithmic; no point at infinity.
 */
static void test_points_are_where_they_belong(void **state)
{
    (void)state;
    char *text = text_of(draw_points), line[80];
    snprintf(line, sizeof line, "points=\"%d.0,%d.0 %.1f,%.1f %d.0,%d.0 \"", SVG_LEFT, SVG_BOTTOM,
             SVG_LEFT + (SVG_RIGHT - SVG_LEFT) / 3.0, (SVG_TOP + SVG_BOTTOM) / 2.0, SVG_RIGHT,
             SVG_TOP);
    assert_non_null(strstr(text, line));
    assert_null(strstr(text, "inf"));
    size_t circles = 0;
    for (const char *at = text; (at = strstr(at, "<circle")) != NULL; at++)
        circles++;
    assert_int_equal(circles, 3);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_escaped),
        cmocka_unit_test(test_every_name_is_escaped),
        cmocka_unit_test(test_points_are_where_they_belong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
