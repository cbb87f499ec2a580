/* run(): makes one record of a block of code, from the journals of all its processes and from the
 * counters of the kernel. The counters are read before and after the block and subtracted. */
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "assay/record_build.h"
#include "python/core/core.h"

/* The counters of the kernel for this process and for its children that have ended. */
typedef struct usage {
    double wall_seconds;
    struct rusage self, children;
} usage;

static const double block_bytes = 512; /* the unit of ru_inblock and ru_oublock: getrusage(2) */

PyObject *core_usage(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    usage now = {.wall_seconds = assay_clock_seconds(assay_clock_default())};
    getrusage(RUSAGE_SELF, &now.self);
    getrusage(RUSAGE_CHILDREN, &now.children);
    return PyBytes_FromStringAndSize((const char *)&now, sizeof now);
}

static double seconds_between(struct timeval from, struct timeval to)
{
    return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_usec - from.tv_usec) * 1e-6;
}

#define GAIN(field)                                                                                \
    assay_reading_of((double)(after->self.field - before->self.field + after->children.field -     \
                              before->children.field))

static void fill_process(assay_record *record, const usage *before, const usage *after)
{
    assay_record_process *process = &record->process;
    long peak = after->self.ru_maxrss > after->children.ru_maxrss ? after->self.ru_maxrss
                                                                  : after->children.ru_maxrss;
    record->has_process = true;
    process->process_id = getpid();
    process->finished = true;
    process->wall_seconds = assay_reading_of(after->wall_seconds - before->wall_seconds);
    process->user_seconds =
        assay_reading_of(seconds_between(before->self.ru_utime, after->self.ru_utime) +
                         seconds_between(before->children.ru_utime, after->children.ru_utime));
    process->sys_seconds =
        assay_reading_of(seconds_between(before->self.ru_stime, after->self.ru_stime) +
                         seconds_between(before->children.ru_stime, after->children.ru_stime));
    process->peak_rss_bytes = assay_reading_of((double)peak * 1024);
    process->voluntary_switches = GAIN(ru_nvcsw);
    process->involuntary_switches = GAIN(ru_nivcsw);
    process->minor_faults = GAIN(ru_minflt);
    process->major_faults = GAIN(ru_majflt);
    process->read_bytes = GAIN(ru_inblock);
    process->written_bytes = GAIN(ru_oublock);
    process->read_bytes.value *= block_bytes;
    process->written_bytes.value *= block_bytes;
}

static assay_status fill_command(assay_record *record, PyObject *words)
{
    size_t count = (size_t)PyList_Size(words);
    const char **command = assay_record_allocate(record, count + 1, sizeof *command);
    if (command == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const char *text;
        PyObject *bytes =
            core_name(PyList_GetItem(words, (Py_ssize_t)i), "a word of the command", &text);
        if (bytes == NULL)
            return ASSAY_E_ARGUMENT;
        command[i] = assay_record_text(record, text);
        Py_DECREF(bytes);
        if (command[i] == NULL)
            return ASSAY_E_MEMORY;
    }
    record->process.command = command;
    record->process.command_count = count;
    return ASSAY_OK;
}

/* Read all journals as one record. If there is no journal, the record has no spans. */
static assay_status read_journals(const char *directory, assay_error *error, assay_record **record)
{
    assay_status status = assay_snapshot_directory(directory, error, record);
    return status == ASSAY_E_NOT_FOUND ? assay_record_new(record) : status;
}

PyObject *core_run_record(PyObject *module, PyObject *args)
{
    (void)module;
    const char *directory = NULL, *before = NULL;
    Py_ssize_t length = 0;
    PyObject *given, *after = NULL, *path = NULL, *words, *name, *name_bytes = NULL, *result = NULL;
    assay_record *record = NULL;
    assay_error error = {0};
    if (!PyArg_ParseTuple(args, "Oy#O!O:run_record", &given, &before, &length, &PyList_Type, &words,
                          &name) ||
        (path = core_path(given, &directory)) == NULL || (after = core_usage(NULL, NULL)) == NULL)
        goto cleanup;
    if (length != (Py_ssize_t)sizeof(usage)) {
        PyErr_SetString(PyExc_ValueError, "usage() returns what run_record() needs");
        goto cleanup;
    }
    const char *text = NULL;
    if (name != Py_None && (name_bytes = core_name(name, "the name of a run", &text)) == NULL)
        goto cleanup;
    assay_status status = read_journals(directory, &error, &record);
    if (status == ASSAY_OK)
        status = assay_record_describe(record);
    if (status == ASSAY_OK)
        status = fill_command(record, words);
    if (status == ASSAY_OK) {
        record->kind = "run";
        record->name = text != NULL ? assay_record_text(record, text) : record->name;
        fill_process(record, (const usage *)(const void *)before,
                     (const usage *)(const void *)PyBytes_AsString(after));
        result = core_record_of(record);
    } else {
        assay_record_free(record);
        core_raise(status, &error);
    }

cleanup:
    Py_XDECREF(path);
    Py_XDECREF(after);
    Py_XDECREF(name_bytes);
    return result;
}
