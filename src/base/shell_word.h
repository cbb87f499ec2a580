/* Quotes the words of a command for a POSIX shell, so that a line of output can be pasted. */
#ifndef ASSAY_BASE_SHELL_WORD_H
#define ASSAY_BASE_SHELL_WORD_H

#include <stddef.h>

#include "base/buffer.h"

/* Append `count` words, separated by a space. A word is put in single quotes when it is empty or
 * contains a character with a meaning to a shell. A failure is kept in the status of the buffer. */
void assay__shell_words(assay__buffer *text, const char *const *words, size_t count);

#endif
