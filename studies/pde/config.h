/* Configuration of a study: YAML files composed of groups, and key=value overrides.
 *
 *     conf/burgers_experiment.yaml       the experiment; its `defaults` name a choice of each group
 *     conf/trainer/synthetic.yaml        a choice of the group "trainer"
 *
 *     defaults:
 *       - trainer: synthetic
 *     problem:
 *       viscosity: 0.01
 *
 * A choice may be built on another one of its group: `defaults: [synthetic]` in
 * trainer/synthetic_with_memory.yaml.
 *
 * Groups are read first, in the order of `defaults`; what the experiment says itself goes before
 * them, and overrides go before everything: `trainer=synthetic_with_memory` takes another choice of
 * a group, `trainer_params.epochs=5` sets one value. A study declares its keys as fields; any other
 * key, and a value that does not fit its field, is an error with file, line and column. Fields that
 * nothing sets keep what the struct held before.
 *
 * Files are at most 1 MiB; names of experiments and choices are plain file names. */
#ifndef ASSAY_STUDIES_PDE_CONFIG_H
#define ASSAY_STUDIES_PDE_CONFIG_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "assay/status.h"

typedef enum assay__config_kind {
    ASSAY__CONFIG_FLAG,    /* bool: true, false, yes, no, on, off */
    ASSAY__CONFIG_INTEGER, /* int64_t within the limits */
    ASSAY__CONFIG_NUMBER,  /* double within the limits, finite */
    ASSAY__CONFIG_WORD     /* int, the index of one of the words */
} assay__config_kind;

typedef struct assay__config_field {
    const char *path; /* "trainer_params.epochs" */
    assay__config_kind kind;
    size_t offset; /* of the value in the struct that is filled */
    double minimum, maximum;
    const char *const *words; /* NULL-terminated */
    const char *help;         /* one line */
} assay__config_field;

typedef struct assay__config_source {
    const char *directory;        /* "conf" */
    const char *name;             /* "burgers_experiment", with or without .yaml */
    const char *const *overrides; /* "key=value" */
    size_t override_count;
} assay__config_source;

/* Compose and fill `target`. ASSAY_E_NOT_FOUND for an unknown experiment or choice (those that
 * exist are named), ASSAY_E_FORMAT for what cannot be understood; `target` may then be half filled.
 */
ASSAY_MUST_USE assay_status assay__config_load(const assay__config_source *source,
                                               const assay__config_field *fields,
                                               size_t field_count, void *target,
                                               assay_error *error);

/* The composed configuration as YAML that assay__config_load reads back. */
void assay__config_print(const assay__config_field *fields, size_t field_count, const void *target,
                         FILE *stream);

/* One value as it is written there; 64 bytes are enough for a number and for every word. */
void assay__config_format(const assay__config_field *field, const void *target, char *text,
                          size_t size);

/* The same as a JSON object of objects; caller releases. NULL: out of memory. */
json_t *assay__config_json(const assay__config_field *fields, size_t field_count,
                           const void *target);

#endif
