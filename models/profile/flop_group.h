/* What a component belongs to, whichever layer it stands in. */
#ifndef ASSAY_MODELS_PROFILE_FLOP_GROUP_H
#define ASSAY_MODELS_PROFILE_FLOP_GROUP_H

#include <stddef.h>

/* "attention" of "layers.3.attention.scores": the first part after an optional list and index.
 * Points into `name`; `length` bytes of it count. */
const char *assay__flop_group(const char *name, size_t *length);

#endif
