/* The core of assay in one include: measure, record, sample, compare, show.
 *
 *     assay_monitor *monitor = NULL;
 *     if (assay_monitor_new(NULL, &monitor) != ASSAY_OK)
 *         return 1;
 *     for (int step = 0; step < steps; step++) {
 *         ASSAY_TRACK(monitor, "forward")  { forward(model, batch); }
 *         ASSAY_TRACK(monitor, "backward") { backward(model, batch); }
 *     }
 *     assay_monitor_print_summary(monitor, stdout, ASSAY_SHOW_AGGREGATE);
 *     assay_monitor_free(monitor);
 *
 * Each of these headers has ready-made calls for one kind of work. This header does not include
 * them:
 *
 *     timers.h        named timers, their summary, speed-ups, phases of a job
 *     training.h      epochs and batches, warm-up, convergence
 *     inference.h     latency and throughput of single calls
 *     performance.h   one block measured and printed in one line
 *     task.h          spans of coroutines and other tasks that take turns on a thread
 *     binding.h       for bindings of other languages: spans that need not end in order
 *     bottleneck.h    bottlenecks in a record, and remedies
 *     scaling.h       a function measured at several sizes
 *     stats.h         the statistics behind all of this: arrays in, numbers out
 *     device.h        GPUs: what they are, their memory, load, power and energy
 *     gpu.h           spans on the streams of a CUDA device
 *     gpu_activity.h  kernels, copies and idle time of the GPUs of other processes
 *     meter.h         load and energy of the GPUs and the processor, read by a background thread
 *     instrument.h    process trees, heap files, descriptions of the machine
 *     script.h        sampled profiles of Python programs
 *     plot.h          records as figures (SVG)
 *     record_build.h  for programs that fill records themselves
 *
 * These belong to libassay_models (pkg-config assay-models): model.h, flops.h, profile.h,
 * model_scaling.h, runtime.h, trajectories.h.
 */
#ifndef ASSAY_ASSAY_H
#define ASSAY_ASSAY_H

#include "assay/clock.h"
#include "assay/compare.h"
#include "assay/growth.h"
#include "assay/memory.h"
#include "assay/monitor.h"
#include "assay/reading.h"
#include "assay/record.h"
#include "assay/report.h"
#include "assay/sampling.h"
#include "assay/snapshot.h"
#include "assay/status.h"

#endif
