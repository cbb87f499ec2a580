/* Splits command lines into words as a POSIX shell does, and joins them again. Characters that ask
 * for pipes, redirections or expansions are refused, because these would need a shell. */
#include "cli/command_words.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shell_word.h"

/* This limit is above the longest command line that the kernel accepts. */
enum { LINE_MAX_BYTES = 64 << 20 };

static const char blanks[] = " \t\n";
static const char shell_only[] = "|&;<>`$*";

/* Take one character of a word: copy it to `*to`, or consume it as a quote. `*quote` is the quote
 * that is open, or '\0'. Returns how many characters of `text` were used; 0 means that an unquoted
 * character is one that only a shell understands. */
static size_t take(const char *text, char *quote, char **to)
{
    if (*quote == '\0' && (*text == '\'' || *text == '"')) {
        *quote = *text;
        return 1;
    }
    if (*text == *quote) {
        *quote = '\0';
        return 1;
    }
    bool escapes = *text == '\\' && text[1] != '\0' &&
                   (*quote == '\0' || (*quote == '"' && strchr("\"\\$`", text[1]) != NULL));
    if (escapes) {
        *(*to)++ = text[1];
        return 2;
    }
    if (*quote == '\0' && strchr(shell_only, *text) != NULL)
        return 0;
    *(*to)++ = *text;
    return 1;
}

int words_split(const char *text, words *result, const char **problem)
{
    size_t length = strlen(text);
    words made = {.items = calloc(length / 2 + 2, sizeof *made.items)};
    char *buffer = malloc(length + 1);
    *problem = "needs more memory than there is";
    if (made.items == NULL || buffer == NULL)
        goto failed;
    for (text += strspn(text, blanks); *text != '\0'; text += strspn(text, blanks)) {
        char *to = buffer, quote = '\0';
        while (*text != '\0' && (quote != '\0' || strchr(blanks, *text) == NULL)) {
            size_t used = take(text, &quote, &to);
            *problem = "has a character that only a shell understands (one of | & ; < > ` $ *); "
                       "quote it, or use --shell";
            if (used == 0)
                goto failed;
            text += used;
        }
        *problem = "has a quote that is never closed";
        if (quote != '\0')
            goto failed;
        *problem = "needs more memory than there is";
        if ((made.items[made.count] = strndup(buffer, (size_t)(to - buffer))) == NULL)
            goto failed;
        made.count++;
    }
    *problem = "is empty";
    if (made.count == 0 || made.items[0][0] == '\0')
        goto failed;
    free(buffer);
    *result = made;
    return 0;
failed:
    free(buffer);
    words_release(&made);
    return -1;
}

int words_copy(char *const *items, size_t count, words *result)
{
    words made = {.items = calloc(count + 1, sizeof *made.items)};
    for (; made.items != NULL && made.count < count; made.count++)
        if ((made.items[made.count] = strdup(items[made.count])) == NULL)
            break;
    if (made.items == NULL || made.count < count) {
        words_release(&made);
        return -1;
    }
    *result = made;
    return 0;
}

char *words_join(const words *joined)
{
    assay__buffer line;
    assay__buffer_init(&line, LINE_MAX_BYTES);
    assay__shell_words(&line, (const char *const *)joined->items, joined->count);
    char *taken = assay__buffer_take(&line);
    assay__buffer_release(&line);
    return taken;
}

/* A copy of `word` in which `value` replaces every `mark`; caller frees. NULL when out of memory.
 */
static char *replaced(const char *word, const char *mark, const char *value, int *count)
{
    char *line = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&line, &length);
    if (stream == NULL)
        return NULL;
    for (const char *hit; (hit = strstr(word, mark)) != NULL; word = hit + strlen(mark)) {
        fwrite(word, 1, (size_t)(hit - word), stream);
        fputs(value, stream);
        (*count)++;
    }
    fputs(word, stream);
    if (fclose(stream) != 0) {
        free(line);
        return NULL;
    }
    return line;
}

int words_replace(words *changed, const char *name, const char *value)
{
    char *mark = NULL;
    int count = 0;
    if (asprintf(&mark, "{%s}", name) < 0)
        return -1;
    for (size_t i = 0; i < changed->count; i++) {
        char *word = replaced(changed->items[i], mark, value, &count);
        if (word == NULL) {
            count = -1;
            break;
        }
        free(changed->items[i]);
        changed->items[i] = word;
    }
    free(mark);
    return count;
}

void words_release(words *released)
{
    for (size_t i = 0; i < released->count; i++)
        free(released->items[i]);
    free(released->items);
    *released = (words){0};
}
