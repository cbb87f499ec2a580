/* The extension module assay._models: functions of libassay_models that need the numerics of the
 * models, and with them OpenBLAS. It is a module of its own, so that programs that only measure do
 * not load these libraries.
 *
 * The figures are passed through the files that the library writes. assay/generation.py reads these
 * files, so that their keys are defined in one place only.
 */
#include "assay/trajectories.h"
#include "assay/model.h"
#include "python/core/core.h"

enum { SIGNALS_EVERY_NS = 50 * 1000 * 1000 };

typedef struct routes_call {
    assay_trajectory_options options;
    PyThreadState *thread;       /* saved while the interpreter lock is released */
    uint64_t looked_ns;          /* when signals were last checked */
    int64_t origin, destination; /* of the single search, if `pair` is given */
    assay_error error;
} routes_call;

/* Parse the options of both functions. Most have the names of the fields of
 * assay_trajectory_options. */
static bool parse(PyObject *args, PyObject *keywords, routes_call *call)
{
    static char *names[] = {"dataset",
                            "roads",
                            "drives",
                            "seed",
                            "from_train",
                            "model_path",
                            "output_file",
                            "num_gene",
                            "beam_search",
                            "beam_width",
                            "generated_file",
                            "generation_performance_file",
                            "performance_file",
                            "results_file",
                            "pair",
                            "device",
                            NULL};
    assay_trajectory_options *options = &call->options;
    Py_ssize_t roads = 0, drives = 0, num_gene = 0, beam_width = 0;
    unsigned long long seed = 0;
    long long origin = 0, destination = 0;
    PyObject *pair = Py_None;
    int from_train = 0, beam_search = 0;
    *options = (assay_trajectory_options)ASSAY_TRAJECTORY_OPTIONS_INIT;
    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "|$znnKpzznpnzzzzOz:trajectories", names, &options->dataset, &roads,
            &drives, &seed, &from_train, &options->model_path, &options->output_file, &num_gene,
            &beam_search, &beam_width, &options->generated_file,
            &options->generation_performance_file, &options->performance_file,
            &options->results_file, &pair, &options->device))
        return false;
    if (pair != Py_None && !PyArg_ParseTuple(pair, "LL:pair", &origin, &destination))
        return false;
    if (roads < 0 || drives < 0 || num_gene < 0 || beam_width < 0) {
        PyErr_SetString(PyExc_ValueError, "counts must not be negative");
        return false;
    }
    options->roads = (size_t)roads;
    options->drives = (size_t)drives;
    options->num_gene = (size_t)num_gene;
    options->beam_width = (size_t)beam_width;
    call->origin = origin;
    call->destination = destination;
    if (pair != Py_None) {
        options->num_gene = 1;
        options->origin_road_ids = &call->origin;
        options->destination_road_ids = &call->destination;
    }
    options->seed = seed;
    options->beam_search = beam_search != 0;
    options->od_source = from_train ? ASSAY_OD_TRAIN : ASSAY_OD_TEST;
    return true;
}

/* Called between searches. Returns false if the user pressed Ctrl-C, which is checked every
 * SIGNALS_EVERY_NS, because the check needs the interpreter lock. */
static bool go_on(void *context, double share)
{
    (void)share;
    routes_call *call = context;
    uint64_t now = assay_clock_now_ns(assay_clock_default());
    if (now - call->looked_ns < SIGNALS_EVERY_NS)
        return true;
    call->looked_ns = now;
    PyEval_RestoreThread(call->thread);
    bool stop = PyErr_CheckSignals() != 0;
    call->thread = PyEval_SaveThread();
    return !stop;
}

/* generate(**options): returns (number of searches, number of trajectories found, printed text). */
static PyObject *generate(PyObject *module, PyObject *args, PyObject *keywords)
{
    (void)module;
    routes_call call = {0};
    assay_generation *generation = NULL;
    core_stream stream;
    if (!parse(args, keywords, &call))
        return NULL;
    call.options.advance = go_on;
    call.options.context = &call;
    call.thread = PyEval_SaveThread();
    assay_status status =
        assay_generate_trajectories_programmatic(&call.options, &call.error, &generation);
    PyEval_RestoreThread(call.thread);
    if (status != ASSAY_OK || PyErr_Occurred() != NULL) {
        assay_generation_free(generation);
        return core_raise(status, &call.error);
    }
    PyObject *result = NULL;
    if (core_stream_open(&stream)) {
        assay_generation_print(generation, stream.file);
        result = Py_BuildValue("nnN", (Py_ssize_t)generation->num_searched,
                               (Py_ssize_t)generation->num_generated,
                               core_stream_take(&stream, ASSAY_OK, NULL));
    }
    assay_generation_free(generation);
    return result;
}

/* evaluate(**options): returns the printed text. The results are in the results file. */
static PyObject *evaluate(PyObject *module, PyObject *args, PyObject *keywords)
{
    (void)module;
    routes_call call = {0};
    assay_trajectory_results results;
    core_stream stream;
    if (!parse(args, keywords, &call))
        return NULL;
    call.thread = PyEval_SaveThread();
    assay_status status =
        assay_evaluate_trajectories_programmatic(&call.options, &call.error, &results);
    PyEval_RestoreThread(call.thread);
    if (status != ASSAY_OK)
        return core_raise(status, &call.error);
    if (!core_stream_open(&stream))
        return NULL;
    if (results.has_generation_performance) {
        const assay_generation generation = {.performance = results.generation_performance};
        assay_generation_print(&generation, stream.file);
    }
    assay_trajectory_results_print(&results, stream.file);
    return core_stream_take(&stream, ASSAY_OK, NULL);
}

/* Return None if next-road models can run on that device; otherwise raise the reason. */
static PyObject *check_device(PyObject *module, PyObject *name)
{
    (void)module;
    const char *device = PyUnicode_AsUTF8AndSize(name, NULL);
    const assay_model_class *class_ = NULL;
    assay_error error = {0};
    if (device == NULL)
        return NULL;
    assay_status status;
    Py_BEGIN_ALLOW_THREADS /* the first call compiles the kernels, which takes a second */
        status = assay_model_find("next_road", &error, &class_);
    if (status == ASSAY_OK)
        status = assay_model_class_on(class_, device, &error, &class_);
    Py_END_ALLOW_THREADS;
    if (status != ASSAY_OK)
        return core_raise(status, &error);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"generate", (PyCFunction)(void (*)(void))generate, METH_VARARGS | METH_KEYWORDS,
     "generate(**options)\n--\n\nSearch, and write what was found."},
    {"evaluate", (PyCFunction)(void (*)(void))evaluate, METH_VARARGS | METH_KEYWORDS,
     "evaluate(**options)\n--\n\nCompare what was generated with what is real."},
    {"check_device", check_device, METH_O,
     "check_device(name)\n--\n\nRaise why searches cannot run on that device."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "assay._models",
    .m_doc = "The models of assay, for assay.generation.",
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__models(void)
{
    return PyModuleDef_Init(&definition);
}
