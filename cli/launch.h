/* Starts the program that is measured, so that its figures contain nothing of assay's own. */
#ifndef ASSAY_CLI_LAUNCH_H
#define ASSAY_CLI_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* A variable in the environment of the program. It replaces an inherited variable of that name. */
typedef struct launch_variable {
    const char *name, *value;
} launch_variable;

typedef struct launch_result {
    pid_t pid;         /* 0 if the start failed */
    uint64_t start_ns; /* CLOCK_MONOTONIC, immediately before the exec */
    int failure;       /* errno of the fork or the exec, 0 on success */
    bool found;        /* whether the program exists */
    bool is_ours;      /* `failure` is not the program's: no process could be made for it */
} launch_result;

/* Block the signals that watch_until_end() and launch_run() wait for, so that none of them is lost
 * before the wait. `original` receives the mask that the program is to have. */
void launch_block_signals(sigset_t *original);

/* Undo launch_block_signals() after the program has ended. Pending signals are dropped; later
 * signals act as usual. */
void launch_restore_signals(const sigset_t *original);

/* Start `command` (searched in PATH, no shell) with our standard streams. Returns when the exec has
 * succeeded or failed. After a failure there is no process left to wait for. */
launch_result launch_start(char *const *command, const launch_variable *variables, size_t count,
                           const sigset_t *signal_mask);

/* The descriptors that become the standard streams of the program; -1 keeps ours. */
typedef struct launch_streams {
    int input, output, error;
} launch_streams;

typedef struct launch_end {
    uint64_t end_ns; /* CLOCK_MONOTONIC, when the wait returned */
    int wait_status;
    int signal;            /* a signal that asked assay to stop, or 0 */
    bool insisted;         /* a second signal came, and the program was killed */
    struct rusage usage;   /* of the program and of the processes that it waited for */
    double waited_seconds; /* time that its first thread waited for a processor; NAN if unknown */
} launch_end;

/* Take a pending signal that asks assay to stop, such as one that arrived between two programs.
 * Returns its number, or 0 if there is none. */
int launch_pending_signal(void);

/* Start `command` and wait for its end. We do not wake up in between unless a signal comes. The
 * command gets that signal too, and a second one kills it. Call launch_block_signals() first. `end`
 * is filled unless `failure` is set. */
launch_result launch_run(char *const *command, const sigset_t *signal_mask,
                         const launch_streams *streams, launch_end *end);

/* Print why a program could not be started, and the remedy, as a message of `assay COMMAND`. */
void launch_explain(const char *command, const launch_result *failed, const char *program);

#endif
