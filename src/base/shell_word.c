/* Quotes words for a shell: the word stands in single quotes, and each single quote in it becomes
 * '\''. */
#include "base/shell_word.h"

#include <string.h>

static const char special[] = " \t\n'\"\\|&;<>`$*(){}?[]~#!";

static void append_word(assay__buffer *text, const char *word)
{
    if (*word != '\0' && strpbrk(word, special) == NULL) {
        assay__buffer_append_text(text, word);
        return;
    }
    assay__buffer_append_text(text, "'");
    for (;;) {
        size_t length = strcspn(word, "'");
        assay__buffer_append(text, word, length);
        word += length;
        if (*word == '\0')
            break;
        assay__buffer_append_text(text, "'\\''");
        word++;
    }
    assay__buffer_append_text(text, "'");
}

void assay__shell_words(assay__buffer *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assay__buffer_append_text(text, i > 0 ? " " : "");
        append_word(text, words[i]);
    }
}
