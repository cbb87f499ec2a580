/* Messages on standard error, and the exit codes that belong to them (sysexits.h). */
#include "cli/common/message.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sysexits.h>

#include "base/terminal.h"
#include "base/text.h"

enum { MAX_LINE = 1024 };

/* Print a line with its beginning in colour: the prefix, or else everything up to the first colon.
 * That part names the command that speaks, and the colour shows how serious the message is. */
static void print_line(const char *prefix, assay__shade shade, const char *line)
{
    size_t head = *prefix != '\0' ? 0 : strcspn(line, ":");
    head += head > 0 && line[head] == ':';
    fprintf(stderr, "%s%s%.*s%s%s\n", assay__terminal_shade(stderr, shade), prefix, (int)head, line,
            assay__terminal_shade(stderr, ASSAY__SHADE_PLAIN), line + head);
}

static void say(const char *prefix, assay__shade shade, const char *format, va_list arguments)
{
    char line[MAX_LINE];
    int used = vsnprintf(line, sizeof line, format, arguments);
    if (used < 0)
        return;
    if ((size_t)used >= sizeof line)
        memcpy(line + sizeof line - 4, "...", 4);
    assay__text_make_printable(line);
    print_line(prefix, shade, line);
}

void message_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("", ASSAY__SHADE_BAD, format, arguments);
    va_end(arguments);
}

void message_note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("assay: note: ", ASSAY__SHADE_DOUBTFUL, format, arguments);
    va_end(arguments);
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
    case ASSAY_E_FULL: /* of commands that read and write: studies, the history */
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
    case ASSAY_E_STATE: /* a journal that its program has not finished creating */
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
    case ASSAY_E_UNSUPPORTED: /* this assay was built without it */
        return EX_UNAVAILABLE;
    default:
        return EX_SOFTWARE;
    }
}

int message_finish(int code)
{
    bool earlier = ferror(stdout) != 0;
    bool lost = fflush(stdout) != 0 || earlier;
    if (lost && code == EX_OK) /* otherwise the command has already printed a message */
        message_error("assay: cannot write standard output: %s",
                      earlier ? "an earlier write failed" : strerror(errno));
    lost = fflush(stderr) != 0 || ferror(stderr) || lost;
    return lost && code == EX_OK ? EX_IOERR : code;
}
