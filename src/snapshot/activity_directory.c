/* Adds the GPU activity of all processes that left a file in a folder to a record. A file that
 * cannot be read is left out. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/gpu_activity.h"
#include "assay/record_build.h"
#include "base/error.h"
#include "snapshot/activity_merge.h"

enum { PATH_BYTES = 4096 };

static bool ends_in(const char *name, const char *suffix)
{
    size_t length = strlen(name), tail = strlen(suffix);
    return length > tail && strcmp(name + length - tail, suffix) == 0;
}

static bool has_activity(const assay__activity_region *region)
{
    return region->device_count > 0 || region->dropped_records + region->untimed_records > 0;
}

/* Report what could not be measured in this process: in the error, and in the `gpu` part of the
 * record. */
static assay_status tell_reason(assay_record *record, const assay__activity_region *region,
                                assay_error *error)
{
    char text[ASSAY__ACTIVITY_REASON_BYTES + 128];
    const char *reason = region->reason, *what = has_activity(region) ? "from some time on " : "";
    if (reason[0] == '\0' && region->ranged && region->range_count == 0) {
        reason = "it marked no range with cudaProfilerStart()";
        what = "kernels and copies were ";
    }
    if (reason[0] == '\0')
        return ASSAY_OK;
    snprintf(text, sizeof text, "%snot measured in %s (process %lld): %s", what,
             region->program[0] != '\0' ? region->program : "?", (long long)region->process_id,
             reason);
    if (error != NULL && error->status == ASSAY_OK)
        assay__fail(error, ASSAY_E_UNSUPPORTED, "%s", text);
    if (record->gpu.unseen == NULL)
        record->gpu.unseen = assay_record_text(record, text);
    return record->gpu.unseen != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
}

static assay_status add_file(assay__activity_merge *merge, const char *path, assay_error *error)
{
    assay__activity_region *region = NULL;
    assay_error trouble = {0};
    assay_status status = assay__activity_read(path, &trouble, &region);
    if (status != ASSAY_OK) {
        if (error != NULL && error->status == ASSAY_OK)
            *error = trouble;
        merge->record->integrity.unreadable_journals += status != ASSAY_E_MEMORY;
        return status == ASSAY_E_MEMORY ? status : ASSAY_OK;
    }
    status = tell_reason(merge->record, region, error);
    if (status == ASSAY_OK && has_activity(region))
        status = assay__activity_merge_add(merge, region);
    free(region);
    return status;
}

/* Write the path of the next activity file of a folder. False if there is none. */
static bool next_file(DIR *stream, const char *directory, char path[PATH_BYTES])
{
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;)
        if (ends_in(entry->d_name, ASSAY__ACTIVITY_SUFFIX) &&
            snprintf(path, PATH_BYTES, "%s/%s", directory, entry->d_name) < PATH_BYTES)
            return true;
    return false;
}

/* Note the boards of all processes. */
static assay_status note_boards(assay__activity_merge *merge, DIR *stream, const char *directory)
{
    char path[PATH_BYTES];
    assay_status status = ASSAY_OK;
    assay__activity_region *region = malloc(sizeof *region); /* only its begin is touched */
    if (region == NULL)
        return ASSAY_E_MEMORY;
    while (status == ASSAY_OK && next_file(stream, directory, path))
        if (assay__activity_read_devices(path, region))
            status = assay__activity_merge_note(merge, region);
    free(region);
    rewinddir(stream);
    return status;
}

assay_status assay_gpu_activity_add(assay_record *record, const char *directory,
                                    uint64_t origin_monotonic_ns, size_t most_events,
                                    assay_error *error)
{
    char path[PATH_BYTES];
    assay__activity_merge merge = {
        .record = record, .origin_ns = origin_monotonic_ns, .most_events = most_events};
    DIR *stream = opendir(directory);
    if (stream == NULL)
        return assay__fail_errno(error, "cannot read '%s'", directory);
    assay_status status = note_boards(&merge, stream, directory);
    while (status == ASSAY_OK && next_file(stream, directory, path))
        status = add_file(&merge, path, error);
    closedir(stream);
    if (status == ASSAY_OK)
        status = assay__activity_merge_finish(&merge);
    assay__activity_merge_release(&merge);
    return status == ASSAY_OK
               ? ASSAY_OK
               : assay__fail(error, status, "the GPU activity: %s", assay_status_message(status));
}
