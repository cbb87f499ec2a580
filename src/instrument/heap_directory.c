/* Reads all heap files of a directory, and finds the programs that were announced there but left no
 * file.
 *
 * The files and the list of announcements (docs/heap-file.md) are read in the order in which they
 * are found, and then sorted by process and time. A file answers an announcement if it belongs to
 * the same process and begins after this announcement and before the next one of that process. The
 * times are needed because process ids are reused. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "assay/instrument.h"
#include "base/error.h"
#include "base/free_number.h"
#include "base/grow.h"
#include "base/struct_size.h"
#include "instrument/heap_read.h"

#define LOAD ASSAY__HEAP_LOAD

enum { PROGRAMS_MAX = 1 << 20 };

typedef struct program {
    int64_t process_id;
    int64_t started_ns, ended_ns; /* CLOCK_BOOTTIME */
    uint64_t start_ticks;
    uint32_t state;
    bool forked; /* it continues its parent's program, so it was not announced */
    const char *unseen;
    assay_heap_figures figures;
    char name[ASSAY__HEAP_NAME_BYTES];
} program;

typedef struct listing {
    program *programs;
    size_t count, capacity;
    assay__heap_program *announced;
    size_t announced_count, announced_capacity;
    assay_error first; /* the problem of the first file that cannot be used */
} listing;

/* ---- Reading ----------------------------------------------------------------------------------*/

/* The process of "heap.PID" or "heap.PID.GENERATION"; 0 for other names. */
static long process_of(const char *name)
{
    long process = 0, generation = 0;
    int used = 0, all = 0;
    if (sscanf(name, "heap.%9ld%n", &process, &used) != 1 || process <= 0)
        return 0;
    if (name[used] == '\0')
        return process;
    if (sscanf(name + used, ".%9ld%n", &generation, &all) != 1 || generation <= 0)
        return 0;
    return name[used + all] == '\0' ? process : 0;
}

static program *add_program(listing *l)
{
    if (l->count == PROGRAMS_MAX ||
        !assay__grow(&l->programs, &l->capacity, l->count + 1, sizeof *l->programs))
        return NULL;
    program *added = &l->programs[l->count++];
    *added = (program){.figures = {.struct_size = sizeof added->figures}};
    return added;
}

/* Why a file that exists gives no figures. */
static const char *reason_of(assay_status status)
{
    switch (status) {
    case ASSAY_E_UNSUPPORTED:
        return "it brings its own malloc, or a sanitizer's";
    case ASSAY_E_TRUNCATED:
        return "it ended while starting";
    default:
        return "its heap file cannot be read";
    }
}

static assay_status add_file(listing *l, const char *directory, const char *name,
                             assay__heap_region *region)
{
    char path[PATH_MAX];
    long process = process_of(name);
    int length = snprintf(path, sizeof path, "%s/%s", directory, name);
    if (process == 0 || length < 0 || (size_t)length >= sizeof path)
        return ASSAY_OK;
    program *added = add_program(l);
    if (added == NULL)
        return ASSAY_E_MEMORY;
    assay_error problem;
    assay_status status = assay__heap_region_read(path, region, &problem);
    const assay__heap_header *header = &region->header;
    added->process_id = process;
    if (status != ASSAY_OK) {
        added->unseen = reason_of(status);
        if (l->first.status == ASSAY_OK)
            l->first = problem;
    }
    if (status != ASSAY_OK && status != ASSAY_E_UNSUPPORTED)
        return ASSAY_OK;
    added->started_ns = header->started_ns;
    added->ended_ns = LOAD(header->ended_ns);
    added->start_ticks = header->start_ticks;
    added->state = LOAD(header->state);
    added->forked = header->parent_id != 0;
    memcpy(added->name, header->name, sizeof added->name);
    if (status == ASSAY_OK)
        assay__heap_sum(region, &added->figures);
    return ASSAY_OK;
}

/* Read the list of announcements. The list does not exist if no program started another one. */
static assay_status read_announced(listing *l, const char *directory)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", directory, ASSAY__HEAP_PROGRAMS);
    if (length < 0 || (size_t)length >= sizeof path)
        return ASSAY_OK;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    if (descriptor < 0)
        return ASSAY_OK;
    assay_status status = ASSAY_OK;
    assay__heap_program one;
    off_t offset = 0;
    while (l->announced_count < PROGRAMS_MAX &&
           pread(descriptor, &one, sizeof one, offset) == (ssize_t)sizeof one) {
        if (!assay__grow(&l->announced, &l->announced_capacity, l->announced_count + 1,
                         sizeof *l->announced)) {
            status = ASSAY_E_MEMORY;
            break;
        }
        one.path[sizeof one.path - 1] = '\0';
        l->announced[l->announced_count++] = one;
        offset += (off_t)sizeof one;
    }
    close(descriptor);
    return status;
}

/* ---- Missing programs -------------------------------------------------------------------------*/

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_process_and_time(const void *left, const void *right)
{
    const program *a = left, *b = right;
    int order = compare(a->process_id, b->process_id);
    return order != 0 ? order : compare(a->started_ns, b->started_ns);
}

static int by_announcement(const void *left, const void *right)
{
    const assay__heap_program *a = left, *b = right;
    int order = compare(a->process_id, b->process_id);
    return order != 0 ? order : compare(a->announced_ns, b->announced_ns);
}

static int by_time(const void *left, const void *right)
{
    const program *a = left, *b = right;
    int order = compare(a->started_ns, b->started_ns);
    return order != 0 ? order : compare(a->process_id, b->process_id);
}

/* Whether one of the first `count` programs answers the announcement. They are sorted by process
 * and time. */
static bool is_answered(const listing *l, size_t count, const assay__heap_program *one,
                        int64_t until_ns)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->programs[middle].process_id < one->process_id)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < count && l->programs[low].process_id == one->process_id; low++) {
        const program *p = &l->programs[low];
        bool is_in_time = p->started_ns >= one->announced_ns && p->started_ns < until_ns;
        if (!p->forked && (is_in_time || p->started_ns == 0))
            return true;
    }
    return false;
}

static void describe_missing(program *missing, const assay__heap_program *one)
{
    const char *name = strrchr(one->path, '/');
    name = name != NULL && name[1] != '\0' ? name + 1 : one->path;
    snprintf(missing->name, sizeof missing->name, "%.*s", ASSAY__HEAP_NAME_BYTES - 1, name);
    missing->process_id = one->process_id;
    missing->started_ns = one->announced_ns;
    missing->unseen = one->flags & ASSAY__HEAP_UNPRELOADED
                          ? "it was started without LD_PRELOAD"
                          : "it is statically linked or set-user-id";
}

/* Add the programs whose announcement has no answer. `announced` is sorted. */
static assay_status add_missing(listing *l)
{
    size_t there = l->count;
    for (size_t i = 0; i < l->announced_count; i++) {
        const assay__heap_program *one = &l->announced[i], *after = one + 1;
        bool has_after = i + 1 < l->announced_count && after->process_id == one->process_id;
        if (one->flags & ASSAY__HEAP_CANCELLED ||
            (has_after && after->flags & ASSAY__HEAP_CANCELLED) ||
            is_answered(l, there, one, has_after ? after->announced_ns : INT64_MAX))
            continue;
        program *missing = add_program(l);
        if (missing == NULL)
            return ASSAY_E_MEMORY;
        describe_missing(missing, one);
    }
    return ASSAY_OK;
}

/* Find programs that their process replaced by another one without an announcement (by a raw system
 * call), and mark them as replaced. */
static void find_replaced(listing *l)
{
    for (size_t i = 0; i + 1 < l->count; i++) {
        program *one = &l->programs[i];
        const program *after = one + 1;
        if (one->state == ASSAY__HEAP_RUNNING && one->process_id == after->process_id &&
            one->start_ticks != 0 && one->start_ticks == after->start_ticks)
            one->state = ASSAY__HEAP_REPLACED;
    }
}

static void listing_release(listing *l)
{
    free(l->programs);
    free(l->announced);
}

static assay_status read_files(listing *l, const char *directory, assay_error *error)
{
    DIR *entries = opendir(directory);
    if (entries == NULL)
        return assay__fail_errno(error, "cannot read directory '%s'", directory);
    assay__heap_region *region = assay__heap_region_new(error);
    assay_status status = region != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    for (struct dirent *entry; status == ASSAY_OK && (entry = readdir(entries)) != NULL;)
        status = add_file(l, directory, entry->d_name, region);
    free(region);
    closedir(entries);
    return status;
}

static assay_status listing_read(listing *l, const char *directory, assay_error *error)
{
    assay_status status = read_files(l, directory, error);
    if (status == ASSAY_OK)
        status = read_announced(l, directory);
    if (status == ASSAY_OK && l->count > 0)
        qsort(l->programs, l->count, sizeof *l->programs, by_process_and_time);
    if (status == ASSAY_OK && l->announced_count > 0)
        qsort(l->announced, l->announced_count, sizeof *l->announced, by_announcement);
    find_replaced(l);
    if (status == ASSAY_OK)
        status = add_missing(l);
    if (status == ASSAY_E_MEMORY)
        return assay__fail(error, status, "out of memory while reading heap figures");
    return status;
}

/* ---- The calls --------------------------------------------------------------------------------*/

/* A lower bound of the bytes that a program never freed. Inherited memory is not counted, because
 * the parent frees it; but the program may have freed some of it as well. */
static int64_t left_behind(const program *p)
{
    int64_t left =
        (int64_t)((uint64_t)p->figures.live_bytes - (uint64_t)p->figures.inherited_bytes);
    return p->state == ASSAY__HEAP_REPLACED || left < 0 ? 0 : left;
}

static void add_figures(assay_heap_figures *sum, const program *p)
{
    const assay_heap_figures *one = &p->figures;
    sum->allocations += one->allocations;
    sum->frees += one->frees;
    sum->allocated_bytes += one->allocated_bytes;
    sum->processes++;
    sum->live_bytes = (int64_t)((uint64_t)sum->live_bytes + (uint64_t)left_behind(p));
    if (one->peak_bytes >= sum->peak_bytes) {
        sum->peak_bytes = one->peak_bytes;
        sum->peak_bound_bytes = one->peak_bound_bytes;
    }
}

assay_status assay_heap_directory_read(const char *directory, assay_error *error,
                                       assay_heap_figures *figures)
{
    if (directory == NULL || !assay__struct_has_room(figures, sizeof *figures))
        return assay__fail(error, ASSAY_E_ARGUMENT, "assay_heap_directory_read: nothing to read");
    listing l = {0};
    assay_heap_figures sum = {.struct_size = figures->struct_size};
    assay_status status = listing_read(&l, directory, error);
    if (status != ASSAY_OK)
        goto cleanup;
    for (size_t i = 0; i < l.count; i++)
        if (l.programs[i].unseen == NULL)
            add_figures(&sum, &l.programs[i]);
    if (error != NULL)
        *error = l.first;
    if (sum.processes > 0)
        *figures = sum;
    else if (l.first.status != ASSAY_OK)
        status = l.first.status;
    else
        status =
            assay__fail(error, ASSAY_E_NOT_FOUND,
                        "no heap figures in '%s': no process loaded libassay_heap.so", directory);
cleanup:
    listing_release(&l);
    return status;
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

assay_status assay_heap_directory_visit(const char *directory, assay_heap_visitor visit,
                                        void *context, assay_error *error)
{
    if (directory == NULL || visit == NULL)
        return assay__fail(error, ASSAY_E_ARGUMENT, "assay_heap_directory_visit: nothing to visit");
    listing l = {0};
    assay_status status = listing_read(&l, directory, error);
    if (status == ASSAY_OK && l.count > 0)
        qsort(l.programs, l.count, sizeof *l.programs, by_time);
    int64_t asleep_ns = clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC);
    for (size_t i = 0; status == ASSAY_OK && i < l.count; i++) {
        const program *p = &l.programs[i];
        assay_heap_program shown = {.process_id = p->process_id,
                                    .start_ticks = p->start_ticks,
                                    .name = p->name,
                                    .started_ns = p->started_ns - asleep_ns,
                                    .ended_ns = p->ended_ns != 0 ? p->ended_ns - asleep_ns : 0,
                                    .unseen = p->unseen,
                                    .figures = p->figures};
        visit(context, &shown);
    }
    listing_release(&l);
    return status;
}

/* The files of one process. */
typedef struct process_files {
    const char *directory;
    int64_t process;
} process_files;

/* Write the path of the file with this number, as the interposer names it. False if it is too
 * long. */
static bool path_of(const process_files *files, unsigned number, char path[PATH_MAX])
{
    char suffix[16] = "";
    if (number > 0)
        snprintf(suffix, sizeof suffix, ".%u", number);
    int length = snprintf(path, PATH_MAX, "%s/heap.%lld%s", files->directory,
                          (long long)files->process, suffix);
    return length >= 0 && length < PATH_MAX;
}

static bool is_there(const void *files, unsigned number)
{
    char path[PATH_MAX];
    return path_of(files, number, path) && access(path, R_OK) == 0;
}

/* Find the path of the last file of a process. `assay run --heap` does this with each sample, so it
 * must not try one file after the other. */
static bool last_file_of(const process_files *files, char path[PATH_MAX])
{
    unsigned after_last = assay__free_number(0, is_there, files);
    return after_last > 0 && path_of(files, after_last - 1, path);
}

assay_status assay_heap_process_read(const char *directory, int64_t process_id, assay_error *error,
                                     assay_heap_figures *figures)
{
    char path[PATH_MAX];
    const process_files files = {directory, process_id};
    if (directory == NULL || !last_file_of(&files, path))
        return assay__fail(error, ASSAY_E_NOT_FOUND, "process %lld left no heap figures",
                           (long long)process_id);
    return assay__heap_file_read(path, error, figures);
}
