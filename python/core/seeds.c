#include "python/core/seeds.h"

#include <math.h>
#include <stdlib.h>

static bool put(PyObject *dictionary, const char *key, PyObject *value)
{
    bool good = value != NULL && PyDict_SetItemString(dictionary, key, value) == 0;
    Py_XDECREF(value);
    return good;
}

bool core_put_double(PyObject *dictionary, const char *key, double value)
{
    return put(dictionary, key, PyFloat_FromDouble(value));
}

bool core_put_count(PyObject *dictionary, const char *key, uint64_t count)
{
    return put(dictionary, key, PyLong_FromUnsignedLongLong(count));
}

static const char unavailable[] = "unavailable";

static bool put_reason(PyObject *dictionary, const char *key, assay_validity validity)
{
    if (PyDict_GetItemString(dictionary, unavailable) == NULL &&
        !put(dictionary, unavailable, PyDict_New()))
        return false;
    return put(PyDict_GetItemString(dictionary, unavailable), key,
               PyUnicode_FromString(assay_validity_text(validity)));
}

bool core_put_reading(PyObject *dictionary, const char *key, assay_reading reading)
{
    if (reading.validity == ASSAY_VALID)
        return core_put_double(dictionary, key, reading.value);
    return core_put_double(dictionary, key, NAN) && put_reason(dictionary, key, reading.validity);
}

bool core_to_reading(PyObject *value, assay_reading *reading)
{
    *reading = assay_reading_missing(ASSAY_NOT_MEASURED);
    if (value == NULL || value == Py_None)
        return true;
    double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred() != NULL)
        return false;
    if (!isnan(number))
        *reading = assay_reading_of(number);
    return true;
}

bool core_get_reading(PyObject *dictionary, const char *key, assay_reading *reading)
{
    return core_to_reading(PyDict_GetItemString(dictionary, key), reading);
}

double *core_doubles(PyObject *sequence, const char *what, size_t *count)
{
    PyObject *items = PySequence_List(sequence);
    if (items == NULL)
        return NULL;
    *count = (size_t)PyList_Size(items);
    double *numbers = malloc((*count + 1) * sizeof *numbers);
    if (numbers == NULL)
        PyErr_NoMemory();
    for (size_t i = 0; numbers != NULL && i < *count; i++) {
        PyObject *item = PyList_GetItem(items, (Py_ssize_t)i);
        numbers[i] = PyFloat_AsDouble(item);
        if (PyErr_Occurred() != NULL) {
            PyErr_Format(PyExc_TypeError, "%s must be numbers, not %R", what, item);
            free(numbers);
            numbers = NULL;
        }
    }
    Py_DECREF(items);
    return numbers;
}

assay_status core_called(PyObject *result)
{
    Py_XDECREF(result);
    return result != NULL ? ASSAY_OK : ASSAY_E_STATE;
}

/* What these functions are for is said where they are called, in the package. */
static PyMethodDef functions[] = {
    {"benchmark", core_benchmark, METH_VARARGS, NULL},
    {"timing", core_timing_make, METH_VARARGS, NULL},
    {"print_inference", core_print_inference, METH_VARARGS, NULL},
    {"now", core_now, METH_NOARGS, NULL},
    {"file_save", core_file_save, METH_VARARGS, NULL},
    {"timed_call", core_timed_call, METH_VARARGS, NULL},
    {"memory_tracking", core_memory_tracking, METH_NOARGS, NULL},
    {"timers_print", core_timers_print, METH_VARARGS, NULL},
    {"timers_export", core_timers_export, METH_VARARGS, NULL},
    {"timers_speedups", core_timers_speedups, METH_VARARGS, NULL},
    {"warmup", core_warmup, METH_O, NULL},
    {"print_warmup", core_print_warmup, METH_VARARGS, NULL},
    {"convergence", core_convergence, METH_VARARGS, NULL},
    {"performance_begin", core_performance_begin, METH_NOARGS, NULL},
    {"performance_end", core_performance_end, METH_O, NULL},
    {"print_performance", core_print_performance, METH_VARARGS, NULL},
    {"forecast_benchmark", core_forecast_benchmark, METH_VARARGS, NULL},
    {"profile_json", core_profile_json, METH_VARARGS, NULL},
    {"comparison_json", core_comparison_json, METH_O, NULL},
    {"linear_flops", core_linear_flops, METH_VARARGS, NULL},
    {"attention_flops", core_attention_flops, METH_VARARGS, NULL},
    {"mpnn_flops", core_mpnn_flops, METH_VARARGS, NULL},
    {"ffn_flops", core_ffn_flops, METH_VARARGS, NULL},
    {"pe_flops", core_pe_flops, METH_VARARGS, NULL},
    {"model_flops", core_model_flops, METH_VARARGS, NULL},
    {"attention_memory", core_attention_memory, METH_VARARGS, NULL},
    {"pe_storage", core_pe_storage, METH_VARARGS, NULL},
    {"memory", core_memory, METH_NOARGS, NULL},
    {"reset_peak", core_reset_peak, METH_NOARGS, NULL},
    {"scaling", core_scaling, METH_VARARGS, NULL},
    {"scaling_graphs", core_scaling_graphs, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static int add_type(PyObject *module, const char *name, PyObject *type)
{
    int result = type != NULL ? PyModule_AddObjectRef(module, name, type) : -1;
    Py_XDECREF(type);
    return result;
}

int core_seeds_init(PyObject *module)
{
    if (add_type(module, "Timing", core_timing_type()) != 0 ||
        add_type(module, "PhaseTimer", core_phase_timer_type()) != 0 ||
        add_type(module, "EpochMonitor", core_epoch_monitor_type()) != 0)
        return -1;
    return PyModule_AddFunctions(module, functions);
}
