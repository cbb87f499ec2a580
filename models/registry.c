/* The list of the built-in classes, the search for a class by name, and the choice of a device for
 * a class. */
#include "models/registry.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "models/cuda/instance.h"
#include "models/field/kan.h"
#include "models/field/mlp.h"
#include "models/field/siren.h"
#include "models/graph/transformer.h"
#include "models/pde/burgers_surrogate.h"
#include "models/pde/heat.h"
#include "models/problems.h"
#include "models/road/next_road.h"
#include "models/sequence/lstm.h"
#include "models/sequence/mvar.h"

/* The classes are sorted by name, one on each line. The NULL at the end is not counted. */
/* clang-format off */
static const assay_model_class *const classes[] = {
    &assay__burgers_surrogate_class,
    &assay__graph_transformer_class,
    &assay__heat_class,
    &assay__kan_class,
    &assay__lstm_class,
    &assay__mlp_class,
    &assay__mvar_class,
    &assay__next_road_class,
    &assay__siren_class,
    NULL,
};
/* clang-format on */

const assay_model_class *const *assay_model_classes(size_t *count)
{
    *count = sizeof classes / sizeof *classes - 1;
    return classes;
}

static bool is_path(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') != NULL || (length > 3 && strcmp(name + length - 3, ".so") == 0);
}

static assay_status fail_unknown(const char *name, assay_error *error)
{
    enum { COUNT = sizeof classes / sizeof *classes - 1 };
    const char *names[COUNT + 1];
    assay__problems known = {0};
    for (size_t i = 0; i < COUNT; i++) {
        names[i] = classes[i]->name;
        assay__problems_add(&known, "%s", names[i]);
    }
    const char *nearest = assay__nearest(name, names, COUNT, sizeof *names);
    if (nearest != NULL) {
        return assay__fail(error, ASSAY_E_NOT_FOUND, "there is no model '%s'; did you mean '%s'?",
                           name, nearest);
    }
    return assay__problems_fail(&known, ASSAY_E_NOT_FOUND, error, "there is no model '%s'; known",
                                name);
}

assay_status assay_model_find(const char *name, assay_error *error,
                              const assay_model_class **class_)
{
    if (name == NULL || *name == '\0')
        return assay__fail(error, ASSAY_E_ARGUMENT, "no model is named");
    if (is_path(name))
        return assay__plugin_load(name, error, class_);
    for (size_t i = 0; classes[i] != NULL; i++) {
        if (strcmp(classes[i]->name, name) == 0) {
            *class_ = classes[i];
            return ASSAY_OK;
        }
    }
    return fail_unknown(name, error);
}

/* Returns the number after "cuda:", or -1 if there is none; "cuda" alone means the first device,
 * 0. */
static int cuda_index(const char *device)
{
    enum { MOST = 4095 };
    char *end = NULL;
    if (strcmp(device, "cuda") == 0)
        return 0;
    if (strncmp(device, "cuda:", 5) != 0 || device[5] < '0' || device[5] > '9')
        return -1;
    long index = strtol(device + 5, &end, 10);
    return *end == '\0' && index <= MOST ? (int)index : -1;
}

assay_status assay_model_class_on(const assay_model_class *class_, const char *device,
                                  assay_error *error, const assay_model_class **on_device)
{
    if (device == NULL || strcmp(device, "cpu") == 0) {
        *on_device = class_;
        return ASSAY_OK;
    }
    int index = cuda_index(device);
    if (index < 0)
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "there is no device '%s'; devices are cpu, cuda:0, cuda:1 ...", device);
    return assay__gpu_class(class_, index, error, on_device);
}

const char *assay_model_class_device(const assay_model_class *class_)
{
    return assay__gpu_class_is(class_) ? assay__gpu_class_device(class_) : "cpu";
}
