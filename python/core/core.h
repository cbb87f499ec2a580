/* The extension module assay._core: what its files share.
 *
 * The module keeps to the stable ABI of Python 3.10, so one binary serves that version and all
 * later ones. It works in the main interpreter alone (module.c refuses others), so what is one per
 * process is static here.
 *
 * Every function that returns a PyObject * returns NULL with an exception set when it fails. The
 * global interpreter lock guards everything except what the core of assay guards itself.
 */
#ifndef ASSAY_PYTHON_CORE_H
#define ASSAY_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdio.h>

#include "assay/assay.h"
#include "assay/binding.h"

/* ---- errors.c: the one place where statuses become exceptions -------------------------------- */

/* Set the exception of a status and return NULL. The message is that of `error`, if it has one. An
 * exception that Python code under way has raised already is kept. */
PyObject *core_raise(assay_status status, const assay_error *error);

/* ---- text.c: text between Python and C --------------------------------------------------------
 */

/* UTF-8 of a name, as a bytes object; `*text` lives as long as it. Lone surrogates are escaped. The
 * exception for something else than a string says `what` it is. */
PyObject *core_name(PyObject *name, const char *what, const char **text);

/* The path of anything that os.fspath() takes, as above. */
PyObject *core_path(PyObject *path, const char **text);

/* A float, or None for a figure that is missing. */
PyObject *core_from_reading(assay_reading reading);

/* A stream in memory, for what the core prints. */
typedef struct core_stream {
    FILE *file;
    char *text;
    size_t length;
} core_stream;

bool core_stream_open(core_stream *stream);

/* Close the stream. If `status` is ASSAY_OK, return its text as a string, else raise the status. */
PyObject *core_stream_take(core_stream *stream, assay_status status, const assay_error *error);

/* The same, written to a Python file object, or to sys.stdout for NULL and None. Returns None. */
PyObject *core_stream_write(core_stream *stream, assay_status status, const assay_error *error,
                            PyObject *file);

/* ---- monitor.c --------------------------------------------------------------------------------
 */

typedef struct core_monitor {
    PyObject_HEAD assay_monitor *handle; /* NULL: closed */
    PyObject *operations;                /* by name */
    PyObject *lanes;                     /* lanes.c: of asyncio's tasks, by the task's address */
    struct core_monitor *next, **link;   /* every monitor that is not closed */
} core_monitor;

PyObject *core_monitor_type(void); /* a new reference */
bool core_is_monitor(PyObject *object);

/* Replace a class that is used, both owned, by one of the package that is based on `base`. */
int core_use_class(PyObject **used, PyObject *base, PyObject *given);

/* Make default monitors and records of these classes of the package, which are based on ours. */
int core_monitor_use_class(PyObject *monitor_class);
int core_record_use_class(PyObject *record_class);

/* The monitor that assay.track() and assay.operation() write to, made when it is first asked for;
 * borrowed. NULL with an exception if it cannot be made. */
core_monitor *core_default_monitor(void);

/* Make this the default monitor, or for None forget the present one. Returns the one before or
 * None. */
PyObject *core_set_default_monitor(PyObject *module, PyObject *monitor);

/* Close all monitors: the interpreter ends. Spans that end later do nothing. */
PyObject *core_close_all(PyObject *module, PyObject *unused);

/* ---- span.c -----------------------------------------------------------------------------------
 */

PyObject *core_operation_type(void);
PyObject *core_span_type(void);

/* The operation of this name of a monitor, or of the default one, whichever it is at the time, for
 * NULL. The same name gives the same operation. */
PyObject *core_operation_of(core_monitor *monitor, PyObject *name);

/* A span that has not begun. */
PyObject *core_span_of(core_monitor *monitor, PyObject *name, bool metric);

/* ---- stream.c: spans on a stream of a device
 * -----------------------------------------------------
 */

PyObject *core_stream_span_type(void);

/* track(name, *, stream=None, device=None) of a monitor, or of the default one for NULL. */
PyObject *core_track(core_monitor *monitor, PyObject *const *arguments, Py_ssize_t count,
                     PyObject *keywords);

/* resolve_gpu(seconds=5.0) of a monitor that is open. */
PyObject *core_resolve_gpu(core_monitor *monitor, PyObject *args, PyObject *keywords);

/* ---- meter.c
 * -------------------------------------------------------------------------------------
 */

PyObject *core_meter_type(void);
void core_meters_close(void); /* the interpreter ends */

/* ---- ready.c -----------------------------------------------------------------------------------
 */

int core_ready_init(void);

/* An awaitable whose result is `value`. */
PyObject *core_ready(PyObject *value);

/* ---- lanes.c: each task of asyncio is a lane ----------------------------------------------------
 */

/* What the current thread's spans were last found to belong to. */
typedef struct core_lane_mark {
    const core_monitor *monitor;
    const PyObject *task;
    uint64_t generation;
} core_lane_mark;

int core_lanes_init(void);

/* Let the spans that this thread begins and ends from now on belong to the task of asyncio that
 * runs on it, or to the thread. False with an exception when that fails. */
bool core_lane_select(core_monitor *monitor);

/* The monitor is about to be closed. */
void core_lanes_forget(core_monitor *monitor);

/* A function of the module, for os.register_at_fork(): this process is a forked child. */
PyObject *core_lanes_forked(PyObject *module, PyObject *unused);

/* ---- record.c ----------------------------------------------------------------------------------
 */

PyObject *core_record_type(void);

/* A record object, which owns `record` from now on, also when this fails. */
PyObject *core_record_of(assay_record *record);

/* The record of a record object, borrowed; NULL with an exception if it is none. */
const assay_record *core_record_handle(PyObject *object);

/* Functions of the module: a record or another tool's results from a file; the journal in a file,
 * or all journals of a directory, as one record. */
PyObject *core_load(PyObject *module, PyObject *path);
PyObject *core_snapshot(PyObject *module, PyObject *path);

/* ---- bench.c, analyze.c, run.c: functions of the module
 * ------------------------------------------ */

/* What the kernel counted so far, as opaque bytes; and the record of everything since then: the
 * journals of a directory, the usage before, the words of the command, the name of the run or None.
 */
PyObject *core_usage(PyObject *module, PyObject *unused);
PyObject *core_run_record(PyObject *module, PyObject *args);

PyObject *core_bench(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *core_compare(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *core_fit(PyObject *module, PyObject *args);
PyObject *core_growth_type(void);

#endif
