/* The list of the functions that seeds.h declares, and the functions that they share: figures in
 * and out of dictionaries, and numbers out of sequences. */
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

static PyMethodDef functions[] = {
    {"benchmark", core_benchmark, METH_VARARGS,
     "benchmark(function, set_up, runs, warmup)\n--\n\nTime single calls of a function."},
    {"timing", core_timing_make, METH_VARARGS,
     "timing(count, total, mean, std, min, max)\n--\n\nFigures that were taken elsewhere."},
    {"print_inference", core_print_inference, METH_VARARGS,
     "print_inference(timing, samples_per_call, model_name, file)\n--\n\nPrint latencies and "
     "throughput."},
    {"now", core_now, METH_NOARGS,
     "now()\n--\n\nSeconds of the clock that everything is measured by."},
    {"file_save", core_file_save, METH_VARARGS,
     "file_save(path, text)\n--\n\nReplace a file; it appears complete or not at all."},
    {"timed_call", core_timed_call, METH_VARARGS,
     "timed_call(kind, function, args, keywords)\n--\n\nCall a function: its result and its "
     "figures."},
    {"memory_tracking", core_memory_tracking, METH_NOARGS,
     "memory_tracking()\n--\n\nCount memory from now on; says what is counted."},
    {"timers_print", core_timers_print, METH_VARARGS,
     "timers_print(timers, table, text, count, file)\n--\n\nPrint a table of timers."},
    {"timers_export", core_timers_export, METH_VARARGS,
     "timers_export(timers, path, section, as_json)\n--\n\nSave timers as CSV or JSON."},
    {"timers_speedups", core_timers_speedups, METH_VARARGS,
     "timers_speedups(timers, baseline)\n--\n\nRatios to the baseline or the slowest."},
    {"warmup", core_warmup, METH_O,
     "warmup(epoch_times)\n--\n\nThe first epoch against the others."},
    {"print_warmup", core_print_warmup, METH_VARARGS,
     "print_warmup(stats, model_name, file)\n--\n\nPrint what warmup() found."},
    {"convergence", core_convergence, METH_VARARGS,
     "convergence(losses, epoch_times, threshold)\n--\n\nWhen a threshold was reached."},
    {"performance_begin", core_performance_begin, METH_NOARGS,
     "performance_begin()\n--\n\nBegin a block."},
    {"performance_end", core_performance_end, METH_O,
     "performance_end(begun)\n--\n\nEnd the block: its figures."},
    {"print_performance", core_print_performance, METH_VARARGS,
     "print_performance(name, seconds, cpu_delta_mb, gpu_delta_mb, gpu_peak_mb, file)\n--\n\nPrint "
     "a block's line."},
    {"forecast_benchmark", core_forecast_benchmark, METH_VARARGS,
     "forecast_benchmark(function, n_steps, trials, warmup)\n--\n\nTime a step and a forecast."},
    {"profile_json", core_profile_json, METH_VARARGS,
     "profile_json(name, training_seconds, single_step, full_trajectory, steps, parameters, "
     "bytes_per_parameter, latent_dim, kind, first_size, second_size)\n--\n\nThe JSON of a runtime "
     "profile of these parts."},
    {"comparison_json", core_comparison_json, METH_O,
     "comparison_json(profiles)\n--\n\nThe JSON of profiles compared."},
    {"linear_flops", core_linear_flops, METH_VARARGS,
     "linear_flops(in_features, out_features, batch_size, seq_len)\n--\n\nFLOPs of a linear "
     "layer."},
    {"attention_flops", core_attention_flops, METH_VARARGS,
     "attention_flops(num_nodes, hidden_dim, num_heads, sparse_ratio)\n--\n\nFLOPs of attention."},
    {"mpnn_flops", core_mpnn_flops, METH_VARARGS,
     "mpnn_flops(num_nodes, num_edges, in_features, out_features, mpnn_type)\n--\n\nFLOPs of "
     "message passing."},
    {"ffn_flops", core_ffn_flops, METH_VARARGS,
     "ffn_flops(hidden_dim, ffn_dim, num_nodes)\n--\n\nFLOPs of two layers."},
    {"pe_flops", core_pe_flops, METH_VARARGS,
     "pe_flops(num_nodes, pe_dim, pe_type)\n--\n\nFLOPs of positional encodings."},
    {"model_flops", core_model_flops, METH_VARARGS,
     "model_flops(num_nodes, num_edges, hidden_dim, num_layers, num_heads, ffn_dim, sparse_ratio, "
     "mpnn_type)\n--\n\nFLOPs of a graph transformer, and of its components."},
    {"attention_memory", core_attention_memory, METH_VARARGS,
     "attention_memory(num_nodes, num_heads, hidden_dim, batch_size)\n--\n\nBytes that attention "
     "keeps."},
    {"pe_storage", core_pe_storage, METH_VARARGS,
     "pe_storage(num_nodes, node_pe_dim, relative_pe_buckets, sparse_ratio)\n--\n\nBytes of "
     "positional encodings."},
    {"memory", core_memory, METH_NOARGS, "memory()\n--\n\nThe memory of this process."},
    {"reset_peak", core_reset_peak, METH_NOARGS,
     "reset_peak()\n--\n\nRestart the kernel's peak; whether it could be."},
    {"scaling", core_scaling, METH_VARARGS,
     "scaling(name, parameter, sizes, make, run, budget_seconds, passes, seed)\n--\n\nMeasure at "
     "several sizes, and fit the growth."},
    {"scaling_graphs", core_scaling_graphs, METH_VARARGS,
     "scaling_graphs(num_nodes_list, avg_degree, feature_dim, seed)\n--\n\nRandom graphs."},
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
