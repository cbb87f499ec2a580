/* Opens the library of a database while the program runs. */
#ifndef ASSAY_STORE_LIBRARY_H
#define ASSAY_STORE_LIBRARY_H

#include <stddef.h>

/* A function of a library, and where the pointer to it is stored. */
typedef struct assay__store_symbol {
    const char *name;
    void *target; /* the address of a pointer to a function of the right type */
} assay__store_symbol;

/* Load a shared library and find its functions. The library stays loaded. Returns NULL, or the name
 * of what is missing: the library or one of its functions. */
const char *assay__store_load(const char *library, const assay__store_symbol *symbols,
                              size_t count);

#endif
