/* A growable byte buffer that declares its maximum.
 *
 * Invariants: `data` is NULL or terminated at data[length]; length <= maximum. The first failed
 * append sticks: later appends do nothing and return the same status, so a writer may append freely
 * and check once. */
#ifndef ASSAY_BASE_BUFFER_H
#define ASSAY_BASE_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"

typedef struct assay__buffer {
    char *data;
    size_t length;
    size_t capacity;
    size_t maximum;
    assay_status status;
} assay__buffer;

/* No allocation happens before the first append. */
void assay__buffer_init(assay__buffer *buffer, size_t maximum);

void assay__buffer_release(assay__buffer *buffer);

/* These calls fail with ASSAY_E_LIMIT past the maximum, and with ASSAY_E_MEMORY when an allocation
 * failed. */
assay_status assay__buffer_append(assay__buffer *buffer, const void *bytes, size_t length);
assay_status assay__buffer_append_text(assay__buffer *buffer, const char *text);
assay_status assay__buffer_append_number(assay__buffer *buffer, uint64_t number); /* in decimal */
ASSAY_PRINTF(2, 3)
assay_status assay__buffer_printf(assay__buffer *buffer, const char *format, ...);

/* Hand the storage to the caller, who then owns it and frees it with free(). The buffer is empty
 * afterwards. Returns NULL if nothing was appended or an append failed. */
char *assay__buffer_take(assay__buffer *buffer);

#endif
