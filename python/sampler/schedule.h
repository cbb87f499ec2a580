/* When to look at a script, and how much time each look stands for. It reads no clock, so that
 * tests can try it on programs that are made up.
 *
 *     schedule_start(&s, 0, true, seed);
 *     schedule_resume(&s, now_ns);
 *     for (;;) {
 *         sleep until schedule_next(&s, now_ns, &last);
 *         weight_ns = schedule_cover(&s, s.end_ns);
 *         whatever runs now is charged with weight_ns
 *     }
 */
#ifndef ASSAY_PYTHON_SAMPLER_SCHEDULE_H
#define ASSAY_PYTHON_SAMPLER_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct schedule {
    double asked_ns;     /* between looks; 0: as many as are needed */
    double duty;         /* the most that looks may take, of one processor */
    double length_ns;    /* of the present stratum */
    double cost_ns;      /* of a look, smoothed */
    uint64_t end_ns;     /* of the present stratum */
    uint64_t covered_ns; /* looks stand for the time up to here */
    uint64_t random;
} schedule;

/* What the last look found. */
typedef struct schedule_look {
    double busy_ns; /* processor time of the script so far */
    double cost_ns; /* processor time of the look, with the waking */
    bool is_idle;   /* no thread had used the processor */
} schedule_look;

/* A rate of 0 is adaptive: 1000 looks a second at first, 100 after 25 s of processor time, and
 * fewer where a look costs much. `has_processor`: there are others than the one that the script
 * runs on. */
void schedule_start(schedule *s, double rate_hz, bool has_processor, uint64_t seed);

/* Strata begin anew at this time: nothing before it is covered by the looks to come. */
void schedule_resume(schedule *s, uint64_t now_ns);

/* Begin the next stratum, and return the time to look at. */
uint64_t schedule_next(schedule *s, uint64_t now_ns, const schedule_look *last);

/* The time that a look stands for: from where the last one ended to `end_ns`, which is the end of
 * the stratum, or the present time for a look that was not planned. */
double schedule_cover(schedule *s, uint64_t end_ns);

/* Uniform in [0, 1). */
double schedule_random(schedule *s);

#endif
