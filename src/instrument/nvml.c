/* Opens NVIDIA's management library once for the process, and finds its entry points. */
#include "instrument/nvml.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"

static const char library_name[] = "libnvidia-ml.so.1";

static struct {
    pthread_once_t once;
    assay__nvml entry;
    assay_error error; /* its status says whether `entry` may be used */
} library = {.once = PTHREAD_ONCE_INIT};

const char *assay__nvml_text(int status)
{
    switch (status) {
    case ASSAY__NVML_OK:
        return "success";
    case ASSAY__NVML_ARGUMENT:
        return "the library does not know such a device or figure";
    case ASSAY__NVML_UNSUPPORTED:
        return "this device does not give it";
    case ASSAY__NVML_PERMISSION:
        return "not permitted to this user";
    case ASSAY__NVML_NOT_FOUND:
        return "not found";
    case ASSAY__NVML_NO_DRIVER:
        return "the NVIDIA driver is not loaded";
    case ASSAY__NVML_NO_FUNCTION:
        return "the library is too old for it";
    case ASSAY__NVML_LOST:
        return "the device is lost: it fell off the bus or was unplugged";
    case ASSAY__NVML_RESET:
        return "the device needs a reset";
    case ASSAY__NVML_MISMATCH:
        return "the driver and its library are of different versions: restart the machine";
    default:
        return "the driver reports an error";
    }
}

assay_validity assay__nvml_validity(int status)
{
    switch (status) {
    case ASSAY__NVML_OK:
        return ASSAY_VALID;
    case ASSAY__NVML_PERMISSION:
        return ASSAY_NOT_PERMITTED;
    default:
        return ASSAY_UNSUPPORTED;
    }
}

/* dlsym() returns a pointer to an object. POSIX guarantees that it can be used as a pointer to a
 * function; memcpy() avoids the cast that C does not allow. */
static void find_entries(void *handle, assay__nvml *entry)
{
#define FIND(field, symbol, arguments)                                                             \
    do {                                                                                           \
        void *found = dlsym(handle, symbol);                                                       \
        memcpy(&entry->field, &found, sizeof found);                                               \
    } while (0);
    ASSAY__NVML_LIST(FIND)
#undef FIND
}

static void open_library(void)
{
    assay_error *error = &library.error;
    void *handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        assay__fail(error, ASSAY_E_UNSUPPORTED, "no NVIDIA driver: %s cannot be opened",
                    library_name);
        return;
    }
    find_entries(handle, &library.entry);
    const assay__nvml *entry = &library.entry;
    if (entry->init == NULL || entry->count == NULL || entry->device_at == NULL) {
        assay__fail(error, ASSAY_E_UNSUPPORTED, "%s is too old: update the NVIDIA driver",
                    library_name);
        return;
    }
    int status = entry->init();
    if (status != ASSAY__NVML_OK)
        assay__fail(error,
                    status == ASSAY__NVML_PERMISSION ? ASSAY_E_PERMISSION : ASSAY_E_UNSUPPORTED,
                    "%s cannot be used: %s", library_name, assay__nvml_text(status));
}

assay_status assay__nvml_open(assay_error *error, const assay__nvml **nvml)
{
    pthread_once(&library.once, open_library);
    *nvml = &library.entry;
    if (library.error.status != ASSAY_OK && error != NULL)
        *error = library.error;
    return library.error.status;
}
