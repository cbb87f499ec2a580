/* Adds all profiles of Python processes in a folder to a record. A profile that cannot be read is
 * left out. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "assay/script.h"
#include "base/error.h"
#include "snapshot/script_merge.h"

static bool ends_in(const char *name, const char *suffix)
{
    size_t length = strlen(name), tail = strlen(suffix);
    return length > tail && strcmp(name + length - tail, suffix) == 0;
}

static assay_status add_file(assay__script_merge *merge, const char *path, assay_error *error)
{
    assay__script_view view;
    assay_error trouble = {0};
    assay_status status = assay__script_read(path, &trouble, &view);
    if (status == ASSAY_OK) {
        status = assay__script_merge_add(merge, &view);
        assay__script_release(&view);
        return status == ASSAY_OK
                   ? ASSAY_OK
                   : assay__fail(error, status, "%s: %s", path, assay_status_message(status));
    }
    if (error != NULL && error->status == ASSAY_OK)
        *error = trouble;
    return status == ASSAY_E_MEMORY ? status : ASSAY_OK;
}

/* Read the reason why the sampler could not start in a process. It is the content of the file. */
static void read_note(const char *path, assay_error *error)
{
    char text[200] = "";
    FILE *stream = fopen(path, "re");
    size_t length = stream != NULL ? fread(text, 1, sizeof text - 1, stream) : 0;
    if (stream != NULL)
        fclose(stream);
    if (length > 0 && error != NULL && error->status == ASSAY_OK)
        assay__fail(error, ASSAY_E_UNSUPPORTED, "%s", text);
}

assay_status assay_script_profiles_add(assay_record *record, const char *directory,
                                       uint64_t origin_monotonic_ns, assay_error *error)
{
    char path[ASSAY__SCRIPT_MAX_TEXT];
    assay_status status = ASSAY_OK;
    assay__script_merge merge = {.record = record, .origin_ns = origin_monotonic_ns};
    DIR *stream = opendir(directory);
    if (stream == NULL)
        return assay__fail_errno(error, "cannot read '%s'", directory);
    for (const struct dirent *entry; status == ASSAY_OK && (entry = readdir(stream)) != NULL;) {
        if (snprintf(path, sizeof path, "%s/%s", directory, entry->d_name) >= (int)sizeof path)
            continue;
        if (ends_in(entry->d_name, ASSAY__SCRIPT_SUFFIX))
            status = add_file(&merge, path, error);
        else if (ends_in(entry->d_name, ".note"))
            read_note(path, error);
    }
    closedir(stream);
    if (status == ASSAY_OK)
        status = assay__script_merge_finish(&merge);
    if (status != ASSAY_OK)
        assay__fail(error, status, "the profile of Python: %s", assay_status_message(status));
    assay__script_merge_release(&merge);
    return status;
}
