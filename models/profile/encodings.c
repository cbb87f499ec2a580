/* Compares a model with different positional encodings. The variants are sampled in turn, so that
 * they can be compared pair by pair. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/sampling.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "models/profile/factory.h"
#include "models/profile/runs.h"

enum { NAME_BYTES = 32 };

typedef struct encoding {
    const char *name; /* static */
    const char *option;
} encoding;

static const encoding encodings[] = {{"lap", "lap-dim"}, {"rwse", "rw-steps"}, {"none", NULL}};
enum { ENCODINGS = sizeof encodings / sizeof *encodings };

static const encoding *find(const char *name)
{
    for (size_t i = 0; i < ENCODINGS; i++)
        if (strcmp(encodings[i].name, name) == 0)
            return &encodings[i];
    return NULL;
}

static assay_status configure(const assay_model_factory *factory, const assay_pe_config *config,
                              double *settings, assay_error *error)
{
    const encoding *wanted = find(config->name);
    if (wanted == NULL || config->dim < 0)
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "'%s' of width %lld is no encoding; there are lap, rwse and none",
                           config->name, (long long)config->dim);
    for (size_t i = 0; i < ENCODINGS; i++) {
        size_t index;
        if (encodings[i].option == NULL)
            continue;
        assay_status status = assay__factory_option(factory, encodings[i].option, error, &index);
        if (status != ASSAY_OK)
            return status;
        settings[index] = &encodings[i] == wanted ? (double)config->dim : 0;
    }
    return ASSAY_OK;
}

static assay_status run_instance(void *context, uint64_t iterations)
{
    assay_status status = ASSAY_OK;
    for (uint64_t i = 0; i < iterations && status == ASSAY_OK; i++)
        status = assay__factory_forward(context, NULL);
    return status;
}

typedef struct bench {
    assay__factory_model *instances[ASSAY_PE_CONFIGS_MAX];
    assay_subject subjects[ASSAY_PE_CONFIGS_MAX];
    char names[ASSAY_PE_CONFIGS_MAX][NAME_BYTES];
    assay_record_fact parameters[ASSAY_PE_CONFIGS_MAX];
} bench;

static assay_status prepare(bench *self, const assay_model_factory *factory,
                            const assay_pe_config *configs, size_t count, assay_error *error)
{
    double *settings = NULL;
    assay_status status = assay__factory_settings(factory, error, &settings);
    for (size_t i = 0; i < count && status == ASSAY_OK; i++) {
        status = configure(factory, &configs[i], settings, error);
        if (status == ASSAY_OK)
            status = assay__factory_make(factory, settings, error, &self->instances[i]);
        snprintf(self->names[i], sizeof self->names[i], "%s %lld", configs[i].name,
                 (long long)configs[i].dim);
        self->subjects[i] = (assay_subject)ASSAY_SUBJECT_INIT;
        self->subjects[i].name = self->names[i];
        self->subjects[i].run = run_instance;
        self->subjects[i].context = self->instances[i];
        self->parameters[i] = (assay_record_fact){"encoding", self->names[i], ASSAY_VALID};
        self->subjects[i].parameters = &self->parameters[i];
        self->subjects[i].parameter_count = 1;
    }
    free(settings);
    return status;
}

static assay_status sample(const bench *self, const assay_model_factory *factory, size_t count,
                           const assay_scaling_options *options, assay_error *error,
                           assay_record **record)
{
    assay_scaling_options own;
    assay_status status =
        assay__struct_take(&own, sizeof own, options, "assay_scaling_options", error);
    if (status != ASSAY_OK)
        return status;
    options = &own;
    assay_sampling_options sampling = ASSAY_SAMPLING_OPTIONS_INIT;
    sampling.yardstick = true;
    sampling.budget_seconds = options->budget_seconds > 0 ? options->budget_seconds : 10;
    sampling.precision = options->precision > 0 ? options->precision : 0.01;
    sampling.max_rounds = options->max_rounds;
    sampling.clock = options->clock;
    sampling.seed = factory->seed;
    return assay_sampling_run(self->subjects, count, &sampling, error, record);
}

assay_status assay_run_pe_scaling(const assay_model_factory *factory,
                                  const assay_pe_config *configs, size_t count,
                                  const assay_scaling_options *options, assay_error *error,
                                  assay_record **record)
{
    static const assay_pe_config usual[] = {{"lap", 16}, {"rwse", 16}, {"none", 0}};
    *record = NULL;
    if (configs == NULL) {
        configs = usual;
        count = sizeof usual / sizeof *usual;
    }
    if (count == 0 || count > ASSAY_PE_CONFIGS_MAX)
        return assay__fail(error, ASSAY_E_ARGUMENT, "1 to %d encodings, not %zu",
                           ASSAY_PE_CONFIGS_MAX, count);
    bench *self = calloc(1, sizeof *self);
    if (self == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for a comparison of encodings");
    assay_status status = prepare(self, factory, configs, count, error);
    if (status == ASSAY_OK)
        status = sample(self, factory, count, options, error, record);
    if (status == ASSAY_OK)
        (*record)->name = "encodings, forward pass";
    for (size_t i = 0; i < count; i++)
        assay__factory_unmake(self->instances[i]);
    free(self);
    return status;
}

assay_status assay_profile_pe_computation(assay_function transform, void *data,
                                          const assay_sampling_options *given, assay_error *error,
                                          assay_timing *timing)
{
    assay_sampling_options options;
    assay_status status = assay__runs_take(given, 10, 2, error, &options);
    if (status != ASSAY_OK)
        return status;
    return assay_benchmark_function(transform, data, &options, error, timing);
}
