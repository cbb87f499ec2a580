/* Resident memory of spans, sampled.
 *
 * A reading costs two or three system calls, about 1 µs: too much for every span. So a lane has a
 * deadline, 10 to 15 ms behind its last reading; the random part keeps the readings from falling on
 * the same operation of a loop again and again. The inlined code compares its own counter readings
 * with the deadline, which takes one instruction, and comes here when it has passed. A span is
 * measured in one of two ways:
 *
 * - Its begin was due, or it is the first of its operation on a thread. Memory is then read at its
 *   begin and its end. Tasks may be many, so their first spans are read only when they are due.
 * - A reading was due within it or at its end. Memory at its begin is then taken from the reading
 *   before, which is at most one deadline older. Spans that last longer than a deadline are all
 *   measured in this way.
 *
 * The second way needs to know the open spans: every reading marks those that began since the
 * reading before it, and keeps that earlier reading for them. All spans that began still earlier
 * were marked by then. A mark sends the end of its span to the slow path. */
#include "instrument/rss.h"
#include "monitor/state.h"

static void set_due(assay__lane *lane, uint64_t ticks)
{
    lane->begin_due = ticks;
    lane->end_due = lane->extras != 0 ? 0 : ticks;
}

static bool is_sampled(const assay__lane_owner *owner)
{
    return owner->lane->begin_due != UINT64_MAX;
}

void assay__resident_start(assay__lane_owner *owner)
{
    bool sampled = assay__monitor_state_of(owner->monitor)->resident_ticks != 0;
    owner->resident.ticks = 0;
    assay__random_init(&owner->resident.random, (uint64_t)owner->lane->thread_id);
    set_due(owner->lane, sampled ? 0 : UINT64_MAX);
}

void assay__resident_carry(const assay__lane_owner *from, assay__lane_owner *to)
{
    if (from == NULL || to == NULL || from == to)
        return;
    to->resident.bytes = from->resident.bytes;
    to->resident.ticks = from->resident.ticks;
    set_due(to->lane, from->lane->begin_due);
}

static void mark_open_spans(assay__lane_owner *owner)
{
    assay__resident *resident = &owner->resident;
    if (resident->ticks == 0)
        return;
    for (assay__frame *frame = owner->top; frame > owner->lane->frames; frame--) {
        if ((frame->start & ASSAY__MEMORY_MARK) != 0 || frame->start < resident->ticks)
            continue; /* spans that ended out of order (binding.h) left no order to rely on */
        resident->at_begin[frame - owner->lane->frames] = resident->bytes;
        __atomic_store_n(&frame->start, frame->start | ASSAY__MEMORY_MARK, __ATOMIC_RELAXED);
    }
}

static bool read_resident(assay__lane_owner *owner, uint64_t now)
{
    assay__resident *resident = &owner->resident;
    uint64_t bytes, interval = assay__monitor_state_of(owner->monitor)->resident_ticks;
    if (assay__rss_now(&bytes) != ASSAY_OK) {
        set_due(owner->lane, UINT64_MAX);
        return false;
    }
    mark_open_spans(owner);
    resident->bytes = bytes;
    resident->ticks = now;
    uint64_t more = assay__random_below(&resident->random, interval / 2 + 1);
    set_due(owner->lane, now + interval + more);
    return true;
}

static assay__journal_memory *figures_of(const assay__lane_owner *owner, const assay__node *node)
{
    const assay__monitor_state *state = assay__monitor_state_of(owner->monitor);
    return node->memory != 0 ? assay__journal_at(&state->journal, node->memory) : NULL;
}

bool assay__resident_begin(assay__lane_owner *owner, const assay__node *node, uint64_t now)
{
    const assay__journal_memory *memory = figures_of(owner, node);
    if (!is_sampled(owner) || memory == NULL)
        return false;
    bool first = memory->rss_readings == 0 && owner->lane->kind == ASSAY_LANE_THREAD;
    return (first || now >= owner->lane->begin_due) && read_resident(owner, now);
}

void assay__resident_end(assay__lane_owner *owner, uint64_t now, bool read)
{
    if (!is_sampled(owner))
        return;
    const assay__frame *frame = owner->top;
    const assay__resident *resident = &owner->resident;
    assay__journal_memory *memory = figures_of(owner, frame->node);
    if ((read || now >= owner->lane->begin_due) && !read_resident(owner, now))
        return;
    if ((frame->start & ASSAY__MEMORY_MARK) == 0 || memory == NULL)
        return;
    uint64_t before = resident->at_begin[frame - owner->lane->frames], after = resident->bytes;
    uint64_t peak = before > after ? before : after;
    int64_t change = memory->rss_delta_bytes + (int64_t)(after - before);
    __atomic_store_n(&memory->rss_delta_bytes, change, __ATOMIC_RELAXED);
    if (peak > memory->rss_peak_bytes)
        __atomic_store_n(&memory->rss_peak_bytes, peak, __ATOMIC_RELAXED);
    assay__publish_add(&memory->rss_readings, 1);
}
