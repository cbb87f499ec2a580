/* Watching a started program until it ends: its signals, its processes, its memory over time. */
#ifndef ASSAY_CLI_WATCH_PROGRAM_H
#define ASSAY_CLI_WATCH_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "assay/instrument.h"

/* Memory of the whole tree at one time, or the highest in a stretch of time. */
typedef struct watch_point {
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    double rss_bytes;
    double heap_bytes; /* 0 when the heap is not measured */
} watch_point;

/* At most this many points are kept; a longer run keeps the maxima of longer stretches. */
enum { WATCH_MAX_POINTS = 8192 };

typedef struct watch_result {
    uint64_t end_ns;     /* CLOCK_MONOTONIC */
    int wait_status;     /* of the program itself, as by wait() */
    struct rusage usage; /* of all processes that ended and were waited for, by us or inside */
    bool sampled;        /* `tree` is filled */
    assay_tree_figures tree;
    assay_tree_sampler *sampler; /* with all processes it saw, or NULL; freed by watch_release() */
    watch_point *points;         /* ascending by time; freed by watch_release() */
    size_t point_count;
    double interval_seconds; /* between samples at the end, after any backing off */
    double cost_seconds;     /* processor time spent on watching */
} watch_result;

/* Sample the tree below `pid` every `interval_seconds`, less often if the sampling itself would
 * take more than 2 % of one processor, until `pid` ends. SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1
 * and SIGUSR2 sent to us are passed on, unless the terminal sent them, in which case the program
 * has them already. The signals must be blocked (launch_block_signals). `heap_dir` is where the
 * program's processes keep their heap files, or NULL. Descendants that outlive
 * their parents become our children and are counted when they end before `pid` does; those that
 * outlive `pid` too are left alone. */
void watch_until_end(pid_t pid, double interval_seconds, const char *heap_dir,
                     watch_result *result);

void watch_release(watch_result *result);

#endif
