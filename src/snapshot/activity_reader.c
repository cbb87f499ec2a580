/* Reads the file with the GPU activity of one process, and checks every count and row number in
 * it. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "snapshot/activity_idle.h"
#include "snapshot/activity_merge.h"

static bool has_good_counts(const assay__activity_region *r)
{
    return r->name_bytes <= ASSAY__ACTIVITY_NAME_BYTES && r->copy_count <= ASSAY__ACTIVITY_COPIES &&
           r->stream_count <= ASSAY__ACTIVITY_STREAMS &&
           r->device_count <= ASSAY__ACTIVITY_DEVICES && r->count <= ASSAY__ACTIVITY_MAX &&
           r->settled <= r->count && r->point_count <= ASSAY__ACTIVITY_POINTS &&
           (r->name_bytes == 0 || r->names[r->name_bytes - 1] == '\0');
}

static bool is_good_activity(const assay__activity_region *r, const assay__activity *it)
{
    bool is_kernel = it->kind == ASSAY__ACTIVITY_KERNEL;
    return (is_kernel || it->kind == ASSAY__ACTIVITY_COPY) && it->device < r->device_count &&
           it->stream < r->stream_count && it->start_ns <= it->end_ns &&
           it->row < (is_kernel ? (uint32_t)ASSAY__ACTIVITY_KERNELS : r->copy_count);
}

static assay_status check(const assay__activity_region *r, assay_error *error)
{
    if (r->magic != ASSAY__ACTIVITY_MAGIC || r->bytes != sizeof *r)
        return assay__fail(error, ASSAY_E_FORMAT, "not the GPU activity of this version of assay");
    if (!has_good_counts(r))
        return assay__fail(error, ASSAY_E_FORMAT, "a damaged head");
    for (size_t i = 0; i < ASSAY__ACTIVITY_KERNELS; i++)
        if (r->kernels[i].name > r->name_bytes)
            return assay__fail(error, ASSAY_E_FORMAT, "kernel %zu: a damaged name", i);
    for (size_t i = 0; i < r->point_count; i++)
        if (r->points[i].device >= r->device_count)
            return assay__fail(error, ASSAY_E_FORMAT, "allocation %zu: a damaged device", i);
    for (size_t i = 0; i < r->count; i++)
        if (!is_good_activity(r, &r->activities[i]))
            return assay__fail(error, ASSAY_E_FORMAT, "activity %zu is damaged", i);
    return ASSAY_OK;
}

assay_status assay__activity_parse(const void *data, size_t size, assay_error *error,
                                   assay__activity_region **region)
{
    assay__activity_region *made = calloc(1, sizeof *made);
    *region = NULL;
    if (made == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory");
    memcpy((void *)made, data, size < sizeof *made ? size : sizeof *made);
    made->program[sizeof made->program - 1] = made->reason[sizeof made->reason - 1] = '\0';
    assay_status status = check(made, error);
    if (status != ASSAY_OK) {
        free(made);
        return status;
    }
    assay__activity_settle(made, 0);
    *region = made;
    return ASSAY_OK;
}

bool assay__activity_read_devices(const char *path, assay__activity_region *region)
{
    const size_t size = offsetof(assay__activity_region, copies);
    FILE *stream = fopen(path, "re");
    bool good = stream != NULL && fread(region, 1, size, stream) == size;
    if (stream != NULL)
        fclose(stream);
    return good && region->magic == ASSAY__ACTIVITY_MAGIC && region->bytes == sizeof *region &&
           region->device_count <= ASSAY__ACTIVITY_DEVICES;
}

assay_status assay__activity_read(const char *path, assay_error *error,
                                  assay__activity_region **region)
{
    assay_error trouble = {0};
    *region = NULL;
    FILE *stream = fopen(path, "re");
    if (stream == NULL)
        return assay__fail_errno(error, "cannot read '%s'", path);
    void *bytes = malloc(sizeof **region);
    size_t size = bytes != NULL ? fread(bytes, 1, sizeof **region, stream) : 0;
    assay_status status = bytes != NULL ? assay__activity_parse(bytes, size, &trouble, region)
                                        : assay__fail(&trouble, ASSAY_E_MEMORY, "out of memory");
    fclose(stream);
    free(bytes);
    return status == ASSAY_OK ? ASSAY_OK
                              : assay__fail(error, status, "%s: %s", path, trouble.message);
}
