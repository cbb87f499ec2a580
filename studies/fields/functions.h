/* Nine functions of two variables on the square [-1, 1] x [-1, 1], with values within [-1, 1]. They
 * have different kinds of detail, so that a model that fits one of them well may fit another badly.
 */
#ifndef ASSAY_STUDIES_FIELDS_FUNCTIONS_H
#define ASSAY_STUDIES_FIELDS_FUNCTIONS_H

enum { ASSAY__FIELDS_FUNCTIONS = 9 };

typedef struct assay__fields_function {
    const char *name;    /* such as "franke"; also part of file names */
    const char *formula; /* as text, at most 50 columns */
    const char *detail;  /* the difficulty of the function */
    double (*value)(double x, double y);
} assay__fields_function;

extern const assay__fields_function assay__fields_functions[ASSAY__FIELDS_FUNCTIONS];

#endif
