/* Computes the busy time and the idle time of a device from its activities.
 *
 * Activities are entered in the order of their starts. The busy time of a device is the union of
 * their intervals. One pass computes it: an activity adds the part of its interval beyond the
 * latest end so far. The time between that end and the next start is a gap. The cause of a gap
 * follows from the call that submitted the activity which ended the gap. If the call was made
 * before the gap began, the host was not late. If it was made within the gap, the cause is what the
 * host did before the call. docs/gpu.md states the rule.
 *
 * If the program marks the ranges that are recorded, the time between the activities of different
 * ranges is no gap: what the device did in it is not known.
 *
 * The record of an activity may come so late that activities with later starts have already been
 * entered. Then the activity adds only the part of its interval beyond the union, and it is counted
 * as late. */
#include "snapshot/activity_idle.h"

#include <stdbool.h>
#include <stdlib.h>

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

assay__idle_cause assay__idle_cause_of(uint64_t begin_ns, const assay__activity *next)
{
    if (next->submitted_ns == 0)
        return ASSAY__IDLE_UNKNOWN;
    if (next->submitted_ns < begin_ns)
        return ASSAY__IDLE_QUEUED;
    uint64_t since = next->submitted_ns - next->silence_ns; /* the end of the call before */
    uint64_t silence = next->submitted_ns - later(since, begin_ns);
    if (silence > ASSAY__IDLE_SILENCE_NS)
        return next->from_host ? ASSAY__IDLE_DATA : ASSAY__IDLE_HOST;
    return next->after_wait ? ASSAY__IDLE_SYNC : ASSAY__IDLE_LAUNCH;
}

static void enter_gap(assay__activity_device *device, const assay__activity *next)
{
    uint64_t length = next->start_ns - device->last_ns;
    assay__idle_cause cause = assay__idle_cause_of(device->last_ns, next);
    device->idle_ns[cause] += length;
    device->idle_count[cause]++;
    device->longest_ns = later(device->longest_ns, length);
}

/* The length of the part of an activity beyond `*end`. `*end` is moved to the end of the
 * activity. */
static uint64_t part_beyond(const assay__activity *it, uint64_t *end)
{
    uint64_t begin = later(it->start_ns, *end);
    if (it->end_ns <= begin)
        return 0;
    *end = it->end_ns;
    return it->end_ns - begin;
}

/* Enter one activity into the sums of its device. */
static void enter(assay__activity_device *device, const assay__activity *it)
{
    if (!device->has_activity) {
        device->has_activity = 1;
        device->first_ns = device->last_ns = device->kernel_end_ns = it->start_ns;
        device->range = it->range;
    }
    if (it->start_ns > device->last_ns) {
        if (it->range > device->range)
            device->outside_ns += it->start_ns - device->last_ns;
        else
            enter_gap(device, it);
    }
    if (it->range > device->range)
        device->range = it->range;
    bool is_alone = it->start_ns >= device->kernel_end_ns;
    uint64_t beyond = part_beyond(it, &device->last_ns);
    device->busy_ns += beyond;
    if (it->kind == ASSAY__ACTIVITY_KERNEL)
        device->kernel_ns += part_beyond(it, &device->kernel_end_ns);
    else if (is_alone)
        device->idle_count[ASSAY__IDLE_COPIES]++;
    device->idle_ns[ASSAY__IDLE_COPIES] = device->busy_ns - device->kernel_ns;
}

static int by_start(const void *left, const void *right)
{
    const assay__activity *a = left, *b = right;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return a->end_ns < b->end_ns ? -1 : a->end_ns > b->end_ns;
}

void assay__activity_settle(assay__activity_region *region, uint32_t keep)
{
    uint32_t waiting = region->count - region->settled;
    if (waiting <= keep)
        return;
    assay__activity *first = &region->activities[region->settled];
    qsort(first, waiting, sizeof *first, by_start);
    for (uint32_t i = 0; i < waiting - keep; i++) {
        assay__activity_device *device = &region->devices[first[i].device];
        region->late_activities += first[i].start_ns < device->latest_start_ns;
        device->latest_start_ns = later(device->latest_start_ns, first[i].start_ns);
        enter(device, &first[i]);
        region->settled++;
    }
}
