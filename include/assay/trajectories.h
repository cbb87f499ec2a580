/* Trajectories on a road network: generated with a trained next-road model, every search timed, and
 * evaluated against real ones.
 *
 *     assay_trajectory_options options = ASSAY_TRAJECTORY_OPTIONS_INIT;
 *     assay_generation *generation = NULL;
 *     assay_trajectory_results results;
 *     options.dataset = "data/Beijing";              (a folder: *.geo, *.rel, train.csv, test.csv)
 *     options.model_path = "save/weights.safetensors";
 *     options.output_file = "generated.csv";
 *     options.beam_search = true;
 *     if (assay_generate_trajectories_programmatic(&options, &error, &generation) != ASSAY_OK) ...
 *     assay_generation_print(generation, stdout);
 *     options.generation_performance = &generation->performance;
 *     if (assay_evaluate_trajectories_programmatic(&options, &error, &results) != ASSAY_OK) ...
 *     assay_trajectory_results_print(&results, stdout);
 *     assay_generation_free(generation);
 *
 *     cc app.c $(pkg-config --cflags --libs assay-models)
 *
 * `assay study routes` trains models and leaves their weights and, of a made-up city, a folder that
 * serves as dataset. Calls block, keep nothing between them, and may run on several threads at once
 * with options of their own. Times are in seconds.
 */
#ifndef ASSAY_TRAJECTORIES_H
#define ASSAY_TRAJECTORIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/reading.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What searches cost ---- */

/* Of one search. */
typedef struct assay_search_performance {
    double total_time;
    double forward_time_total;                   /* in forward passes of the model */
    int64_t forward_count;                       /* batched forward passes */
    assay_reading forward_time_avg;              /* not enough data without a pass */
    int64_t beam_width;                          /* 1 in a greedy search */
    int64_t origin_road_id, destination_road_id; /* as in the files */
    const char *outcome;  /* "found", "unreachable", "lost" or "too long"; NULL: not known */
    uint64_t reserved[4]; /* zero */
} assay_search_performance;

/* Figures over all searches. Failed searches are included, because they took time as well. */
typedef struct assay_generation_performance {
    assay_reading total_time_mean, total_time_std, total_time_min, total_time_max;
    assay_reading total_time_median, total_time_p95;
    assay_reading forward_time_mean, forward_time_std; /* of the searches' forward_time_total */
    assay_reading forward_count_mean, forward_count_std;
    assay_reading throughput_traj_per_sec;    /* trajectories, not searches */
    assay_reading total_generation_time;      /* wall clock, from the first search to the last */
    assay_reading forward_time_per_step_mean; /* all forward time / all forward passes */
    bool beam_search_enabled;
    int64_t beam_width;
    char device[32];      /* "cpu", "cuda:0" */
    uint64_t reserved[8]; /* zero */
} assay_generation_performance;

/* ---- Options of both calls; zero stands for the default ---- */

typedef enum assay_od_source { ASSAY_OD_TEST, ASSAY_OD_TRAIN } assay_od_source;

typedef struct assay_trajectory_options {
    size_t struct_size;

    /* Data: a folder with one file *.geo, one *.rel, train.csv and test.csv; or these files by
     * name, and without `test` a fifth of `train`, chosen by the seed, is used for testing; or, if
     * no files are given, a city of `roads` (default 1000) with `drives` (default 3000), made up
     * from the seed. The forms of the files are LibCity's: docs/models.md. */
    const char *dataset;
    const char *geo, *rel, *train, *test;
    size_t roads, drives;
    uint64_t seed;
    assay_od_source od_source; /* the data whose ends are searched for and compared with */

    /* Generation. */
    const char *model_path;  /* weights of a next_road model as safetensors */
    const char *output_file; /* receives the trajectories as CSV */
    /* Path of a JSON file for the times of all searches, the slowest ones and the aggregates. NULL:
     * no file is written. */
    const char *performance_file;
    size_t num_gene;   /* pairs to search for (default 100) */
    bool beam_search;  /* else greedily */
    size_t beam_width; /* routes that a beam holds (default 4, at most 1024) */
    /* Called after each search with the share that is done; false stops with ASSAY_E_STATE. */
    bool (*advance)(void *context, double share);
    void *context;

    /* Evaluation. */
    const char *generated_file; /* NULL: output_file */
    /* The results contain these figures as `generation_performance`: the figures themselves, or
     * else those in a file, such as `performance_file` or the generation.json of a study. If both
     * are NULL, the results do not contain them. */
    const assay_generation_performance *generation_performance;
    const char *generation_performance_file;
    const char *results_file; /* the results are written here as JSON; NULL: not written */

    /* Generation: the ends of each search, (num_gene) ids of roads as in the files. Give both or
     * none. NULL: pairs are drawn from the seed. A drive begins at the time at which the drawn one
     * would have begun. */
    const int64_t *origin_road_ids, *destination_road_ids;

    /* Generation: where the forward passes of the searches run, as for assay_model_class_on().
     * NULL: on the processor. */
    const char *device;
} assay_trajectory_options;

#define ASSAY_TRAJECTORY_OPTIONS_INIT ASSAY_INIT(assay_trajectory_options)

/* ---- Generation ---- */

typedef struct assay_generation {
    char *output_file;
    size_t num_searched, num_generated; /* pairs; those whose destination was found */
    size_t num_unreachable, num_lost, num_too_long;
    assay_search_performance *searches; /* (num_searched), in the order of the pairs */
    size_t slowest;                     /* of them: its index */
    assay_generation_performance performance;
    uint64_t reserved[8]; /* zero */
} assay_generation;

/* Load data and weights, draw num_gene pairs of an origin and a destination from the seed (or take
 * those of the options), search a route for each pair and write the routes that were found. A
 * search that finds no route is no failure of the call; its entry in `searches` gives the outcome.
 * ASSAY_E_ARGUMENT for options that do not go together, for roads that the network does not have
 * and for weights of a network with fewer roads; ASSAY_E_UNSUPPORTED for a device that cannot be
 * used. If a file cannot be read, its status is returned. */
ASSAY_API ASSAY_MUST_USE assay_status assay_generate_trajectories_programmatic(
    const assay_trajectory_options *options, assay_error *error, assay_generation **generation);
ASSAY_API void assay_generation_free(assay_generation *generation); /* NULL is accepted */

/* The block "--- Generation Performance ---", and which search was the slowest if there are any.
 * Times from 10 ms up are shown in seconds with three decimals; shorter ones, which would read
 * 0.000s, in ms or us. */
ASSAY_API void assay_generation_print(const assay_generation *generation, FILE *stream);

/* ---- Evaluation ---- */

/* Divergences are those of Jensen and Shannon, 0 to log 2, of distributions over all trajectories.
 * Hausdorff distance and dynamic time warping are means over pairs of a generated and a real
 * trajectory with the same ends; not enough data where there is no such pair. */
typedef struct assay_trajectory_results {
    assay_reading distance_jsd, duration_jsd, radius_jsd;
    assay_reading hausdorff_km, dtw_km;
    assay_reading real_distance_km, real_duration_minutes, real_radius_km; /* means */
    assay_reading generated_distance_km, generated_duration_minutes, generated_radius_km;
    size_t num_real, num_generated, num_pairs;
    bool has_generation_performance;
    assay_generation_performance generation_performance;
    uint64_t reserved[8]; /* zero */
} assay_trajectory_results;

/* Evaluate the trajectories of generated_file against all of od_source. ASSAY_E_DATA for a file
 * without trajectories. If a file cannot be read, its status is returned. */
ASSAY_API ASSAY_MUST_USE assay_status assay_evaluate_trajectories_programmatic(
    const assay_trajectory_options *options, assay_error *error, assay_trajectory_results *results);

/* The block "--- Evaluation ---". */
ASSAY_API void assay_trajectory_results_print(const assay_trajectory_results *results,
                                              FILE *stream);

#ifdef __cplusplus
}
#endif

#endif
