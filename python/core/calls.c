/* Calls of a watched model: decides which calls are measured with their parts, and which are to be
 * traced because the shapes of their tensors are new.
 *
 * A hook costs microseconds, because PyTorch takes a slower path through a module that has one. For
 * small models that is a tenth of a training step. So if the steps of a model are short, its parts
 * are measured in bursts of BURST calls, and between the bursts only the root is measured. The
 * shortest time between two calls decides how often bursts come, so that measuring the parts costs
 * some 1.5 % of the time. Between bursts the parts have no hooks at all. */
#include <math.h>

#include "python/core/watch.h"

enum { BURST = 8, LONGEST_CYCLE = 64 };
/* The cost of measuring one module, forward and backward: 4 us with PyTorch 1.13, 12 us with 2.11
 * on a slower machine (bench/python/watch.py, every=1). */
static const double part_seconds = 10e-6;
static const double share = 0.015; /* the share of the time that measuring parts may take */

static PyObject *shape_name, *keywords_name;
static double ticks_per_second;

int core_calls_init(void)
{
    assay_clock_info info = ASSAY_INIT(assay_clock_info);
    shape_name = PyUnicode_InternFromString("shape");
    keywords_name = PyUnicode_InternFromString("kwargs");
    ticks_per_second = assay_clock_describe(assay_clock_default(), &info) == ASSAY_OK
                           ? info.frequency_hz
                           : 1e9; /* a clock of nanoseconds */
    return shape_name != NULL && keywords_name != NULL ? 0 : -1;
}

static void call(PyObject *function, PyObject *argument)
{
    if (function == NULL)
        return;
    PyObject *result = PyObject_CallFunctionObjArgs(function, argument, NULL);
    if (result == NULL)
        PyErr_Clear();
    Py_XDECREF(result);
}

/* ---- which calls have parts ---- */

/* The length of a cycle, in bursts. The first burst of a cycle measures the parts, so a cycle of
 * length 1 measures the parts in every call. */
static size_t cycle_for(const core_watch *watch)
{
    if (watch->every > 0)
        return watch->every;
    if (watch->shortest == 0)
        return 1;
    double between = (double)watch->shortest / ticks_per_second;
    double cycle = ceil((double)watch->parts * part_seconds / (share * between));
    return cycle < LONGEST_CYCLE ? (size_t)cycle : LONGEST_CYCLE;
}

static void choose_parts(core_watch *watch)
{
    uint64_t now = assay__ticks(), between = now - watch->last_call;
    if (watch->last_call != 0 && (watch->shortest == 0 || between < watch->shortest))
        watch->shortest = between;
    watch->last_call = now;
    if (watch->position >= BURST * watch->cycle) {
        watch->position = 0;
        watch->cycle = cycle_for(watch);
        watch->shortest = 0;
    }
    bool whole = watch->position++ >= BURST;
    if (whole != watch->whole) {
        watch->whole = whole;
        call(watch->switch_parts, whole ? Py_False : Py_True);
    }
}

/* ---- shapes ---- */

/* The keyword arguments of the call, as a new reference; NULL if there are none. PyTorch 1 does not
 * pass them to hooks, so they are read from a local variable of the frame that calls the hook. */
static PyObject *keywords_of_call(PyObject *given)
{
    PyObject *locals = given == NULL ? PyEval_GetLocals() : NULL; /* borrowed */
    PyObject *keywords = given != NULL    ? Py_NewRef(given)
                         : locals != NULL ? PyObject_GetItem(locals, keywords_name)
                                          : NULL;
    PyErr_Clear();
    if (keywords == NULL || !PyDict_Check(keywords) || PyDict_Size(keywords) == 0)
        Py_CLEAR(keywords);
    return keywords;
}

/* A tuple that says whether gradients are on, and has the shape of each argument. If an argument is
 * not a tensor, it may be a container of tensors, which only Python code can examine: then
 * `*is_plain` is set to false. NULL with an exception. */
static PyObject *plain_shapes(const core_watch *watch, PyObject *arguments, bool *is_plain)
{
    Py_ssize_t count = PyTuple_Size(arguments);
    PyObject *shapes = count >= 0 ? PyTuple_New(count + 1) : NULL;
    if (shapes == NULL)
        return NULL;
    PyObject *grad = PyObject_CallNoArgs(watch->is_grad_enabled);
    if (grad == NULL || PyTuple_SetItem(shapes, 0, grad) != 0)
        Py_CLEAR(shapes);
    for (Py_ssize_t i = 0; shapes != NULL && i < count; i++) {
        PyObject *argument = PyTuple_GetItem(arguments, i);
        PyObject *shape = PyObject_GetAttr(argument, shape_name);
        if (shape == NULL) {
            PyErr_Clear();
            shape = Py_NewRef(Py_None);
            *is_plain &= argument == Py_None;
        }
        if (PyTuple_SetItem(shapes, i + 1, shape) != 0)
            Py_CLEAR(shapes);
    }
    return shapes;
}

static PyObject *shapes_of(const core_watch *watch, PyObject *arguments, PyObject *given)
{
    PyObject *keywords = keywords_of_call(given);
    bool is_plain = keywords == NULL;
    PyObject *shapes = plain_shapes(watch, arguments, &is_plain);
    if (shapes != NULL && !is_plain) {
        PyObject *plain = shapes;
        shapes = PyObject_CallFunction(watch->describe, "OOO", plain, arguments,
                                       keywords != NULL ? keywords : Py_None);
        Py_DECREF(plain);
    }
    Py_XDECREF(keywords);
    return shapes;
}

void core_call_begins(core_watch *watch, PyObject *arguments, PyObject *keywords, bool is_open)
{
    if (watch->tracer == NULL)
        choose_parts(watch);
    PyObject *shapes = shapes_of(watch, arguments, keywords);
    PyErr_Clear();
    if (watch->tracer == NULL && !is_open && shapes != NULL && watch->shapes != NULL &&
        PyObject_RichCompareBool(shapes, watch->shapes, Py_EQ) == 1)
        watch->calls_alike++;
    else
        call(watch->called, shapes != NULL ? shapes : Py_None);
    PyErr_Clear();
    Py_XDECREF(shapes);
}
