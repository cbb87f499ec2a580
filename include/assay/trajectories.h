/* Trajectories on a road network. A trained next-road model generates them, every search is timed,
 * and they are evaluated against real trajectories.
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
 * `assay study routes` trains models and saves their weights and, for a generated city, a folder
 * that can be used as dataset. Calls block and keep no state. Several threads may call at the same
 * time, each with options of its own. Times are in seconds.
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

/* ---- The cost of searches ---- */

/* The cost of one search. */
typedef struct assay_search_performance {
    double total_time;
    double forward_time_total;                   /* in forward passes of the model */
    int64_t forward_count;                       /* batched forward passes */
    assay_reading forward_time_avg;              /* not enough data without a forward pass */
    int64_t beam_width;                          /* 1 in a greedy search */
    int64_t origin_road_id, destination_road_id; /* as in the files */
    const char *outcome;  /* "found", "unreachable", "lost" or "too long"; NULL: not known */
    uint64_t reserved[4]; /* zero */
} assay_search_performance;

/* Figures over all searches. Searches that found no route are included, because they took time,
 * too. */
typedef struct assay_generation_performance {
    assay_reading total_time_mean, total_time_std, total_time_min, total_time_max;
    assay_reading total_time_median, total_time_p95;
    assay_reading forward_time_mean, forward_time_std; /* of the searches' forward_time_total */
    assay_reading forward_count_mean, forward_count_std;
    assay_reading throughput_traj_per_sec;    /* of trajectories, not of searches */
    assay_reading total_generation_time;      /* wall clock, from the first search to the last */
    assay_reading forward_time_per_step_mean; /* all forward time / all forward passes */
    bool beam_search_enabled;
    int64_t beam_width;
    char device[32];      /* "cpu" or "cuda:0" */
    uint64_t reserved[8]; /* zero */
} assay_generation_performance;

/* ---- Options of both calls; zero stands for the default ---- */

typedef enum assay_od_source { ASSAY_OD_TEST, ASSAY_OD_TRAIN } assay_od_source;

typedef struct assay_trajectory_options {
    size_t struct_size;

    /* The data come from one of three sources. `dataset` is a folder with one file *.geo, one
     * *.rel, train.csv and test.csv. Or the four paths name these files; without `test`, a fifth of
     * `train`, chosen by the seed, is used for testing. If no files are given, a city of `roads`
     * roads (default 1000) with `drives` drives (default 3000) is generated from the seed. The
     * files have the formats of LibCity (docs/models.md). */
    const char *dataset;
    const char *geo, *rel, *train, *test;
    size_t roads, drives;
    uint64_t seed;
    assay_od_source od_source; /* the drives that give the pairs, and that are compared with */

    /* Generation. */
    const char *model_path;  /* weights of a next_road model as safetensors */
    const char *output_file; /* receives the trajectories as CSV */
    /* Path of a JSON file for the times of all searches, the slowest ones and the aggregates. NULL:
     * no file is written. */
    const char *performance_file;
    size_t num_gene;   /* number of pairs to search for (default 100) */
    bool beam_search;  /* otherwise the search is greedy */
    size_t beam_width; /* number of routes in a beam (default 4, at most 1024) */
    /* Called after each search with the share that is done. If it returns false, the call stops
     * with ASSAY_E_STATE. */
    bool (*advance)(void *context, double share);
    void *context;

    /* Evaluation. */
    const char *generated_file; /* NULL: output_file */
    /* Figures that the results contain as `generation_performance`. Pass the figures themselves, or
     * a file that has them, such as `performance_file` or the generation.json of a study. If both
     * are NULL, the results do not contain them. */
    const assay_generation_performance *generation_performance;
    const char *generation_performance_file;
    const char *results_file; /* the results are written here as JSON; NULL: not written */

    /* Generation: the origin and the destination of each search, (num_gene) ids of roads as in the
     * files. Give both or neither. NULL: pairs are drawn from the seed. A drive begins at the time
     * at which the drawn one would have begun. */
    const int64_t *origin_road_ids, *destination_road_ids;

    /* Generation: the device on which the forward passes of the searches run, named as for
     * assay_model_class_on(). NULL: the processor. */
    const char *device;
} assay_trajectory_options;

#define ASSAY_TRAJECTORY_OPTIONS_INIT ASSAY_INIT(assay_trajectory_options)

/* ---- Generation ---- */

typedef struct assay_generation {
    char *output_file;
    size_t num_searched, num_generated; /* pairs; pairs whose destination was found */
    size_t num_unreachable, num_lost, num_too_long;
    assay_search_performance *searches; /* (num_searched), in the order of the pairs */
    size_t slowest;                     /* index of the slowest search */
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

/* Print the block "--- Generation Performance ---", with the slowest search if there are any. Times
 * of 10 ms or more are shown in seconds with three decimals. Shorter times, which would read
 * 0.000s, are shown in ms or us. */
ASSAY_API void assay_generation_print(const assay_generation *generation, FILE *stream);

/* ---- Evaluation ---- */

/* The figures `_jsd` are Jensen-Shannon divergences, from 0 to log 2, of distributions over all
 * trajectories. Hausdorff distance and dynamic time warping (DTW) are means over pairs of a
 * generated and a real trajectory with the same ends; not enough data if there is no such pair. */
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

/* Print the block "--- Evaluation ---". */
ASSAY_API void assay_trajectory_results_print(const assay_trajectory_results *results,
                                              FILE *stream);

#ifdef __cplusplus
}
#endif

#endif
