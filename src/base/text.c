/* Copies, cuts and measures UTF-8 text, and reads and writes sizes, numbers and times as text.
 * UTF-8 is decoded by hand, so that the result does not depend on the locale of the program. */
#include "base/text.h"

#include <errno.h>
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Length of the valid UTF-8 sequence at `text` (RFC 3629: no overlong forms, no surrogates), 0 if
 * there is none within `available` bytes. */
static size_t utf8_sequence_length(const unsigned char *text, size_t available)
{
    unsigned char lead = text[0];
    if (lead < 0x80)
        return 1;
    size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || available < length)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    if ((lead == 0xE0 && text[1] < 0xA0) || (lead == 0xED && text[1] > 0x9F) ||
        (lead == 0xF0 && text[1] < 0x90) || (lead == 0xF4 && text[1] > 0x8F))
        return 0;
    return length;
}

static uint32_t code_point(const unsigned char *text, size_t length)
{
    static const unsigned char lead_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t point = text[0] & lead_bits[length];
    for (size_t i = 1; i < length; i++)
        point = point << 6 | (text[i] & 0x3Fu);
    return point;
}

/* Characters that act on the text around them instead of being shown. They are the controls C0, DEL
 * and C1, which terminals obey; the marks, embeddings, overrides and isolates of bidirectional text
 * (Unicode Standard Annex 9), with which one name can look like another; separators of lines and
 * paragraphs; and characters that cannot be seen. The joiners U+200C and U+200D stay, because
 * Persian and emoji need them. */
static bool is_control(const unsigned char *text, size_t length)
{
    static const struct {
        uint32_t first, last;
    } acting[] = {{0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},
                  {0x180E, 0x180E}, {0x200B, 0x200B}, {0x200E, 0x200F}, {0x2028, 0x202E},
                  {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F}};
    uint32_t point = code_point(text, length);
    for (size_t i = 0; i < sizeof acting / sizeof *acting; i++)
        if (point <= acting[i].last)
            return point >= acting[i].first;
    return false;
}

size_t assay__text_sequence(const char *text, size_t available)
{
    return utf8_sequence_length((const unsigned char *)text, available);
}

size_t assay__text_copy_name(char *target, size_t capacity, const char *source, size_t length)
{
    static const char unnamed[] = "(unnamed)";
    static const char ellipsis[] = "...";
    if (capacity == 0)
        return 0;
    if (source == NULL || length == 0) {
        source = unnamed;
        length = sizeof unnamed - 1;
    }
    const unsigned char *bytes = (const unsigned char *)source;
    size_t used = 0, cut = 0; /* cut: last boundary with room for the ellipsis */
    for (size_t i = 0; i < length;) {
        size_t step = utf8_sequence_length(bytes + i, length - i);
        bool replace = step == 0 || is_control(bytes + i, step);
        size_t width = replace ? 1 : step;
        if (used + sizeof ellipsis <= capacity)
            cut = used;
        if (used + width >= capacity) {
            size_t room = capacity - 1 - cut;
            size_t dots = room < sizeof ellipsis - 1 ? room : sizeof ellipsis - 1;
            memcpy(target + cut, ellipsis, dots);
            target[cut + dots] = '\0';
            return cut + dots;
        }
        if (replace)
            target[used] = '?';
        else
            memcpy(target + used, bytes + i, step);
        used += width;
        i += step == 0 ? 1 : step;
    }
    target[used] = '\0';
    return used;
}

void assay__text_make_printable(char *text)
{
    unsigned char *bytes = (unsigned char *)text;
    size_t length = strlen(text), used = 0;
    for (size_t i = 0; i < length;) {
        size_t step = utf8_sequence_length(bytes + i, length - i);
        if (step == 0 || is_control(bytes + i, step)) {
            bytes[used++] = '?';
            i += step == 0 ? 1 : step;
        } else {
            memmove(bytes + used, bytes + i, step);
            used += step;
            i += step;
        }
    }
    bytes[used] = '\0';
}

/* The columns of the character at `text`, which is terminated; *length receives its bytes. A byte
 * that is no UTF-8 counts as a character. The wide ranges are whole blocks of Unicode in which
 * characters are wide or fullwidth (Unicode Standard Annex 11). */
static size_t character_columns(const char *text, size_t *length)
{
    static const struct {
        uint32_t first, last;
        size_t columns;
    } others[] = {
        {0x300, 0x36F, 0},    {0x483, 0x489, 0},     {0x591, 0x5BD, 0},     {0x64B, 0x65F, 0},
        {0x1100, 0x115F, 2},  {0x1AB0, 0x1AFF, 0},   {0x1DC0, 0x1DFF, 0},   {0x200C, 0x200D, 0},
        {0x20D0, 0x20FF, 0},  {0x2E80, 0x303E, 2},   {0x3041, 0x33FF, 2},   {0x3400, 0x4DBF, 2},
        {0x4E00, 0xA4CF, 2},  {0xA960, 0xA97C, 2},   {0xAC00, 0xD7A3, 2},   {0xF900, 0xFAFF, 2},
        {0xFE00, 0xFE0F, 0},  {0xFE20, 0xFE2F, 0},   {0xFE30, 0xFE6F, 2},   {0xFF00, 0xFF60, 2},
        {0xFFE0, 0xFFE6, 2},  {0x1F300, 0x1F64F, 2}, {0x1F680, 0x1F6FF, 2}, {0x1F900, 0x1F9FF, 2},
        {0x20000, 0x3FFFD, 2}};
    const unsigned char *bytes = (const unsigned char *)text;
    size_t sequence = bytes[0] < 0x80 ? 1 : utf8_sequence_length(bytes, strnlen(text, 4));
    *length = sequence > 0 ? sequence : 1;
    if (sequence < 2)
        return 1;
    uint32_t point = code_point(bytes, sequence);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (point <= others[i].last)
            return point >= others[i].first ? others[i].columns : 1;
    return 1;
}

size_t assay__text_columns(const char *text)
{
    size_t columns = 0;
    for (size_t length; *text != '\0'; text += length)
        columns += character_columns(text, &length);
    return columns;
}

size_t assay__text_fitting(const char *text, size_t columns)
{
    size_t bytes = 0;
    for (size_t used = 0, length; text[bytes] != '\0'; bytes += length) {
        used += character_columns(text + bytes, &length);
        if (used > columns)
            break;
    }
    return bytes;
}

const char *assay__text_in_ascii(const char *character, size_t length)
{
    static const struct {
        const char *character, *spelled;
    } spellings[] = {
        {"…", "..."}, {"µ", "u"},  {"±", "+-"}, {"×", "x"},  {"–", "-"},     {"—", "-"},
        {"²", "^2"},  {"³", "^3"}, {"≥", ">="}, {"≤", "<="}, {"→", "->"},    {"·", "*"},
        {"≈", "~"},   {"⚠", "!"},  {"⚡", "!"},  {"’", "'"},  {"‘", "'"},     {"“", "\""},
        {"”", "\""},  {"─", "-"},  {"│", "|"},  {"█", "#"},  {"\uFE0F", ""}, /* asks for a coloured
                                                                                form of the
                                                                                character before it
                                                                              */
    };
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (strncmp(spellings[i].character, character, length) == 0 &&
            spellings[i].character[length] == '\0')
            return spellings[i].spelled;
    return NULL;
}

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* The bytes up to the next place where a line may end. That is a blank, but none within a figure
 * such as "1 ± 5 %". */
static size_t unbroken_bytes(const char *text)
{
    size_t word = 0, bytes = strcspn(text, " ");
    while (text[bytes] == ' ' &&
           (begins_with(text + bytes, " %") || begins_with(text + bytes, " ± ") ||
            begins_with(text + word, "± "))) {
        word = bytes + 1;
        bytes = word + strcspn(text + word, " ");
    }
    return bytes;
}

/* The columns that the first `bytes` of the text take at most, in UTF-8 or in ASCII. */
static size_t widest_columns(const char *text, size_t bytes)
{
    size_t columns = 0;
    for (size_t at = 0, step; at < bytes; at += step) {
        size_t shown = character_columns(text + at, &step);
        const char *spelled = step > 1 ? assay__text_in_ascii(text + at, step) : NULL;
        columns += spelled != NULL && strlen(spelled) > shown ? strlen(spelled) : shown;
    }
    return columns;
}

size_t assay__text_line(const char *text, size_t columns, const char **rest)
{
    size_t used = 0, at = 0, taken = 0;
    do {
        size_t word = unbroken_bytes(text + at);
        used += widest_columns(text + at, word);
        if (taken > 0 && used > columns)
            break;
        at += word;
        taken = at;
        size_t blanks = strspn(text + at, " ");
        at += blanks;
        used += blanks;
        *rest = text + at;
    } while (text[at] != '\0');
    return taken;
}

bool assay__text_same(const char *one, const char *other)
{
    return one == other || (one != NULL && other != NULL && strcmp(one, other) == 0);
}

static char folded(char c)
{
    return c == '_' ? '-' : c;
}

bool assay__text_same_option(const char *name, const char *typed, size_t length)
{
    if (strlen(name) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (folded(name[i]) != folded(typed[i]))
            return false;
    return true;
}

bool assay__text_is_number(const char *text)
{
    enum { MOST_DIGITS = 18 }; /* any number of so many digits is below 2^63 */
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && digits <= MOST_DIGITS && text[digits] == '\0';
}

bool assay__text_bytes(const char *text, size_t *bytes)
{
    static const char units[] = "KMGT";
    char *end = NULL;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;
    end += unit != NULL;
    if (unit != NULL && strcmp(end, "iB") == 0)
        end += 2;
    else if (strcmp(end, "B") == 0)
        end++;
    if (*end != '\0' || errno != 0 || value == 0 || value > SIZE_MAX >> shift)
        return false;
    *bytes = (size_t)value << shift;
    return true;
}

/* In glibc the C locale is a constant: it costs neither memory nor time to ask for it. */
double assay__text_number(const char *text, char **end)
{
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0)
        return strtod(text, end);
    double number = strtod_l(text, end, c_locale);
    freelocale(c_locale);
    return number;
}

const char *assay__text_utc(uint64_t seconds, char text[ASSAY__UTC_BYTES])
{
    time_t moment = (time_t)seconds;
    struct tm utc;
    if (gmtime_r(&moment, &utc) == NULL || strftime(text, ASSAY__UTC_BYTES, "%FT%TZ", &utc) == 0)
        text[0] = '\0';
    return text;
}
