/* Generates trajectories. The timed loop only searches and stores the routes. The times at which
 * roads are entered, and the file, come afterwards, so that total_generation_time contains only the
 * generation. */
#include "models/routes/generate.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "models/cuda/road_search.h"
#include "models/routes/performance.h"

enum { MAX_STEPS = 10000 };

/* ---- One search ---- */

static void enter_forward(void *context)
{
    assay__timed_searcher *self = context;
    self->entered_ns = assay_clock_now_ns(assay_clock_default());
}

static void leave_forward(void *context)
{
    assay__timed_searcher *self = context;
    self->forward_ns += assay_clock_now_ns(assay_clock_default()) - self->entered_ns;
}

/* Make self->searcher, whose forward passes run on the device of `class_`. */
static assay_status make_searcher(assay__timed_searcher *self, const assay__road_network *network,
                                  const assay__next_road *model, const assay_model_class *class_,
                                  int64_t max_width, assay_error *error)
{
    int64_t steps = network->roads < MAX_STEPS ? network->roads : MAX_STEPS;
    assay_status status =
        assay__road_searcher_new(network, model, max_width, steps, error, &self->searcher);
    if (status != ASSAY_OK || class_ == &assay__next_road_class)
        return status;
    const assay__road_engine engine = assay__gpu_road_engine(class_);
    return assay__road_searcher_move(self->searcher, &engine, error);
}

assay_status assay__timed_searcher_init(assay__timed_searcher *self,
                                        const assay__road_network *network,
                                        const assay__next_road *model, const char *device,
                                        int64_t max_width, assay_error *error)
{
    const assay_model_class *class_ = NULL;
    *self = (assay__timed_searcher){0};
    assay_status status = assay_model_class_on(&assay__next_road_class, device, error, &class_);
    if (status == ASSAY_OK)
        status = make_searcher(self, network, model, class_, max_width, error);
    if (status != ASSAY_OK) {
        assay__timed_searcher_release(self);
        return status;
    }
    self->device = assay_model_class_device(class_);
    assay__road_search_hook hook = {enter_forward, leave_forward, self};
    assay__road_searcher_set_hook(self->searcher, &hook);
    return ASSAY_OK;
}

void assay__timed_searcher_release(assay__timed_searcher *self)
{
    assay__road_searcher_free(self->searcher);
    *self = (assay__timed_searcher){0};
}

assay_status assay__timed_search(assay__timed_searcher *self, int64_t origin, int64_t destination,
                                 int64_t width, assay_error *error, assay__road_route *route,
                                 assay_search_performance *performance)
{
    if (width < 0)
        return assay__fail(error, ASSAY_E_ARGUMENT, "a beam has a width of 1 or more");
    self->forward_ns = 0;
    uint64_t start_ns = assay_clock_now_ns(assay_clock_default());
    assay_status status =
        width == 0
            ? assay__road_search_greedy(self->searcher, origin, destination, error, route)
            : assay__road_search_beam(self->searcher, origin, destination, width, error, route);
    uint64_t end_ns = assay_clock_now_ns(assay_clock_default());
    if (status != ASSAY_OK)
        return status;
    double forward = (double)self->forward_ns * 1e-9;
    *performance = (assay_search_performance){
        .total_time = (double)(end_ns - start_ns) * 1e-9,
        .forward_time_total = forward,
        .forward_count = route->forward_count,
        .forward_time_avg = route->forward_count > 0
                                ? assay_reading_of(forward / (double)route->forward_count)
                                : assay_reading_missing(ASSAY_NOT_ENOUGH_DATA),
        .beam_width = width == 0 ? 1 : width,
        .outcome = assay__route_outcome_name(route->outcome)};
    return ASSAY_OK;
}

/* ---- All of them ---- */

/* The routes that were found, as trajectories, and the index of the pair that each belongs to. */
typedef struct found_routes {
    assay__trajectories routes;
    size_t *pair; /* (routes.count) */
} found_routes;

static assay_status keep(const assay__road_route *route, size_t pair, found_routes *found)
{
    assay_status status = ASSAY_OK;
    found->pair[found->routes.count] = pair;
    for (int64_t k = 0; k < route->count && status == ASSAY_OK; k++)
        status = assay__trajectories_drive(&found->routes, route->roads[k], 0);
    return status == ASSAY_OK ? assay__trajectories_end(&found->routes) : status;
}

static void count_outcome(assay__route_outcome outcome, assay_generation *generation)
{
    generation->num_searched++;
    switch (outcome) {
    case ASSAY__ROUTE_FOUND:
        generation->num_generated++;
        break;
    case ASSAY__ROUTE_UNREACHABLE:
        generation->num_unreachable++;
        break;
    case ASSAY__ROUTE_LOST:
        generation->num_lost++;
        break;
    case ASSAY__ROUTE_TOO_LONG:
        generation->num_too_long++;
        break;
    }
}

/* Report a search that is done. `aside_ns` grows by the time that this takes. Returns false if the
 * caller wants to stop. */
static bool advance(const assay__generation_options *options, size_t done, size_t count,
                    uint64_t *aside_ns)
{
    if (options->advance == NULL)
        return true;
    uint64_t start_ns = assay_clock_now_ns(assay_clock_default());
    bool goes_on = options->advance(options->context, (double)done / (double)count);
    *aside_ns += assay_clock_now_ns(assay_clock_default()) - start_ns;
    return goes_on;
}

/* Run all searches. `seconds` receives the time that they took, without that of options->advance.
 */
static assay_status search_all(assay__timed_searcher *searcher, const assay__od_pair *pairs,
                               size_t count, const assay__generation_options *options,
                               assay_error *error, assay_generation *generation,
                               found_routes *found, double *seconds)
{
    uint64_t start_ns = assay_clock_now_ns(assay_clock_default()), aside_ns = 0;
    int64_t width = options->beam_search ? options->beam_width : 0;
    for (size_t i = 0; i < count; i++) {
        assay__road_route route;
        assay_status status = assay__timed_search(searcher, pairs[i].origin, pairs[i].destination,
                                                  width, error, &route, &generation->searches[i]);
        if (status == ASSAY_OK && route.outcome == ASSAY__ROUTE_FOUND)
            status = keep(&route, i, found);
        if (status != ASSAY_OK)
            return status;
        count_outcome(route.outcome, generation);
        if (!advance(options, i + 1, count, &aside_ns))
            return assay__fail(error, ASSAY_E_STATE, "stopped after %zu of %zu searches", i + 1,
                               count);
    }
    uint64_t end_ns = assay_clock_now_ns(assay_clock_default());
    *seconds = (double)(end_ns - start_ns - aside_ns) * 1e-9;
    return ASSAY_OK;
}

static void set_times(const assay__routes_data *data, const assay__od_pair *pairs,
                      found_routes *found)
{
    for (int64_t i = 0; i < found->routes.count; i++) {
        double at = (double)pairs[found->pair[i]].start_seconds;
        for (int64_t k = found->routes.first[i]; k < found->routes.first[i + 1]; k++) {
            found->routes.seconds[k] = (int64_t)llround(at);
            at += data->travel_seconds[found->routes.roads[k]];
        }
    }
}

static void write_row(FILE *stream, const assay__road_network *network, const found_routes *found,
                      int64_t index, const assay__od_pair *pair)
{
    const assay__trajectories *routes = &found->routes;
    int64_t start = routes->first[index], end = routes->first[index + 1];
    fprintf(stream, "%" PRId64 ",%" PRId64 ",\"[", network->ids[pair->origin],
            network->ids[pair->destination]);
    for (int64_t k = start; k < end; k++)
        fprintf(stream, "%s%" PRId64, k > start ? ", " : "", network->ids[routes->roads[k]]);
    fputs("]\",\"[", stream);
    for (int64_t k = start; k < end; k++) {
        char time[ASSAY__TIME_BYTES];
        assay__time_format(routes->seconds[k], time);
        fprintf(stream, "%s'%s'", k > start ? ", " : "", time);
    }
    fputs("]\"\n", stream);
}

static assay_status write_file(const char *path, const assay__road_network *network,
                               const found_routes *found, const assay__od_pair *pairs,
                               assay_error *error)
{
    assay__output output;
    assay_status status = assay__output_begin(&output, path, error);
    if (status != ASSAY_OK)
        return status;
    fputs("origin_road_id,destination_road_id,gene_trace_road_id,gene_trace_datetime\n",
          output.stream);
    for (int64_t i = 0; i < found->routes.count; i++)
        write_row(output.stream, network, found, i, &pairs[found->pair[i]]);
    return assay__output_commit(&output, error);
}

/* ---- All of it ---- */

static assay_generation *new_generation(size_t count, const char *output_file)
{
    assay_generation *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->searches = calloc(count + 1, sizeof *made->searches);
    made->output_file = strdup(output_file);
    if (made->searches != NULL && made->output_file != NULL)
        return made;
    assay_generation_free(made);
    return NULL;
}

void assay_generation_free(assay_generation *generation)
{
    if (generation != NULL) {
        free(generation->searches);
        free(generation->output_file);
        free(generation);
    }
}

/* Fill in the roads of each search, find the slowest search, and compute the figures over all. */
static assay_status summarize(const assay__road_network *network, const assay__od_pair *pairs,
                              const assay__generation_options *options, const char *device,
                              double seconds, assay_generation *generation)
{
    for (size_t i = 0; i < generation->num_searched; i++) {
        assay_search_performance *search = &generation->searches[i];
        search->origin_road_id = network->ids[pairs[i].origin];
        search->destination_road_id = network->ids[pairs[i].destination];
        if (search->total_time > generation->searches[generation->slowest].total_time)
            generation->slowest = i;
    }
    return assay__performance_aggregate(generation->searches, generation->num_searched,
                                        assay_reading_of((double)generation->num_generated),
                                        assay_reading_of(seconds), options->beam_search, device,
                                        &generation->performance);
}

static assay_status generate(const assay__routes_data *data, assay__timed_searcher *searcher,
                             const assay__od_pair *pairs, size_t count,
                             const assay__generation_options *options, assay_error *error,
                             assay_generation *generation, found_routes *routes)
{
    double seconds = 0;
    assay_status status =
        search_all(searcher, pairs, count, options, error, generation, routes, &seconds);
    if (status == ASSAY_OK)
        status = summarize(data->network, pairs, options, searcher->device, seconds, generation);
    if (status != ASSAY_OK)
        return status;
    set_times(data, pairs, routes);
    return write_file(options->output_file, data->network, routes, pairs, error);
}

assay_status assay__generate_trajectories(const assay__routes_data *data,
                                          const assay__next_road *model,
                                          const assay__od_pair *pairs, size_t count,
                                          const assay__generation_options *options,
                                          assay_error *error, assay_generation **generation)
{
    assay__timed_searcher searcher = {0};
    found_routes routes = {.pair = calloc(count + 1, sizeof *routes.pair)};
    assay_generation *made = new_generation(count, options->output_file);
    assay_status status =
        routes.pair == NULL || made == NULL
            ? ASSAY_E_MEMORY
            : assay__timed_searcher_init(&searcher, data->network, model, options->device,
                                         options->beam_search ? options->beam_width : 1, error);
    assay__trajectories_init(&routes.routes);
    if (status == ASSAY_OK)
        status = generate(data, &searcher, pairs, count, options, error, made, &routes);
    /* Keep the message of the call that ran out of memory, if it wrote one. */
    if (status == ASSAY_E_MEMORY && error != NULL && error->status != status)
        assay__fail(error, ASSAY_E_MEMORY, "no memory to generate %zu trajectories", count);
    assay__timed_searcher_release(&searcher);
    assay__trajectories_release(&routes.routes);
    free(routes.pair);
    if (status == ASSAY_OK)
        *generation = made;
    else
        assay_generation_free(made);
    return status;
}
