/* Measures a step of a training with the clock, the kernel's accounts and the yardstick. */
#include "studies/common/watch.h"

#include <unistd.h>

#include "assay/clock.h"
#include "record/metric.h"
#include "sampling/yardstick.h"

const char *const assay__study_watch_metrics[ASSAY__WATCH_FIGURES] = {
    ASSAY__METRIC_WALL, ASSAY__METRIC_CPU, ASSAY__METRIC_WAITED, ASSAY__METRIC_YARDSTICK};

void assay__study_watch_open(assay__study_watch *watch)
{
    *watch = (assay__study_watch){.descriptor = assay__account_open()};
}

void assay__study_watch_close(assay__study_watch *watch)
{
    if (watch->descriptor >= 0)
        close(watch->descriptor);
    watch->descriptor = -1;
}

void assay__study_watch_start(assay__study_watch *watch)
{
    watch->before = assay__account_take(watch->descriptor);
    watch->started_seconds = assay_clock_seconds(assay_clock_default());
}

void assay__study_watch_stop(assay__study_watch *watch)
{
    watch->seconds = assay_clock_seconds(assay_clock_default()) - watch->started_seconds;
    assay__account after = assay__account_take(watch->descriptor);
    watch->cpu_seconds = assay__account_cpu_seconds(&watch->before, &after);
    watch->waited_seconds = assay__account_waited_seconds(&watch->before, &after, watch->seconds);
}

void assay__study_watch_read(const assay__study_watch *watch, double figures[ASSAY__WATCH_FIGURES])
{
    figures[0] = watch->seconds;
    figures[1] = watch->cpu_seconds;
    figures[2] = watch->waited_seconds;
    figures[3] = assay__yardstick_seconds(assay_clock_default());
}
