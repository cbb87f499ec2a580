/* Finds the entry points of the CUDA driver, if the driver is already loaded into this process. */
#include "instrument/cuda.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static struct {
    pthread_mutex_t lock;
    _Atomic bool found; /* stays true: the driver is never unloaded */
    /* How many libraries had been loaded into the process when the driver was not found. */
    _Atomic unsigned long long missed_at;
    assay__cuda entry;
} driver = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Look up all entry points. False if one that is not optional is missing. */
static bool find_entries(void *handle, assay__cuda *entry)
{
    bool whole = true;
#define FIND(field, symbol, arguments)                                                             \
    do {                                                                                           \
        void *found = dlsym(handle, symbol);                                                       \
        memcpy(&entry->field, &found, sizeof found);                                               \
        whole = whole && found != NULL;                                                            \
    } while (0);
    ASSAY__CUDA_LIST(FIND)
    const bool enough = whole;
    ASSAY__CUDA_OPTIONAL_LIST(FIND)
#undef FIND
    return enough;
}

static int read_loaded(struct dl_phdr_info *info, size_t bytes, void *count)
{
    (void)bytes;
    *(unsigned long long *)count = info->dlpi_adds;
    return 1; /* every entry has the number */
}

/* How many libraries have been loaded into the process so far. This costs a hundredth of dlopen().
 */
static unsigned long long libraries_loaded(void)
{
    unsigned long long count = 0;
    (void)dl_iterate_phdr(read_loaded, &count);
    return count;
}

const assay__cuda *assay__cuda_known(void)
{
    return driver.found ? &driver.entry : NULL;
}

const assay__cuda *assay__cuda_driver(void)
{
    if (driver.found)
        return &driver.entry;
    const unsigned long long loaded = libraries_loaded();
    if (loaded == driver.missed_at)
        return NULL;
    /* Another thread is looking for the driver, or was when this process was forked. The lock is
     * then not available, and this call finds nothing. */
    if (pthread_mutex_trylock(&driver.lock) != 0)
        return NULL;
    if (!driver.found) {
        /* The handle keeps the driver in the process. */
        void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
        if (handle != NULL && find_entries(handle, &driver.entry))
            driver.found = true;
        else if (handle != NULL)
            dlclose(handle);
        if (!driver.found)
            driver.missed_at = loaded;
    }
    pthread_mutex_unlock(&driver.lock);
    return driver.found ? &driver.entry : NULL;
}
