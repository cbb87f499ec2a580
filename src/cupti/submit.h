/* The driver calls that submit work and those that wait for the device. What we know of a
 * submitting call is kept here until the record of its work arrives.
 *
 * The correlation number of a call gives the row in which it is stored. So storing a call takes no
 * lock and no search, only two stores of 8 bytes. A later call with the same row overwrites it. So
 * a call is lost if its record arrives after 65536 further calls. */
#ifndef ASSAY_CUPTI_SUBMIT_H
#define ASSAY_CUPTI_SUBMIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { ASSAY__SUBMITS = 1 << 16 };

typedef struct assay__submit {
    _Atomic uint64_t key; /* correlation number (upper 32 bits); time without a driver call before
                             it, in units of 4 ns; whether the call before it waited (last bit) */
    _Atomic uint64_t time_ns;
} assay__submit;

typedef struct assay__submits {
    _Atomic uint64_t last_ns; /* when the latest call ended; the last bit says whether it waited */
    assay__submit rows[ASSAY__SUBMITS];
} assay__submits;

enum { ASSAY__CALL_SUBMITS = 1, ASSAY__CALL_WAITS = 2 };

typedef struct assay__driver_call {
    uint32_t id; /* CUPTI's number */
    unsigned what;
} assay__driver_call;

extern const assay__driver_call assay__driver_calls[];
extern const uint32_t assay__driver_call_count;

/* What a call with this number does: the sum of ASSAY__CALL_SUBMITS and ASSAY__CALL_WAITS; 0 for a
 * call that is not in the list. */
unsigned assay__driver_call_what(uint32_t id);

/* Note the begin of a call that submits work, and the end of any call in the list. */
void assay__submit_begin(assay__submits *submits, uint32_t correlation, uint64_t now_ns);
void assay__submit_end(assay__submits *submits, bool waited, uint64_t now_ns);

/* Find the call with this correlation number. False if it is not known (any more). */
bool assay__submit_find(const assay__submits *submits, uint32_t correlation, uint64_t *time_ns,
                        uint32_t *silence_ns, bool *after_wait);

#endif
