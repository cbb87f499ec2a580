/* The functions of assay._sampler. Only sitecustomize.py calls them. They work in the main
 * interpreter; sub-interpreters are not profiled. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "python/sampler/sampler.h"

/* The arguments of start(). A forked child starts with the same arguments. */
static struct {
    bool started;
    char directory[ASSAY__SCRIPT_MAX_TEXT];
    double rate_hz, interval_bytes;
    size_t event_limit;
    PyInterpreterState *interpreter;
} asked;

static bool start_here(void)
{
    if (!region_open(asked.directory, asked.interval_bytes) ||
        !sampling_start(asked.interpreter, asked.rate_hz, asked.event_limit))
        return false;
    allocations_switch(true);
    return true;
}

static PyObject *module_start(PyObject *module, PyObject *args)
{
    const char *directory, *jumps;
    double rate_hz, interval_bytes;
    Py_ssize_t jump_count, event_limit;
    (void)module;
    if (!PyArg_ParseTuple(args, "sddny#:start", &directory, &rate_hz, &interval_bytes, &event_limit,
                          &jumps, &jump_count))
        return NULL;
    if (asked.started || PyInterpreterState_Get() != PyInterpreterState_Main())
        Py_RETURN_FALSE;
    if (strlen(directory) + 64 > sizeof asked.directory || jump_count != 256 || !(rate_hz >= 0)) {
        PyErr_SetString(PyExc_ValueError, "not a directory, a rate and 256 opcodes");
        return NULL;
    }
    if (!memory_can_be_read())
        return PyErr_Format(
            PyExc_OSError,
            "process_vm_readv(), with which the sampler reads frames, fails: %s; if "
            "a container forbids it, start it with the capability SYS_PTRACE",
            strerror(errno));
    strcpy(asked.directory, directory);
    asked.rate_hz = rate_hz;
    asked.interval_bytes = interval_bytes;
    asked.event_limit = event_limit > 0 ? (size_t)event_limit : 0;
    asked.interpreter = PyInterpreterState_Get();
    stacks_use_jumps((const unsigned char *)jumps);
    if (interval_bytes > 0 && !allocations_install(interval_bytes))
        return PyErr_NoMemory();
    if (!start_here())
        return PyErr_SetFromErrnoWithFilename(PyExc_OSError, directory);
    asked.started = true;
    Py_RETURN_TRUE;
}

/* Called before a fork. Afterwards the sampling thread has ended, no lock is held, and nothing is
 * written until it is known whether this process is the parent or the child. */
static PyObject *module_pause(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    if (asked.started) {
        allocations_switch(false);
        sampling_pause();
    }
    Py_RETURN_NONE;
}

static int resume(void *unused)
{
    (void)unused;
    if (asked.started && sampling_resume())
        allocations_switch(true);
    return 0;
}

/* Called in the parent after a fork. Python 3.13 counts the threads of the process after this call,
 * and warns of a fork if it finds several. So the sampling thread starts a little later, when the
 * main thread executes its next instruction. If another thread forks, the warning is right, and the
 * main thread may wait for long. */
static PyObject *module_resume(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    bool later = PY_VERSION_HEX >= 0x030D0000 && syscall(SYS_gettid) == getpid();
    if (!later || Py_AddPendingCall(resume, NULL) != 0)
        resume(NULL);
    Py_RETURN_NONE;
}

static PyObject *module_forked(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    if (asked.started) {
        region_abandon();
        codes_clear();
        stacks_clear();
        allocations_clear();
        asked.started = start_here();
    }
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"start", module_start, METH_VARARGS,
     "start(directory, rate, interval, events, jumps)\n--\n\nProfile this process."},
    {"pause", module_pause, METH_NOARGS, "pause()\n--\n\nBefore a fork, and at the end."},
    {"resume", module_resume, METH_NOARGS, "resume()\n--\n\nAfter a fork, in the parent."},
    {"forked", module_forked, METH_NOARGS, "forked()\n--\n\nAfter a fork, in the child."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "assay._sampler",
    .m_doc = "Where the time and the memory of a script go, by line.",
    .m_size = -1,
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__sampler(void);

PyMODINIT_FUNC PyInit__sampler(void)
{
    return PyModule_Create(&definition);
}
