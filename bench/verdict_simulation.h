/* Simulated benchmarks whose truth is known, judged by assay: how often is the verdict wrong, how
 * often is there one, and how many samples does it take?
 *
 * Times are 1 ms × exp(size × noise). The noise of a machine belongs to slots of time. Subjects
 * that take turns meet it in the order in which they run. Series that were measured one after the
 * other each have noise of their own. bench/verdicts.c uses this header in full,
 * tests/accuracy/test_verdicts.c in a short form. */
#ifndef ASSAY_BENCH_VERDICT_SIMULATION_H
#define ASSAY_BENCH_VERDICT_SIMULATION_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/clock.h"
#include "assay/compare.h"
#include "assay/record.h"
#include "assay/record_build.h"
#include "assay/sampling.h"
#include "bench/draw.h"

typedef enum noise_kind {
    NOISE_INDEPENDENT,
    NOISE_AR3, /* autoregressions of order 1: neighbours correlate by 0.3, 0.5, 0.8 */
    NOISE_AR5,
    NOISE_AR8,
    NOISE_BIMODAL, /* 30 % of the samples two standard deviations later, in noise of 0.3 */
    NOISE_STICKY,  /* two levels 1.9 apart, in noise of 0.3; a sample changes it with p = 0.1 */
    NOISE_T3,      /* Student's t with 3 degrees of freedom */
    NOISE_SPIKES,  /* noise of 0.6, and 5 % of the samples up to 6 later */
    NOISE_MIXTURE, /* 70 % of the variance white, 30 % an AR(1) of 0.9 */
    NOISE_KINDS
} noise_kind;

static const char *const noise_names[NOISE_KINDS] = {"independent", "AR 0.3",  "AR 0.5",
                                                     "AR 0.8",      "bimodal", "sticky levels",
                                                     "t, 3 d.f.",   "spikes",  "white + AR 0.9"};

/* A source of noise with a standard deviation of about 1, one value at a time. */
typedef struct noise {
    noise_kind kind;
    uint64_t seed;
    double state; /* of an autoregression; or the level, 0 or 1 */
} noise;

static inline noise noise_begin(noise_kind kind, uint64_t seed)
{
    noise it = {kind, seed, 0};
    it.state = kind == NOISE_STICKY ? draw_uniform(&it.seed) < 0.5 : draw_normal(&it.seed);
    return it;
}

static inline double noise_correlation(noise_kind kind)
{
    static const double rho[NOISE_KINDS] = {
        [NOISE_AR3] = 0.3, [NOISE_AR5] = 0.5, [NOISE_AR8] = 0.8, [NOISE_MIXTURE] = 0.9};
    return rho[kind];
}

static inline double noise_next(noise *it)
{
    uint64_t *seed = &it->seed;
    double rho = noise_correlation(it->kind), value = it->state, chi_square = 0;
    switch (it->kind) {
    case NOISE_BIMODAL:
        return (draw_uniform(seed) < 0.3 ? 1.4 : -0.6) + 0.3 * draw_normal(seed);
    case NOISE_STICKY:
        it->state = draw_uniform(seed) < 0.1 ? 1 - value : value;
        return (value > 0.5 ? 0.95 : -0.95) + 0.3 * draw_normal(seed);
    case NOISE_T3:
        for (int i = 0; i < 3; i++)
            chi_square += pow(draw_normal(seed), 2);
        return draw_normal(seed) / sqrt(chi_square / 3) / sqrt(3);
    case NOISE_SPIKES:
        value = 0.6 * draw_normal(seed);
        return draw_uniform(seed) < 0.05 ? value + 6 * draw_uniform(seed) : value;
    default:
        it->state = rho * value + sqrt(1 - rho * rho) * draw_normal(seed);
        return it->kind == NOISE_MIXTURE ? sqrt(0.3) * value + sqrt(0.7) * draw_normal(seed)
                                         : value;
    }
}

typedef enum simulated_order {
    IN_SERIES,     /* one after the other */
    TAKING_TURNS,  /* in random order */
    INPUT_BY_INPUT /* one after the other; each sample has an input, the same on both sides */
} simulated_order;

typedef struct simulation {
    noise_kind kind;
    size_t samples;  /* of each side; 0 for as many as the verdict needs, if they take turns */
    double size;     /* of the noise: 0.05 is 5 % */
    double slowdown; /* of the candidate: 0.02 is 2 % */
    simulated_order order;
    size_t budget; /* largest number of pairs, with 0 samples */
} simulation;

typedef struct simulation_counts {
    size_t verdicts[4]; /* indexed by assay_verdict */
    double pairs;       /* on average */
} simulation_counts;

/* One comparison, judged. */
typedef struct simulated_outcome {
    assay_verdict verdict;
    double pairs;
    double more; /* number of further pairs that the reason names, or 0 */
} simulated_outcome;

/* ---- taking turns, by the sampler itself ---- */

typedef struct simulated_world {
    uint64_t now_ns;
    noise slots;
    double size;
} simulated_world;

typedef struct simulated_subject {
    simulated_world *world;
    double seconds;
} simulated_subject;

static inline uint64_t simulated_now(void *context)
{
    return ((simulated_world *)context)->now_ns;
}

static inline assay_status simulated_measure(void *context, uint64_t iterations,
                                             assay_sample *sample)
{
    simulated_subject *self = context;
    (void)iterations;
    sample->seconds = self->seconds * exp(self->world->size * noise_next(&self->world->slots));
    self->world->now_ns += 1000000; /* each run takes the same share of the budget */
    return ASSAY_OK;
}

static inline double simulated_forecast(const char *reason)
{
    const char *number = reason != NULL ? strstr(reason, ": about ") : NULL;
    double more = 0;
    return number != NULL && sscanf(number, ": about %lf more pair", &more) == 1 ? more : 0;
}

static inline simulated_outcome simulate_turns(const simulation *it, uint64_t *seed)
{
    simulated_world world = {1, noise_begin(it->kind, *seed += 7919), it->size};
    simulated_subject sides[2] = {{&world, 1e-3}, {&world, 1e-3 * (1 + it->slowdown)}};
    assay_subject subjects[2] = {ASSAY_SUBJECT_INIT, ASSAY_SUBJECT_INIT};
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    assay_clock *clock = NULL;
    assay_record *record = NULL;
    for (int i = 0; i < 2; i++) {
        subjects[i].name = i == 0 ? "baseline" : "candidate";
        subjects[i].measure = simulated_measure;
        subjects[i].context = &sides[i];
        subjects[i].max_iterations = 1;
    }
    if (assay_clock_new_injected(simulated_now, &world, &clock) != ASSAY_OK)
        exit(1);
    options.clock = clock;
    options.seed = *seed;
    options.fixed_warmup = true;
    options.budget_seconds = 2e-3 * (double)(it->samples > 0 ? 2 * it->samples : it->budget);
    options.max_rounds = it->samples;
    options.fixed_rounds = it->samples > 0;
    if (assay_sampling_run(subjects, 2, &options, NULL, &record) != ASSAY_OK ||
        assay_record_compare(record, NULL) != ASSAY_OK)
        exit(1);
    const assay_record_comparison *comparison = &record->comparisons[0];
    simulated_outcome outcome = {comparison->verdict, (double)comparison->pairs,
                                 simulated_forecast(comparison->reason)};
    assay_record_free(record);
    assay_clock_free(clock);
    return outcome;
}

/* ---- one after the other ---- */

/* The times of the baseline, followed by those of the candidate. Caller frees. The logarithms of
 * the times that inputs take have a standard deviation of 1. */
static inline double *simulated_times(const simulation *it, uint64_t *seed)
{
    double *times = calloc(2 * it->samples, sizeof *times);
    if (times == NULL)
        exit(1);
    for (size_t i = 0; i < 2; i++) {
        noise source = noise_begin(it->kind, *seed += 7919);
        for (size_t k = 0; k < it->samples; k++)
            times[i * it->samples + k] =
                1e-3 * (i == 1 ? 1 + it->slowdown : 1) * exp(it->size * noise_next(&source));
    }
    for (size_t k = 0; it->order == INPUT_BY_INPUT && k < it->samples; k++) {
        double size = exp(draw_normal(seed));
        times[k] *= size;
        times[it->samples + k] *= size;
    }
    return times;
}

/* `inputs` is that of the subjects. */
static inline assay_verdict judge_series(double *times, size_t samples, const char *inputs)
{
    assay_record *record = NULL;
    assay_record_subject subjects[2];
    assay_record_comparison comparison;
    if (assay_record_new(&record) != ASSAY_OK)
        exit(1);
    for (size_t i = 0; i < 2; i++) {
        assay_record_subject_init(&subjects[i]);
        subjects[i].name = i == 0 ? "baseline" : "candidate";
        subjects[i].samples_seconds = times + i * samples;
        subjects[i].sample_count = samples;
        subjects[i].inputs = inputs;
    }
    if (assay_subjects_compare(record, &subjects[0], &subjects[1], NULL, &comparison) != ASSAY_OK)
        exit(1);
    assay_record_free(record);
    return comparison.verdict;
}

static inline simulated_outcome simulate_series(const simulation *it, uint64_t *seed)
{
    double *times = simulated_times(it, seed);
    const char *inputs = it->order == INPUT_BY_INPUT ? "sizes" : NULL;
    simulated_outcome outcome = {judge_series(times, it->samples, inputs), (double)it->samples, 0};
    free(times);
    return outcome;
}

/* ---- one run against several ---- */

enum { SIMULATED_RUNS_MOST = 20 };

static inline assay_record *simulated_run(double seconds)
{
    assay_record *record = NULL;
    assay_record_subject subject;
    if (assay_record_new(&record) != ASSAY_OK)
        exit(1);
    double *sample = assay_record_allocate(record, 1, sizeof *sample);
    if (sample == NULL)
        exit(1);
    *sample = seconds;
    record->kind = "bench";
    assay_record_subject_init(&subject);
    subject.name = "program";
    subject.samples_seconds = sample;
    subject.sample_count = 1;
    if (assay_record_add_subject(record, &subject) != ASSAY_OK)
        exit(1);
    return record;
}

/* The verdict on one run that is slower by `slowdown`, compared with `runs` others, at most
 * SIMULATED_RUNS_MOST. Each run has noise of its own, of this size. */
static inline assay_verdict simulate_one_run(noise_kind kind, size_t runs, double size,
                                             double slowdown, uint64_t *seed)
{
    assay_record *records[SIMULATED_RUNS_MOST + 1], *result = NULL;
    for (size_t i = 0; i <= runs; i++) {
        noise source = noise_begin(kind, *seed += 7919);
        records[i] =
            simulated_run((i == runs ? 1 + slowdown : 1) * exp(size * noise_next(&source)));
    }
    const assay_compare_side sides[] = {
        {sizeof *sides, "before", (const assay_record *const *)records, runs},
        {sizeof *sides, "after", (const assay_record *const *)&records[runs], 1}};
    if (assay_records_compare(sides, 2, NULL, NULL, &result) != ASSAY_OK)
        exit(1);
    assay_verdict verdict = result->comparisons[0].verdict;
    assay_record_free(result);
    for (size_t i = 0; i <= runs; i++)
        assay_record_free(records[i]);
    return verdict;
}

/* ---- many ---- */

/* Runs many simulations and counts their verdicts. Exits when out of memory. */
static inline simulation_counts simulation_run(const simulation *it, size_t replications,
                                               uint64_t seed)
{
    simulation_counts counts = {0};
    for (size_t i = 0; i < replications; i++) {
        simulated_outcome outcome =
            it->order == TAKING_TURNS ? simulate_turns(it, &seed) : simulate_series(it, &seed);
        counts.verdicts[outcome.verdict]++;
        counts.pairs += outcome.pairs / (double)replications;
    }
    return counts;
}

static inline double simulation_share(const simulation_counts *counts, assay_verdict verdict)
{
    size_t all = 0;
    for (int i = 0; i < 4; i++)
        all += counts->verdicts[i];
    return (double)counts->verdicts[verdict] / (double)all;
}

#endif
