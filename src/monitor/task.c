/* Tasks. A task owns a lane, as a thread does. While a task runs on a thread, the owner struct of
 * the thread's own lane points to it. The lane of a task is made when the task first runs, and once
 * more when it first runs in a forked child. */
#include <stdlib.h>
#include <string.h>

#include "assay/task.h"
#include "monitor/state.h"

struct assay_task {
    assay_monitor *monitor;
    char *name;
    assay__lane_owner *owner; /* NULL until the task runs; may belong to the parent of a fork */
    uint64_t monitor_id;      /* of the owner's journal; tells whether `owner` is valid */
};

assay_status assay_task_new(assay_monitor *monitor, const char *name, assay_task **task)
{
    if (monitor == NULL || task == NULL)
        return ASSAY_E_ARGUMENT;
    assay_task *fresh = calloc(1, sizeof *fresh);
    char *copy = strdup(name != NULL ? name : "task");
    *task = NULL;
    if (fresh == NULL || copy == NULL) {
        free(fresh);
        free(copy);
        return ASSAY_E_MEMORY;
    }
    *fresh = (assay_task){.monitor = monitor, .name = copy};
    *task = fresh;
    return ASSAY_OK;
}

static bool has_lane(const assay_task *task)
{
    return task->owner != NULL && task->monitor_id == assay__monitor_id(task->monitor);
}

void assay_task_free(assay_task *task)
{
    if (task == NULL)
        return;
    if (has_lane(task))
        assay__lane_end(task->owner);
    free(task->name);
    free(task);
}

/* Find or make the lane of the task; NULL if there is no room. */
static assay__lane_owner *lane_of(assay_task *task)
{
    if (!has_lane(task)) {
        task->owner = assay__lane_for_task(task->monitor, task->name);
        task->monitor_id = assay__monitor_id(task->monitor);
    }
    return task->owner;
}

assay_task *assay_monitor_switch_task(assay_monitor *monitor, assay_task *task)
{
    if (monitor == NULL || assay__monitor_id(monitor) == ASSAY__DISABLED_MONITOR ||
        (task != NULL && task->monitor != monitor) || !assay__slow_enter())
        return NULL;
    assay__lane_owner *own = assay__lane_of_thread(monitor), *running = own;
    assay_task *before = NULL;
    if (own != NULL) {
        const assay__lane_owner *left = assay__lane_in_use(own);
        before = own->task;
        running = task != NULL ? lane_of(task) : own;
        own->task = task;
        own->task_owner = task != NULL ? running : NULL;
        assay__resident_carry(left, running);
    }
    assay__slow_leave(running);
    return before;
}
