#include "analyze/relative.h"

#include <stdlib.h>

#include "record/append.h"
#include "record/metric.h"

bool assay__has_yardstick(const assay_record_subject *subject)
{
    return assay__record_measure_samples(subject, ASSAY__METRIC_YARDSTICK) != NULL;
}

/* A subject seen relative to the yardstick beside its samples: its values, and what they waited. */
typedef struct relative_view {
    assay_record_subject subject;
    assay_record_measure measures[2];
    double *room[2];
} relative_view;

static double *over(const double *values, const double *yardstick, size_t count)
{
    double *quotients = calloc(count + 1, sizeof *quotients);
    for (size_t i = 0; quotients != NULL && i < count; i++)
        quotients[i] = values[i] / yardstick[i];
    return quotients;
}

static void add_to_view(relative_view *view, const char *metric, const double *samples)
{
    view->measures[view->subject.measure_count++] = (assay_record_measure){
        .metric = metric, .samples = samples, .sample_count = view->subject.sample_count};
}

static assay_status relative_view_init(relative_view *view, const assay_record_subject *subject)
{
    size_t count = subject->sample_count;
    const double *yardstick = assay__record_measure_samples(subject, ASSAY__METRIC_YARDSTICK);
    const double *waited = assay__record_measure_samples(subject, ASSAY__METRIC_WAITED);
    const double *disturbed = assay__record_measure_samples(subject, ASSAY__METRIC_DISTURBED);
    *view = (relative_view){.subject = *subject};
    view->subject.measures = view->measures;
    view->subject.measure_count = 0;
    view->subject.samples_seconds = view->room[0] =
        over(subject->samples_seconds, yardstick, count);
    if (waited != NULL && (view->room[1] = over(waited, yardstick, count)) != NULL)
        add_to_view(view, ASSAY__METRIC_WAITED, view->room[1]);
    if (disturbed != NULL)
        add_to_view(view, ASSAY__METRIC_DISTURBED, disturbed);
    return view->room[0] != NULL && (waited == NULL || view->room[1] != NULL) ? ASSAY_OK
                                                                              : ASSAY_E_MEMORY;
}

static void relative_view_release(relative_view *view)
{
    free(view->room[0]);
    free(view->room[1]);
}

assay_status assay__relative_init(assay__log_ratio *log_ratio, const assay_record_subject *baseline,
                                  const assay_record_subject *candidate, double margin,
                                  unsigned nature)
{
    relative_view before = {.room = {NULL}}, after = {.room = {NULL}};
    assay_status status = relative_view_init(&before, baseline);
    if (status == ASSAY_OK)
        status = relative_view_init(&after, candidate);
    if (status == ASSAY_OK)
        status = assay__log_ratio_init(log_ratio, &before.subject, &after.subject, margin, nature);
    relative_view_release(&before);
    relative_view_release(&after);
    return status;
}
