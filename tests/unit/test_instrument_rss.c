/* Resident memory of this process, as the kernel counts it. */
#include "tests/unit/resident_check.h"

#include <sys/wait.h>
#include <unistd.h>

#include "assay/memory.h"
#include "instrument/rss.h"

static uint64_t rss_now(void)
{
    uint64_t bytes = 0;
    assert_int_equal(assay__rss_now(&bytes), ASSAY_OK);
    return bytes;
}

static void test_rss_follows_memory(void **state)
{
    (void)state;
    enum { BYTES = 100 * MEGABYTE };
    if (is_shadowed)
        skip();
    uint64_t before = rss_now();
    void *memory = touch(BYTES);
    uint64_t full = rss_now();
    munmap(memory, BYTES);
    assert_near((double)(full - before), BYTES);
    assert_near((double)rss_now(), (double)before);
    assay_memory reading = {.struct_size = sizeof reading};
    assert_int_equal(assay_memory_read(&reading), ASSAY_OK);
    assert_int_equal(reading.peak_rss_bytes.validity, ASSAY_VALID);
    assert_true(reading.peak_rss_bytes.value > (double)before + BYTES - SLACK);
    assert_near(reading.rss_bytes.value, (double)before);
}

static void test_peak_can_be_reset(void **state)
{
    (void)state;
    enum { BYTES = 100 * MEGABYTE };
    munmap(touch(BYTES), BYTES);
    assay_status status = assay_memory_reset_peak();
    if (status == ASSAY_E_UNSUPPORTED || status == ASSAY_E_PERMISSION)
        return; /* said so, which is the contract */
    assert_int_equal(status, ASSAY_OK);
    assay_memory reading = {.struct_size = sizeof reading};
    assert_int_equal(assay_memory_read(&reading), ASSAY_OK);
    assert_near(reading.peak_rss_bytes.value, reading.rss_bytes.value);
}

/* The kept descriptor speaks of the process that opened it. */
static void test_rss_after_fork_is_the_childs(void **state)
{
    (void)state;
    enum { BYTES = 100 * MEGABYTE };
    uint64_t before = rss_now();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        uint64_t bytes = 0;
        touch(BYTES);
        _exit(assay__rss_now(&bytes) == ASSAY_OK && bytes > BYTES ? 0 : 2);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_near((double)rss_now(), (double)before);
}

/* A host may close what it did not open, and reuse the number. */
static void test_rss_survives_closed_descriptors(void **state)
{
    (void)state;
    char decoy[] = "/tmp/assay-statm-XXXXXX";
    int file = mkstemp(decoy);
    assert_true(file >= 0);
    assert_int_equal(write(file, "1 1 1 1 1 1 1\n", 14), 14);
    uint64_t before = rss_now();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        uint64_t bytes = 0;
        if (assay__rss_now(&bytes) != ASSAY_OK)
            _exit(1);
        for (int descriptor = 3; descriptor < 64; descriptor++)
            if (descriptor != file)
                dup2(file, descriptor);
        _exit(assay__rss_now(&bytes) == ASSAY_OK && bytes > before / 4 ? 0 : 2);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    close(file);
    unlink(decoy);
}

static void test_arguments_of_memory_are_checked(void **state)
{
    (void)state;
    assay_memory memory = {.struct_size = 1};
    assert_int_equal(assay_memory_read(NULL), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_memory_read(&memory), ASSAY_E_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rss_follows_memory),
        cmocka_unit_test(test_peak_can_be_reset),
        cmocka_unit_test(test_rss_after_fork_is_the_childs),
        cmocka_unit_test(test_rss_survives_closed_descriptors),
        cmocka_unit_test(test_arguments_of_memory_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
