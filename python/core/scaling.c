/* Scaling: measures a Python model at several sizes, and makes the random graphs to measure it on.
 */
#include "assay/scaling.h"
#include "assay/model_scaling.h"
#include "python/core/seeds.h"

#include <stdlib.h>

typedef struct scaling_call {
    PyObject *make, *run; /* make(size) -> instance, run(instance) */
} scaling_call;

static assay_status make_instance(void *context, double size, void **instance)
{
    PyObject *number = PyFloat_FromDouble(size);
    *instance = number != NULL
                    ? PyObject_CallFunctionObjArgs(((scaling_call *)context)->make, number, NULL)
                    : NULL;
    Py_XDECREF(number);
    return *instance != NULL ? ASSAY_OK : ASSAY_E_STATE;
}

static void destroy_instance(void *context, void *instance)
{
    (void)context;
    Py_XDECREF((PyObject *)instance);
}

static assay_status run_instance(void *context, void *instance, double size, uint64_t iterations)
{
    (void)size;
    assay_status status = ASSAY_OK;
    for (uint64_t i = 0; i < iterations && status == ASSAY_OK; i++)
        status = core_called(PyObject_CallFunctionObjArgs(((scaling_call *)context)->run,
                                                          (PyObject *)instance, NULL));
    return status == ASSAY_OK && PyErr_CheckSignals() != 0 ? ASSAY_E_STATE : status;
}

static PyObject *timings_of(const assay_scaling *scaling)
{
    PyObject *timings = PyList_New(0);
    for (size_t i = 0; timings != NULL && i < scaling->count; i++) {
        PyObject *timing = core_timing_of(&scaling->runtime_stats[i]);
        if (timing == NULL || PyList_Append(timings, timing) != 0)
            Py_CLEAR(timings);
        Py_XDECREF(timing);
    }
    return timings;
}

/* The result of scaling(): (Timings, the record, the printed summary). */
static PyObject *result_of(assay_scaling *scaling)
{
    core_stream stream;
    if (!core_stream_open(&stream))
        return NULL;
    assay_status status = assay_scaling_print_summary(scaling, stream.file);
    PyObject *text = core_stream_take(&stream, status, NULL);
    PyObject *timings = text != NULL ? timings_of(scaling) : NULL;
    if (timings == NULL) {
        Py_XDECREF(text);
        return NULL;
    }
    PyObject *record = core_record_of(scaling->record);
    scaling->record = NULL;
    return Py_BuildValue("NNN", timings, record, text);
}

/* scaling(name, parameter, sizes, make, run, budget_seconds, passes, seed) */
PyObject *core_scaling(PyObject *module, PyObject *args)
{
    (void)module;
    scaling_call call;
    assay_scaling_subject subject = ASSAY_SCALING_SUBJECT_INIT;
    assay_scaling_options options = ASSAY_SCALING_OPTIONS_INIT;
    assay_scaling *scaling = NULL;
    assay_error error = {0};
    PyObject *given, *result = NULL;
    Py_ssize_t passes;
    unsigned long long seed;
    size_t count;
    if (!PyArg_ParseTuple(args, "ssOOOdnK:scaling", &subject.name, &subject.parameter, &given,
                          &call.make, &call.run, &options.budget_seconds, &passes, &seed))
        return NULL;
    double *sizes = core_doubles(given, "sizes", &count);
    if (sizes == NULL)
        return NULL;
    subject.context = &call;
    subject.make = make_instance;
    subject.destroy = destroy_instance;
    subject.run = run_instance;
    options.passes = passes > 0 ? (size_t)passes : 0;
    options.seed = seed;
    assay_status status = assay_scaling_run(&subject, sizes, count, &options, &error, &scaling);
    if (status == ASSAY_OK && PyErr_Occurred() == NULL)
        result = result_of(scaling);
    else
        core_raise(status, &error);
    assay_scaling_free(scaling);
    free(sizes);
    return result;
}

/* ---- graphs ---- */

static PyObject *graph_of(const assay_scaling_graph *graph)
{
    return Py_BuildValue(
        "LLLy#y#", (long long)graph->num_nodes, (long long)graph->num_edges,
        (long long)graph->feature_dim, (const char *)graph->features,
        (Py_ssize_t)((size_t)(graph->num_nodes * graph->feature_dim) * sizeof *graph->features),
        (const char *)graph->edges,
        (Py_ssize_t)((size_t)(2 * graph->num_edges) * sizeof *graph->edges));
}

static int64_t *whole_numbers(PyObject *given, size_t *count)
{
    PyObject *items = PySequence_List(given);
    if (items == NULL)
        return NULL;
    *count = (size_t)PyList_Size(items);
    int64_t *numbers = malloc((*count + 1) * sizeof *numbers);
    if (numbers == NULL)
        PyErr_NoMemory();
    for (size_t i = 0; numbers != NULL && i < *count; i++) {
        numbers[i] = PyLong_AsLongLong(PyList_GetItem(items, (Py_ssize_t)i));
        if (PyErr_Occurred() != NULL) {
            free(numbers);
            numbers = NULL;
        }
    }
    Py_DECREF(items);
    return numbers;
}

/* scaling_graphs(num_nodes_list, avg_degree, feature_dim, seed): a list of (number of nodes, number
 * of edges, features of a node, the features as bytes of float32, the edges as bytes of int64). */
PyObject *core_scaling_graphs(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *given, *list = NULL;
    double degree;
    long long features;
    unsigned long long seed;
    size_t count;
    assay_scaling_graph *graphs = NULL;
    assay_error error = {0};
    if (!PyArg_ParseTuple(args, "OdLK:scaling_graphs", &given, &degree, &features, &seed))
        return NULL;
    int64_t *sizes = whole_numbers(given, &count);
    if (sizes == NULL)
        return NULL;
    assay_status status =
        assay_generate_scaling_graphs(sizes, count, degree, features, seed, &error, &graphs);
    free(sizes);
    if (status != ASSAY_OK)
        return core_raise(status, &error);
    list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *graph = graph_of(&graphs[i]);
        if (graph == NULL || PyList_Append(list, graph) != 0)
            Py_CLEAR(list);
        Py_XDECREF(graph);
    }
    assay_scaling_graphs_free(graphs, count);
    return list;
}
