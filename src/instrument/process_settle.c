/* Finds out how much processor time a process used between the sweep that last saw it and its end.
 *
 * A compiler in a build may live for two sweeps only, and the kernel shows times in ticks of 10 ms.
 * So the sweeps see a small part of its time. But when a parent waits for a child, the kernel adds
 * the whole time of the child to the parent's time of waited children. So when members are gone,
 * that time grows, and the growth beyond what was known of these members is divided among them. If
 * a parent is gone as well, the time has gone on to the nearest ancestor that is still there, the
 * heir. All members that are gone and have the same heir share the growth in proportion to what was
 * seen of each.
 *
 * The time of a child that no sweep saw is added to the parent as well, and belongs to no known
 * member. So growth that appears while no member is gone is kept for one sweep only. It is kept at
 * all because a child may end after its parent was read and before it is read itself. */
#include "instrument/process_tree.h"

enum {
    GENERATIONS_MAX = 64
}; /* ancestors that are gone at once; reused process ids may form a cycle */

static const double least_seconds = 0.0001; /* the weight of a process of which nothing was seen */

/* The heir is the nearest ancestor that is not gone. */
static void find_heir(const assay_tree_sampler *sampler, assay__tree_member *one)
{
    const assay__tree_member *parent = assay__tree_find(sampler, one->stat.parent);
    for (int i = 0; parent != NULL && parent->gone && i < GENERATIONS_MAX; i++)
        parent = assay__tree_find(sampler, parent->stat.parent);
    one->heir = parent != NULL && !parent->gone ? parent->stat.process : 0;
}

/* The known times and the weights of all members that are gone and have the same heir. */
typedef struct bequest {
    assay__process_times known;
    double weight;
} bequest;

static double weight_of(const assay__tree_member *one)
{
    double in_ticks = one->stat.user_seconds + one->stat.sys_seconds;
    return (in_ticks > one->run_seconds ? in_ticks : one->run_seconds) + least_seconds;
}

static bequest collect(const assay_tree_sampler *sampler, pid_t heir)
{
    bequest sum = {0};
    for (size_t i = 0; i < sampler->count; i++) {
        const assay__tree_member *one = &sampler->members[i];
        if (!one->gone || one->heir != heir)
            continue;
        sum.known.user_seconds += one->stat.user_seconds + one->stat.waited.user_seconds;
        sum.known.sys_seconds += one->stat.sys_seconds + one->stat.waited.sys_seconds;
        sum.weight += weight_of(one);
    }
    return sum;
}

static double positive(double seconds)
{
    return seconds > 0 ? seconds : 0;
}

/* Divide `came`, the new time of waited children of `parent`, among the members that are gone. */
static void divide(assay_tree_sampler *sampler, const assay__tree_member *parent,
                   assay__process_times came)
{
    bequest sum = collect(sampler, parent->stat.process);
    double user = positive(came.user_seconds - sum.known.user_seconds);
    double sys = positive(came.sys_seconds - sum.known.sys_seconds);
    for (size_t i = 0; i < sampler->count; i++) {
        assay__tree_member *one = &sampler->members[i];
        if (!one->gone || one->heir != parent->stat.process)
            continue;
        double share = weight_of(one) / sum.weight;
        one->stat.user_seconds += user * share;
        one->stat.sys_seconds += sys * share;
    }
}

static bool is_heir(const assay_tree_sampler *sampler, pid_t process)
{
    for (size_t i = 0; i < sampler->count; i++)
        if (sampler->members[i].gone && sampler->members[i].heir == process)
            return true;
    return false;
}

static void settle_with(assay_tree_sampler *sampler, assay__tree_member *parent,
                        bool is_in_question)
{
    bool inherits = is_in_question && is_heir(sampler, parent->stat.process);
    assay__process_stat now;
    if (inherits && assay__process_stat_read(parent->stat.process, &now) == ASSAY_OK &&
        now.start_ticks == parent->stat.start_ticks)
        parent->stat.waited = now.waited; /* a child may have ended after the parent was read */
    assay__process_times waited = parent->stat.waited;
    assay__process_times came = {waited.user_seconds - parent->passed_on.user_seconds,
                                 waited.sys_seconds - parent->passed_on.sys_seconds};
    parent->passed_on = waited;
    if (!inherits) {
        parent->spare = came;
        return;
    }
    came.user_seconds += parent->spare.user_seconds;
    came.sys_seconds += parent->spare.sys_seconds;
    parent->spare = (assay__process_times){0};
    divide(sampler, parent, came);
}

void assay__tree_settle(assay_tree_sampler *sampler)
{
    bool any_gone = false;
    for (size_t i = 0; i < sampler->count; i++) {
        assay__tree_member *one = &sampler->members[i];
        one->heir = 0;
        if (one->gone)
            find_heir(sampler, one);
        any_gone |= one->gone;
    }
    for (size_t i = 0; i < sampler->count; i++)
        if (!sampler->members[i].gone)
            settle_with(sampler, &sampler->members[i], any_gone);
}
