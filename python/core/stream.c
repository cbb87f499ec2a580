/* The spans that track(name, stream=...) returns. Such a span is two spans: one of the thread, like
 * any other, and one on a stream of a CUDA device (gpu.h).
 *
 * A stream is given as a number (the address of a CUstream), or as an object that has such a
 * number: a stream of PyTorch (`cuda_stream`) or CuPy (`ptr`), or any object with the method
 * `__cuda_stream__`. "current", or a device instead of a stream, means PyTorch's current stream
 * when the block begins. If there is none, the block is measured on its thread alone. */
#include <string.h>
#include <time.h>

#include "assay/gpu.h"
#include "python/core/span.h"

typedef struct stream_span {
    PyObject_HEAD core_operation *operation;
    PyObject *stream; /* as it was given; kept, because it must live until the block ends */
    PyObject *device; /* the device whose current stream is meant; NULL if `handle` is the stream */
    void *handle;
    core_monitor *monitor; /* the monitor in which it was begun, owned; or NULL */
    uint64_t monitor_id;
    assay_gpu_span flight; /* the span on the device */
    uint64_t start, ticks;
    bool begun, ended;
} stream_span;

static PyObject *span_type;

static void span_dealloc(PyObject *self)
{
    stream_span *span = (stream_span *)self;
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(span->operation);
    Py_XDECREF(span->stream);
    Py_XDECREF(span->device);
    Py_XDECREF(span->monitor);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* ---- which stream ---- */

/* The address of a stream object, from one of its attributes. NULL without an exception if it has
 * none. */
static PyObject *address_attribute(PyObject *stream)
{
    static const char *const names[] = {"cuda_stream", "ptr"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        PyObject *address = PyObject_GetAttrString(stream, names[i]);
        if (address != NULL && PyLong_Check(address))
            return address;
        Py_XDECREF(address);
        PyErr_Clear();
    }
    PyObject *pair = PyObject_CallMethod(stream, "__cuda_stream__", NULL);
    PyObject *address = pair != NULL && PyTuple_Check(pair) ? PyTuple_GetItem(pair, 1) : NULL;
    Py_XINCREF(address);
    Py_XDECREF(pair);
    PyErr_Clear();
    return address;
}

static bool take_address(PyObject *stream, void **handle)
{
    PyObject *address = PyLong_Check(stream) ? Py_NewRef(stream) : address_attribute(stream);
    if (address == NULL || !PyLong_Check(address)) {
        Py_XDECREF(address);
        PyErr_Format(PyExc_TypeError,
                     "stream must be a CUDA stream, its address, \"current\" or None, not %R",
                     stream);
        return false;
    }
    *handle = PyLong_AsVoidPtr(address);
    Py_DECREF(address);
    return *handle != NULL || PyErr_Occurred() == NULL;
}

/* Find PyTorch's current stream. Returns 1 if there is one, 0 if not, and -1 with an exception. */
static int current_stream(PyObject *device, void **handle)
{
    static PyObject *function;
    if (function == NULL) {
        PyObject *module = PyImport_ImportModule("assay._torch");
        function = module != NULL ? PyObject_GetAttrString(module, "current_stream") : NULL;
        Py_XDECREF(module);
        if (function == NULL)
            return -1;
    }
    PyObject *address = PyObject_CallFunctionObjArgs(function, device, NULL);
    if (address == NULL)
        return -1;
    int found = address == Py_None ? 0 : take_address(address, handle) ? 1 : -1;
    Py_DECREF(address);
    return found;
}

static bool is_current(PyObject *stream)
{
    return stream == Py_True ||
           (PyUnicode_Check(stream) && PyUnicode_CompareWithASCIIString(stream, "current") == 0);
}

/* ---- begin and end ---- */

static bool begin_on_device(stream_span *span)
{
    core_monitor *monitor =
        span->operation->monitor != NULL ? span->operation->monitor : core_default_monitor();
    span->flight = (assay_gpu_span){0};
    if (monitor == NULL || monitor->handle == NULL)
        return monitor != NULL;
    int found = span->device != NULL ? current_stream(span->device, &span->handle) : 1;
    if (found == 1) {
        Py_INCREF(monitor);
        Py_XDECREF(span->monitor);
        span->monitor = monitor;
        span->flight = assay_gpu_stream_enter(monitor->handle, span->handle);
        span->monitor_id = assay__monitor_id(monitor->handle);
    }
    return found >= 0;
}

/* End the span on the device. If the monitor was closed meanwhile, it has freed the span already.
 */
static void end_on_device(stream_span *span)
{
    if (span->flight.flight != NULL && span->monitor->handle != NULL &&
        assay__monitor_id(span->monitor->handle) == span->monitor_id)
        assay_gpu_stream_end(span->flight);
    span->flight.flight = NULL;
}

static PyObject *span_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    stream_span *span = (stream_span *)self;
    if (span->begun && !span->ended) {
        PyErr_Format(PyExc_RuntimeError, "this span of %R is open already", span->operation->name);
        return NULL;
    }
    if (!core_begin(span->operation, &span->start))
        return NULL;
    if (!begin_on_device(span)) {
        PyObject *kind, *error, *trace;
        PyErr_Fetch(&kind, &error, &trace);
        core_end(span->operation, span->start, true);
        PyErr_Restore(kind, error, trace);
        return NULL;
    }
    span->begun = true;
    span->ended = false;
    return Py_NewRef(self);
}

static PyObject *span_exit(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    stream_span *span = (stream_span *)self;
    if (span->begun && !span->ended) {
        end_on_device(span);
        span->ticks = core_end(span->operation, span->start, core_raised(arguments, count));
        span->ended = true;
    }
    Py_RETURN_NONE;
}

static PyObject *span_aenter(PyObject *self, PyObject *unused)
{
    return core_ready_of(span_enter(self, unused));
}

static PyObject *span_aexit(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    return core_ready_of(span_exit(self, arguments, count));
}

static PyObject *span_seconds(PyObject *self, void *unused)
{
    (void)unused;
    const stream_span *span = (const stream_span *)self;
    return span->ended ? core_seconds_of(span->ticks) : Py_NewRef(Py_None);
}

static PyObject *span_name(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((stream_span *)self)->operation->name);
}

static PyMethodDef span_methods[] = {
    {"__enter__", span_enter, METH_NOARGS, "Begin the span."},
    {"__exit__", (PyCFunction)(void (*)(void))span_exit, METH_FASTCALL,
     "End the span. An exception is noted and goes on."},
    {"__aenter__", span_aenter, METH_NOARGS, "Begin the span, in `async with`."},
    {"__aexit__", (PyCFunction)(void (*)(void))span_aexit, METH_FASTCALL,
     "End the span, in `async with`."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef span_members[] = {
    {"name", span_name, NULL, "The name of its operation.", NULL},
    {"seconds", span_seconds, NULL,
     "How long the block took on its thread; None until it has ended.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot span_slots[] = {
    {Py_tp_dealloc, span_dealloc},
    {Py_tp_methods, span_methods},
    {Py_tp_getset, span_members},
    {Py_tp_doc, "One measured block, on its thread and on a stream of a GPU."},
    {0, NULL},
};

static PyType_Spec span_spec = {
    .name = "assay._core.StreamSpan",
    .basicsize = sizeof(stream_span),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = span_slots,
};

PyObject *core_stream_span_type(void)
{
    span_type = PyType_FromSpec(&span_spec);
    return Py_XNewRef(span_type);
}

static PyObject *stream_span_of(core_monitor *monitor, PyObject *name, PyObject *stream,
                                PyObject *device)
{
    void *handle = NULL;
    bool current = stream == Py_None || is_current(stream);
    if (!current && device != Py_None) {
        PyErr_SetString(PyExc_ValueError, "track() takes a stream or a device, not both");
        return NULL;
    }
    if (!current && !take_address(stream, &handle))
        return NULL;
    PyObject *operation = core_operation_of(monitor, name);
    stream_span *span =
        operation != NULL ? PyObject_New(stream_span, (PyTypeObject *)span_type) : NULL;
    if (span == NULL) {
        Py_XDECREF(operation);
        return NULL;
    }
    memset(&span->operation, 0, sizeof *span - offsetof(stream_span, operation));
    span->operation = (core_operation *)operation;
    span->stream = Py_NewRef(stream);
    span->device = current ? Py_NewRef(device) : NULL;
    span->handle = handle;
    return (PyObject *)span;
}

/* ---- track() ---- */

/* Take the keyword `stream` or `device`. Returns false with an exception for any other keyword. */
static bool take_keyword(PyObject *name, PyObject *value, PyObject **stream, PyObject **device)
{
    if (PyUnicode_CompareWithASCIIString(name, "stream") == 0)
        *stream = value == Py_False ? Py_None : value;
    else if (PyUnicode_CompareWithASCIIString(name, "device") == 0)
        *device = value;
    else
        PyErr_Format(PyExc_TypeError, "track() got an unexpected keyword argument %R", name);
    return PyErr_Occurred() == NULL;
}

PyObject *core_track(core_monitor *monitor, PyObject *const *arguments, Py_ssize_t count,
                     PyObject *keywords)
{
    PyObject *stream = Py_None, *device = Py_None;
    if (count != 1) {
        PyErr_SetString(PyExc_TypeError, "track() takes the name of the block, and stream= or "
                                         "device= after it");
        return NULL;
    }
    if (ASSAY__LIKELY(keywords == NULL))
        return core_span_of(monitor, arguments[0], false);
    for (Py_ssize_t i = 0; i < PyTuple_Size(keywords); i++)
        if (!take_keyword(PyTuple_GetItem(keywords, i), arguments[1 + i], &stream, &device))
            return NULL;
    if (stream == Py_None && device == Py_None)
        return core_span_of(monitor, arguments[0], false);
    return stream_span_of(monitor, arguments[0], stream, device);
}

/* Wait for spans that are still running on devices. The interpreter lock is released only while
 * this thread sleeps between two checks. Another thread may close the monitor in that time. */
PyObject *core_resolve_gpu(core_monitor *monitor, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"seconds", NULL};
    double seconds = 5.0;
    struct timespec pause = {.tv_nsec = 100000};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|d:resolve_gpu", names, &seconds))
        return NULL;
    const assay_clock *clock = assay_clock_default();
    const double until = (double)assay_clock_now_ns(clock) + seconds * 1e9;
    size_t left = assay_gpu_resolve(monitor->handle, 0);
    while (left > 0 && (double)assay_clock_now_ns(clock) < until && PyErr_CheckSignals() == 0) {
        Py_BEGIN_ALLOW_THREADS;
        nanosleep(&pause, NULL);
        Py_END_ALLOW_THREADS;
        left = assay_gpu_resolve(monitor->handle, 0);
        pause.tv_nsec = pause.tv_nsec < 1000000 ? 2 * pause.tv_nsec : pause.tv_nsec;
    }
    return PyErr_Occurred() == NULL ? PyLong_FromSize_t(left) : NULL;
}
