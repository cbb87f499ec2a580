/* The progress line of a benchmark. It is shown on standard error, and only if that is a terminal.
 */
#ifndef ASSAY_CLI_COMMON_BENCH_PROGRESS_H
#define ASSAY_CLI_COMMON_BENCH_PROGRESS_H

#include <stdbool.h>

#include "assay/sampling.h"

typedef struct bench_progress {
    const assay_subject *subjects;
    size_t count;
    bool shown; /* the terminal shows a line now */
} bench_progress;

/* Whether standard error is a terminal that can show the line. */
bool bench_progress_wanted(void);

/* Draw the line. This is a callback for assay_sampling_options.progress; `context` is a
 * bench_progress. */
void bench_progress_show(void *context, const assay_sampling_progress *progress);

/* Remove the line from the terminal. */
void bench_progress_clear(bench_progress *shown);

#endif
