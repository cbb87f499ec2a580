/* Finds and opens CUPTI, and looks up the entry points that we use. */
#include "cupti/api.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

static int is_cupti(struct dl_phdr_info *info, size_t bytes, void *user)
{
    const char *base = strrchr(info->dlpi_name, '/');
    (void)bytes;
    base = base != NULL ? base + 1 : info->dlpi_name;
    if (strncmp(base, "libcupti.so", 11) != 0)
        return 0;
    snprintf(user, PATH_BYTES, "%s", info->dlpi_name);
    return 1;
}

static void *open_library(void)
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so",
                                        "/usr/local/cuda/lib64/libcupti.so",
                                        "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};
    char loaded[PATH_BYTES] = "";
    if (dl_iterate_phdr(is_cupti, loaded) != 0)
        return dlopen(loaded, RTLD_NOW | RTLD_NOLOAD);
    const char *chosen = secure_getenv("ASSAY_CUPTI");
    if (chosen != NULL && *chosen != '\0')
        return dlopen(chosen, RTLD_NOW);
    void *library = NULL;
    for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW);
    return library;
}

void *assay__cupti_find(const char *name)
{
    char loaded[PATH_BYTES] = "";
    void *library =
        dl_iterate_phdr(is_cupti, loaded) != 0 ? dlopen(loaded, RTLD_NOW | RTLD_NOLOAD) : NULL;
    return library != NULL ? dlsym(library, name) : NULL;
}

bool assay__cupti_open(assay__cupti *api, char *reason, size_t bytes)
{
    const struct {
        const char *name;
        void *at;
        bool optional;
    } calls[] = {
        {"cuptiGetVersion", &api->version, false},
        {"cuptiSubscribe", &api->subscribe, false},
        {"cuptiUnsubscribe", &api->unsubscribe, false},
        {"cuptiEnableCallback", &api->enable_callback, false},
        {"cuptiActivityEnable", &api->enable, false},
        {"cuptiActivityDisable", &api->disable, false},
        {"cuptiActivityRegisterCallbacks", &api->register_buffers, false},
        {"cuptiActivityGetNextRecord", &api->next_record, false},
        {"cuptiActivityGetNumDroppedRecords", &api->dropped, false},
        {"cuptiActivityFlushAll", &api->flush, false},
        {"cuptiGetResultString", &api->error_text, false},
        {"cuptiActivitySetAttribute", &api->set_attribute, true},
        {"cuptiActivityFlushPeriod", &api->flush_period, true},
        {"cuptiActivityRegisterTimestampCallback", &api->register_clock, true},
    };
    void *library = open_library();
    if (library == NULL) {
        const char *why = dlerror();
        snprintf(reason, bytes, "CUPTI cannot be opened (%.120s)", why != NULL ? why : "?");
        return false;
    }
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *call = dlsym(library, calls[i].name);
        if (call == NULL && !calls[i].optional) {
            snprintf(reason, bytes, "CUPTI has no %s: it is too old", calls[i].name);
            return false;
        }
        memcpy(calls[i].at, &call, sizeof call);
    }
    uint32_t version = 0;
    if (api->version(&version) != ASSAY__CUPTI_OK) {
        snprintf(reason, bytes, "CUPTI does not say its version");
        return false;
    }
    if (version < ASSAY__CUPTI_OLDEST) {
        snprintf(reason, bytes, "CUPTI %u is too old; CUDA 11.1 or later is needed", version);
        return false;
    }
    return true;
}
