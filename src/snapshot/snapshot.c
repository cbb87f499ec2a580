#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/record_build.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "snapshot/merge.h"

enum { MOST_JOURNALS = 4096 };

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

/* The header of the earliest journal; the first failure is in `failure` if none can be read. */
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

/* One journal after another, each open only while it is merged. Those that cannot be read are
 * counted; the first such failure goes into `failure`. */
static assay_status merge_files(assay__merge *merge, const char *const *paths, size_t count,
                                assay_error *failure)
{
    uint64_t *unreadable = &merge->record->integrity.unreadable_journals;
    *failure = (assay_error){.status = ASSAY_OK};
    assay_status status = ASSAY_OK;
    for (size_t i = 0; status == ASSAY_OK && i < count; i++) {
        assay__journal_view view;
        assay_error *first = *unreadable == 0 ? failure : NULL;
        if (assay__journal_view_file(&view, paths[i], first) == ASSAY_OK) {
            status = assay__merge_journal(merge, &view);
            assay__journal_view_release(&view);
        } else {
            ++*unreadable;
        }
    }
    return status;
}

/* Two passes, because the earliest journal says what all times count from. */
assay_status assay_snapshot_files(const char *const *journal_paths, size_t count,
                                  const assay_snapshot_options *options, assay_error *error,
                                  assay_record **record)
{
    if (journal_paths == NULL || count == 0 || record == NULL)
        return assay__fail(error, ASSAY_E_ARGUMENT, "no journal given");
    assay_snapshot_options own;
    assay_status status =
        assay__struct_take(&own, sizeof own, options, "assay_snapshot_options", error);
    if (status != ASSAY_OK)
        return status;
    assay__journal_header earliest;
    assay_error unread;
    bool found = find_earliest(journal_paths, count, &earliest, &unread);
    assay__merge merge = {0};
    if (found) {
        status = assay__merge_begin(&merge, &earliest, &own);
        if (status == ASSAY_OK)
            status = merge_files(&merge, journal_paths, count, &unread);
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

assay_status assay_snapshot_file(const char *journal_path, assay_error *error,
                                 assay_record **record)
{
    return assay_snapshot_files(&journal_path, 1, NULL, error, record);
}

static bool has_suffix(const char *name)
{
    size_t length = strlen(name), suffix = sizeof ASSAY__JOURNAL_SUFFIX - 1;
    return length > suffix && strcmp(name + length - suffix, ASSAY__JOURNAL_SUFFIX) == 0;
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static assay_status list_journals(const char *directory, char **paths, size_t *count,
                                  assay_error *error)
{
    DIR *stream = opendir(directory);
    if (stream == NULL)
        return assay__fail_errno(error, "cannot read the directory '%s'", directory);
    assay_status status = ASSAY_OK;
    for (const struct dirent *entry; status == ASSAY_OK && (entry = readdir(stream)) != NULL;) {
        if (!has_suffix(entry->d_name))
            continue;
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (*count == MOST_JOURNALS)
            status = assay__fail(error, ASSAY_E_LIMIT, "'%s' holds more than %d journals",
                                 directory, MOST_JOURNALS);
        else if ((paths[*count] = strdup(path)) == NULL)
            status = assay__fail(error, ASSAY_E_MEMORY, "out of memory for a list of journals");
        else
            ++*count;
    }
    closedir(stream);
    qsort(paths, *count, sizeof *paths, by_text);
    return status;
}

assay_status assay_snapshot_directory_with(const char *directory,
                                           const assay_snapshot_options *options,
                                           assay_error *error, assay_record **record)
{
    if (directory == NULL || record == NULL)
        return assay__fail(error, ASSAY_E_ARGUMENT, "no directory given");
    char **paths = calloc(MOST_JOURNALS, sizeof *paths);
    if (paths == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for a list of journals");
    size_t count = 0;
    assay_status status = list_journals(directory, paths, &count, error);
    if (status == ASSAY_OK && count == 0)
        status = assay__fail(error, ASSAY_E_NOT_FOUND, "no *" ASSAY__JOURNAL_SUFFIX " file in '%s'",
                             directory);
    if (status == ASSAY_OK)
        status = assay_snapshot_files((const char *const *)paths, count, options, error, record);
    for (size_t i = 0; i < count; i++)
        free(paths[i]);
    free(paths);
    return status;
}

assay_status assay_snapshot_directory(const char *directory, assay_error *error,
                                      assay_record **record)
{
    return assay_snapshot_directory_with(directory, NULL, error, record);
}
