/* OpenBLAS keeps one number for the process. Who sets it explicitly is never overridden by the
 * default, whichever comes first. */
#include "models/kernel/threads.h"

#include <cblas.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "assay/model.h"

static atomic_bool chosen;

static void choose_one(void)
{
    if (!atomic_load(&chosen))
        openblas_set_num_threads(1);
}

void assay__models_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose_one);
}

void assay_models_set_threads(int threads)
{
    atomic_store(&chosen, true);
    openblas_set_num_threads(threads < 1 ? 1 : threads);
}
