/* dlsym() returns a pointer to an object. POSIX guarantees that it can be used as a pointer to a
 * function; memcpy() avoids the cast that C does not allow. */
#include "store/library.h"

#include <dlfcn.h>
#include <string.h>

const char *assay__store_load(const char *library, const assay__store_symbol *symbols, size_t count)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    const char *missing = handle == NULL ? library : NULL;
    for (size_t i = 0; i < count && missing == NULL; i++) {
        void *found = dlsym(handle, symbols[i].name);
        memcpy(symbols[i].target, &found, sizeof found);
        if (found == NULL)
            missing = symbols[i].name;
    }
    return missing;
}
