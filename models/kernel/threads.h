/* How many threads the arithmetic may use, and work split among them.
 *
 *     assay__parallel(assay__parts(rows, 64), part, &context);
 *
 * The threads are ours: OpenBLAS computes each part on one thread. Its own threads would wait for
 * work beside ours on the same cores, and know nothing of attention, activations or whole searches.
 */
#ifndef ASSAY_MODELS_KERNEL_THREADS_H
#define ASSAY_MODELS_KERNEL_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* Called before the first model is made: OpenBLAS would otherwise take every core it finds. Cheap;
 * from any thread. */
void assay__models_start(void);

/* What assay_models_set_threads() (model.h) said; 1 before. */
int assay__threads(void);

/* One part of a work, counted from 0. */
typedef void (*assay__part)(void *context, int part);

/* Parts 0 ... parts - 1, in any order and on any threads, the calling one included; returns when
 * all are done. What a part computes must not depend on who computes it, so that results do not
 * either. Inside a part, and while another thread's call is under way, the caller does all parts
 * itself. Costs about a microsecond with threads that are awake, and some more to wake them; the
 * first call with more than one part starts them. After fork the child starts its own. */
void assay__parallel(int parts, assay__part part, void *context);

/* Into how many parts to split `count` things: one for each thread, none with less than `least`;
 * one inside a part. */
int assay__parts(int64_t count, int64_t least);

/* Where part `part` of `parts` begins among `count` things, at a multiple of `grain`; it ends where
 * the next begins. */
int64_t assay__part_start(int64_t count, int64_t grain, int parts, int part);

#endif
