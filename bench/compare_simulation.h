/* Simulated benchmarks whose truth is known, judged by assay: how often is the verdict wrong?
 *
 * Times are 1 ms × (1 + noise), the noise an autoregression of order 1 started in its steady state.
 * Used by bench/compare_simulated.c in full and by tests/accuracy/test_compare_simulated.c in
 * short. */
#ifndef ASSAY_BENCH_COMPARE_SIMULATION_H
#define ASSAY_BENCH_COMPARE_SIMULATION_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "assay/compare.h"
#include "assay/record.h"
#include "assay/record_build.h"
#include "bench/draw.h"

enum { SIMULATION_SAMPLES_MAX = 1000 };

typedef struct simulation {
    size_t samples;     /* of each side */
    double correlation; /* of neighbours: the ρ of the AR(1) noise */
    double noise;       /* standard deviation of a sample; of a pair when paired */
    double slowdown;    /* of the candidate: 0.02 is 2 % */
    bool paired;        /* both sides share a drift of four times the noise */
} simulation;

typedef struct simulation_counts {
    size_t faster, slower, same, inconclusive;
} simulation_counts;

static inline void simulation_series(const simulation *it, uint64_t *state, double *series)
{
    double value = draw_normal(state);
    for (size_t i = 0; i < it->samples; i++) {
        series[i] = value;
        value = it->correlation * value +
                sqrt(1 - it->correlation * it->correlation) * draw_normal(state);
    }
}

/* One comparison; the verdict. Exits when memory is short. */
static inline assay_verdict simulation_judge(const simulation *it, uint64_t *state)
{
    static double sides[2][SIMULATION_SAMPLES_MAX], shared[SIMULATION_SAMPLES_MAX];
    static uint32_t rounds[SIMULATION_SAMPLES_MAX];
    double noise = it->paired ? it->noise / sqrt(2) : it->noise;
    simulation_series(it, state, sides[0]);
    simulation_series(it, state, sides[1]);
    if (it->paired)
        simulation_series(it, state, shared);
    for (size_t i = 0; i < it->samples; i++) {
        double common = it->paired ? 1 + fmax(-0.9, 4 * it->noise * shared[i]) : 1;
        rounds[i] = (uint32_t)i;
        sides[0][i] = 1e-3 * common * fmax(0.01, 1 + noise * sides[0][i]);
        sides[1][i] = 1e-3 * common * fmax(0.01, 1 + noise * sides[1][i]) * (1 + it->slowdown);
    }
    assay_record *record = NULL;
    assay_record_subject subjects[2];
    assay_record_comparison comparison;
    for (int i = 0; i < 2; i++) {
        assay_record_subject_init(&subjects[i]);
        subjects[i].name = i == 0 ? "baseline" : "candidate";
        subjects[i].samples_seconds = sides[i];
        subjects[i].sample_count = it->samples;
        subjects[i].rounds = it->paired ? rounds : NULL;
    }
    if (assay_record_new(&record) != ASSAY_OK ||
        assay_subjects_compare(record, &subjects[0], &subjects[1], NULL, &comparison) != ASSAY_OK)
        exit(1);
    assay_record_free(record);
    return comparison.verdict;
}

static inline simulation_counts simulation_run(const simulation *it, size_t replications,
                                               uint64_t seed)
{
    simulation_counts counts = {0};
    uint64_t state = seed;
    for (size_t i = 0; i < replications; i++)
        switch (simulation_judge(it, &state)) {
        case ASSAY_VERDICT_FASTER:
            counts.faster++;
            break;
        case ASSAY_VERDICT_SLOWER:
            counts.slower++;
            break;
        case ASSAY_VERDICT_SAME:
            counts.same++;
            break;
        case ASSAY_VERDICT_INCONCLUSIVE:
            counts.inconclusive++;
            break;
        }
    return counts;
}

#endif
