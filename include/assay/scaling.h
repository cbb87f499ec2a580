/* Scaling runs: measure a function at several sizes, and find out how its time grows.
 *
 *     static assay_status make_graph(void *context, double size, void **graph);
 *     static assay_status forward(void *context, void *graph, double size, uint64_t iterations);
 *
 *     assay_scaling_subject subject = ASSAY_SCALING_SUBJECT_INIT;
 *     subject.name = "forward";
 *     subject.parameter = "num_nodes";
 *     subject.make = make_graph;
 *     subject.run = forward;
 *     subject.destroy = free_graph;
 *     const double num_nodes[] = {100, 200, 500, 1000, 2000, 5000};
 *     assay_scaling *scaling = NULL;
 *     if (assay_scaling_run(&subject, num_nodes, 6, NULL, &error, &scaling) != ASSAY_OK) ...
 *     assay_scaling_print_summary(scaling, stdout);
 *     assay_scaling_free(scaling);
 *
 * A run goes through all sizes several times (`passes`), each time in another order and with a new
 * instance for each size. So a slow minute of the machine becomes noise and does not look like
 * growth. Within a pass, assay_sampling_run() samples each size and leaves out the warm-up. The
 * growth is fitted to one value for each size and pass, the median of its samples (growth.h).
 *
 * Threads: the callbacks run in the calling thread.
 */
#ifndef ASSAY_SCALING_H
#define ASSAY_SCALING_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/clock.h"
#include "assay/growth.h"
#include "assay/record.h"
#include "assay/sampling.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A callback that does not return ASSAY_OK ends the whole run with that status. */
typedef struct assay_scaling_subject {
    size_t struct_size;    /* set by the caller */
    const char *name;      /* in the record */
    const char *parameter; /* name of the size; NULL: "n" */
    void *context;         /* handed to every callback */

    /* Make the instance that is measured at one size, outside the timing. Optional: without it,
     * `instance` is NULL. */
    assay_status (*make)(void *context, double size, void **instance);
    /* Destroy an instance that was made. Optional. */
    void (*destroy)(void *context, void *instance);

    /* Do the work `iterations` times; the whole call is timed. */
    assay_status (*run)(void *context, void *instance, double size, uint64_t iterations);
} assay_scaling_subject;

/* Start from ASSAY_SCALING_OPTIONS_INIT; every zero means the default. */
typedef struct assay_scaling_options {
    size_t struct_size;
    size_t passes;            /* over all sizes; default 3 */
    double budget_seconds;    /* of sampling, for all sizes and passes; default 10 */
    double precision;         /* of each size in each pass; default 0.02 */
    size_t max_rounds;        /* samples of each size in each pass; default: as in sampling.h */
    uint64_t seed;            /* of the order */
    const assay_clock *clock; /* NULL: the default */
    /* Called before each measurement; `done` of `total` measurements are over. */
    void (*progress)(void *context, double size, size_t done, size_t total);
    void *progress_context;
} assay_scaling_options;

#define ASSAY_SCALING_SUBJECT_INIT ASSAY_INIT(assay_scaling_subject)
#define ASSAY_SCALING_OPTIONS_INIT ASSAY_INIT(assay_scaling_options)

enum { ASSAY_SCALING_MAX_SIZES = 1024, ASSAY_SCALING_MAX_PASSES = 1000 };

typedef struct assay_scaling {
    size_t count;
    double *parameter_values;    /* the sizes, in the order given */
    assay_timing *runtime_stats; /* of one iteration, at each size */
    /* The record has one subject for each size, whose parameter is the size; the growth; and the
     * series "median_seconds" along the parameter, to which the growth was fitted. */
    assay_record *record;
    assay_growth *growth;
} assay_scaling;

/* Measure at `count` different sizes, each finite and above zero. ASSAY_E_ARGUMENT for sizes, a
 * subject or options that make no sense; ASSAY_E_DATA if the time at a size is too short to
 * measure. Free the result with assay_scaling_free. */
ASSAY_API ASSAY_MUST_USE assay_status assay_scaling_run(const assay_scaling_subject *subject,
                                                        const double *sizes, size_t count,
                                                        const assay_scaling_options *options,
                                                        assay_error *error,
                                                        assay_scaling **scaling);
ASSAY_API void assay_scaling_free(assay_scaling *scaling);

/* Print the runtime at every size and the class of the growth, 80 columns wide. A NULL stream
 * prints nothing. */
ASSAY_API assay_status assay_scaling_print_summary(const assay_scaling *scaling, FILE *stream);

#ifdef __cplusplus
}
#endif

#endif
