/* Provides a locale with a decimal comma: an installed one, or one made for the test from Debian's
 * package locales. */
#ifndef ASSAY_TESTS_COMMA_LOCALE_H
#define ASSAY_TESTS_COMMA_LOCALE_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static const char comma_locale[] = "de_DE.UTF-8";

typedef struct comma_locale_folder {
    char path[32];
} comma_locale_folder;

/* Set it; false where there is none. */
static inline bool comma_locale_begin(comma_locale_folder *folder)
{
    char command[256];
    snprintf(folder->path, sizeof folder->path, "/tmp/assay-locale-XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/%s 2>/dev/null", folder->path,
             comma_locale);
    return setlocale(LC_ALL, comma_locale) != NULL ||
           (system(command) == 0 && setenv("LOCPATH", folder->path, 1) == 0 &&
            setlocale(LC_ALL, comma_locale) != NULL);
}

static inline void comma_locale_end(comma_locale_folder *folder)
{
    char command[64];
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -r %s", folder->path);
    assert_int_equal(system(command), 0);
}

#endif
