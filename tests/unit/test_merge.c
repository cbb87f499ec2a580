/* Several journals become one record. */
#include "tests/unit/monitor_fixture.h"

#include <stdio.h>
#include <unistd.h>

#include "base/name_index.h"
#include "monitor/state.h"
#include "snapshot/merge.h"

/* Names that all begin their search in the same slot, each below two parents. */
static void test_names_that_collide_are_told_apart(void **state)
{
    (void)state;
    enum { NAMES = 200, MASK = 0xfff };
    static char names[NAMES][16];
    for (unsigned found = 0, i = 0; found < NAMES; i++) {
        snprintf(names[found], sizeof names[found], "n%u", i);
        found += (assay__name_hash(7, names[found]) & MASK) == 1;
    }
    assay__name_index index = {0};
    assert_int_equal(assay__name_index_find(&index, 7, names[0]), -1);
    for (int32_t i = 0; i < NAMES - 1; i++) {
        assert_int_equal(assay__name_index_add(&index, 7, names[i], i), ASSAY_OK);
        assert_int_equal(assay__name_index_add(&index, -1, names[i], 1000 + i), ASSAY_OK);
        assert_int_equal(assay__name_index_find(&index, 7, names[i + 1]), -1);
    }
    for (int32_t i = 0; i < NAMES - 1; i++) {
        char copy[16];
        memcpy(copy, names[i], sizeof copy);
        assert_int_equal(assay__name_index_find(&index, 7, copy), i);
        assert_int_equal(assay__name_index_find(&index, -1, copy), 1000 + i);
        assert_int_equal(assay__name_index_find(&index, 8, copy), -1);
    }
    assert_true(index.slot_count >= 2 * index.used);
    assay__name_index_release(&index);
}

/* ---- journals on disk ------------------------------------------------------------------------ */

enum { JOURNALS = 5, LAYERS = 400 };

static char paths[JOURNALS][64];

static const char *const *all_paths(void)
{
    static const char *all[JOURNALS];
    for (int i = 0; i < JOURNALS; i++)
        all[i] = paths[i];
    return all;
}

static void span_of(assay_monitor *monitor, const char *name, uint64_t ns)
{
    assay_span span = assay_monitor_begin(monitor, name);
    hand_ns += ns;
    assay_span_end(span);
}

/* Journal j: each layer below "train" takes 1000 (j + 1) ns, and below "validate" 50 ns in journals
 * of even number only. */
static void write_journal(int j)
{
    char name[32];
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    snprintf(name, sizeof name, "worker %d", j);
    options.name = name;
    options.clock = clock_by_hand;
    options.journal_path = paths[j];
    options.samples = 2;
    assay_monitor *monitor = open_monitor(&options);
    assay_span train = assay_monitor_begin(monitor, "train");
    for (int i = 0; i < LAYERS; i++) {
        snprintf(name, sizeof name, "layer %d", i);
        span_of(monitor, name, 1000 * (uint64_t)(j + 1));
        assay_monitor_count(monitor, name, i + 10 * j);
    }
    assay_span_end(train);
    assay_span validate = assay_monitor_begin(monitor, "validate");
    for (int i = 0; i < LAYERS && j % 2 == 0; i++) {
        snprintf(name, sizeof name, "layer %d", i);
        span_of(monitor, name, 50);
    }
    assay_span_end(validate);
    span_of(monitor, "layer 7", 5); /* at the top as well */
    assay_monitor_free(monitor);
}

static int write_journals(void **state)
{
    make_clock(state);
    for (int j = 0; j < JOURNALS; j++) {
        snprintf(paths[j], sizeof paths[j], "/tmp/assay-merge-%d-%d.assay", (int)getpid(), j);
        unlink(paths[j]);
        write_journal(j);
    }
    return 0;
}

static int remove_journals(void **state)
{
    for (int j = 0; j < JOURNALS; j++)
        unlink(paths[j]);
    return drop_clock(state);
}

static assay_record *merged(const char *const *of, size_t count)
{
    assay_record *record = NULL;
    assay_error error = {0};
    if (assay_snapshot_files(of, count, NULL, &error, &record) != ASSAY_OK)
        fail_msg("%s", error.message);
    return record;
}

static const assay_record_operation *below(const assay_record *record, const char *parent,
                                           const char *name)
{
    const assay_record_operation *found = NULL;
    for (size_t i = 0; i < record->operation_count; i++) {
        const assay_record_operation *it = &record->operations[i];
        const char *above = it->parent < 0 ? "" : record->operations[it->parent].name;
        if (strcmp(above, parent) == 0 && strcmp(it->name, name) == 0) {
            assert_null(found); /* once only */
            found = it;
        }
    }
    assert_non_null(found);
    return found;
}

static void test_one_name_at_several_places_is_several_operations(void **state)
{
    (void)state;
    assay_record *record = merged(all_paths(), JOURNALS);
    assert_int_equal(record->operation_count, 3 + 2 * LAYERS);
    for (int i = 0; i < LAYERS; i++) {
        char name[32];
        snprintf(name, sizeof name, "layer %d", i);
        const assay_record_operation *trained = below(record, "train", name);
        assert_int_equal(trained->count, JOURNALS);
        assert_seconds(trained->total_seconds, 15000e-9);
        assert_seconds(trained->self_seconds, 15000e-9);
        assert_seconds(trained->min_seconds.value, 1000e-9);
        assert_seconds(trained->max_seconds.value, 5000e-9);
        assert_seconds(trained->mean_seconds.value, 3000e-9);
        assert_seconds(trained->std_seconds.value, sqrt(2.5) * 1000e-9);
        assert_int_equal(trained->sample_count, JOURNALS);
        for (size_t k = 0; k < trained->sample_count; k++)
            assert_seconds(trained->samples_seconds[k], 1000e-9 * (double)(k + 1));
        assert_int_equal(trained->bucket_count, JOURNALS);
        assert_int_equal(trained->rss_spans, JOURNALS); /* the first one in each */
        assert_int_equal(trained->rss_peak_bytes.validity, ASSAY_VALID);
        const assay_record_operation *validated = below(record, "validate", name);
        assert_int_equal(validated->count, 3);
        assert_int_equal(validated->bucket_count, 1);
        assert_int_equal(validated->buckets[0].count, 3);
    }
    assert_int_equal(below(record, "", "layer 7")->count, JOURNALS);
    assert_seconds(below(record, "", "train")->self_seconds, 0);
    assert_seconds(record->total_seconds, (LAYERS * 15000 + LAYERS * 150 + JOURNALS * 5) * 1e-9);
    assert_clean(record);
    assay_record_free(record);
}

static void test_counters_merge_by_name(void **state)
{
    (void)state;
    assay_record *record = merged(all_paths(), JOURNALS);
    assert_int_equal(record->counter_count, LAYERS);
    for (int i = 0; i < LAYERS; i++) {
        const assay_record_counter *counter = &record->counters[i];
        char name[32];
        snprintf(name, sizeof name, "layer %d", i);
        assert_string_equal(counter->name, name);
        assert_int_equal(counter->count, JOURNALS);
        assert_true(counter->min == i && counter->max == i + 40 && counter->last == i + 40);
        assert_true(fabs(counter->mean - (i + 20)) < 1e-9);
    }
    assay_record_free(record);
}

/* In whatever order they are given; and one that cannot be read is counted and named. */
static void test_the_earliest_journal_gives_name_and_start(void **state)
{
    (void)state;
    const char *const mixed[] = {paths[3], "/nonexistent.assay", paths[1], paths[2]};
    assay_record *record = NULL;
    assay_error error = {0};
    assert_int_equal(assay_snapshot_files(mixed, 4, NULL, &error, &record), ASSAY_OK);
    assert_string_equal(record->name, "worker 1");
    assert_non_null(record->created);
    assert_int_equal(record->integrity.unreadable_journals, 1);
    assert_non_null(strstr(error.message, "/nonexistent.assay"));
    assert_int_equal(below(record, "train", "layer 0")->count, 3);
    assay_record_free(record);
    record = NULL;
    assert_int_equal(assay_snapshot_files(mixed + 1, 1, NULL, &error, &record), ASSAY_E_NOT_FOUND);
    assert_null(record);
}

/* A directory stands for its journals; one without any adds nothing. */
static void test_directories_among_the_paths(void **state)
{
    (void)state;
    char full[] = "/tmp/assay-merge-XXXXXX", empty[] = "/tmp/assay-merge-XXXXXX", inside[2][64];
    assert_non_null(mkdtemp(full));
    assert_non_null(mkdtemp(empty));
    for (int i = 0; i < 2; i++) {
        snprintf(inside[i], sizeof inside[i], "%s/%d.assay", full, i);
        assert_int_equal(link(paths[i + 1], inside[i]), 0);
    }
    const char *const mixed[] = {empty, full, paths[3], "/nonexistent.assay", NULL};
    assay_record *record = NULL;
    assay_error error = {0};
    assert_int_equal(assay_snapshot_files(mixed, 3, NULL, &error, &record), ASSAY_OK);
    assert_int_equal(error.status, ASSAY_OK);
    assert_int_equal(record->integrity.unreadable_journals, 0);
    assert_string_equal(record->name, "worker 1");
    assert_int_equal(below(record, "train", "layer 0")->count, 3);
    assay_record_free(record);
    record = NULL;
    assert_int_equal(assay_snapshot_files(mixed, 1, NULL, &error, &record), ASSAY_E_NOT_FOUND);
    assert_non_null(strstr(error.message, empty));
    const char *const nothing[] = {empty, "/nonexistent.assay"};
    assert_int_equal(assay_snapshot_files(nothing, 2, NULL, &error, &record), ASSAY_E_NOT_FOUND);
    assert_non_null(strstr(error.message, "/nonexistent.assay"));
    assert_int_equal(assay_snapshot_files(mixed + 3, 2, NULL, &error, &record), ASSAY_E_ARGUMENT);
    assert_null(record);
    for (int i = 0; i < 2; i++)
        unlink(inside[i]);
    rmdir(full);
    rmdir(empty);
}

/* ---- clocks that do not agree ---------------------------------------------------------------- */

static unsigned char *copy_of_journal(assay_monitor *monitor)
{
    const assay__journal_header *header = assay__monitor_journal(monitor);
    unsigned char *bytes = malloc(header->total_bytes);
    assert_non_null(bytes);
    return memcpy(bytes, header, header->total_bytes);
}

/* A journal merged with itself as a clock `faster` times as fast would have written it. */
static assay_record *merged_with_faster(unsigned char *bytes, double faster)
{
    assay__journal_header *header = (void *)bytes;
    assay__journal_view view;
    assay__merge merge;
    assert_int_equal(assay__merge_begin(&merge, header, NULL), ASSAY_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(assay__journal_view_bytes(&view, bytes, header->total_bytes, "test", NULL),
                         ASSAY_OK);
        assert_int_equal(assay__merge_journal(&merge, &view), ASSAY_OK);
        header->ticks_per_second *= faster;
    }
    assay_record *record = assay__merge_finish(&merge);
    assay__merge_release(&merge);
    header->ticks_per_second /= faster * faster;
    return record;
}

static void test_buckets_of_two_calibrations_are_joined(void **state)
{
    (void)state;
    enum { SPANS = 300 };
    assay_monitor *monitor = new_monitor();
    for (uint64_t i = 0; i < SPANS; i++)
        assay_monitor_add(monitor, "work", 1000 + 1000 * i);
    unsigned char *bytes = copy_of_journal(monitor);
    assay_record *alone = record_of(monitor);
    const assay_record_operation *one = operation_of(alone, "work");
    assert_true(one->bucket_count > 100);
    assay_record *same = merged_with_faster(bytes, 1 + 5e-6);
    const assay_record_operation *joined = operation_of(same, "work");
    assert_int_equal(joined->bucket_count, one->bucket_count);
    for (size_t i = 0; i < one->bucket_count; i++)
        assert_int_equal(joined->buckets[i].count, 2 * one->buckets[i].count);
    assert_true(fabs(joined->p95_seconds.value / one->p95_seconds.value - 1) < 1e-4);
    assay_record *other = merged_with_faster(bytes, 1.005);
    const assay_record_operation *apart = operation_of(other, "work");
    uint64_t total = 0;
    assert_int_equal(apart->bucket_count, 2 * one->bucket_count);
    for (size_t i = 0; i < apart->bucket_count; i++) {
        assert_true(i == 0 || apart->buckets[i - 1].seconds < apart->buckets[i].seconds);
        total += apart->buckets[i].count;
    }
    assert_int_equal(total, 2 * SPANS);
    assay_record_free(alone);
    assay_record_free(same);
    assay_record_free(other);
    free(bytes);
    assay_monitor_free(monitor);
}

/* The printable form of a damaged name is one name, wherever it comes from. */
static void test_a_damaged_name_is_one_operation(void **state)
{
    (void)state;
    assay_monitor *monitor = new_monitor();
    assay_monitor_add(monitor, "?ork", 1000);
    assay_monitor_add(monitor, "work", 1000);
    assay_monitor_count(monitor, "work", 1);
    unsigned char *bytes = copy_of_journal(monitor);
    const assay__journal_header *header = (const void *)bytes;
    for (uint64_t at = ASSAY__JOURNAL_HEADER_BYTES; at < header->total_bytes - 4; at++)
        if (memcmp(bytes + at, "work", 4) == 0) {
            bytes[at] = '\x01';
            break;
        }
    assay_record *record = merged_with_faster(bytes, 1);
    assert_int_equal(record->operation_count, 1);
    assert_int_equal(operation_of(record, "?ork")->count, 4);
    assert_int_equal(record->counter_count, 1);
    assert_int_equal(record->counters[0].count, 2);
    assay_record_free(record);
    free(bytes);
    assay_monitor_free(monitor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_that_collide_are_told_apart),
        cmocka_unit_test(test_one_name_at_several_places_is_several_operations),
        cmocka_unit_test(test_counters_merge_by_name),
        cmocka_unit_test(test_the_earliest_journal_gives_name_and_start),
        cmocka_unit_test(test_directories_among_the_paths),
        cmocka_unit_test(test_buckets_of_two_calibrations_are_joined),
        cmocka_unit_test(test_a_damaged_name_is_one_operation),
    };
    return cmocka_run_group_tests(tests, write_journals, remove_journals);
}
