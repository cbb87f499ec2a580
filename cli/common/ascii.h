/* Text for a terminal or a reader whose characters are ASCII.
 *
 * The library and the commands write UTF-8. Where the locale has other characters (LC_ALL, else
 * LC_CTYPE, else LANG names no UTF-8, as "C" does not), standard output and standard error get a
 * filter that spells what ASCII lacks: "us" for microseconds, "+-", "...", and '?' for letters. The
 * blanks behind a longer spelling shrink, so that columns stay where they are. */
#ifndef ASSAY_CLI_COMMON_ASCII_H
#define ASSAY_CLI_COMMON_ASCII_H

/* To be called first in main(). setlocale() is not called: numbers keep their point, and the
 * measured program does not inherit the memory that a locale takes. */
void ascii_begin(void);

/* Standard output will carry a document for programs, which is UTF-8 whatever the locale: take its
 * filter away. To be called before anything was written to it. */
void ascii_spare_stdout(void);

#endif
