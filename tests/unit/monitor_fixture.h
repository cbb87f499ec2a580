/* A monitor whose clock the test sets, and short functions to read its record. */
#ifndef TESTS_MONITOR_FIXTURE_H
#define TESTS_MONITOR_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assay/clock.h"
#include "assay/monitor.h"
#include "assay/record.h"
#include "assay/snapshot.h"
#include "tests/unit/record_find.h"

static _Atomic uint64_t hand_ns = 1000;

static inline uint64_t read_hand(void *context)
{
    (void)context;
    return hand_ns;
}

static inline assay_clock *hand_clock(void)
{
    assay_clock *clock = NULL;
    assert_int_equal(assay_clock_new_injected(read_hand, NULL, &clock), ASSAY_OK);
    return clock;
}

/* Before and after the tests of a group; meanwhile hand_ns is the time of by_hand. */
static assay_clock *clock_by_hand;

static inline int make_clock(void **state)
{
    (void)state;
    clock_by_hand = hand_clock();
    return 0;
}

static inline int drop_clock(void **state)
{
    (void)state;
    assay_clock_free(clock_by_hand);
    return 0;
}

static inline assay_monitor_options by_hand(void)
{
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.clock = clock_by_hand;
    options.private_journal = true;
    return options;
}

static inline assay_monitor *open_monitor(const assay_monitor_options *options)
{
    assay_monitor *monitor = NULL;
    assay_error error = {0};
    if (assay_monitor_open(options, &error, &monitor) != ASSAY_OK)
        fail_msg("%s", error.message);
    return monitor;
}

static inline assay_monitor *new_monitor(void)
{
    assay_monitor_options options = by_hand();
    return open_monitor(&options);
}

static inline assay_record *record_of(assay_monitor *monitor)
{
    assay_record *record = NULL;
    assay_error error = {0};
    if (assay_monitor_record(monitor, &error, &record) != ASSAY_OK)
        fail_msg("%s", error.message);
    return record;
}

static inline void assert_seconds(double actual, double expected)
{
    if (fabs(actual - expected) > 1e-12 + 1e-9 * fabs(expected))
        fail_msg("%.12g seconds, expected %.12g", actual, expected);
}

static inline void assert_clean(const assay_record *record)
{
    assay_record_integrity clean = {0};
    assert_memory_equal(&record->integrity, &clean, sizeof clean);
}

#endif
