/* Trains the variants of a sweep. A variant is trained on all functions one after another. One
 * summary compares its time with that of the other variants. There are no verdicts on variants,
 * because they run minutes apart; only the epochs in turn of the three models have verdicts. */
#include "studies/fields/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/timers.h"
#include "base/error.h"
#include "base/file.h"
#include "studies/common/results.h"

enum { MLP, SIREN, KAN, LONGEST_LIST = 16, LONGEST_WORD = 24 };

/* ---- lists ---- */

typedef struct list {
    char words[LONGEST_LIST][LONGEST_WORD];
    double values[LONGEST_LIST];
    size_t count;
} list;

static assay_status split(const char *text, const char *what, assay_error *error, list *to)
{
    to->count = 0;
    for (const char *at = text; *at != '\0';) {
        size_t length = strcspn(at, ",");
        if (to->count == LONGEST_LIST || length == 0 || length >= LONGEST_WORD)
            return assay__fail(error, ASSAY_E_ARGUMENT,
                               "%s are up to %d, separated by commas, not '%.60s'", what,
                               LONGEST_LIST, text);
        memcpy(to->words[to->count], at, length);
        to->words[to->count++][length] = '\0';
        at += length + (at[length] == ',');
    }
    return ASSAY_OK;
}

static assay_status split_numbers(const char *text, const char *what, assay_error *error, list *to)
{
    assay_status status = split(text, what, error, to);
    for (size_t i = 0; i < to->count && status == ASSAY_OK; i++) {
        char *end = NULL;
        to->values[i] = strtod(to->words[i], &end);
        if (*end != '\0' || !(to->values[i] >= 1 && to->values[i] <= 1024) ||
            to->values[i] != floor(to->values[i]))
            status =
                assay__fail(error, ASSAY_E_ARGUMENT,
                            "%s are whole numbers from 1 to 1024, not '%s'", what, to->words[i]);
    }
    return status;
}

/* The words of an option of a class, or NULL if it has no such option or no words. */
static const char *const *choices_of(const char *class_name, const char *wanted)
{
    const assay_model_class *class_ = NULL;
    if (assay_model_find(class_name, NULL, &class_) != ASSAY_OK)
        return NULL;
    for (size_t i = 0; i < class_->option_count; i++)
        if (strcmp(class_->options[i].name, wanted) == 0)
            return class_->options[i].words;
    return NULL;
}

static assay_status split_activations(const char *text, assay_error *error, list *to)
{
    const char *const *words = choices_of("mlp", "activation");
    size_t count = 0;
    while (words != NULL && words[count] != NULL)
        count++;
    assay_status status = split(text, "activations", error, to);
    for (size_t i = 0; i < to->count && status == ASSAY_OK; i++) {
        size_t k = 0;
        while (k < count && strcmp(words[k], to->words[i]) != 0)
            k++;
        to->values[i] = (double)k;
        if (k == count)
            status =
                assay__fail(error, ASSAY_E_ARGUMENT,
                            "no activation '%s'; 'assay model train --model mlp --help' lists them",
                            to->words[i]);
    }
    return status;
}

/* ---- variants ---- */

typedef struct variants {
    assay__fields_variant *list;
    size_t count;
} variants;

static assay__fields_variant *add(variants *to, size_t model)
{
    assay__fields_variant *variant =
        to->count < ASSAY__FIELDS_MAX_VARIANTS ? &to->list[to->count] : NULL;
    to->count++;
    if (variant != NULL)
        *variant = (assay__fields_variant){.model = model};
    return variant;
}

static void add_depths(variants *to, const list *depths, const list *activations)
{
    for (size_t d = 0; d < depths->count; d++) {
        for (size_t a = 0; a < activations->count; a++) {
            assay__fields_variant *variant = add(to, MLP);
            if (variant == NULL)
                continue;
            snprintf(variant->name, sizeof variant->name, "MLP depth %s %s", depths->words[d],
                     activations->words[a]);
            variant->settings[0] = (assay__setting){"num-layers", depths->values[d]};
            variant->settings[1] = (assay__setting){"activation", activations->values[a]};
            variant->setting_count = 2;
        }
        assay__fields_variant *siren = add(to, SIREN);
        if (siren == NULL)
            continue;
        snprintf(siren->name, sizeof siren->name, "SIREN depth %s", depths->words[d]);
        siren->settings[0] = (assay__setting){"num-layers", depths->values[d]};
        siren->setting_count = 1;
    }
}

static void add_grids(variants *to, const list *grids)
{
    for (size_t g = 0; g < grids->count; g++) {
        assay__fields_variant *variant = add(to, KAN);
        if (variant == NULL)
            continue;
        snprintf(variant->name, sizeof variant->name, "KAN grid %s", grids->words[g]);
        variant->settings[0] = (assay__setting){"grid-size", grids->values[g]};
        variant->setting_count = 1;
    }
}

assay_status assay__fields_variants(const assay__fields_options *options, assay_error *error,
                                    assay__fields_variant list_of[ASSAY__FIELDS_MAX_VARIANTS],
                                    size_t *count)
{
    list depths, activations, grids;
    variants made = {.list = list_of};
    *count = 0;
    if (!assay__fields_sweeps(options))
        return ASSAY_OK;
    assay_status status = split_numbers(options->depths != NULL ? options->depths : "2,3,4",
                                        "depths", error, &depths);
    if (status == ASSAY_OK)
        status = split_activations(options->activations != NULL ? options->activations
                                                                : "relu,tanh,gelu",
                                   error, &activations);
    if (status == ASSAY_OK)
        status = split_numbers(options->grids != NULL ? options->grids : "4,8,16", "grids", error,
                               &grids);
    if (status != ASSAY_OK)
        return status;
    add_depths(&made, &depths, &activations);
    add_grids(&made, &grids);
    if (made.count > ASSAY__FIELDS_MAX_VARIANTS)
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "the lists make %zu variants; at most %d are swept", made.count,
                           ASSAY__FIELDS_MAX_VARIANTS);
    *count = made.count;
    return ASSAY_OK;
}

/* ---- training ---- */

typedef struct outcome {
    double seconds, rmse;
    uint64_t parameters;
    size_t converged;
} outcome;

static assay_status train_on(const assay__fields_step *step, const assay__fields_variant *variant,
                             const assay__fields_options *options, size_t function,
                             assay_error *error, outcome *sum)
{
    const assay__fields_model *model = &assay__fields_models[variant->model];
    assay_model *instance = NULL;
    assay__random random;
    assay__fields_accuracy accuracy;
    double loss = 0, least = INFINITY;
    assay__random_init(&random, step->seed + function);
    assay__fields_points_evaluate(step->points, &assay__fields_functions[function]);
    const assay_stopwatch watch = assay_time_operation(variant->name);
    assay_status status = assay__fields_variant_new(
        model, variant->settings, variant->setting_count, step->seed + function, error, &instance);
    for (int64_t epoch = 0; epoch < options->epochs && status == ASSAY_OK; epoch++) {
        double share =
            ((double)function + (double)epoch / (double)options->epochs) / ASSAY__FIELDS_FUNCTIONS;
        status = assay__study_advance(step->study, share)
                     ? assay__fields_epoch(instance, model->learning_rate, step->points, &random,
                                           error, &loss)
                     : assay__study_interrupted(step->study, error);
        least = fmin(least, loss);
    }
    if (status == ASSAY_OK)
        status = assay__fields_test(instance, step->points, error, &accuracy);
    if (status == ASSAY_OK) {
        sum->seconds += assay_stopwatch_seconds(&watch);
        sum->rmse += accuracy.rmse / ASSAY__FIELDS_FUNCTIONS;
        sum->converged += least <= options->threshold;
        sum->parameters = assay_model_parameter_count(instance);
    }
    assay_model_free(instance);
    return status;
}

assay_status assay__fields_train_variant(const assay__fields_step *step,
                                         const assay__fields_variant *variant,
                                         const assay__fields_options *options, assay_error *error)
{
    outcome sum = {0};
    assay_status status = ASSAY_OK;
    for (size_t f = 0; f < ASSAY__FIELDS_FUNCTIONS && status == ASSAY_OK; f++)
        status = train_on(step, variant, options, f, error, &sum);
    const struct {
        const char *name;
        double value;
        const char *unit, *covers;
    } figures[] = {
        {"time", sum.seconds, "s", "making the nets, every epoch and the tests, all functions"},
        {"rmse", sum.rmse, NULL, "the test points after the last epoch, the mean of all functions"},
        {"parameters", (double)sum.parameters, NULL, "trainable values"},
        {"functions_converged", (double)sum.converged, NULL, "a loss at most the threshold"},
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures && status == ASSAY_OK; i++)
        status = assay__found_cost(step->found, figures[i].name, variant->name,
                                   assay_reading_of(figures[i].value), figures[i].unit,
                                   figures[i].covers);
    return status;
}

/* ---- showing ---- */

assay_status assay__fields_sweep_print(const assay_record *record,
                                       const assay__fields_variant *list_of, size_t count,
                                       FILE *stream)
{
    assay_timers *timers = NULL;
    assay_status status = assay_timers_new(NULL, &timers);
    for (size_t i = 0; i < count && status == ASSAY_OK; i++)
        status = assay_timers_set(timers, list_of[i].name,
                                  assay__record_figure(record, "time", list_of[i].name).value);
    if (status == ASSAY_OK)
        status =
            assay_print_timing_summary(timers, stream, "fields, sweep", ASSAY__FIELDS_FUNCTIONS);
    assay_timers_free(timers);
    fprintf(stream, "\n%-24s%11s%11s%12s%11s\n", "Variant", "Parameters", "Time (s)", "Mean RMSE",
            "Converged");
    for (size_t i = 0; i < count; i++) {
        const char *name = list_of[i].name;
        fprintf(stream, "%-24s%11.0f%11.3f%12.4g%6.0f of %d\n", name,
                assay__record_figure(record, "parameters", name).value,
                assay__record_figure(record, "time", name).value,
                assay__record_figure(record, "rmse", name).value,
                assay__record_figure(record, "functions_converged", name).value,
                (int)ASSAY__FIELDS_FUNCTIONS);
    }
    fputc('\n', stream);
    return status;
}

assay_status assay__fields_sweep_save(const assay_record *record,
                                      const assay__fields_variant *list_of, size_t count,
                                      const char *path, assay_error *error)
{
    assay__output output;
    assay_status status = assay__output_begin(&output, path, error);
    if (status != ASSAY_OK)
        return status;
    fputs("variant,parameters,time,rmse,functions_converged\n", output.stream);
    for (size_t i = 0; i < count; i++)
        fprintf(output.stream, "%s,%.0f,%.9g,%.9g,%.0f\n", list_of[i].name,
                assay__record_figure(record, "parameters", list_of[i].name).value,
                assay__record_figure(record, "time", list_of[i].name).value,
                assay__record_figure(record, "rmse", list_of[i].name).value,
                assay__record_figure(record, "functions_converged", list_of[i].name).value);
    return assay__output_commit(&output, error);
}
