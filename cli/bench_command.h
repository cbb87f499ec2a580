/* A command as a subject of sampling: each sample is one run of the command in a new process. */
#ifndef ASSAY_CLI_BENCH_COMMAND_H
#define ASSAY_CLI_BENCH_COMMAND_H

#include <signal.h>
#include <stdbool.h>

#include "assay/sampling.h"
#include "cli/bench_plan.h"
#include "cli/common/bench_progress.h"

/* What all commands of one benchmark share. */
typedef struct bench_terms {
    bench_progress *progress; /* removed from the terminal before a message */
    const char *input;        /* the file that each run reads from the start; NULL: /dev/null */
    const char *output;       /* "null", "inherit", or a file, which each run overwrites */
    bool ignore_failure;
    sigset_t signal_mask; /* the mask that the commands get */
    int exit_code;        /* set after a failure was reported; EX_OK until then */
    int signal;           /* the last signal that was sent to us and ends the benchmark, or 0 */
    bool insisted;        /* a second signal was sent: stop at once, without cleaning up */
} bench_terms;

typedef struct bench_command {
    const bench_entry *entry;
    bench_terms *terms;
    size_t runs; /* the number of runs that have ended so far */
} bench_command;

/* Fill `subject` for the sampling. The subject keeps pointers to `self` and to what `self` points
 * to, so these must outlive it. */
void bench_command_subject(bench_command *self, assay_subject *subject);

/* Record that a signal ends the benchmark. The second call means that the user insists. */
void bench_terms_take_signal(bench_terms *terms, int number);

/* Run the entry's --cleanup, if it has one. Returns false after a message or a signal. */
bool bench_command_clean_up(bench_command *self);

#endif
