/* The verdicts of other tools' usual methods on simulated series, beside ours. The tools themselves
 * are not run. Both methods test at 5 % and have no margin. Welch's t test is computed by
 * scripts/welch_ttest.py of hyperfine, Mann and Whitney's U test by compare.py of Google Benchmark.
 * They and `assay compare` judge the same series, measured one after the other. "Taking turns" is
 * `assay bench`, which has as many samples in an order of its own. */
#ifndef ASSAY_BENCH_VERDICT_PEERS_H
#define ASSAY_BENCH_VERDICT_PEERS_H

#include <assay/stats.h>

#include "bench/verdict_simulation.h"

typedef enum method { METHOD_TURNS, METHOD_SERIES, METHOD_WELCH, METHOD_U, METHODS } method;

static const char *const method_names[METHODS] = {
    "assay, taking turns", "assay, one after the other", "Welch's t test at 5 %", "U test at 5 %"};

typedef struct method_counts {
    size_t slower[METHODS], faster[METHODS];
} method_counts;

/* The verdict of a test. `lean` is below 0 if the baseline has the smaller times. */
static inline assay_verdict verdict_of_test(const assay_test *test, double lean)
{
    if (test->p_value >= 0.05)
        return ASSAY_VERDICT_INCONCLUSIVE;
    return lean < 0 ? ASSAY_VERDICT_SLOWER : ASSAY_VERDICT_FASTER;
}

static inline void judge_by_peers(const double *times, size_t n, assay_verdict *verdicts)
{
    assay_test welch, u;
    if (assay_stats_welch_t(times, n, times + n, n, &welch) != ASSAY_OK ||
        assay_stats_mann_whitney(times, n, times + n, n, &u) != ASSAY_OK)
        exit(1);
    verdicts[METHOD_WELCH] = verdict_of_test(&welch, welch.statistic);
    verdicts[METHOD_U] = verdict_of_test(&u, u.statistic - (double)n * (double)n / 2);
}

/* Counts the verdicts of each method. `it` must have a fixed number of samples. Exits when out of
 * memory. */
static inline method_counts methods_run(const simulation *it, size_t replications, uint64_t seed)
{
    method_counts counts = {0};
    uint64_t seed_of_turns = seed;
    for (size_t i = 0; i < replications; i++) {
        assay_verdict verdicts[METHODS];
        double *times = simulated_times(it, &seed);
        verdicts[METHOD_TURNS] = simulate_turns(it, &seed_of_turns).verdict;
        verdicts[METHOD_SERIES] = judge_series(times, it->samples, NULL);
        judge_by_peers(times, it->samples, verdicts);
        free(times);
        for (int m = 0; m < METHODS; m++) {
            counts.slower[m] += verdicts[m] == ASSAY_VERDICT_SLOWER;
            counts.faster[m] += verdicts[m] == ASSAY_VERDICT_FASTER;
        }
    }
    return counts;
}

#endif
