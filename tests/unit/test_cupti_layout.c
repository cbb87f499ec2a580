/* Our declarations of CUPTI (src/cupti/api.h) compared with the toolkit's header, if it is
 * installed: the first fields of every version of a record that the header knows. */
#include <stddef.h>
#include <stdio.h>

#include "cupti/api.h"

#ifndef ASSAY_HAVE_CUPTI

int main(void)
{
    puts("no cupti.h here");
    return 77;
}

#else

#include <cuda.h>
#include <cupti.h>

#define SAME(ours, our_member, theirs, their_member)                                               \
    _Static_assert(offsetof(ours, our_member) == offsetof(theirs, their_member) &&                 \
                       sizeof(((ours *)NULL)->our_member) ==                                       \
                           sizeof(((theirs *)NULL)->their_member),                                 \
                   #theirs "." #their_member)

#define KERNEL(theirs)                                                                             \
    SAME(assay__cupti_kernel, start, theirs, start);                                               \
    SAME(assay__cupti_kernel, end, theirs, end);                                                   \
    SAME(assay__cupti_kernel, device, theirs, deviceId);                                           \
    SAME(assay__cupti_kernel, context, theirs, contextId);                                         \
    SAME(assay__cupti_kernel, stream, theirs, streamId);                                           \
    SAME(assay__cupti_kernel, correlation, theirs, correlationId);                                 \
    SAME(assay__cupti_kernel, name, theirs, name)
#define COPY(theirs)                                                                               \
    SAME(assay__cupti_memcpy, copy_kind, theirs, copyKind);                                        \
    SAME(assay__cupti_memcpy, source, theirs, srcKind);                                            \
    SAME(assay__cupti_memcpy, target, theirs, dstKind);                                            \
    SAME(assay__cupti_memcpy, bytes, theirs, bytes);                                               \
    SAME(assay__cupti_memcpy, start, theirs, start);                                               \
    SAME(assay__cupti_memcpy, end, theirs, end);                                                   \
    SAME(assay__cupti_memcpy, device, theirs, deviceId);                                           \
    SAME(assay__cupti_memcpy, context, theirs, contextId);                                         \
    SAME(assay__cupti_memcpy, stream, theirs, streamId)
#define SET(theirs)                                                                                \
    SAME(assay__cupti_memset, bytes, theirs, bytes);                                               \
    SAME(assay__cupti_memset, start, theirs, start);                                               \
    SAME(assay__cupti_memset, end, theirs, end);                                                   \
    SAME(assay__cupti_memset, device, theirs, deviceId);                                           \
    SAME(assay__cupti_memset, stream, theirs, streamId);                                           \
    SAME(assay__cupti_memset, correlation, theirs, correlationId)
#define MEMORY(theirs)                                                                             \
    SAME(assay__cupti_memory, operation, theirs, memoryOperationType);                             \
    SAME(assay__cupti_memory, memory, theirs, memoryKind);                                         \
    SAME(assay__cupti_memory, bytes, theirs, bytes);                                               \
    SAME(assay__cupti_memory, time, theirs, timestamp);                                            \
    SAME(assay__cupti_memory, device, theirs, deviceId)

KERNEL(CUpti_ActivityKernel5);
KERNEL(CUpti_ActivityKernel6);
KERNEL(CUpti_ActivityKernel7);
KERNEL(CUpti_ActivityKernel8);
KERNEL(CUpti_ActivityKernel9);
COPY(CUpti_ActivityMemcpy4);
COPY(CUpti_ActivityMemcpy5);
COPY(CUpti_ActivityMemcpyPtoP3);
COPY(CUpti_ActivityMemcpyPtoP4);
SAME(assay__cupti_memcpy, correlation, CUpti_ActivityMemcpy5, correlationId);
SET(CUpti_ActivityMemset3);
SET(CUpti_ActivityMemset4);
MEMORY(CUpti_ActivityMemory2);
MEMORY(CUpti_ActivityMemory3);
#if CUPTI_API_VERSION >= 130000
KERNEL(CUpti_ActivityKernel10);
COPY(CUpti_ActivityMemcpy6);
MEMORY(CUpti_ActivityMemory4);
#endif
SAME(assay__cupti_call, site, CUpti_CallbackData, callbackSite);
SAME(assay__cupti_call, correlation, CUpti_CallbackData, correlationId);

#define NUMBER(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)
NUMBER(ASSAY__CUPTI_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
NUMBER(ASSAY__CUPTI_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
NUMBER(ASSAY__CUPTI_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
NUMBER(ASSAY__CUPTI_MEMCPY_PEER, CUPTI_ACTIVITY_KIND_MEMCPY2);
NUMBER(ASSAY__CUPTI_MEMORY, CUPTI_ACTIVITY_KIND_MEMORY2);
NUMBER(ASSAY__CUPTI_FROM_HOST, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
NUMBER(ASSAY__CUPTI_TO_HOST, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
NUMBER(ASSAY__CUPTI_ALLOCATED, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
NUMBER(ASSAY__CUPTI_RELEASED, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
NUMBER(ASSAY__CUPTI_ON_DEVICE, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
NUMBER(ASSAY__CUPTI_MANAGED, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED);
NUMBER(ASSAY__CUPTI_OTHER_CLIENT, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
NUMBER(ASSAY__CUPTI_NOT_ALLOWED, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
NUMBER(ASSAY__CUPTI_ZEROED_BUFFERS, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
NUMBER(ASSAY__CUPTI_DRIVER_CALLS, CUPTI_CB_DOMAIN_DRIVER_API);
NUMBER(ASSAY__CUPTI_ENTER, CUPTI_API_ENTER);
NUMBER(ASSAY__CUPTI_EXIT, CUPTI_API_EXIT);
NUMBER(ASSAY__CUPTI_PROFILER_START, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
NUMBER(ASSAY__CUPTI_PROFILER_STOP, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);

int main(void)
{
    puts("the declarations agree with cupti.h"); /* they were compared by the compiler */
    return 0;
}

#endif
