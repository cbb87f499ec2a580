/* Prints the processes of a run, grouped by the programs that they ran: the programs that took the
 * processor's time, and those that are missing in the heap figures. A build has thousands of
 * processes but only a dozen programs. */
#include <stdlib.h>
#include <string.h>

#include "assay/record.h"
#include "base/error.h"
#include "report/cell.h"
#include "report/export.h"
#include "report/format.h"

enum {
    ROWS_MAX = 12,
    UNSEEN_ROWS_MAX = 4,
    NAME_WIDTH = 28,
    COUNT_WIDTH = 11,
    COLUMN_WIDTH = 14,
    SHARE_WIDTH = 9
};

static const double least_seconds =
    0.1; /* less is too little for a table: the kernel's tick is 10 ms */

/* Processes with the same name and, where it matters, the same reason to be missing. */
typedef struct group {
    const char *name, *unseen;
    size_t count;
    double seconds;
    assay_reading peak_bytes; /* of the largest process */
} group;

typedef const assay_record_member *member_of;

static const char *text_or(const char *text, const char *otherwise)
{
    return text != NULL ? text : otherwise;
}

static int by_name(const void *left, const void *right)
{
    const member_of a = *(const member_of *)left, b = *(const member_of *)right;
    int order = strcmp(text_or(a->name, ""), text_or(b->name, ""));
    return order != 0 ? order : strcmp(text_or(a->unseen, ""), text_or(b->unseen, ""));
}

static int by_seconds(const void *left, const void *right)
{
    const group *a = left, *b = right;
    if (a->seconds != b->seconds)
        return a->seconds > b->seconds ? -1 : 1;
    return strcmp(a->name, b->name);
}

static double value_of(assay_reading reading)
{
    return reading.validity == ASSAY_VALID ? reading.value : 0;
}

static void add_member(group *g, const assay_record_member *member)
{
    g->count++;
    g->seconds += value_of(member->user_seconds) + value_of(member->sys_seconds);
    if (member->peak_rss_bytes.validity == ASSAY_VALID &&
        (g->peak_bytes.validity != ASSAY_VALID ||
         member->peak_rss_bytes.value > g->peak_bytes.value))
        g->peak_bytes = member->peak_rss_bytes;
}

/* The groups of a record's processes, the costliest first. With `apart`, processes with different
 * reasons are in different groups. NULL when out of memory. Caller frees. */
static group *make_groups(const assay_record *record, bool apart, size_t *count)
{
    member_of *members = malloc((record->process_count + 1) * sizeof *members);
    group *groups = calloc(record->process_count + 1, sizeof *groups);
    *count = 0;
    for (size_t i = 0; members != NULL && i < record->process_count; i++)
        members[i] = &record->processes[i];
    if (members != NULL)
        qsort(members, record->process_count, sizeof *members, by_name);
    for (size_t i = 0; members != NULL && groups != NULL && i < record->process_count; i++) {
        const assay_record_member *it = members[i];
        const char *name = text_or(it->name, "(no name)"), *unseen = apart ? it->unseen : NULL;
        group *last = *count > 0 ? &groups[*count - 1] : NULL;
        if (last == NULL || strcmp(last->name, name) != 0 ||
            strcmp(text_or(last->unseen, ""), text_or(unseen, "")) != 0) {
            last = &groups[(*count)++];
            *last = (group){.name = name,
                            .unseen = unseen,
                            .peak_bytes = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA)};
        }
        add_member(last, it);
    }
    if (members == NULL) {
        free(groups);
        groups = NULL;
    }
    free(members);
    if (groups != NULL)
        qsort(groups, *count, sizeof *groups, by_seconds);
    return groups;
}

static void print_seconds(FILE *stream, double seconds, double total)
{
    char text[ASSAY__FORMAT_SIZE], share[ASSAY__CELL_BYTES];
    assay__format_right(stream, assay__format_seconds(seconds, text), COLUMN_WIDTH);
    assay__format_right(stream, assay__cell_percent(share, seconds, total), SHARE_WIDTH);
}

static void print_row(FILE *stream, const group *g, double total)
{
    char text[ASSAY__FORMAT_SIZE];
    assay__format_ends(stream, g->name, NAME_WIDTH);
    assay__format_right(stream, assay__format_count(g->count, text), COUNT_WIDTH);
    print_seconds(stream, g->seconds, total);
    assay__format_right(stream,
                        g->peak_bytes.validity == ASSAY_VALID
                            ? assay__format_bytes(g->peak_bytes.value, text)
                            : "n/a",
                        COLUMN_WIDTH);
    fputc('\n', stream);
}

static void print_table(FILE *stream, const group *groups, size_t count, double total)
{
    group others = {.name = "others", .peak_bytes = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA)};
    double seen = 0;
    fputc('\n', stream);
    assay__format_left(stream, "program", NAME_WIDTH);
    assay__format_right(stream, "processes", COUNT_WIDTH);
    assay__format_right(stream, "processor", COLUMN_WIDTH);
    assay__format_right(stream, "share", SHARE_WIDTH);
    assay__format_right(stream, "largest", COLUMN_WIDTH);
    fputc('\n', stream);
    for (size_t i = 0; i < count; i++) {
        const group *g = &groups[i];
        seen += g->seconds;
        if (i < ROWS_MAX) {
            print_row(stream, g, total);
            continue;
        }
        others.count += g->count;
        others.seconds += g->seconds;
        if (value_of(g->peak_bytes) > value_of(others.peak_bytes))
            others.peak_bytes = g->peak_bytes;
    }
    if (others.count > 0)
        print_row(stream, &others, total);
    if (total - seen >= 0.01 * total) {
        assay__format_left(stream, "not seen by samples", NAME_WIDTH + COUNT_WIDTH);
        print_seconds(stream, total - seen, total);
        fputc('\n', stream);
    }
}

assay_status assay__report_processes(const assay_record *record, FILE *stream, assay_error *error)
{
    double total = value_of(record->process.user_seconds) + value_of(record->process.sys_seconds);
    size_t count = 0;
    group *groups = make_groups(record, false, &count);
    if (groups == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for %zu processes",
                           record->process_count);
    if (count >= 2 && groups[0].seconds > 0 && total >= least_seconds)
        print_table(stream, groups, count, total);
    free(groups);
    return ASSAY_OK;
}

assay_status assay__report_unseen(const assay_record *record, size_t label_width, FILE *stream,
                                  assay_error *error)
{
    static const char of_heap[] = "heap: ";
    size_t count = 0, shown = 0, more = 0;
    if (record->process.heap_unseen_processes == 0 ||
        record->process.heap_peak_bytes.validity != ASSAY_VALID)
        return ASSAY_OK;
    group *groups = make_groups(record, true, &count);
    if (groups == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for %zu processes",
                           record->process_count);
    for (size_t i = 0; i < count; i++) {
        const group *g = &groups[i];
        char line[ASSAY__LABEL_BYTES], times[ASSAY__FORMAT_SIZE] = "";
        if (g->unseen == NULL || strncmp(g->unseen, of_heap, strlen(of_heap)) != 0)
            continue;
        if (shown == UNSEEN_ROWS_MAX) {
            more += g->count;
            continue;
        }
        if (g->count > 1)
            snprintf(times, sizeof times, " (%zu processes)", g->count);
        snprintf(line, sizeof line, "%s%s: %s", g->name, times, g->unseen + strlen(of_heap));
        assay__format_left(stream, shown++ == 0 ? "not counted" : "", label_width);
        assay__format_line(stream, line, label_width);
        fputc('\n', stream);
    }
    if (more > 0) {
        assay__format_left(stream, "", label_width);
        fprintf(stream, "and %zu more processes\n", more);
    }
    free(groups);
    return ASSAY_OK;
}
