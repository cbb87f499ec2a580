/* The calls by which tests control the fake driver of tests/fake/cuda.c. */
#ifndef ASSAY_TESTS_FAKE_CUDA_H
#define ASSAY_TESTS_FAKE_CUDA_H

#include <stddef.h>

/* The results that calls return instead of success. `capturing` is the state of every stream. With
 * `captures_elsewhere` another stream is being captured in the global mode: a call that asks for an
 * event, on a thread whose mode is not relaxed, breaks that capture, which `broken_captures`
 * counts. */
typedef struct fake_faults {
    int context_now, context_push, stream_context, event_new, event_record, event_query,
        event_elapsed;
    int capturing, captures_elsewhere, broken_captures, pool;
    int lost_after; /* this many calls of the driver, the device is lost and all calls fail; 0:
                       never */
} fake_faults;

enum { FAKE_INSTANCE = 100 };

fake_faults *fake_cuda_faults(void);
void fake_cuda_reset_calls(void); /* count the calls for `lost_after` from now on */
/* Sets the boards of tests/fake/nvml.c that CUDA's devices 0, 1, ... are: the number of a board, or
 * FAKE_INSTANCE + that number for an instance (MIG) of it. Before this call no device can be
 * queried. */
void fake_see_boards(const int *boards, int count);
void *fake_context(int device); /* a context on that device */
void fake_put_stream(const void *stream,
                     void *context);                /* streams are in the first context otherwise */
void fake_destroy_stream(const void *stream);       /* queued work still runs */
void fake_destroy_contexts(void);                   /* as with a lost device or a reset */
void fake_work(const void *stream, double seconds); /* queue work on a stream */
void fake_advance(double seconds);                  /* let the device run */
void fake_set_context(void *context);               /* for the calling thread */
void fake_allocate(long long bytes);                /* from the pool; a negative number frees */
int fake_capture_mode(void);                        /* of the calling thread */
size_t fake_live_events(void);                      /* created and not destroyed */

#endif
