/* Each task of asyncio is a lane: the spans of a task nest within each other, whatever other tasks
 * do while it waits.
 *
 * A span has to know which task runs. The context variables and the task functions of C are not in
 * the stable ABI. So this file reads a dictionary that asyncio keeps: it holds the running task of
 * each event loop, and is empty while no task runs. Before asyncio is imported, and outside of
 * tasks, that costs a comparison.
 *
 * A thread remembers the task of its last span. While the task stays the same, nothing is switched.
 * A lane ends when its task is freed; a weak reference reports that. `generation` counts these ends
 * and forks. A task that was remembered in an earlier generation is not trusted, because a new task
 * may have the same address. */
#include <string.h>

#include "assay/task.h"
#include "python/core/core.h"

static PyObject *modules;          /* sys.modules, borrowed */
static Py_ssize_t modules_seen;    /* the number of modules when asyncio was last searched */
static PyObject *current_tasks;    /* asyncio's dictionary loop -> task; NULL before its import */
static PyObject *get_running_loop; /* a function of asyncio */
static PyObject *current_task;     /* a function of asyncio, used without the dictionary (3.14) */
static PyObject *thread_attribute; /* "_thread_id", an attribute of asyncio's event loops */
static uint64_t generation = 1;

static __thread core_lane_mark last;

static const char CAPSULE[] = "assay.lane";

/* The lane of a task in one monitor. A capsule in the monitor's dictionary owns it. */
typedef struct task_lane {
    core_monitor *monitor; /* borrowed, because the lane is in its dictionary */
    assay_task *task;
    PyObject *reference; /* a weak reference to the task of asyncio */
} task_lane;

int core_lanes_init(void)
{
    modules = PyImport_GetModuleDict();
    thread_attribute = PyUnicode_InternFromString("_thread_id");
    return modules != NULL && thread_attribute != NULL ? 0 : -1;
}

/* The module of this name, if it is imported; borrowed. */
static PyObject *imported(const char *name)
{
    return PyDict_GetItemString(modules, name);
}

static bool look_for_asyncio(void)
{
    modules_seen = PyDict_Size(modules);
    PyObject *tasks = imported("asyncio.tasks"), *events = imported("asyncio.events");
    if (tasks == NULL || events == NULL)
        return false;
    PyObject *accelerated = imported("_asyncio");
    get_running_loop = PyObject_GetAttrString(events, "_get_running_loop");
    current_task = PyObject_GetAttrString(tasks, "current_task");
    PyErr_Clear();
    if (get_running_loop == NULL || current_task == NULL)
        return false; /* it is not completely imported; the next import searches again */
    current_tasks =
        PyObject_GetAttrString(accelerated != NULL ? accelerated : tasks, "_current_tasks");
    PyErr_Clear();
    if (current_tasks == NULL || !PyDict_Check(current_tasks)) {
        Py_XDECREF(current_tasks);
        current_tasks = Py_NewRef(Py_None);
    }
    return true;
}

/* Whether the loop runs on this thread: 1 or 0, or -1 if the loop has no such attribute. This is
 * cheaper than asking asyncio for the running loop, which costs a system call before Python 3.14.
 */
static int runs_here(PyObject *loop)
{
    static __thread unsigned long here;
    if (here == 0)
        here = PyThread_get_thread_ident();
    PyObject *thread = PyObject_GetAttr(loop, thread_attribute);
    if (thread == NULL || !PyLong_Check(thread)) {
        PyErr_Clear();
        Py_XDECREF(thread);
        return -1;
    }
    bool same = PyLong_AsUnsignedLongMask(thread) == here;
    Py_DECREF(thread);
    return same;
}

/* The task that runs on this thread, by the functions of asyncio, which work for any loop. */
static PyObject *ask_asyncio(void)
{
    PyObject *loop = PyObject_CallNoArgs(get_running_loop), *task = NULL;
    if (loop != NULL && loop != Py_None)
        task = PyObject_CallFunctionObjArgs(current_task, loop, NULL);
    Py_XDECREF(loop);
    if (task == Py_None)
        Py_CLEAR(task);
    return task;
}

/* The task that runs on this thread, as a new reference. NULL without an exception if no task runs,
 * and NULL with an exception after a failure. */
static PyObject *running_task(void)
{
    if (current_tasks == Py_None)
        return ask_asyncio();
    PyObject *loop, *task;
    Py_ssize_t place = 0;
    while (PyDict_Next(current_tasks, &place, &loop, &task)) {
        int here = runs_here(loop);
        if (here < 0)
            return ask_asyncio();
        if (here)
            return Py_NewRef(task);
    }
    return NULL;
}

static void lane_free(PyObject *capsule)
{
    task_lane *lane = PyCapsule_GetPointer(capsule, CAPSULE);
    if (lane->monitor->handle != NULL) {
        (void)assay_monitor_switch_task(lane->monitor->handle, NULL); /* it must not be current */
        assay_task_free(lane->task);
    }
    Py_XDECREF(lane->reference);
    PyMem_Free(lane);
}

/* The callback of the weak reference: a task was freed. `key` is a tuple of the monitor's
 * dictionary of lanes and the address of the task. */
static PyObject *task_freed(PyObject *key, PyObject *reference)
{
    (void)reference;
    generation++;
    PyObject *lanes = PyTuple_GetItem(key, 0), *address = PyTuple_GetItem(key, 1);
    if (PyDict_DelItem(lanes, address) != 0)
        PyErr_Clear();
    Py_RETURN_NONE;
}

static PyMethodDef task_freed_method = {"task_freed", task_freed, METH_O, NULL};

/* The name of the lane in records: the name that asyncio gives the task. NULL if it has none. */
static PyObject *task_name(PyObject *task, const char **text)
{
    PyObject *name = PyObject_CallMethod(task, "get_name", NULL);
    PyObject *bytes =
        name != NULL && PyUnicode_Check(name) ? core_name(name, "a name", text) : NULL;
    Py_XDECREF(name);
    if (bytes == NULL)
        PyErr_Clear();
    return bytes;
}

static PyObject *new_lane(core_monitor *monitor, PyObject *task, PyObject *address)
{
    const char *name = NULL;
    PyObject *key = NULL, *freed = NULL, *capsule = NULL;
    task_lane *fresh = PyMem_Calloc(1, sizeof *fresh);
    PyObject *bytes = task_name(task, &name);
    if (fresh == NULL) {
        PyErr_NoMemory();
        goto cleanup;
    }
    fresh->monitor = monitor;
    assay_status status = assay_task_new(monitor->handle, name, &fresh->task);
    if (status != ASSAY_OK) {
        core_raise(status, NULL);
        goto cleanup;
    }
    key = PyTuple_Pack(2, monitor->lanes, address);
    freed = key != NULL ? PyCFunction_New(&task_freed_method, key) : NULL;
    fresh->reference = freed != NULL ? PyWeakref_NewRef(task, freed) : NULL;
    capsule = fresh->reference != NULL ? PyCapsule_New(fresh, CAPSULE, lane_free) : NULL;
    if (capsule == NULL) {
        Py_XDECREF(fresh->reference);
        assay_task_free(fresh->task);
    }

cleanup:
    if (capsule == NULL)
        PyMem_Free(fresh);
    Py_XDECREF(bytes);
    Py_XDECREF(key);
    Py_XDECREF(freed);
    return capsule;
}

/* The lane of the task; it is made when the task is first seen. NULL with an exception. */
static assay_task *lane_of(core_monitor *monitor, PyObject *task)
{
    PyObject *address = PyLong_FromVoidPtr(task);
    PyObject *capsule = address != NULL ? PyDict_GetItemWithError(monitor->lanes, address) : NULL;
    Py_XINCREF(capsule);
    if (address != NULL && capsule == NULL && PyErr_Occurred() == NULL) {
        capsule = new_lane(monitor, task, address);
        if (capsule != NULL && PyDict_SetItem(monitor->lanes, address, capsule) != 0)
            Py_CLEAR(capsule);
    }
    assay_task *found =
        capsule != NULL ? ((task_lane *)PyCapsule_GetPointer(capsule, CAPSULE))->task : NULL;
    Py_XDECREF(address);
    Py_XDECREF(capsule);
    return found;
}

static bool switch_lane(core_monitor *monitor, PyObject *task)
{
    assay_task *lane = NULL;
    if (task != NULL && (lane = lane_of(monitor, task)) == NULL)
        return false;
    (void)assay_monitor_switch_task(monitor->handle, lane);
    last = (core_lane_mark){monitor, task, generation};
    return true;
}

static bool select_with_asyncio(core_monitor *monitor)
{
    PyObject *task = running_task();
    if (task == NULL && PyErr_Occurred() != NULL)
        return false;
    bool same = last.task == task && last.monitor == monitor && last.generation == generation;
    bool never = last.generation == 0 && task == NULL; /* no task has run on this thread */
    bool selected = same || never || switch_lane(monitor, task);
    Py_XDECREF(task);
    return selected;
}

bool core_lane_select(core_monitor *monitor)
{
    if (ASSAY__LIKELY(current_tasks == NULL) &&
        (ASSAY__LIKELY(PyDict_Size(modules) == modules_seen) || !look_for_asyncio()))
        return true;
    return monitor->handle == NULL || select_with_asyncio(monitor);
}

void core_lanes_forget(core_monitor *monitor)
{
    generation++;
    (void)assay_monitor_switch_task(monitor->handle, NULL);
    if (monitor->lanes != NULL)
        PyDict_Clear(monitor->lanes);
}

PyObject *core_lanes_forked(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    generation++;
    Py_RETURN_NONE;
}
