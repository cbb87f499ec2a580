/* assay.energy.Meter: wraps a meter of libassay (meter.h). A meter may be attached to a monitor;
 * its readings are then entered into that monitor. */
#include <string.h>

#include "assay/meter.h"
#include "python/core/seeds.h"

typedef struct core_meter {
    PyObject_HEAD assay_meter *handle; /* NULL once it is closed */
    core_monitor *monitor;             /* the monitor to which it is attached, or NULL */
    PyObject *energy;                  /* of the last block, or NULL */
    uint64_t begin_ns;
    size_t readers;                  /* the number of threads that wait for a reading */
    struct core_meter *next, **link; /* the list of all meters that are not closed */
} core_meter;

static core_meter *open_meters;

static assay_meter *handle_of(PyObject *self)
{
    assay_meter *handle = ((core_meter *)self)->handle;
    if (handle == NULL)
        PyErr_SetString(PyExc_ValueError, "the meter is closed");
    return handle;
}

/* Close the meter. If a thread is reading it, that thread frees the handle when it has finished. */
static void close_handle(core_meter *meter)
{
    assay_meter *handle = meter->handle;
    meter->handle = NULL;
    if (handle != NULL) {
        *meter->link = meter->next;
        if (meter->next != NULL)
            meter->next->link = meter->link;
    }
    if (handle != NULL && meter->readers == 0) {
        Py_BEGIN_ALLOW_THREADS;
        assay_meter_free(handle);
        Py_END_ALLOW_THREADS;
    }
    Py_CLEAR(meter->monitor);
}

/* Attach the meter to a monitor. None means the default monitor, and False means no monitor. */
static bool attach(core_meter *meter, PyObject *given)
{
    if (given == Py_False)
        return true;
    core_monitor *monitor = NULL;
    if (given == NULL || given == Py_None)
        monitor = core_default_monitor();
    else if (core_is_monitor(given))
        monitor = (core_monitor *)given;
    else if (PyErr_Occurred() == NULL)
        PyErr_Format(PyExc_TypeError, "monitor must be a Monitor, None or False, not %R", given);
    if (monitor == NULL)
        return false;
    assay_status status = monitor->handle != NULL
                              ? assay_monitor_attach_meter(monitor->handle, meter->handle)
                              : ASSAY_E_STATE;
    if (status != ASSAY_OK) {
        core_raise(status, NULL);
        return false;
    }
    Py_INCREF((PyObject *)monitor);
    meter->monitor = monitor;
    return true;
}

static int meter_init(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"monitor", "period", "traffic", "gpu", "cpu", "powercap", NULL};
    core_meter *meter = (core_meter *)self;
    assay_meter_options options = ASSAY_METER_OPTIONS_INIT;
    PyObject *monitor = NULL, *powercap = Py_None, *path = NULL;
    int traffic = 0, gpu = 1, cpu = 1;
    assay_error error = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OdpppO:Meter", names, &monitor,
                                     &options.period_seconds, &traffic, &gpu, &cpu, &powercap))
        return -1;
    if (powercap != Py_None && (path = core_path(powercap, &options.powercap)) == NULL)
        return -1;
    if (traffic)
        options.parts = ASSAY_DEVICE_MEMORY | ASSAY_DEVICE_LOAD | ASSAY_DEVICE_POWER |
                        ASSAY_DEVICE_ENERGY | ASSAY_DEVICE_TRAFFIC;
    options.no_devices = !gpu;
    options.no_processor = !cpu;
    close_handle(meter);
    assay_status status = assay_meter_new(&options, &error, &meter->handle);
    Py_XDECREF(path);
    if (status != ASSAY_OK) {
        core_raise(status, &error);
        return -1;
    }
    meter->next = open_meters;
    meter->link = &open_meters;
    if (open_meters != NULL)
        open_meters->link = &meter->next;
    open_meters = meter;
    if (attach(meter, monitor))
        return 0;
    close_handle(meter);
    return -1;
}

static PyObject *dictionary_of(const assay_energy *energy)
{
    PyObject *figures = PyDict_New();
    if (figures == NULL || !core_put_reading(figures, "joules", energy->joules) ||
        !core_put_reading(figures, "joules_low", energy->joules_low) ||
        !core_put_reading(figures, "joules_high", energy->joules_high) ||
        !core_put_reading(figures, "gpu_joules", energy->gpu_joules) ||
        !core_put_reading(figures, "cpu_joules", energy->cpu_joules)) {
        Py_CLEAR(figures);
        return NULL;
    }
    PyObject *text =
        energy->throttle.validity == ASSAY_VALID
            ? PyUnicode_FromString(assay_device_throttle_text((unsigned)energy->throttle.value))
            : Py_NewRef(Py_None);
    if (text == NULL || PyDict_SetItemString(figures, "throttled", text) != 0)
        Py_CLEAR(figures);
    Py_XDECREF(text);
    return figures;
}

static PyObject *read_window(core_meter *meter, uint64_t begin_ns, uint64_t end_ns)
{
    assay_energy energy = ASSAY_INIT(assay_energy);
    assay_error error = {0};
    assay_meter *handle = handle_of((PyObject *)meter);
    assay_status status;
    if (handle == NULL)
        return NULL;
    meter->readers++;
    Py_BEGIN_ALLOW_THREADS;
    status = assay_meter_read(handle, begin_ns, end_ns, &error, &energy);
    Py_END_ALLOW_THREADS;
    if (--meter->readers == 0 && meter->handle == NULL)
        assay_meter_free(handle); /* the meter was closed meanwhile */
    return status == ASSAY_OK ? dictionary_of(&energy) : core_raise(status, &error);
}

static PyObject *meter_read(PyObject *self, PyObject *args)
{
    double begin, end;
    if (!PyArg_ParseTuple(args, "dd:read", &begin, &end))
        return NULL;
    if (!(begin >= 0 && end >= begin && end < 1e10)) {
        PyErr_SetString(PyExc_ValueError, "read() takes two times of time.monotonic() in order");
        return NULL;
    }
    return read_window((core_meter *)self, (uint64_t)(begin * 1e9), (uint64_t)(end * 1e9));
}

static PyObject *meter_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (handle_of(self) == NULL)
        return NULL;
    ((core_meter *)self)->begin_ns = assay_meter_now_ns();
    return Py_NewRef(self);
}

static PyObject *meter_exit(PyObject *self, PyObject *args)
{
    (void)args;
    core_meter *meter = (core_meter *)self;
    if (meter->handle == NULL)
        Py_RETURN_NONE;
    PyObject *energy = read_window(meter, meter->begin_ns, assay_meter_now_ns());
    if (energy == NULL)
        return NULL;
    Py_XDECREF(meter->energy);
    meter->energy = energy;
    close_handle(meter);
    Py_RETURN_NONE;
}

static PyObject *meter_close(PyObject *self, PyObject *unused)
{
    (void)unused;
    close_handle((core_meter *)self);
    Py_RETURN_NONE;
}

static void meter_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    core_meter *meter = (core_meter *)self;
    close_handle(meter);
    Py_CLEAR(meter->energy);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyObject *meter_energy(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *energy = ((core_meter *)self)->energy;
    return Py_NewRef(energy != NULL ? energy : Py_None);
}

static PyObject *meter_description(PyObject *self, void *unused)
{
    (void)unused;
    assay_meter *handle = handle_of(self);
    return handle != NULL ? PyUnicode_FromString(assay_meter_describe(handle)) : NULL;
}

static PyMethodDef meter_methods[] = {
    {"read", meter_read, METH_VARARGS,
     "read(begin, end)\n--\n\nThe energy between two times of time.monotonic(): joules, "
     "joules_low, "
     "joules_high,\ngpu_joules, cpu_joules and throttled."},
    {"close", meter_close, METH_NOARGS, "close()\n--\n\nEnd the meter's thread."},
    {"__enter__", meter_enter, METH_NOARGS, NULL},
    {"__exit__", meter_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef meter_members[] = {
    {"energy", meter_energy, NULL, "That of the last block, as read() gives it; None before.",
     NULL},
    {"description", meter_description, NULL, "What is read, and what is not and why.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot meter_slots[] = {
    {Py_tp_init, meter_init},
    {Py_tp_dealloc, meter_dealloc},
    {Py_tp_methods, meter_methods},
    {Py_tp_getset, meter_members},
    {Py_tp_doc, "Load and energy of the GPUs and the processor, read by a thread of its own."},
    {0, NULL},
};

static PyType_Spec meter_spec = {
    .name = "assay._core.Meter",
    .basicsize = sizeof(core_meter),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = meter_slots,
};

void core_meters_close(void)
{
    while (open_meters != NULL)
        close_handle(open_meters);
}

PyObject *core_meter_type(void)
{
    return PyType_FromSpec(&meter_spec);
}
