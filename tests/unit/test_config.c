/* Configuration of studies: composition, and errors that name the place. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "studies/pde/config.h"
#include "tests/golden.h"

typedef struct settings {
    int64_t epochs, batch_size;
    bool monitoring;
    double viscosity;
    int solver;
} settings;

static const char *const solvers[] = {"explicit", "implicit", NULL};

static const assay__config_field fields[] = {
    {"problem.viscosity", ASSAY__CONFIG_NUMBER, offsetof(settings, viscosity), 0, 1, NULL, ""},
    {"problem.solver", ASSAY__CONFIG_WORD, offsetof(settings, solver), 0, 0, solvers, ""},
    {"trainer_params.epochs", ASSAY__CONFIG_INTEGER, offsetof(settings, epochs), 1, 1000, NULL, ""},
    {"trainer_params.batch_size", ASSAY__CONFIG_INTEGER, offsetof(settings, batch_size), 1, 1e6,
     NULL, ""},
    {"trainer_params.enable_memory_monitoring", ASSAY__CONFIG_FLAG, offsetof(settings, monitoring),
     0, 0, NULL, ""},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static char folder[] = "/tmp/assay-config-XXXXXX";

static void put(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int make_folder(void **state)
{
    (void)state;
    char path[256];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/trainer", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    put("burgers.yaml", "defaults:\n  - trainer: quiet\nproblem:\n  viscosity: 0.01\n"
                        "trainer_params:\n  epochs: 20\n");
    put("trainer/quiet.yaml", "trainer_params:\n  epochs: 7\n  batch_size: 32\n");
    put("trainer/with_memory.yaml",
        "trainer_params:\n  enable_memory_monitoring: true\n  batch_size: 64\n");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

static assay_status load(const char *name, const char *const *overrides, size_t count,
                         settings *target, assay_error *error)
{
    const assay__config_source source = {folder, name, overrides, count};
    *target = (settings){.solver = 1};
    *error = (assay_error){0};
    return assay__config_load(&source, fields, FIELDS, target, error);
}

static void test_groups_then_own_then_overrides(void **state)
{
    (void)state;
    settings got;
    assay_error error;
    assert_int_equal(load("burgers", NULL, 0, &got, &error), ASSAY_OK);
    assert_int_equal(got.epochs, 20); /* the experiment goes before its group */
    assert_int_equal(got.batch_size, 32);
    assert_false(got.monitoring);
    assert_int_equal(got.solver, 1); /* nobody set it */
    const char *const overrides[] = {"trainer=with_memory", "trainer_params.epochs=3",
                                     "problem.solver=explicit"};
    assert_int_equal(load("burgers.yaml", overrides, 3, &got, &error), ASSAY_OK);
    assert_int_equal(got.epochs, 3);
    assert_int_equal(got.batch_size, 64);
    assert_true(got.monitoring);
    assert_true(got.viscosity == 0.01);
    assert_int_equal(got.solver, 0);
}

static void test_a_choice_is_built_on_another(void **state)
{
    (void)state;
    settings got;
    assay_error error;
    const char *const overrides[] = {"trainer=louder"};
    put("trainer/loud.yaml",
        "trainer_params:\n  enable_memory_monitoring: true\ndefaults:\n  - quiet\n");
    put("trainer/louder.yaml", "defaults:\n  - loud\n  - _self_\ntrainer_params:\n  epochs: 9\n");
    put("plain.yaml", "defaults:\n  - trainer: loud\n");
    assert_int_equal(load("plain", NULL, 0, &got, &error), ASSAY_OK);
    assert_int_equal(got.epochs, 7);
    assert_int_equal(got.batch_size, 32);
    assert_true(got.monitoring);
    assert_int_equal(load("plain", overrides, 1, &got, &error), ASSAY_OK);
    assert_int_equal(got.epochs, 9);
    assert_int_equal(got.batch_size, 32);
    assert_true(got.monitoring);
}

static void check_failure(const char *name, const char *override, const char *expected)
{
    settings got;
    assay_error error;
    assert_true(load(name, &override, override != NULL, &got, &error) != ASSAY_OK);
    const char *said = error.message;
    if (strncmp(said, folder, strlen(folder)) == 0)
        said += strlen(folder);
    if (strstr(said, expected) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, expected);
}

static void test_failures_say_where(void **state)
{
    (void)state;
    put("typo.yaml", "problem:\n  viscosty: 0.1\n");
    put("type.yaml", "trainer_params:\n  epochs: ten\n");
    put("half.yaml", "trainer_params:\n  epochs: 2.5\n");
    put("range.yaml", "trainer_params: {epochs: 0}\n");
    put("list.yaml", "trainer_params:\n  epochs: [1, 2]\n");
    put("syntax.yaml", "a: [1\nb: 2\n");
    put("word.yaml", "problem: {solver: implict}\n");
    put("nogroup.yaml", "defaults:\n  - optimizer: adam\n");
    put("badlist.yaml", "defaults: trainer\n");
    put("scalar.yaml", "just text\n");
    put("flag.yaml", "trainer_params:\n  enable_memory_monitoring: 1\n");
    check_failure("typo", NULL,
                  "/typo.yaml:2:13: unknown key 'problem.viscosty'; did you mean "
                  "'problem.viscosity'?");
    check_failure("type", NULL,
                  "/type.yaml:2:11: trainer_params.epochs is a whole number, not "
                  "'ten'");
    check_failure("half", NULL, "whole number, not '2.5'");
    check_failure("range", NULL, "must be from 1 to 1000, not 0");
    check_failure("list", NULL, "/list.yaml:2:12: trainer_params.epochs is one value, not a list");
    check_failure("syntax", NULL, "/syntax.yaml:2:2: ");
    check_failure("word", NULL, "did you mean 'implicit'?");
    check_failure("nogroup", NULL, "no group 'optimizer'");
    check_failure("badlist", NULL, "'defaults' is a list");
    put("trainer/circle.yaml", "defaults:\n  - circle\n");
    put("trainer/nested.yaml", "defaults:\n  - trainer: quiet\n");
    put("trainer/lost.yaml", "defaults:\n  - quite\n");
    check_failure("burgers", "trainer=circle", "or on itself");
    check_failure("burgers", "trainer=nested", "'defaults' is a list of '- choice'");
    check_failure("burgers", "trainer=lost", "did you mean 'quiet'?");
    check_failure("scalar", NULL, "/scalar.yaml:1:1: expected 'key: value'");
    check_failure("flag", NULL, "is true or false, not '1'");
    check_failure("burgrs", NULL, "did you mean 'burgers'?");
    check_failure("../burgers", NULL, "no name of a configuration");
    check_failure("burgers", "trainer=with_memry", "did you mean 'with_memory'?");
    check_failure("burgers", "trainer=../quiet", "no name of a configuration");
    check_failure("burgers", "trainer_params.epochs=many", "override 'trainer_params.epochs=many'");
    check_failure("burgers", "epochs", "'epochs' is no 'key=value'");
}

/* libyaml alone would take minutes for the first and find an error only at its end. */
static void test_deep_and_tangled_files_are_refused_soon(void **state)
{
    (void)state;
    enum { BYTES = 60000 };
    static char deep[BYTES + 1];
    memcpy(deep, "a: ", 3);
    memset(deep + 3, '[', BYTES - 3);
    put("deep.yaml", deep);
    check_failure("deep", NULL, "deep.yaml:1:20: nested too deeply");
    char *anchors = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&anchors, &size);
    for (int i = 0; i < 300; i++)
        fprintf(stream, "k%d: &a%d 1\n", i, i);
    fclose(stream);
    put("anchors.yaml", anchors);
    check_failure("anchors", NULL, "anchors.yaml:257:7: too many anchors");
    free(anchors);
}

static void test_printed_form_reads_back(void **state)
{
    (void)state;
    settings got = {.epochs = 12, .batch_size = 8, .monitoring = true, .viscosity = 0.1}, back;
    golden_text text;
    assay__config_print(fields, FIELDS, &got, golden_open(&text));
    fflush(text.stream);
    put("printed.yaml", text.text);
    golden_check_text(&text, "problem:\n  viscosity: 0.10000000000000001\n  solver: explicit\n"
                             "trainer_params:\n  epochs: 12\n  batch_size: 8\n"
                             "  enable_memory_monitoring: true\n");
    assay_error error;
    assert_int_equal(load("printed", NULL, 0, &back, &error), ASSAY_OK);
    assert_int_equal(back.epochs, 12);
    assert_true(back.viscosity == 0.1 && back.monitoring && back.solver == 0);
}

static void test_json_form(void **state)
{
    (void)state;
    const settings got = {.epochs = 12, .batch_size = 8, .viscosity = 0.5, .solver = 1};
    json_t *root = assay__config_json(fields, FIELDS, &got);
    char *text = json_dumps(root, JSON_SORT_KEYS | JSON_COMPACT);
    assert_string_equal(text, "{\"problem\":{\"solver\":\"implicit\",\"viscosity\":0.5},"
                              "\"trainer_params\":{\"batch_size\":8,"
                              "\"enable_memory_monitoring\":false,\"epochs\":12}}");
    free(text);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_then_own_then_overrides),
        cmocka_unit_test(test_a_choice_is_built_on_another),
        cmocka_unit_test(test_failures_say_where),
        cmocka_unit_test(test_deep_and_tangled_files_are_refused_soon),
        cmocka_unit_test(test_printed_form_reads_back),
        cmocka_unit_test(test_json_form),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
