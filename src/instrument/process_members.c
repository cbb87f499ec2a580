/* Finds the processes that belong to a process tree.
 *
 * Members are found through the kernel's lists of children, which exist for each thread. If the
 * kernel keeps no such lists, or if the tree has so many threads that reading all lists costs more,
 * every process of the machine is checked for a parent in the tree. */
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/grow.h"
#include "instrument/process_tree.h"

enum {
    MEMBERS_MAX = 65536,
    THREADS_WORTH_ASKING = 64 /* one list of children costs about as much as reading one process */
};

/* The position of `process` among the members, or the position at which to insert it. */
static size_t position_of(const assay_tree_sampler *sampler, pid_t process)
{
    size_t low = 0, high = sampler->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sampler->members[middle].stat.process < process)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

assay__tree_member *assay__tree_find(const assay_tree_sampler *sampler, pid_t process)
{
    size_t position = position_of(sampler, process);
    bool found = position < sampler->count && sampler->members[position].stat.process == process;
    return found ? &sampler->members[position] : NULL;
}

static bool is_member(const assay_tree_sampler *sampler, pid_t process)
{
    return assay__tree_find(sampler, process) != NULL;
}

/* Make room for one more item in an array that is bounded by MEMBERS_MAX. */
static assay_status reserve(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count >= MEMBERS_MAX)
        return ASSAY_E_LIMIT;
    return assay__grow(array, capacity, count + 1, size) ? ASSAY_OK : ASSAY_E_MEMORY;
}

static assay_status push_pending(assay_tree_sampler *sampler, pid_t process)
{
    assay_status status = reserve(&sampler->pending, sampler->pending_count,
                                  &sampler->pending_capacity, sizeof *sampler->pending);
    if (status == ASSAY_OK)
        sampler->pending[sampler->pending_count++] = process;
    return status;
}

assay_status assay__tree_add(assay_tree_sampler *sampler, const assay__process_stat *stat)
{
    assay_status status =
        reserve(&sampler->members, sampler->count, &sampler->capacity, sizeof *sampler->members);
    if (status != ASSAY_OK)
        return status;
    size_t position = position_of(sampler, stat->process);
    assay__tree_member *place = sampler->members + position;
    memmove(place + 1, place, (sampler->count - position) * sizeof *place);
    *place = (assay__tree_member){.stat = *stat,
                                  .passed_on = stat->waited,
                                  .read_bytes = assay_reading_missing(ASSAY_NOT_MEASURED),
                                  .written_bytes = assay_reading_missing(ASSAY_NOT_MEASURED),
                                  .peak_rss_bytes = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA)};
    sampler->count++;
    sampler->seen++;
    return ASSAY_OK;
}

/* Whether a process belongs to the tree: its parent does, or it is an orphan that the calling
 * process has adopted and that is not older than the root. */
static bool belongs(const assay_tree_sampler *sampler, const assay__process_stat *stat)
{
    if (is_member(sampler, stat->parent))
        return true;
    return sampler->orphans_parent != 0 && stat->parent == sampler->orphans_parent &&
           stat->start_ticks >= sampler->root_start_ticks;
}

/* An assay__process_visitor that adds the process if it belongs to the tree and is not in it
 * yet. */
static bool consider(void *context, pid_t process)
{
    assay_tree_sampler *sampler = context;
    assay__process_stat stat;
    if (is_member(sampler, process) || assay__process_stat_read(process, &stat) != ASSAY_OK ||
        !belongs(sampler, &stat))
        return true;
    sampler->failed = assay__tree_add(sampler, &stat);
    if (sampler->failed == ASSAY_OK)
        sampler->failed = push_pending(sampler, process);
    sampler->found_any = true;
    return sampler->failed == ASSAY_OK;
}

/* Follow the lists of children from the members to their children, grandchildren and so on. */
static assay_status find_by_children(assay_tree_sampler *sampler)
{
    sampler->pending_count = 0;
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < sampler->count && status == ASSAY_OK; i++)
        status = push_pending(sampler, sampler->members[i].stat.process);
    if (status == ASSAY_OK && sampler->orphans_parent != 0)
        status = push_pending(sampler, sampler->orphans_parent);
    while (status == ASSAY_OK && sampler->pending_count > 0) {
        pid_t process = sampler->pending[--sampler->pending_count];
        if (assay__process_children(process, consider, sampler) == ASSAY_E_UNSUPPORTED)
            sampler->no_children_files = true;
        status = sampler->failed;
    }
    return status;
}

/* Check every process of the machine. If a round added a process, its children may have come
 * earlier in that round; so another round follows. */
static assay_status find_by_scan(assay_tree_sampler *sampler)
{
    do {
        sampler->found_any = false;
        sampler->pending_count = 0;
        assay_status status = assay__process_all(consider, sampler);
        if (status != ASSAY_OK || sampler->failed != ASSAY_OK)
            return status != ASSAY_OK ? status : sampler->failed;
    } while (sampler->found_any);
    return ASSAY_OK;
}

assay_status assay__tree_find_members(assay_tree_sampler *sampler)
{
    int adopts = 0;
    sampler->failed = ASSAY_OK;
    if (prctl(PR_GET_CHILD_SUBREAPER, &adopts) != 0 || adopts == 0)
        sampler->orphans_parent = 0;
    else
        sampler->orphans_parent = getpid();
    if (!sampler->no_children_files && sampler->threads <= THREADS_WORTH_ASKING) {
        assay_status status = find_by_children(sampler);
        if (status != ASSAY_OK || !sampler->no_children_files)
            return status;
    }
    return find_by_scan(sampler);
}
