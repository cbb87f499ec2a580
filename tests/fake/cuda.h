/* What tests tell the driver of tests/fake/cuda.c. */
#ifndef ASSAY_TESTS_FAKE_CUDA_H
#define ASSAY_TESTS_FAKE_CUDA_H

#include <stddef.h>

/* What a call returns instead of success; `capturing` is the state of every stream. */
typedef struct fake_faults {
    int context_now, context_push, stream_context, event_new, event_record, event_query,
        event_elapsed;
    int capturing, pool;
} fake_faults;

fake_faults *fake_cuda_faults(void);
void fake_work(const void *stream, double seconds); /* queue work on a stream */
void fake_advance(double seconds);                  /* let the device run */
void fake_set_context(void *context);               /* of the calling thread */
void fake_allocate(long long bytes);                /* from the pool; negative: given back */
size_t fake_live_events(void);                      /* created and not destroyed */

#endif
