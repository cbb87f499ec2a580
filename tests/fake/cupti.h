/* The calls by which tests control the fake library of tests/fake/cupti.c. */
#ifndef ASSAY_TESTS_FAKE_CUPTI_H
#define ASSAY_TESTS_FAKE_CUPTI_H

#include <stdint.h>

/* The program launches a kernel, which runs at once for `ns` on a stream of its own device. */
void fake_launch(const char *name, uint32_t stream, uint64_t ns);
void fake_copy_in(uint64_t bytes, uint64_t ns); /* from pinned host memory */
void fake_allocate_device(uint64_t bytes);
void fake_release_device(uint64_t bytes);
void fake_synchronize(void);
void fake_profiler(int begins); /* cudaProfilerStart() or cudaProfilerStop() */
void fake_deliver(void);        /* as at the end of the flush period */

/* The number of enabled kinds, and the number of buffers that the library holds. Both are 0 when a
 * client has left. */
int fake_enabled_kinds(void);
int fake_held_buffers(void);

#endif
