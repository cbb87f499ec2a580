/* Demangles the names of C++ kernels with the C++ library. libassay does not need that library
 * otherwise, so it is opened here, when a record is made. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot/activity_merge.h"

char *assay__demangled(const char *name)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
    char *(*demangle)(const char *, char *, size_t *, int *) = NULL;
    char *result = NULL;
    int failed = 1;
    if (strncmp(name, "_Z", 2) == 0)
        for (size_t i = 0; demangle == NULL && i < 2; i++) {
            void *library = dlopen(libraries[i], RTLD_NOW); /* stays open: it is used again */
            void *found = library != NULL ? dlsym(library, "__cxa_demangle") : NULL;
            memcpy(&demangle, &found, sizeof found);
        }
    if (demangle != NULL)
        result = demangle(name, NULL, NULL, &failed);
    return failed == 0 && result != NULL ? result : strdup(name);
}
