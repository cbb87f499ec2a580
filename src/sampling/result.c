/* Turns raw samples into the subjects of a record. Figures that were not measured stay missing. An
 * interval needs at least two samples. */
#include <math.h>
#include <string.h>

#include "assay/record_build.h"
#include "record/metric.h"
#include "sampling/figures.h"
#include "sampling/sampler.h"

static const char *const words[] = {
    [ASSAY_SAMPLING_PRECISION] = "precision", [ASSAY_SAMPLING_BUDGET] = "budget",
    [ASSAY_SAMPLING_NOISE] = "noise",         [ASSAY_SAMPLING_COUNT] = "count",
    [ASSAY_SAMPLING_VERDICT] = "verdict",     [ASSAY_SAMPLING_INTERRUPTED] = "interrupted"};

static assay_status describe(const assay_subject *from, assay_record *record,
                             assay_record_subject *to)
{
    to->name = assay_record_text(record, from->name);
    to->source = "assay";
    if (to->name == NULL)
        return ASSAY_E_MEMORY;
    if (from->command_count > 0) {
        const char **command = assay_record_allocate(record, from->command_count, sizeof *command);
        if (command == NULL)
            return ASSAY_E_MEMORY;
        for (size_t i = 0; i < from->command_count; i++)
            if ((command[i] = assay_record_text(record, from->command[i])) == NULL)
                return ASSAY_E_MEMORY;
        to->command = command;
        to->command_count = from->command_count;
    }
    for (size_t i = 0; i < from->parameter_count; i++) {
        assay_status status = assay_record_add_parameter(record, to, from->parameters[i].key,
                                                         from->parameters[i].value);
        if (status != ASSAY_OK)
            return status;
    }
    return ASSAY_OK;
}

/* Count all samples of a subject, and copy those that count into the record. */
static assay_status fill_samples(const assay__sampler *sampler, const assay__judgement *judgement,
                                 size_t index, assay_record *record, assay_record_subject *to,
                                 unsigned *throttle)
{
    double *samples = assay_record_allocate(record, sampler->rounds, sizeof *samples);
    uint32_t *rounds = assay_record_allocate(record, sampler->rounds, sizeof *rounds);
    if (samples == NULL || rounds == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < sampler->rounds; i++) {
        const assay__shot *shot = &sampler->shots[i * sampler->count + index];
        to->failed_runs += shot->failed;
        if (i < judgement->warmup_rounds) {
            to->warmup_samples++;
            continue;
        }
        to->disturbed_samples += shot->disturbed || shot->throttle != 0;
        to->throttled_samples += shot->throttle != 0;
        *throttle |= shot->throttle;
        if (!assay__sampler_counts(sampler, judgement, i)) {
            to->rejected_samples += !shot->lost;
            continue;
        }
        if (sampler->options.sample != NULL)
            sampler->options.sample(sampler->options.sample_context, to->name, shot->seconds);
        samples[to->sample_count] = shot->seconds;
        rounds[to->sample_count++] = (uint32_t)i;
    }
    to->samples_seconds = samples;
    to->rounds = sampler->count > 1 ? rounds : NULL;
    to->iterations = sampler->iterations[index];
    to->failures_timed = sampler->subjects[index].time_failures;
    return ASSAY_OK;
}

static double processor_seconds(const assay__shot *shot)
{
    return shot->cpu_seconds;
}

static double waited(const assay__shot *shot)
{
    return shot->waited_seconds;
}

static double disturbed(const assay__shot *shot)
{
    return assay__shot_disturbed(shot);
}

static double peak_bytes(const assay__shot *shot)
{
    return shot->peak_rss_bytes;
}

static double yardstick(const assay__shot *shot)
{
    return shot->yardstick_seconds;
}

/* Add a measure of the samples that count, if it is known for each of them. */
static assay_status add_measure(const assay__sampler *sampler, const assay__judgement *judgement,
                                size_t index, const char *metric,
                                double (*value_of)(const assay__shot *), assay_record *record,
                                assay_record_subject *to)
{
    double *samples = assay_record_allocate(record, to->sample_count, sizeof *samples);
    size_t count = 0;
    if (samples == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < sampler->rounds; i++) {
        const assay__shot *shot = &sampler->shots[i * sampler->count + index];
        if (assay__sampler_counts(sampler, judgement, i) && !isnan(value_of(shot)))
            samples[count++] = value_of(shot);
    }
    if (count > 0 && count == to->sample_count)
        to->measures[to->measure_count++] =
            (assay_record_measure){.metric = metric, .samples = samples, .sample_count = count};
    return ASSAY_OK;
}

/* Whether any sample that counts is disturbed. If none is, the record needs no such measure. */
static bool any_disturbed(const assay__sampler *sampler, const assay__judgement *judgement)
{
    for (size_t i = 0; i < sampler->rounds; i++)
        for (size_t k = 0; assay__sampler_counts(sampler, judgement, i) && k < sampler->count; k++)
            if (disturbed(&sampler->shots[i * sampler->count + k]) != 0)
                return true;
    return false;
}

static assay_status fill_measures(const assay__sampler *sampler, const assay__judgement *judgement,
                                  size_t index, assay_record *record, assay_record_subject *to)
{
    static const struct {
        const char *metric;
        double (*value_of)(const assay__shot *);
    } all[] = {{ASSAY__METRIC_CPU, processor_seconds},
               {ASSAY__METRIC_PEAK_RSS, peak_bytes},
               {ASSAY__METRIC_ENERGY, assay__shot_joules},
               {ASSAY__METRIC_YARDSTICK, yardstick},
               {ASSAY__METRIC_WAITED, waited},
               {ASSAY__METRIC_DISTURBED, disturbed}};
    size_t count = sizeof all / sizeof *all - !any_disturbed(sampler, judgement);
    assay_status status = ASSAY_OK;
    to->measures = assay_record_allocate(record, count, sizeof *to->measures);
    if (to->measures == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < count && status == ASSAY_OK; i++)
        status = add_measure(sampler, judgement, index, all[i].metric, all[i].value_of, record, to);
    return status;
}

static assay_status fill_looks(const assay__judgement *judgement, assay_record *record,
                               assay_record_subject *to)
{
    size_t count = judgement->look_count;
    double *pairs = assay_record_allocate(record, count, sizeof *pairs);
    double *spent = assay_record_allocate(record, count, sizeof *spent);
    if (pairs == NULL || spent == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        pairs[i] = judgement->looks[i].seen;
        spent[i] = judgement->looks[i].spent;
    }
    to->look_pairs = pairs;
    to->look_spent = spent;
    to->look_count = count;
    return ASSAY_OK;
}

/* Compute the mean user and system time and the highest memory peak of the samples that count. The
 * kernel counts user and system time in steps that are longer than some samples, but the mean of
 * many samples is right. */
static void fill_usage(const assay__sampler *sampler, const assay__judgement *judgement,
                       size_t index, assay_record_subject *to)
{
    double user = 0, sys = 0, peak = 0;
    for (size_t i = 0; i < sampler->rounds; i++) {
        const assay__shot *shot = &sampler->shots[i * sampler->count + index];
        if (!assay__sampler_counts(sampler, judgement, i))
            continue;
        user += shot->user_seconds;
        sys += shot->sys_seconds;
        peak = shot->peak_rss_bytes > peak || isnan(shot->peak_rss_bytes) ? shot->peak_rss_bytes
                                                                          : peak;
    }
    double count = (double)to->sample_count;
    if (to->sample_count == 0)
        return;
    if (!isnan(user))
        to->user_seconds = assay_reading_of(user / count);
    if (!isnan(sys))
        to->sys_seconds = assay_reading_of(sys / count);
    if (!isnan(peak))
        to->peak_rss_bytes = assay_reading_of(peak);
}

/* Compute the mean energy of the samples that count. A sample that is shorter than the period of a
 * counter has bounds only. But together the samples have a mean, if their total time is longer than
 * the period. */
static void fill_energy(const assay__sampler *sampler, const assay__judgement *judgement,
                        size_t index, assay_record_subject *to)
{
    double joules = 0, low = 0, high = 0, seconds = 0;
    if (sampler->options.meter == NULL || to->sample_count == 0)
        return;
    for (size_t i = 0; i < sampler->rounds; i++) {
        const assay__shot *shot = &sampler->shots[i * sampler->count + index];
        if (!assay__sampler_counts(sampler, judgement, i))
            continue;
        joules += shot->joules;
        low += shot->joules_low;
        high += shot->joules_high;
        seconds += (double)(shot->end_ns - shot->begin_ns) * 1e-9;
    }
    const double count = (double)to->sample_count;
    const bool counted = !isnan(low),
               enough = seconds >= assay__meter_least_window(sampler->options.meter);
    const assay_reading none =
        assay_reading_missing(counted ? ASSAY_NOT_ENOUGH_DATA : ASSAY_UNSUPPORTED);
    to->energy_joules = enough && !isnan(joules) ? assay_reading_of(joules / count) : none;
    to->energy_joules_low = counted ? assay_reading_of(low / count) : none;
    to->energy_joules_high = isfinite(high) ? assay_reading_of(high / count) : none;
}

assay_status assay__sampler_record(const assay__sampler *sampler, const assay__judgement *judgement,
                                   assay_record *record)
{
    record->kind = "bench";
    if (sampler->options.meter != NULL) {
        const assay_status noted = assay_record_add_machine(
            record, "energy_of", assay_meter_covers(sampler->options.meter), ASSAY_VALID);
        if (noted != ASSAY_OK)
            return noted;
    }
    for (size_t i = 0; i < sampler->count; i++) {
        assay_record_subject subject;
        assay_record_subject_init(&subject);
        unsigned throttle = 0;
        subject.stopped = words[judgement->end];
        assay_status status = describe(&sampler->subjects[i], record, &subject);
        if (status == ASSAY_OK)
            status = fill_samples(sampler, judgement, i, record, &subject, &throttle);
        if (status == ASSAY_OK)
            status = fill_measures(sampler, judgement, i, record, &subject);
        if (status == ASSAY_OK)
            status = fill_looks(judgement, record, &subject);
        if (status == ASSAY_OK)
            status = assay__subject_fill_time(&subject);
        if (status != ASSAY_OK)
            return status;
        fill_usage(sampler, judgement, i, &subject);
        fill_energy(sampler, judgement, i, &subject);
        if (throttle != 0)
            subject.throttle = assay_device_throttle_text(throttle);
        status = assay_record_add_subject(record, &subject);
        if (status != ASSAY_OK)
            return status;
    }
    return ASSAY_OK;
}
