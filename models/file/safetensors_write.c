/* Writes safetensors files. The header is built first, because the file begins with its length.
 * jansson keeps the order of insertion, so equal inputs give equal bytes. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "models/file/safetensors.h"

static const char *dtype_of(assay_element element)
{
    return element == ASSAY_F32 ? "F32" : element == ASSAY_F64 ? "F64" : "I64";
}

/* Returns the header's entry of a tensor, or NULL when out of memory. */
static json_t *describe(const assay_tensor *tensor, uint64_t begin, uint64_t end)
{
    json_t *shape = json_array();
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        if (json_array_append_new(shape, json_integer(tensor->shape[axis])) != 0) {
            json_decref(shape);
            return NULL;
        }
    }
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", dtype_of(tensor->element), "shape", shape,
                     "data_offsets", (json_int_t)begin, (json_int_t)end);
}

static uint64_t bytes_of(const assay_tensor *tensor)
{
    return (uint64_t)assay_tensor_count(tensor) * assay__element_size(tensor->element);
}

/* Returns the header as JSON text, padded with blanks to a multiple of 8 bytes; the caller frees
 * it. Returns NULL when out of memory. All texts must be UTF-8. */
static char *compose(const assay_tensor *tensors, size_t count,
                     const assay__safetensors_pair *metadata, size_t metadata_count)
{
    json_t *header = json_object(), *pairs = metadata_count > 0 ? json_object() : NULL;
    bool failed = header == NULL || (metadata_count > 0 && pairs == NULL);
    for (size_t i = 0; i < metadata_count && !failed; i++)
        failed = json_object_set_new(pairs, metadata[i].key, json_string(metadata[i].value)) != 0;
    if (pairs != NULL && json_object_set_new(header, "__metadata__", pairs) != 0)
        failed = true;
    uint64_t at = 0;
    for (size_t i = 0; i < count && !failed; i++) {
        uint64_t end = at + bytes_of(&tensors[i]);
        failed = json_object_set_new(header, tensors[i].name, describe(&tensors[i], at, end)) != 0;
        at = end;
    }
    size_t length = failed ? 0 : json_dumpb(header, NULL, 0, JSON_COMPACT);
    size_t padded = (length + 7) / 8 * 8;
    char *text = length > 0 ? malloc(padded + 1) : NULL;
    if (text != NULL) {
        json_dumpb(header, text, length, JSON_COMPACT);
        memset(text + length, ' ', padded - length);
        text[padded] = '\0';
    }
    json_decref(header);
    return text;
}

static bool is_utf8(const char *text)
{
    size_t left = strlen(text), step = 1;
    for (; left > 0 && step > 0; text += step, left -= step)
        step = assay__text_sequence(text, left);
    return step > 0;
}

/* JSON has no way to write a text that is not UTF-8. */
static assay_status check_texts(const char *path, const assay_tensor *tensors, size_t count,
                                const assay__safetensors_pair *metadata, size_t metadata_count,
                                assay_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (!is_utf8(tensors[i].name))
            return assay__fail(error, ASSAY_E_ARGUMENT,
                               "'%.200s' is not written: the name of tensor %zu ('%.200s') is not "
                               "valid UTF-8",
                               path, i + 1, tensors[i].name);
    for (size_t i = 0; i < metadata_count; i++)
        if (!is_utf8(metadata[i].key) || !is_utf8(metadata[i].value))
            return assay__fail(error, ASSAY_E_ARGUMENT,
                               "'%.200s' is not written: '%.100s' of its metadata ('%.200s') is "
                               "not valid UTF-8",
                               path, metadata[i].key, metadata[i].value);
    return ASSAY_OK;
}

static void write_all(FILE *stream, const char *header, const assay_tensor *tensors, size_t count)
{
    uint64_t length = strlen(header);
    for (int byte = 0; byte < 8; byte++)
        fputc((int)(length >> 8 * byte & 255), stream);
    fwrite(header, 1, length, stream);
    for (size_t i = 0; i < count; i++)
        fwrite(tensors[i].data, 1, bytes_of(&tensors[i]), stream);
}

assay_status assay__safetensors_write(const char *path, const assay_tensor *tensors, size_t count,
                                      const assay__safetensors_pair *metadata,
                                      size_t metadata_count, assay_error *error)
{
    assay__output output;
    assay_status status = check_texts(path, tensors, count, metadata, metadata_count, error);
    if (status != ASSAY_OK)
        return status;
    char *header = compose(tensors, count, metadata, metadata_count);
    if (header == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory while writing '%s'", path);
    status = assay__output_begin(&output, path, error);
    if (status == ASSAY_OK) {
        write_all(output.stream, header, tensors, count);
        status = assay__output_commit(&output, error);
    }
    free(header);
    return status;
}
