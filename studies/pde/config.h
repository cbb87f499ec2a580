/* The configuration of a study: YAML files that are composed of groups, and key=value overrides.
 *
 *     conf/burgers_experiment.yaml       the experiment; its `defaults` name a choice of each group
 *     conf/trainer/synthetic.yaml        a choice of the group "trainer"
 *
 *     defaults:
 *       - trainer: synthetic
 *     problem:
 *       viscosity: 0.01
 *
 * A choice may be built on another choice of its group, for example with `defaults: [synthetic]` in
 * trainer/synthetic_with_memory.yaml.
 *
 * Groups are read first, in the order of `defaults`. Settings of the experiment itself take
 * precedence over those of the groups, and overrides take precedence over everything. The override
 * `trainer=synthetic_with_memory` selects another choice of a group; `trainer_params.epochs=5` sets
 * one value. A study declares its keys as fields. Any other key, and any value that does not fit
 * its field, is an error with file, line and column. Fields that are not set keep their previous
 * value.
 *
 * A file may have at most ASSAY__CONFIG_FILE_BYTES (ASSAY_MAX_INPUT replaces that limit); names of
 * experiments and choices are plain file names. */
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

/* Compose the configuration and fill `target`. ASSAY_E_NOT_FOUND for an unknown experiment or
 * choice; the message names the similar one or those that exist. ASSAY_E_FORMAT for content that
 * cannot be understood. After a failure `target` may be partly filled. */
ASSAY_MUST_USE assay_status assay__config_load(const assay__config_source *source,
                                               const assay__config_field *fields,
                                               size_t field_count, void *target,
                                               assay_error *error);

/* Print the composed configuration as YAML that assay__config_load() can read. */
void assay__config_print(const assay__config_field *fields, size_t field_count, const void *target,
                         FILE *stream);

/* Format one value as in that YAML. 64 bytes are enough for a number and for every word. */
void assay__config_format(const assay__config_field *field, const void *target, char *text,
                          size_t size);

/* The configuration as a JSON object of objects, which the caller releases. NULL if there is no
 * memory. */
json_t *assay__config_json(const assay__config_field *fields, size_t field_count,
                           const void *target);

#endif
