/* The members of a sampled process tree. process_tree.c describes how a sweep works. */
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
    uint64_t sweeps;                     /* number of sweeps that found it */
    bool gone;
    double run_seconds; /* of its first thread */
    pid_t heir;         /* if it is gone: the ancestor to which its processor time went, or 0 */
    /* Processor time of the children that it waited for. `passed_on` is the time that earlier
     * sweeps have dealt with, `spare` the part of the last sweep that belongs to no member yet. */
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
    assay__tree_member *ended; /* in the order in which sweeps found them gone */
    size_t ended_count, ended_capacity;
    int64_t sweep_ns; /* when the sweep under way began, CLOCK_MONOTONIC */
    uint64_t root_start_ticks;
    pid_t orphans_parent; /* the calling process if it adopts orphans, else 0 */
    bool no_children_files;
    bool found_any;      /* a scan of all processes added a member */
    assay_status failed; /* of a visitor, which cannot return one */

    uint64_t sweeps, seen, threads, live;
    uint64_t rss_bytes, tree_peak_rss_bytes;
    assay_reading peak_rss_bytes, tree_peak_pss_bytes;
    assay_validity io_validity;
    assay__tree_totals gone; /* sums over the processes that ended */
};

/* The member with this process id; NULL if there is none. */
assay__tree_member *assay__tree_find(const assay_tree_sampler *sampler, pid_t process);

/* Add a member. Pointers to members are invalid afterwards. */
ASSAY_MUST_USE assay_status assay__tree_add(assay_tree_sampler *sampler,
                                            const assay__process_stat *stat);

/* Add all processes that belong to the tree and are not in it yet. */
ASSAY_MUST_USE assay_status assay__tree_find_members(assay_tree_sampler *sampler);

/* Add to the members that are gone the processor time that they used after they were last seen. */
void assay__tree_settle(assay_tree_sampler *sampler);

#endif
