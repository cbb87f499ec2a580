/* Tasks: timelines that are not threads, such as coroutines and the steps of an event loop.
 *
 *     assay_task *task = NULL;
 *     if (assay_task_new(monitor, "request 7", &task) != ASSAY_OK)
 *         return 1;
 *     assay_monitor_switch_task(monitor, task);     the scheduler resumes the task here
 *     ...                                           spans begin and end in the task
 *     assay_monitor_switch_task(monitor, NULL);     the task is suspended, maybe inside of spans
 *     ...
 *     assay_task_free(task);
 *
 * The spans of a thread nest strictly. The spans of several coroutines that take turns on it do
 * not. So each coroutine gets a timeline of its own, in which its spans stay open while it is
 * suspended. The time while it is suspended is counted, as it is for a thread that waits.
 *
 * Threads: a task may be resumed on another thread than before, on one at a time. The scheduler's
 * own locks see to that. Fork: in the child no task runs; one that is switched to goes on in the
 * child's journal, in which no span is open.
 */
#ifndef ASSAY_TASK_H
#define ASSAY_TASK_H

#include "assay/monitor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct assay_task assay_task;

/* A task of this monitor; records show its name, cut to 31 bytes, or "task" for NULL. Free it
 * before the monitor. */
ASSAY_API ASSAY_MUST_USE assay_status assay_task_new(assay_monitor *monitor, const char *name,
                                                     assay_task **task);

/* The task ends. It must not run on any thread; spans that it left open are counted as abandoned.
 * NULL is accepted. */
ASSAY_API void assay_task_free(assay_task *task);

/* From now on the spans that this thread begins and ends belong to the task; to the thread itself
 * if it is NULL. Returns the task that ran before, or NULL, so that a caller can switch back. A
 * task of another monitor is refused: nothing changes. */
ASSAY_API assay_task *assay_monitor_switch_task(assay_monitor *monitor, assay_task *task);

#ifdef __cplusplus
}
#endif

#endif
