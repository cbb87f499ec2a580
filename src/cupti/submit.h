/* The calls of the driver that submit work, as seen on the way in, until the record of that work
 * arrives; and those that wait for the device.
 *
 * A call is stored at the place that its correlation number gives, so storing takes no lock and no
 * search: two stores of 8 bytes. A later call with the same place overwrites it, which loses what
 * was known of work that more than 65536 calls overtook. */
#ifndef ASSAY_CUPTI_SUBMIT_H
#define ASSAY_CUPTI_SUBMIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { ASSAY__SUBMITS = 1 << 16 };

typedef struct assay__submit {
    _Atomic uint64_t key; /* correlation, then the silence before the call in units of 4 ns, and
                             whether the call before it waited */
    _Atomic uint64_t time_ns;
} assay__submit;

typedef struct assay__submits {
    _Atomic uint64_t last_ns; /* when the latest call ended, and whether it waited: the last bit */
    assay__submit rows[ASSAY__SUBMITS];
} assay__submits;

enum { ASSAY__CALL_SUBMITS = 1, ASSAY__CALL_WAITS = 2 };

typedef struct assay__driver_call {
    uint32_t id; /* CUPTI's number */
    unsigned what;
} assay__driver_call;

extern const assay__driver_call assay__driver_calls[];
extern const uint32_t assay__driver_call_count;

/* What a call of this number does; 0 for one that is not in the list. */
unsigned assay__driver_call_what(uint32_t id);

void assay__submit_begin(assay__submits *submits, uint32_t correlation, uint64_t now_ns);
void assay__submit_end(assay__submits *submits, bool waited, uint64_t now_ns);

/* What is known of the call with this number; false if nothing is. */
bool assay__submit_find(const assay__submits *submits, uint32_t correlation, uint64_t *time_ns,
                        uint32_t *silence_ns, bool *after_wait);

#endif
