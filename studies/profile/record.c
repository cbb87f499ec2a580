/* A profile as a run record: what was timed becomes subjects, so that two profiles can be compared,
 * kept and exported like any other measurement. */
#include <string.h>

#include "assay/record_build.h"
#include "studies/profile/profile.h"

static void take_timing(assay_record_subject *subject, const assay_timing *timing)
{
    subject->mean_seconds = assay_reading_of(timing->mean_seconds);
    subject->low_seconds = timing->low_seconds;
    subject->high_seconds = timing->high_seconds;
    subject->std_seconds = timing->std_seconds;
    subject->min_seconds = assay_reading_of(timing->min_seconds);
    subject->max_seconds = assay_reading_of(timing->max_seconds);
    subject->median_seconds = timing->p50_seconds;
}

static assay_status take_samples(assay_record *record, assay_record_subject *subject,
                                 const double *seconds, size_t count)
{
    double *copy = assay_record_allocate(record, count, sizeof *copy);
    if (copy == NULL)
        return ASSAY_E_MEMORY;
    memcpy(copy, seconds, count * sizeof *copy);
    subject->samples_seconds = copy;
    subject->sample_count = count;
    subject->iterations = 1;
    return ASSAY_OK;
}

static assay_status add_settings(const assay__profile *profile, assay_record *record,
                                 assay_record_subject *subject)
{
    const double *settings = assay_model_settings(profile->plan.model);
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < profile->class_->option_count && status == ASSAY_OK; i++) {
        const assay_model_option *option = &profile->class_->options[i];
        char number[32];
        snprintf(number, sizeof number, "%.15g", settings[i]);
        status = assay_record_add_parameter(
            record, subject, option->name,
            option->words != NULL ? option->words[(size_t)settings[i]] : number);
    }
    return status;
}

/* Backward is a difference of two times and may come out below zero; then only its figures are
 * kept. */
static bool all_positive(const assay__pass *pass)
{
    for (size_t i = 0; i < pass->count; i++)
        if (!(pass->seconds[i] > 0))
            return false;
    return true;
}

static assay_status add_pass(const assay__profile *profile, int index, assay_record *record)
{
    const assay__pass *pass = &profile->passes[index];
    if (pass->timing.count == 0)
        return ASSAY_OK;
    char name[160];
    snprintf(name, sizeof name, "%s %s", profile->class_->name, assay__pass_name(index));
    assay_record_subject subject;
    assay_record_subject_init(&subject);
    subject.name = assay_record_text(record, name);
    subject.source = "assay";
    subject.stopped = "count";
    take_timing(&subject, &pass->timing);
    assay_status status =
        subject.name != NULL ? add_settings(profile, record, &subject) : ASSAY_E_MEMORY;
    if (status == ASSAY_OK && all_positive(pass))
        status = take_samples(record, &subject, pass->seconds, pass->count);
    return status == ASSAY_OK ? assay_record_add_subject(record, &subject) : status;
}

static assay_status add_timing(const assay__profile *profile, int64_t steps,
                               const assay_timing *timing, assay_record *record)
{
    char name[160], number[32];
    snprintf(name, sizeof name, "%s forecast %lld", profile->class_->name, (long long)steps);
    snprintf(number, sizeof number, "%lld", (long long)steps);
    assay_record_subject subject;
    assay_record_subject_init(&subject);
    subject.name = assay_record_text(record, name);
    subject.source = "assay";
    subject.stopped = "count";
    take_timing(&subject, timing);
    assay_status status = subject.name != NULL
                              ? assay_record_add_parameter(record, &subject, "steps", number)
                              : ASSAY_E_MEMORY;
    return status == ASSAY_OK ? assay_record_add_subject(record, &subject) : status;
}

/* A subject of another record, its texts and arrays copied. */
static assay_status copy_subject(const assay_record_subject *from, assay_record *record)
{
    assay_record_subject to = *from;
    to.name = assay_record_text(record, from->name);
    to.source = "assay";
    to.origin = NULL;
    to.command = NULL;
    to.command_count = 0;
    to.parameters = NULL;
    to.parameter_count = 0;
    to.rounds = NULL;
    to.stopped = from->stopped != NULL ? assay_record_text(record, from->stopped) : NULL;
    assay_status status = to.name != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    for (size_t i = 0; i < from->parameter_count && status == ASSAY_OK; i++)
        status = assay_record_add_parameter(record, &to, from->parameters[i].key,
                                            from->parameters[i].value);
    if (status == ASSAY_OK && from->sample_count > 0) {
        status = take_samples(record, &to, from->samples_seconds, from->sample_count);
        to.iterations = from->iterations;
    }
    return status == ASSAY_OK ? assay_record_add_subject(record, &to) : status;
}

static assay_status add_axis(const assay__axis_result *axis, assay_record *record)
{
    const assay_record *from = axis->scaling != NULL ? axis->scaling->record : axis->encodings;
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < from->subject_count && status == ASSAY_OK; i++)
        status = copy_subject(&from->subjects[i], record);
    return status;
}

assay_status assay__profile_fill_record(const assay__profile *profile, assay_record *record)
{
    record->kind = "profile";
    record->name = assay_record_text(record, profile->class_->name);
    assay_status status = record->name != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    for (int i = 0; i < ASSAY__PASSES && status == ASSAY_OK; i++)
        status = add_pass(profile, i, record);
    if (status == ASSAY_OK && profile->has_forecast) {
        status = add_timing(profile, 1, &profile->forecast.inference_single_step, record);
        if (status == ASSAY_OK)
            status = add_timing(profile, profile->forecast_steps,
                                &profile->forecast.inference_full_trajectory, record);
    }
    for (size_t i = 0; i < profile->axis_count && status == ASSAY_OK; i++)
        status = add_axis(&profile->axes[i], record);
    return status;
}
