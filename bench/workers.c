/* What measuring costs a program of many short-lived workers: 10,000 forked processes that take ten
 * spans each and end. Every worker writes a journal of its own; `assay run` merges them.
 *
 * Ratio: the program runs alone with its monitor disabled, and under `assay run` from its start to
 * the finished record, in alternating order. The figure is the median of the ratios of the pairs.
 * Workers that do nothing but measure are the worst case, because forking and reaping a process
 * takes as long as making a file.
 *
 *     workers [PAIRS]     one JSON object per figure on stdout */
#include <assay/assay.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 10000, SPANS = 10, PAIRS = 5, PAIRS_MAX = 100 };

static const double BAR_RATIO = 2.0, BAR_READER_MB = 256, BAR_DISK_MB = 1000;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* The program that is measured: it starts one worker after another. */
static int fork_workers(bool disabled)
{
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    assay_monitor *monitor = NULL;
    options.disabled = disabled;
    if (assay_monitor_new(&options, &monitor) != ASSAY_OK)
        return 1;
    for (int i = 0; i < WORKERS; i++) {
        pid_t worker = fork();
        if (worker < 0)
            fail("fork");
        if (worker == 0) {
            for (int span = 0; span < SPANS; span++)
                ASSAY_TRACK(monitor, "work") {
                }
            _exit(0);
        }
        waitpid(worker, NULL, 0);
    }
    assay_monitor_free(monitor);
    return 0;
}

/* The seconds that the command takes. *peak_kb receives the peak memory of the largest of its
 * processes that was waited for. */
static double seconds_of(char *const *command, long *peak_kb)
{
    struct rusage usage;
    int status;
    double start = assay_clock_seconds(assay_clock_default());
    pid_t child = fork();
    if (child == 0) {
        execv(command[0], command);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
        fail(command[0]);
    *peak_kb = usage.ru_maxrss;
    return assay_clock_seconds(assay_clock_default()) - start;
}

static void check_record(const char *path)
{
    assay_record *record = NULL;
    assay_error error;
    if (assay_record_load(path, &error, &record) != ASSAY_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    if (record->operation_count != 1 || record->operations[0].count != WORKERS * SPANS) {
        fprintf(stderr, "spans are missing\n");
        exit(1);
    }
    assay_record_free(record);
    unlink(path);
}

/* The space on disk that one worker's journal takes. */
static double journal_bytes(void)
{
    char path[64];
    struct stat file;
    snprintf(path, sizeof path, "/tmp/assay-workers-%d.assay", (int)getpid());
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    assay_monitor *monitor = NULL;
    options.journal_path = path;
    if (assay_monitor_new(&options, &monitor) != ASSAY_OK)
        fail(path);
    for (int span = 0; span < SPANS; span++)
        ASSAY_TRACK(monitor, "work") {
        }
    assay_monitor_free(monitor);
    if (stat(path, &file) != 0)
        fail(path);
    unlink(path);
    return (double)file.st_blocks * 512;
}

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void report(const char *name, double value, const char *unit, double bar)
{
    printf("{\"name\": \"%s\", \"value\": %.2f, \"unit\": \"%s\", \"bar\": %.0f, \"ok\": %s}\n",
           name, value, unit, bar, value <= bar ? "true" : "false");
}

/* Finds assay in the same build folder as bench/workers. */
static void assay_beside(const char *program, char *path, size_t size)
{
    const char *slash = strrchr(program, '/');
    snprintf(path, size, "%.*s../assay", slash != NULL ? (int)(slash - program + 1) : 0, program);
    if (access(path, X_OK) != 0)
        fail(path);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--alone") == 0)
        return fork_workers(true);
    if (argc > 1 && strcmp(argv[1], "--measured") == 0)
        return fork_workers(false);
    int pairs = argc > 1 ? atoi(argv[1]) : PAIRS;
    if (pairs < 1 || pairs > PAIRS_MAX)
        pairs = PAIRS;
    char assay[4096], json[64];
    assay_beside(argv[0], assay, sizeof assay);
    snprintf(json, sizeof json, "/tmp/assay-workers-%d.json", (int)getpid());
    char *alone[] = {argv[0], "--alone", NULL};
    char *measured[] = {assay, "run", "-q", "--json", json, "--", argv[0], "--measured", NULL};
    double ratios[PAIRS_MAX];
    long peak_kb = 0, ignored;
    for (int i = 0; i < pairs; i++) {
        double first = i % 2 == 0 ? seconds_of(alone, &ignored) : seconds_of(measured, &peak_kb);
        double second = i % 2 == 0 ? seconds_of(measured, &peak_kb) : seconds_of(alone, &ignored);
        ratios[i] = i % 2 == 0 ? second / first : first / second;
        check_record(json);
    }
    qsort(ratios, (size_t)pairs, sizeof *ratios, by_size);
    report("10,000 forked workers of ten spans, measured", ratios[pairs / 2], "x alone", BAR_RATIO);
    report("10,000 journals, memory to read them", (double)peak_kb / 1000, "MB", BAR_READER_MB);
    report("10,000 journals, disk", WORKERS * journal_bytes() / 1e6, "MB", BAR_DISK_MB);
    return 0;
}
