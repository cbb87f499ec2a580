/* The hooks of assay.watch(): spans for the forward and backward passes of modules of PyTorch.
 *
 * PyTorch calls before() and after() of a module around its forward pass, and arrived() when the
 * gradient of the module's output is known, just before the node of the autograd graph that made
 * the output goes backward. There is one event for each module and backward pass, because two would
 * cost too much: the event of the next module ends the backward span of a module. That is exact,
 * because the autograd engine runs the nodes of a device in the reverse order of their creation.
 * Every node of a module runs before every node of a module that was called earlier.
 *
 * So each thread keeps a stack of the modules that go backward. An event of a module closes the
 * spans above the nearest open module that contains it, and opens the modules between the two. A
 * container whose output is the output of its last part needs no event of its own: the hook of the
 * part remembers that both begin together. The engine's final callback closes the remaining spans.
 *
 * The alternative, PyTorch's full backward hooks, puts two more nodes around each module. They cost
 * ten times as much, and modules that work in place fail. Here a node gets a hook of the kind that
 * Tensor.register_hook() makes. Such hooks are the `_backward_hooks` of a tensor. Each module has
 * one empty tensor that carries them, so that the tensors of the model stay unchanged.
 *
 * No error of the measurement may reach the model: exceptions are cleared here, and the span is
 * missing.
 */
#include <pthread.h>
#include <stdlib.h>

#include "python/core/watch.h"

enum {
    MOST_OPEN = 120,  /* nested modules; libassay has room for 127 nested spans */
    MOST_OUTPUTS = 4, /* tensors of one output that are examined */
    MOST_NESTED = 3,  /* nested containers around such tensors */
};

typedef struct open_span {
    core_hook *hook;           /* owned */
    core_operation *operation; /* an operation of the hook, borrowed */
    uint64_t start;
    bool begun;
} open_span;

typedef struct open_stack {
    open_span spans[MOST_OPEN];
    size_t count;
} open_stack;

/* The state of a thread. It is allocated, because it is too large for the memory that the loader
 * reserves for thread-local variables. */
typedef struct open_modules {
    open_stack forward, backward;
    PyObject *last_node;    /* the last node that got a hook during this pass; owned */
    core_hook *last_hook;   /* the hook of the module whose output the node made; owned */
    core_hook *last_around; /* the hook of the outermost module that begins with it; owned */
} open_modules;

static __thread open_modules *of_thread;
static pthread_key_t end_of_thread;

static PyObject *grad_fn_name, *register_name, *replica_name;

/* ---- stacks of open spans ---- */

/* The state of this thread. NULL when out of memory. */
static open_modules *modules_here(void)
{
    if (ASSAY__UNLIKELY(of_thread == NULL)) {
        of_thread = calloc(1, sizeof *of_thread);
        (void)pthread_setspecific(end_of_thread, of_thread);
    }
    return of_thread;
}

static void synchronize(const core_watch *watch)
{
    if (watch->synchronize == NULL)
        return;
    PyObject *done = PyObject_CallNoArgs(watch->synchronize);
    if (done == NULL)
        PyErr_Clear();
    Py_XDECREF(done);
}

static void push(open_stack *stack, core_hook *hook, core_operation *operation)
{
    if (stack->count == MOST_OPEN)
        return;
    open_span *span = &stack->spans[stack->count++];
    Py_INCREF((PyObject *)hook);
    span->hook = hook;
    span->operation = operation;
    synchronize(hook->watch);
    span->begun = core_begin(operation, &span->start);
    if (!span->begun)
        PyErr_Clear();
}

static void pop(open_stack *stack, bool failed)
{
    open_span span = stack->spans[--stack->count];
    synchronize(span.hook->watch);
    if (span.begun)
        core_end(span.operation, span.start, failed);
    Py_DECREF((PyObject *)span.hook);
}

static core_hook *top(const open_stack *stack)
{
    return stack->count > 0 ? stack->spans[stack->count - 1].hook : NULL;
}

/* The place of the innermost span of a hook in the stack, counted from 1; 0 if it has none. */
static size_t place_of(const open_stack *stack, const core_hook *hook)
{
    size_t place = stack->count;
    while (place > 0 && stack->spans[place - 1].hook != hook)
        place--;
    return place;
}

static void forget_node(open_modules *here)
{
    Py_CLEAR(here->last_node);
    core_set_hook(&here->last_hook, NULL);
    core_set_hook(&here->last_around, NULL);
}

/* ---- forward ---- */

static bool traces(const core_watch *watch)
{
    return watch->tracer != NULL && watch->tracing_thread == PyThread_get_thread_ident();
}

static void tell_tracer(core_hook *hook, PyObject *entering, PyObject *output)
{
    PyObject *told =
        PyObject_CallFunctionObjArgs(hook->watch->tracer, (PyObject *)hook, entering, output, NULL);
    if (told == NULL)
        PyErr_Clear();
    Py_XDECREF(told);
}

/* Whether the hook belongs to this module. A deep copy of a module has the hooks of the original,
 * and these do not measure the copy. The replicas that DataParallel makes for its devices count as
 * the module itself. */
static bool is_of(const core_hook *hook, PyObject *module)
{
    if (ASSAY__LIKELY(module == hook->module))
        return true;
    PyObject *replica = PyObject_GetAttr(module, replica_name);
    PyErr_Clear();
    Py_XDECREF(replica);
    return replica != NULL;
}

/* Whether the autograd engine runs in this thread. It takes callbacks only then. */
static bool goes_backward(const core_watch *watch)
{
    PyObject *queued =
        PyObject_CallFunctionObjArgs(watch->queue_callback, watch->is_grad_enabled, NULL);
    if (queued == NULL)
        PyErr_Clear();
    Py_XDECREF(queued);
    return queued != NULL;
}

/* End the backward spans that an exception in a backward pass left open: the engine then does not
 * call core_backward_finished(). */
static void end_failed_backward(open_modules *here)
{
    if (ASSAY__LIKELY(here->backward.count == 0) || goes_backward(top(&here->backward)->watch))
        return;
    while (here->backward.count > 0)
        pop(&here->backward, true);
}

/* The hook of the innermost open module, which encloses a module that begins now; NULL if there is
 * none. Spans of a watch that was removed while they were open end here. */
static core_hook *around_here(open_modules *here)
{
    while (here->forward.count > 0 && top(&here->forward)->watch->removed)
        pop(&here->forward, false);
    if (here->forward.count == 0)
        end_failed_backward(here);
    core_hook *around = top(&here->forward);
    return around != NULL ? around : top(&here->backward);
}

/* before(module, arguments[, keywords]) */
PyObject *core_hook_before(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    core_hook *hook = (core_hook *)self;
    open_modules *here = modules_here();
    if (ASSAY__UNLIKELY(hook->watch->removed || count < 2 || here == NULL ||
                        !is_of(hook, arguments[0])))
        Py_RETURN_NONE;
    if (hook->root)
        core_call_begins(hook->watch, arguments[1], count > 2 ? arguments[2] : NULL,
                         place_of(&here->forward, hook) > 0);
    core_hook *around = around_here(here);
    if (ASSAY__LIKELY(place_of(&here->forward, hook) == 0)) /* the module does not call itself */
        core_set_hook(&hook->parent, around);
    if (ASSAY__UNLIKELY(traces(hook->watch)))
        tell_tracer(hook, Py_True, Py_None);
    else
        push(&here->forward, hook, hook->watch->whole && hook->root ? hook->whole : hook->forward);
    Py_RETURN_NONE;
}

/* Put the hook on a node, so that the engine calls arrived() before the node goes backward. */
static bool hook_node(core_hook *hook, PyObject *node)
{
    PyObject *registered = PyObject_CallMethodObjArgs(node, register_name, hook->carrier, NULL);
    if (registered == NULL)
        PyErr_Clear();
    Py_XDECREF(registered);
    return registered != NULL;
}

static uint8_t *levels_of_last(core_hook *hook)
{
    return &hook->levels[hook->awaited % sizeof hook->levels];
}

/* Hook the node of one tensor of the output. If the node is already hooked for a part of this
 * module, only note that the module begins with that part. Takes the reference. */
static void follow_node(core_hook *hook, PyObject *node)
{
    open_modules *here = of_thread;
    if (node == here->last_node) {
        if (here->last_around != NULL && here->last_around->parent == hook) {
            ++*levels_of_last(here->last_hook);
            core_set_hook(&here->last_around, hook);
        }
        Py_DECREF(node); /* a module that returns the output of another module needs no hook */
    } else if (hook_node(hook, node)) {
        hook->awaited++;
        *levels_of_last(hook) = 0;
        Py_XDECREF(here->last_node);
        here->last_node = node;
        core_set_hook(&here->last_hook, hook);
        core_set_hook(&here->last_around, hook);
    } else {
        Py_DECREF(node);
    }
}

/* Hook the nodes of all tensors of an output, also in tuples, lists and dictionaries. Returns how
 * many tensors were seen. */
static int follow(core_hook *hook, PyObject *output, PyObject *input, int seen, int nested)
{
    if (output == input || output == Py_None || seen >= MOST_OUTPUTS)
        return seen;
    if (PyTuple_Check(output) || PyList_Check(output)) {
        Py_ssize_t parts = PySequence_Size(output);
        for (Py_ssize_t i = 0; nested < MOST_NESTED && i < parts && seen < MOST_OUTPUTS; i++) {
            PyObject *part = PySequence_GetItem(output, i);
            seen = part != NULL ? follow(hook, part, input, seen, nested + 1) : seen;
            Py_XDECREF(part);
        }
    } else if (PyDict_Check(output)) {
        PyObject *key, *part;
        Py_ssize_t place = 0;
        while (nested < MOST_NESTED && seen < MOST_OUTPUTS &&
               PyDict_Next(output, &place, &key, &part))
            seen = follow(hook, part, input, seen, nested + 1);
    } else {
        PyObject *node = PyObject_GetAttr(output, grad_fn_name);
        if (node != NULL && node != Py_None) {
            follow_node(hook, node);
            return seen + 1;
        }
        Py_XDECREF(node);
    }
    PyErr_Clear();
    return seen;
}

/* Whether after() is called because forward() raised an exception, as PyTorch 2 does. */
static bool is_raised(PyObject *output)
{
    PyObject *type = NULL, *error = NULL, *trace = NULL;
    if (ASSAY__LIKELY(output != Py_None))
        return false;
    PyErr_GetExcInfo(&type, &error, &trace);
    bool raised = error != NULL && error != Py_None;
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    return raised;
}

/* after(module, arguments, output) */
PyObject *core_hook_after(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    core_hook *hook = (core_hook *)self;
    open_modules *here = modules_here();
    if (ASSAY__UNLIKELY(count < 3 || here == NULL || !is_of(hook, arguments[0])))
        Py_RETURN_NONE;
    if (ASSAY__UNLIKELY(traces(hook->watch))) {
        tell_tracer(hook, is_raised(arguments[2]) ? Py_None : Py_False, arguments[2]);
        Py_RETURN_NONE;
    }
    size_t place = place_of(&here->forward, hook);
    if (place == 0)
        Py_RETURN_NONE; /* the watch was removed meanwhile, or the modules are nested too deeply */
    while (here->forward.count > place)
        pop(&here->forward, true); /* their forward() raised an exception */
    pop(&here->forward, is_raised(arguments[2]));
    if (hook->carrier != NULL && !hook->watch->removed && !hook->watch->whole) {
        PyObject *inputs = arguments[1];
        PyObject *input =
            PyTuple_Check(inputs) && PyTuple_Size(inputs) > 0 ? PyTuple_GetItem(inputs, 0) : NULL;
        hook->several = follow(hook, arguments[2], input, 0, 0) > 1;
    }
    if (here->forward.count == 0)
        forget_node(here); /* the node would keep the autograd graph alive */
    Py_RETURN_NONE;
}

/* ---- backward ---- */

/* Ask the engine, which runs now, to call core_backward_finished() when it has finished. */
static void queue_finish(const core_watch *watch)
{
    PyObject *queued = PyObject_CallFunctionObjArgs(watch->queue_callback, watch->finish, NULL);
    if (queued == NULL)
        PyErr_Clear();
    Py_XDECREF(queued);
}

/* Begin backward spans for the modules between `around` and `hook`, from the outermost inwards, and
 * then for the module of `hook` itself. */
static void open_within(open_stack *stack, core_hook *hook, const core_hook *around)
{
    core_hook *chain[MOST_OPEN];
    size_t count = 0;
    for (core_hook *each = hook; each != NULL && each != around && count < MOST_OPEN;
         each = each->parent)
        chain[count++] = each;
    if (stack->count == 0)
        queue_finish(hook->watch);
    while (count > 0) {
        count--;
        push(stack, chain[count], chain[count]->backward);
    }
}

/* arrived(gradient): the gradient of the output of the module is known, so its backward pass
 * begins. */
PyObject *core_hook_arrived(PyObject *self, PyObject *gradient)
{
    (void)gradient;
    core_hook *hook = (core_hook *)self;
    open_stack *stack = modules_here() != NULL ? &of_thread->backward : NULL;
    uint8_t levels = *levels_of_last(hook);
    hook->awaited -= hook->awaited > 0;
    if (stack == NULL || hook->watch->removed || (hook->several && place_of(stack, hook) > 0))
        Py_RETURN_NONE;
    core_hook *first = hook; /* the outermost module that begins now */
    for (; levels > 0 && first->parent != NULL; levels--)
        first = first->parent;
    const core_hook *around = first->parent;
    for (int i = 0; i < MOST_OPEN && around != NULL && place_of(stack, around) == 0; i++)
        around = around->parent;
    size_t kept = around != NULL ? place_of(stack, around) : 0;
    while (stack->count > kept)
        pop(stack, false);
    open_within(stack, hook, kept > 0 ? around : NULL);
    Py_RETURN_NONE;
}

/* The engine's final callback: end all backward spans of this thread. */
PyObject *core_backward_finished(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    while (of_thread != NULL && of_thread->backward.count > 0)
        pop(&of_thread->backward, false);
    Py_RETURN_NONE;
}

/* Whether the forward span of the module is open in this thread. */
PyObject *core_hook_is_open(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(of_thread != NULL &&
                           place_of(&of_thread->forward, (core_hook *)self) > 0);
}

/* End the open forward spans of this module and of the modules within it, after its forward()
 * raised an exception, and the spans of a backward pass that failed. */
PyObject *core_hook_abandon(PyObject *self, PyObject *unused)
{
    (void)unused;
    open_modules *here = of_thread;
    size_t place;
    while (here != NULL && (place = place_of(&here->forward, (core_hook *)self)) > 0)
        while (here->forward.count >= place)
            pop(&here->forward, true);
    if (here != NULL) {
        forget_node(here);
        end_failed_backward(here);
    }
    Py_RETURN_NONE;
}

int core_hooks_init(void)
{
    grad_fn_name = PyUnicode_InternFromString("grad_fn");
    register_name = PyUnicode_InternFromString("_register_hook_dict");
    replica_name = PyUnicode_InternFromString("_is_replica");
    if (pthread_key_create(&end_of_thread, free) != 0)
        PyErr_NoMemory();
    return grad_fn_name != NULL && register_name != NULL && replica_name != NULL &&
                   PyErr_Occurred() == NULL
               ? 0
               : -1;
}
