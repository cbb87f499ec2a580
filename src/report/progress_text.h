/* Prints the one-line messages of the facade's measuring calls. A line leaves out figures that
 * could not be measured (a table has a column for them and shows n/a). A NULL stream prints
 * nothing. */
#ifndef ASSAY_REPORT_PROGRESS_TEXT_H
#define ASSAY_REPORT_PROGRESS_TEXT_H

#include <stdint.h>
#include <stdio.h>

#include "assay/reading.h"
#include "assay/record.h"

/* "MLP training complete: 45.32s total" */
ASSAY_MUST_USE assay_status assay__line_time(FILE *stream, const char *name, double seconds);

/* "Model complete: 45.32s, peak memory: 234.5 MB" */
ASSAY_MUST_USE assay_status assay__line_memory(FILE *stream, const char *name, double seconds,
                                               assay_reading peak_bytes);

/* "KAN training complete: 12.45s, GPU peak: 1024.3 MB". Without a GPU it is "KAN training complete:
 * 12.45s, GPU: not available", because the caller asked for the GPU. */
ASSAY_MUST_USE assay_status assay__line_gpu(FILE *stream, const char *name, double seconds,
                                            assay_reading gpu_peak_bytes);

/* "[Performance] critical_operation: 1.234s, CPU +250.5MB, GPU +512.0MB" and, on a second line, the
 * GPU's peak. */
ASSAY_MUST_USE assay_status assay__line_performance(FILE *stream,
                                                    const assay_record_metric *metric);

typedef struct assay__batch_line {
    uint64_t index;
    double seconds;
    assay_reading gpu_bytes, cpu_bytes;
    double loss; /* NaN if there is none */
} assay__batch_line;

/* "  Batch 0: 0.538s, GPU 23.1MB, CPU 1648.9MB, loss=0.009458" */
ASSAY_MUST_USE assay_status assay__line_batch(FILE *stream, const assay__batch_line *batch);

typedef struct assay__epoch_line {
    double seconds;
    assay_reading gpu_bytes, gpu_reserved_bytes, gpu_peak_bytes;
    assay_reading cpu_bytes, cpu_peak_bytes; /* shown when there is no GPU */
    assay_reading batch_avg_seconds, batch_min_seconds, batch_max_seconds;
} assay__epoch_line;

/* "  Epoch end: 4.774s total, GPU 14.4MB, 3236MB reserved, peak 2880MB"
 * "  Batch timing: avg=0.201s, min=0.082s, max=0.538s"; without a GPU the first line is
 * "  Epoch end: 4.774s total, CPU 1659.6MB, peak 1702MB". */
ASSAY_MUST_USE assay_status assay__line_epoch(FILE *stream, const assay__epoch_line *epoch);

#endif
