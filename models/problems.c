/* Collects problems in a fixed text. Once a problem did not fit, no later one is kept, so that the
 * kept ones are always the first. */
#include "models/problems.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

void assay__problems_add(assay__problems *problems, const char *format, ...)
{
    char line[384];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    assay__text_make_printable(line);
    if (problems->sink != NULL)
        problems->sink(problems->context, line);
    bool all_kept = problems->kept == problems->count;
    problems->count++;
    size_t length = strlen(line), separator = problems->kept > 0 ? 2 : 0;
    bool fits = problems->used + separator + length < sizeof problems->text;
    if (!all_kept || (!fits && problems->kept > 0))
        return;
    problems->used +=
        (size_t)snprintf(problems->text + problems->used, sizeof problems->text - problems->used,
                         "%s%s", separator > 0 ? "; " : "", line);
    if (problems->used >= sizeof problems->text)
        problems->used = sizeof problems->text - 1;
    problems->kept++;
}

assay_status assay__problems_fail(const assay__problems *problems, assay_status status,
                                  assay_error *error, const char *prefix_format, ...)
{
    char prefix[sizeof error->message - sizeof problems->text - 16];
    va_list arguments;
    va_start(arguments, prefix_format);
    vsnprintf(prefix, sizeof prefix, prefix_format, arguments);
    va_end(arguments);
    size_t more = problems->count - problems->kept;
    if (more == 0)
        return assay__fail(error, status, "%s: %s", prefix, problems->text);
    return assay__fail(error, status, "%s: %s; and %zu more", prefix, problems->text, more);
}
