/* The built-in classes, and the checks and loading of classes from plugins. A new model is one line
 * in registry.c. */
#ifndef ASSAY_MODELS_REGISTRY_H
#define ASSAY_MODELS_REGISTRY_H

#include "assay/model.h"

/* Checks whether the functions of this class can be called safely. Every class that comes from
 * outside is checked. `where` begins the messages ("plugin './my.so'"). ASSAY_E_VERSION for another
 * ABI; ASSAY_E_FORMAT for a table that is incomplete, or whose names or limits are not valid. */
ASSAY_MUST_USE assay_status assay__class_check(const assay_model_class *class_, const char *where,
                                               assay_error *error);

/* Loads the class that the shared object at `path` exports. If the class is valid, the shared
 * object is never unloaded, because models, threads and destructors of the plugin may outlive any
 * handle. */
ASSAY_MUST_USE assay_status assay__plugin_load(const char *path, assay_error *error,
                                               const assay_model_class **class_);

#endif
