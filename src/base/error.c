/* The names and messages of statuses and validities, and the functions that fill an assay_error.
 * The texts come from the lists in assay/status.h and assay/reading.h, so that a new status cannot
 * be forgotten here. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "assay/reading.h"
#include "base/text.h"

const char *assay_status_name(assay_status status)
{
    switch (status) {
#define NAME_CASE(name, value, message)                                                            \
    case name:                                                                                     \
        return #name;
        ASSAY_STATUS_LIST(NAME_CASE)
#undef NAME_CASE
    case ASSAY_STATUS__LAST:
        break;
    }
    return "unknown status";
}

const char *assay_status_message(assay_status status)
{
    switch (status) {
#define MESSAGE_CASE(name, value, message)                                                         \
    case name:                                                                                     \
        return message;
        ASSAY_STATUS_LIST(MESSAGE_CASE)
#undef MESSAGE_CASE
    case ASSAY_STATUS__LAST:
        break;
    }
    return "unknown status";
}

static assay_status status_of_errno(int number)
{
    switch (number) {
    case ENOSPC:
    case EDQUOT:
        return ASSAY_E_FULL;
    case EACCES:
    case EPERM:
    case EROFS:
        return ASSAY_E_PERMISSION;
    case ENOENT:
    case ENOTDIR:
        return ASSAY_E_NOT_FOUND;
    case ENOMEM:
        return ASSAY_E_MEMORY;
    default:
        return ASSAY_E_IO;
    }
}

assay_status assay__fail(assay_error *error, assay_status status, const char *format, ...)
{
    if (error == NULL)
        return status;
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    assay__text_make_printable(error->message);
    return status;
}

assay_status assay__fail_errno(assay_error *error, const char *format, ...)
{
    int number = errno;
    assay_status status = status_of_errno(number);
    if (error == NULL)
        return status;
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    size_t used = strlen(error->message);
    char reason[128];
    snprintf(error->message + used, sizeof error->message - used, ": %s",
             strerror_r(number, reason, sizeof reason));
    assay__text_make_printable(error->message);
    return status;
}

const char *assay_validity_text(assay_validity validity)
{
    switch (validity) {
#define TEXT_CASE(name, text)                                                                      \
    case name:                                                                                     \
        return text;
        ASSAY_VALIDITY_LIST(TEXT_CASE)
#undef TEXT_CASE
    }
    return "unknown";
}
