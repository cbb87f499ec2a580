/* Adds the numbers of a training to the run record. The statistics of epochs are also read back
 * from it; one table has the name and the offset of each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/record_build.h"
#include "base/error.h"
#include "base/grow.h"
#include "studies/pde/training.h"

const char *assay__pde_model_of(const assay__pde_config *config)
{
    return config->equation == ASSAY__PDE_BURGERS ? "surrogate" : "conductivity";
}

/* ---- numbers ---- */

void assay__pde_append(assay__pde_numbers *numbers, double value)
{
    if (!assay__grow(&numbers->values, &numbers->capacity, numbers->count + 1,
                     sizeof *numbers->values)) {
        numbers->incomplete = true;
        return;
    }
    numbers->values[numbers->count++] = value;
}

void assay__pde_numbers_release(assay__pde_numbers *numbers)
{
    free(numbers->values);
    *numbers = (assay__pde_numbers){0};
}

static assay_status add_series(assay__pde_training *training, const char *name,
                               const assay__pde_numbers *numbers)
{
    bool burgers = training->config->equation == ASSAY__PDE_BURGERS;
    if (numbers->incomplete)
        return ASSAY_E_MEMORY;
    return assay__found_series(training->found, name, assay__pde_model_of(training->config),
                               burgers ? "epoch" : "iteration", NULL, numbers->values,
                               numbers->count);
}

static assay_status add_batches(assay__pde_training *training)
{
    bool burgers = training->config->equation == ASSAY__PDE_BURGERS;
    const assay__pde_numbers *seconds = &training->batches[0];
    for (size_t i = 0; i < ASSAY__WATCH_FIGURES; i++)
        if (training->batches[i].incomplete)
            return ASSAY_E_MEMORY;
    assay_status status = assay__found_times(
        training->found, "batch", assay__pde_model_of(training->config),
        burgers ? "one batch: copied together, forward and backward pass, update"
                : "one iteration of L-BFGS: misfits and gradients until the line search ends",
        seconds->values, seconds->count);
    for (size_t i = 1; i < ASSAY__WATCH_FIGURES && status == ASSAY_OK; i++)
        if (seconds->count > 0 && !isnan(training->batches[i].values[0]))
            status = assay__found_measure(training->found, assay__study_watch_metrics[i],
                                          training->batches[i].values);
    return status;
}

/* ---- statistics of epochs ---- */

typedef enum kind { NUMBER, READING, COUNT } kind;

typedef struct statistic {
    const char *name;
    kind kind;
    size_t offset;
    const char *covers;
} statistic;

#define ROW(name, kind, covers)                                                                    \
    {                                                                                              \
#name, kind, offsetof(assay_epoch_statistics, name), covers                                \
    }

static const char of_epochs[] = "whole epochs, lines printed for batches included";
static const char of_batches[] = "batches as the epoch monitor times them";

/* The statistics in the order of results.json. */
static const statistic statistics[] = {ROW(total_epoch_time, NUMBER, of_epochs),
                                       ROW(avg_epoch_time, READING, of_epochs),
                                       ROW(total_batch_time, NUMBER, of_batches),
                                       ROW(avg_batch_time, READING, of_batches),
                                       ROW(min_batch_time, READING, of_batches),
                                       ROW(max_batch_time, READING, of_batches),
                                       ROW(num_batches, COUNT, NULL),
                                       ROW(num_epochs, COUNT, NULL),
                                       ROW(first_batch_time, READING, of_batches)};
enum { STATISTICS = sizeof statistics / sizeof *statistics };

static assay_reading read_statistic(const assay_epoch_statistics *from, const statistic *row)
{
    const char *at = (const char *)from + row->offset;
    assay_reading reading;
    double number;
    uint64_t count;
    switch (row->kind) {
    case NUMBER:
        memcpy(&number, at, sizeof number);
        return assay_reading_of(number);
    case COUNT:
        memcpy(&count, at, sizeof count);
        return assay_reading_of((double)count);
    case READING:
        break;
    }
    memcpy(&reading, at, sizeof reading);
    return reading;
}

static void write_statistic(assay_epoch_statistics *into, const statistic *row,
                            assay_reading reading)
{
    char *at = (char *)into + row->offset;
    uint64_t count = (uint64_t)reading.value;
    switch (row->kind) {
    case NUMBER:
        memcpy(at, &reading.value, sizeof reading.value);
        break;
    case COUNT:
        memcpy(at, &count, sizeof count);
        break;
    case READING:
        memcpy(at, &reading, sizeof reading);
        break;
    }
}

static assay_status add_statistics(assay__pde_training *training)
{
    assay_epoch_statistics measured = assay_epoch_monitor_get_statistics(training->epochs);
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < STATISTICS && status == ASSAY_OK; i++)
        status = assay__found_cost(training->found, statistics[i].name, NULL,
                                   read_statistic(&measured, &statistics[i]),
                                   statistics[i].kind == COUNT ? NULL : "s", statistics[i].covers);
    return status;
}

assay_epoch_statistics assay__pde_statistics_of(const assay_record *found)
{
    assay_epoch_statistics result = {0};
    for (size_t i = 0; i < STATISTICS; i++)
        write_statistic(&result, &statistics[i],
                        assay__record_figure(found, statistics[i].name, NULL));
    return result;
}

int assay__pde_set_statistics(json_t *object, const assay_record *found)
{
    int failed = 0;
    for (size_t i = 0; i < STATISTICS; i++) {
        assay_reading reading = assay__record_figure(found, statistics[i].name, NULL);
        failed |= statistics[i].kind == COUNT
                      ? json_object_set_new(object, statistics[i].name,
                                            json_integer((json_int_t)reading.value))
                      : assay__json_set_reading(object, statistics[i].name, reading);
    }
    return failed;
}

/* ---- all of it ---- */

assay_status assay__pde_found_numbers(assay__pde_training *training)
{
    assay_status status = add_series(training, "loss", &training->losses);
    if (status == ASSAY_OK && training->config->equation == ASSAY__PDE_BURGERS)
        status = add_series(training, "held_out_loss", &training->held_out_losses);
    if (status == ASSAY_OK && training->config->equation == ASSAY__PDE_BURGERS)
        status = add_series(training, "relative_error", &training->relative_errors);
    if (status == ASSAY_OK)
        status = add_batches(training);
    if (status == ASSAY_OK && training->epochs != NULL)
        status = add_statistics(training);
    return status;
}

assay_status assay__pde_found_model(assay__pde_training *training, const char *class_name,
                                    double parameters)
{
    assay_record_model model;
    assay_record_model_init(&model);
    model.name = assay__pde_model_of(training->config);
    model.class_name = class_name;
    model.parameters = assay_reading_of(parameters);
    assay_status status = assay_record_add_model(training->found, &model);
    return status == ASSAY_OK ? status : assay__fail(training->error, status, "out of memory");
}
