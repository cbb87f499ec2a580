/* The sampling loop. It takes rounds until a look finds that there are enough.
 *
 * All decisions are made between rounds and from whole rounds, so that all subjects have the same
 * number of samples. The record is made once, at the end, from the raw samples. */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/struct_size.h"
#include "record/metric.h"
#include "sampling/sampler.h"
#include "stats/rule.h"

static const double default_budget_seconds = 5.0;
static const double default_precision = 0.01;

static const double default_min_sample_seconds = 200e-6;
static const double default_progress_seconds = 0.1;
static const double clock_factor = 1000.0; /* least sample / cost or resolution of the clock */
static const double counter_periods = 5;   /* least sample / period of the energy counter */
static const double max_budget_seconds = 1e7;
static const size_t least_interrupted = 2; /* rounds that an interval needs */

static assay_status check_subject(const assay_subject *subjects, size_t index, assay_error *error)
{
    const assay_subject *subject = &subjects[index];
    if (subject->name == NULL || subject->name[0] == '\0')
        return assay__fail(error, ASSAY_E_ARGUMENT, "subject %zu has no name", index + 1);
    if ((subject->run == NULL) == (subject->measure == NULL))
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "subject '%s' needs one of run and measure, not both", subject->name);
    if (subject->measure != NULL &&
        (subject->set_up_iteration != NULL || subject->tear_down_iteration != NULL))
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "subject '%s' keeps its own time; set up its iterations there",
                           subject->name);
    for (size_t i = 0; i < index; i++)
        if (strcmp(subjects[i].name, subject->name) == 0)
            return assay__fail(error, ASSAY_E_ARGUMENT,
                               "two subjects are named '%s'; their names must differ",
                               subject->name);
    return ASSAY_OK;
}

/* Copy the subjects. They are spaced by the size that the first subject reports. */
static assay_status take_subjects(const assay_subject *given, assay__sampler *sampler)
{
    sampler->subjects = calloc(sampler->count, sizeof *sampler->subjects);
    if (sampler->subjects == NULL)
        return assay__fail(sampler->error, ASSAY_E_MEMORY, "out of memory for %zu subjects",
                           sampler->count);
    const char *at = (const char *)given;
    for (size_t i = 0; i < sampler->count; i++, at += given->struct_size) {
        char what[48];
        snprintf(what, sizeof what, "subject %zu (assay_subject)", i + 1);
        assay_status status =
            assay__struct_take(&sampler->subjects[i], sizeof *given, at, what, sampler->error);
        if (status == ASSAY_OK && memcmp(at, given, sizeof given->struct_size) != 0)
            status = assay__fail(sampler->error, ASSAY_E_ARGUMENT,
                                 "%s: struct_size differs from that of the first", what);
        if (status == ASSAY_OK)
            status = check_subject(sampler->subjects, i, sampler->error);
        if (status != ASSAY_OK)
            return status;
    }
    return ASSAY_OK;
}

static bool is_share(double value)
{
    return isfinite(value) && value >= 0 && value <= 1;
}

static assay_status check_options(const assay_sampling_options *options, assay_error *error)
{
    if (!(options->budget_seconds >= 0 && options->budget_seconds <= max_budget_seconds))
        return assay__fail(error, ASSAY_E_ARGUMENT, "a budget of %g seconds makes no sense",
                           options->budget_seconds);
    if (!is_share(options->precision) || !is_share(options->margin))
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "precision %g and margin %g must lie between 0 and 1",
                           options->precision, options->margin);
    if (!(options->min_sample_seconds >= 0 && options->min_sample_seconds <= max_budget_seconds))
        return assay__fail(error, ASSAY_E_ARGUMENT, "samples of %g seconds make no sense",
                           options->min_sample_seconds);
    if (options->min_rounds > ASSAY_SAMPLING_MAX_ROUNDS ||
        (options->max_rounds > 0 && options->max_rounds < options->min_rounds))
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "at least %zu and at most %zu rounds cannot both be had",
                           options->min_rounds, options->max_rounds);
    if (options->runs > ASSAY_SAMPLING_MAX_ROUNDS / 2 ||
        options->warmup > ASSAY_SAMPLING_MAX_ROUNDS / 2)
        return assay__fail(error, ASSAY_E_ARGUMENT, "at most %d runs are possible, not %zu",
                           ASSAY_SAMPLING_MAX_ROUNDS / 2,
                           options->runs > options->warmup ? options->runs : options->warmup);
    if (options->meter != NULL && !assay__meter_runs(options->meter))
        return assay__fail(error, ASSAY_E_STATE, "the meter's thread is in the parent process");
    if (options->pin && (options->cpu < 0 || options->cpu >= CPU_SETSIZE))
        return assay__fail(error, ASSAY_E_ARGUMENT, "there is no processor %d", options->cpu);
    return ASSAY_OK;
}

static void use_default(double *value, double standard)
{
    if (*value == 0)
        *value = standard;
}

/* Translate a fixed number of single calls into options of the loop. */
static void fix_runs(assay_sampling_options *options)
{
    options->fixed_rounds = options->fixed_warmup = true;
    options->warmup_rounds = options->warmup;
    options->min_rounds = options->max_rounds = options->runs + options->warmup;
    options->budget_seconds = max_budget_seconds;
}

static void fill_defaults(assay__sampler *sampler)
{
    assay_sampling_options *options = &sampler->options;
    use_default(&options->budget_seconds, default_budget_seconds);
    use_default(&options->margin, ASSAY__RULE_MARGIN);
    if (sampler->count == 1)
        use_default(&options->precision, default_precision);
    use_default(&options->min_sample_seconds, default_min_sample_seconds);
    use_default(&options->progress_seconds, default_progress_seconds);
    if (options->runs > 0)
        fix_runs(options);
    if (options->max_rounds == 0 || options->max_rounds > ASSAY_SAMPLING_MAX_ROUNDS)
        options->max_rounds = ASSAY_SAMPLING_MAX_ROUNDS;
    if (options->min_rounds == 0)
        options->min_rounds = options->max_rounds < 2 ? options->max_rounds : 2;
    sampler->simulated = options->clock != NULL;
    sampler->clock = options->clock != NULL ? options->clock : assay_clock_default();
}

static assay_status take_options(const assay_sampling_options *given, assay__sampler *sampler)
{
    assay_sampling_options *options = &sampler->options;
    assay_status status = assay__struct_take(options, sizeof *options, given,
                                             "assay_sampling_options", sampler->error);
    if (status == ASSAY_OK)
        status = check_options(options, sampler->error);
    if (status == ASSAY_OK)
        fill_defaults(sampler);
    return status;
}

static bool is_about_energy(const assay__sampler *sampler)
{
    const assay_sampling_options *options = &sampler->options;
    return options->meter != NULL && options->metric != NULL &&
           strcmp(options->metric, ASSAY__METRIC_ENERGY) == 0;
}

/* Choose the least length of a sample. In a shorter one, the cost of the clock or the steps of an
 * energy counter would matter. */
static assay_status choose_target(assay__sampler *sampler)
{
    assay_clock_info info = {.struct_size = sizeof info};
    assay_status status = assay_clock_describe(sampler->clock, &info);
    if (status != ASSAY_OK)
        return status;
    double floor_ns = 0;
    if (!sampler->simulated && info.cost_ns.validity == ASSAY_VALID)
        floor_ns = info.cost_ns.value;
    if (!sampler->simulated && info.resolution_ns.validity == ASSAY_VALID)
        floor_ns = fmax(floor_ns, info.resolution_ns.value);
    sampler->target_seconds =
        fmax(sampler->options.min_sample_seconds, clock_factor * floor_ns * 1e-9);
    if (is_about_energy(sampler)) {
        const double least = assay__meter_learn(sampler->options.meter);
        if (isfinite(least)) /* otherwise a counter stands still, and no sample has a figure */
            sampler->target_seconds = fmax(sampler->target_seconds, counter_periods * least);
    }
    return ASSAY_OK;
}

static assay_status prepare(assay__sampler *sampler)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    sampler->processors = processors > 0 ? (double)processors : 1.0;
    assay__sampler_watch_thread(sampler);
    sampler->iterations = calloc(sampler->count, sizeof *sampler->iterations);
    sampler->turn = calloc(sampler->count, sizeof *sampler->turn);
    assay_status status = assay__order_init(&sampler->order, sampler->count, sampler->options.seed);
    if (status == ASSAY_OK && (sampler->iterations == NULL || sampler->turn == NULL))
        status = ASSAY_E_MEMORY;
    return status == ASSAY_OK ? choose_target(sampler) : status;
}

static void release(assay__sampler *sampler)
{
    assay__sampler_forget_thread(sampler);
    assay__order_release(&sampler->order);
    free(sampler->iterations);
    free(sampler->turn);
    free(sampler->subjects);
    free(sampler->shots);
}

static void tell_progress(assay__sampler *sampler, size_t subject)
{
    assay_sampling_options *options = &sampler->options;
    if (options->progress == NULL)
        return;
    double elapsed = assay__sampler_elapsed(sampler);
    if (elapsed < sampler->progress_due_seconds)
        return;
    sampler->progress_due_seconds = elapsed + options->progress_seconds;
    sampler->progress.elapsed_seconds = elapsed;
    sampler->progress.rounds = sampler->rounds;
    sampler->progress.subject = subject;
    options->progress(options->progress_context, &sampler->progress);
}

assay_status assay__sampler_shoot_turn(assay__sampler *sampler, assay__shot *shots)
{
    for (size_t i = 0; i < sampler->count; i++) {
        size_t subject = sampler->turn[i];
        tell_progress(sampler, subject);
        assay_status status = assay__sampler_shoot(sampler, subject, &shots[subject]);
        if (status != ASSAY_OK)
            return status;
    }
    return ASSAY_OK;
}

static assay_status shoot_round(assay__sampler *sampler, assay__shot *shots)
{
    assay__order_next(&sampler->order, sampler->turn);
    return assay__sampler_shoot_turn(sampler, shots);
}

/* Take one more round, or a group of rounds in a new process. */
static assay_status advance(assay__sampler *sampler)
{
    size_t rounds = sampler->options.fresh_rounds > 0 ? sampler->options.fresh_rounds : 1;
    size_t left = sampler->options.max_rounds - sampler->rounds;
    rounds = rounds < left ? rounds : left;
    if (!assay__grow(&sampler->shots, &sampler->capacity, sampler->rounds + rounds,
                     sampler->count * sizeof *sampler->shots))
        return ASSAY_E_MEMORY;
    assay__shot *shots = sampler->shots + sampler->rounds * sampler->count;
    assay_status status = sampler->options.fresh_rounds > 0
                              ? assay__sampler_shoot_fresh(sampler, rounds, shots)
                              : shoot_round(sampler, shots);
    if (status != ASSAY_OK)
        return status;
    sampler->rounds += rounds;
    assay__sampler_check_steal(sampler);
    assay__sampler_meter(sampler, false);
    return ASSAY_OK;
}

static void update_progress(assay__sampler *sampler, const assay__judgement *judgement)
{
    assay_sampling_progress *progress = &sampler->progress;
    const assay_sampling_options *options = &sampler->options;
    double rate = assay__sampler_elapsed(sampler) / (double)sampler->rounds;
    double needed = (double)options->max_rounds;
    if (!options->fixed_rounds)
        needed = fmin(needed, (double)judgement->needed_rounds);
    progress->expected_seconds =
        fmax(fmin(options->budget_seconds, rate * needed), rate * (double)options->min_rounds);
    progress->estimate = judgement->estimate;
    progress->low = judgement->low;
    progress->high = judgement->high;
    progress->relative_width = judgement->relative_width;
}

/* Judging takes as long as several short samples, and no sample is taken meanwhile. So after a
 * look, the next one comes only after twenty times as long as the look took. */
static const double rests_after_look = 20;

static bool is_look_due(const assay__sampler *sampler, const assay__judgement *judgement,
                        double rest_until)
{
    const assay_sampling_options *options = &sampler->options;
    if (options->runs > 0)
        return sampler->rounds >= options->max_rounds;
    double elapsed = assay__sampler_elapsed(sampler);
    bool over = elapsed >= options->budget_seconds && sampler->rounds >= options->min_rounds;
    return over || sampler->rounds >= options->max_rounds ||
           (sampler->rounds >= judgement->next_look && elapsed >= rest_until);
}

/* Take one more round. If a subject ends the run meanwhile, the earlier rounds are the result. The
 * person who ends a run may have watched its progress. So the end counts as one more look, whatever
 * the options say. */
static assay_status advance_or_end(assay__sampler *sampler)
{
    assay_status status = advance(sampler);
    if (status != ASSAY_E_INTERRUPTED || sampler->rounds == 0)
        return status;
    sampler->error->status = ASSAY_OK;
    sampler->interrupted = true;
    return ASSAY_OK;
}

static assay_status take_rounds(assay__sampler *sampler, assay__judgement *judgement)
{
    double rest_until = 0;
    *judgement = (assay__judgement){.next_look = 1};
    while (judgement->end == ASSAY_SAMPLING_GOING) {
        assay_status status = advance_or_end(sampler);
        if (status != ASSAY_OK)
            return status;
        if (!sampler->interrupted && !is_look_due(sampler, judgement, rest_until))
            continue;
        assay__sampler_meter(sampler, true);
        double before = assay__sampler_elapsed(sampler);
        status = assay__sampler_judge(sampler, judgement);
        if (status != ASSAY_OK)
            return status;
        double after = assay__sampler_elapsed(sampler);
        rest_until = after + rests_after_look * (after - before);
        update_progress(sampler, judgement);
    }
    if (sampler->interrupted && judgement->kept < least_interrupted)
        return assay__fail(sampler->error, ASSAY_E_INTERRUPTED,
                           "ended after %zu rounds that count, and at least %zu are needed",
                           judgement->kept, least_interrupted);
    return ASSAY_OK;
}

static assay_status pin_to(int cpu, cpu_set_t *before, assay_error *error)
{
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET((size_t)cpu, &only);
    if (sched_getaffinity(0, sizeof *before, before) != 0 ||
        sched_setaffinity(0, sizeof only, &only) != 0)
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "cannot run on processor %d: it does not exist or is not allowed", cpu);
    return ASSAY_OK;
}

static assay_status sample_all(assay__sampler *sampler, assay_record *record)
{
    assay__judgement judgement;
    cpu_set_t before;
    assay_status status = prepare(sampler);
    if (status == ASSAY_OK && sampler->options.pin)
        status = pin_to(sampler->options.cpu, &before, sampler->error);
    if (status != ASSAY_OK)
        return status;
    sampler->start_seconds = assay_clock_seconds(sampler->clock);
    sampler->progress =
        (assay_sampling_progress){.struct_size = sizeof sampler->progress,
                                  .expected_seconds = sampler->options.budget_seconds,
                                  .estimate = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA),
                                  .low = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA),
                                  .high = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA)};
    status = assay__sampler_calibrate(sampler);
    assay__sampler_check_steal(sampler);
    if (status == ASSAY_OK)
        status = take_rounds(sampler, &judgement);
    if (sampler->options.pin)
        (void)sched_setaffinity(0, sizeof before, &before);
    return status == ASSAY_OK ? assay__sampler_record(sampler, &judgement, record) : status;
}

assay_status assay_sampling_run(const assay_subject *subjects, size_t count,
                                const assay_sampling_options *options, assay_error *error,
                                assay_record **record)
{
    if (record == NULL)
        return assay__fail(error, ASSAY_E_ARGUMENT, "no place to put the record");
    *record = NULL;
    if (subjects == NULL || count == 0 || count > ASSAY_SAMPLING_MAX_SUBJECTS)
        return assay__fail(error, ASSAY_E_ARGUMENT, "between 1 and %d subjects are needed, not %zu",
                           ASSAY_SAMPLING_MAX_SUBJECTS, subjects == NULL ? 0 : count);
    assay_error own = {0};
    assay__sampler sampler = {
        .count = count, .error = error != NULL ? error : &own, .schedstat = -1};
    assay_record *fresh = NULL;
    sampler.error->status = ASSAY_OK;
    assay_status status = take_options(options, &sampler);
    if (status == ASSAY_OK)
        status = take_subjects(subjects, &sampler);
    if (status == ASSAY_OK)
        status = assay_record_new(&fresh);
    if (status == ASSAY_OK)
        status = sample_all(&sampler, fresh);
    release(&sampler);
    if (status != ASSAY_OK) {
        assay_record_free(fresh);
        if (sampler.error->status == ASSAY_OK)
            assay__fail(sampler.error, status, "cannot sample: %s", assay_status_message(status));
        return status;
    }
    *record = fresh;
    return ASSAY_OK;
}
