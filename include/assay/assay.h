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
 * What is ready-made for one kind of work has a header of its own, which this one does not bring:
 *
 *     timers.h        named timers, their summary, speed-ups, phases of a job
 *     training.h      epochs and batches, warm-up, convergence
 *     inference.h     latency and throughput of single calls
 *     performance.h   one block measured and printed in one line
 *     task.h          spans of coroutines and other tasks that take turns on a thread
 *     binding.h       spans of other languages, whose blocks are not blocks of C
 *     bottleneck.h    what stands out in a record, and what to do about it
 *     scaling.h       something measured at several sizes
 *     stats.h         the statistics behind all of this: arrays in, numbers out
 *     device.h        GPUs: what they are, their memory, load, power and energy
 *     gpu.h           spans on the streams of a CUDA device
 *     meter.h         load and energy of GPUs and processor, read by a thread
 *     instrument.h    process trees, heap files, descriptions of the machine
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
