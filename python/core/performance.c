/* Measures one block and prints its figures in one line, for assay.memory_monitor. */
#include "assay/performance.h"
#include "python/core/seeds.h"

#include <string.h>

/* Begin a block. Returns its state as opaque bytes for performance_end(). */
PyObject *core_performance_begin(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    assay_performance begun = assay_performance_begin(NULL, NULL);
    return PyBytes_FromStringAndSize((const char *)&begun, sizeof begun);
}

/* The figures of the block: {"duration_seconds", "cpu_delta_mb"}. */
PyObject *core_performance_end(PyObject *module, PyObject *begun)
{
    (void)module;
    assay_performance performance;
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(begun, &bytes, &size) != 0)
        return NULL;
    if ((size_t)size != sizeof performance) {
        PyErr_SetString(PyExc_ValueError, "this block was not begun");
        return NULL;
    }
    memcpy(&performance, bytes, sizeof performance);
    assay_record_metric metric = assay_performance_end(&performance);
    assay_reading delta = metric.cpu_delta_bytes;
    delta.value /= 1024.0 * 1024.0;
    PyObject *figures = PyDict_New();
    if (figures == NULL || !core_put_double(figures, "duration_seconds", metric.duration_seconds) ||
        !core_put_reading(figures, "cpu_delta_mb", delta))
        Py_CLEAR(figures);
    return figures;
}

/* print_performance(name, seconds, cpu_delta_mb, gpu_delta_mb, gpu_peak_mb, file) */
PyObject *core_print_performance(PyObject *module, PyObject *args)
{
    (void)module;
    const double mb = 1024.0 * 1024.0;
    PyObject *name, *cpu, *gpu, *peak, *file;
    assay_record_metric metric = {0};
    core_stream stream;
    if (!PyArg_ParseTuple(args, "OdOOOO:print_performance", &name, &metric.duration_seconds, &cpu,
                          &gpu, &peak, &file) ||
        !core_to_reading(cpu, &metric.cpu_delta_bytes) ||
        !core_to_reading(gpu, &metric.gpu_delta_bytes) ||
        !core_to_reading(peak, &metric.gpu_peak_bytes))
        return NULL;
    metric.cpu_delta_bytes.value *= mb;
    metric.gpu_delta_bytes.value *= mb;
    metric.gpu_peak_bytes.value *= mb;
    PyObject *bytes = core_name(name, "the name of a block", &metric.operation);
    PyObject *result = NULL;
    if (bytes != NULL && core_stream_open(&stream)) {
        assay_status status = assay_performance_print(&metric, stream.file);
        result = core_stream_write(&stream, status, NULL, file);
    }
    Py_XDECREF(bytes);
    return result;
}
