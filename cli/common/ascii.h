/* Output in ASCII for terminals that cannot show UTF-8.
 *
 * The library and the commands write UTF-8. The first of LC_ALL, LC_CTYPE and LANG that is set says
 * whether the locale uses UTF-8. If it does not, as with "C", standard output and standard error
 * get a filter that replaces every character outside ASCII: it writes "us" for microseconds, "+-"
 * for the sign plus-minus, "..." for an ellipsis, and '?' for letters. A longer spelling takes the
 * place of some of the blanks behind it, so that columns stay aligned. */
#ifndef ASSAY_CLI_COMMON_ASCII_H
#define ASSAY_CLI_COMMON_ASCII_H

/* Install the filters if the locale needs them. Call this first in main(). It does not call
 * setlocale(): numbers keep their decimal point, and the memory that a locale takes does not appear
 * in the peak of the measured program. */
void ascii_begin(void);

/* Remove the filter from standard output, because it will carry a document for programs, which is
 * UTF-8 in every locale. Call this before anything was written to standard output. */
void ascii_spare_stdout(void);

#endif
