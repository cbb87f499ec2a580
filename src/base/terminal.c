/* Asks the kernel and the environment about the terminal behind a stream. */
#include "base/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { USUAL_COLUMNS = 80, MOST_COLUMNS = 10000 };

/* A program may have replaced its standard streams by streams without a descriptor. The usual
 * descriptors of stdout and stderr then stand for them. */
static int descriptor_of(FILE *stream)
{
    int descriptor = fileno(stream);
    if (descriptor >= 0)
        return descriptor;
    return stream == stdout ? STDOUT_FILENO : stream == stderr ? STDERR_FILENO : -1;
}

size_t assay__terminal_columns(FILE *stream)
{
    int descriptor = descriptor_of(stream);
    struct winsize size;
    if (descriptor < 0 || !isatty(descriptor))
        return 0;
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    const char *told = getenv("COLUMNS");
    long columns = told != NULL ? strtol(told, NULL, 10) : 0;
    return columns > 0 && columns <= MOST_COLUMNS ? (size_t)columns : USUAL_COLUMNS;
}

bool assay__terminal_moves(FILE *stream)
{
    const char *terminal = getenv("TERM");
    int descriptor = descriptor_of(stream);
    return descriptor >= 0 && isatty(descriptor) &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

bool assay__terminal_colour(FILE *stream)
{
    const char *declined = getenv("NO_COLOR");
    return (declined == NULL || *declined == '\0') && assay__terminal_moves(stream);
}

const char *assay__terminal_shade(FILE *stream, assay__shade shade)
{
    static const char *const codes[] = {"\033[0m", "\033[32m", "\033[33m", "\033[31m", "\033[1m"};
    return assay__terminal_colour(stream) ? codes[shade] : "";
}
