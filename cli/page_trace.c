/* Encodes the trace of a record compactly: a page of 8 MB can hold a million slices, because a
 * slice takes five bytes or less as base64.
 *
 * The slices of a lane are written in the order in which they begin, an outer slice before the
 * slices in it. The encoder keeps the stack of open slices. Each slice is written as three numbers:
 * how many slices of the stack ended before it began, the gap before it, and its duration. The gap
 * is the time since the last of the ended slices ended, or since the enclosing slice began if none
 * ended. These numbers are smaller than times since the start of the run. The numbers of one kind
 * form a column of varints (7 bits per byte, the lowest first), in which zlib finds repetitions.
 *
 *     version (1), unit_ns, origin (ns, zigzag), length (units)
 *     names:   count, then each as its length in bytes and UTF-8
 *     groups:  count, then each as lane and number of slices;
 *              a lane beyond the lanes of the record is a row of processes
 *     columns: ended, name × 2 + open, gap, duration; each as its length in bytes and its varints
 *
 * Times are whole multiples of a unit of 1, 2, 5, 10, … ns. The unit is as coarse as the room in
 * the page demands. Rounding down keeps the order of times, so slices stay nested. */
#include "cli/page_trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/name_index.h"
#include "cli/page_pack.h"
#include "report/slices.h"

enum { VERSION = 1, COLUMN_MAX = 1 << 30, ROOM = 3900000 /* bytes; base64 makes them 5.2 MB */ };

enum { ENDED, NAME, GAP, DURATION, COLUMNS };

typedef struct trace {
    const assay_record *record;
    assay__slices slices;
    assay__process_bars bars;
    int64_t origin_ns, end_ns, unit_ns;
    assay__name_index index;
    assay__buffer names, groups, columns[COLUMNS];
    size_t name_count, group_count;
    assay_status status;
} trace;

/* The slices that enclose the next one, outermost first: when they begin and end, in units. */
typedef struct stack {
    int64_t *begins, *ends;
    size_t used;
} stack;

static void append_number(assay__buffer *to, uint64_t value)
{
    unsigned char bytes[10];
    size_t count = 0;
    do {
        bytes[count++] = (unsigned char)((value & 127) | (value > 127 ? 128 : 0));
        value >>= 7;
    } while (value > 0);
    (void)assay__buffer_append(to, bytes, count);
}

/* The number of a name in the table of names; a new name is added. */
static uint64_t number_of(trace *t, const char *name)
{
    int32_t number = assay__name_index_find(&t->index, 0, name);
    if (number >= 0)
        return (uint64_t)number;
    number = (int32_t)t->name_count++;
    if (assay__name_index_add(&t->index, 0, name, number) != ASSAY_OK)
        t->status = ASSAY_E_MEMORY;
    append_number(&t->names, strlen(name));
    (void)assay__buffer_append(&t->names, name, strlen(name));
    return (uint64_t)number;
}

/* Convert a time to units since the origin. */
static int64_t place(const trace *t, int64_t ns)
{
    return (ns - t->origin_ns) / t->unit_ns;
}

static void add_slice(trace *t, stack *holding, const char *name, bool open, int64_t begin,
                      int64_t end)
{
    uint64_t ended = 0;
    int64_t since = holding->used > 0 ? holding->begins[holding->used - 1] : 0;
    for (; holding->used > 0 && holding->ends[holding->used - 1] <= begin; ended++)
        since = holding->ends[--holding->used];
    append_number(&t->columns[ENDED], ended);
    append_number(&t->columns[NAME], 2 * number_of(t, name != NULL ? name : "") + open);
    append_number(&t->columns[GAP], (uint64_t)(begin - since));
    append_number(&t->columns[DURATION], (uint64_t)(end - begin));
    holding->begins[holding->used] = begin;
    holding->ends[holding->used++] = end;
}

static void add_group(trace *t, size_t lane, size_t count)
{
    append_number(&t->groups, lane);
    append_number(&t->groups, count);
    t->group_count++;
}

static void add_lanes(trace *t, stack *holding)
{
    size_t begin = 0;
    for (size_t i = 0; i < t->slices.count; i++) {
        const assay__slice *it = &t->slices.items[i];
        if (i > 0 && it->lane != it[-1].lane) {
            add_group(t, it[-1].lane, i - begin);
            holding->used = 0;
            begin = i;
        }
        add_slice(t, holding, it->name, it->open, place(t, it->begin_ns), place(t, it->end_ns));
    }
    if (begin < t->slices.count)
        add_group(t, t->slices.items[begin].lane, t->slices.count - begin);
}

static void add_processes(trace *t, stack *holding)
{
    for (size_t row = 0; row < t->bars.rows; row++) {
        size_t count = 0;
        holding->used = 0;
        for (size_t i = 0; i < t->bars.count; i++) {
            const assay__process_bar *it = &t->bars.items[i];
            if (it->row != row)
                continue;
            add_slice(t, holding, it->process->name != NULL ? it->process->name : "process",
                      it->process->running, place(t, it->begin_ns), place(t, it->end_ns));
            count++;
        }
        add_group(t, t->record->lane_count + row, count);
    }
}

static void append_part(assay__buffer *to, const assay__buffer *part)
{
    append_number(to, part->length);
    (void)assay__buffer_append(to, part->data, part->length);
    if (part->status != ASSAY_OK)
        to->status = part->status;
}

static void clear(trace *t)
{
    assay__name_index_release(&t->index);
    assay__buffer_release(&t->names);
    assay__buffer_release(&t->groups);
    assay__buffer_init(&t->names, COLUMN_MAX);
    assay__buffer_init(&t->groups, COLUMN_MAX);
    for (size_t i = 0; i < COLUMNS; i++) {
        assay__buffer_release(&t->columns[i]);
        assay__buffer_init(&t->columns[i], COLUMN_MAX);
    }
    t->name_count = t->group_count = 0;
}

static void write_head(const trace *t, assay__buffer *to)
{
    uint64_t origin = (uint64_t)t->origin_ns << 1;
    append_number(to, VERSION);
    append_number(to, (uint64_t)t->unit_ns);
    append_number(to, t->origin_ns < 0 ? ~origin : origin);
    append_number(to, (uint64_t)place(t, t->end_ns));
}

/* Encode the whole trace in units of `unit_ns`, without compression. */
static assay_status encode(trace *t, assay__buffer *to)
{
    size_t most = t->slices.count + t->bars.count + 1;
    stack holding = {malloc(most * sizeof *holding.begins), malloc(most * sizeof *holding.ends), 0};
    clear(t);
    t->status = holding.begins != NULL && holding.ends != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    if (t->status == ASSAY_OK) {
        add_lanes(t, &holding);
        add_processes(t, &holding);
        write_head(t, to);
        append_number(to, t->name_count);
        (void)assay__buffer_append(to, t->names.data, t->names.length);
        append_number(to, t->group_count);
        (void)assay__buffer_append(to, t->groups.data, t->groups.length);
        for (size_t i = 0; i < COLUMNS; i++)
            append_part(to, &t->columns[i]);
    }
    free(holding.begins);
    free(holding.ends);
    return t->status != ASSAY_OK ? t->status : to->status;
}

/* The next unit in the sequence 1, 2, 5, 10, … */
static int64_t next_unit(int64_t unit)
{
    int64_t power = 1;
    while (power * 10 <= unit)
        power *= 10;
    return unit == power ? 2 * power : unit == 2 * power ? 5 * power : 10 * power;
}

/* Encode with coarser and coarser units until the trace fits into ROOM bytes, or until the unit is
 * longer than a ten-thousandth of the trace. Then the names take the room, and a page that is too
 * large is better than none. A step to the next unit saves two bits or more of each slice; the code
 * assumes 2.6 bits. If the trace is much too large, several steps are taken at once. */
static assay_status fit(trace *t, unsigned char **bytes, size_t *count)
{
    for (t->unit_ns = 1;;) {
        assay__buffer whole;
        assay__buffer_init(&whole, COLUMN_MAX);
        assay_status status = encode(t, &whole);
        if (status == ASSAY_OK)
            status = page_compress(whole.data, whole.length, bytes, count);
        assay__buffer_release(&whole);
        bool coarse = t->unit_ns > (t->end_ns - t->origin_ns) / 10000;
        if (status != ASSAY_OK || *count <= ROOM || coarse)
            return status;
        double missing = 8.0 * (double)(*count - ROOM);
        double steps = missing / (2.6 * (double)(t->slices.count + t->bars.count));
        for (double i = 0; i < steps; i++)
            t->unit_ns = next_unit(t->unit_ns);
        free(*bytes);
        *bytes = NULL;
    }
}

bool page_trace_has(const assay_record *record)
{
    for (size_t i = 0; i < record->event_count; i++)
        if (record->events[i].kind != ASSAY_EVENT_COUNTER)
            return true;
    for (size_t i = 0; i < record->process_count; i++)
        if (record->processes[i].start_seconds.validity == ASSAY_VALID)
            return true;
    return record->open_span_count > 0;
}

/* Find the first begin and the last end of all slices and processes. Time 0 is the start of the
 * record; the origin is at most 0. */
static void find_extent(trace *t)
{
    t->end_ns = t->slices.end_ns;
    for (size_t i = 0; i < t->slices.count; i++)
        if (t->slices.items[i].begin_ns < t->origin_ns)
            t->origin_ns = t->slices.items[i].begin_ns;
    for (size_t i = 0; i < t->bars.count; i++) {
        if (t->bars.items[i].begin_ns < t->origin_ns)
            t->origin_ns = t->bars.items[i].begin_ns;
        if (t->bars.items[i].end_ns > t->end_ns)
            t->end_ns = t->bars.items[i].end_ns;
    }
}

assay_status page_trace_print(const void *subject, FILE *stream, assay_error *error)
{
    trace t = {.record = subject};
    unsigned char *bytes = NULL;
    size_t count = 0;
    assay_status status = assay__slices_collect(t.record, error, &t.slices);
    if (status == ASSAY_OK)
        status = assay__process_bars_collect(t.record, t.slices.end_ns, &t.bars);
    if (status == ASSAY_OK) {
        find_extent(&t);
        status = fit(&t, &bytes, &count);
    }
    if (status == ASSAY_OK)
        page_print_base64(bytes, count, stream);
    else
        *error = (assay_error){status, "out of memory for the timeline"};
    free(bytes);
    clear(&t);
    assay__slices_release(&t.slices);
    assay__process_bars_release(&t.bars);
    return status;
}
