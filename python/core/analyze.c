/* compare() and fit(): they call libassay to compare records, and to fit the growth of times with
 * sizes. */
#include <stdlib.h>

#include "python/core/core.h"

/* ---- compare ---- */

typedef struct compare_side {
    const assay_record **records;
    PyObject *origin; /* bytes */
} compare_side;

typedef struct compare_call {
    PyObject *given; /* a list of (origin, list of records), borrowed */
    size_t count;
    compare_side *sides;
    assay_compare_side *views;
    assay_compare_options options;
} compare_call;

static bool prepare_side(compare_call *call, size_t index)
{
    PyObject *origin, *records;
    compare_side *side = &call->sides[index];
    assay_compare_side *view = &call->views[index];
    *view = (assay_compare_side)ASSAY_COMPARE_SIDE_INIT;
    if (!PyArg_ParseTuple(PyList_GetItem(call->given, (Py_ssize_t)index), "OO!", &origin,
                          &PyList_Type, &records))
        return false;
    side->origin = core_name(origin, "the name of a side", &view->origin);
    size_t count = (size_t)PyList_Size(records);
    side->records = calloc(count + 1, sizeof *side->records);
    if (side->records == NULL)
        PyErr_NoMemory();
    if (side->origin == NULL || side->records == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        side->records[i] = core_record_handle(PyList_GetItem(records, (Py_ssize_t)i));
        if (side->records[i] == NULL)
            return false;
    }
    view->records = side->records;
    view->count = count;
    return true;
}

static bool prepare_sides(compare_call *call)
{
    call->count = (size_t)PyList_Size(call->given);
    call->sides = calloc(call->count + 1, sizeof *call->sides);
    call->views = calloc(call->count + 1, sizeof *call->views);
    if (call->sides == NULL || call->views == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; i < call->count; i++)
        if (!prepare_side(call, i))
            return false;
    return true;
}

static void release_sides(compare_call *call)
{
    for (size_t i = 0; call->sides != NULL && i < call->count; i++) {
        free(call->sides[i].records);
        Py_XDECREF(call->sides[i].origin);
    }
    free(call->sides);
    free(call->views);
}

PyObject *core_compare(PyObject *module, PyObject *args, PyObject *keywords)
{
    (void)module;
    static char *names[] = {"sides", "margin", "metric", NULL};
    compare_call call = {.options = ASSAY_COMPARE_OPTIONS_INIT};
    assay_record *comparison = NULL;
    assay_error error = {0};
    PyObject *result = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!|dz:compare", names, &PyList_Type,
                                     &call.given, &call.options.margin, &call.options.metric))
        return NULL;
    if (prepare_sides(&call)) {
        assay_status status =
            assay_records_compare(call.views, call.count, &call.options, &error, &comparison);
        result = status == ASSAY_OK ? core_record_of(comparison) : core_raise(status, &error);
    }
    release_sides(&call);
    return result;
}

/* ---- fit ---- */

typedef struct core_growth {
    PyObject_HEAD assay_growth *handle;
} core_growth;

static PyObject *growth_type;

/* The first `count` numbers of a sequence, as an array that the caller frees. NULL with an
 * exception. */
static double *numbers_of(PyObject *sequence, size_t count)
{
    double *numbers = malloc((count + 1) * sizeof *numbers);
    if (numbers == NULL)
        PyErr_NoMemory();
    for (size_t i = 0; numbers != NULL && i < count; i++) {
        PyObject *item = PySequence_GetItem(sequence, (Py_ssize_t)i);
        numbers[i] = item != NULL ? PyFloat_AsDouble(item) : -1;
        Py_XDECREF(item);
        if (PyErr_Occurred() != NULL) {
            free(numbers);
            numbers = NULL;
        }
    }
    return numbers;
}

static PyObject *fit(const double *sizes, const double *seconds, size_t count)
{
    assay_error error = {0};
    assay_growth *growth = NULL;
    assay_status status = assay_growth_fit(sizes, seconds, count, &error, &growth);
    if (status != ASSAY_OK)
        return core_raise(status, &error);
    core_growth *object = PyObject_New(core_growth, (PyTypeObject *)growth_type);
    if (object == NULL)
        assay_growth_free(growth);
    else
        object->handle = growth;
    return (PyObject *)object;
}

PyObject *core_fit(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *sizes, *seconds, *result = NULL;
    if (!PyArg_ParseTuple(args, "OO:fit", &sizes, &seconds))
        return NULL;
    Py_ssize_t count = PySequence_Size(sizes), others = PySequence_Size(seconds);
    if (count < 0 || others < 0)
        return NULL;
    if (count != others) {
        PyErr_Format(PyExc_ValueError, "there are %zd sizes but %zd times", count, others);
        return NULL;
    }
    double *n = numbers_of(sizes, (size_t)count), *t = NULL;
    if (n != NULL && (t = numbers_of(seconds, (size_t)count)) != NULL)
        result = fit(n, t, (size_t)count);
    free(n);
    free(t);
    return result;
}

static void growth_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    assay_growth_free(((core_growth *)self)->handle);
    PyObject_Free(self);
    Py_DECREF(type);
}

typedef assay_status (*growth_printer)(const assay_growth *growth, FILE *stream,
                                       assay_error *error);

static PyObject *print_growth(PyObject *self, growth_printer print)
{
    core_stream stream;
    assay_error error = {0};
    if (!core_stream_open(&stream))
        return NULL;
    assay_status status = print(((core_growth *)self)->handle, stream.file, &error);
    return core_stream_take(&stream, status, &error);
}

static PyObject *growth_json(PyObject *self, PyObject *unused)
{
    (void)unused;
    return print_growth(self, assay_growth_print_json);
}

static PyObject *growth_text(PyObject *self, PyObject *unused)
{
    (void)unused;
    return print_growth(self, assay_growth_print);
}

static PyObject *growth_predict(PyObject *self, PyObject *size)
{
    double n = PyFloat_AsDouble(size);
    if (PyErr_Occurred() != NULL)
        return NULL;
    return core_from_reading(assay_growth_predict(((core_growth *)self)->handle, n));
}

static PyMethodDef growth_methods[] = {
    {"json", growth_json, METH_NOARGS, "json()\n--\n\nEverything that was found, as JSON."},
    {"text", growth_text, METH_NOARGS, "text()\n--\n\nThe report, with a plot."},
    {"predict", growth_predict, METH_O,
     "predict(n)\n--\n\nSeconds that the chosen class gives for a size, or None."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot growth_slots[] = {
    {Py_tp_dealloc, growth_dealloc},
    {Py_tp_methods, growth_methods},
    {Py_tp_doc, "A fit, as the core keeps it. assay.Growth is made of it."},
    {0, NULL},
};

static PyType_Spec growth_spec = {
    .name = "assay._core.Growth",
    .basicsize = sizeof(core_growth),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = growth_slots,
};

PyObject *core_growth_type(void)
{
    growth_type = PyType_FromSpec(&growth_spec);
    return Py_XNewRef(growth_type);
}
