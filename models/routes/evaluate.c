/* Matches generated with real trajectories and evaluates them. Trajectories match if they have the
 * same first and last road. To find the matches, both sides are sorted by (first road, last road,
 * position in the file) and walked together. The matching uses nothing but the trajectories
 * themselves, so it works for files from other programs too. */
#include "models/routes/evaluate.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "models/road/evaluate.h"
#include "models/routes/performance.h"

typedef struct ends {
    int32_t first, last;
    int64_t index;
} ends;

static int compare_roads(const ends *a, const ends *b)
{
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->last < b->last ? -1 : a->last > b->last;
}

static int compare_ends(const void *of_a, const void *of_b)
{
    const ends *a = of_a, *b = of_b;
    int order = compare_roads(a, b);
    return order != 0 ? order : a->index < b->index ? -1 : a->index > b->index;
}

static ends *sorted_ends(const assay__trajectories *trajectories)
{
    ends *sorted = calloc((size_t)trajectories->count + 1, sizeof *sorted);
    if (sorted == NULL)
        return NULL;
    for (int64_t i = 0; i < trajectories->count; i++)
        sorted[i] = (ends){trajectories->roads[trajectories->first[i]],
                           trajectories->roads[trajectories->first[i + 1] - 1], i};
    qsort(sorted, (size_t)trajectories->count, sizeof *sorted, compare_ends);
    return sorted;
}

/* Among trajectories with the same ends, the n-th generated one is matched with the n-th real one.
 * If there are too few real ones, the last of them is used again. */
static void match(const ends *real, int64_t real_count, const ends *generated,
                  int64_t generated_count, int64_t *matching)
{
    int64_t next = 0;
    for (int64_t i = 0; i < generated_count; i++) {
        while (next < real_count && compare_roads(&real[next], &generated[i]) < 0)
            next++;
        bool fits = next < real_count && compare_roads(&real[next], &generated[i]) == 0;
        matching[generated[i].index] = fits ? real[next].index : -1;
        if (fits && next + 1 < real_count && compare_roads(&real[next], &real[next + 1]) == 0)
            next++;
    }
}

static assay_status match_all(const assay__trajectories *real, const assay__trajectories *generated,
                              int64_t **matching)
{
    ends *real_ends = sorted_ends(real), *generated_ends = sorted_ends(generated);
    int64_t *result = calloc((size_t)generated->count + 1, sizeof *result);
    bool ready = real_ends != NULL && generated_ends != NULL && result != NULL;
    if (ready)
        match(real_ends, real->count, generated_ends, generated->count, result);
    free(real_ends);
    free(generated_ends);
    if (!ready) {
        free(result);
        return ASSAY_E_MEMORY;
    }
    *matching = result;
    return ASSAY_OK;
}

/* ---- Results ---- */

#define AT(member) offsetof(assay_trajectory_results, member)

static const assay__result_figure figures[] = {
    {"distance_jsd", NULL, AT(distance_jsd), NULL, "Distance_JSD"},
    {"duration_jsd", NULL, AT(duration_jsd), NULL, "Duration_JSD"},
    {"radius_jsd", NULL, AT(radius_jsd), NULL, "Radius_JSD"},
    {"hausdorff", "km", AT(hausdorff_km), NULL, "Hausdorff"},
    {"dtw", "km", AT(dtw_km), NULL, "DTW"},
    {"real_distance", "km", AT(real_distance_km), "real_mean", "distance_km"},
    {"real_duration", "min", AT(real_duration_minutes), "real_mean", "duration_minutes"},
    {"real_radius", "km", AT(real_radius_km), "real_mean", "radius_km"},
    {"generated_distance", "km", AT(generated_distance_km), "generated_mean", "distance_km"},
    {"generated_duration", "min", AT(generated_duration_minutes), "generated_mean",
     "duration_minutes"},
    {"generated_radius", "km", AT(generated_radius_km), "generated_mean", "radius_km"},
};
enum { FIGURES = sizeof figures / sizeof *figures };

const assay__result_figure *assay__result_figures(size_t *count)
{
    *count = FIGURES;
    return figures;
}

assay_reading assay__result_read(const assay_trajectory_results *results,
                                 const assay__result_figure *figure)
{
    assay_reading reading;
    memcpy(&reading, (const char *)results + figure->offset, sizeof reading);
    return reading;
}

void assay__result_set(assay_trajectory_results *results, const assay__result_figure *figure,
                       assay_reading reading)
{
    memcpy((char *)results + figure->offset, &reading, sizeof reading);
}

/* A distance is NaN if there are no pairs. No other value is NaN. */
static assay_reading reading_of(double value)
{
    return isfinite(value) ? assay_reading_of(value) : assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
}

static void take_results(const assay__road_evaluation *found, int64_t num_real,
                         int64_t num_generated, assay_trajectory_results *results)
{
    *results = (assay_trajectory_results){
        .distance_jsd = reading_of(found->distance_jsd),
        .duration_jsd = reading_of(found->duration_jsd),
        .radius_jsd = reading_of(found->radius_jsd),
        .hausdorff_km = reading_of(found->hausdorff_km),
        .dtw_km = reading_of(found->warping_km),
        .real_distance_km = reading_of(found->distance_real_mean_km),
        .real_duration_minutes = reading_of(found->duration_real_mean_minutes),
        .real_radius_km = reading_of(found->radius_real_mean_km),
        .generated_distance_km = reading_of(found->distance_generated_mean_km),
        .generated_duration_minutes = reading_of(found->duration_generated_mean_minutes),
        .generated_radius_km = reading_of(found->radius_generated_mean_km),
        .num_real = (size_t)num_real,
        .num_generated = (size_t)num_generated,
        .num_pairs = (size_t)found->pairs};
}

assay_status assay__evaluate_trajectories(const assay__road_network *network,
                                          const assay__trajectories *real,
                                          const char *generated_file, assay_error *error,
                                          assay_trajectory_results *results)
{
    assay__trajectories generated;
    assay__road_evaluation evaluation;
    int64_t *matching = NULL;
    assay_status status = assay__trajectories_load(network, generated_file, error, &generated);
    if (status != ASSAY_OK)
        return status;
    if (generated.count == 0)
        status = assay__fail(error, ASSAY_E_DATA, "'%s' holds no trajectory to evaluate",
                             generated_file);
    if (status == ASSAY_OK && match_all(real, &generated, &matching) != ASSAY_OK)
        status = assay__fail(error, ASSAY_E_MEMORY, "no memory to evaluate '%s'", generated_file);
    if (status == ASSAY_OK)
        status = assay__road_evaluate(network, real, &generated, matching, error, &evaluation);
    if (status == ASSAY_OK)
        take_results(&evaluation, real->count, generated.count, results);
    free(matching);
    assay__trajectories_release(&generated);
    return status;
}

/* ---- Views ---- */

static void print_distance(FILE *stream, const char *label, assay_reading kilometres)
{
    if (kilometres.validity == ASSAY_VALID)
        fprintf(stream, "%-26s%.3f km\n", label, kilometres.value);
    else
        fprintf(stream, "%-26sn/a (no pairs)\n", label);
}

void assay_trajectory_results_print(const assay_trajectory_results *results, FILE *stream)
{
    fprintf(stream,
            "--- Evaluation ---\n"
            "%-26s%.4f\n%-26s%.4f\n%-26s%.4f\n",
            "Distance JSD", results->distance_jsd.value, "Duration JSD",
            results->duration_jsd.value, "Radius JSD", results->radius_jsd.value);
    print_distance(stream, "Hausdorff", results->hausdorff_km);
    print_distance(stream, "DTW", results->dtw_km);
}

/* Write the figures that belong to `object`, or those outside of any object if it is NULL. */
static void write_figures(assay__json *json, const assay_trajectory_results *results,
                          const char *object)
{
    for (size_t i = 0; i < FIGURES; i++) {
        const char *own = figures[i].object;
        if (own == object || (own != NULL && object != NULL && strcmp(own, object) == 0))
            assay__json_reading(json, figures[i].key, assay__result_read(results, &figures[i]));
    }
}

assay_status assay__results_print_json(const void *subject, FILE *stream, assay_error *error)
{
    static const char *const objects[] = {"real_mean", "generated_mean"};
    const assay_trajectory_results *results = subject;
    assay__json json;
    assay__json_init(&json, stream, 0);
    assay__json_object(&json, NULL);
    write_figures(&json, results, NULL);
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        assay__json_object(&json, objects[i]);
        write_figures(&json, results, objects[i]);
        assay__json_end(&json);
    }
    assay__json_count(&json, "num_real", results->num_real);
    assay__json_count(&json, "num_generated", results->num_generated);
    assay__json_count(&json, "pairs", results->num_pairs);
    if (results->has_generation_performance)
        assay__performance_write(&json, "generation_performance", &results->generation_performance);
    assay__json_end(&json);
    assay_status status = assay__json_finish(&json);
    return status == ASSAY_OK ? status
                              : assay__fail(error, status, "cannot write the results: %s",
                                            assay_status_message(status));
}
