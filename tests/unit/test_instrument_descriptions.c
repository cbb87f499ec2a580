/* The descriptions of the machine, the build and the source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/level.h"
#include "instrument/provenance.h"

typedef struct facts {
    char text[8192];
    int count;
} facts;

static void keep_fact(void *context, const char *key, const char *value, assay_validity validity)
{
    facts *all = context;
    size_t used = strlen(all->text);
    assert_true((value == NULL) == (validity != ASSAY_VALID));
    snprintf(all->text + used, sizeof all->text - used, "%s=%s\n", key,
             value != NULL ? value : assay_validity_text(validity));
    all->count++;
}

static void test_machine_is_described(void **state)
{
    (void)state;
    facts all = {0};
    assay_machine_describe(keep_fact, &all);
    assert_int_equal(all.count, 18);
    static const char *const keys[] = {"hostname=",       "\ncpu=",          "\ncores=",
                                       "\nusable_cores=", "\nmemory_bytes=", "\nkernel=Linux",
                                       "\nos=",           "\nboot_id=",      "\nvector="};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_non_null(strstr(all.text, keys[i]));
    facts build = {0};
    assay__build_describe(keep_fact, &build);
    assert_non_null(strstr(build.text, "assay_version=" ASSAY_VERSION "\n"));
    assert_non_null(strstr(build.text, "libc=glibc 2."));
    assay_reading steal = assay_machine_steal_seconds();
    assert_int_equal(steal.validity, ASSAY_VALID);
    assert_true(steal.value >= 0.0);
}

static void assert_level(const char *asked, const char *expected)
{
    facts all = {0};
    setenv("ASSAY_CPU", asked, 1);
    assay_machine_describe(keep_fact, &all);
    unsetenv("ASSAY_CPU");
    char line[256];
    snprintf(line, sizeof line, "\ncpu_level=%s\n", expected);
    if (strstr(all.text, line) == NULL)
        fail_msg("no '%s' in:\n%s", line, all.text);
}

/* What ASSAY_CPU asks for is taken if the machine has it, and else named beside what is taken. */
static void test_level(void **state)
{
    (void)state;
    const int highest = assay__level_highest();
    assert_null(assay__level_name(99));
    assert_level("", assay__level_name(highest));
    for (int level = 0; level <= highest; level++)
        assert_level(assay__level_name(level), assay__level_name(level));
    char text[256];
    snprintf(text, sizeof text, "%s (ASSAY_CPU=x86-64-v9 is no level of this machine)",
             assay__level_name(highest));
    assert_level("x86-64-v9", text);
    if (assay__level_name(highest + 1) != NULL) {
        snprintf(text, sizeof text, "%s (ASSAY_CPU=%s is no level of this machine)",
                 assay__level_name(highest), assay__level_name(highest + 1));
        assert_level(assay__level_name(highest + 1), text);
    }
    char list[256];
    assay__level_list(list, sizeof list);
    assert_memory_equal(list, assay__level_name(0), strlen(assay__level_name(0)));
    assert_string_equal(list + strlen(list) - strlen(assay__level_name(highest)),
                        assay__level_name(highest));
}

static void write_text(const char *top, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", top, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void make_directories(const char *top, const char *names)
{
    char command[1024];
    snprintf(command, sizeof command, "cd %s && mkdir -p %s", top, names);
    assert_int_equal(system(command), 0);
}

static void assert_git(const char *top, const char *below, const char *expected)
{
    char path[512];
    facts all = {0};
    snprintf(path, sizeof path, "%s/%s", top, below);
    assay__git_describe(path, keep_fact, &all);
    assert_string_equal(all.text, expected);
}

#define COMMIT_A "0123456789abcdef0123456789abcdef01234567"
#define COMMIT_B "fedcba9876543210fedcba9876543210fedcba98"

static void test_git_is_read_without_git(void **state)
{
    (void)state;
    char top[] = "/tmp/assay-git-XXXXXX", command[128];
    assert_non_null(mkdtemp(top));
    make_directories(
        top, "main/.git/refs/heads/feature main/src/deep main/.git/worktrees/w linked plain");
    write_text(top, "main/.git/HEAD", "ref: refs/heads/feature/x\n");
    write_text(top, "main/.git/refs/heads/feature/x", COMMIT_A "\n");
    assert_git(top, "main/src/deep", "commit=" COMMIT_A "\nbranch=feature/x\ndirty=not measured\n");
    write_text(top, "main/.git/HEAD", "ref: refs/heads/packed\n");
    write_text(top, "main/.git/packed-refs",
               "# pack-refs with: peeled fully-peeled sorted\n" COMMIT_A " refs/heads/packed-not\n"
               "^" COMMIT_A "\n" COMMIT_B " refs/heads/packed\n");
    assert_git(top, "main", "commit=" COMMIT_B "\nbranch=packed\ndirty=not measured\n");
    write_text(top, "main/.git/HEAD", "ref: refs/heads/unborn\n");
    assert_git(top, "main", "commit=not enough data\nbranch=unborn\ndirty=not measured\n");
    write_text(top, "main/.git/HEAD", COMMIT_A "\n");
    assert_git(top, "main", "commit=" COMMIT_A "\nbranch=(detached)\ndirty=not measured\n");
    write_text(top, "linked/.git", "gitdir: ../main/.git/worktrees/w\n");
    write_text(top, "main/.git/worktrees/w/HEAD", "ref: refs/heads/packed\n");
    write_text(top, "main/.git/worktrees/w/commondir", "../..\n");
    assert_git(top, "linked", "commit=" COMMIT_B "\nbranch=packed\ndirty=not measured\n");
    static const char nowhere[] =
        "commit=not enough data\nbranch=not enough data\ndirty=not enough data\nrepository=none\n";
    assert_git(top, "plain", nowhere);
    assert_git(top, "no such folder", nowhere);
    write_text(top, "main/.git/HEAD", "ref: refs/../../../../etc/passwd\n");
    assert_git(top, "main",
               "commit=not enough data\nbranch=refs/../../../../etc/passwd\ndirty=not measured\n");
    snprintf(command, sizeof command, "rm -r %s", top);
    assert_int_equal(system(command), 0);
}

/* As kernels of x86-64, AArch64 and the Raspberry Pi write it. */
static void test_processors_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
    } cases[] = {
        {"processor\t: 0\nvendor_id\t: X\nmodel name\t: Some CPU @ 2 GHz\n\n", "Some CPU @ 2 GHz"},
        {"processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n"
         "CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n",
         "Arm Neoverse-N1"},
        {"CPU implementer\t: 0x61\nCPU part\t: 0x023\n", "implementer 0x61, part 0x023"},
        {"CPU implementer\t: 0xc0\nCPU part\t: 0xd0c\n", "implementer 0xc0, part 0xd0c"},
        {"Hardware\t: BCM2835\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n", "BCM2835"},
        {"CPU implementer\t: 0x41\n", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char value[ASSAY__FACT_BYTES] = "";
        assert_int_equal(assay__cpu_name(cases[i].text, value), cases[i].name != NULL);
        if (cases[i].name != NULL)
            assert_string_equal(value, cases[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machine_is_described),
        cmocka_unit_test(test_level),
        cmocka_unit_test(test_git_is_read_without_git),
        cmocka_unit_test(test_processors_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
