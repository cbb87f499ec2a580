/* Weights in files: the safetensors format.
 *
 * A file holds eight bytes of header length (little-endian), then a JSON object {"name": {"dtype",
 * "shape", "data_offsets": [begin, end]}, "__metadata__": {"key": "text"}}, and then the data. The
 * tensors cover the data without gaps or overlaps. See https://github.com/huggingface/safetensors,
 * README, "Format".
 *
 * The reader trusts nothing in a file: it checks lengths, offsets, shapes and names before it uses
 * them. The format itself allows a header of 100 MB; we allow 4 MiB, which is enough for some
 * twenty thousand tensors. */
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

/* Parses a whole file in memory; `bytes` must outlive the result. `name` stands for the file in
 * messages. ASSAY_E_FORMAT, ASSAY_E_TRUNCATED, ASSAY_E_LIMIT or ASSAY_E_MEMORY; the result is then
 * all zero. */
ASSAY_MUST_USE assay_status assay__safetensors_parse(const void *bytes, size_t size,
                                                     const char *name, assay_error *error,
                                                     assay__safetensors *result);
ASSAY_MUST_USE assay_status assay__safetensors_open(const char *path, assay_error *error,
                                                    assay__safetensors *result);
/* A struct that is all zero is accepted. */
void assay__safetensors_release(assay__safetensors *file);

/* Find a tensor, or the text of a key of the metadata. Return NULL if there is none. */
const assay__safetensor *assay__safetensors_find(const assay__safetensors *file, const char *name);
const char *assay__safetensors_metadata(const assay__safetensors *file, const char *key);

/* One key and its text in the metadata of a file to write. */
typedef struct assay__safetensors_pair {
    const char *key, *value;
} assay__safetensors_pair;

/* Writes a file, and replaces the one at `path` as src/base/file.h does. Tensors are written in
 * their order, with the data aligned to 8 bytes. Equal inputs give equal bytes. ASSAY_E_ARGUMENT if
 * a name or a text of the metadata is not UTF-8; then no file is written. */
ASSAY_MUST_USE assay_status assay__safetensors_write(const char *path, const assay_tensor *tensors,
                                                     size_t count,
                                                     const assay__safetensors_pair *metadata,
                                                     size_t metadata_count, assay_error *error);

#endif
