/* Encodings side by side, sampled in turns so that they can be compared pair by pair. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/sampling.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "facade/model_instance.h"
#include "report/cell.h"

enum { NAME_COLUMN = 14, COLUMN = 12, WIDTH = 78, NAME_BYTES = 32 };

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
    }
    free(settings);
    return status;
}

static double in_ms(assay_reading seconds)
{
    return seconds.validity == ASSAY_VALID ? 1e3 * seconds.value : NAN;
}

static assay_status conclude(assay_record *record, const assay_pe_config *configs, size_t count,
                             assay_pe_scaling **scaling)
{
    assay_pe_scaling *made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->configs = calloc(count, sizeof *made->configs);
        made->runtime_stats = calloc(count, sizeof *made->runtime_stats);
    }
    if (made == NULL || made->configs == NULL || made->runtime_stats == NULL) {
        assay_pe_scaling_free(made);
        return ASSAY_E_MEMORY;
    }
    made->count = count;
    for (size_t i = 0; i < count; i++) {
        const assay_record_subject *it = &record->subjects[i];
        made->configs[i] = (assay_pe_config){find(configs[i].name)->name, configs[i].dim};
        made->runtime_stats[i] = (assay_runtime_stats){.mean = in_ms(it->mean_seconds),
                                                       .std = in_ms(it->std_seconds),
                                                       .min = in_ms(it->min_seconds),
                                                       .max = in_ms(it->max_seconds),
                                                       .low = in_ms(it->low_seconds),
                                                       .high = in_ms(it->high_seconds),
                                                       .num_runs = it->sample_count};
    }
    made->record = record;
    *scaling = made;
    return ASSAY_OK;
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
    sampling.budget_seconds = options->budget_seconds > 0 ? options->budget_seconds : 10;
    sampling.precision = options->precision;
    sampling.max_rounds = options->max_rounds;
    sampling.clock = options->clock;
    sampling.seed = factory->seed;
    return assay_sampling_run(self->subjects, count, &sampling, error, record);
}

assay_status assay_run_pe_scaling(const assay_model_factory *factory,
                                  const assay_pe_config *configs, size_t count,
                                  const assay_scaling_options *options, assay_error *error,
                                  assay_pe_scaling **scaling)
{
    static const assay_pe_config usual[] = {{"lap", 16}, {"rwse", 16}, {"none", 0}};
    *scaling = NULL;
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
    assay_record *record = NULL;
    assay_status status = prepare(self, factory, configs, count, error);
    if (status == ASSAY_OK)
        status = sample(self, factory, count, options, error, &record);
    if (status == ASSAY_OK) {
        status = conclude(record, configs, count, scaling);
        if (status != ASSAY_OK) {
            assay_record_free(record);
            (void)assay__fail(error, status, "no memory for the times of encodings");
        }
    }
    for (size_t i = 0; i < count; i++)
        assay__factory_unmake(self->instances[i]);
    free(self);
    return status;
}

void assay_pe_scaling_free(assay_pe_scaling *scaling)
{
    if (scaling == NULL)
        return;
    assay_record_free(scaling->record);
    free(scaling->configs);
    free(scaling->runtime_stats);
    free(scaling);
}

assay_status assay_pe_scaling_print_summary(const assay_pe_scaling *scaling, FILE *stream)
{
    static const char *const titles[] = {"Mean (ms)", "Std", "Min", "Max", "Runs"};
    assay__buffer table;
    assay__buffer_init(&table, ASSAY__TABLE_MAX_BYTES);
    assay__cell_rule(&table, '=', WIDTH);
    assay__buffer_append_text(&table, "SCALING: encodings, forward pass\n");
    assay__cell_rule(&table, '=', WIDTH);
    assay__buffer_printf(&table, "%-*s", NAME_COLUMN, "encoding");
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        assay__buffer_printf(&table, "%*s", COLUMN, titles[i]);
    assay__buffer_append_text(&table, "\n");
    assay__cell_rule(&table, '-', WIDTH);
    for (size_t i = 0; i < scaling->count; i++) {
        const assay_runtime_stats *stats = &scaling->runtime_stats[i];
        const double figures[] = {stats->mean, stats->std, stats->min, stats->max};
        char text[ASSAY__CELL_BYTES], name[NAME_BYTES];
        snprintf(name, sizeof name, "%s %lld", scaling->configs[i].name,
                 (long long)scaling->configs[i].dim);
        assay__buffer_printf(&table, "%-*s", NAME_COLUMN, name);
        for (size_t f = 0; f < sizeof figures / sizeof *figures; f++)
            assay__buffer_printf(&table, " %*s", COLUMN - 1,
                                 assay__cell_number(text, figures[f], 3, COLUMN - 1));
        assay__buffer_printf(&table, " %*llu\n", COLUMN - 1, (unsigned long long)stats->num_runs);
    }
    assay__cell_rule(&table, '-', WIDTH);
    return assay__table_print(&table, stream);
}

assay_status assay_profile_pe_computation(assay_status (*transform)(void *data), void *data,
                                          const assay_profile_options *options,
                                          assay_runtime_stats *stats)
{
    assay_profile_options chosen;
    assay_status status =
        assay__struct_take(&chosen, sizeof chosen, options, "assay_profile_options", NULL);
    if (status != ASSAY_OK)
        return status;
    if (chosen.num_runs == 0)
        chosen.num_runs = 10;
    if (chosen.warmup_runs == 0)
        chosen.warmup_runs = 2;
    return assay_benchmark_function(transform, data, &chosen, stats);
}
