/* The frame of studies: folders, resuming, and refusing files that belong to others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "studies/common/frame.h"

static char root[] = "/tmp/assay-study-XXXXXX";
static char folder[128];
static const assay__study_step steps[] = {{"generate", 1}, {"train", 8}, {"measure", 1}};

static int make_root(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(root));
    snprintf(folder, sizeof folder, "%s/deep/er", root);
    return 0;
}

static int remove_root(void **state)
{
    (void)state;
    char command[160];
    snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command);
}

static assay__study_plan plan_of(const char *experiment)
{
    return (assay__study_plan){.study = "rom",
                               .experiment = experiment,
                               .folder = folder,
                               .seed = 42,
                               .settings = "latent 20",
                               .steps = steps,
                               .step_count = 3};
}

static assay__study *open_study(const assay__study_plan *plan)
{
    assay__study *study = NULL;
    assay_error error = {0};
    if (assay__study_open(plan, &error, &study) != ASSAY_OK)
        fail_msg("%s", error.message);
    return study;
}

static void run_step(assay__study *study, size_t step)
{
    assay__study_begin(study, step);
    assert_true(assay__study_advance(study, 0.5));
    assert_int_equal(assay__study_end(study, NULL), ASSAY_OK);
}

static void test_resumes_after_what_ended(void **state)
{
    (void)state;
    assay__study_plan plan = plan_of("first");
    assay__study *study = open_study(&plan);
    assert_int_equal(assay__study_resumed(study), 0);
    run_step(study, 0);
    assay__study_begin(study, 1); /* never ends */
    assay__study_free(study);
    study = open_study(&plan);
    assert_int_equal(assay__study_resumed(study), 1);
    assert_true(assay__study_done(study, 0));
    assert_false(assay__study_done(study, 1));
    assay__study_free(study);
    plan.restart = true;
    study = open_study(&plan);
    assert_false(assay__study_done(study, 0));
    assay__study_free(study);
}

static void check_refused(assay__study_plan plan, const char *expected)
{
    assay__study *study = NULL;
    assay_error error = {0};
    assert_int_equal(assay__study_open(&plan, &error, &study), ASSAY_E_STATE);
    assert_null(study);
    if (strstr(error.message, expected) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, expected);
}

static void test_folder_of_another(void **state)
{
    (void)state;
    assay__study_plan plan = plan_of("first");
    plan.restart = true;
    assay__study_free(open_study(&plan));
    plan.restart = false;
    plan.experiment = "second";
    check_refused(plan, "experiment 'first' with another experiment");
    plan = plan_of("first");
    plan.seed = 43;
    check_refused(plan, "another seed");
    plan = plan_of("first");
    plan.quick = true;
    check_refused(plan, "another --quick");
    plan = plan_of("first");
    plan.settings = "latent 30";
    check_refused(plan, "other settings");
    plan = plan_of("first");
    plan.study = "graph";
    check_refused(plan, "study 'rom'");
}

static void test_bad_names_and_files(void **state)
{
    (void)state;
    assay__study *study = NULL;
    assay_error error = {0};
    assay__study_plan plan = plan_of("../x");
    assert_int_equal(assay__study_open(&plan, &error, &study), ASSAY_E_ARGUMENT);
    char path[160];
    snprintf(path, sizeof path, "%s/.study/study.json", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"study\": 7", file);
    fclose(file);
    plan = plan_of("first");
    assert_int_equal(assay__study_open(&plan, &error, &study), ASSAY_E_FORMAT);
    assert_non_null(strstr(error.message, "--restart"));
    plan.folder = path; /* a file */
    assert_int_equal(assay__study_open(&plan, &error, &study), ASSAY_E_STATE);
    char named[200];
    snprintf(named, sizeof named, "'%s' is in the way", path); /* and nothing below it */
    assert_non_null(strstr(error.message, named));
}

static void test_interruption_says_how_to_go_on(void **state)
{
    (void)state;
    volatile sig_atomic_t stop = 0;
    assay__study_plan plan = plan_of("first");
    plan.restart = true;
    plan.stop = &stop;
    assay__study *study = open_study(&plan);
    run_step(study, 0);
    assay__study_begin(study, 1);
    stop = 1;
    assert_false(assay__study_advance(study, 0.1));
    assay_error error = {0};
    assert_int_equal(assay__study_interrupted(study, &error), ASSAY_E_STATE);
    assert_non_null(strstr(error.message, "after 1 of 3 steps"));
    assay__study_free(study);
}

static void test_files_get_their_folders(void **state)
{
    (void)state;
    assay__study_plan plan = plan_of("first");
    plan.restart = true;
    assay__study *study = open_study(&plan);
    const char *path = assay__study_file(study, "MVAR/runtime_profile.json", NULL);
    assert_non_null(path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    assay__study_free(study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resumes_after_what_ended),
        cmocka_unit_test(test_folder_of_another),
        cmocka_unit_test(test_bad_names_and_files),
        cmocka_unit_test(test_interruption_says_how_to_go_on),
        cmocka_unit_test(test_files_get_their_folders),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
