/* Operations: the hot path of the extension.
 *
 * `with op:` calls two methods of the operation. They begin and end a span of libassay at the
 * operation's own call site. The operation stores nothing of the span: the end belongs to the
 * innermost open span of the site, which libassay finds itself. So one operation can be open many
 * times at once, in threads, in tasks and within itself. */
#include <stdlib.h>
#include <string.h>

#include "python/core/span.h"

/* At most this many operations are kept by name for each monitor. Each has a type of 2 KiB. */
enum { MOST_OPERATIONS = 1024 };

static PyObject *operation_type;
static PyObject *default_operations; /* by name */

__thread size_t core_unrecorded;

PyObject *core_ready_of(PyObject *value)
{
    PyObject *ready = value != NULL ? core_ready(value) : NULL;
    Py_XDECREF(value);
    return ready;
}

PyObject *core_bind(PyObject *object, PyMethodDef *methods)
{
    PyObject *type = (PyObject *)Py_TYPE(object);
    PyObject *enter = PyCFunction_New(&methods[0], object);
    PyObject *leave = PyCFunction_New(&methods[1], object);
    if (enter == NULL || leave == NULL || PyObject_SetAttrString(type, "__enter__", enter) != 0 ||
        PyObject_SetAttrString(type, "__exit__", leave) != 0)
        Py_CLEAR(object);
    Py_XDECREF(enter);
    Py_XDECREF(leave);
    return object;
}

/* __enter__. ExitStack looks the method up in the type and passes the object as the first argument.
 * The method is bound already, so the argument is ignored. */
static PyObject *operation_enter(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    (void)arguments, (void)count;
    uint64_t start;
    return core_begin((core_operation *)self, &start) ? Py_NewRef(self) : NULL;
}

static PyObject *operation_exit(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    core_end((core_operation *)self, 0, core_raised(arguments, count));
    Py_RETURN_NONE;
}

static void operation_dealloc(PyObject *self)
{
    core_operation *operation = (core_operation *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(operation->spare);
    Py_XDECREF(operation->monitor);
    Py_XDECREF(operation->name);
    Py_XDECREF(operation->text);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static int operation_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((core_operation *)self)->monitor);
    Py_VISIT(((core_operation *)self)->spare);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

/* Break reference cycles for the garbage collector. The reference to the monitor stays, because the
 * cycle through the monitor is broken by clearing its dictionary of operations. */
static int operation_clear(PyObject *self)
{
    Py_CLEAR(((core_operation *)self)->spare);
    return 0;
}

static PyObject *operation_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<assay operation %R>", ((core_operation *)self)->name);
}

static PyObject *operation_name(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((core_operation *)self)->name);
}

static PyObject *new_operation(PyObject *type, core_monitor *monitor, PyObject *name, bool metric)
{
    core_operation *operation = PyObject_GC_New(core_operation, (PyTypeObject *)type);
    if (operation == NULL)
        return NULL;
    memset(&operation->site, 0, sizeof *operation - offsetof(core_operation, site));
    operation->text = core_name(name, "the name of an operation", &operation->site.name);
    operation->monitor = monitor;
    operation->name = name;
    operation->metric = metric;
    operation->site.flags = metric ? ASSAY_SITE_METRIC : 0;
    Py_XINCREF(monitor);
    Py_INCREF(name);
    PyObject_GC_Track((PyObject *)operation);
    if (operation->text == NULL)
        Py_CLEAR(operation);
    return (PyObject *)operation;
}

/* Pickle an operation. An operation of the default monitor is pickled as its name, which means the
 * same in another process. An operation of another monitor cannot be pickled. */
static PyObject *operation_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    const core_operation *operation = (const core_operation *)self;
    if (operation->monitor != NULL) {
        PyErr_Format(PyExc_TypeError,
                     "operation %R belongs to a monitor of this process and cannot be pickled; "
                     "assay.operation() makes one that can",
                     operation->name);
        return NULL;
    }
    PyObject *module = PyImport_ImportModule("assay");
    PyObject *maker = module != NULL ? PyObject_GetAttrString(module, "operation") : NULL;
    PyObject *reduced = maker != NULL ? Py_BuildValue("O(O)", maker, operation->name) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(maker);
    return reduced;
}

/* A copy of a model that holds an operation measures the same operation. */
static PyObject *operation_copy(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

static PyObject *operation_aenter(PyObject *self, PyObject *unused)
{
    (void)unused;
    return core_ready_of(operation_enter(self, NULL, 0));
}

static PyObject *operation_aexit(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    return core_ready_of(operation_exit(self, arguments, count));
}

static PyMethodDef operation_methods[] = {
    {"__enter__", (PyCFunction)(void (*)(void))operation_enter, METH_FASTCALL, "Begin a span."},
    {"__exit__", (PyCFunction)(void (*)(void))operation_exit, METH_FASTCALL,
     "End the innermost span of this operation. An exception is noted and goes on."},
    {"__aenter__", operation_aenter, METH_NOARGS, "Begin a span, in `async with`."},
    {"__aexit__", (PyCFunction)(void (*)(void))operation_aexit, METH_FASTCALL,
     "End the span, in `async with`."},
    {"__reduce__", operation_reduce, METH_NOARGS, NULL},
    {"__copy__", operation_copy, METH_NOARGS, NULL},
    {"__deepcopy__", operation_copy, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef operation_members[] = {
    {"name", operation_name, NULL, "The name that records show.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot operation_slots[] = {
    {Py_tp_dealloc, operation_dealloc},
    {Py_tp_traverse, operation_traverse},
    {Py_tp_clear, operation_clear},
    {Py_tp_repr, operation_repr},
    {Py_tp_methods, operation_methods},
    {Py_tp_getset, operation_members},
    {Py_tp_doc, "A named piece of work: `with op:` measures a block.\n\nMake it once with "
                "assay.operation(name) and use it as often as you like, also\nin several threads "
                "and tasks at once."},
    {0, NULL},
};

static PyType_Spec operation_spec = {
    .name = "assay._core.Operation",
    .basicsize = sizeof(core_operation),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = operation_slots,
};

/* The slots of the type that an operation has for itself. */
static PyType_Slot bound_slots[] = {
    {Py_tp_dealloc, operation_dealloc},
    {Py_tp_traverse, operation_traverse},
    {Py_tp_clear, operation_clear},
    {0, NULL},
};

static PyType_Spec bound_spec = {
    .name = "assay._core.Operation",
    .basicsize = sizeof(core_operation),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = bound_slots,
};

/* Make an operation with a type of its own, whose methods are bound already (core_bind()). */
static PyObject *bound_operation(core_monitor *monitor, PyObject *name)
{
    PyObject *type = PyType_FromSpecWithBases(&bound_spec, operation_type);
    PyObject *operation = type != NULL ? new_operation(type, monitor, name, false) : NULL;
    Py_XDECREF(type);
    if (operation == NULL)
        return NULL;
    ((core_operation *)operation)->bound = true;
    return core_bind(operation, operation_methods);
}

/* Make an operation and keep it under its name. Names that are made up for each call ("step 17")
 * would fill the memory, so beyond the limit an operation is not kept. The journal has a limit of
 * its own, and gathers the operations beyond it. */
static PyObject *remember(PyObject *operations, core_monitor *monitor, PyObject *name)
{
    if (PyDict_Size(operations) >= MOST_OPERATIONS)
        return new_operation(operation_type, monitor, name, false);
    PyObject *operation = bound_operation(monitor, name);
    if (operation != NULL && PyDict_SetItem(operations, name, operation) != 0)
        Py_CLEAR(operation);
    return operation;
}

PyObject *core_operation_of(core_monitor *monitor, PyObject *name)
{
    PyObject *operations = monitor != NULL ? monitor->operations : default_operations;
    PyObject *operation =
        PyUnicode_CheckExact(name) ? PyDict_GetItemWithError(operations, name) : NULL;
    if (operation != NULL)
        return Py_NewRef(operation);
    if (PyErr_Occurred() != NULL)
        return NULL;
    return PyUnicode_CheckExact(name) ? remember(operations, monitor, name)
                                      : new_operation(operation_type, monitor, name, false);
}

bool core_is_operation(PyObject *object)
{
    return PyObject_TypeCheck(object, (PyTypeObject *)operation_type);
}

PyObject *core_metric_operation(core_monitor *monitor, PyObject *name)
{
    return new_operation(operation_type, monitor, name, true);
}

PyObject *core_operation_type(void)
{
    operation_type = PyType_FromSpec(&operation_spec);
    default_operations = PyDict_New();
    return operation_type != NULL && default_operations != NULL ? Py_NewRef(operation_type) : NULL;
}
