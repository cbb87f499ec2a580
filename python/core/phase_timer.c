/* The type PhaseTimer, which times the phases of one job. It wraps assay_phase_timer, and
 * assay.timing.DetailedTimer is based on it. */
#include "python/core/seeds.h"

typedef struct core_phase_timer {
    PyObject_HEAD assay_phase_timer *handle;
} core_phase_timer;

static int phase_timer_init(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"name", NULL};
    core_phase_timer *timer = (core_phase_timer *)self;
    PyObject *given;
    const char *name;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:PhaseTimer", names, &given))
        return -1;
    PyObject *bytes = core_name(given, "the name of a timer", &name);
    if (bytes == NULL)
        return -1;
    assay_phase_timer_free(timer->handle);
    timer->handle = NULL;
    assay_status status = assay_phase_timer_new(name, NULL, &timer->handle);
    Py_DECREF(bytes);
    if (status != ASSAY_OK)
        core_raise(status, NULL);
    return status == ASSAY_OK ? 0 : -1;
}

static void phase_timer_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    assay_phase_timer_free(((core_phase_timer *)self)->handle);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static assay_phase_timer *phase_timer_handle(PyObject *self)
{
    assay_phase_timer *handle = ((core_phase_timer *)self)->handle;
    if (handle == NULL)
        PyErr_SetString(PyExc_ValueError, "the timer has no name: call its __init__");
    return handle;
}

static PyObject *phase_timer_start(PyObject *self, PyObject *phase)
{
    const char *name;
    assay_phase_timer *handle = phase_timer_handle(self);
    PyObject *bytes = handle != NULL ? core_name(phase, "the name of a phase", &name) : NULL;
    if (bytes == NULL)
        return NULL;
    assay_status status = assay_phase_timer_start_phase(handle, name);
    Py_DECREF(bytes);
    if (status != ASSAY_OK)
        return core_raise(status, NULL);
    Py_RETURN_NONE;
}

static PyObject *phase_timer_end(PyObject *self, PyObject *unused)
{
    (void)unused;
    assay_phase_timer *handle = phase_timer_handle(self);
    if (handle == NULL)
        return NULL;
    if (assay_phase_timer_end_phase(handle) != ASSAY_OK) {
        PyErr_SetString(PyExc_RuntimeError,
                        "end_phase() without a phase: call start_phase() first");
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *phase_timer_print(PyObject *self, PyObject *args)
{
    PyObject *file = Py_None;
    core_stream stream;
    assay_phase_timer *handle = phase_timer_handle(self);
    if (handle == NULL || !PyArg_ParseTuple(args, "|O:print_breakdown", &file) ||
        !core_stream_open(&stream))
        return NULL;
    assay_status status = assay_phase_timer_print_breakdown(handle, stream.file);
    return core_stream_write(&stream, status, NULL, file);
}

static PyObject *phase_timer_phases(PyObject *self, void *unused)
{
    (void)unused;
    assay_phase_timer *handle = phase_timer_handle(self);
    PyObject *phases = handle != NULL ? PyDict_New() : NULL;
    const assay_timers *timers = phases != NULL ? assay_phase_timer_timers(handle) : NULL;
    for (size_t i = 0; phases != NULL && i < assay_timers_count(timers); i++) {
        assay_timer timer = assay_timers_at(timers, i);
        if (timer.time.validity == ASSAY_VALID &&
            !core_put_double(phases, timer.name, timer.time.value))
            Py_CLEAR(phases);
    }
    return phases;
}

static PyMethodDef phase_timer_methods[] = {
    {"start_phase", phase_timer_start, METH_O,
     "start_phase(name)\n--\n\nBegin a phase, and end the one before it."},
    {"end_phase", phase_timer_end, METH_NOARGS, "end_phase()\n--\n\nEnd the phase."},
    {"print_breakdown", phase_timer_print, METH_VARARGS,
     "print_breakdown(file=None)\n--\n\nPrint the phases that ended, the largest first."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef phase_timer_members[] = {
    {"phases", phase_timer_phases, NULL, "Seconds of the phases that ended, by name.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot phase_timer_slots[] = {
    {Py_tp_init, phase_timer_init},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_dealloc, phase_timer_dealloc},
    {Py_tp_methods, phase_timer_methods},
    {Py_tp_getset, phase_timer_members},
    {Py_tp_doc, "PhaseTimer(name)\n--\n\nThe phases of one job, one after the other."},
    {0, NULL},
};

static PyType_Spec phase_timer_spec = {
    .name = "assay._core.PhaseTimer",
    .basicsize = sizeof(core_phase_timer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = phase_timer_slots,
};

PyObject *core_phase_timer_type(void)
{
    return PyType_FromSpec(&phase_timer_spec);
}
