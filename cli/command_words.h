/* Command lines given as one text, split into words without a shell. */
#ifndef ASSAY_CLI_COMMAND_WORDS_H
#define ASSAY_CLI_COMMAND_WORDS_H

#include <stddef.h>

/* An argument vector; `items` is terminated by NULL. All zero: none. */
typedef struct words {
    char **items;
    size_t count;
} words;

/* Split as a POSIX shell does: blanks separate, '…' keeps everything, "…" keeps all but \" \\ \$
 * \`, a backslash keeps the next character. What only a shell could do (| & ; < > ` $ * unquoted)
 * is refused. 0, or -1 with `*problem` pointing to a static text that continues "'TEXT' …". */
int words_split(const char *text, words *result, const char **problem);

/* A copy of `items`, terminated by NULL. -1 when out of memory. */
int words_copy(char *const *items, size_t count, words *result);

/* One line that splits into the same words; caller frees. NULL when out of memory. */
char *words_join(const words *joined);

/* Every "{name}" in every word becomes `value`. The number replaced, or -1 when out of memory. */
int words_replace(words *changed, const char *name, const char *value);

void words_release(words *released);

#endif
