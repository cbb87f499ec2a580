/* The public calls that turn journals into a record: one file, several files, or a directory. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assay/record_build.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/struct_size.h"
#include "snapshot/merge.h"

static assay_status fail(assay_error *error, assay_status status)
{
    return assay__fail(error, status, "cannot make a record of the journals: %s",
                       assay_status_message(status));
}

assay_status assay__snapshot_view(const assay__journal_view *view,
                                  const assay_snapshot_options *options, assay_error *error,
                                  assay_record **record)
{
    assay__merge merge;
    assay_status status = assay__merge_begin(&merge, &view->header, options);
    if (status == ASSAY_OK)
        status = assay__merge_journal(&merge, view);
    if (status == ASSAY_OK)
        *record = assay__merge_finish(&merge);
    assay__merge_release(&merge);
    return status == ASSAY_OK ? status : fail(error, status);
}

/* Find the header of the earliest journal. False if none can be read. `*failure` gets the first
 * failure. */
static bool find_earliest(const char *const *paths, size_t count, assay__journal_header *earliest,
                          assay_error *failure)
{
    bool found = false;
    *failure = (assay_error){.status = ASSAY_OK};
    for (size_t i = 0; i < count; i++) {
        assay__journal_header header;
        assay_error *first = failure->status == ASSAY_OK ? failure : NULL;
        if (assay__journal_file_header(paths[i], &header, first) != ASSAY_OK)
            continue;
        if (!found || header.first.monotonic_ns < earliest->first.monotonic_ns)
            *earliest = header;
        found = true;
    }
    return found;
}

/* Merge one journal after the other. Each is open only while it is merged. Journals that cannot be
 * read are counted, and `*failure` gets the first such failure. A journal that is still being made
 * is skipped, because it has no content yet. */
static assay_status merge_files(assay__merge *merge, const char *const *paths, size_t count,
                                assay_error *failure)
{
    uint64_t *unreadable = &merge->record->integrity.unreadable_journals;
    *failure = (assay_error){.status = ASSAY_OK};
    assay_status status = ASSAY_OK;
    for (size_t i = 0; status == ASSAY_OK && i < count; i++) {
        assay__journal_view view;
        assay_error reason;
        assay_status read = assay__journal_view_file(&view, paths[i], &reason);
        if (read == ASSAY_OK) {
            status = assay__merge_journal(merge, &view);
            assay__journal_view_release(&view);
        } else if (read != ASSAY_E_STATE && ++*unreadable == 1) {
            *failure = reason;
        }
    }
    return status;
}

/* Read the journals in two passes, because all times are relative to the earliest journal. */
static assay_status read_journals(const char *const *paths, size_t count,
                                  const assay_snapshot_options *options, assay_error *error,
                                  assay_record **record)
{
    assay_status status = ASSAY_OK;
    assay__journal_header earliest;
    assay_error unread;
    bool found = find_earliest(paths, count, &earliest, &unread);
    assay__merge merge = {0};
    if (found) {
        status = assay__merge_begin(&merge, &earliest, options);
        if (status == ASSAY_OK)
            status = merge_files(&merge, paths, count, &unread);
        if (status != ASSAY_OK)
            status = fail(error, status);
        else
            found = merge.record->integrity.unreadable_journals < count;
    }
    if (status == ASSAY_OK && unread.status != ASSAY_OK && error != NULL)
        *error = unread;
    if (status == ASSAY_OK && found)
        *record = assay__merge_finish(&merge);
    assay__merge_release(&merge);
    return status == ASSAY_OK && !found ? unread.status : status;
}

static const assay_snapshot_options defaults = ASSAY_SNAPSHOT_OPTIONS_INIT;

assay_status assay_snapshot_file(const char *journal_path, assay_error *error,
                                 assay_record **record)
{
    if (journal_path == NULL || record == NULL)
        return assay__fail(error, ASSAY_E_ARGUMENT, "no journal given");
    return read_journals(&journal_path, 1, &defaults, error, record);
}

typedef struct path_list {
    char **paths;
    size_t count, capacity;
} path_list;

static assay_status out_of_memory(assay_error *error)
{
    return assay__fail(error, ASSAY_E_MEMORY, "out of memory for a list of journals");
}

static assay_status add_path(path_list *list, const char *path, assay_error *error)
{
    if (!assay__grow(&list->paths, &list->capacity, list->count + 1, sizeof *list->paths) ||
        (list->paths[list->count] = strdup(path)) == NULL)
        return out_of_memory(error);
    list->count++;
    return ASSAY_OK;
}

static bool has_suffix(const char *name)
{
    size_t length = strlen(name), suffix = sizeof ASSAY__JOURNAL_SUFFIX - 1;
    return length > suffix && strcmp(name + length - suffix, ASSAY__JOURNAL_SUFFIX) == 0;
}

/* Whether the path, of an entry of the directory, is a link to another journal of the same
 * directory, which is in the list under its own name. */
static bool is_second_name(const char *path, int directory)
{
    char target[PATH_MAX];
    struct stat ours, folder;
    if (readlink(path, target, sizeof target) < 0 || realpath(path, target) == NULL ||
        !has_suffix(target))
        return false;
    strrchr(target, '/')[1] = '\0';
    return fstat(directory, &ours) == 0 && stat(target, &folder) == 0 &&
           folder.st_dev == ours.st_dev && folder.st_ino == ours.st_ino;
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Add the journals of a directory, sorted by name. Closes the stream. */
static assay_status add_journals(path_list *list, const char *directory, DIR *stream,
                                 assay_error *error)
{
    size_t first = list->count;
    assay_status status = ASSAY_OK;
    for (const struct dirent *entry; status == ASSAY_OK && (entry = readdir(stream)) != NULL;) {
        if (!has_suffix(entry->d_name))
            continue;
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (!is_second_name(path, dirfd(stream)))
            status = add_path(list, path, error);
    }
    closedir(stream);
    if (list->count > first)
        qsort(list->paths + first, list->count - first, sizeof *list->paths, by_text);
    return status;
}

/* Read the journals of the list and release the list. It is empty if `directory`, and any further
 * directories, have no journal. */
static assay_status read_list(path_list *list, assay_status status, const char *directory,
                              const assay_snapshot_options *options, assay_error *error,
                              assay_record **record)
{
    if (status == ASSAY_OK && list->count == 0)
        status = assay__fail(error, ASSAY_E_NOT_FOUND, "no *" ASSAY__JOURNAL_SUFFIX " file in '%s'",
                             directory);
    if (status == ASSAY_OK)
        status =
            read_journals((const char *const *)list->paths, list->count, options, error, record);
    for (size_t i = 0; i < list->count; i++)
        free(list->paths[i]);
    free(list->paths);
    return status;
}

assay_status assay_snapshot_directory(const char *directory, assay_error *error,
                                      assay_record **record)
{
    if (directory == NULL || record == NULL)
        return assay__fail(error, ASSAY_E_ARGUMENT, "no directory given");
    DIR *stream = opendir(directory);
    if (stream == NULL)
        return assay__fail_errno(error, "cannot read the directory '%s'", directory);
    path_list list = {0};
    assay_status status = add_journals(&list, directory, stream, error);
    return read_list(&list, status, directory, &defaults, error, record);
}

/* A path that is no directory, or a directory that cannot be opened, is treated as a journal. The
 * attempt to read it reports and counts the failure. */
assay_status assay_snapshot_files(const char *const *paths, size_t count,
                                  const assay_snapshot_options *options, assay_error *error,
                                  assay_record **record)
{
    if (paths == NULL || count == 0 || record == NULL)
        return assay__fail(error, ASSAY_E_ARGUMENT, "no journal given");
    assay_snapshot_options own;
    assay_status status =
        assay__struct_take(&own, sizeof own, options, "assay_snapshot_options", error);
    path_list list = {0};
    for (size_t i = 0; status == ASSAY_OK && i < count; i++) {
        DIR *stream = paths[i] != NULL ? opendir(paths[i]) : NULL;
        if (paths[i] == NULL)
            status = assay__fail(error, ASSAY_E_ARGUMENT, "path %zu is NULL", i + 1);
        else if (stream != NULL)
            status = add_journals(&list, paths[i], stream, error);
        else
            status = errno == ENOMEM ? out_of_memory(error) : add_path(&list, paths[i], error);
    }
    return read_list(&list, status, paths[0], &own, error, record);
}
