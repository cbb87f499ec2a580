/* Computes convergence, warm-up, totals and verdicts from the record of the study. */
#include "studies/fields/findings.h"

#include <string.h>

#include "assay/compare.h"
#include "base/error.h"
#include "studies/common/results.h"

/* ---- results of the steps ---- */

static assay_status damaged(const assay__fields_findings *findings, const char *what,
                            assay_error *error)
{
    return assay__fail(error, ASSAY_E_FORMAT,
                       "what was kept of '%s' in '%s' is damaged; --restart begins anew", what,
                       findings->plan->folder);
}

static bool is_whole(const assay__fields_training *training, size_t epochs)
{
    const assay_reading figures[] = {training->time, training->rmse, training->r2,
                                     training->largest_error};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (figures[i].validity != ASSAY_VALID)
            return false;
    return training->losses != NULL && training->losses->count == epochs &&
           training->seconds != NULL && training->seconds->count == epochs;
}

static assay_status read_training(assay__fields_findings *findings, size_t f, size_t m,
                                  assay_error *error)
{
    const assay_record *record = findings->record;
    assay__fields_training *training = &findings->trainings[f][m];
    assay__fields_training_name(training->name, f, m);
    training->losses = assay__record_find_series(record, "loss", training->name);
    training->seconds = assay__record_find_series(record, "epoch_time", training->name);
    training->time = assay__record_figure(record, "time", training->name);
    training->rmse = assay__record_figure(record, "rmse", training->name);
    training->r2 = assay__record_figure(record, "r2", training->name);
    training->largest_error = assay__record_figure(record, "largest_error", training->name);
    return is_whole(training, (size_t)findings->options.epochs)
               ? ASSAY_OK
               : damaged(findings, training->name, error);
}

static assay_status read_model(assay__fields_findings *findings, size_t m, assay_error *error)
{
    const char *label = assay__fields_models[m].label;
    const assay_record_model *model = assay__record_find_model(findings->record, label);
    char subject[ASSAY__FIELDS_NAME_BYTES];
    assay__fields_epoch_name(subject, m);
    findings->turns[m] = assay__record_find_subject(findings->record, subject);
    if (model == NULL || model->parameters.validity != ASSAY_VALID || findings->turns[m] == NULL)
        return damaged(findings, label, error);
    findings->parameters[m] = model->parameters;
    return ASSAY_OK;
}

static assay_status read_record(assay__fields_findings *findings, assay_error *error)
{
    assay_status status = ASSAY_OK;
    for (size_t f = 0; f < ASSAY__FIELDS_FUNCTIONS; f++)
        for (size_t m = 0; m < ASSAY__FIELDS_MODELS && status == ASSAY_OK; m++)
            status = read_training(findings, f, m, error);
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS && status == ASSAY_OK; m++)
        status = read_model(findings, m, error);
    return status;
}

/* ---- convergence and warm-up ---- */

static assay_status add_convergence(assay_record *record, assay__fields_training *training,
                                    const assay_convergence *convergence)
{
    training->final_loss = convergence->final_loss;
    training->epochs_to_converge = convergence->epochs_to_converge;
    training->time_to_converge = convergence->time_to_converge;
    assay_status status = assay__found_cost(
        record, "epochs_to_converge", training->name, convergence->epochs_to_converge, NULL,
        "epochs up to the first whose loss is at most the threshold");
    return status == ASSAY_OK
               ? assay__found_cost(record, "time_to_converge", training->name,
                                   convergence->time_to_converge, "s",
                                   "epochs up to the first whose loss is at most the threshold")
               : status;
}

static assay_status find_convergence(assay__fields_findings *findings, size_t model)
{
    assay_convergence found[ASSAY__FIELDS_FUNCTIONS];
    assay_status status = ASSAY_OK;
    for (size_t f = 0; f < ASSAY__FIELDS_FUNCTIONS && status == ASSAY_OK; f++) {
        assay__fields_training *training = &findings->trainings[f][model];
        status = assay_convergence_analyze(training->losses->values, training->seconds->values,
                                           training->losses->count, findings->options.threshold,
                                           &found[f]);
        if (status == ASSAY_OK)
            status = add_convergence(findings->record, training, &found[f]);
    }
    return status == ASSAY_OK ? assay_convergence_summarize(found, ASSAY__FIELDS_FUNCTIONS,
                                                            &findings->converged[model])
                              : status;
}

static assay_status find_warmup(assay__fields_findings *findings, size_t model)
{
    const assay_record_series *seconds = findings->trainings[0][model].seconds;
    assay_status status =
        assay_warmup_analyze(seconds->values, seconds->count, &findings->warmup[model]);
    return status == ASSAY_OK ? assay_warmup_detect(seconds->values, seconds->count,
                                                    &findings->warmup_detected[model])
                              : status;
}

/* ---- totals ---- */

static assay_status add_totals(assay__fields_findings *findings, size_t model)
{
    static const char covers[] = "the trainings on all nine functions";
    const char *label = assay__fields_models[model].label;
    double seconds = 0, rmse = 0, r2 = 0;
    for (size_t f = 0; f < ASSAY__FIELDS_FUNCTIONS; f++) {
        const assay__fields_training *training = &findings->trainings[f][model];
        seconds += training->time.value;
        rmse += training->rmse.value / ASSAY__FIELDS_FUNCTIONS;
        r2 += training->r2.value / ASSAY__FIELDS_FUNCTIONS;
    }
    assay_record *record = findings->record;
    assay_status status =
        assay__found_cost(record, "time", label, assay_reading_of(seconds), "s", covers);
    if (status == ASSAY_OK)
        status =
            assay__found_cost(record, "mean_rmse", label, assay_reading_of(rmse), NULL, covers);
    if (status == ASSAY_OK)
        status = assay__found_cost(record, "mean_r2", label, assay_reading_of(r2), NULL, covers);
    return status;
}

static assay_status enter_model(assay__fields_findings *findings, size_t model)
{
    const char *label = assay__fields_models[model].label;
    const double epochs = (double)(findings->options.epochs * ASSAY__FIELDS_FUNCTIONS);
    const struct {
        const char *key;
        assay_reading value;
    } metrics[] = {
        {"time", assay__record_figure(findings->record, "time", label)},
        {"epochs", assay_reading_of(epochs)},
        {"parameters", findings->parameters[model]},
        {"mean_rmse", assay__record_figure(findings->record, "mean_rmse", label)},
        {"mean_r2", assay__record_figure(findings->record, "mean_r2", label)},
    };
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics && status == ASSAY_OK; i++)
        status = assay_timers_set_metric(findings->timers, label, metrics[i].key, metrics[i].value);
    return status;
}

/* ---- verdicts ---- */

static assay_reading inverse(assay_reading ratio)
{
    return ratio.validity != ASSAY_VALID ? ratio : assay_reading_of(1 / ratio.value);
}

/* Convert a comparison to a speed-up. A speed-up is the baseline's time divided by the candidate's;
 * the ratio of a comparison is the inverse of that. */
static assay_speedup_verdict speedup_of(const assay_record_comparison *comparison)
{
    assay_speedup_verdict speedup = {.ratio = inverse(comparison->ratio),
                                     .low = inverse(comparison->high),
                                     .high = inverse(comparison->low),
                                     .verdict = comparison->verdict};
    if (comparison->reason != NULL)
        snprintf(speedup.reason, sizeof speedup.reason, "%s", comparison->reason);
    return speedup;
}

/* Compare the models. The baseline must be the first subject for assay_record_compare(). */
static assay_status compare_turns(const assay__fields_findings *findings, assay_record *turns)
{
    const size_t baseline = findings->baseline;
    assay_status status = assay__record_append_subject(turns, findings->turns[baseline]);
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS && status == ASSAY_OK; m++)
        if (m != baseline)
            status = assay__record_append_subject(turns, findings->turns[m]);
    assay_compare_options by_wall_time = ASSAY_COMPARE_OPTIONS_INIT;
    by_wall_time.metric = "wall_seconds"; /* a speed refers to wall time */
    return status == ASSAY_OK ? assay_record_compare(turns, &by_wall_time) : status;
}

static assay_status add_verdicts(assay__fields_findings *findings)
{
    assay_record *turns = NULL;
    assay_status status = assay_record_new(&turns);
    if (status == ASSAY_OK)
        status = compare_turns(findings, turns);
    if (status == ASSAY_OK) {
        turns->subject_count = 0; /* the study's record has the subjects already */
        status = assay__record_append(findings->record, turns);
    }
    assay_record_free(turns);
    for (size_t i = 0; i < findings->record->comparison_count && status == ASSAY_OK; i++)
        for (size_t m = 0; m < ASSAY__FIELDS_MODELS; m++)
            if (!findings->record->comparisons[i].beside &&
                strcmp(findings->record->comparisons[i].candidate, findings->turns[m]->name) == 0)
                findings->verdicts[m] = speedup_of(&findings->record->comparisons[i]);
    return status;
}

/* ---- all of it ---- */

static assay_status analyze(assay__fields_findings *findings, assay_error *error)
{
    assay_speedup ratios[ASSAY__FIELDS_MODELS];
    assay_status status = assay_timers_new(NULL, &findings->timers);
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS && status == ASSAY_OK; m++) {
        status = find_convergence(findings, m);
        if (status == ASSAY_OK)
            status = find_warmup(findings, m);
        if (status == ASSAY_OK)
            status = add_totals(findings, m);
        if (status == ASSAY_OK)
            status = enter_model(findings, m);
    }
    if (status == ASSAY_OK)
        status = assay_speedup_ratios(findings->timers, findings->options.baseline, error, ratios,
                                      &findings->baseline);
    return status == ASSAY_OK ? add_verdicts(findings) : status;
}

assay_status assay__fields_analyze(assay__fields_findings *findings, assay_error *error)
{
    assay_status status = read_record(findings, error);
    if (status == ASSAY_OK)
        status = analyze(findings, error);
    return status == ASSAY_OK || (error != NULL && error->message[0] != '\0')
               ? status
               : assay__fail(error, status, "%s", assay_status_message(status));
}
