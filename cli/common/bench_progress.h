/* One line on a terminal that says how far a benchmark is; nothing anywhere else. */
#ifndef ASSAY_CLI_COMMON_BENCH_PROGRESS_H
#define ASSAY_CLI_COMMON_BENCH_PROGRESS_H

#include <stdbool.h>

#include "assay/sampling.h"

typedef struct bench_progress {
    const assay_subject *subjects;
    size_t count;
    bool shown; /* a line stands on the terminal */
} bench_progress;

/* Is there a terminal to show it on? */
bool bench_progress_wanted(void);

/* For assay_sampling_options.progress; `context` is a bench_progress. */
void bench_progress_show(void *context, const assay_sampling_progress *progress);

/* Remove the line from the terminal. */
void bench_progress_clear(bench_progress *shown);

#endif
