/* The state of one sampling run, shared by the files of this folder. */
#ifndef ASSAY_SAMPLING_SAMPLER_H
#define ASSAY_SAMPLING_SAMPLER_H

#include <math.h>

#include "assay/sampling.h"
#include "instrument/meter.h"
#include "sampling/order.h"
#include "stats/looks.h"

/* One sample as it is kept. */
typedef struct assay__shot {
    double seconds;                         /* of one iteration */
    double user_seconds, sys_seconds;       /* of one iteration; NAN when not known */
    double cpu_seconds;                     /* their sum, known for shorter samples too */
    double waited_seconds;                  /* for a processor, ready to run; NAN when not known */
    double peak_rss_bytes;                  /* NAN when not known */
    double yardstick_seconds;               /* beside it; NAN when not asked for */
    uint64_t begin_ns, end_ns;              /* on the meter's clock; 0 without a meter */
    double joules, joules_low, joules_high; /* of one iteration; NAN when not known */
    bool too_short;    /* for the counters of energy: only the bounds mean something */
    unsigned throttle; /* why a GPU was slower meanwhile: a sum of assay_device_throttle */
    bool disturbed, failed;
    bool lost;   /* failed, and its time is not wanted */
    bool stolen; /* the hypervisor was elsewhere: a disturbance of the round, not of the subject */
} assay__shot;

/* NAN: not known, or only its bounds are. */
static inline double assay__shot_joules(const assay__shot *shot)
{
    return shot->too_short ? (double)NAN : shot->joules;
}

/* By whatever it was. */
static inline bool assay__shot_disturbed(const assay__shot *shot)
{
    return shot->disturbed || shot->stolen || shot->throttle != 0;
}

typedef struct assay__sampler {
    assay_subject *subjects; /* copies of the caller's */
    size_t count;
    assay_sampling_options options; /* defaults filled in */
    const assay_clock *clock;
    int schedstat;         /* descriptor: how long this thread waited for a processor; or -1 */
    bool simulated;        /* the clock is a test's: the kernel's figures mean nothing */
    double start_seconds;  /* of the budget, on the clock */
    double target_seconds; /* of one sample */
    uint64_t *iterations;  /* of one sample, for each subject */
    assay__order order;
    uint32_t *turn;     /* the round under way, in the order of running */
    assay__shot *shots; /* [round * count + subject] */
    size_t rounds, capacity;
    bool interrupted; /* a subject ended the run: the next look is the last */
    double progress_due_seconds;
    assay_sampling_progress progress;
    double steal_seconds, steal_checked_seconds; /* at the last look at stolen time */
    size_t steal_from;                           /* first round not yet looked at */
    bool steal_known;
    double processors;
    size_t metered_rounds; /* of which the meter has told all */
    assay_error *error;
} assay__sampler;

/* sample.c */
double assay__sampler_elapsed(const assay__sampler *sampler);
/* Open and close what the kernel says about the calling thread. */
void assay__sampler_watch_thread(assay__sampler *sampler);
void assay__sampler_forget_thread(assay__sampler *sampler);
/* Choose how many iterations make a sample of each subject. */
ASSAY_MUST_USE assay_status assay__sampler_calibrate(assay__sampler *sampler);
/* Take one sample of one subject. */
ASSAY_MUST_USE assay_status assay__sampler_shoot(assay__sampler *sampler, size_t subject,
                                                 assay__shot *shot);
/* Mark what ran while the hypervisor was elsewhere; after `rounds` were counted up. */
void assay__sampler_check_steal(assay__sampler *sampler);

/* metered.c: enter what the meter says about the samples so far. Those that ended lately are left
 * for later, unless `all` of them are wanted: then this waits for the meter. */
void assay__sampler_meter(assay__sampler *sampler, bool all);

/* fresh.c: `rounds` rounds in a process of their own, into shots[0 … rounds * count). */
ASSAY_MUST_USE assay_status assay__sampler_shoot_fresh(assay__sampler *sampler, size_t rounds,
                                                       assay__shot *shots);

/* One round into shots[0 … count), in the order of `turn`. */
ASSAY_MUST_USE assay_status assay__sampler_shoot_turn(assay__sampler *sampler, assay__shot *shots);

/* judge.c: which rounds count, and whether there are enough. */
typedef struct assay__judgement {
    assay_sampling_end end;
    bool steady;          /* false: no steady state was found; nothing is left out as warm-up */
    size_t warmup_rounds; /* left out at the beginning */
    bool rejecting;       /* disturbed rounds are left out */
    size_t kept;          /* rounds that count */
    bool precise;         /* one subject: the interval is narrow enough */
    bool hopeless;        /* it would not be after many budgets */
    bool decided;         /* several: every comparison has its answer */
    assay__look looks[ASSAY__LOOKS_MAX]; /* several: so far */
    size_t look_count;
    assay__looks beyond, same;     /* where they leave the risks of the two kinds of verdict */
    double beyond_risk, same_risk; /* at the last look */
    double first_progress;         /* share of the budget that was gone at the first look */
    size_t next_samples, needed_samples;
    size_t next_look;     /* rounds in all at which to judge again */
    size_t needed_rounds; /* guessed, in all */
    assay_reading estimate, low, high;
    double relative_width;
} assay__judgement;

ASSAY_MUST_USE assay_status assay__sampler_judge(const assay__sampler *sampler,
                                                 assay__judgement *judgement);

/* decide.c: do the samples of several subjects answer every comparison with the first? */
ASSAY_MUST_USE assay_status assay__sampler_decide(const assay__sampler *sampler,
                                                  assay__judgement *judgement);

/* Does this round count? */
bool assay__sampler_counts(const assay__sampler *sampler, const assay__judgement *judgement,
                           size_t round);

/* result.c: the record. */
ASSAY_MUST_USE assay_status assay__sampler_record(const assay__sampler *sampler,
                                                  const assay__judgement *judgement,
                                                  assay_record *record);

#endif
