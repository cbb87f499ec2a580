/* The runtime profile (document A of docs/seed-map.md): times forecasts, and returns profiles as
 * the JSON that libassay writes. The package makes its dictionaries from that JSON, so that the
 * keys are defined in one place only. */
#include "assay/runtime.h"
#include "python/core/seeds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static assay_status run_forecast(void *context, uint64_t steps)
{
    PyObject *count = PyLong_FromUnsignedLongLong(steps);
    if (count == NULL)
        return ASSAY_E_MEMORY;
    PyObject *result = PyObject_CallFunctionObjArgs(context, count, NULL);
    Py_DECREF(count);
    return core_called(result);
}

/* forecast_benchmark(function of the number of steps, n_steps, trials, warmup): returns two
 * Timings, of a single step and of all n_steps steps. */
PyObject *core_forecast_benchmark(PyObject *module, PyObject *args)
{
    (void)module;
    assay_forecast forecast = {.run = run_forecast};
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    assay_timing single, full;
    assay_error error = {0};
    PyObject *function;
    unsigned long long steps;
    Py_ssize_t trials, warmup;
    if (!PyArg_ParseTuple(args, "OKnn:forecast_benchmark", &function, &steps, &trials, &warmup))
        return NULL;
    if (trials < 1 || warmup < 0) {
        PyErr_Format(PyExc_ValueError,
                     "a benchmark takes 1 trial or more, and a warm-up of 0 or "
                     "more; these are %zd and %zd",
                     trials, warmup);
        return NULL;
    }
    forecast.context = function;
    options.runs = (size_t)trials;
    options.warmup = (size_t)warmup;
    options.no_warmup = warmup == 0;
    assay_status status =
        assay_forecast_benchmark(&forecast, steps, &options, &error, &single, &full);
    if (status != ASSAY_OK)
        return core_raise(status, &error);
    return Py_BuildValue("NN", core_timing_of(&single), core_timing_of(&full));
}

/* The shape of a model of the kind "mvar", "lstm" or "". The meaning of the two sizes depends on
 * the kind. */
static bool shape_of(const char *kind, unsigned long long latent_dim, unsigned long long first,
                     unsigned long long second, assay_complexity_shape *shape)
{
    *shape = (assay_complexity_shape){.kind = ASSAY_RUNTIME_OTHER, .latent_dim = latent_dim};
    if (strcmp(kind, "mvar") == 0) {
        shape->kind = ASSAY_RUNTIME_MVAR;
        shape->lag = first;
    } else if (strcmp(kind, "lstm") == 0) {
        shape->kind = ASSAY_RUNTIME_LSTM;
        shape->hidden_size = first;
        shape->num_layers = second;
    }
    return true;
}

static bool optional_timing(PyObject *given, assay_timing *timing)
{
    if (given == Py_None)
        return true;
    const assay_timing *found = core_timing_handle(given);
    if (found != NULL)
        *timing = *found;
    return found != NULL;
}

/* profile_json(name, training_seconds or None, single or None, full or None, steps, parameters,
 * bytes per parameter, latent_dim, kind, size, size): the JSON of a profile. Without a Timing of
 * the whole forecast, there is no throughput. */
PyObject *core_profile_json(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *name, *training, *single, *full, *bytes = NULL, *text = NULL;
    unsigned long long steps, parameters, latent_dim, first, second;
    Py_ssize_t size;
    const char *kind;
    assay_runtime_profile profile = {0};
    assay_complexity_shape shape;
    assay_error error = {0};
    core_stream stream;
    if (!PyArg_ParseTuple(args, "OOOOKKnKsKK:profile_json", &name, &training, &single, &full,
                          &steps, &parameters, &size, &latent_dim, &kind, &first, &second) ||
        !core_to_reading(training, &profile.training_seconds) ||
        !optional_timing(single, &profile.inference_single_step) ||
        !optional_timing(full, &profile.inference_full_trajectory) ||
        !shape_of(kind, latent_dim, first, second, &shape) ||
        (bytes = core_name(name, "the name of a model", &profile.model_name)) == NULL)
        return NULL;
    assay_status status = assay_measure_memory(parameters, (size_t)size, &profile.memory);
    if (status == ASSAY_OK && full != Py_None)
        status = assay_compute_throughput(&profile.inference_full_trajectory, steps, latent_dim,
                                          &profile.throughput);
    if (status == ASSAY_OK)
        status = assay_analyze_complexity(&shape, parameters, &profile.complexity);
    if (status != ASSAY_OK) {
        core_raise(status, &error);
    } else if (core_stream_open(&stream)) {
        status = assay_runtime_profile_print(&profile, stream.file, &error);
        text = core_stream_take(&stream, status, &error);
    }
    Py_DECREF(bytes);
    return text;
}

/* One profile of a comparison: (name as bytes, training_seconds, seconds_per_step, parameter bytes,
 * parameters); figures may be NaN. */
static bool profile_of(PyObject *given, assay_runtime_profile *profile)
{
    char *name;
    double training, step, bytes, parameters;
    if (!PyArg_ParseTuple(given, "ydddd", &name, &training, &step, &bytes, &parameters))
        return false;
    *profile = (assay_runtime_profile){.model_name = name};
    profile->training_seconds =
        isnan(training) ? assay_reading_missing(ASSAY_NOT_MEASURED) : assay_reading_of(training);
    profile->throughput.seconds_per_step = isnan(step) ? 0 : step;
    profile->memory.parameter_bytes = bytes;
    profile->memory.model_parameters = (uint64_t)parameters;
    return true;
}

static PyObject *compare(const assay_runtime_profile *profiles, size_t count)
{
    assay_runtime_comparison comparison;
    assay_error error = {0};
    core_stream stream;
    PyObject *text = NULL;
    assay_status status = assay_compare_models(profiles, count, &comparison);
    if (status != ASSAY_OK)
        return core_raise(status, NULL);
    if (core_stream_open(&stream)) {
        status = assay_runtime_comparison_print(&comparison, stream.file, &error);
        text = core_stream_take(&stream, status, &error);
    }
    assay_runtime_comparison_release(&comparison);
    return text;
}

PyObject *core_comparison_json(PyObject *module, PyObject *given)
{
    (void)module;
    size_t count = PyList_Check(given) ? (size_t)PyList_Size(given) : 0;
    if (count < 2) {
        PyErr_SetString(PyExc_ValueError, "compare_models() takes a list of two profiles or more");
        return NULL;
    }
    assay_runtime_profile *profiles = calloc(count, sizeof *profiles);
    if (profiles == NULL)
        return PyErr_NoMemory();
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        good = profile_of(PyList_GetItem(given, (Py_ssize_t)i), &profiles[i]);
    PyObject *text = good ? compare(profiles, count) : NULL;
    free(profiles);
    return text;
}
