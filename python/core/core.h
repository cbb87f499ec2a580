/* The extension module assay._core: the functions and types that its files share.
 *
 * The module keeps to the stable ABI of Python 3.10, so one binary serves that version and all
 * later ones. It works in the main interpreter alone (module.c refuses others), so state that
 * exists once per process is in static variables.
 *
 * Every function that returns a PyObject * returns NULL with an exception set when it fails. The
 * global interpreter lock guards everything that libassay does not guard itself.
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

/* Set the exception of a status and return NULL. The message is that of `error`, if it has one. If
 * Python code has already set an exception, that exception is kept. */
PyObject *core_raise(assay_status status, const assay_error *error);

/* ---- text.c: text between Python and C ------------------------------------------------------- */

/* Encode a name as UTF-8. Returns a bytes object; `*text` points into it and lives as long as it
 * does. Lone surrogates are escaped. If the name is not a string, the exception calls it `what`. */
PyObject *core_name(PyObject *name, const char *what, const char **text);

/* The same for a path: anything that os.fspath() takes. */
PyObject *core_path(PyObject *path, const char **text);

/* A float, or None for a figure that is missing. */
PyObject *core_from_reading(assay_reading reading);

/* A stream in memory that receives what libassay prints. */
typedef struct core_stream {
    FILE *file;
    char *text;
    size_t length;
} core_stream;

bool core_stream_open(core_stream *stream);

/* Close the stream. If `status` is ASSAY_OK, returns its text as a string; otherwise raises the
 * exception of the status. */
PyObject *core_stream_take(core_stream *stream, assay_status status, const assay_error *error);

/* Close the stream and write its text to a Python file object, or to sys.stdout if `file` is NULL
 * or None. Returns None. */
PyObject *core_stream_write(core_stream *stream, assay_status status, const assay_error *error,
                            PyObject *file);

/* ---- monitor.c ------------------------------------------------------------------------------- */

typedef struct core_monitor {
    PyObject_HEAD assay_monitor *handle; /* NULL once it is closed */
    PyObject *operations;                /* a dictionary by name */
    PyObject *lanes;                     /* the lanes of asyncio tasks, by address (lanes.c) */
    struct core_monitor *next, **link;   /* the list of all monitors that are not closed */
} core_monitor;

PyObject *core_monitor_type(void); /* a new reference */
bool core_is_monitor(PyObject *object);

/* Replace the class in `*used` by a class of the package, which must be based on `base`. Returns 0,
 * or -1 with an exception. */
int core_use_class(PyObject **used, PyObject *base, PyObject *given);

/* Set the classes of which default monitors and records are made. They are classes of the package
 * that are based on ours. */
int core_monitor_use_class(PyObject *monitor_class);
int core_record_use_class(PyObject *record_class);

/* The monitor that assay.track() and assay.operation() write to. It is made on the first call. A
 * borrowed reference. NULL with an exception if it cannot be made. */
core_monitor *core_default_monitor(void);

/* Make `monitor` the default monitor; None forgets the present one. Returns the previous default
 * monitor, or None. */
PyObject *core_set_default_monitor(PyObject *module, PyObject *monitor);

/* Close all monitors, because the interpreter ends. Spans that end later do nothing. */
PyObject *core_close_all(PyObject *module, PyObject *unused);

/* ---- span.c ---------------------------------------------------------------------------------- */

PyObject *core_operation_type(void);
PyObject *core_span_type(void);

/* The operation of this name. Pass NULL as the monitor for an operation that always writes to the
 * present default monitor. The same name gives the same operation. */
PyObject *core_operation_of(core_monitor *monitor, PyObject *name);

/* A span that has not begun. */
PyObject *core_span_of(core_monitor *monitor, PyObject *name, bool metric);

/* ---- stream.c: spans on a stream of a device ------------------------------------------------- */

PyObject *core_stream_span_type(void);

/* track(name, *, stream=None, device=None) of a monitor, or of the default monitor if it is NULL.
 */
PyObject *core_track(core_monitor *monitor, PyObject *const *arguments, Py_ssize_t count,
                     PyObject *keywords);

/* resolve_gpu(seconds=5.0) of a monitor that is open. */
PyObject *core_resolve_gpu(core_monitor *monitor, PyObject *args, PyObject *keywords);

/* ---- meter.c --------------------------------------------------------------------------------- */

PyObject *core_meter_type(void);
void core_meters_close(void); /* called when the interpreter ends */

/* ---- ready.c --------------------------------------------------------------------------------- */

int core_ready_init(void);

/* An awaitable that is complete at once, with the result `value`. */
PyObject *core_ready(PyObject *value);

/* ---- lanes.c: each task of asyncio is a lane ------------------------------------------------- */

/* The monitor and the task to which the last span of a thread belonged. */
typedef struct core_lane_mark {
    const core_monitor *monitor;
    const PyObject *task;
    uint64_t generation;
} core_lane_mark;

int core_lanes_init(void);

/* Assign the next spans of this thread to the lane of the asyncio task that runs on it, or to the
 * lane of the thread if no task runs. Returns false with an exception if that fails. */
bool core_lane_select(core_monitor *monitor);

/* End the lanes of a monitor that is about to be closed. */
void core_lanes_forget(core_monitor *monitor);

/* A function of the module, for os.register_at_fork(). It is called in a forked child. */
PyObject *core_lanes_forked(PyObject *module, PyObject *unused);

/* ---- record.c -------------------------------------------------------------------------------- */

PyObject *core_record_type(void);

/* Make a record object. It takes ownership of `record`, also if it fails. */
PyObject *core_record_of(assay_record *record);

/* The record of a record object, borrowed. NULL with an exception if `object` is not a record. */
const assay_record *core_record_handle(PyObject *object);

/* Functions of the module. core_load() reads a record, or the results of another tool, from a file.
 * core_snapshot() reads the journal in a file, or all journals of a directory, as one record. */
PyObject *core_load(PyObject *module, PyObject *path);
PyObject *core_snapshot(PyObject *module, PyObject *path);

/* ---- bench.c, analyze.c, run.c: functions of the module -------------------------------------- */

/* core_usage() returns the counters of the kernel so far, as opaque bytes. core_run_record() makes
 * the record of everything since then. Its arguments are the directory of the journals, the usage
 * before, the words of the command, and the name of the run or None. */
PyObject *core_usage(PyObject *module, PyObject *unused);
PyObject *core_run_record(PyObject *module, PyObject *args);

PyObject *core_bench(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *core_compare(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *core_fit(PyObject *module, PyObject *args);
PyObject *core_growth_type(void);

#endif
