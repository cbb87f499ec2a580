/* The spans that track() returns. Such a span stores when it began, so it is exact even if two
 * generators take turns inside of blocks of the same name.
 *
 * Each operation has a spare span. track() returns it as long as no other code refers to it, which
 * is always so in a plain `with` statement. The spare span is the only object of its type, so that
 * its methods are bound already (core_bind()). */
#include "python/core/span.h"

typedef struct core_span {
    PyObject_HEAD core_operation *operation;
    uint64_t start, ticks; /* ticks: the duration, after it has ended */
    bool begun, ended;
} core_span;

static PyObject *span_type;

static void span_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_DECREF(((core_span *)self)->operation);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *span_enter(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    (void)arguments, (void)count;
    core_span *span = (core_span *)self;
    if (span->begun && !span->ended) {
        PyErr_Format(PyExc_RuntimeError,
                     "this span of %R is open already; for blocks that contain themselves, call "
                     "track() each time or use an operation",
                     span->operation->name);
        return NULL;
    }
    if (!core_begin(span->operation, &span->start))
        return NULL;
    span->begun = true;
    span->ended = false;
    return Py_NewRef(self);
}

static PyObject *span_exit(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    core_span *span = (core_span *)self;
    if (span->begun && !span->ended) {
        span->ticks = core_end(span->operation, span->start, core_raised(arguments, count));
        span->ended = true;
    }
    Py_RETURN_NONE;
}

static double ticks_per_second(void)
{
    assay_clock_info info = ASSAY_INIT(assay_clock_info);
    return assay_clock_describe(assay_clock_default(), &info) == ASSAY_OK ? info.frequency_hz : 1e9;
}

PyObject *core_seconds_of(uint64_t ticks)
{
    if (ticks == 0)
        Py_RETURN_NONE;
    return PyFloat_FromDouble((double)ticks / ticks_per_second());
}

static PyObject *span_seconds(PyObject *self, void *unused)
{
    (void)unused;
    const core_span *span = (const core_span *)self;
    return span->ended ? core_seconds_of(span->ticks) : Py_NewRef(Py_None);
}

static PyObject *span_name(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((core_span *)self)->operation->name);
}

static PyObject *span_aenter(PyObject *self, PyObject *unused)
{
    (void)unused;
    return core_ready_of(span_enter(self, NULL, 0));
}

static PyObject *span_aexit(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    return core_ready_of(span_exit(self, arguments, count));
}

static PyMethodDef span_methods[] = {
    {"__enter__", (PyCFunction)(void (*)(void))span_enter, METH_FASTCALL, "Begin the span."},
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
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = span_slots,
};

/* A function of the type that a spare span has for itself. An operation and its spare span refer to
 * each other, so the garbage collector must know the spare span. */
static int spare_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((core_span *)self)->operation);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static void spare_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_DECREF(((core_span *)self)->operation);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyType_Slot spare_slots[] = {
    {Py_tp_dealloc, spare_dealloc},
    {Py_tp_traverse, spare_traverse},
    {0, NULL},
};

static PyType_Spec spare_spec = {
    .name = "assay._core.Span",
    .basicsize = sizeof(core_span),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = spare_slots,
};

PyObject *core_span_type(void)
{
    span_type = PyType_FromSpec(&span_spec);
    return Py_XNewRef(span_type);
}

/* ---- the spans that track() returns ---- */

static PyObject *fresh(core_span *span, PyObject *operation)
{
    span->operation = (core_operation *)operation;
    span->start = span->ticks = 0;
    span->begun = span->ended = false;
    return (PyObject *)span;
}

/* Make the spare span of an operation. If that fails, the operation has none. */
static void make_spare(core_operation *operation)
{
    PyObject *type = PyType_FromSpecWithBases(&spare_spec, span_type);
    core_span *span = type != NULL ? PyObject_GC_New(core_span, (PyTypeObject *)type) : NULL;
    Py_XDECREF(type);
    if (span != NULL) {
        fresh(span, Py_NewRef((PyObject *)operation));
        PyObject_GC_Track((PyObject *)span);
        operation->spare = core_bind((PyObject *)span, span_methods);
    }
    PyErr_Clear();
}

/* Whether the spare span can be used: it is not open, and only three references to it exist, from
 * the operation and from its own two bound methods. */
static inline bool is_free(const core_operation *operation)
{
    const core_span *spare = (const core_span *)operation->spare;
    return spare != NULL && Py_REFCNT(operation->spare) == 3 && (!spare->begun || spare->ended);
}

PyObject *core_span_of(core_monitor *monitor, PyObject *name, bool metric)
{
    PyObject *operation =
        metric ? core_metric_operation(monitor, name) : core_operation_of(monitor, name);
    if (operation == NULL)
        return NULL;
    core_operation *kept = (core_operation *)operation;
    if (ASSAY__LIKELY(is_free(kept))) {
        PyObject *spare = Py_NewRef(kept->spare);
        Py_DECREF(operation);
        return fresh((core_span *)spare, operation);
    }
    if (kept->spare == NULL && kept->bound)
        make_spare(kept);
    core_span *span = PyObject_New(core_span, (PyTypeObject *)span_type);
    if (span == NULL) {
        Py_DECREF(operation);
        return NULL;
    }
    return fresh(span, operation);
}
