/* Loads a road network and trajectories from files, or makes them up, and draws pairs of roads.
 * Random orders follow from the seed alone (shuffle of Fisher and Yates), so that a resumed study
 * draws them again instead of storing them. */
#include "models/routes/data.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "models/road/city.h"

enum { LEAST_TRAJECTORIES = 5, TEST_SHARE = 5 /* one in five */ };

static int64_t *shuffled(int64_t count, uint64_t seed)
{
    int64_t *order = calloc((size_t)count + 1, sizeof *order);
    assay__random random;
    assay__random_init(&random, seed);
    for (int64_t i = 0; i < count && order != NULL; i++) {
        int64_t j = (int64_t)assay__random_below(&random, (uint64_t)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    return order;
}

static assay_status copy_one(const assay__trajectories *from, int64_t index,
                             assay__trajectories *to)
{
    assay_status status = ASSAY_OK;
    for (int64_t k = from->first[index]; k < from->first[index + 1] && status == ASSAY_OK; k++)
        status = assay__trajectories_drive(to, from->roads[k], from->seconds[k]);
    return status == ASSAY_OK ? assay__trajectories_end(to) : status;
}

static assay_status split(const assay__trajectories *all, uint64_t seed, assay__routes_data *data)
{
    int64_t *order = shuffled(all->count, seed);
    assay_status status = order == NULL ? ASSAY_E_MEMORY : ASSAY_OK;
    for (int64_t i = 0; i < all->count && status == ASSAY_OK; i++)
        status = copy_one(all, order[i], i % TEST_SHARE == 0 ? &data->test : &data->train);
    free(order);
    return status;
}

/* ---- Files ---- */

static assay_status load_files(const assay__routes_source *source, uint64_t seed,
                               assay_error *error, assay__routes_data *data)
{
    if (source->geo == NULL || source->rel == NULL || source->trajectories == NULL)
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "real data takes a .geo, a .rel and trajectories together; without any "
                           "of them a city is made up");
    assay__trajectories all;
    assay__trajectories_init(&all);
    assay_status status = assay__road_network_load(source->geo, source->rel, error, &data->network);
    if (status == ASSAY_OK)
        status = assay__trajectories_load(data->network, source->trajectories, error,
                                          source->test != NULL ? &data->train : &all);
    if (status == ASSAY_OK && source->test != NULL)
        status = assay__trajectories_load(data->network, source->test, error, &data->test);
    if (status == ASSAY_OK && source->test == NULL)
        status = split(&all, seed, data);
    assay__trajectories_release(&all);
    return status;
}

/* ---- A folder ---- */

enum { GEO, REL, TRAIN, TEST, FILES };

typedef struct dataset {
    char *files[FILES];
} dataset;

static void release_dataset(dataset *self)
{
    for (int i = 0; i < FILES; i++)
        free(self->files[i]);
}

static bool ends_in(const char *name, const char *ending)
{
    size_t length = strlen(name), end = strlen(ending);
    return length > end && strcmp(name + length - end, ending) == 0;
}

static assay_status join(const char *folder, const char *name, char **path)
{
    return asprintf(path, "%s/%s", folder, name) >= 0 ? ASSAY_OK : ASSAY_E_MEMORY;
}

/* Find the file of the folder with this ending; there must be exactly one. The caller frees *path.
 */
static assay_status find_file(const char *folder, const char *ending, assay_error *error,
                              char **path)
{
    DIR *listing = opendir(folder);
    if (listing == NULL)
        return assay__fail_errno(error, "cannot read the dataset '%s'", folder);
    assay_status status = ASSAY_OK;
    for (const struct dirent *entry; status == ASSAY_OK && (entry = readdir(listing)) != NULL;) {
        if (!ends_in(entry->d_name, ending))
            continue;
        if (*path != NULL)
            status = assay__fail(error, ASSAY_E_ARGUMENT,
                                 "the dataset '%s' holds several files *%s; name one of them",
                                 folder, ending);
        else
            status = join(folder, entry->d_name, path);
    }
    closedir(listing);
    if (status == ASSAY_OK && *path == NULL)
        status = assay__fail(error, ASSAY_E_NOT_FOUND, "the dataset '%s' holds no file *%s", folder,
                             ending);
    return status;
}

static assay_status open_dataset(const char *folder, assay_error *error, dataset *found)
{
    assay_status status = find_file(folder, ".geo", error, &found->files[GEO]);
    if (status == ASSAY_OK)
        status = find_file(folder, ".rel", error, &found->files[REL]);
    if (status == ASSAY_OK)
        status = join(folder, "train.csv", &found->files[TRAIN]);
    return status == ASSAY_OK ? join(folder, "test.csv", &found->files[TEST]) : status;
}

static assay_status load_dataset(const assay__routes_source *source, uint64_t seed,
                                 assay_error *error, assay__routes_data *data)
{
    dataset found = {0};
    assay_status status = open_dataset(source->dataset, error, &found);
    const assay__routes_source files = {.geo = found.files[GEO],
                                        .rel = found.files[REL],
                                        .trajectories = found.files[TRAIN],
                                        .test = found.files[TEST]};
    if (status == ASSAY_OK)
        status = load_files(&files, seed, error, data);
    release_dataset(&found);
    return status;
}

/* ---- Any of them ---- */

static assay_status make_up(const assay__routes_source *source, uint64_t seed, assay_error *error,
                            assay__routes_data *data)
{
    assay__trajectories all;
    assay__trajectories_init(&all);
    data->made_up = true;
    assay_status status = assay__city_new(source->roads, seed, error, &data->network);
    if (status == ASSAY_OK)
        status = assay__city_drive(data->network, source->drives, seed + 1, error, &all);
    if (status == ASSAY_OK)
        status = split(&all, seed, data);
    assay__trajectories_release(&all);
    return status;
}

static assay_status check(const assay__routes_data *data, assay_error *error)
{
    if (data->train.count + data->test.count < LEAST_TRAJECTORIES || data->train.count == 0 ||
        data->test.count == 0)
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "%lld trajectories to learn from and %lld to test on are too few; it "
                           "takes %d together and one of each",
                           (long long)data->train.count, (long long)data->test.count,
                           LEAST_TRAJECTORIES);
    return ASSAY_OK;
}

static assay_status travel_times(assay__routes_data *data)
{
    data->travel_seconds = calloc((size_t)data->network->roads, sizeof *data->travel_seconds);
    return data->travel_seconds == NULL ? ASSAY_E_MEMORY
                                        : assay__trajectories_travel_times(
                                              &data->train, data->network, data->travel_seconds);
}

assay_status assay__routes_data_load(const assay__routes_source *source, uint64_t seed,
                                     assay_error *error, assay__routes_data *data)
{
    *data = (assay__routes_data){0};
    bool files = source->geo != NULL || source->rel != NULL || source->trajectories != NULL ||
                 source->test != NULL;
    if (source->dataset != NULL && files)
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "give either a dataset or its files by name, not both");
    assay_status status = source->dataset != NULL ? load_dataset(source, seed, error, data)
                          : files                 ? load_files(source, seed, error, data)
                                                  : make_up(source, seed, error, data);
    if (status == ASSAY_OK)
        status = check(data, error);
    if (status == ASSAY_OK)
        status = travel_times(data);
    if (status == ASSAY_E_MEMORY)
        status = assay__fail(error, ASSAY_E_MEMORY, "no memory for the trajectories");
    if (status != ASSAY_OK)
        assay__routes_data_release(data);
    return status;
}

void assay__routes_data_release(assay__routes_data *data)
{
    assay__road_network_free(data->network);
    assay__trajectories_release(&data->train);
    assay__trajectories_release(&data->test);
    free(data->travel_seconds);
    *data = (assay__routes_data){0};
}

const assay__trajectories *assay__routes_data_of(const assay__routes_data *data,
                                                 assay_od_source source)
{
    return source == ASSAY_OD_TRAIN ? &data->train : &data->test;
}

assay_status assay__od_pairs_draw(const assay__trajectories *trajectories, size_t count,
                                  uint64_t seed, assay_error *error, assay__od_pair **pairs)
{
    int64_t *order = shuffled(trajectories->count, seed);
    assay__od_pair *drawn = calloc(count + 1, sizeof *drawn);
    assay_status status = ASSAY_OK;
    size_t found = 0, before = 0;
    if (order == NULL || drawn == NULL) {
        status = assay__fail(error, ASSAY_E_MEMORY, "no memory for %zu pairs of roads", count);
        goto cleanup;
    }
    while (found < count) {
        for (int64_t i = 0; i < trajectories->count && found < count; i++) {
            int64_t start = trajectories->first[order[i]], end = trajectories->first[order[i] + 1];
            if (end - start >= 2)
                drawn[found++] =
                    (assay__od_pair){trajectories->roads[start], trajectories->roads[end - 1],
                                     trajectories->seconds[start]};
        }
        if (found == before) {
            status = assay__fail(error, ASSAY_E_DATA,
                                 "no trajectory has two roads: there is nowhere to go");
            goto cleanup;
        }
        before = found;
    }
    *pairs = drawn;
    drawn = NULL;

cleanup:
    free(order);
    free(drawn);
    return status;
}
