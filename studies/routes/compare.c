/* Compares the speed of the models. One iteration of a subject is a search for each of the first
 * pairs. The pairs are the same for all models, so that a round compares like with like. Longer
 * routes have more weight, as they have in total_generation_time. */
#include "assay/compare.h"
#include "assay/record_build.h"
#include "assay/sampling.h"
#include "base/error.h"
#include "studies/routes/run.h"

enum { MAX_PAIRS = 32 };

typedef struct subject {
    const char *name;
    assay__routes_run *run;
    assay__timed_searcher searcher;
    size_t pairs;
} subject;

static assay_status search_pairs(void *context, uint64_t iterations)
{
    subject *self = context;
    const assay__routes_settings *settings = self->run->settings;
    assay__road_searcher *searcher = self->searcher.searcher;
    for (uint64_t n = 0; n < iterations * self->pairs; n++) {
        const assay__od_pair *pair = &self->run->pairs[n % self->pairs];
        assay__road_route route;
        assay_status status =
            settings->beam_search
                ? assay__road_search_beam(searcher, pair->origin, pair->destination,
                                          settings->beam_width, NULL, &route)
                : assay__road_search_greedy(searcher, pair->origin, pair->destination, NULL,
                                            &route);
        if (status != ASSAY_OK)
            return status;
    }
    return assay__study_stopped(self->run->study) ? ASSAY_E_STATE : ASSAY_OK;
}

static void show_progress(void *context, const assay_sampling_progress *progress)
{
    assay__study_advance(context, progress->expected_seconds > 0
                                      ? progress->elapsed_seconds / progress->expected_seconds
                                      : 0);
}

static assay_status sample(assay__routes_run *run, subject *subjects, size_t count,
                           assay_error *error, assay_record **record)
{
    assay_subject list[ASSAY__ROUTES_MAX_MODELS];
    for (size_t i = 0; i < count; i++)
        list[i] = (assay_subject){.struct_size = sizeof(assay_subject),
                                  .name = subjects[i].name,
                                  .context = &subjects[i],
                                  .run = search_pairs};
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.yardstick = true;
    options.budget_seconds = run->settings->compare_seconds;
    /* Use the whole budget. Two runs of the study are compared by these samples, and more samples
     * make it likelier that both runs have met the same speeds of the machine. */
    options.fixed_rounds = true;
    options.seed = run->plan->seed;
    options.progress = show_progress;
    options.progress_context = run->study;
    assay_status status = assay_sampling_run(list, count, &options, error, record);
    assay_compare_options by_wall_time = ASSAY_COMPARE_OPTIONS_INIT;
    by_wall_time.metric = "wall_seconds"; /* a speed refers to wall time */
    return status == ASSAY_OK ? assay_record_compare(*record, &by_wall_time) : status;
}

/* Describe the samples in the record, and append it to `found`. */
static assay_status keep(assay_record *sampled, size_t pairs, assay_record *found)
{
    char covers[96];
    snprintf(covers, sizeof covers,
             "a search for each of the first %zu pairs, forward passes not"
             " timed",
             pairs);
    for (size_t i = 0; i < sampled->subject_count; i++) {
        sampled->subjects[i].model = sampled->subjects[i].name;
        sampled->subjects[i].covers = assay_record_text(sampled, covers);
    }
    return assay__record_append(found, sampled);
}

static assay_status make_subject(assay__routes_run *run, size_t model, size_t pairs,
                                 assay_error *error, subject *made)
{
    *made = (subject){.name = run->settings->models[model].name, .run = run, .pairs = pairs};
    assay_status status = assay__timed_searcher_init(
        &made->searcher, run->data.network, run->models[model], run->settings->device,
        run->settings->beam_search ? run->settings->beam_width : 1, error);
    if (status == ASSAY_OK)
        assay__road_searcher_set_hook(made->searcher.searcher, NULL);
    return status;
}

assay_status assay__routes_compare(assay__routes_run *run, assay_error *error, assay_record *found)
{
    subject subjects[ASSAY__ROUTES_MAX_MODELS] = {0};
    size_t pairs = run->settings->num_gene < MAX_PAIRS ? run->settings->num_gene : MAX_PAIRS;
    size_t count = 0;
    assay_record *sampled = NULL;
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < run->settings->model_count && status == ASSAY_OK; i++)
        if (run->settings->models[i].generates)
            status = make_subject(run, i, pairs, error, &subjects[count++]);
    if (status == ASSAY_OK)
        status = sample(run, subjects, count, error, &sampled);
    if (status == ASSAY_OK && keep(sampled, pairs, found) != ASSAY_OK)
        status = assay__fail(error, ASSAY_E_MEMORY, "no memory for the comparison");
    for (size_t i = 0; i < count; i++)
        assay__timed_searcher_release(&subjects[i].searcher);
    assay_record_free(sampled);
    return status;
}
