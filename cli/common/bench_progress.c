/* The progress line of a benchmark: a bar, the share of the expected time that has passed, the
 * subject, the interval so far and the time that is left. Each call draws the line over the former
 * one, so it must never be longer than a line of the terminal. The name of the subject is cut to
 * the room that the other parts leave. */
#include "cli/common/bench_progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/terminal.h"

enum { BAR = 20, NAME = 24, LINE = 192 };

bool bench_progress_wanted(void)
{
    return assay__terminal_moves(stderr);
}

static void draw_bar(double share, char bar[BAR + 1])
{
    int full = (int)(share * BAR);
    for (int i = 0; i < BAR; i++)
        bar[i] = i < full ? '=' : i == full ? '>' : ' ';
    bar[BAR] = '\0';
}

static void describe_interval(const bench_progress *shown, const assay_sampling_progress *progress,
                              char *text, size_t size)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
    double value = progress->estimate.value;
    text[0] = '\0';
    if (progress->estimate.validity != ASSAY_VALID)
        return;
    double percent = 100 * progress->relative_width;
    if (shown->count > 1) {
        snprintf(text, size, "ratio %.3f +- %.2g%%", value, percent);
        return;
    }
    size_t i = 0;
    while (i < 3 && value < units[i].seconds)
        i++;
    snprintf(text, size, "%.4g %s +- %.2g%%", value / units[i].seconds, units[i].unit, percent);
}

/* Copy a name. Long names are cut, and characters that are not printable ASCII become '?', so that
 * a name cannot move the cursor. */
static void copy_name(const char *name, size_t room, char text[NAME + 1])
{
    size_t i = 0;
    for (; i < NAME && i < room && name[i] != '\0'; i++)
        text[i] = name[i] >= 0x20 && name[i] < 0x7F ? name[i] : '?';
    text[i] = '\0';
}

/* The number of characters that fit on a line without moving the cursor to the next line. */
static size_t line_room(void)
{
    size_t columns = assay__terminal_columns(stderr);
    return columns > 1 ? columns - 1 : 0;
}

void bench_progress_show(void *context, const assay_sampling_progress *progress)
{
    bench_progress *shown = context;
    char bar[BAR + 1], head[BAR + 16], name[NAME + 1], interval[48], tail[96], line[LINE];
    double expected = fmax(progress->expected_seconds, progress->elapsed_seconds);
    double share = expected > 0 ? progress->elapsed_seconds / expected : 0;
    draw_bar(fmin(share, 1), bar);
    describe_interval(shown, progress, interval, sizeof interval);
    snprintf(head, sizeof head, "[%s] %3.0f%% ", bar, 100 * share);
    snprintf(tail, sizeof tail, "%s%s, %.0f s left", interval[0] != '\0' ? " " : "", interval,
             ceil(expected - progress->elapsed_seconds));
    size_t room = line_room(), taken = strlen(head) + strlen(tail);
    copy_name(shown->subjects[progress->subject].name, taken < room ? room - taken : 0, name);
    snprintf(line, sizeof line, "%s%s%s", head, name, tail);
    fprintf(stderr, "\r%.*s\033[K", (int)(room < LINE ? room : LINE), line);
    fflush(stderr);
    shown->shown = true;
}

void bench_progress_clear(bench_progress *shown)
{
    if (shown->shown)
        fputs("\r\033[K", stderr);
    shown->shown = false;
}
