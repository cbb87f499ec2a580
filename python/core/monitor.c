/* The type Monitor, which wraps assay_monitor, and the default monitor. All monitors that are open
 * are in a list, so that they can be closed when the interpreter ends. */
#include <math.h>
#include <string.h>

#include "python/core/core.h"

static PyObject *monitor_type, *monitor_class;
static core_monitor *open_monitors;
static core_monitor *default_monitor; /* owned, or NULL */
static bool ending;                   /* the interpreter is ending */

static void link_open(core_monitor *monitor)
{
    monitor->next = open_monitors;
    monitor->link = &open_monitors;
    if (open_monitors != NULL)
        open_monitors->link = &monitor->next;
    open_monitors = monitor;
}

static void unlink_open(core_monitor *monitor)
{
    *monitor->link = monitor->next;
    if (monitor->next != NULL)
        monitor->next->link = monitor->link;
}

static void close_handle(core_monitor *monitor)
{
    if (monitor->handle == NULL)
        return;
    core_lanes_forget(monitor);
    unlink_open(monitor);
    assay_monitor_free(monitor->handle);
    monitor->handle = NULL;
}

/* The handle of a monitor. NULL with an exception if the monitor is closed. */
static assay_monitor *handle_of(PyObject *self)
{
    assay_monitor *handle = ((core_monitor *)self)->handle;
    if (handle == NULL)
        PyErr_SetString(PyExc_ValueError, "the monitor is closed");
    return handle;
}

/* ---- life cycle ---- */

/* Translate the argument `memory` into bits of assay_monitor_memory. It is True, False, or words
 * with commas between them. Returns false with an exception. */
static bool memory_modes(PyObject *given, unsigned *modes)
{
    static const struct {
        const char *name;
        unsigned mode;
    } known[] = {{"rss", ASSAY_MEMORY_RSS},
                 {"heap", ASSAY_MEMORY_HEAP},
                 {"peak", ASSAY_MEMORY_PEAK},
                 {"off", ASSAY_MEMORY_OFF}};
    const char *text;
    PyObject *bytes = NULL;
    *modes = given == Py_False ? ASSAY_MEMORY_OFF : ASSAY_MEMORY_SAMPLED;
    if (given == NULL || given == Py_None || PyBool_Check(given))
        return true;
    bytes = core_name(given, "memory", &text);
    if (bytes == NULL)
        return false;
    while (*text != '\0') {
        size_t length = strcspn(text, ", "), i = 0;
        size_t count = sizeof known / sizeof *known;
        while (i < count &&
               (strlen(known[i].name) != length || strncmp(text, known[i].name, length) != 0))
            i++;
        if (i == count) {
            PyErr_Format(PyExc_ValueError,
                         "memory must be True, False, \"rss\", \"heap\" or \"peak\", not %R",
                         given);
            Py_DECREF(bytes);
            return false;
        }
        *modes |= known[i].mode;
        text += length;
        text += strspn(text, ", ");
    }
    Py_DECREF(bytes);
    return true;
}

static int open_monitor(core_monitor *monitor, const assay_monitor_options *options)
{
    assay_error error = {0};
    assay_status status = assay_monitor_open(options, &error, &monitor->handle);
    if (status != ASSAY_OK) {
        core_raise(status, &error);
        return -1;
    }
    link_open(monitor);
    return 0;
}

static int monitor_init(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"name",         "enabled", "memory", "journal",
                            "trace_events", "samples", NULL};
    core_monitor *monitor = (core_monitor *)self;
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    PyObject *name = Py_None, *memory = NULL, *journal = Py_None, *name_bytes = NULL;
    PyObject *journal_bytes = NULL;
    int enabled = 1, result = -1;
    Py_ssize_t trace_events = 0, samples = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OpOOnn:Monitor", names, &name, &enabled,
                                     &memory, &journal, &trace_events, &samples))
        return -1;
    if (trace_events < 0 || samples < 0) {
        PyErr_SetString(PyExc_ValueError, "trace_events and samples must not be negative");
        return -1;
    }
    close_handle(monitor); /* __init__ may be called again */
    options.disabled = !enabled;
    options.trace_events = (size_t)trace_events;
    options.samples = (size_t)samples;
    if (!memory_modes(memory, &options.memory))
        return -1;
    if (name != Py_None &&
        (name_bytes = core_name(name, "the name of a monitor", &options.name)) == NULL)
        goto cleanup;
    if (journal != Py_None && (journal_bytes = core_path(journal, &options.journal_path)) == NULL)
        goto cleanup;
    result = open_monitor(monitor, &options);

cleanup:
    Py_XDECREF(name_bytes);
    Py_XDECREF(journal_bytes);
    return result;
}

static PyObject *monitor_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)args, (void)keywords;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    core_monitor *monitor = (core_monitor *)allocate(type, 0);
    if (monitor == NULL)
        return NULL;
    monitor->operations = PyDict_New();
    monitor->lanes = PyDict_New();
    if (monitor->operations == NULL || monitor->lanes == NULL)
        Py_CLEAR(monitor);
    return (PyObject *)monitor;
}

static int monitor_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((core_monitor *)self)->operations);
    Py_VISIT(((core_monitor *)self)->lanes);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int monitor_clear_references(PyObject *self)
{
    if (((core_monitor *)self)->operations != NULL)
        PyDict_Clear(((core_monitor *)self)->operations);
    return 0;
}

static void monitor_dealloc(PyObject *self)
{
    core_monitor *monitor = (core_monitor *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    close_handle(monitor);
    Py_CLEAR(monitor->operations);
    Py_CLEAR(monitor->lanes);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyObject *monitor_close(PyObject *self, PyObject *unused)
{
    (void)unused;
    close_handle((core_monitor *)self);
    Py_RETURN_NONE;
}

static PyObject *monitor_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    return handle_of(self) != NULL ? Py_NewRef(self) : NULL;
}

static PyObject *monitor_exit(PyObject *self, PyObject *args)
{
    return monitor_close(self, args);
}

/* ---- measuring ---- */

static PyObject *monitor_operation(PyObject *self, PyObject *name)
{
    return handle_of(self) != NULL ? core_operation_of((core_monitor *)self, name) : NULL;
}

static PyObject *monitor_track(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                               PyObject *keywords)
{
    return handle_of(self) != NULL ? core_track((core_monitor *)self, arguments, count, keywords)
                                   : NULL;
}

static PyObject *monitor_metric(PyObject *self, PyObject *name)
{
    return handle_of(self) != NULL ? core_span_of((core_monitor *)self, name, true) : NULL;
}

/* The arguments (name, number) of add() and count(). */
static PyObject *name_and_number(PyObject *args, const char *format, const char **name,
                                 double *number)
{
    PyObject *given;
    if (!PyArg_ParseTuple(args, format, &given, number))
        return NULL;
    return core_name(given, "the name", name);
}

static PyObject *monitor_add(PyObject *self, PyObject *args)
{
    const double longest = 1e10; /* seconds, about 300 years; as nanoseconds it fits 64 bits */
    const char *name;
    double seconds;
    assay_monitor *handle = handle_of(self);
    PyObject *bytes = handle != NULL ? name_and_number(args, "Od:add", &name, &seconds) : NULL;
    if (bytes == NULL)
        return NULL;
    bool good = seconds >= 0 && seconds <= longest; /* false for NaN */
    if (good && core_lane_select((core_monitor *)self))
        assay_monitor_add(handle, name, (uint64_t)llround(seconds * 1e9));
    else if (!good)
        PyErr_SetString(PyExc_ValueError, "a duration must be finite and not negative");
    Py_DECREF(bytes);
    if (PyErr_Occurred() != NULL)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *monitor_count(PyObject *self, PyObject *args)
{
    const char *name;
    double value;
    assay_monitor *handle = handle_of(self);
    PyObject *bytes = handle != NULL ? name_and_number(args, "Od:count", &name, &value) : NULL;
    if (bytes == NULL)
        return NULL;
    assay_monitor_count(handle, name, value);
    Py_DECREF(bytes);
    Py_RETURN_NONE;
}

static PyObject *monitor_clear(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (handle_of(self) == NULL)
        return NULL;
    assay_monitor_clear(((core_monitor *)self)->handle);
    Py_RETURN_NONE;
}

/* ---- what it measured ---- */

static PyObject *monitor_record(PyObject *self, PyObject *unused)
{
    (void)unused;
    assay_record *record = NULL;
    assay_error error = {0};
    assay_monitor *handle = handle_of(self);
    if (handle == NULL)
        return NULL;
    assay_status status = assay_monitor_record(handle, &error, &record);
    return status == ASSAY_OK ? core_record_of(record) : core_raise(status, &error);
}

static PyObject *monitor_print_summary(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"show_aggregate", "show_bottlenecks", "file", NULL};
    int aggregate = 1, bottlenecks = 0;
    PyObject *file = Py_None;
    core_stream stream;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|ppO:print_summary", names, &aggregate,
                                     &bottlenecks, &file) ||
        handle_of(self) == NULL || !core_stream_open(&stream))
        return NULL;
    unsigned flags = (aggregate ? ASSAY_SHOW_AGGREGATE : 0u) |
                     (bottlenecks ? (unsigned)ASSAY_SHOW_BOTTLENECKS : 0u);
    assay_status status =
        assay_monitor_print_summary(((core_monitor *)self)->handle, stream.file, flags);
    return core_stream_write(&stream, status, NULL, file);
}

static PyObject *monitor_resolve_gpu(PyObject *self, PyObject *args, PyObject *keywords)
{
    return handle_of(self) != NULL ? core_resolve_gpu((core_monitor *)self, args, keywords) : NULL;
}

static PyObject *monitor_total_seconds(PyObject *self, PyObject *unused)
{
    (void)unused;
    assay_monitor *handle = handle_of(self);
    return handle != NULL ? core_from_reading(assay_monitor_total_seconds(handle)) : NULL;
}

static PyObject *monitor_operation_seconds(PyObject *self, PyObject *name)
{
    const char *text;
    assay_monitor *handle = handle_of(self);
    PyObject *bytes = handle != NULL ? core_name(name, "the name of an operation", &text) : NULL;
    if (bytes == NULL)
        return NULL;
    assay_reading seconds = assay_monitor_operation_seconds(handle, text);
    Py_DECREF(bytes);
    return core_from_reading(seconds);
}

static PyObject *monitor_enabled(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(assay_monitor_enabled(((core_monitor *)self)->handle));
}

static PyObject *monitor_closed(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((core_monitor *)self)->handle == NULL);
}

static PyMethodDef monitor_methods[] = {
    {"operation", monitor_operation, METH_O,
     "operation(name)\n--\n\nThe operation of this name: `with op:` measures a block."},
    {"track", (PyCFunction)(void (*)(void))monitor_track, METH_FASTCALL | METH_KEYWORDS,
     "track(name, /, *, stream=None, device=None)\n--\n\nMeasure one block: `with "
     "monitor.track(name) as span:`."},
    {"metric", monitor_metric, METH_O,
     "metric(name)\n--\n\nMeasure one block and record it on its own, with its memory."},
    {"add", monitor_add, METH_VARARGS,
     "add(name, seconds)\n--\n\nEnter a duration that was measured elsewhere."},
    {"count", monitor_count, METH_VARARGS,
     "count(name, value)\n--\n\nEnter the present value of something followed over time, such as a "
     "loss.\nValues that are not finite are left out."},
    {"clear", monitor_clear, METH_NOARGS, "clear()\n--\n\nForget all figures."},
    {"record", monitor_record, METH_NOARGS,
     "record()\n--\n\nEverything measured so far, as a Record."},
    {"print_summary", (PyCFunction)(void (*)(void))monitor_print_summary,
     METH_VARARGS | METH_KEYWORDS,
     "print_summary(show_aggregate=True, show_bottlenecks=False, file=None)\n--\n\nPrint the "
     "PERFORMANCE SUMMARY to a file, by default to sys.stdout."},
    {"resolve_gpu", (PyCFunction)(void (*)(void))monitor_resolve_gpu, METH_VARARGS | METH_KEYWORDS,
     "resolve_gpu(seconds=5.0)\n--\n\nWait up to so long for blocks that are under way on a GPU, "
     "and "
     "return how many\nstill are. A record has those that have completed."},
    {"total_seconds", monitor_total_seconds, METH_NOARGS,
     "total_seconds()\n--\n\nTime of all top-level spans, or None."},
    {"operation_seconds", monitor_operation_seconds, METH_O,
     "operation_seconds(name)\n--\n\nTime of one operation wherever it ran, or None."},
    {"close", monitor_close, METH_NOARGS,
     "close()\n--\n\nClose the journal. The monitor measures no more."},
    {"__enter__", monitor_enter, METH_NOARGS, NULL},
    {"__exit__", monitor_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef monitor_members[] = {
    {"enabled", monitor_enabled, NULL, "Whether it records anything.", NULL},
    {"closed", monitor_closed, NULL, "Whether it was closed.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot monitor_slots[] = {
    {Py_tp_new, monitor_new},
    {Py_tp_init, monitor_init},
    {Py_tp_dealloc, monitor_dealloc},
    {Py_tp_traverse, monitor_traverse},
    {Py_tp_clear, monitor_clear_references},
    {Py_tp_methods, monitor_methods},
    {Py_tp_getset, monitor_members},
    {Py_tp_doc, "Nested spans, their statistics, and counters, written into a journal."},
    {0, NULL},
};

static PyType_Spec monitor_spec = {
    .name = "assay._core.Monitor",
    .basicsize = sizeof(core_monitor),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = monitor_slots,
};

int core_monitor_use_class(PyObject *given)
{
    return core_use_class(&monitor_class, monitor_type, given);
}

bool core_is_monitor(PyObject *object)
{
    int is_one = PyObject_IsInstance(object, monitor_type);
    PyErr_Clear();
    return is_one == 1;
}

PyObject *core_monitor_type(void)
{
    monitor_type = PyType_FromSpec(&monitor_spec);
    monitor_class = Py_XNewRef(monitor_type);
    return Py_XNewRef(monitor_type);
}

/* ---- the default monitor ---- */

core_monitor *core_default_monitor(void)
{
    if (ASSAY__LIKELY(default_monitor != NULL))
        return default_monitor;
    core_monitor *monitor = (core_monitor *)PyObject_CallNoArgs(monitor_class);
    if (monitor != NULL && ending)
        close_handle(monitor);
    return default_monitor = monitor;
}

PyObject *core_set_default_monitor(PyObject *module, PyObject *monitor)
{
    (void)module;
    if (monitor != Py_None && !core_is_monitor(monitor)) {
        PyErr_Format(PyExc_TypeError, "a Monitor or None is needed, not %R", monitor);
        return NULL;
    }
    PyObject *before = (PyObject *)default_monitor;
    default_monitor = monitor != Py_None ? (core_monitor *)Py_NewRef(monitor) : NULL;
    return before != NULL ? before : Py_NewRef(Py_None);
}

PyObject *core_close_all(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    ending = true;
    core_meters_close();
    while (open_monitors != NULL)
        close_handle(open_monitors);
    Py_RETURN_NONE;
}
