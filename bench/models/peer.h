/* Measures our times beside those of a Python peer; both take turns within one run.
 *
 *     peer_server server;
 *     peer_start(&server, "sequence.py");                     bench/models/peers/sequence.py
 *     peer_compare(&server, "lstm one step", "PyTorch", "lstm-step", 15, one_step, &context);
 *     return peer_stop(&server);
 *
 * The bars are for Debian's packages. A PyTorch of version 2 or later (ASSAY_PYTHON) has bars of
 * its own: 1, unless the benchmark sets server.modern_bar.
 *
 * The peer is a process that answers "REPEATS TASK" with seconds per call (see peers/peer.py).
 * Rounds alternate between the two sides, so that both have the same noise. Each round is long
 * enough for the clock and short enough to fit into a quiet phase of the machine. The benchmark
 * shows the median of either side and the median of the rounds' ratios, to which the bar applies.
 * Without a peer (no Python, no PyTorch) only our times are shown.
 *
 * Both sides run on one thread each, and that thread's processor time is counted. On a quiet
 * machine it equals the elapsed time; on a busy one it leaves out the time spent waiting for a
 * processor.
 *
 * The code is in this header because each benchmark is one program of one file. */
#ifndef BENCH_MODELS_PEER_H
#define BENCH_MODELS_PEER_H

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/level.h"

enum { PEER_ROUNDS = 9 };
#define PEER_ROUND_SECONDS 0.03

typedef struct peer_server {
    FILE *questions, *answers; /* NULL without a peer */
    pid_t pid;
    bool missed;       /* a bar was missed */
    double modern_bar; /* bar for PyTorch 2 or later; 0 for the row's own bar */
} peer_server;

/* One call of the code that is measured. */
typedef void (*peer_subject)(void *context);

/* The processor time of this thread so far. */
static inline double peer_cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline double peer_ours_seconds(peer_subject subject, void *context, long repeats)
{
    double start = peer_cpu_seconds();
    for (long i = 0; i < repeats; i++)
        subject(context);
    return (peer_cpu_seconds() - start) / (double)repeats;
}

/* The number of calls that fill one round. */
static inline long peer_repeats(double seconds_per_call)
{
    double repeats = PEER_ROUND_SECONDS / (seconds_per_call > 0 ? seconds_per_call : 1e-9);
    return repeats < 1 ? 1 : (long)repeats;
}

static inline int peer_compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double peer_median(const double values[PEER_ROUNDS])
{
    double sorted[PEER_ROUNDS];
    memcpy(sorted, values, sizeof sorted);
    qsort(sorted, PEER_ROUNDS, sizeof *sorted, peer_compare_doubles);
    return sorted[PEER_ROUNDS / 2];
}

/* Runs the script in the child process. It never returns. */
static inline void peer_become(const char *script, int questions, int answers)
{
    const char *source = getenv("ASSAY_SOURCE"), *python = getenv("ASSAY_PYTHON");
    char path[4096];
    snprintf(path, sizeof path, "%s/bench/models/peers/%s", source != NULL ? source : ".", script);
    dup2(questions, STDIN_FILENO);
    dup2(answers, STDOUT_FILENO);
    for (int fd = 3; fd < 64; fd++)
        close(fd);
    execl(python != NULL ? python : "/usr/bin/python3", "python3", path, (char *)NULL);
    _exit(127);
}

static inline void peer_close(peer_server *server)
{
    if (server->questions != NULL) {
        fclose(server->questions);
        fclose(server->answers);
        waitpid(server->pid, NULL, 0);
    }
    server->questions = server->answers = NULL;
}

/* Start bench/models/peers/SCRIPT and wait until it is ready. If there is no peer, the reason goes
 * to stderr. Run the benchmark from the top of the source, or let ASSAY_SOURCE name it;
 * ASSAY_PYTHON names another Python. */
static inline void peer_start(peer_server *server, const char *script)
{
    *server = (peer_server){.pid = -1};
    int down[2], up[2];
    if (pipe(down) != 0 || pipe(up) != 0)
        return;
    signal(SIGPIPE, SIG_IGN);
    server->pid = fork();
    if (server->pid == 0)
        peer_become(script, down[0], up[1]);
    close(down[0]);
    close(up[1]);
    server->questions = fdopen(down[1], "w");
    server->answers = fdopen(up[0], "r");
    char line[256] = "";
    if (fgets(line, sizeof line, server->answers) == NULL || strncmp(line, "ready", 5) != 0) {
        fprintf(stderr, "no peer %s: %s\n", script, line[0] != '\0' ? line : "it did not start");
        peer_close(server);
    }
    server->modern_bar = strtod(line + 5, NULL) >= 2 ? 1 : 0; /* "ready 2.11.0" */
}

/* The peer's seconds per call. NaN without a peer, or if the peer cannot do the task. */
static inline double peer_seconds(peer_server *server, const char *task, long repeats)
{
    char line[256];
    if (server->questions == NULL)
        return NAN;
    fprintf(server->questions, "%ld %s\n", repeats, task);
    fflush(server->questions);
    if (fgets(line, sizeof line, server->answers) == NULL) {
        peer_close(server);
        return NAN;
    }
    char *end;
    double seconds = strtod(line, &end);
    if (end == line) {
        fprintf(stderr, "peer: %s", line);
        return NAN;
    }
    return seconds;
}

static inline void peer_print_time(const char *name, const char *whose, double seconds)
{
    if (!isnan(seconds)) {
        printf("{\"name\": \"%s: %s\", \"value\": %.4g, \"unit\": \"us\", \"bar\": null, "
               "\"ok\": true}\n",
               name, whose, 1e6 * seconds);
    }
}

static inline void peer_print_ratio(peer_server *server, const char *name, const char *peer_name,
                                    double ratio, double bar)
{
    bool ok = ratio >= bar;
    server->missed |= !ok;
    printf("{\"name\": \"%s: %s / ours\", \"value\": %.3f, \"unit\": \"x\", \"bar\": %g, "
           "\"ok\": %s}\n",
           name, peer_name, ratio, bar, ok ? "true" : "false");
}

/* Time `subject` and the peer's `task`, and print three rows: both medians, and how many times as
 * long the peer took, which must be at least `bar`. Returns that ratio, or NaN without a peer. */
static inline double peer_compare(peer_server *server, const char *name, const char *peer_name,
                                  const char *task, double bar, peer_subject subject, void *context)
{
    double ours[PEER_ROUNDS], theirs[PEER_ROUNDS], ratios[PEER_ROUNDS];
    long repeats = 1;
    while (peer_ours_seconds(subject, context, repeats) * (double)repeats < PEER_ROUND_SECONDS / 4)
        repeats *= 2;
    repeats = peer_repeats(peer_ours_seconds(subject, context, repeats));
    long their_repeats = peer_repeats(peer_seconds(server, task, 1));
    their_repeats =
        peer_repeats(peer_seconds(server, task, their_repeats < 10 ? their_repeats : 10));
    for (int round = 0; round < PEER_ROUNDS; round++) {
        ours[round] = peer_ours_seconds(subject, context, repeats);
        theirs[round] = peer_seconds(server, task, their_repeats);
        ratios[round] = theirs[round] / ours[round];
    }
    peer_print_time(name, "ours", peer_median(ours));
    if (server->questions == NULL || isnan(theirs[0]))
        return NAN;
    peer_print_time(name, peer_name, peer_median(theirs));
    double ratio = peer_median(ratios);
    if (server->modern_bar > 0 && strcmp(peer_name, "PyTorch") == 0)
        bar = server->modern_bar;
    peer_print_ratio(server, name, peer_name, ratio, bar);
    fflush(stdout);
    return ratio;
}

/* The bar for the level of the processor that is in use (ASSAY_CPU, base/level.h). */
static inline double peer_bar_at_level(double lower, double highest)
{
    return assay__level_now(NULL) < 2 ? lower : highest; /* below x86-64-v4 */
}

/* The exit status of the benchmark: 0, or 1 if a bar was missed. */
static inline int peer_stop(peer_server *server)
{
    peer_close(server);
    return server->missed ? 1 : 0;
}

#endif
