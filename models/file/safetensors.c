/* Reads safetensors files. jansson parses the header. Each entry is then checked against the size
 * of the data, and at last all entries together, sorted by offset, must cover the data. */
#include "models/file/safetensors.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { LENGTH_BYTES = 8 };

/* The types without a stored type are known only by their size, so that offsets can be checked.
 * Their values are not read. */
static const struct dtype {
    const char *name;
    assay__stored stored;
    uint64_t size;
} dtypes[] = {{"F32", ASSAY__STORED_F32, 4},     {"F64", ASSAY__STORED_F64, 8},
              {"F16", ASSAY__STORED_F16, 2},     {"BF16", ASSAY__STORED_BF16, 2},
              {"I64", ASSAY__STORED_I64, 8},     {"I32", ASSAY__STORED_I32, 4},
              {"I16", ASSAY__STORED_I16, 2},     {"I8", ASSAY__STORED_I8, 1},
              {"U64", ASSAY__STORED_U64, 8},     {"U32", ASSAY__STORED_U32, 4},
              {"U16", ASSAY__STORED_U16, 2},     {"U8", ASSAY__STORED_U8, 1},
              {"BOOL", ASSAY__STORED_BOOL, 1},   {"F8_E4M3", ASSAY__STORED_NONE, 1},
              {"F8_E5M2", ASSAY__STORED_NONE, 1}};

static const struct dtype *find_dtype(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(dtypes[i].name, name) == 0)
            return &dtypes[i];
    return NULL;
}

/* Reads a whole number from 0 up. Returns false for anything else. */
static bool read_count(const json_t *value, uint64_t *count)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *count = (uint64_t)json_integer_value(value);
    return true;
}

static const char *read_shape(const json_t *shape, assay__safetensor *tensor)
{
    if (!json_is_array(shape))
        return "has no shape";
    if (json_array_size(shape) > ASSAY_TENSOR_MAX_RANK)
        return "has more than 4 axes";
    tensor->rank = (uint32_t)json_array_size(shape);
    tensor->count = 1;
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        uint64_t extent;
        if (!read_count(json_array_get(shape, axis), &extent))
            return "has a shape that is not made of whole numbers";
        tensor->shape[axis] = (int64_t)extent;
        if (__builtin_mul_overflow(tensor->count, tensor->shape[axis], &tensor->count))
            return "has a shape too large to be true";
    }
    return NULL;
}

/* Reads one entry of the header. Returns what is wrong with it, or NULL. */
static const char *read_entry(const json_t *entry, uint64_t data_size, assay__safetensor *tensor)
{
    if (!json_is_object(entry))
        return "is not described by an object";
    tensor->dtype = json_string_value(json_object_get(entry, "dtype"));
    const struct dtype *dtype = find_dtype(tensor->dtype);
    if (dtype == NULL)
        return "has no dtype, or one that is not known";
    tensor->stored = dtype->stored;
    const char *problem = read_shape(json_object_get(entry, "shape"), tensor);
    if (problem != NULL)
        return problem;
    const json_t *offsets = json_object_get(entry, "data_offsets");
    if (json_array_size(offsets) != 2 || !read_count(json_array_get(offsets, 0), &tensor->begin) ||
        !read_count(json_array_get(offsets, 1), &tensor->end) || tensor->begin > tensor->end)
        return "has no valid data_offsets";
    if (tensor->end > data_size)
        return "lies past the end of the file";
    uint64_t bytes;
    if (__builtin_mul_overflow((uint64_t)tensor->count, dtype->size, &bytes) ||
        bytes != tensor->end - tensor->begin)
        return "has a shape and data_offsets that disagree";
    return NULL;
}

static int by_offset(const void *left, const void *right)
{
    const assay__safetensor *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->end < b->end ? -1 : a->end > b->end;
}

static assay_status check_cover(const assay__safetensors *file, uint64_t data_size,
                                const char *name, assay_error *error)
{
    uint64_t covered = 0;
    for (size_t i = 0; i < file->count; i++) {
        const assay__safetensor *tensor = &file->tensors[i];
        if (tensor->begin != covered) {
            return assay__fail(
                error, ASSAY_E_FORMAT, "'%s': tensor '%.200s' %s", name, tensor->name,
                tensor->begin < covered ? "overlaps another" : "is preceded by a gap");
        }
        covered = tensor->end;
    }
    if (covered != data_size) {
        return assay__fail(error, ASSAY_E_FORMAT,
                           "'%s': %" PRIu64 " bytes at the end belong to no tensor", name,
                           data_size - covered);
    }
    return ASSAY_OK;
}

static assay_status check_metadata(const json_t *metadata, const char *name, assay_error *error)
{
    const char *key;
    json_t *value;
    if (!json_is_object(metadata))
        return assay__fail(error, ASSAY_E_FORMAT, "'%s': __metadata__ is not an object", name);
    json_object_foreach((json_t *)metadata, key, value)
    {
        if (!json_is_string(value)) {
            return assay__fail(error, ASSAY_E_FORMAT, "'%s': __metadata__ '%.200s' is not a text",
                               name, key);
        }
    }
    return ASSAY_OK;
}

static assay_status read_entries(assay__safetensors *file, const unsigned char *data,
                                 uint64_t data_size, const char *name, assay_error *error)
{
    const char *key;
    json_t *entry;
    json_object_foreach((json_t *)file->header, key, entry)
    {
        if (strcmp(key, "__metadata__") == 0) {
            assay_status status = check_metadata(entry, name, error);
            if (status != ASSAY_OK)
                return status;
            continue;
        }
        assay__safetensor *tensor = &file->tensors[file->count++];
        tensor->name = key;
        const char *problem = read_entry(entry, data_size, tensor);
        if (problem != NULL) {
            return assay__fail(error, ASSAY_E_FORMAT, "'%s': tensor '%.200s' %s", name, key,
                               problem);
        }
        tensor->bytes = data + tensor->begin;
    }
    if (file->count > 1)
        qsort(file->tensors, file->count, sizeof *file->tensors, by_offset);
    return check_cover(file, data_size, name, error);
}

static assay_status read_header(const unsigned char *text, size_t length, const char *name,
                                assay_error *error, json_t **header)
{
    json_error_t problem;
    if (length == 0 || text[0] != '{') {
        return assay__fail(error, ASSAY_E_FORMAT, "'%s' is no safetensors file: no JSON header",
                           name);
    }
    *header = json_loadb((const char *)text, length, JSON_REJECT_DUPLICATES, &problem);
    if (*header == NULL) {
        assay_status status =
            json_error_code(&problem) == json_error_out_of_memory ? ASSAY_E_MEMORY : ASSAY_E_FORMAT;
        return assay__fail(error, status, "'%s': its header cannot be read: %s", name,
                           problem.text);
    }
    return ASSAY_OK;
}

assay_status assay__safetensors_parse(const void *bytes, size_t size, const char *name,
                                      assay_error *error, assay__safetensors *result)
{
    *result = (assay__safetensors){0};
    const unsigned char *at = bytes;
    if (size < LENGTH_BYTES) {
        return assay__fail(error, ASSAY_E_TRUNCATED,
                           "'%s' is no safetensors file: it has %zu bytes", name, size);
    }
    uint64_t length = 0;
    for (size_t i = LENGTH_BYTES; i-- > 0;)
        length = length << 8 | at[i];
    if (length > ASSAY__SAFETENSORS_MAX_HEADER) {
        return assay__fail(error, ASSAY_E_LIMIT,
                           "'%s': a header of %" PRIu64 " bytes; is it a safetensors file? At most "
                           "%d are accepted",
                           name, length, ASSAY__SAFETENSORS_MAX_HEADER);
    }
    if (length > size - LENGTH_BYTES) {
        return assay__fail(error, ASSAY_E_TRUNCATED,
                           "'%s' ends within its header of %" PRIu64 " bytes", name, length);
    }
    json_t *header = NULL;
    assay_status status = read_header(at + LENGTH_BYTES, length, name, error, &header);
    if (status != ASSAY_OK)
        return status;
    result->header = header;
    result->tensors = calloc(json_object_size(header) + 1, sizeof *result->tensors);
    size_t data_at = LENGTH_BYTES + (size_t)length;
    status = result->tensors == NULL
                 ? assay__fail(error, ASSAY_E_MEMORY, "out of memory while reading '%s'", name)
                 : read_entries(result, at + data_at, size - data_at, name, error);
    if (status != ASSAY_OK)
        assay__safetensors_release(result);
    return status;
}

assay_status assay__safetensors_open(const char *path, assay_error *error,
                                     assay__safetensors *result)
{
    assay__mapped file;
    *result = (assay__safetensors){0};
    assay_status status = assay__mapped_open(path, error, &file);
    if (status == ASSAY_OK) {
        status = assay__safetensors_parse(file.bytes, file.size, path, error, result);
        if (status == ASSAY_OK)
            result->file = file;
        else
            assay__mapped_release(&file);
    }
    return status;
}

void assay__safetensors_release(assay__safetensors *file)
{
    free(file->tensors);
    json_decref(file->header);
    assay__mapped_release(&file->file);
    *file = (assay__safetensors){0};
}

const assay__safetensor *assay__safetensors_find(const assay__safetensors *file, const char *name)
{
    for (size_t i = 0; i < file->count; i++)
        if (strcmp(file->tensors[i].name, name) == 0)
            return &file->tensors[i];
    return NULL;
}

const char *assay__safetensors_metadata(const assay__safetensors *file, const char *key)
{
    const json_t *metadata = json_object_get(file->header, "__metadata__");
    return json_string_value(json_object_get(metadata, key));
}
