/* Samples a process tree from outside.
 *
 * A sweep first finds new members (process_members.c), then reads every member, and then gives the
 * time that parents have on account of their waited children to the children that ended
 * (process_settle.c). A member stays in the tree until it is gone, even if its parent ended and it
 * has a new parent. A process is identified by its id and its start time, because its id alone may
 * belong to another process at the next sweep.
 *
 * There are other methods, and each has a price. cgroups would give an exact peak of the whole
 * tree, but a plain user may not create one. ptrace would see every fork, but it stops the program.
 * The process connector would see every fork, but it needs root. Inherited perf events cost 0.3 to
 * 0.8 µs at each context switch. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/struct_size.h"
#include "instrument/process_tree.h"

enum { ENDED_MAX = 65536 }; /* processes that ended and are remembered individually */

static double value_or_zero(assay_reading reading)
{
    return reading.validity == ASSAY_VALID ? reading.value : 0.0;
}

static void add_to(assay__tree_totals *sum, const assay__tree_member *one, bool with_io)
{
    sum->user_seconds += one->stat.user_seconds;
    sum->sys_seconds += one->stat.sys_seconds;
    if (with_io) {
        sum->read_bytes += value_or_zero(one->read_bytes);
        sum->written_bytes += value_or_zero(one->written_bytes);
    }
}

/* Replace a reading by a new one, unless the new one is missing: some figures of a zombie cannot be
 * read. */
static void update(assay_reading *kept, assay_reading seen)
{
    if (seen.validity == ASSAY_VALID || kept->validity != ASSAY_VALID)
        *kept = seen;
}

static void raise_to(assay_reading *highest, assay_reading seen)
{
    if (seen.validity != ASSAY_VALID || highest->validity != ASSAY_VALID ||
        seen.value > highest->value)
        update(highest, seen);
}

/* Read one member again; false if it is gone. */
static bool refresh(assay_tree_sampler *sampler, assay__tree_member *one)
{
    assay__process_stat stat;
    if (assay__process_stat_read(one->stat.process, &stat) != ASSAY_OK ||
        stat.start_ticks != one->stat.start_ticks)
        return false;
    one->stat = stat;
    if (one->sweeps++ == 0)
        one->first_seen_ns = sampler->sweep_ns;
    assay_reading read_bytes, written_bytes;
    assay__process_io(stat.process, &read_bytes, &written_bytes);
    update(&one->read_bytes, read_bytes);
    update(&one->written_bytes, written_bytes);
    if (sampler->io_validity != ASSAY_VALID)
        sampler->io_validity = one->read_bytes.validity;
    if (stat.zombie)
        return true;
    one->last_seen_ns = sampler->sweep_ns;
    one->run_seconds = assay__process_run_seconds(stat.process);
    raise_to(&one->peak_rss_bytes, assay__process_peak_rss(stat.process));
    raise_to(&sampler->peak_rss_bytes, one->peak_rss_bytes);
    sampler->rss_bytes += stat.rss_bytes;
    sampler->threads += stat.threads;
    sampler->live++;
    return true;
}

/* Whether the process is a member that is not gone. */
static bool is_present(const assay_tree_sampler *sampler, pid_t process)
{
    const assay__tree_member *one = assay__tree_find(sampler, process);
    return one != NULL && !one->gone;
}

/* Remember a process that ended. If there is no room for it, it is still in the sums. */
static void remember(assay_tree_sampler *sampler, const assay__tree_member *one)
{
    if (sampler->ended_count < ENDED_MAX &&
        assay__grow(&sampler->ended, &sampler->ended_capacity, sampler->ended_count + 1,
                    sizeof *sampler->ended))
        sampler->ended[sampler->ended_count++] = *one;
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void refresh_all(assay_tree_sampler *sampler)
{
    sampler->sweep_ns = clock_ns(CLOCK_MONOTONIC);
    sampler->rss_bytes = sampler->threads = sampler->live = 0;
    for (size_t i = 0; i < sampler->count; i++)
        sampler->members[i].gone = !refresh(sampler, &sampler->members[i]);
    assay__tree_settle(sampler);
    for (size_t i = 0; i < sampler->count; i++) {
        const assay__tree_member *one = &sampler->members[i];
        if (one->gone) /* a parent has taken over the I/O of a child that it waited for */
            add_to(&sampler->gone, one, !is_present(sampler, one->stat.parent));
    }
    size_t kept = 0;
    for (size_t i = 0; i < sampler->count; i++)
        if (!sampler->members[i].gone)
            sampler->members[kept++] = sampler->members[i];
        else
            remember(sampler, &sampler->members[i]);
    sampler->count = kept;
    if (sampler->rss_bytes > sampler->tree_peak_rss_bytes)
        sampler->tree_peak_rss_bytes = sampler->rss_bytes;
    if (sampler->live == 1) /* no other process of the tree shares pages with it */
        raise_to(&sampler->tree_peak_pss_bytes, assay_reading_of((double)sampler->rss_bytes));
}

assay_status assay_tree_sampler_new(int64_t root, assay_error *error, assay_tree_sampler **sampler)
{
    if (sampler == NULL || root <= 0 || root > INT32_MAX)
        return assay__fail(error, ASSAY_E_ARGUMENT, "%lld is no process id", (long long)root);
    *sampler = NULL;
    assay__process_stat stat;
    assay_status status = assay__process_stat_read((pid_t)root, &stat);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "cannot observe process %lld: %s", (long long)root,
                           status == ASSAY_E_NOT_FOUND ? "there is none" : "/proc is not readable");
    assay_tree_sampler *made = calloc(1, sizeof *made);
    status = made == NULL ? ASSAY_E_MEMORY : assay__tree_add(made, &stat);
    if (status != ASSAY_OK) {
        assay_tree_sampler_free(made);
        return assay__fail(error, status, "out of memory while observing process %lld",
                           (long long)root);
    }
    made->root_start_ticks = stat.start_ticks;
    made->peak_rss_bytes = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    made->tree_peak_pss_bytes = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    made->io_validity = ASSAY_NOT_MEASURED;
    *sampler = made;
    return ASSAY_OK;
}

assay_status assay_tree_sampler_sample(assay_tree_sampler *sampler)
{
    if (sampler == NULL)
        return ASSAY_E_ARGUMENT;
    assay_status status = assay__tree_find_members(sampler);
    refresh_all(sampler);
    sampler->sweeps++;
    if (status == ASSAY_OK && sampler->count == 0)
        status = ASSAY_E_NOT_FOUND;
    return status;
}

assay_status assay_tree_sampler_weigh(assay_tree_sampler *sampler)
{
    if (sampler == NULL)
        return ASSAY_E_ARGUMENT;
    assay_reading sum = assay_reading_of(0);
    for (size_t i = 0; i < sampler->count; i++) {
        const assay__tree_member *one = &sampler->members[i];
        if (one->stat.zombie)
            continue;
        assay_reading share = assay__process_pss(one->stat.process);
        if (share.validity == ASSAY_NOT_PERMITTED)
            sum = share;
        else if (sum.validity == ASSAY_VALID) /* one that ended meanwhile has none */
            sum.value += value_or_zero(share);
    }
    if (sum.validity == ASSAY_VALID && sum.value <= 0)
        sum = assay_reading_missing(sampler->live > 0 ? ASSAY_UNSUPPORTED : ASSAY_NOT_ENOUGH_DATA);
    raise_to(&sampler->tree_peak_pss_bytes, sum);
    return sum.validity == ASSAY_NOT_PERMITTED ? ASSAY_E_PERMISSION
           : sum.validity == ASSAY_UNSUPPORTED ? ASSAY_E_UNSUPPORTED
                                               : ASSAY_OK;
}

static void show(assay_tree_visitor visit, void *context, const assay__tree_member *one,
                 int64_t asleep_ns)
{
    const assay__process_stat *stat = &one->stat;
    int64_t tick_ns = 1000000000 / sysconf(_SC_CLK_TCK);
    int64_t end_of_tick_ns = ((int64_t)stat->start_ticks + 1) * tick_ns - asleep_ns;
    bool is_seen_within = one->first_seen_ns != 0 && one->first_seen_ns < end_of_tick_ns;
    assay_tree_process process = {
        .process_id = stat->process,
        .parent_id = stat->parent,
        .start_ticks = stat->start_ticks,
        .name = stat->name,
        .started_ns = is_seen_within ? one->first_seen_ns : end_of_tick_ns,
        .last_seen_ns = one->last_seen_ns,
        .sweeps = one->sweeps,
        .alive = !one->gone && !stat->zombie,
        .user_seconds = stat->user_seconds,
        .sys_seconds = stat->sys_seconds,
        .peak_rss_bytes = one->peak_rss_bytes,
    };
    visit(context, &process);
}

assay_status assay_tree_sampler_visit(const assay_tree_sampler *sampler, bool living_only,
                                      assay_tree_visitor visit, void *context)
{
    if (sampler == NULL || visit == NULL)
        return ASSAY_E_ARGUMENT;
    int64_t asleep_ns = clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC);
    for (size_t i = 0; !living_only && i < sampler->ended_count; i++)
        show(visit, context, &sampler->ended[i], asleep_ns);
    for (size_t i = 0; i < sampler->count; i++)
        show(visit, context, &sampler->members[i], asleep_ns);
    return ASSAY_OK;
}

assay_status assay_tree_sampler_read(const assay_tree_sampler *sampler, assay_tree_figures *figures)
{
    if (sampler == NULL || !assay__struct_has_room(figures, sizeof *figures))
        return ASSAY_E_ARGUMENT;
    assay__tree_totals sum = sampler->gone;
    for (size_t i = 0; i < sampler->count; i++)
        add_to(&sum, &sampler->members[i], true);
    assay_reading none = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    assay_reading no_io = assay_reading_missing(sampler->io_validity);
    bool any = sampler->sweeps > 0, io = sampler->io_validity == ASSAY_VALID;
    *figures = (assay_tree_figures){
        .struct_size = figures->struct_size,
        .sweeps = sampler->sweeps,
        .peak_rss_bytes = sampler->peak_rss_bytes,
        .tree_peak_rss_bytes = sampler->tree_peak_rss_bytes > 0
                                   ? assay_reading_of((double)sampler->tree_peak_rss_bytes)
                                   : none,
        .rss_bytes = any ? assay_reading_of((double)sampler->rss_bytes) : none,
        .process_count = assay_reading_of((double)sampler->seen),
        .live_process_count = any ? assay_reading_of((double)sampler->live) : none,
        .thread_count = any ? assay_reading_of((double)sampler->threads) : none,
        .user_seconds = any ? assay_reading_of(sum.user_seconds) : none,
        .sys_seconds = any ? assay_reading_of(sum.sys_seconds) : none,
        .read_bytes = io ? assay_reading_of(sum.read_bytes) : no_io,
        .written_bytes = io ? assay_reading_of(sum.written_bytes) : no_io,
        .tree_peak_pss_bytes = sampler->tree_peak_pss_bytes,
    };
    return ASSAY_OK;
}

void assay_tree_sampler_free(assay_tree_sampler *sampler)
{
    if (sampler == NULL)
        return;
    free(sampler->members);
    free(sampler->pending);
    free(sampler->ended);
    free(sampler);
}
