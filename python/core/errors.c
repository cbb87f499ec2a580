/* Turns the statuses of libassay into Python exceptions. This is the only place that chooses the
 * class of an exception for a status. */
#include "python/core/core.h"

static PyObject *exception_of(assay_status status)
{
    switch (status) {
    case ASSAY_E_MEMORY:
        return PyExc_MemoryError;
    case ASSAY_E_IO:
    case ASSAY_E_FULL:
        return PyExc_OSError;
    case ASSAY_E_NOT_FOUND:
        return PyExc_FileNotFoundError;
    case ASSAY_E_PERMISSION:
        return PyExc_PermissionError;
    case ASSAY_E_UNSUPPORTED:
    case ASSAY_E_STATE:
    case ASSAY_E_LIMIT:
        return PyExc_RuntimeError;
    case ASSAY_E_INTERRUPTED:
        return PyExc_KeyboardInterrupt;
    default:
        return PyExc_ValueError;
    }
}

PyObject *core_raise(assay_status status, const assay_error *error)
{
    if (PyErr_Occurred() == NULL) {
        bool told = error != NULL && error->message[0] != '\0';
        PyErr_SetString(exception_of(status), told ? error->message : assay_status_message(status));
    }
    return NULL;
}
