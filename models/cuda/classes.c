/* The classes of models on devices. A class is made when it is first asked for, and kept for the
 * life of the process. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "models/cuda/instance.h"
#include "models/cuda/parts.h"

static const assay__gpu_kind *const kinds[] = {&assay__gpu_graph_transformer, &assay__gpu_lstm,
                                               &assay__gpu_mlp, &assay__gpu_next_road,
                                               &assay__gpu_siren};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct device_class {
    assay_model_class table; /* first, so that a pointer to the class is one to the struct */
    const assay__gpu_kind *kind;
    assay__gpu *gpu;
    int index;
    char device[16];
    struct device_class *next;
} device_class;

static struct {
    pthread_mutex_t lock;
    device_class *first;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const assay__gpu_kind *kind_of(const assay_model_class *host)
{
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i]->host == host)
            return kinds[i];
    return NULL;
}

static assay_status make(const assay__gpu_kind *kind, int index, assay_error *error,
                         device_class **made)
{
    assay__gpu *gpu = NULL;
    assay_status status = assay__gpu_open(index, error, &gpu);
    if (status != ASSAY_OK)
        return status;
    *made = calloc(1, sizeof **made);
    if (*made == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for a class of models");
    **made = (device_class){.kind = kind, .gpu = gpu, .index = index, .next = process.first};
    assay__gpu_class_fill(kind->host, &(*made)->table);
    snprintf((*made)->device, sizeof(*made)->device, "cuda:%d", index);
    process.first = *made;
    return ASSAY_OK;
}

assay_status assay__gpu_class(const assay_model_class *host, int index, assay_error *error,
                              const assay_model_class **class_)
{
    const assay__gpu_kind *kind = kind_of(host);
    if (kind == NULL)
        return assay__fail(error, ASSAY_E_UNSUPPORTED,
                           "model '%s' runs on the processor only; on CUDA devices run "
                           "graph_transformer, lstm, mlp, next_road and siren",
                           host->name);
    assay_status status = ASSAY_OK;
    pthread_mutex_lock(&process.lock);
    device_class *found = process.first;
    while (found != NULL && (found->kind != kind || found->index != index))
        found = found->next;
    if (found == NULL)
        status = make(kind, index, error, &found);
    pthread_mutex_unlock(&process.lock);
    if (status == ASSAY_OK)
        *class_ = &found->table;
    return status;
}

bool assay__gpu_class_is(const assay_model_class *class_)
{
    return class_->destroy == assay__gpu_model_free;
}

const char *assay__gpu_class_device(const assay_model_class *class_)
{
    return ((const device_class *)class_)->device;
}

assay__gpu *assay__gpu_of_class(const assay_model_class *class_)
{
    return ((const device_class *)class_)->gpu;
}

assay_status assay__gpu_model_new(const assay_model_class *class_, const double *settings,
                                  uint64_t seed, assay_error *error, void **state)
{
    const device_class *of = (const device_class *)class_;
    return assay__gpu_model_make(of->kind, of->gpu, settings, seed, error, state);
}
