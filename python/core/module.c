/* The module assay._core: the table of its functions and its initialisation. The functions
 * themselves are in the other files of this folder. */
#include "python/core/core.h"
#include "python/core/seeds.h"
#include "python/core/watch.h"

int core_use_class(PyObject **used, PyObject *base, PyObject *given)
{
    int fits = PyObject_IsSubclass(given, base);
    if (fits == 0)
        PyErr_Format(PyExc_TypeError, "%R is not based on %R", given, base);
    if (fits != 1)
        return -1;
    PyObject *before = *used;
    *used = Py_NewRef(given);
    Py_DECREF(before);
    return 0;
}

static PyObject *track(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                       PyObject *keywords)
{
    (void)module;
    return core_track(NULL, arguments, count, keywords);
}

static PyObject *operation(PyObject *module, PyObject *name)
{
    (void)module;
    return core_operation_of(NULL, name);
}

static PyObject *default_monitor(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return Py_XNewRef((PyObject *)core_default_monitor());
}

static PyObject *use_classes(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *monitor_class, *record_class;
    if (!PyArg_ParseTuple(args, "OO:use_classes", &monitor_class, &record_class) ||
        core_monitor_use_class(monitor_class) != 0 || core_record_use_class(record_class) != 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"track", (PyCFunction)(void (*)(void))track, METH_FASTCALL | METH_KEYWORDS,
     "track(name, /, *, stream=None, device=None)\n--\n\nMeasure one block: `with "
     "assay.track(\"forward\") as span:`.\n\nstream: a CUDA stream on which the block is measured "
     "too, or \"current\" for the one that\nPyTorch uses; device: the current stream of this "
     "device."},
    {"operation", operation, METH_O,
     "operation(name)\n--\n\nThe operation of this name: `with op:` measures a block, at the least "
     "cost."},
    {"default_monitor", default_monitor, METH_NOARGS,
     "default_monitor()\n--\n\nThe monitor that track() and operation() write to."},
    {"set_default_monitor", core_set_default_monitor, METH_O,
     "set_default_monitor(monitor)\n--\n\nReplace the default monitor, and return the one before."},
    {"close_all", core_close_all, METH_NOARGS,
     "close_all()\n--\n\nClose every monitor: the interpreter ends."},
    {"use_classes", use_classes, METH_VARARGS,
     "use_classes(monitor, record)\n--\n\nMake default monitors and records of these classes."},
    {"lanes_forked", core_lanes_forked, METH_NOARGS,
     "lanes_forked()\n--\n\nThis process is a forked child."},
    {"bench", (PyCFunction)(void (*)(void))core_bench, METH_VARARGS | METH_KEYWORDS,
     "bench(functions, names, budget_seconds=0, precision=0, margin=0, runs=0, warmup=0, seed=0, "
     "yardstick=False, metric=None, energy=False)\n"
     "--\n\nSample functions in turns and compare them. Zeros are the defaults."},
    {"compare", (PyCFunction)(void (*)(void))core_compare, METH_VARARGS | METH_KEYWORDS,
     "compare(sides, margin=0, metric=None)\n--\n\nCompare records: sides are (name, records)."},
    {"fit", core_fit, METH_VARARGS, "fit(sizes, seconds)\n--\n\nHow a time grows with a size."},
    {"usage", core_usage, METH_NOARGS, "usage()\n--\n\nWhat the kernel counted so far."},
    {"run_record", core_run_record, METH_VARARGS,
     "run_record(directory, usage_before, command, name)\n--\n\nThe record of a run."},
    {"load", core_load, METH_O, "load(path)\n--\n\nA saved record, or another tool's results."},
    {"snapshot", core_snapshot, METH_O,
     "snapshot(path)\n--\n\nThe journal in a file, or all journals of a directory."},
    {"new_watch", core_new_watch, METH_VARARGS,
     "new_watch(called, describe, switch_parts, queue_callback, is_grad_enabled, synchronize, "
     "every)\n--\n\nWhat the hooks of a model share."},
    {"term_flops", core_term_flops, METH_VARARGS,
     "term_flops(kind, count, m, k, n, operand_gradients)\n--\n\nFLOPs by convention."},
    {NULL, NULL, 0, NULL},
};

/* Journals, lanes and call sites exist once per process, so the module must too. */
static int refuse_sub_interpreters(void)
{
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0)
        return 0;
    PyErr_SetString(
        PyExc_ImportError,
        "assay works in the main interpreter of a process only, not in sub-interpreters");
    return -1;
}

static int add_type(PyObject *module, const char *name, PyObject *type)
{
    int result = type != NULL ? PyModule_AddObjectRef(module, name, type) : -1;
    Py_XDECREF(type);
    return result;
}

static int execute(PyObject *module)
{
    if (refuse_sub_interpreters() != 0 || core_lanes_init() != 0 || core_ready_init() != 0)
        return -1;
    if (add_type(module, "Monitor", core_monitor_type()) != 0 ||
        add_type(module, "Operation", core_operation_type()) != 0 ||
        add_type(module, "Span", core_span_type()) != 0 ||
        add_type(module, "StreamSpan", core_stream_span_type()) != 0 ||
        add_type(module, "Meter", core_meter_type()) != 0 ||
        add_type(module, "Record", core_record_type()) != 0 ||
        add_type(module, "Growth", core_growth_type()) != 0 || core_seeds_init(module) != 0 ||
        core_watch_init(module) != 0)
        return -1;
    return PyModule_AddStringConstant(module, "version", ASSAY_VERSION);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)execute},
    {0, NULL},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "assay._core",
    .m_doc = "The core of assay, for the package around it. Import assay instead.",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
