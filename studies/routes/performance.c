/* Converts a generation and its evaluation to parts of a run record, and back. */
#include "studies/routes/performance.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "assay/record_build.h"
#include "models/routes/evaluate.h"
#include "models/routes/performance.h"
#include "studies/common/results.h"

static const char forward_seconds[] = "forward_seconds", forward_passes[] = "forward_passes";
static const char generation_seconds[] = "generation_seconds", trajectories[] = "trajectories";

/* The figures that count the searches without a route, by the reason. */
static const struct {
    const char *name;
    size_t offset;
} failures[] = {{"searches_unreachable", offsetof(assay_generation, num_unreachable)},
                {"searches_lost", offsetof(assay_generation, num_lost)},
                {"searches_too_long", offsetof(assay_generation, num_too_long)}};
enum { FAILURES = sizeof failures / sizeof *failures };

static void name_searches(const char *model, char *name, size_t size)
{
    snprintf(name, size, "%s search", model);
}

/* ---- Generation: to the record ---- */

static assay_status add_subject(assay_record *found, const char *model, const double *seconds,
                                const double *forward, const double *passes, size_t count)
{
    char name[64];
    name_searches(model, name, sizeof name);
    assay_status status =
        assay__found_times(found, name, model,
                           "one search from origin to destination, whether it finds a way or not;"
                           " each sample is another pair",
                           seconds, count);
    if (status == ASSAY_OK)
        status = assay__found_measure(found, forward_seconds, forward);
    return status == ASSAY_OK ? assay__found_measure(found, forward_passes, passes) : status;
}

/* Identify the list of pairs by their number and a hash of their roads: FNV-1a, 64 bits (Fowler,
 * Noll and Vo, draft-eastlake-fnv). */
static void name_pairs(const assay_search_performance *searches, size_t count, char *name,
                       size_t size)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < count; i++) {
        const int64_t ids[] = {searches[i].origin_road_id, searches[i].destination_road_id};
        for (size_t byte = 0; byte < sizeof ids; byte++)
            hash = (hash ^ ((const unsigned char *)ids)[byte]) * 0x100000001b3u;
    }
    snprintf(name, size, "%zu pairs of roads, %016" PRIx64, count, hash);
}

static assay_status add_searches(assay_record *found, const char *model,
                                 const assay_search_performance *searches, size_t count)
{
    double *values = calloc(3 * count + 1, sizeof *values);
    char inputs[64];
    if (values == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        values[i] = searches[i].total_time;
        values[count + i] = searches[i].forward_time_total;
        values[2 * count + i] = (double)searches[i].forward_count;
    }
    assay_status status =
        add_subject(found, model, values, values + count, values + 2 * count, count);
    free(values);
    name_pairs(searches, count, inputs, sizeof inputs);
    return status == ASSAY_OK ? assay__found_inputs(found, inputs) : status;
}

static assay_status add_settings(assay_record *found, const assay_generation_performance *how)
{
    char width[32];
    snprintf(width, sizeof width, "%lld", (long long)how->beam_width);
    assay_status status =
        assay_record_add_setting(found, "search", how->beam_search_enabled ? "beam" : "greedy");
    if (status == ASSAY_OK)
        status = assay_record_add_setting(found, "beam_width", width);
    return status == ASSAY_OK ? assay_record_add_setting(found, "device", how->device) : status;
}

assay_status assay__found_generation(assay_record *found, const char *model,
                                     const assay_generation *generation)
{
    if (generation->num_searched == 0)
        return ASSAY_E_DATA;
    assay_status status =
        add_searches(found, model, generation->searches, generation->num_searched);
    if (status == ASSAY_OK)
        status = add_settings(found, &generation->performance);
    for (size_t i = 0; i < FAILURES && status == ASSAY_OK; i++) {
        size_t count;
        memcpy(&count, (const char *)generation + failures[i].offset, sizeof count);
        status = assay__found_figure(found, failures[i].name, model,
                                     assay_reading_of((double)count), NULL);
    }
    if (status == ASSAY_OK)
        status = assay__found_figure(found, trajectories, model,
                                     assay_reading_of((double)generation->num_generated), NULL);
    return status == ASSAY_OK
               ? assay__found_cost(found, generation_seconds, model,
                                   generation->performance.total_generation_time, "s",
                                   "all searches in a row; roads are dated and the file is written"
                                   " afterwards")
               : status;
}

/* ---- Generation: from the record ---- */

static void take_searches(const assay_record_subject *subject, const double *forward,
                          const double *passes, int64_t width, assay_generation *generation)
{
    for (size_t i = 0; i < subject->sample_count; i++) {
        generation->searches[i] = (assay_search_performance){
            .total_time = subject->samples_seconds[i],
            .forward_time_total = forward[i],
            .forward_count = (int64_t)passes[i],
            .forward_time_avg = passes[i] > 0 ? assay_reading_of(forward[i] / passes[i])
                                              : assay_reading_missing(ASSAY_NOT_ENOUGH_DATA),
            .beam_width = width};
        if (generation->searches[i].total_time >
            generation->searches[generation->slowest].total_time)
            generation->slowest = i;
    }
    generation->num_searched = subject->sample_count;
}

static void take_outcomes(const assay_record *found, const char *model,
                          assay_generation *generation)
{
    generation->num_generated = assay__generated_count(found, model);
    for (size_t i = 0; i < FAILURES; i++) {
        size_t count = (size_t)assay__record_figure(found, failures[i].name, model).value;
        memcpy((char *)generation + failures[i].offset, &count, sizeof count);
    }
}

static assay_status recall(const assay_record *found, const char *model,
                           const assay_record_subject *subject, assay_generation *generation)
{
    const double *forward = assay__record_measure_samples(subject, forward_seconds);
    const double *passes = assay__record_measure_samples(subject, forward_passes);
    const char *search = assay__record_setting(found, "search");
    const char *width = assay__record_setting(found, "beam_width");
    const char *device = assay__record_setting(found, "device");
    if (forward == NULL || passes == NULL)
        return ASSAY_E_DATA;
    take_searches(subject, forward, passes, width != NULL ? strtoll(width, NULL, 10) : 0,
                  generation);
    take_outcomes(found, model, generation);
    return assay__performance_aggregate(generation->searches, generation->num_searched,
                                        assay__record_figure(found, trajectories, model),
                                        assay__record_figure(found, generation_seconds, model),
                                        search != NULL && strcmp(search, "beam") == 0,
                                        device != NULL ? device : "", &generation->performance);
}

assay_status assay__generation_of(const assay_record *found, const char *model,
                                  const assay__road_network *network, const assay__od_pair *pairs,
                                  assay_generation **generation)
{
    char name[64];
    name_searches(model, name, sizeof name);
    const assay_record_subject *subject = assay__record_find_subject(found, name);
    if (subject == NULL || subject->sample_count == 0)
        return ASSAY_E_DATA;
    assay_generation *made = calloc(1, sizeof *made);
    if (made == NULL)
        return ASSAY_E_MEMORY;
    made->searches = calloc(subject->sample_count, sizeof *made->searches);
    assay_status status =
        made->searches != NULL ? recall(found, model, subject, made) : ASSAY_E_MEMORY;
    for (size_t i = 0; i < made->num_searched && pairs != NULL && status == ASSAY_OK; i++) {
        made->searches[i].origin_road_id = network->ids[pairs[i].origin];
        made->searches[i].destination_road_id = network->ids[pairs[i].destination];
    }
    if (status == ASSAY_OK)
        *generation = made;
    else
        assay_generation_free(made);
    return status;
}

size_t assay__generated_count(const assay_record *found, const char *model)
{
    return (size_t)assay__record_figure(found, trajectories, model).value;
}

/* ---- Evaluation ---- */

static const struct {
    const char *name;
    size_t offset;
} counts[] = {{"evaluated_real", offsetof(assay_trajectory_results, num_real)},
              {"evaluated_generated", offsetof(assay_trajectory_results, num_generated)},
              {"evaluated_pairs", offsetof(assay_trajectory_results, num_pairs)}};
enum { COUNTS = sizeof counts / sizeof *counts };

assay_status assay__found_results(assay_record *found, const char *model,
                                  const assay_trajectory_results *results)
{
    size_t figure_count;
    const assay__result_figure *figures = assay__result_figures(&figure_count);
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < figure_count && status == ASSAY_OK; i++)
        status = assay__found_figure(found, figures[i].name, model,
                                     assay__result_read(results, &figures[i]), figures[i].unit);
    for (size_t i = 0; i < COUNTS && status == ASSAY_OK; i++) {
        size_t count;
        memcpy(&count, (const char *)results + counts[i].offset, sizeof count);
        status = assay__found_figure(found, counts[i].name, model, assay_reading_of((double)count),
                                     NULL);
    }
    return status;
}

bool assay__results_of(const assay_record *found, const char *model,
                       assay_trajectory_results *results)
{
    size_t figure_count;
    const assay__result_figure *figures = assay__result_figures(&figure_count);
    *results = (assay_trajectory_results){0};
    for (size_t i = 0; i < COUNTS; i++) {
        assay_reading reading = assay__record_figure(found, counts[i].name, model);
        if (reading.validity != ASSAY_VALID)
            return false;
        size_t count = (size_t)reading.value;
        memcpy((char *)results + counts[i].offset, &count, sizeof count);
    }
    for (size_t i = 0; i < figure_count; i++)
        assay__result_set(results, &figures[i],
                          assay__record_figure(found, figures[i].name, model));
    return true;
}
