/* Generates trajectories with a model, and watches the searches: beside the time of each search the
 * record has its processor time, its time of waiting for a processor and the time of the yardstick.
 * Two runs of the study search between the same pairs of roads, so they are compared pair of roads
 * by pair of roads. */
#include <stdlib.h>

#include "base/error.h"
#include "studies/common/watch.h"
#include "studies/routes/run.h"

typedef struct search_watch {
    assay__study *study;
    assay__study_watch watch;
    double *figures[ASSAY__WATCH_FIGURES]; /* (count) each */
    size_t done, count;
} search_watch;

static assay_status open_watch(search_watch *self, assay__study *study, size_t count)
{
    double *room = calloc(ASSAY__WATCH_FIGURES * count + 1, sizeof *room);
    if (room == NULL)
        return ASSAY_E_MEMORY;
    *self = (search_watch){.study = study, .count = count};
    for (size_t i = 0; i < ASSAY__WATCH_FIGURES; i++)
        self->figures[i] = room + i * count;
    assay__study_watch_open(&self->watch);
    assay__study_watch_start(&self->watch);
    return ASSAY_OK;
}

static void close_watch(search_watch *self)
{
    if (self->figures[0] == NULL)
        return;
    assay__study_watch_close(&self->watch);
    free(self->figures[0]);
}

/* Called after each search: note its figures, and start the watch for the next search. */
static bool next_search(void *context, double share)
{
    search_watch *self = context;
    double figures[ASSAY__WATCH_FIGURES];
    assay__study_watch_stop(&self->watch);
    assay__study_watch_read(&self->watch, figures);
    for (size_t i = 0; i < ASSAY__WATCH_FIGURES && self->done < self->count; i++)
        self->figures[i][self->done] = figures[i];
    self->done++;
    bool goes_on = assay__study_advance(self->study, share);
    assay__study_watch_start(&self->watch);
    return goes_on;
}

static assay_status generate(assay__routes_run *run, size_t model, search_watch *watch,
                             const char *output_file, assay_record *found, assay_error *error)
{
    const assay__routes_settings *settings = run->settings;
    const assay__generation_options options = {.beam_search = settings->beam_search,
                                               .beam_width = settings->beam_width,
                                               .device = settings->device,
                                               .output_file = output_file,
                                               .advance = next_search,
                                               .context = watch};
    assay_generation *generation = NULL;
    assay_status status =
        assay__generate_trajectories(&run->data, run->models[model], run->pairs, settings->num_gene,
                                     &options, error, &generation);
    if (status != ASSAY_OK)
        return status;
    if (settings->models[model].weights != NULL)
        status = assay__routes_found_loaded(run, model, found);
    if (status == ASSAY_OK)
        status = assay__found_generation(found, settings->models[model].name, generation);
    for (size_t i = 1; i < ASSAY__WATCH_FIGURES && status == ASSAY_OK; i++)
        status = assay__found_measure(found, assay__study_watch_metrics[i], watch->figures[i]);
    assay_generation_free(generation);
    return status == ASSAY_OK ? status
                              : assay__fail(error, status, "no memory for what searches took");
}

assay_status assay__routes_generate(assay__routes_run *run, size_t model, const char *output_file,
                                    assay_record *found, assay_error *error)
{
    search_watch watch = {.study = NULL};
    if (open_watch(&watch, run->study, run->settings->num_gene) != ASSAY_OK)
        return assay__fail(error, ASSAY_E_MEMORY, "no memory to watch the searches");
    assay_status status = generate(run, model, &watch, output_file, found, error);
    close_watch(&watch);
    return status;
}
