/* Checks and copies structs whose first member is their size. */
#include "base/struct_size.h"

#include <string.h>

#include "base/error.h"

static size_t size_of(const void *given)
{
    size_t struct_size;
    memcpy(&struct_size, given, sizeof struct_size);
    return struct_size;
}

assay_status assay__struct_check(const void *given, size_t struct_size, size_t known,
                                 const char *what, assay_error *error)
{
    if (struct_size < known || struct_size > ASSAY__STRUCT_MAX_BYTES)
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "%s: struct_size is %zu, not its sizeof (%zu here); start from "
                           "ASSAY_INIT",
                           what, struct_size, known);
    const unsigned char *bytes = given;
    for (size_t i = known; i < struct_size; i++)
        if (bytes[i] != 0)
            return assay__fail(error, ASSAY_E_VERSION,
                               "%s: a field is set that this libassay does not know; update "
                               "libassay, or leave zero what is new",
                               what);
    return ASSAY_OK;
}

assay_status assay__struct_take(void *own, size_t known, const void *given, const char *what,
                                assay_error *error)
{
    assay_status status =
        given != NULL ? assay__struct_check(given, size_of(given), known, what, error) : ASSAY_OK;
    if (status != ASSAY_OK)
        return status;
    if (given != NULL)
        memcpy(own, given, known);
    else
        memset(own, 0, known);
    memcpy(own, &known, sizeof known);
    return ASSAY_OK;
}

bool assay__struct_has_room(const void *target, size_t known)
{
    return target != NULL && size_of(target) >= known;
}
