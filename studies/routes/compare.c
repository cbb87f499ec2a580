/* One iteration is a search for each of the first pairs, the same for both models, so that a round
 * compares like with like; longer routes weigh more, as they do in total_generation_time. */
#include "assay/compare.h"
#include "assay/record_build.h"
#include "assay/sampling.h"
#include "base/error.h"
#include "studies/routes/run.h"

enum { MAX_PAIRS = 32 };

typedef struct subject {
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

static assay_status sample(assay__routes_run *run, subject *subjects, assay_error *error,
                           assay_record **record)
{
    assay_subject list[ASSAY__ROUTES_MODELS];
    for (size_t i = 0; i < ASSAY__ROUTES_MODELS; i++)
        list[i] = (assay_subject){.struct_size = sizeof(assay_subject),
                                  .name = assay__routes_model_names[i],
                                  .context = &subjects[i],
                                  .run = search_pairs};
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.yardstick = true;
    options.budget_seconds = run->settings->compare_seconds;
    options.precision = 0.01; /* their times are figures of the study as well */
    options.seed = run->plan->seed;
    options.progress = show_progress;
    options.progress_context = run->study;
    assay_status status = assay_sampling_run(list, ASSAY__ROUTES_MODELS, &options, error, record);
    assay_compare_options by_wall_time = ASSAY_COMPARE_OPTIONS_INIT;
    by_wall_time.metric = "wall_seconds"; /* a speed is of wall time, whatever the machine did */
    return status == ASSAY_OK ? assay_record_compare(*record, &by_wall_time) : status;
}

/* Say in the record what was sampled, and append it. */
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

assay_status assay__routes_compare(assay__routes_run *run, assay_error *error, assay_record *found)
{
    subject subjects[ASSAY__ROUTES_MODELS] = {0};
    size_t pairs = run->settings->num_gene < MAX_PAIRS ? run->settings->num_gene : MAX_PAIRS;
    assay_record *sampled = NULL;
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < ASSAY__ROUTES_MODELS && status == ASSAY_OK; i++) {
        subjects[i].run = run;
        subjects[i].pairs = pairs;
        status = assay__timed_searcher_init(
            &subjects[i].searcher, run->data.network, run->models[i],
            run->settings->beam_search ? run->settings->beam_width : 1, error);
        if (status == ASSAY_OK)
            assay__road_searcher_set_hook(subjects[i].searcher.searcher, NULL);
    }
    if (status == ASSAY_OK)
        status = sample(run, subjects, error, &sampled);
    if (status == ASSAY_OK && keep(sampled, pairs, found) != ASSAY_OK)
        status = assay__fail(error, ASSAY_E_MEMORY, "no memory for the comparison");
    for (size_t i = 0; i < ASSAY__ROUTES_MODELS; i++)
        assay__timed_searcher_release(&subjects[i].searcher);
    assay_record_free(sampled);
    return status;
}
