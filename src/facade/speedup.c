/* Speed-ups between timers. Single timings give plain ratios. Repeated timings become the subjects
 * of a small record, so that compare.h judges them by the same rule as benchmarks. */
#include <math.h>
#include <string.h>

#include "assay/compare.h"
#include "assay/record.h"
#include "assay/record_build.h"
#include "assay/timers.h"
#include "base/error.h"
#include "base/text.h"
#include "facade/timers.h"

/* The index of the named entry, of the slowest entry if the name is NULL, or `count` if there is
 * none. */
static size_t find_baseline(const assay_timers *timers, const char *baseline, size_t count)
{
    size_t found = count;
    double slowest = -1.0;
    if (baseline != NULL)
        return assay__timers_find(timers, baseline);
    for (size_t i = 0; i < count; i++) {
        assay_timer timer = assay_timers_at(timers, i);
        if (timer.time.validity == ASSAY_VALID && timer.time.value > slowest) {
            slowest = timer.time.value;
            found = i;
        }
    }
    return found;
}

static assay_reading divide(double dividend, assay_reading divisor)
{
    double ratio = dividend / divisor.value;
    if (divisor.validity != ASSAY_VALID || !isfinite(ratio))
        return assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    return assay_reading_of(ratio);
}

assay_status assay_speedup_ratios(const assay_timers *timers, const char *baseline,
                                  assay_error *error, assay_speedup *ratios, size_t *baseline_index)
{
    size_t count = assay_timers_count(timers);
    size_t at = find_baseline(timers, baseline, count);
    if (at == count && baseline != NULL)
        return assay__fail(error, ASSAY_E_NOT_FOUND,
                           "no timer is called '%s'; name one of the timers as baseline", baseline);
    if (at == count)
        return assay__fail(error, ASSAY_E_DATA, "no timer has a time yet; measure something first");
    assay_timer base = assay_timers_at(timers, at);
    if (base.time.validity != ASSAY_VALID)
        return assay__fail(error, ASSAY_E_DATA,
                           "the baseline '%s' has no time yet; choose a finished one", base.name);
    for (size_t i = 0; i < count; i++) {
        assay_timer timer = assay_timers_at(timers, i);
        ratios[i] = (assay_speedup){.name = timer.name, .time = timer.time};
        ratios[i].ratio = i == at ? assay_reading_of(1.0) : divide(base.time.value, timer.time);
    }
    if (baseline_index != NULL)
        *baseline_index = at;
    return ASSAY_OK;
}

assay_status assay_timers_best(const assay_timers *timers, size_t *index)
{
    size_t count = assay_timers_count(timers), best = count;
    double fastest = INFINITY;
    for (size_t i = 0; i < count; i++) {
        assay_timer timer = assay_timers_at(timers, i);
        if (timer.time.validity == ASSAY_VALID && timer.time.value < fastest) {
            fastest = timer.time.value;
            best = i;
        }
    }
    if (best == count)
        return ASSAY_E_DATA;
    *index = best;
    return ASSAY_OK;
}

static assay_record_subject subject_of(const char *name, const double *seconds, size_t count,
                                       const uint32_t *rounds)
{
    assay_record_subject subject;
    assay_record_subject_init(&subject);
    subject.name = name;
    subject.samples_seconds = seconds;
    subject.sample_count = count;
    subject.rounds = rounds;
    return subject;
}

static assay_reading inverse(assay_reading ratio)
{
    if (ratio.validity != ASSAY_VALID)
        return ratio;
    return ratio.value > 0.0 ? assay_reading_of(1.0 / ratio.value)
                             : assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
}

assay_status assay_speedup_compare(const double *baseline_seconds, size_t baseline_count,
                                   const double *candidate_seconds, size_t candidate_count,
                                   bool alternating, assay_speedup_verdict *verdict)
{
    if (alternating && baseline_count != candidate_count)
        return ASSAY_E_ARGUMENT;
    assay_record *record = NULL;
    uint32_t *rounds = NULL;
    assay_record_comparison found;
    assay_status status = assay_record_new(&record);
    if (status == ASSAY_OK && alternating) {
        rounds = assay_record_allocate(record, baseline_count + 1, sizeof *rounds);
        status = rounds != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    }
    for (size_t i = 0; rounds != NULL && i < baseline_count; i++)
        rounds[i] = (uint32_t)i;
    if (status == ASSAY_OK) {
        const assay_record_subject baseline =
            subject_of("baseline", baseline_seconds, baseline_count, rounds);
        const assay_record_subject candidate =
            subject_of("candidate", candidate_seconds, candidate_count, rounds);
        status = assay_subjects_compare(record, &baseline, &candidate, NULL, &found);
    }
    if (status == ASSAY_OK) {
        *verdict = (assay_speedup_verdict){.ratio = inverse(found.ratio),
                                           .low = inverse(found.high),
                                           .high = inverse(found.low),
                                           .verdict = found.verdict};
        if (found.reason != NULL)
            assay__text_copy_name(verdict->reason, sizeof verdict->reason, found.reason,
                                  strlen(found.reason));
    }
    assay_record_free(record);
    return status;
}
