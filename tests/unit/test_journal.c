/* The journal reader on bytes of every kind: live, closed, truncated, corrupted, foreign. */
#include "tests/unit/monitor_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "journal/journal.h"
#include "journal/reader.h"
#include "snapshot/merge.h"
#include "tests/sanitizers.h"

static char path[64];

static int make_journal(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/assay-journal-%d.assay", (int)getpid());
    unlink(path);
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.journal_path = path;
    options.journal_bytes = 1 << 20;
    options.trace_events = 64;
    options.samples = 8;
    options.name = "test";
    assay_monitor *monitor = open_monitor(&options);
    for (int i = 0; i < 100; i++)
        ASSAY_TRACK(monitor, "outer") {
            ASSAY_TRACK(monitor, "inner") {
            }
        }
    ASSAY_METRIC(monitor, "metric") {
    }
    assay_monitor_count(monitor, "counter", 1.5);
    assay_monitor_begin(monitor, "still open");
    assay_monitor_free(monitor);
    return 0;
}

static int remove_journal(void **state)
{
    (void)state;
    return unlink(path);
}

static unsigned char *load(size_t *length)
{
    struct stat info;
    int descriptor = open(path, O_RDONLY);
    assert_true(descriptor >= 0);
    assert_int_equal(fstat(descriptor, &info), 0);
    *length = (size_t)info.st_size;
    unsigned char *bytes = malloc(*length);
    assert_non_null(bytes);
    assert_int_equal(read(descriptor, bytes, *length), *length);
    close(descriptor);
    return bytes;
}

/* Parse in a buffer of exactly this size, so that valgrind and ASan see any step outside. */
static assay_status parse(const unsigned char *bytes, size_t length, assay_error *error)
{
    unsigned char *copy = malloc(length + (length == 0));
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    assay__journal_view view;
    assay_record *record = NULL;
    assay_status status = assay__journal_view_bytes(&view, copy, length, "test", error);
    if (status == ASSAY_OK)
        status = assay__snapshot_view(&view, NULL, error, &record);
    assay_record_free(record);
    free(copy);
    return status;
}

static void test_a_closed_journal_is_read_in_full(void **state)
{
    (void)state;
    assay_record *record = NULL;
    assay_error error;
    assert_int_equal(assay_snapshot_file(path, &error, &record), ASSAY_OK);
    assert_string_equal(record->name, "test");
    assert_int_equal(operation_of(record, "outer")->count, 100);
    assert_int_equal(operation_of(record, "inner")->count, 100);
    assert_int_equal(operation_of(record, "inner")->sample_count, 8);
    assert_int_equal(record->metric_count, 1);
    assert_int_equal(record->counter_count, 1);
    assert_int_equal(record->event_count, 63);
    assert_true(record->lanes[0].ended);
    assert_int_equal(record->integrity.torn_operations, 0);
    assert_true(record->clock.frequency_hz.value > 1e5);
    assay_record_free(record);
}

/* A program that is killed in a tight loop is nearly always in the middle of a begin or an end. The
 * spans around the loop are still open. */
static void test_a_killed_program_has_open_spans(void **state)
{
    (void)state;
    enum { KILLS = 20 };
    char killed[80];
    snprintf(killed, sizeof killed, "%s.killed.assay", path);
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.journal_path = killed;
    for (int i = 0; i < KILLS; i++) {
        int ends[2];
        char byte;
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            assay_monitor *monitor = open_monitor(&options);
            ASSAY_TRACK(monitor, "outer")
                ASSAY_TRACK(monitor, "middle") {
                    for (uint64_t spans = 1;; spans++) {
                        ASSAY_TRACK(monitor, "inner") {
                        }
                        if (spans == 1000 && write(ends[1], "", 1) != 1)
                            _exit(1);
                    }
                }
        }
        assert_int_equal(read(ends[0], &byte, 1), 1);
        usleep((useconds_t)(100 * i));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        assay_record *record = NULL;
        assert_int_equal(assay_snapshot_file(killed, NULL, &record), ASSAY_OK);
        assert_true(record->open_span_count == 2 || record->open_span_count == 3);
        assert_string_equal(record->open_spans[0].operation, "outer");
        assert_string_equal(record->open_spans[1].operation, "middle");
        assert_true(record->open_spans[1].start_seconds >= record->open_spans[0].start_seconds);
        assay_record_free(record);
        unlink(killed);
        close(ends[0]);
        close(ends[1]);
    }
}

static void test_truncation_anywhere_is_said(void **state)
{
    (void)state;
    size_t length;
    unsigned char *bytes = load(&length);
    static const size_t cuts[] = {0, 1, 7, 8, 9, 100, 4095, 4096, 4097, 100000};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        assay_error error = {0};
        assay_status status = parse(bytes, cuts[i], &error);
        assert_int_equal(status, cuts[i] == 0  ? ASSAY_E_STATE
                                 : cuts[i] < 8 ? ASSAY_E_FORMAT
                                               : ASSAY_E_TRUNCATED);
        assert_non_null(strstr(error.message, "'test'"));
    }
    assert_int_equal(parse(bytes, length - 1, NULL), ASSAY_E_TRUNCATED);
    assert_int_equal(parse(bytes, length, NULL), ASSAY_OK);
    free(bytes);
}

/* The journal, in a file of 4 GiB that is one large hole, all of which the pool claims to use. */
static void make_sparse(const char *sparse_path)
{
    size_t length;
    unsigned char *bytes = load(&length);
    assay__journal_header *header = (void *)bytes;
    uint64_t total = header->total_bytes = (uint64_t)4 << 30;
    header->pool_bytes = header->pool_used = total - ASSAY__JOURNAL_HEADER_BYTES;
    header->pool_set_aside = 0;
    header->metric_count = UINT32_MAX;
    int descriptor = open(sparse_path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, bytes, length), length);
    assert_int_equal(ftruncate(descriptor, (off_t)total), 0);
    close(descriptor);
    free(bytes);
}

static void test_a_sparse_journal_costs_no_memory(void **state)
{
    (void)state;
    if (ADDRESS_SANITIZER || THREAD_SANITIZER) {
        puts("skipped: a sanitizer's own memory is counted too");
        skip();
    }
    char sparse_path[sizeof path + 8];
    snprintf(sparse_path, sizeof sparse_path, "%s.sparse", path);
    make_sparse(sparse_path);
    pid_t child = fork();
    if (child == 0) {
        assay_record *record = NULL;
        assay_status status = assay_snapshot_file(sparse_path, NULL, &record);
        _exit(status == ASSAY_OK && operation_of(record, "outer")->count == 100 ? 0 : 1);
    }
    int status = -1;
    struct rusage usage;
    assert_int_equal(wait4(child, &status, 0, &usage), child);
    unlink(sparse_path);
    assert_int_equal(status, 0);
    assert_true(usage.ru_maxrss < 128 * 1024); /* KiB */
}

static void test_foreign_and_future_files_are_refused(void **state)
{
    (void)state;
    size_t length;
    unsigned char *bytes = load(&length);
    assay__journal_header *header = (void *)bytes;
    header->version = 99;
    assay_error error;
    assert_int_equal(parse(bytes, length, &error), ASSAY_E_VERSION);
    assert_non_null(strstr(error.message, "99"));
    header->version = ASSAY_JOURNAL_VERSION;
    header->byte_order = 0x04030201;
    assert_int_equal(parse(bytes, length, NULL), ASSAY_E_FORMAT);
    free(bytes);
    assert_int_equal(parse((const unsigned char *)"{\"results\": []}", 15, NULL), ASSAY_E_FORMAT);
    assay_record *record = NULL;
    assert_int_equal(assay_snapshot_file("/nonexistent.assay", &error, &record), ASSAY_E_NOT_FOUND);
    assert_non_null(strstr(error.message, "/nonexistent.assay"));
    assert_int_equal(assay_snapshot_file("/tmp", &error, &record), ASSAY_E_FORMAT);
    assert_int_equal(assay_snapshot_file("/dev/null", &error, &record), ASSAY_E_FORMAT);
    assert_int_equal(assay_snapshot_directory("/nonexistent", &error, &record), ASSAY_E_NOT_FOUND);
    assert_null(record);
}

/* Random damage, most of it where the structure is: it may be refused or read, never crash or hang.
 */
static void test_random_damage_is_survived(void **state)
{
    (void)state;
    size_t length;
    unsigned char *bytes = load(&length);
    const assay__journal_header *header = (const void *)bytes;
    size_t used = ASSAY__JOURNAL_HEADER_BYTES + header->pool_used;
    uint64_t seed = 42;
    for (int round = 0; round < 300; round++) {
        unsigned char *damaged = malloc(length);
        assert_non_null(damaged);
        memcpy(damaged, bytes, length);
        for (int hit = 0; hit < 40; hit++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            size_t limit = round % 3 == 0 ? 1024 : round % 3 == 1 ? used : length;
            size_t at = 8 + (size_t)(seed >> 33) % (limit - 8);
            damaged[at] = (unsigned char)(seed >> 25);
        }
        (void)parse(damaged, length, NULL);
        free(damaged);
    }
    free(bytes);
}

/* Lists that run in circles and parents that come after their children. */
static void test_circles_end(void **state)
{
    (void)state;
    size_t length;
    unsigned char *bytes = load(&length);
    const assay__journal_header *header = (const void *)bytes;
    assay__lane *lane = (void *)(bytes + (size_t)header->first_lane * ASSAY__JOURNAL_UNIT);
    assay__node *root = (void *)(bytes + (size_t)lane->first_node * ASSAY__JOURNAL_UNIT);
    assay__node *other = (void *)(bytes + (size_t)root->next * ASSAY__JOURNAL_UNIT);
    assay__node *outer = (void *)(bytes + (size_t)other->next * ASSAY__JOURNAL_UNIT);
    uint32_t next = outer->next;
    outer->next = other->next;
    assert_int_equal(parse(bytes, length, NULL), ASSAY_OK);
    outer->next = next;
    outer->parent = next; /* its own child */
    assert_int_equal(parse(bytes, length, NULL), ASSAY_OK);
    free(bytes);
}

/* Spans that became counters, and the other way round: their events and children still call them
 * what they were. What was read can be written. */
static void test_kinds_that_contradict_are_told_apart(void **state)
{
    (void)state;
    size_t length;
    unsigned char *bytes = load(&length);
    const assay__journal_header *header = (const void *)bytes;
    assay__lane *lane = (void *)(bytes + (size_t)header->first_lane * ASSAY__JOURNAL_UNIT);
    assay__node *root = (void *)(bytes + (size_t)lane->first_node * ASSAY__JOURNAL_UNIT), *node;
    FILE *sink = fopen("/dev/null", "w");
    for (uint32_t unit = root->next; unit != 0; unit = node->next) {
        node = (void *)(bytes + (size_t)unit * ASSAY__JOURNAL_UNIT);
        uint32_t kind = node->kind;
        node->kind = kind == ASSAY__NODE_SPAN ? ASSAY__NODE_COUNTER : ASSAY__NODE_SPAN;
        assay__journal_view view;
        assay_record *record = NULL;
        assay_error error = {0};
        assert_int_equal(assay__journal_view_bytes(&view, bytes, length, "test", NULL), ASSAY_OK);
        assert_int_equal(assay__snapshot_view(&view, NULL, NULL, &record), ASSAY_OK);
        if (assay_record_print(record, sink, ASSAY_RECORD_EVENTS, &error) != ASSAY_OK)
            fail_msg("%s", error.message);
        assay_record_free(record);
        node->kind = kind;
    }
    fclose(sink);
    free(bytes);
}

/* What kill -9 in the middle of an update leaves: the bucket counted, the count not yet. */
static void test_a_torn_update_is_said(void **state)
{
    (void)state;
    size_t length;
    unsigned char *bytes = load(&length);
    const assay__journal_header *header = (const void *)bytes;
    assay__lane *lane = (void *)(bytes + (size_t)header->first_lane * ASSAY__JOURNAL_UNIT);
    assay__node *root = (void *)(bytes + (size_t)lane->first_node * ASSAY__JOURNAL_UNIT);
    assay__node *other = (void *)(bytes + (size_t)root->next * ASSAY__JOURNAL_UNIT);
    assay__node *outer = (void *)(bytes + (size_t)other->next * ASSAY__JOURNAL_UNIT);
    outer->count--;
    assay__journal_view view;
    assay_record *record = NULL;
    assert_int_equal(assay__journal_view_bytes(&view, bytes, length, "test", NULL), ASSAY_OK);
    assert_int_equal(assay__snapshot_view(&view, NULL, NULL, &record), ASSAY_OK);
    assert_int_equal(record->integrity.torn_operations, 1);
    assert_int_equal(operation_of(record, "outer")->count, 99);
    assay_record_free(record);
    free(bytes);
}

static void test_an_existing_file_is_not_overwritten(void **state)
{
    (void)state;
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.journal_path = path;
    assay_monitor *monitor = NULL;
    assay_error error;
    assert_int_equal(assay_monitor_open(&options, &error, &monitor), ASSAY_E_STATE);
    assert_non_null(strstr(error.message, path));
    assay_record *record = NULL;
    assert_int_equal(assay_snapshot_file(path, NULL, &record), ASSAY_OK);
    assay_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_closed_journal_is_read_in_full),
        cmocka_unit_test(test_a_killed_program_has_open_spans),
        cmocka_unit_test(test_truncation_anywhere_is_said),
        cmocka_unit_test(test_a_sparse_journal_costs_no_memory),
        cmocka_unit_test(test_foreign_and_future_files_are_refused),
        cmocka_unit_test(test_random_damage_is_survived),
        cmocka_unit_test(test_circles_end),
        cmocka_unit_test(test_kinds_that_contradict_are_told_apart),
        cmocka_unit_test(test_a_torn_update_is_said),
        cmocka_unit_test(test_an_existing_file_is_not_overwritten),
    };
    return cmocka_run_group_tests(tests, make_journal, remove_journal);
}
