/* Which of two models trains faster? Their training steps take turns until the answer is clear.
 *
 *     cc compare_models.c $(pkg-config --cflags --libs assay-models) -lm -o compare_models
 *     ./compare_models
 *
 * benchmark.c does the same with two functions; significance.c shows the statistics. */
#include <assay/assay.h>
#include <assay/model.h>
#include <assay/profile.h>

enum { MODELS = 2 };

typedef struct contestant {
    assay_model *model;
    assay_tensor input, wanted;
    assay_profile_target target;
} contestant;

static assay_status enter(contestant *one, const char *name, assay_error *error,
                          assay_subject *subject)
{
    const assay_model_class *class = NULL;
    assay_status status = assay_model_find(name, error, &class);
    if (status == ASSAY_OK)
        status = assay_model_new(class, NULL, 7, error, &one->model);
    if (status == ASSAY_OK)
        status = assay_model_example(one->model, 7, error, &one->input, &one->wanted);
    if (status != ASSAY_OK)
        return status;
    one->target = (assay_profile_target)ASSAY_PROFILE_TARGET_INIT;
    one->target.model = one->model;
    one->target.inputs = &one->input;
    one->target.target = &one->wanted;
    return assay_profile_subject(&one->target, ASSAY_PASS_TRAINING_STEP, name, error, subject);
}

int main(void)
{
    static const char *const names[MODELS] = {"mlp", "siren"};
    assay_error error = {0};
    contestant contestants[MODELS] = {0};
    assay_subject subjects[MODELS] = {ASSAY_SUBJECT_INIT, ASSAY_SUBJECT_INIT};
    assay_record *record = NULL;
    assay_status status = ASSAY_OK;
    for (int i = 0; status == ASSAY_OK && i < MODELS; i++)
        status = enter(&contestants[i], names[i], &error, &subjects[i]);

    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.budget_seconds = 1.0;
    if (status == ASSAY_OK)
        status = assay_sampling_run(subjects, MODELS, &options, &error, &record);
    if (status == ASSAY_OK)
        status = assay_record_compare(record, NULL);
    if (status == ASSAY_OK)
        status = assay_report_print(record, "bench", stdout, &error);
    if (status == ASSAY_OK && record->comparison_count > 0) {
        const assay_record_comparison *comparison = &record->comparisons[0];
        printf("\nA training step of %s takes %.2f times as long as that of %s: %s\n",
               comparison->candidate, comparison->ratio.value, comparison->baseline,
               assay_verdict_text(comparison->verdict));
    }
    if (status != ASSAY_OK)
        fprintf(stderr, "%s: %s\n", assay_status_name(status),
                error.message[0] != '\0' ? error.message : assay_status_message(status));
    assay_record_free(record);
    for (int i = 0; i < MODELS; i++)
        assay_model_free(contestants[i].model);
    return status == ASSAY_OK ? 0 : 1;
}
