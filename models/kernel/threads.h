/* The number of threads that the arithmetic may use, and the splitting of work among them.
 *
 *     assay__parallel(assay__parts(rows, 64), part, &context);
 *
 * The threads are ours, and OpenBLAS computes each part on one thread. OpenBLAS's own threads would
 * wait for work beside ours on the same cores. They would also not help with attention, activations
 * or whole searches, which are no matrix products. */
#ifndef ASSAY_MODELS_KERNEL_THREADS_H
#define ASSAY_MODELS_KERNEL_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* Restricts OpenBLAS to one thread; it would otherwise use every core it finds. The functions that
 * make a model call it first, and so does assay_models_set_threads(). The call is cheap and may
 * come from any thread. */
void assay__models_start(void);

/* The number that assay_models_set_threads() (model.h) has set; 1 before its first call. */
int assay__threads(void);

/* Computes one part of the work; parts are counted from 0. */
typedef void (*assay__part)(void *context, int part);

/* Computes the parts 0 ... parts - 1, in any order and on any of the threads, including the calling
 * one. Returns when all are done. The result of a part must not depend on the thread that computes
 * it, so that results do not vary from run to run. The caller computes all parts itself if it is
 * itself inside a part, or if another thread's call is under way. A call costs about a microsecond
 * if the threads are awake, and some more to wake them. The first call with more than one part
 * starts the threads. After a fork the child starts threads of its own. */
void assay__parallel(int parts, assay__part part, void *context);

/* Computes the things `first` to first + count - 1. */
typedef void (*assay__range)(void *context, int64_t first, int64_t count);

/* Splits `count` things into assay__fine_parts() parts of about `least` things or more, and
 * computes the parts as assay__parallel() does. A part begins at a multiple of `grain`. */
void assay__parallel_ranges(int64_t count, int64_t grain, int64_t least, assay__range range,
                            void *context);

/* Returns the number of parts into which to split `count` things: one for each thread, but none
 * with fewer than `least` things. Inside a part it is 1. */
int assay__parts(int64_t count, int64_t least);

/* Returns a number of parts that is up to four times as large, for work whose parts need no memory
 * of their own. A thread that is slowed down by others then takes fewer parts, and the rest need
 * not wait for it. */
int assay__fine_parts(int64_t count, int64_t least);

/* Returns where part `part` of `parts` begins among `count` things: at a multiple of `grain`, or at
 * `count`. A part ends where the next begins. */
int64_t assay__part_start(int64_t count, int64_t grain, int parts, int part);

#endif
