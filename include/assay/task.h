/* Tasks: lanes of spans that are not threads, such as coroutines and the steps of an event loop.
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
 * The spans of a thread are strictly nested. The spans of several coroutines that take turns on a
 * thread are not. So each coroutine gets a lane of its own, in which its spans stay open while it
 * is suspended. The time while it is suspended counts, as it does for a thread that waits.
 *
 * Threads: a task may be resumed on another thread than before, but it may run on only one thread
 * at a time. The scheduler must ensure that. Fork: no task runs in a forked child. A task that the
 * child switches to continues in the child's journal, where none of its spans is open.
 */
#ifndef ASSAY_TASK_H
#define ASSAY_TASK_H

#include "assay/monitor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct assay_task assay_task;

/* Make a task of this monitor. Records show its name, cut to 31 bytes; NULL is "task". Free the
 * task before the monitor. */
ASSAY_API ASSAY_MUST_USE assay_status assay_task_new(assay_monitor *monitor, const char *name,
                                                     assay_task **task);

/* End a task and free it. It must not run on any thread. Spans that it left open are counted as
 * abandoned. NULL is accepted. */
ASSAY_API void assay_task_free(assay_task *task);

/* Switch this thread to a task. From now on the spans that this thread begins and ends belong to
 * the task, or to the thread itself if `task` is NULL. Returns the task that ran before, or NULL,
 * so that the caller can switch back. For a task of another monitor nothing changes, and the result
 * is NULL. */
ASSAY_API assay_task *assay_monitor_switch_task(assay_monitor *monitor, assay_task *task);

#ifdef __cplusplus
}
#endif

#endif
