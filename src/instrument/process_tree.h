/* The members of a sampled process tree; process_tree.c says how a sweep goes. */
#ifndef ASSAY_INSTRUMENT_PROCESS_TREE_H
#define ASSAY_INSTRUMENT_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "assay/instrument.h"
#include "assay/reading.h"
#include "instrument/process_stat.h"

typedef struct assay__tree_member {
    assay__process_stat stat;
    assay_reading read_bytes, written_bytes, peak_rss_bytes;
    int64_t first_seen_ns, last_seen_ns; /* CLOCK_MONOTONIC */
    uint64_t sweeps;                     /* in which it was there */
    bool gone;
    double run_seconds; /* of its first thread */
    pid_t heir;         /* of one that is gone: who has its processor time now, or 0 */
    /* Processor time of children that it waited for: up to which it was passed on to them, and what
     * was left over in the last sweep. */
    assay__process_times passed_on, spare;
} assay__tree_member;

typedef struct assay__tree_totals {
    double user_seconds, sys_seconds, read_bytes, written_bytes;
} assay__tree_totals;

struct assay_tree_sampler {
    assay__tree_member *members; /* ascending by process id */
    size_t count, capacity;
    pid_t *pending; /* members whose children are still to be looked up in this sweep */
    size_t pending_count, pending_capacity;
    assay__tree_member *ended; /* in the order in which they were missed */
    size_t ended_count, ended_capacity;
    int64_t sweep_ns; /* when the sweep under way began, CLOCK_MONOTONIC */
    uint64_t root_start_ticks;
    pid_t orphans_parent; /* the calling process if it adopts orphans, else 0 */
    bool no_children_files;
    bool found_any;      /* a scan of all processes added somebody */
    assay_status failed; /* of a visitor, which cannot return one */

    uint64_t sweeps, seen, threads, live;
    uint64_t rss_bytes, tree_peak_rss_bytes;
    assay_reading peak_rss_bytes, tree_peak_pss_bytes;
    assay_validity io_validity;
    assay__tree_totals gone; /* what processes that ended had used */
};

/* NULL if it is no member. */
assay__tree_member *assay__tree_find(const assay_tree_sampler *sampler, pid_t process);

ASSAY_MUST_USE assay_status assay__tree_add(assay_tree_sampler *sampler,
                                            const assay__process_stat *stat);

/* Take in all processes that belong to the tree and are not in it yet. */
ASSAY_MUST_USE assay_status assay__tree_find_members(assay_tree_sampler *sampler);

/* Give members that are gone the processor time that they used after they were last seen. */
void assay__tree_settle(assay_tree_sampler *sampler);

#endif
