/* Timers: converts the plain dictionaries of assay.timing to timers of libassay, which prints,
 * compares and exports them. Also times single calls.
 *
 * A dictionary maps a name to seconds, or to a dictionary with "time" and further metrics. The seed
 * documents call a metric "peak_memory_mb" where libassay has "peak_memory_bytes". So keys that end
 * in _mb are translated, which is exact, because an MB is 2^20 bytes. "inside" names the entry that
 * encloses this one.
 */
#include "python/core/seeds.h"

#include <math.h>
#include <string.h>

static const double mb = 1024.0 * 1024.0;
static const char in_mb[] = "_mb", in_bytes[] = "_bytes";

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

/* ---- a dictionary as timers ---- */

/* Set the exception for a status other than ASSAY_OK. Returns whether the status is ASSAY_OK. */
static bool refuse(assay_status status, PyObject *name)
{
    if (status == ASSAY_E_ARGUMENT)
        PyErr_Format(PyExc_ValueError, "the time of %R must be finite and not negative", name);
    else if (status == ASSAY_E_LIMIT)
        PyErr_Format(PyExc_ValueError,
                     "timers have room for %d entries of %d metrics, whose names have %d bytes at "
                     "most; %R is too much",
                     ASSAY_TIMERS_MAX, ASSAY_TIMER_METRICS, ASSAY_TIMER_KEY_MAX, name);
    else if (status != ASSAY_OK)
        core_raise(status, NULL);
    return status == ASSAY_OK;
}

/* The reason for a missing figure, from the dictionary "unavailable" beside it. */
static assay_validity reason_of(PyObject *metrics, PyObject *key)
{
    PyObject *reasons = PyDict_GetItemString(metrics, "unavailable");
    PyObject *reason =
        reasons != NULL && PyDict_Check(reasons) ? PyDict_GetItemWithError(reasons, key) : NULL;
    PyErr_Clear();
    if (reason == NULL || !PyUnicode_Check(reason))
        return ASSAY_NOT_MEASURED;
    for (int i = ASSAY_VALID + 1; i <= ASSAY_NOT_ENOUGH_DATA; i++)
        if (PyUnicode_CompareWithASCIIString(reason, assay_validity_text((assay_validity)i)) == 0)
            return (assay_validity)i;
    return ASSAY_NOT_MEASURED;
}

static bool add_metric(assay_timers *timers, const char *name, PyObject *name_object,
                       PyObject *metrics, PyObject *key, PyObject *value)
{
    char translated[ASSAY_TIMER_KEY_MAX + 1 + sizeof in_bytes];
    const char *text;
    assay_reading reading;
    PyObject *bytes = core_name(key, "the name of a metric", &text);
    if (bytes == NULL)
        return false;
    bool good = strcmp(text, "unavailable") == 0 || strcmp(text, "inside") == 0;
    if (!good && !core_to_reading(value, &reading)) {
        PyErr_Format(PyExc_TypeError, "the metric %R of %R must be a number, not %R", key,
                     name_object, value);
    } else if (!good) {
        if (reading.validity != ASSAY_VALID)
            reading.validity = reason_of(metrics, key);
        if (ends_in(text, in_mb) && strlen(text) <= ASSAY_TIMER_KEY_MAX) {
            snprintf(translated, sizeof translated, "%.*s%s", (int)(strlen(text) - strlen(in_mb)),
                     text, in_bytes);
            if (strlen(translated) <= ASSAY_TIMER_KEY_MAX) {
                text = translated;
                reading.value *= mb;
            }
        }
        good = refuse(assay_timers_set_metric(timers, name, text, reading), name_object);
    }
    Py_DECREF(bytes);
    return good;
}

static bool add_metrics(assay_timers *timers, const char *name, PyObject *name_object,
                        PyObject *metrics)
{
    PyObject *key, *value;
    Py_ssize_t place = 0;
    assay_reading missing = assay_reading_missing(ASSAY_NOT_MEASURED);
    if (!refuse(assay_timers_set_metric(timers, name, "time", missing), name_object))
        return false;
    while (PyDict_Next(metrics, &place, &key, &value))
        if (!add_metric(timers, name, name_object, metrics, key, value))
            return false;
    return true;
}

static bool add_seconds(assay_timers *timers, const char *name, PyObject *name_object,
                        PyObject *seconds)
{
    assay_reading reading;
    if (!core_to_reading(seconds, &reading)) {
        PyErr_Format(PyExc_TypeError,
                     "the timer %R must be a number of seconds or a dictionary with 'time', not %R",
                     name_object, seconds);
        return false;
    }
    return refuse(assay_timers_set_metric(timers, name, "time", reading), name_object);
}

static bool add_entry(assay_timers *timers, PyObject *name_object, PyObject *value)
{
    const char *name;
    PyObject *bytes = core_name(name_object, "the name of a timer", &name);
    if (bytes == NULL)
        return false;
    bool good = PyDict_Check(value) ? add_metrics(timers, name, name_object, value)
                                    : add_seconds(timers, name, name_object, value);
    Py_DECREF(bytes);
    return good;
}

/* The name of the enclosing entry: the key "inside" of a dictionary, or the attribute `inside` of a
 * float. NULL if there is none. */
static PyObject *enclosing(PyObject *value)
{
    PyObject *inside = PyDict_Check(value) ? Py_XNewRef(PyDict_GetItemString(value, "inside"))
                                           : PyObject_GetAttrString(value, "inside");
    PyErr_Clear();
    return inside;
}

static bool enclose(assay_timers *timers, PyObject *name_object, PyObject *value)
{
    const char *name, *parent;
    PyObject *inside = enclosing(value), *name_bytes = NULL, *parent_bytes = NULL;
    bool good = inside == NULL || inside == Py_None;
    if (!good && (name_bytes = core_name(name_object, "the name of a timer", &name)) != NULL &&
        (parent_bytes = core_name(inside, "'inside'", &parent)) != NULL) {
        assay_status status = assay_timers_set_parent(timers, name, parent);
        good = status == ASSAY_OK || status == ASSAY_E_NOT_FOUND; /* the parent was removed */
        if (!good)
            PyErr_Format(PyExc_ValueError, "the timer %R is inside itself", name_object);
    }
    Py_XDECREF(inside);
    Py_XDECREF(name_bytes);
    Py_XDECREF(parent_bytes);
    return good;
}

/* Timers with the entries of a dictionary. The caller frees them. NULL with an exception. */
static assay_timers *timers_of(PyObject *dictionary)
{
    PyObject *name, *value;
    Py_ssize_t place = 0;
    assay_timers *timers = NULL;
    if (!PyDict_Check(dictionary)) {
        PyErr_Format(PyExc_TypeError, "timers must be a dictionary, not %R", dictionary);
        return NULL;
    }
    assay_status status = assay_timers_new(NULL, &timers);
    if (status != ASSAY_OK) {
        core_raise(status, NULL);
        return NULL;
    }
    bool good = true;
    while (good && PyDict_Next(dictionary, &place, &name, &value))
        good = add_entry(timers, name, value);
    place = 0;
    while (good && PyDict_Next(dictionary, &place, &name, &value))
        good = enclose(timers, name, value);
    if (!good) {
        assay_timers_free(timers);
        return NULL;
    }
    return timers;
}

/* ---- printing, comparing and exporting ---- */

/* timers_print(timers, table, text or None, count, file). The meaning of `text` depends on the
 * table: it is the name of the section for "summary", the baseline for "speedup", and otherwise the
 * name of the entry whose progress line is printed. */
PyObject *core_timers_print(PyObject *module, PyObject *args)
{
    (void)module;
    const char *table, *text;
    PyObject *dictionary, *file;
    Py_ssize_t count;
    core_stream stream;
    assay_error error = {0};
    if (!PyArg_ParseTuple(args, "OsznO:timers_print", &dictionary, &table, &text, &count, &file))
        return NULL;
    assay_timers *timers = timers_of(dictionary);
    if (timers == NULL)
        return NULL;
    PyObject *result = NULL;
    if (core_stream_open(&stream)) {
        assay_status status = ASSAY_OK;
        if (strcmp(table, "summary") == 0)
            status = assay_print_timing_summary(timers, stream.file, text, (size_t)count);
        else if (strcmp(table, "speedup") == 0)
            status = assay_print_speedup_analysis(timers, stream.file, text, &error);
        else
            status = assay_timers_print_progress(timers, stream.file, text);
        if (status == ASSAY_E_NOT_FOUND)
            status = ASSAY_E_ARGUMENT; /* must not become a FileNotFoundError */
        result = core_stream_write(&stream, status, &error, file);
    }
    assay_timers_free(timers);
    return result;
}

/* timers_export(timers, path, section, as_json) */
PyObject *core_timers_export(PyObject *module, PyObject *args)
{
    (void)module;
    const char *section, *path;
    PyObject *dictionary, *given;
    int as_json;
    assay_error error = {0};
    if (!PyArg_ParseTuple(args, "OOzp:timers_export", &dictionary, &given, &section, &as_json))
        return NULL;
    PyObject *bytes = core_path(given, &path);
    assay_timers *timers = bytes != NULL ? timers_of(dictionary) : NULL;
    if (timers != NULL) {
        assay_status status = as_json ? assay_export_timing_json(timers, path, section, &error)
                                      : assay_export_timing_csv(timers, path, section, &error);
        if (status != ASSAY_OK)
            core_raise(status, &error);
    }
    assay_timers_free(timers);
    Py_XDECREF(bytes);
    if (PyErr_Occurred() != NULL)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *speedups(const assay_timers *timers, const char *baseline)
{
    size_t count = assay_timers_count(timers);
    assay_error error = {0};
    assay_speedup *ratios = PyMem_Malloc((count + 1) * sizeof *ratios);
    if (ratios == NULL)
        return PyErr_NoMemory();
    assay_status status = assay_speedup_ratios(timers, baseline, &error, ratios, NULL);
    PyObject *found = status == ASSAY_OK ? PyDict_New() : NULL;
    for (size_t i = 0; found != NULL && i < count; i++) {
        assay_reading ratio = ratios[i].ratio;
        double shown = ratio.validity == ASSAY_VALID ? ratio.value : NAN;
        if (!core_put_double(found, ratios[i].name, shown))
            Py_CLEAR(found);
    }
    PyMem_Free(ratios);
    if (status != ASSAY_OK)
        core_raise(status == ASSAY_E_NOT_FOUND ? ASSAY_E_ARGUMENT : status, &error);
    return found;
}

/* timers_speedups(timers, baseline or None): {name: ratio} */
PyObject *core_timers_speedups(PyObject *module, PyObject *args)
{
    (void)module;
    const char *baseline;
    PyObject *dictionary;
    if (!PyArg_ParseTuple(args, "Oz:timers_speedups", &dictionary, &baseline))
        return NULL;
    assay_timers *timers = timers_of(dictionary);
    PyObject *found = timers == NULL                   ? NULL
                      : assay_timers_count(timers) > 0 ? speedups(timers, baseline)
                                                       : PyDict_New();
    assay_timers_free(timers);
    return found;
}

/* ---- measuring ---- */

/* The timers of all calls, with one entry that each call overwrites. They are kept, because memory
 * is counted from the time at which tracking was enabled on them. */
static assay_timers *measuring;

static bool prepare_measuring(void)
{
    assay_status status = measuring != NULL ? ASSAY_OK : assay_timers_new(NULL, &measuring);
    if (status != ASSAY_OK)
        core_raise(status, NULL);
    return status == ASSAY_OK;
}

PyObject *core_memory_tracking(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    if (!prepare_measuring())
        return NULL;
    switch (assay_enable_memory_tracking(measuring)) {
    case ASSAY_MEMORY_SOURCE_HEAP:
        return PyUnicode_FromString("heap");
    case ASSAY_MEMORY_SOURCE_RESIDENT:
        return PyUnicode_FromString("resident");
    default:
        Py_RETURN_NONE;
    }
}

typedef struct timed_call {
    PyObject *function, *args, *keywords;
} timed_call;

static void *call_function(void *argument)
{
    const timed_call *call = argument;
    return PyObject_Call(call->function, call->args, call->keywords);
}

/* The figures of the call that just ended, under their names in Python. */
static PyObject *figures_of_call(void)
{
    /* While objects are made, another thread may run and end a call of its own, which overwrites
     * the entry. So the figures are copied first. */
    assay_timer timer = assay_timers_at(measuring, 0);
    assay_timer_metric metrics[ASSAY_TIMER_METRICS];
    memcpy(metrics, timer.metrics, timer.metric_count * sizeof *metrics);
    PyObject *figures = PyDict_New();
    bool good = figures != NULL && core_put_reading(figures, "time", timer.time);
    for (size_t i = 0; good && i < timer.metric_count; i++) {
        char *key = metrics[i].key;
        assay_reading value = metrics[i].value;
        if (ends_in(key, in_bytes)) {
            memcpy(key + strlen(key) - strlen(in_bytes), in_mb, sizeof in_mb);
            value.value /= mb;
        }
        good = core_put_reading(figures, key, value);
    }
    if (!good)
        Py_CLEAR(figures);
    return figures;
}

/* timed_call(kind, function, args, keywords): calls the function and returns (its result, its
 * figures). `kind` is "time", "memory" or "gpu". */
PyObject *core_timed_call(PyObject *module, PyObject *args)
{
    (void)module;
    static const char entry[] = "call";
    const char *kind;
    timed_call call;
    if (!PyArg_ParseTuple(args, "sOO!O!:timed_call", &kind, &call.function, &PyTuple_Type,
                          &call.args, &PyDict_Type, &call.keywords) ||
        !prepare_measuring())
        return NULL;
    PyObject *result = strcmp(kind, "memory") == 0
                           ? assay_track_time_and_memory(measuring, entry, call_function, &call)
                       : strcmp(kind, "gpu") == 0
                           ? assay_track_time_and_gpu(measuring, entry, call_function, &call)
                           : assay_track_time(measuring, entry, call_function, &call);
    PyObject *figures = result != NULL ? figures_of_call() : NULL;
    PyObject *both = figures != NULL ? PyTuple_Pack(2, result, figures) : NULL;
    Py_XDECREF(figures);
    Py_XDECREF(result);
    return both;
}
