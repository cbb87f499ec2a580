/* assay.watch(): the hooks that PyTorch calls, and the prices of what a model does. */
#ifndef ASSAY_PYTHON_WATCH_H
#define ASSAY_PYTHON_WATCH_H

#include "python/core/span.h"

typedef struct core_watch {
    PyObject_HEAD PyObject *called; /* called(shapes): the root is called with other shapes */
    PyObject *describe;       /* describe(shapes, args, keywords): what is in containers too */
    PyObject *switch_parts;   /* switch_parts(on): hook all modules, or only the root */
    PyObject *tracer;         /* while a call is traced: tracer(hook, entering, output); entering is
                                      None when an exception leaves the module */
    PyObject *queue_callback; /* of the engine of autograd */
    PyObject *is_grad_enabled; /* of PyTorch */
    PyObject *finish;          /* what is queued at the engine */
    PyObject *synchronize;     /* NULL, or waits for the GPU */
    PyObject *shapes;          /* of the tensors of the last call, or NULL */
    size_t calls_alike;        /* since `shapes` were set */
    unsigned long tracing_thread;
    bool removed;

    /* calls.c: which calls are measured with their parts */
    bool whole;      /* the present call is measured as a whole */
    size_t parts;    /* how many modules have hooks */
    size_t every;    /* one burst of calls in so many has its parts measured; 0: by the cost */
    size_t cycle;    /* the same, as it is now */
    size_t position; /* of the next call in the cycle */
    uint64_t last_call, shortest; /* ticks: when the last call began, shortest time between two */
} core_watch;

typedef struct core_hook {
    PyObject_HEAD core_watch *watch;
    core_operation *forward, *backward;
    core_operation *whole; /* of a root: forward in calls without parts */
    PyObject *name;
    const PyObject *module;   /* whose hook it is; only to compare with, since it may be gone */
    PyObject *carrier;        /* the tensor that carries the hook for backward, or NULL */
    struct core_hook *parent; /* the module around it when it was last called, or NULL */
    size_t awaited;           /* nodes that have the hook and have not gone backward, a stack */
    uint8_t levels[64];       /* by the place in it: how many modules around this one begin too */
    bool root, several;       /* several: the output has more than one tensor */
} core_hook;

/* Refer to another hook, or to none. */
static inline void core_set_hook(core_hook **place, core_hook *hook)
{
    core_hook *before = *place;
    if (before == hook)
        return;
    Py_XINCREF((PyObject *)hook);
    *place = hook;
    Py_XDECREF((PyObject *)before);
}

/* ---- hooks.c: what PyTorch calls ---------------------------------------------------------------
 */

int core_hooks_init(void);
PyObject *core_hook_before(PyObject *self, PyObject *const *arguments, Py_ssize_t count);
PyObject *core_hook_after(PyObject *self, PyObject *const *arguments, Py_ssize_t count);
PyObject *core_hook_arrived(PyObject *self, PyObject *gradient);
PyObject *core_hook_is_open(PyObject *self, void *unused);
PyObject *core_hook_abandon(PyObject *self, PyObject *unused);
PyObject *core_backward_finished(PyObject *module, PyObject *unused);

/* ---- calls.c: calls of the root ---------------------------------------------------------------
 */

int core_calls_init(void);

/* The root is called: decide whether its parts are measured, and tell Python of new shapes, and of
 * a call while the root is open: it calls itself, or its last call raised an exception. `keywords`
 * is NULL where the hook did not get them. */
void core_call_begins(core_watch *watch, PyObject *arguments, PyObject *keywords, bool is_open);

/* ---- watch.c, flops.c: functions of the module --------------------------------------------------
 */

int core_watch_init(PyObject *module);
PyObject *core_new_watch(PyObject *module, PyObject *args);
PyObject *core_term_flops(PyObject *module, PyObject *args);

#endif
