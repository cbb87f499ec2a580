/* Starting the program that is measured, without leaving our own traces in its figures. */
#ifndef ASSAY_CLI_LAUNCH_H
#define ASSAY_CLI_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* A variable the program finds in its environment, over what it would inherit. */
typedef struct launch_variable {
    const char *name, *value;
} launch_variable;

typedef struct launch_result {
    pid_t pid;         /* 0 when `failure` is not */
    uint64_t start_ns; /* CLOCK_MONOTONIC, immediately before the program took over */
    int failure;       /* errno of the fork or the exec, 0 on success */
    int found;         /* the failure was of a program that exists */
} launch_result;

/* Block the signals that watch_until_end() and launch_run() wait for, so that none is lost before
 * they do; `original` receives the mask the program shall have. */
void launch_block_signals(sigset_t *original);

/* Undo it when the program has ended: signals that came meanwhile are dropped, those that come from
 * now on act as they usually do. */
void launch_restore_signals(const sigset_t *original);

/* Start `command` (searched in PATH, no shell) with our standard streams. Returns when the program
 * has taken over the process, or has failed to; a failed one is already reaped. */
launch_result launch_start(char *const *command, const launch_variable *variables, size_t count,
                           const sigset_t *signal_mask);

/* Descriptors that become the program's standard streams; -1 keeps ours. */
typedef struct launch_streams {
    int input, output, error;
} launch_streams;

typedef struct launch_end {
    uint64_t end_ns; /* CLOCK_MONOTONIC, when the wait returned */
    int wait_status;
    int signal;            /* one sent to us meanwhile that shall end our work too, or 0 */
    bool insisted;         /* a second one came, and the program was killed */
    struct rusage usage;   /* of the program and what it waited for */
    double waited_seconds; /* for a processor, by its first thread; NAN when not known */
} launch_end;

/* A blocked signal that came while nothing ran and shall end our work, or 0. It is taken: it does
 * not come again. */
int launch_pending_signal(void);

/* Start `command` and wait for its end, without waking between the two unless a signal comes, which
 * the command gets too; a second signal kills it. launch_block_signals() must have been called.
 * `end` is filled unless `failure` is set. */
launch_result launch_run(char *const *command, const sigset_t *signal_mask,
                         const launch_streams *streams, launch_end *end);

/* Why a program could not be started, and the remedy, as a message of `assay COMMAND`. */
void launch_explain(const char *command, const launch_result *failed, const char *program);

#endif
