/* Spans for bindings of other languages, whose blocks are not blocks of C.
 *
 *     assay_site site = {.name = name};                     lives as long as its spans
 *     uint64_t start = assay_site_begin(&site, monitor);
 *     ...
 *     if (start != 0)                                       else it was not recorded
 *         assay_site_end(&site, monitor, start, failed);
 *
 * The macros of span.h put a span into a block of C, which ends in the order of the stack. A block
 * of another language may be left out of order: a generator that is suspended within a block goes
 * on after the blocks around it have ended. Here a span is found by its call site and its start. It
 * may end while spans that began later are still open; those stay open, at the place of the call
 * tree where they began.
 *
 * Cost: a span costs as much as one of ASSAY_TRACK if it ends in order and does not fail. Other
 * spans take a slower path.
 * Threads: a span must end on the thread, or in the task (task.h), in which it began.
 */
#ifndef ASSAY_BINDING_H
#define ASSAY_BINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "assay/span.h"

#ifdef __cplusplus
extern "C" {
#endif

ASSAY_API uint64_t assay__site_end_slow(const assay_site *site, struct assay_monitor *monitor,
                                        uint64_t start, uint64_t now, bool failed);

/* Begin a span. Returns the time at which it began, in ticks of the monitor's clock, or 0 if the
 * span is not recorded. The monitor copies the site's name. A NULL monitor records nothing. */
ASSAY__HOT uint64_t assay_site_begin(assay_site *site, struct assay_monitor *monitor)
{
    assay_span span;
    assay__span_begin_at(&span, monitor, site, 0);
    return span.start;
}

/* End the span of this site that began at `start`, or the innermost span of this site if `start` is
 * 0. So do not end a span whose begin returned 0: that would end another span of the site. `failed`
 * says that an error ended the span; the record counts such spans. Returns the duration in ticks,
 * or 0 if there is no such span. The record's integrity section counts ends without a span. */
ASSAY__HOT uint64_t assay_site_end(const assay_site *site, struct assay_monitor *monitor,
                                   uint64_t start, bool failed)
{
    const uint64_t now = assay__ticks();
    if (monitor == NULL)
        return 0;
    const assay__lane *lane = assay__lane_of_last_span();
    if (ASSAY__LIKELY(assay__thread.monitor_id == assay__monitor_id(monitor) && !failed &&
                      site->id != 0)) {
        assay__frame *frame = lane->top;
        const uint64_t begun = frame->start; /* without marks: see layout.h */
        if (ASSAY__LIKELY(frame->branch.site == site->id && frame->stack == 0 &&
                          (start == 0 || start == begun) && begun < ASSAY__MEMORY_MARK)) {
            assay__span_finish(monitor, frame, begun);
            return now - begun;
        }
    }
    return assay__site_end_slow(site, monitor, start, now, failed);
}

#ifdef __cplusplus
}
#endif

#endif
