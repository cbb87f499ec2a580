/* Sampled resident memory of spans.
 *
 * A reading costs two or three system calls, about 1 µs, which is too much for every span. So each
 * lane has a deadline for its next reading, 10 to 15 ms after the last one. The random part of this
 * time keeps the readings from meeting the same operation of a loop again and again. The inlined
 * code compares its counter readings with the deadline, which takes one instruction, and takes the
 * slow path when the deadline has passed. A span is measured in one of two ways:
 *
 * - A reading was due at its begin, or it is the first span of its operation on a thread. Memory is
 *   then read at its begin and at its end. There may be many tasks, so the first spans of a task
 *   are read only if a reading is due.
 * - A reading was due within the span or at its end. The memory at its begin is then taken from the
 *   previous reading, which is older by at most one deadline. All spans that last longer than a
 *   deadline are measured in this way.
 *
 * For the second way, every reading marks the open spans that began since the previous reading, and
 * stores that previous reading for them. Spans that began earlier have been marked before. A marked
 * span takes the slow path at its end. */
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
            continue; /* not `break`: spans may end out of order (binding.h), so starts may not be
                         sorted */
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
