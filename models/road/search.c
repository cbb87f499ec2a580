/* Greedy and beam search. All routes of a search form a tree of nodes (road, parent); the final
 * route is read from it backwards. For each road the searcher stores the number of the last search
 * that expanded it and of the last step that entered it. Comparing them with the present numbers
 * tells whether that happened in this search or step, so nothing has to be cleared in between. */
#include "models/road/search.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "models/kernel/kernels.h"
#include "models/kernel/threads.h"
#include "models/road/searcher.h"

const char *assay__route_outcome_name(assay__route_outcome outcome)
{
    static const char *const names[] = {"found", "unreachable", "lost", "too long"};
    return names[outcome];
}

/* ---- Steps ---- */

/* Gather the successors of all routes and their features. Returns how many of the successors may be
 * entered. */
static int64_t gather(assay__road_searcher *self, int32_t destination)
{
    const assay__road_network *network = self->network;
    int64_t count = 0, open = 0;
    for (int64_t i = 0; i < self->beam_count; i++)
        self->marks[self->beam[i].road].expanded = self->search;
    for (int64_t i = 0; i < self->beam_count; i++) {
        int32_t from = self->beam[i].road;
        self->first[i] = count;
        for (int64_t k = network->first[from]; k < network->first[from + 1]; k++) {
            int32_t to = network->next[k];
            self->route_of[count] = (int32_t)i;
            self->origin[count] = from;
            self->choice[count++] = to;
            assay__road_searcher_expect_choice(self, to);
            open += self->marks[to].expanded != self->search;
        }
    }
    self->first[self->beam_count] = count;
    for (int64_t c = count; c % ASSAY__ROAD_BLOCK != 0; c++)
        self->origin[c] = self->choice[c] = destination;
    assay__road_moving_features(network, count, self->origin, self->choice, destination,
                                self->features);
    return open;
}

/* List the continuations that may be entered. If two lead to the same road, the worse one is left
 * out, or gets the log-probability -infinity if it was listed already. Returns the length of the
 * list. */
static int64_t list_options(assay__road_searcher *self)
{
    int64_t count = 0;
    self->step++;
    assay__road_log_softmax(self->beam_count, self->first, self->logits, self->powers);
    for (int64_t i = 0; i < self->beam_count; i++) {
        for (int64_t c = self->first[i]; c < self->first[i + 1]; c++) {
            assay__road_mark *mark = &self->marks[self->choice[c]];
            assay__route_held option = {self->choice[c], self->beam[i].node, (int32_t)i,
                                        self->beam[i].log_probability + (double)self->logits[c]};
            if (mark->expanded == self->search)
                continue;
            if (mark->entered == self->step) {
                assay__route_held *other = &self->options[mark->entered_at];
                if (!(option.log_probability > other->log_probability))
                    continue;
                other->log_probability = -INFINITY;
            }
            __builtin_prefetch(self->network->next + self->network->first[self->choice[c]]);
            mark->entered = self->step;
            mark->entered_at = (int32_t)count;
            self->options[count++] = option;
        }
    }
    return count;
}

/* Make the best `width` options the new beam, best first, and add them to the tree. */
static void keep_best(assay__road_searcher *self, int64_t option_count, int64_t width)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < option_count; i++) {
        const assay__route_held option = self->options[i];
        const double value = option.log_probability;
        if (value == -INFINITY ||
            (kept == width && !(value > self->beam[width - 1].log_probability)))
            continue;
        int64_t at = kept < width ? kept++ : width - 1;
        for (; at > 0 && value > self->beam[at - 1].log_probability; at--)
            self->beam[at] = self->beam[at - 1];
        self->beam[at] = option;
    }
    for (int64_t i = 0; i < kept; i++) {
        self->nodes[self->node_count] = (assay__route_node){self->beam[i].road, self->beam[i].node};
        self->beam[i].node = (int32_t)self->node_count++;
        assay__road_searcher_expect_route(self, self->beam[i].road);
    }
    self->beam_count = kept;
}

/* ---- A search ---- */

static void begin(assay__road_searcher *self, int32_t origin, int32_t destination)
{
    const assay__next_road_shape *s = &self->model->shape;
    size_t roads = (size_t)self->network->roads;
    if (self->search == UINT32_MAX || self->step >= UINT32_MAX - (uint32_t)self->max_steps) {
        memset(self->marks, 0, roads * sizeof *self->marks);
        memset(self->seen, 0, roads * sizeof *self->seen);
        self->search = self->step = 0;
    }
    self->search++;
    assay__road_searcher_aim(self, destination);
    memset(self->state[0], 0, (size_t)s->hidden * sizeof(float));
    self->nodes[0] = (assay__route_node){origin, -1};
    self->node_count = 1;
    self->beam[0] = (assay__route_held){.road = origin};
    self->beam_count = 1;
}

static double squared_distance(const assay__road_network *network, int32_t from, int32_t to)
{
    const double x = (double)network->end_x[from] - (double)network->end_x[to];
    const double y = (double)network->end_y[from] - (double)network->end_y[to];
    return x * x + y * y;
}

static void tell_route(assay__road_searcher *self, const assay__route_held *best,
                       assay__road_route *route)
{
    int64_t count = 0;
    for (int32_t at = best->node; at >= 0; at = self->nodes[at].parent)
        count++;
    route->roads = self->route;
    route->count = count;
    route->log_probability = best->log_probability;
    for (int32_t at = best->node; at >= 0; at = self->nodes[at].parent)
        self->route[--count] = self->nodes[at].road;
}

/* Run one forward pass between the calls of the hook, and count it in `route`. */
static assay_status score(assay__road_searcher *self, assay_error *error, assay__road_route *route)
{
    if (self->hook.before_forward != NULL)
        self->hook.before_forward(self->hook.context);
    assay_status status = assay__road_searcher_forward(self, error);
    if (self->hook.after_forward != NULL)
        self->hook.after_forward(self->hook.context);
    route->forward_count++;
    route->candidate_count += self->first[self->beam_count];
    return status;
}

/* Return whether one of the present routes has reached the destination. If a present route is
 * nearer to the destination than `*least`, a squared distance, update `*least` and
 * `*nearest`. */
static bool arrived(const assay__road_searcher *self, int32_t destination, double *least,
                    assay__route_held *nearest)
{
    for (int64_t i = 0; i < self->beam_count; i++) {
        double here = squared_distance(self->network, self->beam[i].road, destination);
        if (self->beam[i].road == destination || here < *least) {
            *least = here;
            *nearest = self->beam[i];
        }
        if (self->beam[i].road == destination)
            return true;
    }
    return false;
}

/* Return whether the search is over, and its outcome. If it is not over, the candidates of the next
 * step have been gathered. */
static bool is_over(assay__road_searcher *self, int32_t destination, int64_t step, double *least,
                    assay__route_held *nearest, assay__route_outcome *outcome)
{
    if (arrived(self, destination, least, nearest))
        *outcome = ASSAY__ROUTE_FOUND;
    else if (step == self->max_steps)
        *outcome = ASSAY__ROUTE_TOO_LONG;
    else if (gather(self, destination) == 0)
        *outcome = ASSAY__ROUTE_LOST;
    else
        return false;
    return true;
}

/* Run the steps of a search until it is over. The only failures are those of an engine. */
static assay_status run(assay__road_searcher *self, int32_t destination, int64_t width,
                        assay_error *error, assay__route_held *nearest, assay__road_route *route)
{
    double least = INFINITY;
    for (int64_t step = 0; !is_over(self, destination, step, &least, nearest, &route->outcome);
         step++) {
        assay_status status = score(self, error, route);
        if (status != ASSAY_OK)
            return status;
        keep_best(self, list_options(self), width);
    }
    return ASSAY_OK;
}

assay_status assay__road_search_beam(assay__road_searcher *self, int64_t origin,
                                     int64_t destination, int64_t width, assay_error *error,
                                     assay__road_route *route)
{
    int64_t roads = self->network->roads;
    *route = (assay__road_route){0};
    if (origin < 0 || origin >= roads || destination < 0 || destination >= roads) {
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "no way from road %lld to road %lld: the network has roads 0 to %lld",
                           (long long)origin, (long long)destination, (long long)roads - 1);
    }
    if (width < 1 || width > self->max_width) {
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "a beam of %lld: this searcher has room for %lld", (long long)width,
                           (long long)self->max_width);
    }
    assay__route_held nearest = {0};
    begin(self, (int32_t)origin, (int32_t)destination);
    assay_status status = run(self, (int32_t)destination, width, error, &nearest, route);
    if (status != ASSAY_OK)
        return status;
    tell_route(self, &nearest, route);
    if (route->outcome != ASSAY__ROUTE_FOUND &&
        !assay__road_network_reaches(self->network, origin, destination, self->queue, self->seen,
                                     self->search))
        route->outcome = ASSAY__ROUTE_UNREACHABLE;
    return ASSAY_OK;
}

assay_status assay__road_search_greedy(assay__road_searcher *searcher, int64_t origin,
                                       int64_t destination, assay_error *error,
                                       assay__road_route *route)
{
    return assay__road_search_beam(searcher, origin, destination, 1, error, route);
}

typedef struct many {
    assay__road_searcher *const *searchers;
    const int64_t (*pairs)[2];
    int64_t count, width;
    assay__road_take take;
    void *context;
    _Atomic int64_t next; /* the next pair; shared, as searches differ in length */
    atomic_int failed;
    assay_error *error;
} many;

static void search_part(void *context, int part)
{
    many *m = context;
    for (int64_t i;
         (i = atomic_fetch_add(&m->next, 1)) < m->count && atomic_load(&m->failed) == ASSAY_OK;) {
        assay__road_route route;
        assay_error error = {0};
        int none = ASSAY_OK;
        assay_status status = assay__road_search_beam(m->searchers[part], m->pairs[i][0],
                                                      m->pairs[i][1], m->width, &error, &route);
        if (status == ASSAY_OK)
            m->take(m->context, i, &route);
        else if (atomic_compare_exchange_strong(&m->failed, &none, (int)status) && m->error != NULL)
            *m->error = error;
    }
}

assay_status assay__road_search_many(assay__road_searcher *const *searchers, int searcher_count,
                                     const int64_t (*pairs)[2], int64_t count, int64_t width,
                                     assay__road_take take, void *context, assay_error *error)
{
    many m = {.searchers = searchers,
              .pairs = pairs,
              .count = count,
              .width = width,
              .take = take,
              .context = context,
              .error = error};
    assay__parallel(searcher_count, search_part, &m);
    return (assay_status)atomic_load(&m.failed);
}
