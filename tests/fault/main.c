/* Runs the scenarios, or those whose name begins with NAME: fault [NAME]
 *
 * Each run is a child process of its own, in an empty folder of its own, so that a crash is one
 * failed run and nothing carries over. A run is cold or warm. A cold run is the very first use in
 * its process, so that one-time set-up is refused too. A warm run comes after one undisturbed run,
 * so that everything that is kept for good is already there and all memory must balance exactly. A
 * run refuses one request, or all from the n-th on. A cold run may keep as much as the undisturbed
 * cold run keeps, and no more. */
#include "tests/fault/fault.h"

#include <dirent.h>
#include <execinfo.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const fault_scenario *const scenarios[] = {
    &fault_clock,    &fault_instrument, &fault_record,       &fault_monitor, &fault_monitor_file,
    &fault_facade,   &fault_report,     &fault_growth,       &fault_stats,   &fault_compare,
    &fault_sampling, &fault_models,     &fault_trajectories,
};

typedef struct holdings {
    fault_balance memory;
    int open_files;
} holdings;

/* What a run tells its parent, in shared memory. */
typedef struct outcome {
    bool finished; /* false: it crashed */
    long refused;
    assay_status status;
    holdings kept;
    char complaint[256];
} outcome;

typedef struct plan {
    const fault_scenario *scenario;
    bool warm, from_then_on;
    long nth;
} plan;

static int count_entries(const char *folder, const char *ending)
{
    DIR *stream = opendir(folder);
    int count = 0;
    for (struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;) {
        size_t length = strlen(entry->d_name), tail = strlen(ending);
        count += length >= tail && strcmp(entry->d_name + length - tail, ending) == 0;
    }
    closedir(stream);
    return count;
}

static holdings holdings_now(void)
{
    return (holdings){fault_balance_now(), count_entries("/proc/self/fd", "")};
}

static holdings difference(holdings after, holdings before)
{
    after.memory.blocks -= before.memory.blocks;
    after.memory.mapped_bytes -= before.memory.mapped_bytes;
    after.open_files -= before.open_files;
    return after;
}

static void empty_current_folder(void)
{
    DIR *stream = opendir(".");
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;)
        unlink(entry->d_name);
    closedir(stream);
}

static void run_child(const plan *it, outcome *result)
{
    void *frames[4];
    backtrace(frames, 4); /* its own one-time set-up */
    alarm(60);
    (void)holdings_now();
    if (it->warm) {
        (void)!it->scenario->run();
        empty_current_folder();
    }
    holdings before = holdings_now();
    fault_arm(it->nth, it->from_then_on);
    result->status = it->scenario->run();
    result->refused = fault_disarm();
    result->kept = difference(holdings_now(), before);
    int leftovers = count_entries(".", ".tmp");
    if (leftovers != 0)
        snprintf(result->complaint, sizeof result->complaint, "%d temporary files left", leftovers);
    else if (strcmp(assay_status_name(result->status), "unknown status") == 0)
        snprintf(result->complaint, sizeof result->complaint, "returned %d, which is no status",
                 (int)result->status);
    else if (result->status == ASSAY_OK && it->scenario->verify != NULL && !it->scenario->verify())
        snprintf(result->complaint, sizeof result->complaint, "says ASSAY_OK, but is incomplete");
    empty_current_folder();
    if (result->complaint[0] != '\0' && result->refused > 0)
        fault_print_origin();
    result->finished = true;
    fflush(NULL);
}

static outcome run_once(const plan *it, outcome *shared)
{
    *shared = (outcome){0};
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        run_child(it, shared);
        exit(0); /* not _exit: the leak sanitizer looks at exit */
    }
    int status = 0;
    waitpid(child, &status, 0);
    empty_current_folder(); /* a run that died could not */
    outcome result = *shared;
    if (WIFSIGNALED(status))
        snprintf(result.complaint, sizeof result.complaint, "died: %s",
                 strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0)
        snprintf(result.complaint, sizeof result.complaint, "exit status %d", WEXITSTATUS(status));
    return result;
}

static void judge_holdings(outcome *result, holdings allowed)
{
    holdings more = difference(result->kept, allowed);
    if (result->complaint[0] != '\0')
        return;
    if (more.memory.blocks > 0 || more.memory.mapped_bytes > 0 || more.open_files > 0)
        snprintf(result->complaint, sizeof result->complaint,
                 "leaked %ld blocks, %ld mapped bytes, %d files", more.memory.blocks,
                 more.memory.mapped_bytes, more.open_files);
}

static void report(const plan *it, const outcome *result)
{
    printf("%s: %s, %s request %ld refused: %s (status %s)\n", it->scenario->name,
           it->warm ? "warm" : "cold", it->from_then_on ? "every one from" : "only", it->nth,
           result->complaint, assay_status_name(result->status));
}

/* Refuse request 1, 2, 3 ... until a run meets no refusal. Returns the number of failed runs. */
static int sweep(plan it, outcome *shared, long *points)
{
    int failures = 0;
    it.nth = LONG_MAX;
    outcome undisturbed = run_once(&it, shared);
    holdings allowed = it.warm ? (holdings){0} : undisturbed.kept;
    judge_holdings(&undisturbed, allowed);
    if (undisturbed.complaint[0] != '\0' || undisturbed.status != ASSAY_OK) {
        printf("%s: fails without any refusal: %s (status %s)\n", it.scenario->name,
               undisturbed.complaint, assay_status_name(undisturbed.status));
        return 1;
    }
    for (it.nth = 1;; it.nth++) {
        outcome result = run_once(&it, shared);
        judge_holdings(&result, allowed);
        if (result.complaint[0] != '\0') {
            report(&it, &result);
            failures++;
        }
        if (failures >= 20 || (result.finished && result.refused == 0))
            break;
    }
    *points += it.nth - 1;
    return failures;
}

static int run_scenario(const fault_scenario *scenario, outcome *shared)
{
    int failures = 0;
    long points = 0;
    for (int kind = 0; kind < 4; kind++)
        failures += sweep((plan){scenario, kind & 1, kind & 2, 0}, shared, &points);
    printf("%s: %ld refusals, %d failures\n", scenario->name, points, failures);
    return failures;
}

int main(int argc, char **argv)
{
    outcome *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char folder[] = "/tmp/assay-fault-XXXXXX";
    if (shared == MAP_FAILED || mkdtemp(folder) == NULL || chdir(folder) != 0) {
        perror("fault");
        return 1;
    }
    int failures = 0, ran = 0;
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        if (argc > 1 && strncmp(scenarios[i]->name, argv[1], strlen(argv[1])) != 0)
            continue;
        failures += run_scenario(scenarios[i], shared);
        ran++;
    }
    rmdir(folder);
    return failures > 0 || ran == 0;
}
