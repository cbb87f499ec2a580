/* Figures that survive the program: a monitor writes into a file, which is read after a crash.
 *
 *     cc journal.c $(pkg-config --cflags --libs assay) -lm -o journal
 *     ./journal            in a temporary folder
 *     ./journal FOLDER     keeps the journal in FOLDER
 *
 * A child process measures and dies in the middle of its work. The parent reads the journal that
 * the child left: every completed span is there, and the open span is named. `assay journal FILE`
 * shows the same, even while the process is still running. */
#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <assay/assay.h>

enum { STEPS = 20 };

static void work(void)
{
    volatile double sum = 0.0;
    for (int i = 0; i < 20000; i++)
        sum = sum + sin(i);
}

/* Measures STEPS steps, then ends without closing anything. */
static void crash(const char *path)
{
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.name = "crashing";
    options.journal_path = path;
    assay_monitor *monitor = NULL;
    assay_error error;
    if (assay_monitor_open(&options, &error, &monitor) != ASSAY_OK) {
        fprintf(stderr, "%s\n", error.message);
        _exit(1);
    }
    for (int step = 0; step < STEPS; step++)
        ASSAY_TRACK(monitor, "step") {
            work();
        }
    ASSAY_TRACK(monitor, "the fatal step") {
        work();
        _exit(42); /* nothing is closed, flushed or freed */
    }
}

int main(int count, char **arguments)
{
    char temporary[] = "/tmp/assay-example-XXXXXX", path[4096];
    const char *folder = count > 1 ? arguments[1] : mkdtemp(temporary);
    if (folder == NULL) {
        perror("temporary folder");
        return 1;
    }
    snprintf(path, sizeof path, "%s/crashing.assay", folder);

    const pid_t child = fork();
    if (child == 0)
        crash(path);
    int ended = 0;
    if (child < 0 || waitpid(child, &ended, 0) < 0) {
        perror("child process");
        return 1;
    }
    printf("the child ended with status %d\n\n", WEXITSTATUS(ended));

    assay_error error;
    assay_record *record = NULL;
    assay_status status = assay_snapshot_file(path, &error, &record);
    if (status == ASSAY_OK)
        status = assay_report_print(record, "journal", stdout, &error);
    if (status != ASSAY_OK)
        fprintf(stderr, "%s: %s\n", assay_status_name(status), error.message);
    assay_record_free(record);
    if (count <= 1) {
        unlink(path);
        rmdir(folder);
    }
    return status == ASSAY_OK ? 0 : 1;
}
