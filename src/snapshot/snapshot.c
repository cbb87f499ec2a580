#include "snapshot/snapshot.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/struct_size.h"
#include "snapshot/merge.h"

enum { MOST_JOURNALS = 4096 };

static void describe_clock(assay_record *record, const assay__journal_header *header)
{
    assay_reading unknown = assay_reading_missing(ASSAY_NOT_MEASURED);
    record->clock.source = assay_record_text(record, header->clock_source);
    record->clock.frequency_hz = assay_reading_of(header->ticks_per_second);
    record->clock.resolution_ns =
        header->clock_resolution_ns >= 0 ? assay_reading_of(header->clock_resolution_ns) : unknown;
    record->clock.cost_ns =
        header->clock_cost_ns >= 0 ? assay_reading_of(header->clock_cost_ns) : unknown;
}

static const char *time_text(assay_record *record, uint64_t realtime_ns)
{
    time_t seconds = (time_t)(realtime_ns / 1000000000u);
    struct tm parts;
    char text[32];
    if (gmtime_r(&seconds, &parts) == NULL || strftime(text, sizeof text, "%FT%TZ", &parts) == 0)
        return NULL;
    return assay_record_text(record, text);
}

/* The earliest journal gives the record its name, clock and start. */
static const assay__journal_view *earliest_of(const assay__journal_view *views, size_t count)
{
    const assay__journal_view *earliest = &views[0];
    for (size_t i = 1; i < count; i++)
        if (views[i].header.first.monotonic_ns < earliest->header.first.monotonic_ns)
            earliest = &views[i];
    return earliest;
}

assay_status assay__snapshot_views(const assay__journal_view *views, size_t count,
                                   const assay_snapshot_options *options, assay_error *error,
                                   assay_record **record)
{
    assay__gathering gathering = {0};
    assay_status status = assay_record_new(&gathering.record);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "out of memory for a record");
    const assay__journal_header *first = &earliest_of(views, count)->header;
    gathering.origin_monotonic_ns = options != NULL && options->origin_monotonic_ns != 0
                                        ? options->origin_monotonic_ns
                                        : first->first.monotonic_ns;
    gathering.record->kind = "journal";
    gathering.record->name = assay_record_text(gathering.record, first->name);
    gathering.record->created = time_text(gathering.record, first->first.realtime_ns);
    describe_clock(gathering.record, first);
    for (size_t i = 0; status == ASSAY_OK && i < count; i++)
        status = assay__gather_journal(&gathering, &views[i]);
    if (status == ASSAY_OK)
        status = assay__gather_finish(&gathering);
    if (status == ASSAY_OK)
        *record = gathering.record;
    else
        assay_record_free(gathering.record);
    assay__gathering_release(&gathering);
    return status == ASSAY_OK
               ? status
               : assay__fail(error, status, "cannot make a record of the journals: %s",
                             assay_status_message(status));
}

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
    assay__journal_view *views = calloc(count, sizeof *views);
    if (views == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for %zu journals", count);
    size_t readable = 0, unreadable = 0;
    assay_error first_failure = {.status = ASSAY_OK};
    for (size_t i = 0; i < count; i++) {
        assay_error failure;
        if (assay__journal_view_file(&views[readable], journal_paths[i], &failure) == ASSAY_OK)
            readable++;
        else if (unreadable++ == 0)
            first_failure = failure;
    }
    status = first_failure.status;
    if (unreadable > 0 && error != NULL)
        *error = first_failure;
    if (readable > 0) {
        status = assay__snapshot_views(views, readable, &own, error, record);
        if (status == ASSAY_OK)
            (*record)->integrity.unreadable_journals = unreadable;
    }
    for (size_t i = 0; i < readable; i++)
        assay__journal_view_release(&views[i]);
    free(views);
    return status;
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
