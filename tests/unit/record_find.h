/* Finds operations in a record by their names. */
#ifndef ASSAY_TESTS_UNIT_RECORD_FIND_H
#define ASSAY_TESTS_UNIT_RECORD_FIND_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <string.h>

#include "assay/record.h"

/* NULL if the record has no such operation. */
static inline const assay_record_operation *find_operation(const assay_record *record,
                                                           const char *name)
{
    for (size_t i = 0; i < record->operation_count; i++)
        if (strcmp(record->operations[i].name, name) == 0)
            return &record->operations[i];
    return NULL;
}

/* The test fails if the record has no such operation. */
static inline const assay_record_operation *operation_of(const assay_record *record,
                                                         const char *name)
{
    const assay_record_operation *operation = find_operation(record, name);
    if (operation == NULL)
        fail_msg("no operation '%s'", name);
    return operation;
}

#endif
