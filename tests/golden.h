/* Printed text held against tests/golden/NAME.txt, character by character.
 *
 *     golden_text text;
 *     FILE *stream = golden_open(&text);
 *     ... print to stream ...
 *     golden_check(&text, "timing_summary");
 *
 * ASSAY_UPDATE_GOLDEN=1 rewrites the files instead; review the difference before committing it. */
#ifndef ASSAY_TESTS_GOLDEN_H
#define ASSAY_TESTS_GOLDEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct golden_text {
    char *text;
    size_t length;
    FILE *stream;
} golden_text;

static inline FILE *golden_open(golden_text *text)
{
    text->text = NULL;
    text->length = 0;
    text->stream = open_memstream(&text->text, &text->length);
    assert_non_null(text->stream);
    return text->stream;
}

static inline void golden_check_text(golden_text *text, const char *expected)
{
    fclose(text->stream);
    assert_string_equal(text->text, expected);
    free(text->text);
}

static inline FILE *golden_file(const char *name, const char *mode)
{
    char path[4096];
    const char *root = getenv("ASSAY_SOURCE");
    if (root != NULL)
        snprintf(path, sizeof path, "%s/tests/golden/%s.txt", root, name);
    else
        snprintf(path, sizeof path, "%.*s/golden/%s.txt", (int)(strlen(__FILE__) - 9), __FILE__,
                 name);
    FILE *file = fopen(path, mode);
    if (file == NULL)
        fail_msg("cannot open %s; ASSAY_UPDATE_GOLDEN=1 makes it", path);
    return file;
}

static inline void golden_check(golden_text *text, const char *name)
{
    static char expected[1 << 16];
    if (getenv("ASSAY_UPDATE_GOLDEN") != NULL) {
        fflush(text->stream);
        FILE *file = golden_file(name, "w");
        fwrite(text->text, 1, text->length, file);
        fclose(file);
    }
    FILE *file = golden_file(name, "r");
    expected[fread(expected, 1, sizeof expected - 1, file)] = '\0';
    fclose(file);
    golden_check_text(text, expected);
}

#endif
