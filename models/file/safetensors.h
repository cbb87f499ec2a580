/* Weights in files: the safetensors format.
 *
 * Eight bytes of header length (little-endian), a JSON object {"name": {"dtype", "shape",
 * "data_offsets": [begin, end]}, "__metadata__": {"key": "text"}}, then the data, which the tensors
 * cover without gaps or overlaps; https://github.com/huggingface/safetensors, README, "Format".
 *
 * Nothing in a file is believed: lengths, offsets, shapes and names are checked before use. The
 * format's own limit of the header is 100 MB; ours is 4 MiB, some twenty thousand tensors. */
#ifndef ASSAY_MODELS_FILE_SAFETENSORS_H
#define ASSAY_MODELS_FILE_SAFETENSORS_H

#include "assay/model.h"
#include "models/file/convert.h"
#include "models/file/mapped.h"

enum { ASSAY__SAFETENSORS_MAX_HEADER = 4 << 20 };

typedef struct assay__safetensor {
    const char *name;
    const char *dtype; /* as the file spells it */
    assay__stored stored;
    uint32_t rank;
    int64_t shape[ASSAY_TENSOR_MAX_RANK];
    int64_t count; /* elements */
    uint64_t begin, end;
    const unsigned char *bytes;
} assay__safetensor;

typedef struct assay__safetensors {
    assay__mapped file;
    assay__safetensor *tensors; /* in the order of the data */
    size_t count;
    void *header; /* the parsed JSON, which owns the names */
} assay__safetensors;

/* `name` stands for the file in messages. ASSAY_E_FORMAT, ASSAY_E_TRUNCATED, ASSAY_E_LIMIT or
 * ASSAY_E_MEMORY. `bytes` must outlive the result. */
ASSAY_MUST_USE assay_status assay__safetensors_parse(const void *bytes, size_t size,
                                                     const char *name, assay_error *error,
                                                     assay__safetensors *result);
ASSAY_MUST_USE assay_status assay__safetensors_open(const char *path, assay_error *error,
                                                    assay__safetensors *result);
void assay__safetensors_release(assay__safetensors *file); /* all zero is accepted */

/* NULL when there is none. */
const assay__safetensor *assay__safetensors_find(const assay__safetensors *file, const char *name);
const char *assay__safetensors_metadata(const assay__safetensors *file, const char *key);

/* What a file is written from. */
typedef struct assay__safetensors_pair {
    const char *key, *value;
} assay__safetensors_pair;

/* Replace `path`, as src/base/file.h does. Tensors are written in their order, the data 8-byte
 * aligned; equal inputs give equal bytes. */
ASSAY_MUST_USE assay_status assay__safetensors_write(const char *path, const assay_tensor *tensors,
                                                     size_t count,
                                                     const assay__safetensors_pair *metadata,
                                                     size_t metadata_count, assay_error *error);

#endif
