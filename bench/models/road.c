/* Beam search for routes, and training of the model that guides it, beside PyTorch, with one thread
 * each. Both use the same network of 10 000 roads, the same weights and the same pairs of roads; a
 * call is a search for each of 24 pairs. The model is first trained on drives, so that routes are
 * found. */
#include "bench/models/peer.h"

#include <sys/stat.h>

#include "assay/model.h"
#include "base/random.h"
#include "models/road/city.h"
#include "models/road/next_road.h"
#include "models/road/search.h"

enum { ROADS = 10000, DRIVES = 1500, BATCH = 32, TIME = 40, STEPS = 250, PAIRS = 24, WIDTH = 4 };

typedef struct scene {
    assay__road_network *city;
    assay__trajectories drives;
    assay__next_road *model;
    assay__road_searcher *searcher;
    int64_t pairs[PAIRS][2];
    int64_t tried; /* pairs tried until enough were found */
    double log_probability[PAIRS];
    char folder[64];
    assay_model *trained; /* made by its class, on made-up data */
    assay_tensor inputs[4], target;
} scene;

static void check(assay_status status)
{
    if (status != ASSAY_OK) {
        fprintf(stderr, "road: %s\n", assay_status_message(status));
        exit(1);
    }
}

static void train(scene *self)
{
    assay__road_batch batch;
    assay__random random;
    assay__random_init(&random, 3);
    check(assay__road_batch_init(&batch));
    for (int step = 0; step < STEPS; step++) {
        int64_t which[BATCH];
        double loss;
        for (int i = 0; i < BATCH; i++)
            which[i] = (int64_t)assay__random_below(&random, DRIVES);
        check(assay__road_batch_fill(&batch, self->city, &self->drives, which, BATCH, TIME));
        check(assay__next_road_gradient(self->model, &batch, &loss));
        check(assay__next_road_update(self->model, 3e-3));
    }
    assay__road_batch_release(&batch);
}

static void search_all(void *context)
{
    scene *self = context;
    for (int i = 0; i < PAIRS; i++) {
        assay__road_route route;
        check(assay__road_search_beam(self->searcher, self->pairs[i][0], self->pairs[i][1], WIDTH,
                                      NULL, &route));
    }
}

static void train_step(void *context)
{
    scene *self = context;
    double loss;
    check(assay_model_gradient(self->trained, self->inputs, 4, &self->target, NULL, &loss));
    check(assay_model_update(self->trained, 1e-4, NULL));
}

/* ---- The files that the peer reads ---- */

static void save(const scene *self, const char *name, assay_element element, int64_t rows,
                 int64_t columns, void *data)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s.npy", self->folder, name);
    assay_tensor tensor = {.name = name,
                           .element = element,
                           .rank = columns > 0 ? 2 : 1,
                           .shape = {rows, columns},
                           .data = data};
    check(assay_tensor_save_npy(&tensor, path, NULL));
}

static void save_tensor(const scene *self, const assay_tensor *tensor)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s.npy", self->folder, tensor->name);
    check(assay_tensor_save_npy(tensor, path, NULL));
}

static void save_weights(const scene *self)
{
    char path[256];
    snprintf(path, sizeof path, "%s/weights.txt", self->folder);
    FILE *stream = fopen(path, "w");
    check(stream == NULL ? ASSAY_E_IO : ASSAY_OK);
    for (size_t i = 0; i < self->model->parameters.count; i++) {
        const assay_tensor *value = &self->model->parameters.list[i].value;
        fprintf(stream, "%s\n", value->name);
        save_tensor(self, value);
    }
    fclose(stream);
}

static void save_network(const scene *self)
{
    const assay__road_network *city = self->city;
    int64_t *next = calloc((size_t)city->links, sizeof *next);
    check(next == NULL ? ASSAY_E_MEMORY : ASSAY_OK);
    for (int64_t i = 0; i < city->links; i++)
        next[i] = city->next[i];
    save(self, "first", ASSAY_I64, city->roads + 1, 0, city->first);
    save(self, "next", ASSAY_I64, city->links, 0, next);
    save(self, "end_x", ASSAY_F32, city->roads, 0, city->end_x);
    save(self, "end_y", ASSAY_F32, city->roads, 0, city->end_y);
    save(self, "heading_x", ASSAY_F32, city->roads, 0, city->heading_x);
    save(self, "heading_y", ASSAY_F32, city->roads, 0, city->heading_y);
    save(self, "length_m", ASSAY_F64, city->roads, 0, city->length_m);
    save(self, "speed_mps", ASSAY_F64, city->roads, 0, city->speed_mps);
    free(next);
}

/* Saves our routes one after the other. Returns their mean length. */
static double save_routes(scene *self)
{
    int64_t *roads = calloc(PAIRS * ROADS, sizeof *roads), first[PAIRS + 1] = {0};
    check(roads == NULL ? ASSAY_E_MEMORY : ASSAY_OK);
    for (int i = 0; i < PAIRS; i++) {
        assay__road_route route;
        check(assay__road_search_beam(self->searcher, self->pairs[i][0], self->pairs[i][1], WIDTH,
                                      NULL, &route));
        first[i + 1] = first[i];
        self->log_probability[i] = route.log_probability;
        for (int64_t k = 0; route.outcome == ASSAY__ROUTE_FOUND && k < route.count; k++)
            roads[first[i + 1]++] = route.roads[k];
    }
    save(self, "pairs", ASSAY_I64, PAIRS, 2, self->pairs);
    save(self, "routes", ASSAY_I64, first[PAIRS], 0, roads);
    save(self, "route_first", ASSAY_I64, PAIRS + 1, 0, first);
    save(self, "log_probability", ASSAY_F64, PAIRS, 0, self->log_probability);
    free(roads);
    return (double)first[PAIRS] / PAIRS;
}

/* ---- Set-up and rows ---- */

static void open_scene(scene *self)
{
    assay__next_road_shape shape = assay__next_road_shape_of(ASSAY__NEXT_ROAD_VANILLA, ROADS);
    *self = (scene){.folder = "/tmp/assay-road-XXXXXX"};
    check(mkdtemp(self->folder) == NULL ? ASSAY_E_IO : ASSAY_OK);
    check(assay__city_new(ROADS, 1, NULL, &self->city));
    check(assay__city_drive(self->city, DRIVES, 2, NULL, &self->drives));
    check(assay__next_road_new(&shape, 1, NULL, &self->model));
    train(self);
    check(assay__road_searcher_new(self->city, self->model, WIDTH, 1000, NULL, &self->searcher));
    assay__random random;
    assay__random_init(&random, 9);
    for (int i = 0; i < PAIRS;) { /* only pairs with a route; the others cost the most steps */
        assay__road_route route;
        self->pairs[i][0] = (int64_t)assay__random_below(&random, ROADS);
        self->pairs[i][1] = (int64_t)assay__random_below(&random, ROADS);
        check(assay__road_search_beam(self->searcher, self->pairs[i][0], self->pairs[i][1], WIDTH,
                                      NULL, &route));
        i += route.outcome == ASSAY__ROUTE_FOUND;
        self->tried++;
    }
    const assay_model_class *class_ = NULL;
    double settings[16];
    check(assay_model_find("next_road", NULL, &class_));
    for (size_t i = 0; i < class_->option_count; i++) {
        bool roads = strcmp(class_->options[i].name, "num-nodes") == 0;
        settings[i] = roads ? ROADS : class_->options[i].initial;
    }
    check(assay_model_new(class_, settings, 1, NULL, &self->trained));
    check(assay_model_example(self->trained, 1, NULL, self->inputs, &self->target));
}

static void close_scene(scene *self)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", self->folder);
    if (system(command) != 0)
        fprintf(stderr, "road: %s is left over\n", self->folder);
    assay_model_free(self->trained);
    assay__road_searcher_free(self->searcher);
    assay__next_road_free(self->model);
    assay__trajectories_release(&self->drives);
    assay__road_network_free(self->city);
}

static void print_agreement(peer_server *server, const scene *self)
{
    char path[128];
    int same = -1;
    snprintf(path, sizeof path, "%s/agreement.txt", self->folder);
    FILE *stream = fopen(path, "r");
    if (stream == NULL || fscanf(stream, "%d", &same) != 1)
        same = -1;
    if (stream != NULL)
        fclose(stream);
    bool ok = same == PAIRS;
    server->missed |= !ok;
    printf("{\"name\": \"beam search: routes as PyTorch's\", \"value\": %d, \"unit\": \"of %d\", "
           "\"bar\": %d, \"ok\": %s}\n",
           same, PAIRS, PAIRS, ok ? "true" : "false");
}

int main(void)
{
    scene self;
    peer_server server;
    open_scene(&self);
    save_network(&self);
    save_weights(&self);
    double roads = save_routes(&self);
    for (int i = 0; i < 4; i++)
        save_tensor(&self, &self.inputs[i]);
    save_tensor(&self, &self.target);
    setenv("ASSAY_ROAD_BENCH", self.folder, 1);
    peer_start(&server, "road.py");
    if (server.questions != NULL)
        print_agreement(&server, &self);
    printf("{\"name\": \"beam search: found\", \"value\": %.3f, \"unit\": \"of all pairs\", "
           "\"bar\": null, \"ok\": true}\n",
           PAIRS / (double)self.tried);
    printf(
        "{\"name\": \"beam search: roads a route\", \"value\": %.1f, \"unit\": \"roads\", \"bar\": "
        "null, \"ok\": true}\n",
        roads);
    peer_compare(&server, "beam search, 24 routes, width 4, 10 000 roads", "PyTorch", "beam", 80,
                 search_all, &self);
    peer_compare(&server, "next-road training step, batch 32, 20 roads", "PyTorch", "train", 1.05,
                 train_step, &self);
    double start = peer_cpu_seconds();
    for (int i = 0; i < 20; i++)
        search_all(&self);
    printf(
        "{\"name\": \"beam search: ours\", \"value\": %.0f, \"unit\": \"trajectories/s\", \"bar\": "
        "null, \"ok\": true}\n",
        20 * PAIRS / (peer_cpu_seconds() - start));
    close_scene(&self);
    return peer_stop(&server);
}
