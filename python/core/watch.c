/* The objects of assay.watch(): a Watch holds what the hooks of one model share, and each module
 * has a Hook. hooks.c has the functions that PyTorch calls. */
#include <string.h>

#include "python/core/watch.h"

static PyObject *watch_type, *hook_type;

static PyMethodDef finish_method = {"finish", core_backward_finished, METH_NOARGS, NULL};

static void hook_clear_references(core_hook *hook)
{
    Py_CLEAR(hook->watch);
    Py_CLEAR(hook->forward);
    Py_CLEAR(hook->backward);
    Py_CLEAR(hook->whole);
    Py_CLEAR(hook->carrier);
    core_set_hook(&hook->parent, NULL);
}

/* Break reference cycles for the garbage collector. The references that an open span needs stay;
 * only the references between hooks and tensors make cycles. */
static int hook_clear(PyObject *self)
{
    core_hook *hook = (core_hook *)self;
    Py_CLEAR(hook->carrier);
    core_set_hook(&hook->parent, NULL);
    return 0;
}

static int hook_traverse(PyObject *self, visitproc visit, void *arg)
{
    core_hook *hook = (core_hook *)self;
    Py_VISIT(hook->watch);
    Py_VISIT(hook->forward);
    Py_VISIT(hook->backward);
    Py_VISIT(hook->whole);
    Py_VISIT(hook->carrier);
    Py_VISIT(hook->parent);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static void hook_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    hook_clear_references((core_hook *)self);
    Py_XDECREF(((core_hook *)self)->name);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

/* Pickle a hook. The hooks of a pickled model do nothing in the copy. */
static PyObject *hook_reduce(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    PyObject *module = PyImport_ImportModule("assay._watch");
    PyObject *maker = module != NULL ? PyObject_GetAttrString(module, "NoHook") : NULL;
    PyObject *reduced = maker != NULL ? Py_BuildValue("O()", maker) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(maker);
    return reduced;
}

static PyObject *hook_name(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((core_hook *)self)->name);
}

static PyObject *hook_carry(PyObject *self, PyObject *tensor)
{
    PyObject *before = ((core_hook *)self)->carrier;
    ((core_hook *)self)->carrier = tensor != Py_None ? Py_NewRef(tensor) : NULL;
    Py_XDECREF(before);
    Py_RETURN_NONE;
}

static PyMethodDef hook_methods[] = {
    {"before", (PyCFunction)(void (*)(void))core_hook_before, METH_FASTCALL,
     "before(module, arguments, keywords=None)\n--\n\nThe module's forward pass begins."},
    {"after", (PyCFunction)(void (*)(void))core_hook_after, METH_FASTCALL,
     "after(module, arguments, output)\n--\n\nThe module's forward pass has ended."},
    {"arrived", core_hook_arrived, METH_O,
     "arrived(gradient)\n--\n\nThe module's backward pass begins."},
    {"abandon", core_hook_abandon, METH_NOARGS,
     "abandon()\n--\n\nEnd the spans that an exception left open."},
    {"carry", hook_carry, METH_O,
     "carry(tensor)\n--\n\nThe tensor whose _backward_hooks call arrived(), or None."},
    {"__reduce__", hook_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef hook_members[] = {
    {"name", hook_name, NULL, "The name of the module.", NULL},
    {"is_open", core_hook_is_open, NULL, "Whether the module goes forward in this thread.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot hook_slots[] = {
    {Py_tp_dealloc, hook_dealloc},
    {Py_tp_traverse, hook_traverse},
    {Py_tp_clear, hook_clear},
    {Py_tp_methods, hook_methods},
    {Py_tp_getset, hook_members},
    {Py_tp_doc, "What measures one module of PyTorch."},
    {0, NULL},
};

static PyType_Spec hook_spec = {
    .name = "assay._core.Hook",
    .basicsize = sizeof(core_hook),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = hook_slots,
};

static core_operation *operation_in(PyObject *operations, Py_ssize_t place)
{
    return (core_operation *)Py_NewRef(PyTuple_GetItem(operations, place));
}

static bool are_operations(PyObject *operations, Py_ssize_t wanted)
{
    bool all = PyTuple_Size(operations) == wanted;
    for (Py_ssize_t i = 0; all && i < wanted; i++)
        all = core_is_operation(PyTuple_GetItem(operations, i));
    if (!all)
        PyErr_Format(PyExc_TypeError, "a hook needs a tuple of %zd operations", wanted);
    return all;
}

static PyObject *watch_hook(PyObject *self, PyObject *args)
{
    PyObject *name, *module, *operations;
    int root;
    if (!PyArg_ParseTuple(args, "OOO!p:hook", &name, &module, &PyTuple_Type, &operations, &root) ||
        !are_operations(operations, root ? 3 : 2))
        return NULL;
    core_hook *hook = PyObject_GC_New(core_hook, (PyTypeObject *)hook_type);
    if (hook == NULL)
        return NULL;
    memset(&hook->watch, 0, sizeof *hook - offsetof(core_hook, watch));
    hook->watch = (core_watch *)Py_NewRef(self);
    hook->watch->parts++;
    hook->forward = operation_in(operations, 0);
    hook->backward = operation_in(operations, 1);
    hook->whole = root ? operation_in(operations, 2) : NULL;
    hook->name = Py_NewRef(name);
    hook->module = module;
    hook->root = root;
    PyObject_GC_Track((PyObject *)hook);
    return (PyObject *)hook;
}

/* expect(shapes or None): sets the shapes that the next calls should have. Returns how many calls
 * had the shapes that were expected before. */
static PyObject *watch_expect(PyObject *self, PyObject *shapes)
{
    core_watch *watch = (core_watch *)self;
    PyObject *before = watch->shapes;
    size_t calls = watch->calls_alike;
    watch->shapes = shapes != Py_None ? Py_NewRef(shapes) : NULL;
    watch->calls_alike = 0;
    Py_XDECREF(before);
    return PyLong_FromSize_t(calls);
}

static PyObject *watch_calls(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(((core_watch *)self)->calls_alike);
}

static PyObject *watch_whole(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((core_watch *)self)->whole);
}

/* trace(tracer or None): calls of modules in this thread are reported to the tracer and not
 * measured. */
static PyObject *watch_trace(PyObject *self, PyObject *tracer)
{
    core_watch *watch = (core_watch *)self;
    PyObject *before = watch->tracer;
    watch->tracer = tracer != Py_None ? Py_NewRef(tracer) : NULL;
    watch->tracing_thread = PyThread_get_thread_ident();
    Py_XDECREF(before);
    Py_RETURN_NONE;
}

static int watch_clear(PyObject *self)
{
    core_watch *watch = (core_watch *)self;
    watch->removed = true; /* hooks that still exist then do nothing */
    Py_CLEAR(watch->called);
    Py_CLEAR(watch->switch_parts);
    Py_CLEAR(watch->tracer);
    return 0;
}

static PyObject *watch_remove(PyObject *self, PyObject *unused)
{
    (void)unused;
    watch_clear(self);
    Py_RETURN_NONE;
}

static int watch_traverse(PyObject *self, visitproc visit, void *arg)
{
    core_watch *watch = (core_watch *)self;
    Py_VISIT(watch->called);
    Py_VISIT(watch->switch_parts);
    Py_VISIT(watch->tracer);
    Py_VISIT(watch->describe);
    Py_VISIT(watch->queue_callback);
    Py_VISIT(watch->synchronize);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static void watch_dealloc(PyObject *self)
{
    core_watch *watch = (core_watch *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    watch_clear(self);
    Py_XDECREF(watch->queue_callback);
    Py_XDECREF(watch->describe);
    Py_XDECREF(watch->is_grad_enabled);
    Py_XDECREF(watch->finish);
    Py_XDECREF(watch->shapes);
    Py_XDECREF(watch->synchronize);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMethodDef watch_methods[] = {
    {"hook", watch_hook, METH_VARARGS,
     "hook(name, module, operations, root)\n--\n\nThe hook of one module. The operations are those "
     "of "
     "forward and backward, and for the root that of calls without parts."},
    {"trace", watch_trace, METH_O,
     "trace(tracer)\n--\n\nTell calls to tracer(hook, entering, output) instead of measuring them; "
     "None ends that."},
    {"expect", watch_expect, METH_O,
     "expect(shapes)\n--\n\nThe shapes of the next calls. Returns how many calls were as "
     "expected."},
    {"remove", watch_remove, METH_NOARGS, "remove()\n--\n\nMeasure no more."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef watch_members[] = {
    {"calls_alike", watch_calls, NULL, "How many calls were as expect() said.", NULL},
    {"whole", watch_whole, NULL, "Whether only the root is measured at the moment.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot watch_slots[] = {
    {Py_tp_dealloc, watch_dealloc},
    {Py_tp_traverse, watch_traverse},
    {Py_tp_clear, watch_clear},
    {Py_tp_methods, watch_methods},
    {Py_tp_getset, watch_members},
    {Py_tp_doc, "What the hooks of one model share."},
    {0, NULL},
};

static PyType_Spec watch_spec = {
    .name = "assay._core.Watch",
    .basicsize = sizeof(core_watch),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = watch_slots,
};

/* new_watch(called, describe, switch_parts, queue_callback, is_grad_enabled, synchronize or None,
 * every) */
PyObject *core_new_watch(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *called, *describing, *switching, *queue, *grad, *synchronizing;
    Py_ssize_t every;
    if (!PyArg_ParseTuple(args, "OOOOOOn:new_watch", &called, &describing, &switching, &queue,
                          &grad, &synchronizing, &every))
        return NULL;
    core_watch *watch = PyObject_GC_New(core_watch, (PyTypeObject *)watch_type);
    if (watch == NULL)
        return NULL;
    memset(&watch->called, 0, sizeof *watch - offsetof(core_watch, called));
    watch->called = Py_NewRef(called);
    watch->describe = Py_NewRef(describing);
    watch->switch_parts = Py_NewRef(switching);
    watch->queue_callback = Py_NewRef(queue);
    watch->is_grad_enabled = Py_NewRef(grad);
    watch->synchronize = synchronizing != Py_None ? Py_NewRef(synchronizing) : NULL;
    watch->finish = PyCFunction_New(&finish_method, NULL);
    watch->every = every > 0 ? (size_t)every : 0;
    watch->cycle = every > 0 ? (size_t)every : 1;
    PyObject_GC_Track((PyObject *)watch);
    if (watch->finish == NULL)
        Py_CLEAR(watch);
    return (PyObject *)watch;
}

int core_watch_init(PyObject *module)
{
    watch_type = PyType_FromSpec(&watch_spec);
    hook_type = PyType_FromSpec(&hook_spec);
    if (watch_type == NULL || hook_type == NULL || core_hooks_init() != 0 || core_calls_init() != 0)
        return -1;
    return PyModule_AddObjectRef(module, "Watch", watch_type) |
           PyModule_AddObjectRef(module, "Hook", hook_type);
}
