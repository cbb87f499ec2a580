/* Output files appear complete or not at all. The tests check the folder after success, failure,
 * abort and a full disk. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"

static char folder[] = "/tmp/assay-test-file-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[4][512];
    static unsigned turn;
    char *here = path[turn++ % 4];
    snprintf(here, sizeof path[0], "%s/%s", folder, name);
    return here;
}

static int files_in_folder(void)
{
    DIR *stream = opendir(folder);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(stream);
    return count;
}

static void remove_all(void)
{
    DIR *stream = opendir(folder);
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;)
        if (entry->d_name[0] != '.')
            unlink(in_folder(entry->d_name));
    closedir(stream);
}

static void assert_content(const char *path, const char *expected)
{
    assay__buffer buffer;
    assay_error error;
    assay__buffer_init(&buffer, 4096);
    assert_int_equal(assay__file_read(path, &buffer, &error), ASSAY_OK);
    assert_string_equal(buffer.data == NULL ? "" : buffer.data, expected);
    assay__buffer_release(&buffer);
}

static void put(const char *path, const char *text)
{
    assay__output output;
    assay_error error;
    assert_int_equal(assay__output_begin(&output, path, &error), ASSAY_OK);
    fputs(text, output.stream);
    assert_int_equal(assay__output_commit(&output, &error), ASSAY_OK);
}

static int setup(void **state)
{
    (void)state;
    remove_all();
    return 0;
}

static void test_commit_replaces(void **state)
{
    (void)state;
    const char *path = in_folder("out.json");
    put(path, "old");
    assert_content(path, "old");
    put(path, "new");
    assert_content(path, "new");
    assert_int_equal(files_in_folder(), 1);
}

static void test_target_keeps_its_content_until_commit(void **state)
{
    (void)state;
    const char *path = in_folder("out.json");
    put(path, "old");
    assay__output output;
    assert_int_equal(assay__output_begin(&output, path, NULL), ASSAY_OK);
    fputs("half", output.stream);
    fflush(output.stream);
    assert_content(path, "old");
    assert_int_equal(files_in_folder(), 2);
    assay__output_abort(&output);
    assert_content(path, "old");
    assert_int_equal(files_in_folder(), 1);
    assay__output_abort(&(assay__output){0});
}

static void test_mode_follows_umask_and_an_existing_file(void **state)
{
    (void)state;
    const char *path = in_folder("mode");
    mode_t mask = umask(022);
    put(path, "x");
    umask(mask);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0644);
    assert_int_equal(chmod(path, 0600), 0);
    put(path, "y");
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(chmod(path, 0666), 0); /* as somebody who waits for the result would */
    mask = umask(022);
    put(path, "z");
    umask(mask);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0644);
}

static void test_write_error_leaves_the_old_file(void **state)
{
    (void)state;
    const char *path = in_folder("out.json");
    put(path, "old");
    assay__output output;
    assay_error error;
    assert_int_equal(assay__output_begin(&output, path, &error), ASSAY_OK);
    /* the descriptor is turned into one whose every write fails: the disk that fills up */
    int full = open("/dev/full", O_WRONLY);
    assert_true(full >= 0 && dup2(full, fileno(output.stream)) >= 0);
    close(full);
    fputs("new", output.stream);
    assert_int_equal(assay__output_commit(&output, &error), ASSAY_E_FULL);
    assert_non_null(strstr(error.message, path));
    assert_content(path, "old");
    assert_int_equal(files_in_folder(), 1);
}

/* Beyond the limit of a file's size the kernel would end this process by SIGXFSZ. */
static void test_a_limit_on_the_size_of_files_is_an_error(void **state)
{
    (void)state;
    const char *path = in_folder("out.json");
    put(path, "old");
    struct rlimit usual, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &usual), 0);
    small = usual;
    const rlim_t limits[] = {0, 10000};
    for (int i = 0; i < 2; i++) {
        assay__output output;
        assay_error error;
        small.rlim_cur = limits[i];
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        assert_int_equal(assay__output_begin(&output, path, &error), ASSAY_OK);
        for (int n = 0; n < 2000; n++)
            fputs("0123456789", output.stream);
        assay_status status = assay__output_commit(&output, &error);
        setrlimit(RLIMIT_FSIZE, &usual);
        assert_true(status != ASSAY_OK);
        assert_non_null(strstr(error.message, "File too large"));
        assert_content(path, "old");
        assert_int_equal(files_in_folder(), 1);
    }
    small.rlim_cur = 10000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    put(path, "new");
    setrlimit(RLIMIT_FSIZE, &usual);
    assert_content(path, "new");
}

static void test_full_device(void **state)
{
    (void)state;
    assay__output output;
    assay_error error;
    assert_int_equal(assay__output_begin(&output, "/dev/full", &error), ASSAY_OK);
    for (int i = 0; i < 100000; i++) /* past any buffer: the error comes before the commit */
        fputs("0123456789", output.stream);
    assert_int_equal(assay__output_commit(&output, &error), ASSAY_E_FULL);
    assert_non_null(strstr(error.message, "/dev/full"));
}

static void expect_refused(const char *path, assay_status expected)
{
    assay__output output;
    assay_error error = {0};
    assert_int_equal(assay__output_begin(&output, path, &error), expected);
    assert_int_equal(error.status, expected);
    assert_true(strlen(error.message) > 0);
    assert_null(output.stream);
    assay__output_abort(&output);
}

static void test_unusable_targets_are_refused(void **state)
{
    (void)state;
    put(in_folder("plain"), "x");
    expect_refused("", ASSAY_E_ARGUMENT);
    expect_refused(NULL, ASSAY_E_ARGUMENT);
    expect_refused(folder, ASSAY_E_ARGUMENT);
    expect_refused(in_folder("missing/out.json"), ASSAY_E_NOT_FOUND);
    expect_refused(in_folder("plain/out.json"), ASSAY_E_NOT_FOUND);
    assert_int_equal(files_in_folder(), 1);
}

static void test_unwritable_folder(void **state)
{
    (void)state;
    if (geteuid() == 0) /* root writes anywhere; /proc refuses even root */
        expect_refused("/proc/assay-out.json", ASSAY_E_NOT_FOUND);
    else
        expect_refused("/assay-out.json", ASSAY_E_PERMISSION);
}

static void test_failed_rename_removes_the_temporary_file(void **state)
{
    (void)state;
    const char *path = in_folder("target");
    assay__output output;
    assay_error error;
    assert_int_equal(assay__output_begin(&output, path, &error), ASSAY_OK);
    fputs("x", output.stream);
    assert_int_equal(mkdir(path, 0700), 0); /* appeared meanwhile: a file cannot replace it */
    assert_int_not_equal(assay__output_commit(&output, &error), ASSAY_OK);
    assert_non_null(strstr(error.message, path));
    assert_int_equal(files_in_folder(), 1);
    rmdir(path);
}

static void test_pipes_are_written_directly(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    char path[64], text[8] = {0};
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    put(path, "through");
    assert_int_equal(read(ends[0], text, sizeof text), 7);
    assert_string_equal(text, "through");
    close(ends[0]);
    close(ends[1]);
}

static void test_a_pipe_without_a_reader_is_refused(void **state)
{
    (void)state;
    const char *path = in_folder("pipe");
    assay__output output;
    assay_error error = {0};
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(10); /* it would wait for ever */
    assert_int_equal(assay__output_begin(&output, path, &error), ASSAY_E_IO);
    alarm(0);
    assert_non_null(strstr(error.message, "a pipe that nobody reads"));
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    char text[8] = {0};
    assert_true(reader >= 0);
    put(path, "through");
    assert_int_equal(read(reader, text, sizeof text), 7);
    close(reader);
}

static void test_reading_states_its_limits(void **state)
{
    (void)state;
    const char *path = in_folder("ten");
    put(path, "0123456789");
    assay__buffer buffer;
    assay_error error;
    assay__buffer_init(&buffer, 9);
    assert_int_equal(assay__file_read(path, &buffer, &error), ASSAY_E_LIMIT);
    assert_non_null(strstr(error.message, path));
    assay__buffer_release(&buffer);
    assert_int_equal(assay__file_read(in_folder("absent"), &buffer, &error), ASSAY_E_NOT_FOUND);
    assert_int_equal(assay__file_read(folder, &buffer, &error), ASSAY_E_IO);
    assay__buffer_release(&buffer);
}

int main(void)
{
    if (mkdtemp(folder) == NULL)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_commit_replaces, setup),
        cmocka_unit_test_setup(test_target_keeps_its_content_until_commit, setup),
        cmocka_unit_test_setup(test_mode_follows_umask_and_an_existing_file, setup),
        cmocka_unit_test_setup(test_write_error_leaves_the_old_file, setup),
        cmocka_unit_test_setup(test_a_limit_on_the_size_of_files_is_an_error, setup),
        cmocka_unit_test_setup(test_full_device, setup),
        cmocka_unit_test_setup(test_unusable_targets_are_refused, setup),
        cmocka_unit_test_setup(test_unwritable_folder, setup),
        cmocka_unit_test_setup(test_failed_rename_removes_the_temporary_file, setup),
        cmocka_unit_test_setup(test_pipes_are_written_directly, setup),
        cmocka_unit_test_setup(test_a_pipe_without_a_reader_is_refused, setup),
        cmocka_unit_test_setup(test_reading_states_its_limits, setup),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    remove_all();
    rmdir(folder);
    return failures;
}
