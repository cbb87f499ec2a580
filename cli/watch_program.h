/* Watches a started program until it ends: passes signals on to it, and samples its processes and
 * their memory over time. */
#ifndef ASSAY_CLI_WATCH_PROGRAM_H
#define ASSAY_CLI_WATCH_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "assay/instrument.h"

/* The memory of the whole process tree at one time, or the maximum over a stretch of time. */
typedef struct watch_point {
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    double rss_bytes;
    double heap_bytes; /* 0 when the heap is not measured */
} watch_point;

/* At most this many points are kept. In a longer run each point is the maximum over a longer
 * stretch of time. */
enum { WATCH_MAX_POINTS = 8192 };

typedef struct watch_result {
    uint64_t end_ns;     /* CLOCK_MONOTONIC */
    int wait_status;     /* of the program itself, as wait() returns it */
    struct rusage usage; /* of all processes that ended and that we or their parents waited for */
    bool sampled;        /* `tree` is filled */
    assay_tree_figures tree;
    assay_tree_sampler *sampler; /* knows all processes it saw; or NULL; freed by watch_release() */
    watch_point *points;         /* ascending by time; freed by watch_release() */
    size_t point_count;
    double interval_seconds; /* the interval between samples at the end of the run */
    double cost_seconds;     /* processor time that the watching took */
    pid_t *strangers;        /* children that we had before; freed by watch_release() */
    size_t stranger_count;
} watch_result;

/* Note the children that we have before the program is started. A shell that replaces itself by us
 * (`exec assay run`) leaves us its background jobs, and they are no part of the program. */
void watch_begin(watch_result *result);

/* Call this after watch_begin(). Sample the process tree of `pid` every `interval_seconds` until
 * `pid` ends. The interval is lengthened if the sampling itself would take more than 2 % of one
 * processor. SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 that are sent to us are passed
 * on. Signals that the terminal sent are not, because the program has them already. The signals
 * must be blocked (launch_block_signals). `heap_dir` is the directory of the heap files, or NULL.
 * Descendants that outlive their parents become our children, and they are counted if they end
 * before `pid` does. Descendants that outlive `pid` are left alone. */
void watch_until_end(pid_t pid, double interval_seconds, const char *heap_dir,
                     watch_result *result);

void watch_release(watch_result *result);

#endif
