/* The type Record, which wraps an assay_record and prints it as JSON, text or SVG. Dictionaries and
 * data frames are made from the JSON in Python (assay/_monitor.py), so that there is only one list
 * of the fields. */
#include "python/core/core.h"

#include "assay/plot.h"

typedef struct core_record {
    PyObject_HEAD assay_record *handle;
} core_record;

static PyObject *record_type, *record_class;

PyObject *core_record_of(assay_record *record)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot((PyTypeObject *)record_class, Py_tp_alloc);
    core_record *object = (core_record *)allocate((PyTypeObject *)record_class, 0);
    if (object == NULL)
        assay_record_free(record);
    else
        object->handle = record;
    return (PyObject *)object;
}

const assay_record *core_record_handle(PyObject *object)
{
    int fits = PyObject_IsInstance(object, record_type);
    if (fits == 0)
        PyErr_Format(PyExc_TypeError, "a Record is needed, not %R", object);
    return fits == 1 ? ((core_record *)object)->handle : NULL;
}

static void record_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    assay_record_free(((core_record *)self)->handle);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyObject *record_json(PyObject *self, PyObject *args)
{
    int compact = 0, events = 0;
    core_stream stream;
    assay_error error = {0};
    if (!PyArg_ParseTuple(args, "|pp:json", &compact, &events) || !core_stream_open(&stream))
        return NULL;
    unsigned flags =
        (compact ? ASSAY_RECORD_COMPACT : 0u) | (events ? (unsigned)ASSAY_RECORD_EVENTS : 0u);
    assay_status status =
        assay_record_print(((core_record *)self)->handle, stream.file, flags, &error);
    return core_stream_take(&stream, status, &error);
}

static void name_formats(const char *name, assay_error *error)
{
    size_t count, length = 0, room = sizeof error->message;
    const assay_report_format *formats = assay_report_formats(&count);
    length += (size_t)snprintf(error->message, room, "there is no report format '%.40s'; there are",
                               name);
    for (size_t i = 0; i < count && length < room; i++)
        length += (size_t)snprintf(error->message + length, room - length, "%s%s",
                                   i > 0 ? ", " : " ", formats[i].name);
}

static PyObject *record_text(PyObject *self, PyObject *format)
{
    const char *name;
    core_stream stream;
    assay_error error = {0};
    PyObject *bytes = core_name(format, "the name of a format", &name);
    PyObject *text = NULL;
    if (bytes != NULL && core_stream_open(&stream)) {
        assay_status status =
            assay_report_print(((core_record *)self)->handle, name, stream.file, &error);
        if (status == ASSAY_E_NOT_FOUND) { /* must not become a FileNotFoundError */
            status = ASSAY_E_ARGUMENT;
            name_formats(name, &error);
        }
        text = core_stream_take(&stream, status, &error);
    }
    Py_XDECREF(bytes);
    return text;
}

static PyObject *record_svg(PyObject *self, PyObject *args)
{
    const char *kind;
    Py_ssize_t width;
    core_stream stream;
    assay_error error = {0};
    assay_plot_settings settings = ASSAY_PLOT_SETTINGS_INIT;
    if (!PyArg_ParseTuple(args, "szzn:svg", &kind, &settings.of, &settings.title, &width))
        return NULL;
    if (width < 0)
        return PyErr_Format(PyExc_ValueError, "the width is %zd, below 0", width);
    if (!core_stream_open(&stream))
        return NULL;
    settings.width = (size_t)width;
    assay_status status =
        assay_plot_print(((core_record *)self)->handle, kind, &settings, stream.file, &error);
    if (status == ASSAY_E_NOT_FOUND)
        status = ASSAY_E_ARGUMENT; /* must not become a FileNotFoundError */
    return core_stream_take(&stream, status, &error);
}

static PyObject *record_save(PyObject *self, PyObject *args)
{
    const char *path;
    PyObject *given, *bytes;
    int events = 0;
    assay_error error = {0};
    if (!PyArg_ParseTuple(args, "O|p:save", &given, &events) ||
        (bytes = core_path(given, &path)) == NULL)
        return NULL;
    assay_status status = assay_record_save(((core_record *)self)->handle, path,
                                            events ? ASSAY_RECORD_EVENTS : 0, &error);
    Py_DECREF(bytes);
    if (status != ASSAY_OK)
        return core_raise(status, &error);
    Py_RETURN_NONE;
}

static PyMethodDef record_methods[] = {
    {"json", record_json, METH_VARARGS, "json(compact=False, events=False)\n--\n\nIts JSON."},
    {"text", record_text, METH_O, "text(format)\n--\n\nIts report in one of the formats."},
    {"svg", record_svg, METH_VARARGS, "svg(kind, of, title, width)\n--\n\nIts plot as SVG."},
    {"save", record_save, METH_VARARGS,
     "save(path, events=False)\n--\n\nReplace a file by its JSON."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot record_slots[] = {
    {Py_tp_dealloc, record_dealloc},
    {Py_tp_methods, record_methods},
    {Py_tp_doc, "A run record, as the core keeps it. assay.Record is made of it."},
    {0, NULL},
};

static PyType_Spec record_spec = {
    .name = "assay._core.Record",
    .basicsize = sizeof(core_record),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = record_slots,
};

int core_record_use_class(PyObject *given)
{
    return core_use_class(&record_class, record_type, given);
}

PyObject *core_record_type(void)
{
    record_type = PyType_FromSpec(&record_spec);
    record_class = Py_XNewRef(record_type);
    return Py_XNewRef(record_type);
}

/* ---- reading ---- */

typedef assay_status (*record_source)(const char *path, assay_error *error, assay_record **record);

static PyObject *record_from(PyObject *given, record_source source)
{
    const char *path;
    assay_record *record = NULL;
    assay_error error = {0};
    PyObject *bytes = core_path(given, &path);
    if (bytes == NULL)
        return NULL;
    assay_status status = source(path, &error, &record);
    Py_DECREF(bytes);
    return status == ASSAY_OK ? core_record_of(record) : core_raise(status, &error);
}

PyObject *core_load(PyObject *module, PyObject *path)
{
    (void)module;
    return record_from(path, assay_record_load);
}

static assay_status snapshot(const char *path, assay_error *error, assay_record **record)
{
    return assay_snapshot_files(&path, 1, NULL, error, record);
}

PyObject *core_snapshot(PyObject *module, PyObject *path)
{
    (void)module;
    return record_from(path, snapshot);
}
