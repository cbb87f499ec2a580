/* Asks the CUDA driver for the UUIDs of its devices. */
#include "cupti/identity.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

enum { UUID_BYTES = sizeof(((assay__activity_device *)NULL)->uuid) };

static struct {
    /* The UUID of the board; a later call of the driver gives that of its instance (MIG). */
    int (*uuid)(unsigned char *bytes, int number);
    atomic_bool asked, answered;
    uint32_t count;
    unsigned char uuids[ASSAY__ACTIVITY_DEVICES][UUID_BYTES];
} driver;

void assay__identity_open(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *found = library != NULL ? dlsym(library, "cuDeviceGetUuid") : NULL;
    memcpy(&driver.uuid, &found, sizeof found);
}

void assay__identity_ask(void)
{
    if (atomic_load_explicit(&driver.asked, memory_order_relaxed) ||
        atomic_exchange(&driver.asked, true))
        return;
    while (driver.uuid != NULL && driver.count < ASSAY__ACTIVITY_DEVICES &&
           driver.uuid(driver.uuids[driver.count], (int)driver.count) == 0)
        driver.count++;
    atomic_store(&driver.answered, true);
}

void assay__identity_enter(assay__activity_region *region)
{
    if (!atomic_load(&driver.answered))
        return;
    for (uint32_t i = 0; i < region->device_count; i++) {
        assay__activity_device *device = &region->devices[i];
        if (device->has_uuid || device->number >= driver.count)
            continue;
        memcpy(device->uuid, driver.uuids[device->number], sizeof device->uuid);
        device->has_uuid = 1;
    }
}
