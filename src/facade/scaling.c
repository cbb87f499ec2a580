/* assay_scaling_run(): measures a subject at several sizes and fits the growth of its time. It
 * makes several passes over the sizes, each in random order. In each pass, each size is made,
 * sampled and destroyed.
 *
 * The sizes are not interleaved in one sampling, because then all instances would have to exist at
 * the same time, and the largest one decides whether they fit into memory. There are several
 * passes, because samples of one sampling agree better with each other than with samples of another
 * minute or another allocation. A fit that took the spread within one sampling for the whole noise
 * would see structure where there is none. */
#include "assay/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/record_build.h"
#include "assay/sampling.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "base/struct_size.h"
#include "record/append.h"
#include "sampling/figures.h"

typedef struct bench {
    const assay_scaling_subject *subject;
    assay_scaling_options options;
    const double *sizes;
    size_t count, total;  /* `count` sizes, `total` measurements */
    assay_record **parts; /* one record a measurement, at [pass * count + index] */
    double *fit_sizes, *fit_seconds;
    size_t *order;
    assay_error *error;
} bench;

/* The context that assay_sampling_run() passes to the callbacks below. */
typedef struct turn {
    const assay_scaling_subject *subject;
    void *instance;
    double size;
} turn;

static assay_status check(const assay_scaling_subject *subject, const double *sizes, size_t count,
                          const assay_scaling_options *options, assay_error *error)
{
    if (subject == NULL)
        return assay__fail(error, ASSAY_E_ARGUMENT, "no subject to scale");
    assay_status status = assay__struct_check(subject, subject->struct_size, sizeof *subject,
                                              "assay_scaling_subject", error);
    if (status != ASSAY_OK)
        return status;
    if (subject->run == NULL || subject->name == NULL)
        return assay__fail(error, ASSAY_E_ARGUMENT, "a scaling subject needs a name and run");
    if (options->passes > ASSAY_SCALING_MAX_PASSES)
        return assay__fail(error, ASSAY_E_ARGUMENT, "%zu passes; at most %d", options->passes,
                           ASSAY_SCALING_MAX_PASSES);
    if (sizes == NULL || count == 0 || count > ASSAY_SCALING_MAX_SIZES)
        return assay__fail(error, ASSAY_E_ARGUMENT, "%zu sizes; give 1 to %d", count,
                           ASSAY_SCALING_MAX_SIZES);
    for (size_t i = 0; i < count; i++) {
        if (!(sizes[i] > 0 && isfinite(sizes[i])))
            return assay__fail(error, ASSAY_E_ARGUMENT,
                               "size %zu is %g; sizes must be finite and above 0", i, sizes[i]);
        for (size_t j = 0; j < i; j++)
            if (sizes[i] == sizes[j])
                return assay__fail(error, ASSAY_E_ARGUMENT,
                                   "size %g is given twice; passes repeat it", sizes[i]);
    }
    return ASSAY_OK;
}

static assay_status bench_init(bench *self)
{
    if (self->options.passes == 0)
        self->options.passes = 3;
    if (self->options.budget_seconds == 0)
        self->options.budget_seconds = 10;
    if (self->options.precision == 0)
        self->options.precision = 0.02;
    self->total = self->count * self->options.passes;
    self->parts = calloc(self->total, sizeof *self->parts);
    self->fit_sizes = calloc(self->total, sizeof *self->fit_sizes);
    self->fit_seconds = calloc(self->total, sizeof *self->fit_seconds);
    self->order = calloc(self->count, sizeof *self->order);
    if (self->parts == NULL || self->fit_sizes == NULL || self->fit_seconds == NULL ||
        self->order == NULL)
        return assay__fail(self->error, ASSAY_E_MEMORY, "out of memory for a scaling run");
    return ASSAY_OK;
}

static void bench_release(bench *self)
{
    for (size_t i = 0; self->parts != NULL && i < self->total; i++)
        assay_record_free(self->parts[i]);
    free(self->parts);
    free(self->fit_sizes);
    free(self->fit_seconds);
    free(self->order);
}

static assay_status run_turn(void *context, uint64_t iterations)
{
    turn *self = context;
    return self->subject->run(self->subject->context, self->instance, self->size, iterations);
}

static void shuffle(size_t *order, size_t count, assay__random *random)
{
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    assay__random_shuffle(random, order, count, sizeof *order);
}

static assay_status sample(bench *self, turn *now, size_t part)
{
    assay_subject subject = ASSAY_SUBJECT_INIT;
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.yardstick = true;
    subject.name = self->subject->name;
    subject.run = run_turn;
    subject.context = now;
    options.budget_seconds = self->options.budget_seconds / (double)self->total;
    options.precision = self->options.precision;
    options.max_rounds = self->options.max_rounds;
    options.clock = self->options.clock;
    assay_status status =
        assay_sampling_run(&subject, 1, &options, self->error, &self->parts[part]);
    if (status != ASSAY_OK)
        return status;
    assay_reading median = self->parts[part]->subjects[0].median_seconds;
    if (median.validity != ASSAY_VALID || !(median.value > 0))
        return assay__fail(self->error, ASSAY_E_DATA,
                           "'%s' takes no measurable time at size %g; let it do more",
                           self->subject->name, now->size);
    self->fit_sizes[part] = now->size;
    self->fit_seconds[part] = median.value;
    return ASSAY_OK;
}

static assay_status measure_size(bench *self, size_t index, size_t part)
{
    const assay_scaling_subject *subject = self->subject;
    turn now = {.subject = subject, .size = self->sizes[index]};
    assay_status status = ASSAY_OK;
    if (subject->make != NULL) {
        status = subject->make(subject->context, now.size, &now.instance);
        if (status != ASSAY_OK)
            return assay__fail(self->error, status, "'%s' could not be made at size %g: %s",
                               subject->name, now.size, assay_status_message(status));
    }
    status = sample(self, &now, part);
    if (subject->destroy != NULL)
        subject->destroy(subject->context, now.instance);
    return status;
}

static assay_status measure(bench *self)
{
    assay__random random;
    assay__random_init(&random, self->options.seed);
    assay_status status = ASSAY_OK;
    for (size_t done = 0; status == ASSAY_OK && done < self->total; done++) {
        size_t place = done % self->count;
        if (place == 0)
            shuffle(self->order, self->count, &random);
        size_t index = self->order[place];
        if (self->options.progress != NULL)
            self->options.progress(self->options.progress_context, self->sizes[index], done,
                                   self->total);
        status = measure_size(self, index, done - place + index);
    }
    return status;
}

/* Join the other measures of this size, such as processor time, over all passes. */
static assay_status gather_measures(const bench *self, size_t index, assay_record *record,
                                    assay_record_subject *to)
{
    const assay_record_subject **parts = assay_record_allocate(record, self->total, sizeof *parts);
    size_t count = 0;
    if (parts == NULL)
        return ASSAY_E_MEMORY;
    for (size_t part = index; part < self->total; part += self->count)
        parts[count++] = &self->parts[part]->subjects[0];
    return assay__record_join_measures(record, parts, count, to);
}

/* Collect the samples of one size from all passes, in the order in which they were taken. */
static assay_status gather(const bench *self, size_t index, assay_record *record,
                           assay_record_subject *to)
{
    size_t room = 0;
    for (size_t part = index; part < self->total; part += self->count)
        room += self->parts[part]->subjects[0].sample_count;
    double *samples = assay_record_allocate(record, room, sizeof *samples);
    if (samples == NULL)
        return ASSAY_E_MEMORY;
    for (size_t part = index; part < self->total; part += self->count) {
        const assay_record_subject *from = &self->parts[part]->subjects[0];
        memcpy(samples + to->sample_count, from->samples_seconds,
               from->sample_count * sizeof *samples);
        to->sample_count += from->sample_count;
        to->warmup_samples += from->warmup_samples;
        to->rejected_samples += from->rejected_samples;
        to->disturbed_samples += from->disturbed_samples;
        to->failed_runs += from->failed_runs;
        to->failures_timed = from->failures_timed;
        to->iterations = part == index || to->iterations == from->iterations ? from->iterations : 0;
        to->stopped = from->stopped != NULL ? assay_record_text(record, from->stopped) : NULL;
    }
    to->samples_seconds = samples;
    return gather_measures(self, index, record, to);
}

static assay_status describe_size(const bench *self, size_t index, assay_scaling *result)
{
    assay_record *record = result->record;
    const char *parameter = self->subject->parameter != NULL ? self->subject->parameter : "n";
    char size[ASSAY__JSON_NUMBER_BYTES], name[512];
    assay_record_subject subject;
    assay__json_format_number(size, self->sizes[index]);
    snprintf(name, sizeof name, "%s/%s=%s", self->subject->name, parameter, size);
    assay_record_subject_init(&subject);
    subject.source = "assay";
    subject.name = assay_record_text(record, name);
    if (subject.name == NULL)
        return ASSAY_E_MEMORY;
    assay_status status = assay_record_add_parameter(record, &subject, parameter, size);
    if (status == ASSAY_OK)
        status = gather(self, index, record, &subject);
    if (status == ASSAY_OK)
        status = assay__subject_fill_time(&subject);
    if (status == ASSAY_OK)
        status = assay_timing_summarize(subject.samples_seconds, subject.sample_count,
                                        &result->runtime_stats[index]);
    return status == ASSAY_OK ? assay_record_add_subject(record, &subject) : status;
}

/* Enter the points of the fit and its result, so that the record alone can show the growth. */
static assay_status describe_growth(const bench *self, const assay_growth *growth,
                                    assay_record *record)
{
    const char *parameter = assay_record_text(
        record, self->subject->parameter != NULL ? self->subject->parameter : "n");
    double *places = assay_record_allocate(record, self->total, sizeof *places);
    double *values = assay_record_allocate(record, self->total, sizeof *values);
    assay_record_series points = {.name = "median_seconds", .of = record->name, .unit = "s"};
    assay_record_scaling scaling;
    assay_record_scaling_init(&scaling);
    if (parameter == NULL || places == NULL || values == NULL)
        return ASSAY_E_MEMORY;
    memcpy(places, self->fit_sizes, self->total * sizeof *places);
    memcpy(values, self->fit_seconds, self->total * sizeof *values);
    points.along = parameter;
    points.places = places;
    points.values = values;
    points.count = self->total;
    scaling.name = parameter;
    scaling.parameter = parameter;
    scaling.growth_class = assay_growth_class_name(growth->growth_class);
    scaling.exponent = growth->exponent;
    scaling.low = growth->low;
    scaling.high = growth->high;
    scaling.conclusive = growth->conclusive;
    assay_status status = assay_record_add_series(record, &points);
    return status == ASSAY_OK ? assay_record_add_scaling(record, &scaling) : status;
}

static assay_status conclude(const bench *self, assay_scaling *result)
{
    result->parameter_values = calloc(self->count, sizeof *result->parameter_values);
    result->runtime_stats = calloc(self->count, sizeof *result->runtime_stats);
    if (result->parameter_values == NULL || result->runtime_stats == NULL)
        return ASSAY_E_MEMORY;
    memcpy(result->parameter_values, self->sizes, self->count * sizeof *self->sizes);
    result->count = self->count;
    assay_status status = assay_record_new(&result->record);
    if (status != ASSAY_OK)
        return status;
    result->record->kind = "bench";
    result->record->name = assay_record_text(result->record, self->subject->name);
    for (size_t i = 0; status == ASSAY_OK && i < self->count; i++)
        status = describe_size(self, i, result);
    if (status == ASSAY_OK)
        status = assay_growth_fit(self->fit_sizes, self->fit_seconds, self->total, self->error,
                                  &result->growth);
    return status == ASSAY_OK ? describe_growth(self, result->growth, result->record) : status;
}

assay_status assay_scaling_run(const assay_scaling_subject *subject, const double *sizes,
                               size_t count, const assay_scaling_options *options,
                               assay_error *error, assay_scaling **scaling)
{
    if (scaling == NULL)
        return assay__fail(error, ASSAY_E_ARGUMENT, "scaling must not be NULL");
    *scaling = NULL;
    bench self = {.subject = subject, .sizes = sizes, .count = count, .error = error};
    assay_status status = assay__struct_take(&self.options, sizeof self.options, options,
                                             "assay_scaling_options", error);
    if (status == ASSAY_OK)
        status = check(subject, sizes, count, &self.options, error);
    if (status != ASSAY_OK)
        return status;
    assay_scaling *result = calloc(1, sizeof *result);
    status = bench_init(&self);
    if (status == ASSAY_OK && result != NULL)
        status = measure(&self);
    if (status == ASSAY_OK) {
        status = result != NULL ? conclude(&self, result) : ASSAY_E_MEMORY;
        if (status == ASSAY_E_MEMORY)
            (void)assay__fail(error, status, "out of memory for the result of a scaling run");
    }
    if (status == ASSAY_OK) {
        *scaling = result;
        result = NULL;
    }
    assay_scaling_free(result);
    bench_release(&self);
    return status;
}

void assay_scaling_free(assay_scaling *scaling)
{
    if (scaling == NULL)
        return;
    assay_record_free(scaling->record);
    assay_growth_free(scaling->growth);
    free(scaling->parameter_values);
    free(scaling->runtime_stats);
    free(scaling);
}
