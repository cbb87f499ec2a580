/* A command as a subject of sampling: each sample is one run of it in a fresh process. */
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
    const char *input;        /* file each run reads from the start */
    const char *output;       /* "null", "inherit", or a file that the last run fills */
    bool ignore_failure;
    sigset_t signal_mask; /* of the commands */
    int exit_code;        /* set after a failure was reported; EX_OK until then */
    int signal;           /* the last signal that was sent to us and ends the benchmark, or 0 */
    bool insisted;        /* a second signal was sent: stop at once, without cleaning up */
} bench_terms;

typedef struct bench_command {
    const bench_entry *entry;
    bench_terms *terms;
    size_t runs; /* so far */
} bench_command;

/* `self` and everything it points to must outlive the subject. */
void bench_command_subject(bench_command *self, assay_subject *subject);

/* Note a signal that ends the benchmark. */
void bench_terms_take_signal(bench_terms *terms, int number);

/* Run the entry's --cleanup, if any. False after a message or a signal. */
bool bench_command_clean_up(bench_command *self);

#endif
