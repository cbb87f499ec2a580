/* Decides when to sample a script, and how much time each sample stands for. The code reads no
 * clock, so that tests can run it with simulated programs.
 *
 *     schedule_start(&s, 0, true, seed);
 *     schedule_resume(&s, now_ns);
 *     for (;;) {
 *         sleep until schedule_next(&s, now_ns, &last);
 *         weight_ns = schedule_cover(&s, s.end_ns);
 *         charge every thread that runs now with weight_ns
 *     }
 */
#ifndef ASSAY_PYTHON_SAMPLER_SCHEDULE_H
#define ASSAY_PYTHON_SAMPLER_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct schedule {
    double asked_ns;     /* the asked time between samples; 0 for an adaptive rate */
    double duty;         /* the largest share of one processor that samples may take */
    double length_ns;    /* of the present stratum */
    double cost_ns;      /* of a sample, smoothed */
    uint64_t end_ns;     /* of the present stratum */
    uint64_t covered_ns; /* samples so far stand for the time up to here */
    uint64_t random;     /* the state of the random numbers */
} schedule;

/* The findings of the last sample. */
typedef struct schedule_sample {
    double busy_ns; /* processor time of the script so far */
    double cost_ns; /* processor time of the sample, with the waking of its thread */
    bool is_idle;   /* no thread had used the processor since the sample before */
} schedule_sample;

/* Begin a schedule. A rate of 0 is adaptive: 1000 samples per second at first, 100 after 25 s of
 * processor time, and fewer if a sample costs much. `has_processor` says that the sampling thread
 * can run on another processor than the script. */
void schedule_start(schedule *s, double rate_hz, bool has_processor, uint64_t seed);

/* Begin the strata anew at this time. Later samples do not stand for any time before it. */
void schedule_resume(schedule *s, uint64_t now_ns);

/* Begin the next stratum. Returns the time at which its sample is due. */
uint64_t schedule_next(schedule *s, uint64_t now_ns, const schedule_sample *last);

/* The time that a sample stands for: from the end of the time that the sample before covered to
 * `end_ns`. That is the end of the stratum, or the present time for a sample that was not planned.
 */
double schedule_cover(schedule *s, uint64_t end_ns);

/* A random number, uniform in [0, 1). */
double schedule_random(schedule *s);

#endif
