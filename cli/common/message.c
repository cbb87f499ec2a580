#include "cli/common/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

enum { MAX_LINE = 1024 };

/* C0 controls, DEL, and C1 controls in their UTF-8 form. */
static void disarm(char *text)
{
    for (unsigned char *at = (unsigned char *)text; *at != '\0'; at++) {
        if (*at < 0x20 || *at == 0x7F)
            *at = '?';
        else if (*at == 0xC2 && at[1] >= 0x80 && at[1] < 0xA0)
            at[0] = at[1] = '?';
    }
}

static void say(const char *prefix, const char *format, va_list arguments)
{
    char line[MAX_LINE];
    int used = vsnprintf(line, sizeof line, format, arguments);
    if (used < 0)
        return;
    if ((size_t)used >= sizeof line)
        memcpy(line + sizeof line - 4, "...", 4);
    disarm(line);
    fprintf(stderr, "%s%s\n", prefix, line);
}

void message_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("", format, arguments);
    va_end(arguments);
}

void message_note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("assay: note: ", format, arguments);
    va_end(arguments);
}

bool message_colour(FILE *stream)
{
    const char *declined = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return (declined == NULL || *declined == '\0') && isatty(fileno(stream)) &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

int message_input_exit(assay_status status)
{
    switch (status) {
    case ASSAY_OK:
        return EX_OK;
    case ASSAY_E_NOT_FOUND:
        return EX_NOINPUT;
    case ASSAY_E_PERMISSION:
        return EX_NOPERM;
    case ASSAY_E_IO:
        return EX_IOERR;
    case ASSAY_E_MEMORY:
        return EX_OSERR;
    case ASSAY_E_ARGUMENT:
        return EX_USAGE;
    case ASSAY_E_UNSUPPORTED:
        return EX_UNAVAILABLE;
    case ASSAY_E_FORMAT:
    case ASSAY_E_VERSION:
    case ASSAY_E_TRUNCATED:
    case ASSAY_E_DATA:
    case ASSAY_E_STATE: /* a journal that is being made */
    case ASSAY_E_LIMIT:
        return EX_DATAERR;
    default:
        return EX_SOFTWARE;
    }
}

int message_output_exit(assay_status status)
{
    switch (status) {
    case ASSAY_OK:
        return EX_OK;
    case ASSAY_E_NOT_FOUND:
    case ASSAY_E_PERMISSION:
    case ASSAY_E_ARGUMENT:
        return EX_CANTCREAT;
    case ASSAY_E_IO:
    case ASSAY_E_FULL:
        return EX_IOERR;
    case ASSAY_E_MEMORY:
        return EX_OSERR;
    default:
        return EX_SOFTWARE;
    }
}

bool message_flush(FILE *stream, const char *name)
{
    bool earlier = ferror(stream) != 0;
    if (fflush(stream) == 0 && !earlier)
        return true;
    message_error("assay: cannot write %s: %s", name,
                  earlier ? "an earlier write failed" : strerror(errno));
    return false;
}
