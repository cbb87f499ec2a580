/* Operations and the spans that track() returns: the code that both need. The hot path is here, so
 * that it is inlined into both. */
#ifndef ASSAY_PYTHON_SPAN_H
#define ASSAY_PYTHON_SPAN_H

#include "python/core/core.h"

typedef struct core_operation {
    PyObject_HEAD assay_site site; /* first, because every span reads it with the object's head */
    core_monitor *monitor;         /* NULL for the default monitor */
    PyObject *name;                /* as it was given */
    PyObject *text;                /* the bytes object that holds the name of the site */
    bool metric;                   /* its spans are recorded one by one */
    bool bound;                    /* it has a type of its own, and may have a spare span */
    PyObject *spare;               /* the span that track() returns while it is free, or NULL */
} core_operation;

/* The number of open spans of this thread that libassay did not record because it had no room.
 * These spans are the innermost ones, so they end first. Their ends must not be taken for the ends
 * of the spans around them. */
extern __thread size_t core_unrecorded;

/* The monitor of the operation, with the lane of the present task selected. NULL with an exception.
 */
static inline core_monitor *core_ready_monitor(const core_operation *operation)
{
    core_monitor *monitor =
        operation->monitor != NULL ? operation->monitor : core_default_monitor();
    return monitor != NULL && core_lane_select(monitor) ? monitor : NULL;
}

/* Begin a span; `*start` receives its start in ticks. Returns false with an exception. */
static inline bool core_begin(core_operation *operation, uint64_t *start)
{
    core_monitor *monitor = core_ready_monitor(operation);
    if (monitor == NULL)
        return false;
    if (ASSAY__UNLIKELY(monitor->handle == NULL)) {
        PyErr_Format(PyExc_ValueError, "the monitor of operation %R is closed", operation->name);
        return false;
    }
    *start = assay_site_begin(&operation->site, monitor->handle);
    if (ASSAY__UNLIKELY(*start == 0) && assay_monitor_enabled(monitor->handle))
        core_unrecorded++;
    return true;
}

/* End a span. Returns its duration in ticks, or 0 if it was not recorded. It never raises an
 * exception: if the monitor was closed meanwhile, there is no span to end. */
static inline uint64_t core_end(core_operation *operation, uint64_t start, bool failed)
{
    if (ASSAY__UNLIKELY(core_unrecorded > 0)) {
        core_unrecorded--;
        return 0;
    }
    core_monitor *monitor = core_ready_monitor(operation);
    if (ASSAY__UNLIKELY(monitor == NULL)) {
        PyErr_Clear();
        return 0;
    }
    return assay_site_end(&operation->site, monitor->handle, start, failed);
}

/* Whether the arguments of __exit__ say that the block raised an exception. The last three
 * arguments are its type, the exception and its trace. */
static inline bool core_raised(PyObject *const *arguments, Py_ssize_t count)
{
    return count >= 3 && arguments[count - 3] != Py_None;
}

/* For `async with`: an awaitable with a result that is already known. Takes the reference. */
PyObject *core_ready_of(PyObject *value);

/* Bind __enter__ and __exit__, the first two of `methods`, to an object that is the only one of its
 * type. Then `with` need not bind them each time, which took a third of the time of a span or more.
 * Takes the reference to the object and returns it; NULL with an exception. */
PyObject *core_bind(PyObject *object, PyMethodDef *methods);

/* A duration as seconds. 0 becomes None, because it means that the span was not recorded. */
PyObject *core_seconds_of(uint64_t ticks);

bool core_is_operation(PyObject *object);

/* Make an operation whose spans are recorded one by one. It is not kept under its name. */
PyObject *core_metric_operation(core_monitor *monitor, PyObject *name);

#endif
