/* Generated and real trajectories are matched by their ends: both sides are sorted by (first road,
 * last road, place in the file) and walked together. A file says no more than that about which pair
 * a trajectory was made for, so one made elsewhere is treated as our own. */
#include "studies/routes/evaluate.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"

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

/* Of equal ends the n-th generated one gets the n-th real one, and the last when they run out. */
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

assay_status assay__evaluate_trajectories(const assay__road_network *network,
                                          const assay__trajectories *real,
                                          const char *generated_file, assay_error *error,
                                          int64_t *num_generated,
                                          assay__road_evaluation *evaluation)
{
    assay__trajectories generated;
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
        status = assay__road_evaluate(network, real, &generated, matching, error, evaluation);
    *num_generated = generated.count;
    free(matching);
    assay__trajectories_release(&generated);
    return status;
}

static json_t *number_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *assay__evaluation_json(const assay__road_evaluation *evaluation, int64_t num_generated,
                               int64_t num_real,
                               const assay__generation_performance *generation_performance)
{
    json_t *results = json_pack(
        "{sf, sf, sf, so, so, s{sf, sf, sf}, s{sf, sf, sf}, sI, sI, sI}", "Distance_JSD",
        evaluation->distance_jsd, "Duration_JSD", evaluation->duration_jsd, "Radius_JSD",
        evaluation->radius_jsd, "Hausdorff", number_or_null(evaluation->hausdorff_km), "DTW",
        number_or_null(evaluation->warping_km), "real_mean", "distance_km",
        evaluation->distance_real_mean_km, "duration_minutes",
        evaluation->duration_real_mean_minutes, "radius_km", evaluation->radius_real_mean_km,
        "generated_mean", "distance_km", evaluation->distance_generated_mean_km, "duration_minutes",
        evaluation->duration_generated_mean_minutes, "radius_km",
        evaluation->radius_generated_mean_km, "num_real", (json_int_t)num_real, "num_generated",
        (json_int_t)num_generated, "pairs", (json_int_t)evaluation->pairs);
    if (results != NULL && generation_performance != NULL &&
        json_object_set_new(results, "generation_performance",
                            assay__generation_performance_json(generation_performance)) != 0) {
        json_decref(results);
        return NULL;
    }
    return results;
}
