/* The list of driver calls that submit work or wait, and the table of submitting calls. */
#include "cupti/submit.h"

#include <stddef.h>

enum { SILENCE_BITS = 30 }; /* in units of 4 ns: up to 4.29 s */

/* These are calls of the driver and not of the runtime, because programs that use the runtime make
 * them, too. The numbers are those of CUPTI's callbacks (CUPTI_DRIVER_TRACE_CBID_…), which never
 * change. The line behind a call is its per-thread variant. */
const assay__driver_call assay__driver_calls[] = {
    {307, ASSAY__CALL_SUBMITS}, /* cuLaunchKernel */
    {442, ASSAY__CALL_SUBMITS},
    {652, ASSAY__CALL_SUBMITS}, /* cuLaunchKernelEx */
    {653, ASSAY__CALL_SUBMITS},
    {477, ASSAY__CALL_SUBMITS}, /* cuLaunchCooperativeKernel */
    {478, ASSAY__CALL_SUBMITS},
    {514, ASSAY__CALL_SUBMITS}, /* cuGraphLaunch */
    {515, ASSAY__CALL_SUBMITS},
    {277, ASSAY__CALL_SUBMITS}, /* cuMemcpyHtoDAsync */
    {421, ASSAY__CALL_SUBMITS},
    {279, ASSAY__CALL_SUBMITS}, /* cuMemcpyDtoHAsync */
    {422, ASSAY__CALL_SUBMITS},
    {281, ASSAY__CALL_SUBMITS}, /* cuMemcpyDtoDAsync */
    {423, ASSAY__CALL_SUBMITS},
    {289, ASSAY__CALL_SUBMITS}, /* cuMemcpy2DAsync */
    {424, ASSAY__CALL_SUBMITS},
    {306, ASSAY__CALL_SUBMITS}, /* cuMemcpyAsync */
    {418, ASSAY__CALL_SUBMITS},
    {216, ASSAY__CALL_SUBMITS}, /* cuMemsetD8Async */
    {428, ASSAY__CALL_SUBMITS},
    {220, ASSAY__CALL_SUBMITS}, /* cuMemsetD32Async */
    {430, ASSAY__CALL_SUBMITS},
    {276, ASSAY__CALL_SUBMITS | ASSAY__CALL_WAITS}, /* cuMemcpyHtoD */
    {397, ASSAY__CALL_SUBMITS | ASSAY__CALL_WAITS},
    {278, ASSAY__CALL_SUBMITS | ASSAY__CALL_WAITS}, /* cuMemcpyDtoH */
    {398, ASSAY__CALL_SUBMITS | ASSAY__CALL_WAITS},
    {17, ASSAY__CALL_WAITS}, /* cuCtxSynchronize */
    {800, ASSAY__CALL_WAITS},
    {126, ASSAY__CALL_WAITS}, /* cuStreamSynchronize */
    {440, ASSAY__CALL_WAITS},
    {121, ASSAY__CALL_WAITS}, /* cuEventSynchronize */
};
const uint32_t assay__driver_call_count = sizeof assay__driver_calls / sizeof *assay__driver_calls;

unsigned assay__driver_call_what(uint32_t id)
{
    for (uint32_t i = 0; i < assay__driver_call_count; i++)
        if (assay__driver_calls[i].id == id)
            return assay__driver_calls[i].what;
    return 0;
}

void assay__submit_begin(assay__submits *submits, uint32_t correlation, uint64_t now_ns)
{
    assay__submit *row = &submits->rows[correlation % ASSAY__SUBMITS];
    uint64_t last = atomic_load_explicit(&submits->last_ns, memory_order_relaxed);
    uint64_t end = last & ~UINT64_C(1), most = (UINT64_C(1) << SILENCE_BITS) - 1;
    uint64_t silence = now_ns > end ? (now_ns - end) / 4 : 0;
    silence = silence < most ? silence : most;
    atomic_store_explicit(&row->time_ns, now_ns, memory_order_relaxed);
    atomic_store_explicit(&row->key, (uint64_t)correlation << 32 | silence << 1 | (last & 1),
                          memory_order_release);
}

void assay__submit_end(assay__submits *submits, bool waited, uint64_t now_ns)
{
    atomic_store_explicit(&submits->last_ns, (now_ns & ~UINT64_C(1)) | waited,
                          memory_order_relaxed);
}

bool assay__submit_find(const assay__submits *submits, uint32_t correlation, uint64_t *time_ns,
                        uint32_t *silence_ns, bool *after_wait)
{
    const assay__submit *row = &submits->rows[correlation % ASSAY__SUBMITS];
    uint64_t key = atomic_load_explicit(&row->key, memory_order_acquire);
    *time_ns = atomic_load_explicit(&row->time_ns, memory_order_relaxed);
    uint64_t silence = (key >> 1 & ((UINT64_C(1) << SILENCE_BITS) - 1)) * 4;
    *silence_ns = (uint32_t)silence;
    *after_wait = (key & 1) != 0;
    return *time_ns != 0 && key >> 32 == correlation;
}
