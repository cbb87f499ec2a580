/* Operations and spans: the hot path of the extension.
 *
 * `with op:` calls two methods of the operation, written in C, which begin and end a span of the
 * core at the operation's own call site. The operation holds nothing of the span: its end is the
 * innermost open span of the site, which the core finds in the frame at hand. So one operation can
 * be open many times, in threads, in tasks and in itself. A span object, which track() returns,
 * also keeps when it began: it is exact even where two generators take turns inside blocks of the
 * same name. */
#include <stdlib.h>
#include <string.h>

#include "python/core/core.h"

enum { MOST_OPERATIONS = 1024 }; /* kept by name for each monitor, with a type of 2 KiB each */

typedef struct core_operation {
    PyObject_HEAD assay_site site; /* first, next to the object's head: what every span reads */
    core_monitor *monitor;         /* NULL: the default monitor */
    PyObject *name;                /* as it was given */
    PyObject *text;                /* bytes, which hold the name of the site */
    bool metric;                   /* its spans are recorded one by one */
} core_operation;

typedef struct core_span {
    PyObject_HEAD core_operation *operation;
    uint64_t start, ticks; /* ticks: duration, once it ended */
    bool begun, ended;
} core_span;

static PyObject *operation_type, *span_type;
static PyObject *default_operations; /* by name */

/* Spans of this thread that the core did not record because it had no room for them. Their ends
 * come first and must not be taken for those of the spans around them. */
static __thread size_t unrecorded;

/* The monitor of the operation, ready to begin or end a span; NULL with an exception. */
static inline core_monitor *ready_monitor(const core_operation *operation)
{
    core_monitor *monitor =
        operation->monitor != NULL ? operation->monitor : core_default_monitor();
    return monitor != NULL && core_lane_select(monitor) ? monitor : NULL;
}

static inline bool begin(core_operation *operation, uint64_t *start)
{
    core_monitor *monitor = ready_monitor(operation);
    if (monitor == NULL)
        return false;
    if (ASSAY__UNLIKELY(monitor->handle == NULL)) {
        PyErr_Format(PyExc_ValueError, "the monitor of operation %R is closed", operation->name);
        return false;
    }
    *start = assay_site_begin(&operation->site, monitor->handle);
    if (ASSAY__UNLIKELY(*start == 0) && assay_monitor_enabled(monitor->handle))
        unrecorded++;
    return true;
}

/* A monitor that was closed meanwhile has no span to end, and the end of a block is no place to
 * complain. */
static inline uint64_t end(core_operation *operation, uint64_t start, bool failed)
{
    if (ASSAY__UNLIKELY(unrecorded > 0)) {
        unrecorded--;
        return 0;
    }
    core_monitor *monitor = ready_monitor(operation);
    if (ASSAY__UNLIKELY(monitor == NULL)) {
        PyErr_Clear();
        return 0;
    }
    return assay_site_end(&operation->site, monitor->handle, start, failed);
}

/* For `async with`: what was done at once, as something to await. Takes the reference. */
static PyObject *ready_of(PyObject *value)
{
    PyObject *ready = value != NULL ? core_ready(value) : NULL;
    Py_XDECREF(value);
    return ready;
}

/* ---- operations ---- */

/* ExitStack calls what it finds in the type with the object itself as the first argument, which a
 * method that is bound already does not need. */
static PyObject *operation_enter(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    (void)arguments, (void)count;
    uint64_t start;
    return begin((core_operation *)self, &start) ? Py_NewRef(self) : NULL;
}

/* Whether the arguments of __exit__ say that the block raised an exception: its type, the exception
 * and its trace come last. */
static inline bool raised(PyObject *const *arguments, Py_ssize_t count)
{
    return count >= 3 && arguments[count - 3] != Py_None;
}

static PyObject *operation_exit(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    end((core_operation *)self, 0, raised(arguments, count));
    Py_RETURN_NONE;
}

static void operation_dealloc(PyObject *self)
{
    core_operation *operation = (core_operation *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(operation->monitor);
    Py_XDECREF(operation->name);
    Py_XDECREF(operation->text);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

/* No tp_clear: the monitor's dictionary of operations, which closes every cycle, is cleared. */
static int operation_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((core_operation *)self)->monitor);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static PyObject *operation_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<assay operation %R>", ((core_operation *)self)->name);
}

static PyObject *operation_name(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((core_operation *)self)->name);
}

static PyObject *new_operation(PyObject *type, core_monitor *monitor, PyObject *name, bool metric)
{
    core_operation *operation = PyObject_GC_New(core_operation, (PyTypeObject *)type);
    if (operation == NULL)
        return NULL;
    memset(&operation->site, 0, sizeof *operation - offsetof(core_operation, site));
    operation->text = core_name(name, "the name of an operation", &operation->site.name);
    operation->monitor = monitor;
    operation->name = name;
    operation->metric = metric;
    operation->site.flags = metric ? ASSAY_SITE_METRIC : 0;
    Py_XINCREF(monitor);
    Py_INCREF(name);
    PyObject_GC_Track((PyObject *)operation);
    if (operation->text == NULL)
        Py_CLEAR(operation);
    return (PyObject *)operation;
}

/* Give an operation a type of its own, whose __enter__ and __exit__ are bound to it already: `with`
 * then need not bind them each time, which took a third of the span. */
static PyObject *bound_operation(core_monitor *monitor, PyObject *name)
{
    static PyMethodDef enter = {"__enter__", (PyCFunction)(void (*)(void))operation_enter,
                                METH_FASTCALL, "Begin a span."};
    static PyMethodDef leave = {"__exit__", (PyCFunction)(void (*)(void))operation_exit,
                                METH_FASTCALL, "End the innermost span of this operation."};
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, operation_dealloc}, {Py_tp_traverse, operation_traverse}, {0, NULL}};
    static PyType_Spec spec = {.name = "assay._core.Operation",
                               .basicsize = sizeof(core_operation),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                        Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               .slots = slots};
    PyObject *type = PyType_FromSpecWithBases(&spec, operation_type), *operation = NULL;
    PyObject *methods[2] = {NULL, NULL};
    if (type == NULL || (operation = new_operation(type, monitor, name, false)) == NULL)
        goto cleanup;
    methods[0] = PyCFunction_New(&enter, operation);
    methods[1] = PyCFunction_New(&leave, operation);
    if (methods[0] == NULL || methods[1] == NULL ||
        PyObject_SetAttrString(type, "__enter__", methods[0]) != 0 ||
        PyObject_SetAttrString(type, "__exit__", methods[1]) != 0)
        Py_CLEAR(operation);

cleanup:
    Py_XDECREF(methods[0]);
    Py_XDECREF(methods[1]);
    Py_XDECREF(type);
    return operation;
}

/* Names made up for each call ("step 17") would fill memory: beyond the limit an operation is not
 * kept. The journal has a limit of its own, and gathers what is beyond it. */
static PyObject *remember(PyObject *operations, core_monitor *monitor, PyObject *name)
{
    if (PyDict_Size(operations) >= MOST_OPERATIONS)
        return new_operation(operation_type, monitor, name, false);
    PyObject *operation = bound_operation(monitor, name);
    if (operation != NULL && PyDict_SetItem(operations, name, operation) != 0)
        Py_CLEAR(operation);
    return operation;
}

PyObject *core_operation_of(core_monitor *monitor, PyObject *name)
{
    PyObject *operations = monitor != NULL ? monitor->operations : default_operations;
    PyObject *operation =
        PyUnicode_CheckExact(name) ? PyDict_GetItemWithError(operations, name) : NULL;
    if (operation != NULL)
        return Py_NewRef(operation);
    if (PyErr_Occurred() != NULL)
        return NULL;
    return PyUnicode_CheckExact(name) ? remember(operations, monitor, name)
                                      : new_operation(operation_type, monitor, name, false);
}

/* An operation of the default monitor is its name, in another process too. One of a monitor of this
 * process is not. */
static PyObject *operation_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    const core_operation *operation = (const core_operation *)self;
    if (operation->monitor != NULL) {
        PyErr_Format(PyExc_TypeError,
                     "operation %R belongs to a monitor of this process and cannot be pickled; "
                     "assay.operation() makes one that can",
                     operation->name);
        return NULL;
    }
    PyObject *module = PyImport_ImportModule("assay");
    PyObject *maker = module != NULL ? PyObject_GetAttrString(module, "operation") : NULL;
    PyObject *reduced = maker != NULL ? Py_BuildValue("O(O)", maker, operation->name) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(maker);
    return reduced;
}

/* A copy of a model that holds an operation measures the same operation. */
static PyObject *operation_copy(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

static PyObject *operation_aenter(PyObject *self, PyObject *unused)
{
    (void)unused;
    return ready_of(operation_enter(self, NULL, 0));
}

static PyObject *operation_aexit(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    return ready_of(operation_exit(self, arguments, count));
}

static PyMethodDef operation_methods[] = {
    {"__reduce__", operation_reduce, METH_NOARGS, NULL},
    {"__copy__", operation_copy, METH_NOARGS, NULL},
    {"__deepcopy__", operation_copy, METH_O, NULL},
    {"__aenter__", operation_aenter, METH_NOARGS, "Begin a span, in `async with`."},
    {"__aexit__", (PyCFunction)(void (*)(void))operation_aexit, METH_FASTCALL,
     "End the span, in `async with`."},
    {"__enter__", (PyCFunction)(void (*)(void))operation_enter, METH_FASTCALL, "Begin a span."},
    {"__exit__", (PyCFunction)(void (*)(void))operation_exit, METH_FASTCALL,
     "End the innermost span of this operation. An exception is noted and goes on."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef operation_members[] = {
    {"name", operation_name, NULL, "The name that records show.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot operation_slots[] = {
    {Py_tp_dealloc, operation_dealloc},
    {Py_tp_traverse, operation_traverse},
    {Py_tp_repr, operation_repr},
    {Py_tp_methods, operation_methods},
    {Py_tp_getset, operation_members},
    {Py_tp_doc, "A named piece of work: `with op:` measures a block.\n\nMake it once with "
                "assay.operation(name) and use it as often as you like, also\nin several threads "
                "and tasks at once."},
    {0, NULL},
};

static PyType_Spec operation_spec = {
    .name = "assay._core.Operation",
    .basicsize = sizeof(core_operation),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = operation_slots,
};

PyObject *core_operation_type(void)
{
    operation_type = PyType_FromSpec(&operation_spec);
    default_operations = PyDict_New();
    return operation_type != NULL && default_operations != NULL ? Py_NewRef(operation_type) : NULL;
}

/* ---- spans ---- */

PyObject *core_span_of(core_monitor *monitor, PyObject *name, bool metric)
{
    PyObject *operation = metric ? new_operation(operation_type, monitor, name, true)
                                 : core_operation_of(monitor, name);
    if (operation == NULL)
        return NULL;
    core_span *span = PyObject_New(core_span, (PyTypeObject *)span_type);
    if (span == NULL) {
        Py_DECREF(operation);
        return NULL;
    }
    span->operation = (core_operation *)operation;
    span->start = span->ticks = 0;
    span->begun = span->ended = false;
    return (PyObject *)span;
}

static void span_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_DECREF(((core_span *)self)->operation);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *span_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_span *span = (core_span *)self;
    if (span->begun && !span->ended) {
        PyErr_Format(PyExc_RuntimeError,
                     "this span of %R is open already; for blocks that contain themselves, call "
                     "track() each time or use an operation",
                     span->operation->name);
        return NULL;
    }
    if (!begin(span->operation, &span->start))
        return NULL;
    span->begun = true;
    span->ended = false;
    return Py_NewRef(self);
}

static PyObject *span_exit(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    core_span *span = (core_span *)self;
    if (span->begun && !span->ended) {
        span->ticks = end(span->operation, span->start, raised(arguments, count));
        span->ended = true;
    }
    Py_RETURN_NONE;
}

static double ticks_per_second(void)
{
    assay_clock_info info = ASSAY_INIT(assay_clock_info);
    return assay_clock_describe(assay_clock_default(), &info) == ASSAY_OK ? info.frequency_hz : 1e9;
}

static PyObject *span_seconds(PyObject *self, void *unused)
{
    (void)unused;
    const core_span *span = (const core_span *)self;
    if (!span->ended || span->ticks == 0)
        Py_RETURN_NONE;
    return PyFloat_FromDouble((double)span->ticks / ticks_per_second());
}

static PyObject *span_name(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((core_span *)self)->operation->name);
}

static PyObject *span_aenter(PyObject *self, PyObject *unused)
{
    return ready_of(span_enter(self, unused));
}

static PyObject *span_aexit(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    return ready_of(span_exit(self, arguments, count));
}

static PyMethodDef span_methods[] = {
    {"__aenter__", span_aenter, METH_NOARGS, "Begin a span, in `async with`."},
    {"__aexit__", (PyCFunction)(void (*)(void))span_aexit, METH_FASTCALL,
     "End the span, in `async with`."},
    {"__enter__", span_enter, METH_NOARGS, "Begin the span."},
    {"__exit__", (PyCFunction)(void (*)(void))span_exit, METH_FASTCALL,
     "End the span. An exception is noted and goes on."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef span_members[] = {
    {"name", span_name, NULL, "The name of its operation.", NULL},
    {"seconds", span_seconds, NULL,
     "How long the block took; None until it has ended, and if it was not recorded.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot span_slots[] = {
    {Py_tp_dealloc, span_dealloc},
    {Py_tp_methods, span_methods},
    {Py_tp_getset, span_members},
    {Py_tp_doc, "One measured block: `with assay.track(name) as span:`, then `span.seconds`."},
    {0, NULL},
};

static PyType_Spec span_spec = {
    .name = "assay._core.Span",
    .basicsize = sizeof(core_span),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = span_slots,
};

PyObject *core_span_type(void)
{
    span_type = PyType_FromSpec(&span_spec);
    return Py_XNewRef(span_type);
}
