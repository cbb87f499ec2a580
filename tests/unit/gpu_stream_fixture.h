/* Monitors and spans on streams of a fake driver (tests/fake/cuda.c), whose device runs when the
 * test says so. */
#ifndef ASSAY_TESTS_UNIT_GPU_STREAM_FIXTURE_H
#define ASSAY_TESTS_UNIT_GPU_STREAM_FIXTURE_H

#include <math.h>

#include "assay/assay.h"
#include "assay/gpu.h"
#include "tests/fake/cuda.h"
#include "tests/unit/record_find.h"

static char first_stream;

static inline assay_monitor *new_monitor(void)
{
    assay_monitor *monitor = NULL;
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.trace_events = 1024;
    options.private_journal = true;
    assert_int_equal(assay_monitor_new(&options, &monitor), ASSAY_OK);
    memset(fake_cuda_faults(), 0, sizeof(fake_faults));
    return monitor;
}

static inline assay_record *record_of(assay_monitor *monitor)
{
    assay_record *record = NULL;
    assert_int_equal(assay_monitor_record(monitor, NULL, &record), ASSAY_OK);
    return record;
}

static inline uint64_t dropped(const assay_record *record)
{
    return record->integrity.dropped_spans;
}

static inline void assert_near(double value, double expected)
{
    if (fabs(value - expected) > 1e-6 * (1 + fabs(expected)))
        fail_msg("%.9g instead of %.9g", value, expected);
}

/* A span of `seconds` of work. */
static inline void run_span(assay_monitor *monitor, void *stream, double seconds)
{
    ASSAY_TRACK_STREAM(monitor, "forward", stream)
    {
        fake_work(stream, seconds);
    }
}

#endif
