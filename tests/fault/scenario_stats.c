/* All statistics that need memory, on one series. */
#include "tests/fault/fault.h"

#include <stddef.h>

#include "assay/stats.h"

enum { COUNT = 24, LONG = 2100 }; /* LONG: past the length from which values are grouped */

static assay_status describe(const double *values)
{
    assay_summary summary;
    assay_reading reading;
    assay_interval interval;
    assay_status status = assay_stats_summarize(values, COUNT, &summary);
    if (status == ASSAY_OK)
        status = assay_stats_quantile(values, COUNT, 0.9, &reading);
    if (status == ASSAY_OK)
        status = assay_stats_quantile_interval(values, COUNT, 0.5, 0.95, &interval);
    return status;
}

static assay_status test(const double *values, const double *others)
{
    assay_test result;
    assay_status status = assay_stats_mann_whitney(values, COUNT, others, COUNT, &result);
    if (status == ASSAY_OK)
        status = assay_stats_signed_rank(values, COUNT, &result);
    if (status == ASSAY_OK)
        status = assay_stats_permutation(values, COUNT, others, COUNT, 10, 1, &result);
    return status;
}

static assay_status run(void)
{
    static double series[LONG];
    assay_steady steady;
    for (size_t i = 0; i < LONG; i++)
        series[i] = (double)((i * 37) % 101) + (i < LONG / 2 ? 500 : 0);
    assay_status status = describe(series);
    if (status == ASSAY_OK)
        status = test(series, series + COUNT);
    if (status == ASSAY_OK)
        status = assay_stats_find_steady(series, COUNT, &steady);
    if (status == ASSAY_OK)
        status = assay_stats_find_steady(series, LONG, &steady);
    return status;
}

const fault_scenario fault_stats = {.name = "stats", .run = run};
