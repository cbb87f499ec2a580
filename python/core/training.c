/* Training loops: the type EpochMonitor, which times epochs and batches, and the functions that
 * analyse warm-up and convergence. */
#include "assay/training.h"
#include "python/core/seeds.h"

#include <math.h>
#include <stdlib.h>

/* ---- epochs and batches ---- */

typedef struct core_epoch_monitor {
    PyObject_HEAD assay_epoch_monitor *handle;
    PyObject *gpu_memory; /* a function that returns the three figures of timers.h in MB, or NULL */
    core_stream stream;   /* receives the lines that libassay prints, for sys.stdout */
    bool told;            /* the user was warned that calls are out of order */
} core_epoch_monitor;

/* A figure in MB as a reading in bytes. An exception stays set and is raised by after(). */
static assay_reading in_bytes(PyObject *figures, const char *key)
{
    assay_reading reading = assay_reading_missing(ASSAY_NOT_MEASURED);
    if (figures != NULL && PyDict_Check(figures) && core_get_reading(figures, key, &reading))
        reading.value *= 1024.0 * 1024.0;
    return reading;
}

static assay_gpu_memory read_gpu(void *function)
{
    PyObject *figures = PyObject_CallNoArgs(function);
    assay_gpu_memory memory = {in_bytes(figures, "allocated_mb"), in_bytes(figures, "reserved_mb"),
                               in_bytes(figures, "max_allocated_mb")};
    Py_XDECREF(figures);
    return memory;
}

static void release_epoch_monitor(core_epoch_monitor *monitor)
{
    Py_CLEAR(monitor->gpu_memory);
    assay_epoch_monitor_free(monitor->handle);
    monitor->handle = NULL;
    if (monitor->stream.file != NULL)
        fclose(monitor->stream.file);
    free(monitor->stream.text);
    monitor->stream = (core_stream){0};
}

static int epoch_monitor_init(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"enabled", "verbose_batches", "gpu_memory", NULL};
    PyObject *gpu_memory = Py_None;
    core_epoch_monitor *monitor = (core_epoch_monitor *)self;
    assay_epoch_monitor_options options = ASSAY_EPOCH_MONITOR_OPTIONS_INIT;
    int enabled = 1, verbose = 5;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|piO:EpochMonitor", names, &enabled, &verbose,
                                     &gpu_memory))
        return -1;
    release_epoch_monitor(monitor);
    if (!core_stream_open(&monitor->stream))
        return -1;
    options.disabled = !enabled;
    options.verbose_batches = verbose > 0 ? verbose : -1;
    options.output = monitor->stream.file;
    if (gpu_memory != Py_None) {
        monitor->gpu_memory = Py_NewRef(gpu_memory);
        options.gpu_memory = read_gpu;
        options.gpu_context = gpu_memory;
    }
    assay_status status = assay_epoch_monitor_new(&options, &monitor->handle);
    if (status != ASSAY_OK)
        core_raise(status, NULL);
    return status == ASSAY_OK ? 0 : -1;
}

static void epoch_monitor_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    release_epoch_monitor((core_epoch_monitor *)self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

/* Write the printed lines to sys.stdout, and warn once if calls were out of order. */
static PyObject *after(core_epoch_monitor *monitor)
{
    if (PyErr_Occurred() != NULL) { /* the function gpu_memory failed */
        rewind(monitor->stream.file);
        return NULL;
    }
    fflush(monitor->stream.file);
    PyObject *text =
        PyUnicode_DecodeUTF8(monitor->stream.text, (Py_ssize_t)monitor->stream.length, "replace");
    PyObject *output = PySys_GetObject("stdout");
    bool good = text != NULL;
    if (good && monitor->stream.length > 0 && output != NULL && output != Py_None)
        good = PyFile_WriteObject(text, output, Py_PRINT_RAW) == 0;
    Py_XDECREF(text);
    rewind(monitor->stream.file);
    if (good && !monitor->told && assay_epoch_monitor_status(monitor->handle) == ASSAY_E_STATE) {
        monitor->told = true;
        good = PyErr_WarnEx(PyExc_RuntimeWarning,
                            "a start or an end of an epoch or a batch is missing; such epochs and "
                            "batches are left out of the statistics",
                            1) == 0;
    }
    if (!good)
        return NULL;
    Py_RETURN_NONE;
}

static core_epoch_monitor *ready(PyObject *self)
{
    core_epoch_monitor *monitor = (core_epoch_monitor *)self;
    if (monitor->handle == NULL)
        PyErr_SetString(PyExc_ValueError, "the monitor was not made: call its __init__");
    return monitor->handle != NULL ? monitor : NULL;
}

static PyObject *on_epoch_start(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_epoch_monitor *monitor = ready(self);
    if (monitor == NULL)
        return NULL;
    assay_epoch_monitor_on_epoch_start(monitor->handle);
    return after(monitor);
}

static PyObject *on_batch_start(PyObject *self, PyObject *index)
{
    core_epoch_monitor *monitor = ready(self);
    unsigned long long number = monitor != NULL ? PyLong_AsUnsignedLongLong(index) : 0;
    if (PyErr_Occurred() != NULL)
        return NULL;
    assay_epoch_monitor_on_batch_start(monitor->handle, number);
    if (!monitor->told && assay_epoch_monitor_status(monitor->handle) != ASSAY_OK)
        return after(monitor);
    Py_RETURN_NONE;
}

static PyObject *on_batch_end(PyObject *self, PyObject *args)
{
    unsigned long long index;
    double loss = NAN;
    core_epoch_monitor *monitor = ready(self);
    if (monitor == NULL || !PyArg_ParseTuple(args, "K|d:on_batch_end", &index, &loss))
        return NULL;
    assay_epoch_monitor_on_batch_end(monitor->handle, index, loss);
    return after(monitor);
}

static PyObject *on_epoch_end(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_epoch_monitor *monitor = ready(self);
    if (monitor == NULL)
        return NULL;
    assay_epoch_monitor_on_epoch_end(monitor->handle);
    return after(monitor);
}

static PyObject *get_statistics(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_epoch_monitor *monitor = ready(self);
    if (monitor == NULL)
        return NULL;
    assay_epoch_statistics found = assay_epoch_monitor_get_statistics(monitor->handle);
    PyObject *figures = PyDict_New();
    if (figures == NULL || !core_put_double(figures, "total_epoch_time", found.total_epoch_time) ||
        !core_put_reading(figures, "avg_epoch_time", found.avg_epoch_time) ||
        !core_put_double(figures, "total_batch_time", found.total_batch_time) ||
        !core_put_reading(figures, "avg_batch_time", found.avg_batch_time) ||
        !core_put_reading(figures, "min_batch_time", found.min_batch_time) ||
        !core_put_reading(figures, "max_batch_time", found.max_batch_time) ||
        !core_put_count(figures, "num_batches", found.num_batches) ||
        !core_put_count(figures, "num_epochs", found.num_epochs))
        Py_CLEAR(figures);
    return figures;
}

static PyMethodDef epoch_monitor_methods[] = {
    {"on_epoch_start", on_epoch_start, METH_NOARGS, "on_epoch_start()\n--\n\nAn epoch begins."},
    {"on_batch_start", on_batch_start, METH_O, "on_batch_start(batch_idx)\n--\n\nA batch begins."},
    {"on_batch_end", on_batch_end, METH_VARARGS,
     "on_batch_end(batch_idx, loss)\n--\n\nA batch ends."},
    {"on_epoch_end", on_epoch_end, METH_NOARGS, "on_epoch_end()\n--\n\nAn epoch ends."},
    {"get_statistics", get_statistics, METH_NOARGS,
     "get_statistics()\n--\n\nThe times of epochs and batches."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot epoch_monitor_slots[] = {
    {Py_tp_init, epoch_monitor_init},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_dealloc, epoch_monitor_dealloc},
    {Py_tp_methods, epoch_monitor_methods},
    {Py_tp_doc,
     "EpochMonitor(enabled=True, verbose_batches=5, gpu_memory=None)\n--\n\nEpochs and batches."},
    {0, NULL},
};

static PyType_Spec epoch_monitor_spec = {
    .name = "assay._core.EpochMonitor",
    .basicsize = sizeof(core_epoch_monitor),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = epoch_monitor_slots,
};

PyObject *core_epoch_monitor_type(void)
{
    return PyType_FromSpec(&epoch_monitor_spec);
}

/* ---- warm-up ---- */

PyObject *core_warmup(PyObject *module, PyObject *epoch_times)
{
    (void)module;
    size_t count;
    assay_warmup warmup;
    double *seconds = core_doubles(epoch_times, "epoch times", &count);
    if (seconds == NULL)
        return NULL;
    assay_status status = assay_warmup_analyze(seconds, count, &warmup);
    free(seconds);
    if (status != ASSAY_OK) {
        PyErr_SetString(PyExc_ValueError, status == ASSAY_E_DATA
                                              ? "there are no epoch times"
                                              : "epoch times must be finite and not negative");
        return NULL;
    }
    PyObject *figures = PyDict_New();
    if (figures == NULL || !core_put_double(figures, "first_epoch_time", warmup.first_epoch_time) ||
        !core_put_reading(figures, "avg_steady_state_time", warmup.avg_steady_state_time) ||
        !core_put_reading(figures, "warmup_overhead", warmup.warmup_overhead) ||
        !core_put_reading(figures, "warmup_overhead_pct", warmup.warmup_overhead_pct))
        Py_CLEAR(figures);
    return figures;
}

/* print_warmup(stats, model_name, file) */
PyObject *core_print_warmup(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *stats, *name, *file, *bytes;
    const char *text;
    assay_reading first;
    assay_warmup warmup = {0};
    core_stream stream;
    if (!PyArg_ParseTuple(args, "O!OO:print_warmup", &PyDict_Type, &stats, &name, &file) ||
        !core_get_reading(stats, "first_epoch_time", &first) ||
        !core_get_reading(stats, "avg_steady_state_time", &warmup.avg_steady_state_time) ||
        !core_get_reading(stats, "warmup_overhead", &warmup.warmup_overhead) ||
        !core_get_reading(stats, "warmup_overhead_pct", &warmup.warmup_overhead_pct) ||
        (bytes = core_name(name, "the name of a model", &text)) == NULL)
        return NULL;
    warmup.first_epoch_time = first.validity == ASSAY_VALID ? first.value : NAN;
    PyObject *result = NULL;
    if (core_stream_open(&stream)) {
        assay_status status = assay_print_warmup_analysis(&warmup, stream.file, text);
        result = core_stream_write(&stream, status, NULL, file);
    }
    Py_DECREF(bytes);
    return result;
}

/* ---- convergence ---- */

static PyObject *convergence_dict(const assay_convergence *found)
{
    PyObject *figures = PyDict_New();
    if (figures == NULL ||
        !core_put_reading(figures, "epochs_to_converge", found->epochs_to_converge) ||
        !core_put_reading(figures, "time_to_converge", found->time_to_converge) ||
        !core_put_reading(figures, "best_loss", found->best_loss) ||
        !core_put_reading(figures, "best_epoch", found->best_epoch) ||
        !core_put_reading(figures, "final_loss", found->final_loss) ||
        !core_put_reading(figures, "total_time", found->total_seconds) ||
        !core_put_double(figures, "threshold", found->threshold) ||
        !core_put_count(figures, "epochs", found->epochs) ||
        PyDict_SetItemString(figures, "converged", found->converged ? Py_True : Py_False) != 0)
        Py_CLEAR(figures);
    return figures;
}

/* convergence(losses, epoch_times or None, threshold) */
PyObject *core_convergence(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *losses, *times, *result = NULL;
    double threshold, *values = NULL, *seconds = NULL;
    size_t count = 0, timed = 0;
    assay_convergence found;
    if (!PyArg_ParseTuple(args, "OOd:convergence", &losses, &times, &threshold) ||
        (values = core_doubles(losses, "losses", &count)) == NULL)
        return NULL;
    if (times != Py_None && (seconds = core_doubles(times, "epoch times", &timed)) == NULL)
        goto cleanup;
    if (seconds != NULL && timed != count) {
        PyErr_Format(PyExc_ValueError, "there are %zu losses but %zu epoch times", count, timed);
        goto cleanup;
    }
    if (assay_convergence_analyze(values, seconds, count, threshold, &found) == ASSAY_OK)
        result = convergence_dict(&found);
    else
        PyErr_SetString(PyExc_ValueError, "epoch times must be finite and not negative, and the "
                                          "threshold must be a number");
cleanup:
    free(values);
    free(seconds);
    return result;
}
