/* Text between Python and C: names and paths as UTF-8, and the text that libassay prints, as Python
 * strings. */
#include <stdlib.h>
#include <string.h>

#include "python/core/core.h"

PyObject *core_name(PyObject *name, const char *what, const char **text)
{
    if (!PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError, "%s must be a string, not %R", what,
                     (PyObject *)Py_TYPE(name));
        return NULL;
    }
    PyObject *bytes = PyUnicode_AsEncodedString(name, "utf-8", "backslashreplace");
    char *start = NULL;
    Py_ssize_t length = 0;
    if (bytes == NULL || PyBytes_AsStringAndSize(bytes, &start, &length) != 0)
        goto failed;
    if (strlen(start) != (size_t)length) {
        PyErr_Format(PyExc_ValueError, "%s must not contain a null character: %R", what, name);
        goto failed;
    }
    *text = start;
    return bytes;

failed:
    Py_XDECREF(bytes);
    return NULL;
}

PyObject *core_path(PyObject *path, const char **text)
{
    PyObject *bytes = NULL;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    *text = PyBytes_AsString(bytes);
    return bytes;
}

PyObject *core_from_reading(assay_reading reading)
{
    if (reading.validity != ASSAY_VALID)
        Py_RETURN_NONE;
    return PyFloat_FromDouble(reading.value);
}

bool core_stream_open(core_stream *stream)
{
    *stream = (core_stream){0};
    stream->file = open_memstream(&stream->text, &stream->length);
    if (stream->file == NULL)
        PyErr_NoMemory();
    return stream->file != NULL;
}

PyObject *core_stream_take(core_stream *stream, assay_status status, const assay_error *error)
{
    bool whole = fclose(stream->file) == 0;
    PyObject *text = NULL;
    if (status != ASSAY_OK)
        core_raise(status, error);
    else if (!whole)
        PyErr_NoMemory();
    else
        text = PyUnicode_DecodeUTF8(stream->text, (Py_ssize_t)stream->length, "replace");
    free(stream->text);
    return text;
}

PyObject *core_stream_write(core_stream *stream, assay_status status, const assay_error *error,
                            PyObject *file)
{
    PyObject *text = core_stream_take(stream, status, error);
    if (text == NULL)
        return NULL;
    if (file == NULL || file == Py_None)
        file = PySys_GetObject("stdout");
    int failed = 0; /* in a program without a console, sys.stdout is missing or None */
    if (file != NULL && file != Py_None)
        failed = PyFile_WriteObject(text, file, Py_PRINT_RAW);
    Py_DECREF(text);
    if (failed)
        return NULL;
    Py_RETURN_NONE;
}
