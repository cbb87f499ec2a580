/* An awaitable that is complete at once. __aenter__ and __aexit__ return it, because beginning and
 * ending a span never waits. */
#include "python/core/core.h"

typedef struct core_ready_object {
    PyObject_HEAD PyObject *value;
} core_ready_object;

static PyObject *ready_type;

PyObject *core_ready(PyObject *value)
{
    core_ready_object *ready = PyObject_New(core_ready_object, (PyTypeObject *)ready_type);
    if (ready != NULL)
        ready->value = Py_NewRef(value);
    return (PyObject *)ready;
}

static void ready_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_DECREF(((core_ready_object *)self)->value);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *ready_self(PyObject *self)
{
    return Py_NewRef(self);
}

static PyObject *ready_next(PyObject *self)
{
    PyErr_SetObject(PyExc_StopIteration, ((core_ready_object *)self)->value);
    return NULL;
}

static PyType_Slot ready_slots[] = {
    {Py_tp_dealloc, ready_dealloc},
    {Py_am_await, ready_self},
    {Py_tp_iter, ready_self},
    {Py_tp_iternext, ready_next},
    {0, NULL},
};

static PyType_Spec ready_spec = {
    .name = "assay._core.Ready",
    .basicsize = sizeof(core_ready_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = ready_slots,
};

int core_ready_init(void)
{
    ready_type = PyType_FromSpec(&ready_spec);
    return ready_type != NULL ? 0 : -1;
}
