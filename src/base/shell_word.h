/* Words of a command as a POSIX shell would take them, so that a line of output can be pasted. */
#ifndef ASSAY_BASE_SHELL_WORD_H
#define ASSAY_BASE_SHELL_WORD_H

#include <stddef.h>

#include "base/buffer.h"

/* Append `count` words, separated by a space. A word is put in single quotes when it is empty or
 * holds a character that means something to a shell. The buffer keeps the status. */
void assay__shell_words(assay__buffer *text, const char *const *words, size_t count);

#endif
