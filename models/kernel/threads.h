/* How many threads the arithmetic may use. */
#ifndef ASSAY_MODELS_KERNEL_THREADS_H
#define ASSAY_MODELS_KERNEL_THREADS_H

/* Called before the first model is made: one thread, unless assay_models_set_threads() (model.h)
 * has been called. OpenBLAS would otherwise take every core it finds. Cheap; from any thread. */
void assay__models_start(void);

#endif
