/* Splits a command line that was given as one text into words, without a shell, and joins words
 * again. */
#ifndef ASSAY_CLI_COMMAND_WORDS_H
#define ASSAY_CLI_COMMAND_WORDS_H

#include <stddef.h>

/* An argument vector; `items` is terminated by NULL. A struct that is all zero has no words. */
typedef struct words {
    char **items;
    size_t count;
} words;

/* Split `text` as a POSIX shell does: blanks separate words, '…' keeps every character, "…" keeps
 * every character but the backslash in \" \\ \$ \`, and outside quotes a backslash keeps the next
 * character. Unquoted characters that only a shell understands (| & ; < > ` $ *) are refused.
 * Returns 0, or -1 with `*problem` pointing to a static text that continues "'TEXT' …". The caller
 * releases the result. */
int words_split(const char *text, words *result, const char **problem);

/* Copy `items` into `result`, which the caller releases. Returns 0, or -1 when out of memory. */
int words_copy(char *const *items, size_t count, words *result);

/* One line that splits into the same words. The caller frees it. NULL when out of memory. */
char *words_join(const words *joined);

/* Replace every "{name}" in every word by `value`. Returns the number of replacements, or -1 when
 * out of memory. */
int words_replace(words *changed, const char *name, const char *value);

void words_release(words *released);

#endif
