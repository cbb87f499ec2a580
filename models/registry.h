/* The classes built in. A new model is one line in registry.c. */
#ifndef ASSAY_MODELS_REGISTRY_H
#define ASSAY_MODELS_REGISTRY_H

#include "assay/model.h"

/* Is this a table that can be called safely? Used on everything that comes from outside; `where`
 * begins the messages ("plugin './my.so'"). ASSAY_E_VERSION for another ABI, ASSAY_E_FORMAT for a
 * table that is incomplete or whose names and limits contradict each other. */
ASSAY_MUST_USE assay_status assay__class_check(const assay_model_class *class_, const char *where,
                                               assay_error *error);

/* The class that the shared object at `path` exports. It is never unloaded: models, threads and
 * destructors of the plugin may outlive any handle. */
ASSAY_MUST_USE assay_status assay__plugin_load(const char *path, assay_error *error,
                                               const assay_model_class **class_);

#endif
