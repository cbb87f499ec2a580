/* The filter of ascii.h: a stream made by fopencookie() that translates UTF-8 to ASCII while text
 * is written to it. It keeps two things between writes: the bytes of an incomplete character, and
 * the number of columns by which longer spellings have made the present line too long. The filter
 * then drops that many blanks, but always leaves one blank between two words. */
#include "cli/common/ascii.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/text.h"

/* A stream that is filtered. */
typedef struct filter {
    FILE *plain;  /* the stream that receives the ASCII text */
    char held[4]; /* the first bytes of a character whose other bytes are still to come */
    size_t held_count;
    size_t debt; /* the number of columns by which the line is too long */
    char last;   /* the byte that was written last */
} filter;

static filter outputs[2];

static void put(filter *self, const char *text, size_t length)
{
    fwrite(text, 1, length, self->plain);
    self->last = length > 0 ? text[length - 1] : self->last;
}

static void put_ascii(filter *self, char byte)
{
    if (byte == '\n')
        self->debt = 0;
    if (byte == ' ' && self->last == ' ' && self->debt > 0)
        self->debt--;
    else
        put(self, &byte, 1);
}

static void put_spelled(filter *self, const char *character, size_t length)
{
    const char *spelled = assay__text_in_ascii(character, length);
    if (spelled == NULL)
        spelled = "?";
    self->debt += strlen(spelled) > 1 ? strlen(spelled) - 1 : 0;
    put(self, spelled, strlen(spelled));
}

/* The number of bytes of the character that begins with this byte; 0 if no character begins so. */
static size_t needs(unsigned char lead)
{
    return lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
}

static void take(filter *self, char byte)
{
    if (self->held_count == 0 && (unsigned char)byte < 0x80) {
        put_ascii(self, byte);
        return;
    }
    self->held[self->held_count++] = byte;
    if (self->held_count < needs((unsigned char)self->held[0]))
        return;
    if (assay__text_sequence(self->held, self->held_count) == self->held_count)
        put_spelled(self, self->held, self->held_count);
    else
        put(self, "?", 1);
    self->held_count = 0;
}

/* The write function for fopencookie(). Returning 0 reports that the write failed. */
static ssize_t write_filtered(void *cookie, const char *bytes, size_t count)
{
    filter *self = cookie;
    for (size_t i = 0; i < count; i++)
        take(self, bytes[i]);
    errno = 0;
    return fflush(self->plain) == 0 && !ferror(self->plain) ? (ssize_t)count : 0;
}

static FILE *filtered(filter *self, FILE *plain, int buffering)
{
    self->plain = plain;
    FILE *stream = fopencookie(self, "w", (cookie_io_functions_t){.write = write_filtered});
    if (stream == NULL)
        return plain;
    setvbuf(stream, NULL, buffering, BUFSIZ);
    return stream;
}

static bool locale_is_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < 3; i++) {
        const char *value = getenv(variables[i]);
        if (value != NULL && *value != '\0')
            return strcasestr(value, "UTF-8") != NULL || strcasestr(value, "UTF8") != NULL;
    }
    return false;
}

void ascii_begin(void)
{
    if (locale_is_utf8())
        return;
    stdout = filtered(&outputs[0], stdout, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
    stderr = filtered(&outputs[1], stderr, _IONBF);
}

void ascii_spare_stdout(void)
{
    if (outputs[0].plain != NULL)
        stdout = outputs[0].plain;
}
