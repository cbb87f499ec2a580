/* GPU activity of programs that were run with libassay_cupti.so: kernels, copies, idle time.
 *
 * That library writes one file for each process that uses CUDA into a folder. The call below reads
 * these files into the `gpu` part of a record. `assay run --gpu` does both (docs/gpu.md).
 *
 *     if (assay_gpu_activity_add(record, "/dev/shm/gpu", start_ns, 65536, &error) != ASSAY_OK)
 *         fprintf(stderr, "%s\n", error.message);
 *
 * Threads: a record has no locks; one thread at a time.
 */
#ifndef ASSAY_GPU_ACTIVITY_H
#define ASSAY_GPU_ACTIVITY_H

#include <stddef.h>
#include <stdint.h>

#include "assay/record.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Add the activity files in a directory to a record that has no GPU activity yet. Their processes
 * may still run, have ended or have been killed. `origin_monotonic_ns` is the zero of the record's
 * times, by CLOCK_MONOTONIC. The latest `most_events` activities of each process become events,
 * with a lane for each stream; pass 0 for no events. The record does not change if the directory
 * has no activity.
 *
 * A file that cannot be read is left out, and so are the figures that a process could not measure.
 * The call then still returns ASSAY_OK, and `error` has the first reason. It takes about 50 ms for
 * each process. */
ASSAY_API ASSAY_MUST_USE assay_status assay_gpu_activity_add(assay_record *record,
                                                             const char *directory,
                                                             uint64_t origin_monotonic_ns,
                                                             size_t most_events,
                                                             assay_error *error);

#ifdef __cplusplus
}
#endif

#endif
