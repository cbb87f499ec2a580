/* Times the phases of one job. Phases follow one another; at most one is open at a time. The time
 * of a phase that occurs again is added to its earlier time. The phases are kept as assay_timers,
 * so that they can be exported and compared like timers. */
#include <stdlib.h>
#include <string.h>

#include "assay/clock.h"
#include "assay/timers.h"
#include "base/text.h"
#include "facade/timers.h"

struct assay_phase_timer {
    char name[ASSAY__NAME_MAX + 1];
    const assay_clock *clock;
    assay_timers *phases;
    bool open;
    size_t current; /* the open phase */
    uint64_t start_ns;
};

assay_status assay_phase_timer_new(const char *name, const assay_clock *clock,
                                   assay_phase_timer **timer)
{
    *timer = NULL;
    assay_phase_timer *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL)
        return ASSAY_E_MEMORY;
    assay_status status = assay_timers_new(NULL, &fresh->phases);
    if (status != ASSAY_OK) {
        free(fresh);
        return status;
    }
    assay__text_copy_name(fresh->name, sizeof fresh->name, name, name == NULL ? 0 : strlen(name));
    fresh->clock = clock != NULL ? clock : assay_clock_default();
    *timer = fresh;
    return ASSAY_OK;
}

void assay_phase_timer_free(assay_phase_timer *timer)
{
    if (timer == NULL)
        return;
    assay_timers_free(timer->phases);
    free(timer);
}

static assay_status end_at(assay_phase_timer *timer, uint64_t now_ns)
{
    assay_timer phase = assay_timers_at(timer->phases, timer->current);
    double before = phase.time.validity == ASSAY_VALID ? phase.time.value : 0.0;
    timer->open = false;
    return assay_timers_set(timer->phases, phase.name,
                            before + (double)(now_ns - timer->start_ns) * 1e-9);
}

static assay_status keep(assay_phase_timer *timer, assay_status status)
{
    assay__timers_keep_first(timer->phases, status);
    return status;
}

assay_status assay_phase_timer_start_phase(assay_phase_timer *timer, const char *phase)
{
    uint64_t now_ns = assay_clock_now_ns(timer->clock);
    assay_status status = timer->open ? end_at(timer, now_ns) : ASSAY_OK;
    if (status != ASSAY_OK)
        return keep(timer, status);
    timer->current = assay__timers_find(timer->phases, phase);
    if (timer->current == assay_timers_count(timer->phases)) /* new phase: enter it without time */
        status = assay_timers_set_metric(timer->phases, phase, "time",
                                         assay_reading_missing(ASSAY_NOT_MEASURED));
    timer->open = status == ASSAY_OK;
    timer->start_ns = assay_clock_now_ns(timer->clock);
    return keep(timer, status);
}

assay_status assay_phase_timer_end_phase(assay_phase_timer *timer)
{
    uint64_t now_ns = assay_clock_now_ns(timer->clock);
    return keep(timer, timer->open ? end_at(timer, now_ns) : ASSAY_E_STATE);
}

assay_status assay_phase_timer_print_breakdown(const assay_phase_timer *timer, FILE *stream)
{
    return assay__timers_print_breakdown(timer->phases, stream, timer->name);
}

const assay_timers *assay_phase_timer_timers(const assay_phase_timer *timer)
{
    return timer->phases;
}
