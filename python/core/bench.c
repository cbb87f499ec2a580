/* bench(): samples Python functions as subjects of libassay's sampling loop (assay/sampling.h). The
 * interpreter lock is held all the time: subjects run in the calling thread, and other Python
 * threads must not run beside them. */
#include <stdlib.h>

#include <assay/meter.h>

#include "python/core/core.h"

/* Call the function, which takes no arguments, `iterations` times. If it fails, its exception stays
 * set. */
static assay_status run_function(void *context, uint64_t iterations)
{
    PyObject *function = context;
    for (uint64_t i = 0; i < iterations; i++) {
        PyObject *result = PyObject_CallNoArgs(function);
        if (result == NULL)
            return ASSAY_E_STATE;
        Py_DECREF(result);
    }
    return ASSAY_OK;
}

typedef struct bench_call {
    PyObject *functions, *names; /* tuples, borrowed */
    PyObject *held;              /* a list of the bytes objects that hold the names */
    assay_subject *subjects;
    size_t count;
    assay_sampling_options options;
    assay_compare_options compare;
    int energy;
} bench_call;

static bool parse(bench_call *call, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"functions", "names", "budget_seconds", "precision", "margin", "runs",
                            "warmup",    "seed",  "yardstick",      "metric",    "energy", NULL};
    Py_ssize_t runs = 0, warmup = 0;
    unsigned long long seed = 0;
    int yardstick = 0;
    assay_sampling_options *options = &call->options;
    *options = (assay_sampling_options)ASSAY_SAMPLING_OPTIONS_INIT;
    call->compare = (assay_compare_options)ASSAY_COMPARE_OPTIONS_INIT;
    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "O!O!|dddnnKpzp:bench", names, &PyTuple_Type, &call->functions,
            &PyTuple_Type, &call->names, &options->budget_seconds, &options->precision,
            &options->margin, &runs, &warmup, &seed, &yardstick, &options->metric, &call->energy))
        return false;
    call->count = (size_t)PyTuple_Size(call->functions);
    if (runs < 0 || warmup < 0 || call->count == 0 ||
        call->count != (size_t)PyTuple_Size(call->names)) {
        PyErr_SetString(PyExc_ValueError, "runs and warmup must not be negative, and there must be "
                                          "at least one function, each with a name");
        return false;
    }
    options->runs = (size_t)runs;
    options->warmup = (size_t)warmup;
    options->seed = seed;
    options->yardstick = yardstick != 0;
    call->compare.margin = options->margin;
    call->compare.metric = options->metric;
    return true;
}

static bool prepare(bench_call *call)
{
    call->subjects = calloc(call->count, sizeof *call->subjects);
    call->held = PyList_New(0);
    if (call->subjects == NULL || call->held == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; i < call->count; i++) {
        const char *name;
        PyObject *function = PyTuple_GetItem(call->functions, (Py_ssize_t)i);
        PyObject *bytes =
            core_name(PyTuple_GetItem(call->names, (Py_ssize_t)i), "the name of a function", &name);
        if (bytes == NULL || PyList_Append(call->held, bytes) != 0) {
            Py_XDECREF(bytes);
            return false;
        }
        Py_DECREF(bytes);
        call->subjects[i] = (assay_subject){.struct_size = sizeof(assay_subject),
                                            .name = name,
                                            .context = function,
                                            .run = run_function};
    }
    return true;
}

/* Start a meter if energy is asked for. If that fails, a warning says why. Returns false if the
 * warning became an exception. */
static bool start_meter(bench_call *call)
{
    assay_meter_options parts = ASSAY_METER_OPTIONS_INIT;
    assay_error error = {0};
    parts.parts = ASSAY_DEVICE_LOAD | ASSAY_DEVICE_ENERGY;
    if (!call->energy || assay_meter_new(&parts, &error, &call->options.meter) == ASSAY_OK)
        return true;
    return PyErr_WarnFormat(PyExc_RuntimeWarning, 2, "energy is unavailable: %s", error.message) ==
           0;
}

static void mark_energy(const bench_call *call, assay_record *record)
{
    const assay_reading none = assay_reading_missing(ASSAY_UNSUPPORTED);
    for (size_t i = 0; call->energy && call->options.meter == NULL && i < record->subject_count;
         i++)
        record->subjects[i].energy_joules = record->subjects[i].energy_joules_low =
            record->subjects[i].energy_joules_high = none;
}

static PyObject *sample(bench_call *call)
{
    assay_record *record = NULL;
    assay_error error = {0};
    if (!start_meter(call))
        return NULL;
    assay_status status =
        assay_sampling_run(call->subjects, call->count, &call->options, &error, &record);
    if (status == ASSAY_OK) {
        mark_energy(call, record);
        status = assay_record_describe(record);
    }
    assay_meter_free(call->options.meter);
    if (status == ASSAY_OK)
        status = assay_record_compare(record, &call->compare);
    if (status == ASSAY_OK && PyErr_Occurred() == NULL)
        return core_record_of(record);
    assay_record_free(record);
    return core_raise(status, &error);
}

PyObject *core_bench(PyObject *module, PyObject *args, PyObject *keywords)
{
    (void)module;
    bench_call call = {0};
    PyObject *record = parse(&call, args, keywords) && prepare(&call) ? sample(&call) : NULL;
    free(call.subjects);
    Py_XDECREF(call.held);
    return record;
}
