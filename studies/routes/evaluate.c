/* Generated and real trajectories are matched by their ends: both sides are sorted by (first road,
 * last road, place in the file) and walked together. A file says no more than that about which pair
 * a trajectory was made for, so one made elsewhere is treated as our own. */
#include "studies/routes/evaluate.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "studies/common/results.h"

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

/* ---- What is found ---- */

/* Where the figures of an evaluation are, what they are called in a record and in results.json: in
 * it or, for means, in one of its two objects. */
typedef struct figure {
    const char *name, *unit;
    size_t offset;
    const char *object, *key;
} figure;

#define AT(member) offsetof(assay__road_evaluation, member)

static const figure figures[] = {
    {"distance_jsd", NULL, AT(distance_jsd), NULL, "Distance_JSD"},
    {"duration_jsd", NULL, AT(duration_jsd), NULL, "Duration_JSD"},
    {"radius_jsd", NULL, AT(radius_jsd), NULL, "Radius_JSD"},
    {"hausdorff", "km", AT(hausdorff_km), NULL, "Hausdorff"},
    {"dtw", "km", AT(warping_km), NULL, "DTW"},
    {"real_distance", "km", AT(distance_real_mean_km), "real_mean", "distance_km"},
    {"real_duration", "min", AT(duration_real_mean_minutes), "real_mean", "duration_minutes"},
    {"real_radius", "km", AT(radius_real_mean_km), "real_mean", "radius_km"},
    {"generated_distance", "km", AT(distance_generated_mean_km), "generated_mean", "distance_km"},
    {"generated_duration", "min", AT(duration_generated_mean_minutes), "generated_mean",
     "duration_minutes"},
    {"generated_radius", "km", AT(radius_generated_mean_km), "generated_mean", "radius_km"},
};
enum { FIGURES = sizeof figures / sizeof *figures };

/* Distances without a pair are NaN, and nothing else is. */
static assay_reading read_figure(const assay__road_evaluation *evaluation, size_t index)
{
    double value;
    memcpy(&value, (const char *)evaluation + figures[index].offset, sizeof value);
    return isfinite(value) ? assay_reading_of(value) : assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
}

static const char pairs_figure[] = "evaluated_pairs";

static assay_status add_findings(const assay__road_evaluation *evaluation, int64_t num_real,
                                 int64_t num_generated, const char *model, assay_record *found)
{
    const struct {
        const char *name;
        int64_t value;
    } counts[] = {{"evaluated_real", num_real},
                  {"evaluated_generated", num_generated},
                  {pairs_figure, evaluation->pairs}};
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < FIGURES && status == ASSAY_OK; i++)
        status = assay__found_figure(found, figures[i].name, model, read_figure(evaluation, i),
                                     figures[i].unit);
    for (size_t i = 0; i < sizeof counts / sizeof *counts && status == ASSAY_OK; i++)
        status = assay__found_figure(found, counts[i].name, model,
                                     assay_reading_of((double)counts[i].value), NULL);
    return status;
}

assay_status assay__evaluate_trajectories(const assay__road_network *network,
                                          const assay__trajectories *real,
                                          const char *generated_file, const char *model,
                                          assay_error *error, assay_record *found)
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
    if (status == ASSAY_OK &&
        add_findings(&evaluation, real->count, generated.count, model, found) != ASSAY_OK)
        status = assay__fail(error, ASSAY_E_MEMORY, "no memory to evaluate '%s'", generated_file);
    free(matching);
    assay__trajectories_release(&generated);
    return status;
}

/* ---- Views ---- */

bool assay__evaluated(const assay_record *found, const char *model)
{
    return assay__record_figure(found, pairs_figure, model).validity == ASSAY_VALID;
}

static void print_distance(FILE *stream, const char *label, assay_reading kilometres)
{
    if (kilometres.validity == ASSAY_VALID)
        fprintf(stream, "%-26s%.3f km\n", label, kilometres.value);
    else
        fprintf(stream, "%-26sn/a (no pairs)\n", label);
}

void assay__evaluation_print(const assay_record *found, const char *model, FILE *stream)
{
    fprintf(stream,
            "--- Evaluation ---\n"
            "%-26s%.4f\n%-26s%.4f\n%-26s%.4f\n",
            "Distance JSD", assay__record_figure(found, "distance_jsd", model).value,
            "Duration JSD", assay__record_figure(found, "duration_jsd", model).value, "Radius JSD",
            assay__record_figure(found, "radius_jsd", model).value);
    print_distance(stream, "Hausdorff", assay__record_figure(found, "hausdorff", model));
    print_distance(stream, "DTW", assay__record_figure(found, "dtw", model));
}

static json_t *count_json(const assay_record *found, const char *name, const char *model)
{
    return json_integer((json_int_t)assay__record_figure(found, name, model).value);
}

static int set_figures(json_t *results, const assay_record *found, const char *model)
{
    int failed = 0;
    for (size_t i = 0; i < FIGURES && failed == 0; i++) {
        json_t *object = results;
        if (figures[i].object != NULL) {
            if (json_object_get(results, figures[i].object) == NULL)
                failed |= json_object_set_new(results, figures[i].object, json_object());
            object = json_object_get(results, figures[i].object);
        }
        failed |= assay__json_set_reading(object, figures[i].key,
                                          assay__record_figure(found, figures[i].name, model));
    }
    return failed;
}

json_t *assay__evaluation_json(const assay_record *found, const char *model,
                               const assay__generation_performance *generation_performance)
{
    json_t *results = json_object();
    int failed = 0;
    if (assay__evaluated(found, model)) {
        failed |= set_figures(results, found, model);
        failed |=
            json_object_set_new(results, "num_real", count_json(found, "evaluated_real", model));
        failed |= json_object_set_new(results, "num_generated",
                                      count_json(found, "evaluated_generated", model));
        failed |= json_object_set_new(results, "pairs", count_json(found, pairs_figure, model));
    } else {
        failed |= json_object_set_new(results, "num_generated", json_integer(0));
    }
    if (generation_performance != NULL)
        failed |= json_object_set_new(results, "generation_performance",
                                      assay__generation_performance_json(generation_performance));
    if (failed != 0) {
        json_decref(results);
        return NULL;
    }
    return results;
}
