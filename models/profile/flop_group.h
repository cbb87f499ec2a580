/* The group that a component belongs to, independent of its layer. */
#ifndef ASSAY_MODELS_PROFILE_FLOP_GROUP_H
#define ASSAY_MODELS_PROFILE_FLOP_GROUP_H

#include <stddef.h>

/* The group of the component `name`, for example "attention" for "layers.3.attention.scores". It is
 * the first part of the name, after an optional list and index such as "layers.3.". The result
 * points into `name` and is `*length` bytes long; it is not terminated. */
const char *assay__flop_group(const char *name, size_t *length);

#endif
