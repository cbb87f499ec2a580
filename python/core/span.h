/* Operations and the spans that track() returns: what both need. The hot path is inlined into both.
 */
#ifndef ASSAY_PYTHON_SPAN_H
#define ASSAY_PYTHON_SPAN_H

#include "python/core/core.h"

typedef struct core_operation {
    PyObject_HEAD assay_site site; /* first, next to the object's head: what every span reads */
    core_monitor *monitor;         /* NULL: the default monitor */
    PyObject *name;                /* as it was given */
    PyObject *text;                /* bytes, which hold the name of the site */
    bool metric;                   /* its spans are recorded one by one */
    bool bound;                    /* it has a type of its own, and may have a spare span */
    PyObject *spare; /* a span that track() hands out while nobody else has it, or NULL */
} core_operation;

/* Spans of this thread that the core did not record because it had no room for them. Their ends
 * come first and must not be taken for those of the spans around them. */
extern __thread size_t core_unrecorded;

/* The monitor of the operation, ready to begin or end a span; NULL with an exception. */
static inline core_monitor *core_ready_monitor(const core_operation *operation)
{
    core_monitor *monitor =
        operation->monitor != NULL ? operation->monitor : core_default_monitor();
    return monitor != NULL && core_lane_select(monitor) ? monitor : NULL;
}

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

/* A monitor that was closed meanwhile has no span to end, and the end of a block is no place to
 * complain. */
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

/* Whether the arguments of __exit__ say that the block raised an exception: its type, the exception
 * and its trace come last. */
static inline bool core_raised(PyObject *const *arguments, Py_ssize_t count)
{
    return count >= 3 && arguments[count - 3] != Py_None;
}

/* For `async with`: what was done at once, as something to await. Takes the reference. */
PyObject *core_ready_of(PyObject *value);

/* Bind __enter__ and __exit__, the first two of `methods`, to the only object of its type: `with`
 * then need not bind them each time, which took a third of a span and more. Takes the reference to
 * the object and returns it; NULL with an exception. */
PyObject *core_bind(PyObject *object, PyMethodDef *methods);

bool core_is_operation(PyObject *object);

/* An operation that is not kept by its name, whose spans are recorded one by one. */
PyObject *core_metric_operation(core_monitor *monitor, PyObject *name);

#endif
