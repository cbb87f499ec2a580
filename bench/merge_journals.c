/* How long it takes to make one record of 64 journals with 65,536 operations in all: first with
 * 1,024 different names in each journal, then with the same 1,024 names in every journal. The bar
 * is a time and not a ratio, because what matters is how long a user waits for `assay journal DIR`.
 */
#include <assay/assay.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JOURNALS = 64, NAMES = 1024, SPANS = 4, TRIES = 5 };

static const double BAR_SECONDS = 0.5;

static void journal_path(char *path, size_t size, const char *directory, int journal)
{
    snprintf(path, size, "%s/worker.%d.assay", directory, journal);
}

static void write_journal(const char *directory, int journal, int first_name)
{
    char path[256], name[64];
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    assay_monitor *monitor = NULL;
    assay_error error;
    journal_path(path, sizeof path, directory, journal);
    options.journal_path = path;
    options.journal_bytes = 4 << 20;
    if (assay_monitor_open(&options, &error, &monitor) != ASSAY_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    for (int i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "layer %d of the model", first_name + i);
        for (int span = 0; span < SPANS; span++)
            assay_span_end(assay_monitor_begin(monitor, name));
    }
    assay_monitor_free(monitor);
}

static double seconds_to_merge(const char *directory, size_t operations)
{
    assay_record *record = NULL;
    assay_error error;
    double start = assay_clock_seconds(assay_clock_default());
    if (assay_snapshot_directory(directory, &error, &record) != ASSAY_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    double seconds = assay_clock_seconds(assay_clock_default()) - start;
    uint64_t spans = 0;
    for (size_t i = 0; i < record->operation_count; i++)
        spans += record->operations[i].count;
    if (record->operation_count != operations || spans != (uint64_t)JOURNALS * NAMES * SPANS) {
        fprintf(stderr, "%zu operations, %llu spans\n", record->operation_count,
                (unsigned long long)spans);
        exit(1);
    }
    assay_record_free(record);
    return seconds;
}

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void measure(const char *what, bool shared)
{
    char directory[] = "/tmp/assay-merge-XXXXXX", path[256];
    double seconds[TRIES];
    if (mkdtemp(directory) == NULL) {
        perror(directory);
        exit(1);
    }
    for (int i = 0; i < JOURNALS; i++)
        write_journal(directory, i, shared ? 0 : i * NAMES);
    for (int i = 0; i < TRIES; i++)
        seconds[i] = seconds_to_merge(directory, shared ? NAMES : (size_t)JOURNALS * NAMES);
    for (int i = 0; i < JOURNALS; i++) {
        journal_path(path, sizeof path, directory, i);
        unlink(path);
    }
    rmdir(directory);
    qsort(seconds, TRIES, sizeof *seconds, by_size);
    double median = seconds[TRIES / 2];
    printf("{\"name\": \"%s\", \"value\": %.4f, \"unit\": \"s\", \"bar\": %.1f, \"ok\": %s}\n",
           what, median, BAR_SECONDS, median < BAR_SECONDS ? "true" : "false");
}

int main(void)
{
    measure("64 journals merged, 65,536 different operations", false);
    measure("64 journals merged, the same 1,024 operations in each", true);
    return 0;
}
