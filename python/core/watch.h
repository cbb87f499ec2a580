/* assay.watch(): the hooks that PyTorch calls, and the FLOPs of the operations of a model. */
#ifndef ASSAY_PYTHON_WATCH_H
#define ASSAY_PYTHON_WATCH_H

#include "python/core/span.h"

typedef struct core_watch {
    /* called(shapes): is called when the root is called with other shapes than before. */
    PyObject_HEAD PyObject *called;
    PyObject *describe;     /* describe(shapes, args, keywords): adds shapes in containers */
    PyObject *switch_parts; /* switch_parts(on): puts hooks on all modules, or only on the root */
    /* Set while a call is traced: tracer(hook, entering, output). `entering` is None if an
     * exception leaves the module. */
    PyObject *tracer;
    PyObject *queue_callback;  /* a function of the autograd engine */
    PyObject *is_grad_enabled; /* a function of PyTorch */
    PyObject *finish;          /* the callback that is queued at the engine */
    PyObject *synchronize;     /* a function that waits for the GPU, or NULL */
    PyObject *shapes;          /* of the tensors of the last call, or NULL */
    size_t calls_alike;        /* calls with these shapes since `shapes` was set */
    unsigned long tracing_thread;
    bool removed; /* the model is no longer watched */

    /* calls.c: which calls are measured with their parts */
    bool whole;      /* the present call is measured as a whole */
    size_t parts;    /* the number of modules that have hooks */
    size_t every;    /* one of `every` bursts of calls is measured with parts; 0: by the cost */
    size_t cycle;    /* the present value of that number */
    size_t position; /* of the next call in the cycle */
    uint64_t last_call, shortest; /* ticks: begin of the last call; shortest time between calls */
} core_watch;

typedef struct core_hook {
    PyObject_HEAD core_watch *watch;
    core_operation *forward, *backward;
    core_operation *whole; /* the forward operation of a root in calls without parts */
    PyObject *name;
    const PyObject *module;   /* the hooked module; only compared, because it may be freed */
    PyObject *carrier;        /* the tensor that carries the hook for backward, or NULL */
    struct core_hook *parent; /* the hook of the enclosing module at its last call, or NULL */
    size_t awaited;           /* the number of hooked nodes that have not gone backward; a stack */
    uint8_t levels[64];       /* for each such node: how many enclosing modules begin with it */
    bool root, several;       /* several: the output has more than one tensor */
} core_hook;

/* Replace the reference in `*place` by a reference to another hook, or by NULL. */
static inline void core_set_hook(core_hook **place, core_hook *hook)
{
    core_hook *before = *place;
    if (before == hook)
        return;
    Py_XINCREF((PyObject *)hook);
    *place = hook;
    Py_XDECREF((PyObject *)before);
}

/* ---- hooks.c: the functions that PyTorch calls ----------------------------------------------- */

int core_hooks_init(void);
PyObject *core_hook_before(PyObject *self, PyObject *const *arguments, Py_ssize_t count);
PyObject *core_hook_after(PyObject *self, PyObject *const *arguments, Py_ssize_t count);
PyObject *core_hook_arrived(PyObject *self, PyObject *gradient);
PyObject *core_hook_is_open(PyObject *self, void *unused);
PyObject *core_hook_abandon(PyObject *self, PyObject *unused);
PyObject *core_backward_finished(PyObject *module, PyObject *unused);

/* ---- calls.c: calls of the root -------------------------------------------------------------- */

int core_calls_init(void);

/* Called when the root is called. Decides whether its parts are measured in this call. Calls the
 * Python function `called` if the shapes are new, or if the root is still open: then it calls
 * itself, or its last call raised an exception. `keywords` is NULL if the hook did not get them. */
void core_call_begins(core_watch *watch, PyObject *arguments, PyObject *keywords, bool is_open);

/* ---- watch.c, flops.c: functions of the module ----------------------------------------------- */

int core_watch_init(PyObject *module);
PyObject *core_new_watch(PyObject *module, PyObject *args);
PyObject *core_term_flops(PyObject *module, PyObject *args);

#endif
