/* The state of one sampling run, shared by the files of this folder. */
#ifndef ASSAY_SAMPLING_SAMPLER_H
#define ASSAY_SAMPLING_SAMPLER_H

#include <math.h>

#include "assay/sampling.h"
#include "instrument/meter.h"
#include "sampling/order.h"
#include "stats/looks.h"

/* One sample. */
typedef struct assay__shot {
    double seconds;                         /* of one iteration */
    double user_seconds, sys_seconds;       /* of one iteration; NAN if not known */
    double cpu_seconds;                     /* processor time, known for shorter samples, too */
    double waited_seconds;                  /* time ready to run without a processor, or NAN */
    double peak_rss_bytes;                  /* NAN if not known */
    double yardstick_seconds;               /* of the yardstick beside it; NAN if not timed */
    uint64_t begin_ns, end_ns;              /* on the meter's clock; 0 without a meter */
    double joules, joules_low, joules_high; /* of one iteration; NAN if not known */
    bool too_short;    /* too short for the energy counters: only the bounds are valid */
    unsigned throttle; /* why a GPU was throttled meanwhile: a sum of assay_device_throttle */
    bool disturbed, failed;
    bool lost;   /* it failed, and its time is not used */
    bool stolen; /* the hypervisor took time: a disturbance of the round, not of the subject */
} assay__shot;

/* The energy of a sample; NAN if it is not known, or if only its bounds are known. */
static inline double assay__shot_joules(const assay__shot *shot)
{
    return shot->too_short ? (double)NAN : shot->joules;
}

/* Whether a sample was disturbed, by any cause. */
static inline bool assay__shot_disturbed(const assay__shot *shot)
{
    return shot->disturbed || shot->stolen || shot->throttle != 0;
}

typedef struct assay__sampler {
    assay_subject *subjects; /* copies of the caller's */
    size_t count;
    assay_sampling_options options; /* defaults filled in */
    const assay_clock *clock;
    int schedstat;         /* descriptor for assay__account_take(), or -1 */
    bool simulated;        /* a test controls the clock, so the kernel's figures mean nothing */
    double start_seconds;  /* when the budget began, on the clock */
    double target_seconds; /* of one sample */
    uint64_t *iterations;  /* of one sample, for each subject */
    assay__order order;
    uint32_t *turn;     /* the round under way, in the order of running */
    assay__shot *shots; /* [round * count + subject] */
    size_t rounds, capacity;
    bool interrupted; /* a subject ended the run: the next look is the last */
    double progress_due_seconds;
    assay_sampling_progress progress;
    double steal_seconds, steal_checked_seconds; /* stolen time, and when it was last checked */
    size_t steal_from;                           /* first round since then */
    bool steal_known;
    double processors;
    size_t metered_rounds; /* rounds for which the figures of the meter are entered */
    assay_error *error;
} assay__sampler;

/* sample.c: seconds since the budget began. */
double assay__sampler_elapsed(const assay__sampler *sampler);
/* Open and close the descriptor `schedstat` for the calling thread. */
void assay__sampler_watch_thread(assay__sampler *sampler);
void assay__sampler_forget_thread(assay__sampler *sampler);
/* Choose how many iterations make a sample of each subject. */
ASSAY_MUST_USE assay_status assay__sampler_calibrate(assay__sampler *sampler);
/* Take one sample of one subject. */
ASSAY_MUST_USE assay_status assay__sampler_shoot(assay__sampler *sampler, size_t subject,
                                                 assay__shot *shot);
/* Mark the samples during which the hypervisor took time. Call this after `rounds` was
 * increased. */
void assay__sampler_check_steal(assay__sampler *sampler);

/* metered.c: enter the figures of the meter into the samples so far. Samples that ended recently
 * are left for a later call, unless `all` is set; then the call waits for the meter. */
void assay__sampler_meter(assay__sampler *sampler, bool all);

/* fresh.c: take `rounds` rounds in a new process, into shots[0 … rounds * count). */
ASSAY_MUST_USE assay_status assay__sampler_shoot_fresh(assay__sampler *sampler, size_t rounds,
                                                       assay__shot *shots);

/* run.c: take one round into shots[0 … count), in the order of `turn`. */
ASSAY_MUST_USE assay_status assay__sampler_shoot_turn(assay__sampler *sampler, assay__shot *shots);

/* judge.c: the rounds that count, and whether there are enough. */
typedef struct assay__judgement {
    assay_sampling_end end;
    bool steady;          /* false: no steady state was found; nothing is left out as warm-up */
    size_t warmup_rounds; /* left out at the beginning */
    bool rejecting;       /* disturbed rounds are left out */
    size_t kept;          /* rounds that count */
    bool precise;         /* one subject: the interval is narrow enough */
    bool hopeless;        /* one subject: it would not be narrow enough after many budgets */
    bool decided;         /* several subjects: every comparison has its verdict */
    assay__look looks[ASSAY__LOOKS_MAX]; /* several subjects: the looks so far */
    size_t look_count;
    assay__looks beyond, same;     /* the state of the risks of the two kinds of verdict */
    double beyond_risk, same_risk; /* at the last look */
    double first_progress;         /* share of the budget that was spent at the first look */
    size_t next_samples, needed_samples;
    size_t next_look;     /* total number of rounds at which to judge again */
    size_t needed_rounds; /* estimated total number of rounds */
    assay_reading estimate, low, high;
    double relative_width;
} assay__judgement;

ASSAY_MUST_USE assay_status assay__sampler_judge(const assay__sampler *sampler,
                                                 assay__judgement *judgement);

/* decide.c: whether the samples of several subjects give a verdict for every comparison with the
 * first. */
ASSAY_MUST_USE assay_status assay__sampler_decide(const assay__sampler *sampler,
                                                  assay__judgement *judgement);

/* Whether this round counts. */
bool assay__sampler_counts(const assay__sampler *sampler, const assay__judgement *judgement,
                           size_t round);

/* result.c: add the subjects with their samples to a record. */
ASSAY_MUST_USE assay_status assay__sampler_record(const assay__sampler *sampler,
                                                  const assay__judgement *judgement,
                                                  assay_record *record);

#endif
