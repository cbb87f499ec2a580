/* The type Timing, which holds the figures of repeated calls, and the benchmark that takes them
 * with libassay's sampling loop. */
#include "assay/inference.h"
#include "assay/report.h"
#include "python/core/seeds.h"

#include <math.h>
#include <stdlib.h>

typedef struct core_timing {
    PyObject_HEAD assay_timing timing;
} core_timing;

static PyObject *timing_type;

PyObject *core_timing_of(const assay_timing *timing)
{
    core_timing *object = PyObject_New(core_timing, (PyTypeObject *)timing_type);
    if (object != NULL)
        object->timing = *timing;
    return (PyObject *)object;
}

const assay_timing *core_timing_handle(PyObject *object)
{
    int fits = PyObject_IsInstance(object, timing_type);
    if (fits == 0)
        PyErr_Format(PyExc_TypeError, "a Timing is needed, not %R", object);
    return fits == 1 ? &((core_timing *)object)->timing : NULL;
}

static void timing_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *timing_dict(PyObject *self, PyObject *unused)
{
    (void)unused;
    const assay_timing *timing = &((core_timing *)self)->timing;
    PyObject *figures = PyDict_New();
    if (figures == NULL || !core_put_count(figures, "count", timing->count) ||
        !core_put_double(figures, "total_seconds", timing->total_seconds) ||
        !core_put_double(figures, "mean_seconds", timing->mean_seconds) ||
        !core_put_double(figures, "min_seconds", timing->min_seconds) ||
        !core_put_double(figures, "max_seconds", timing->max_seconds) ||
        !core_put_reading(figures, "std_seconds", timing->std_seconds) ||
        !core_put_reading(figures, "low_seconds", timing->low_seconds) ||
        !core_put_reading(figures, "high_seconds", timing->high_seconds) ||
        !core_put_reading(figures, "p50_seconds", timing->p50_seconds) ||
        !core_put_reading(figures, "p95_seconds", timing->p95_seconds) ||
        !core_put_reading(figures, "p99_seconds", timing->p99_seconds))
        Py_CLEAR(figures);
    return figures;
}

static PyObject *timing_throughput(PyObject *self, PyObject *samples)
{
    size_t count = PyLong_AsSize_t(samples);
    if (PyErr_Occurred() != NULL)
        return NULL;
    assay_reading rate = assay_timing_throughput(&((core_timing *)self)->timing, count);
    return PyFloat_FromDouble(rate.validity == ASSAY_VALID ? rate.value : NAN);
}

static PyMethodDef timing_methods[] = {
    {"dict", timing_dict, METH_NOARGS, "dict()\n--\n\nIts figures, in seconds."},
    {"throughput", timing_throughput, METH_O,
     "throughput(samples_per_call)\n--\n\nSamples per second."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot timing_slots[] = {
    {Py_tp_dealloc, timing_dealloc},
    {Py_tp_methods, timing_methods},
    {Py_tp_doc, "How long repeated calls took."},
    {0, NULL},
};

static PyType_Spec timing_spec = {
    .name = "assay._core.Timing",
    .basicsize = sizeof(core_timing),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = timing_slots,
};

PyObject *core_timing_type(void)
{
    timing_type = PyType_FromSpec(&timing_spec);
    return Py_XNewRef(timing_type);
}

/* timing(count, total, mean, std or None, min, max): figures that were taken elsewhere. */
PyObject *core_timing_make(PyObject *module, PyObject *args)
{
    (void)module;
    assay_timing timing = {0};
    unsigned long long count;
    PyObject *std;
    if (!PyArg_ParseTuple(args, "KddOdd:timing", &count, &timing.total_seconds,
                          &timing.mean_seconds, &std, &timing.min_seconds, &timing.max_seconds) ||
        !core_to_reading(std, &timing.std_seconds))
        return NULL;
    timing.count = count;
    return core_timing_of(&timing);
}

/* ---- the loop ---- */

typedef struct benchmark {
    PyObject *function, *set_up; /* borrowed; set_up may be None */
    double *seconds;
    size_t count, room;
} benchmark;

static assay_status run_once(void *context, uint64_t iterations)
{
    assay_status status = ASSAY_OK;
    for (uint64_t i = 0; i < iterations && status == ASSAY_OK; i++)
        status = core_called(PyObject_CallNoArgs(((benchmark *)context)->function));
    return status == ASSAY_OK && PyErr_CheckSignals() != 0 ? ASSAY_E_STATE : status;
}

static assay_status set_up_once(void *context)
{
    return core_called(PyObject_CallNoArgs(((benchmark *)context)->set_up));
}

static void keep_sample(void *context, const char *subject, double seconds)
{
    (void)subject;
    benchmark *self = context;
    if (self->count < self->room)
        self->seconds[self->count++] = seconds;
}

static PyObject *run_benchmark(benchmark *self, size_t warmup)
{
    assay_subject subject = ASSAY_SUBJECT_INIT;
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    assay_record *record = NULL;
    assay_error error = {0};
    assay_timing timing;
    subject.name = "call";
    subject.context = self;
    subject.run = run_once;
    if (self->set_up != Py_None)
        subject.set_up_iteration = set_up_once;
    options.runs = self->room;
    options.warmup = warmup;
    options.no_warmup = warmup == 0;
    options.sample = keep_sample;
    options.sample_context = self;
    assay_status status = assay_sampling_run(&subject, 1, &options, &error, &record);
    assay_record_free(record);
    if (status == ASSAY_OK)
        status = assay_timing_summarize(self->seconds, self->count, &timing);
    return status == ASSAY_OK ? core_timing_of(&timing) : core_raise(status, &error);
}

/* benchmark(function, set_up or None, runs, warmup): a Timing of single calls. `set_up` is called
 * before each one, outside its time. */
PyObject *core_benchmark(PyObject *module, PyObject *args)
{
    (void)module;
    benchmark self = {0};
    Py_ssize_t runs, warmup;
    if (!PyArg_ParseTuple(args, "OOnn:benchmark", &self.function, &self.set_up, &runs, &warmup))
        return NULL;
    if (runs < 1 || runs > ASSAY_SAMPLING_MAX_ROUNDS || warmup < 0) {
        PyErr_Format(PyExc_ValueError,
                     "a benchmark takes 1 to %d runs, and a warm-up of 0 or more; these are %zd "
                     "and %zd",
                     ASSAY_SAMPLING_MAX_ROUNDS, runs, warmup);
        return NULL;
    }
    self.room = (size_t)runs;
    self.seconds = calloc(self.room, sizeof *self.seconds);
    if (self.seconds == NULL)
        return PyErr_NoMemory();
    PyObject *timing = run_benchmark(&self, (size_t)warmup);
    free(self.seconds);
    return timing;
}

/* print_inference(timing, samples_per_call, model_name, file) */
PyObject *core_print_inference(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *given, *name, *file, *bytes;
    Py_ssize_t samples;
    const char *text;
    core_stream stream;
    if (!PyArg_ParseTuple(args, "OnOO:print_inference", &given, &samples, &name, &file))
        return NULL;
    const assay_timing *timing = core_timing_handle(given);
    if (timing == NULL || (bytes = core_name(name, "the name of a model", &text)) == NULL)
        return NULL;
    PyObject *result = NULL;
    if (core_stream_open(&stream)) {
        assay_status status =
            assay_print_inference_benchmark(timing, (size_t)samples, stream.file, text);
        result = core_stream_write(&stream, status, NULL, file);
    }
    Py_DECREF(bytes);
    return result;
}

/* The present time in seconds, by the clock with which assay measures. */
PyObject *core_now(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyFloat_FromDouble((double)assay_clock_now_ns(assay_clock_default()) * 1e-9);
}

static assay_status print_text(const void *text, FILE *stream, assay_error *error)
{
    (void)error;
    fputs(text, stream);
    return ASSAY_OK;
}

/* file_save(path, text): writes a file, which appears complete or not at all. */
PyObject *core_file_save(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *given, *content, *path_bytes = NULL, *text_bytes = NULL;
    const char *path, *text;
    assay_error error = {0};
    assay_status status = ASSAY_OK;
    if (!PyArg_ParseTuple(args, "OO:file_save", &given, &content))
        return NULL;
    if ((path_bytes = core_path(given, &path)) != NULL &&
        (text_bytes = core_name(content, "the content of a file", &text)) != NULL)
        status = assay_file_save(path, print_text, text, &error);
    if (status != ASSAY_OK)
        core_raise(status, &error);
    Py_XDECREF(path_bytes);
    Py_XDECREF(text_bytes);
    if (PyErr_Occurred() != NULL)
        return NULL;
    Py_RETURN_NONE;
}
