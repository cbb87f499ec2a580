/* The table of code objects, by their address. An address may be used again for another code
 * object, so an entry is valid only as long as the copied fields of the object are the same.
 *
 * The line of an instruction comes from a copy of the location table of the code object (CPython,
 * Objects/locations.md). An entry of that table begins with a byte whose high bit is set, and says
 * for how many instructions it holds.
 */
#include "python/sampler/sampler.h"

#include <string.h>

enum { SLOTS = 1 << 16, MAX_CODES = SLOTS / 2, MAX_TABLE_BYTES = 1 << 20 };

typedef struct code {
    const void *address;
    frames_code fingerprint;
    uint32_t reference;
    uint32_t *lines; /* the line of each instruction */
} code;

static code **slots;
static size_t count;
static unsigned char *table; /* a location table, while it is read */

void codes_clear(void)
{
    if (slots != NULL)
        memset(slots, 0, SLOTS * sizeof *slots);
    count = 0;
}

static bool same_code(const frames_code *a, const frames_code *b)
{
    return a->file == b->file && a->name == b->name && a->line_table == b->line_table &&
           a->instructions == b->instructions && a->first_line == b->first_line;
}

typedef struct cursor {
    const unsigned char *at, *end;
} cursor;

static unsigned next_byte(cursor *c)
{
    return c->at < c->end ? *c->at++ : 0;
}

static uint32_t next_varint(cursor *c)
{
    uint32_t value = 0;
    for (unsigned shift = 0; shift < 30; shift += 6) {
        unsigned byte = next_byte(c);
        value |= (uint32_t)(byte & 63) << shift;
        if ((byte & 64) == 0)
            break;
    }
    return value;
}

static int32_t next_signed(cursor *c)
{
    uint32_t value = next_varint(c);
    return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

/* The number of lines by which an entry of this form moves on. Only columns follow behind the bytes
 * that are read here. */
static int32_t line_step(cursor *c, unsigned form)
{
    if (form == 13 || form == 14)
        return next_signed(c);
    return form >= 10 && form <= 12 ? (int32_t)form - 10 : 0;
}

static void fill_lines(const frames_code *about, cursor c, uint32_t *lines)
{
    int64_t line = about->first_line;
    size_t at = 0;
    while (c.at < c.end && at < about->instructions) {
        unsigned first = next_byte(&c), form = (first >> 3) & 15, length = (first & 7) + 1;
        line += line_step(&c, form);
        while (c.at < c.end && (*c.at & 0x80) == 0)
            c.at++;
        /* Instructions without a line (form 15) belong to the line before them. */
        for (; length > 0 && at < about->instructions; length--)
            lines[at++] = line > 0 && line < UINT32_MAX ? (uint32_t)line : 0;
    }
    while (at < about->instructions)
        lines[at++] = about->first_line;
}

static bool append_code(const frames_code *about, uint32_t *reference)
{
    struct {
        assay__script_code head;
        char texts[2 * ASSAY__SCRIPT_MAX_TEXT];
    } made = {.head = {.entry.kind = ASSAY__SCRIPT_CODE, .first_line = about->first_line}};
    long file = frames_read_text(about->file, made.texts, ASSAY__SCRIPT_MAX_TEXT);
    if (file < 0)
        return false;
    long name = frames_read_text(about->name, made.texts + file, ASSAY__SCRIPT_MAX_TEXT);
    if (name < 0)
        return false;
    made.head.file_bytes = (uint32_t)file;
    made.head.name_bytes = (uint32_t)name;
    return region_append(&made, sizeof made.head + (size_t)(file + name), reference) != NULL;
}

static bool fill(code *c, const void *address, const frames_code *about)
{
    long length = frames_read_bytes(about->line_table, table, MAX_TABLE_BYTES);
    uint32_t *lines = c->lines != NULL && c->fingerprint.instructions >= about->instructions
                          ? c->lines
                          : memory_reserve(about->instructions * sizeof *lines);
    if (length < 0 || lines == NULL || !append_code(about, &c->reference))
        return false;
    fill_lines(about, (cursor){table, table + length}, lines);
    c->lines = lines;
    c->address = address;
    c->fingerprint = *about;
    return true;
}

static code *find(const void *address, const frames_code *about)
{
    if (slots == NULL) {
        slots = memory_reserve(SLOTS * sizeof *slots);
        table = memory_reserve(MAX_TABLE_BYTES);
    }
    if (slots == NULL || table == NULL)
        return NULL;
    size_t at = (size_t)(((uintptr_t)address >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 48);
    for (; slots[at % SLOTS] != NULL; at++)
        if (slots[at % SLOTS]->address == address) {
            code *known = slots[at % SLOTS];
            return same_code(&known->fingerprint, about) || fill(known, address, about) ? known
                                                                                        : NULL;
        }
    if (count == MAX_CODES)
        return NULL;
    code *made = memory_reserve(sizeof *made);
    if (made == NULL || !fill(made, address, about))
        return NULL;
    count++;
    return slots[at % SLOTS] = made;
}

bool codes_find(const void *address, const void *copy, const void *instruction, uint32_t *reference,
                uint32_t *line)
{
    frames_code about;
    if (!frames_parse_code(address, copy, &about) || about.instructions > MAX_TABLE_BYTES)
        return false;
    ptrdiff_t offset = (const char *)instruction - (const char *)about.first_instruction;
    /* A frame that has not begun is one instruction before the first. */
    if (offset < -2 || offset >= (ptrdiff_t)(about.instructions * 2))
        return false;
    code *found = find(address, &about);
    if (found == NULL)
        return false;
    *reference = found->reference;
    *line = found->lines[offset > 0 ? offset / 2 : 0];
    return true;
}
