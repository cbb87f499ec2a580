/* Every allocation fails in turn: the interface of a scenario, and how a run is judged.
 *
 * A scenario is run over and over, each time in a fresh process, with the first, the second, the
 * third ... request for memory refused, until a run ends without reaching the refused request. Each
 * run must end with a status, and leave no memory, no mapping, no open file and no half-written
 * file behind. */
#ifndef ASSAY_TESTS_FAULT_H
#define ASSAY_TESTS_FAULT_H

#include <stdbool.h>

#include "assay/status.h"

typedef struct fault_scenario {
    const char *name;
    /* The whole life of something, undone again whatever happens. Works in the current folder,
     * which is empty. Returns the first status that was not ASSAY_OK. */
    assay_status (*run)(void);
    /* Called with memory to be had, after a run that returned ASSAY_OK in spite of a refusal: is
     * the result complete, or does it say what is missing? NULL: nothing to look at. */
    bool (*verify)(void);
} fault_scenario;

extern const fault_scenario fault_clock, fault_instrument, fault_record, fault_monitor,
    fault_monitor_file, fault_facade, fault_report, fault_growth, fault_stats, fault_compare,
    fault_sampling, fault_models, fault_trajectories;

/* failing_alloc.c */
typedef struct fault_balance {
    long blocks;       /* allocated and not freed */
    long mapped_bytes; /* mapped and not unmapped */
} fault_balance;

/* Refuse request number `nth` (1 is the next), and with `from_then_on` all after it. */
void fault_arm(long nth, bool from_then_on);
/* Stop refusing; returns how many requests were refused. */
long fault_disarm(void);
fault_balance fault_balance_now(void);
/* Where the first refused request came from, to stderr. */
void fault_print_origin(void);

#endif
