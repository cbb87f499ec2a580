/* Stratified sampling in time (Cochran, Sampling Techniques, chapter 5). Time is divided into
 * consecutive strata, and one sample is taken at a random time in each. The length of a stratum is
 * chosen before its sample is taken. So a sample stands for the whole stratum without bias,
 * whatever the earlier samples found. A program that repeats itself cannot run in step with the
 * samples. The variance is at most that of independent samples, and much smaller if functions run
 * for longer than a stratum.
 *
 * If no rate is asked for, strata grow with the processor time of the script. A share p that is
 * estimated over a time T from strata of length d(t) has at most the variance
 *
 *     p (1 - p) / T^2 * integral of d(t) dt.
 *
 * With d = growth * t that is p (1 - p) * growth / 2, however long the script runs: a standard
 * error of at most 0.7 percentage points. So a short script gets the samples that it needs, and a
 * long script has the low cost of few samples. */
#include "python/sampler/schedule.h"

static const double first_ns = 1e6, last_ns = 1e7; /* 1000 to 100 samples per second */
static const double growth = 4e-4;
static const double idle_growth = 1.125;  /* factor for the stratum after an idle one */
static const double smoothing = 1.0 / 16; /* of the cost of a sample */

/* The largest share of one processor that samples may take. If the samples run on another processor
 * than the script, they hardly slow it down, so the share may be larger. */
static const double duty_beside = 0.03, duty_on_the_same = 0.01;
static const double duty_asked = 0.10; /* if a rate is asked for */

/* The generator xorshift64*. */
double schedule_random(schedule *s)
{
    s->random ^= s->random >> 12;
    s->random ^= s->random << 25;
    s->random ^= s->random >> 27;
    return (double)(s->random * UINT64_C(0x2545F4914F6CDD1D) >> 11) * 0x1p-53;
}

void schedule_start(schedule *s, double rate_hz, bool has_processor, uint64_t seed)
{
    *s = (schedule){.asked_ns = rate_hz > 0 ? 1e9 / rate_hz : 0,
                    .duty = rate_hz > 0     ? duty_asked
                            : has_processor ? duty_beside
                                            : duty_on_the_same,
                    .random = seed | 1};
}

void schedule_resume(schedule *s, uint64_t now_ns)
{
    s->covered_ns = s->end_ns = now_ns;
}

static double length_of(schedule *s, const schedule_sample *last)
{
    double length_ns = s->asked_ns > 0 ? s->asked_ns : growth * last->busy_ns;
    if (s->asked_ns <= 0) {
        double idle_ns = last->is_idle ? idle_growth * s->length_ns : 0;
        length_ns = length_ns > idle_ns ? length_ns : idle_ns;
        length_ns = length_ns < first_ns ? first_ns : length_ns > last_ns ? last_ns : length_ns;
    }
    s->cost_ns += s->cost_ns > 0 ? smoothing * (last->cost_ns - s->cost_ns) : last->cost_ns;
    return length_ns > s->cost_ns / s->duty ? length_ns : s->cost_ns / s->duty;
}

uint64_t schedule_next(schedule *s, uint64_t now_ns, const schedule_sample *last)
{
    uint64_t begin_ns = s->end_ns;
    s->length_ns = length_of(s, last);
    if (now_ns > begin_ns + (uint64_t)s->length_ns) /* we are late by more than a stratum */
        begin_ns = now_ns;
    s->end_ns = begin_ns + (uint64_t)s->length_ns;
    uint64_t due_ns = begin_ns + (uint64_t)(schedule_random(s) * s->length_ns);
    return due_ns > now_ns ? due_ns : now_ns;
}

double schedule_cover(schedule *s, uint64_t end_ns)
{
    double weight_ns = end_ns > s->covered_ns ? (double)(end_ns - s->covered_ns) : 0;
    s->covered_ns = end_ns > s->covered_ns ? end_ns : s->covered_ns;
    return weight_ns;
}
