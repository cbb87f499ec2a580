/* Reads .npy files. A small reader parses the Python dictionary of the header; the values are then
 * converted, and transposed if they are in Fortran's order. */
#include "models/file/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "models/file/mapped.h"

/* The text of the header while it is read. A step that fails may say why in `problem`. */
typedef struct reader {
    const char *at, *end;
    const char *problem;
} reader;

static void skip_blanks(reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t'))
        r->at++;
}

static bool take(reader *r, char expected)
{
    skip_blanks(r);
    if (r->at < r->end && *r->at == expected) {
        r->at++;
        return true;
    }
    return false;
}

static bool take_word(reader *r, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(r);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

/* Reads a text in quotes. It has no escapes, because the names and types in a header need none. */
static bool take_text(reader *r, char *text, size_t capacity)
{
    skip_blanks(r);
    if (r->at == r->end || (*r->at != '\'' && *r->at != '"'))
        return false;
    const char *close = memchr(r->at + 1, *r->at, (size_t)(r->end - r->at - 1));
    if (close == NULL || (size_t)(close - r->at) > capacity)
        return false;
    size_t length = (size_t)(close - r->at - 1);
    memcpy(text, r->at + 1, length);
    text[length] = '\0';
    r->at = close + 1;
    return true;
}

static bool take_extent(reader *r, int64_t *extent)
{
    skip_blanks(r);
    const char *start = r->at;
    *extent = 0;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
        if (__builtin_mul_overflow(*extent, 10, extent) ||
            __builtin_add_overflow(*extent, *r->at - '0', extent))
            return false;
    (void)(r->at < r->end && *r->at == 'L' && r->at++); /* Python 2 wrote long integers like this */
    return r->at > start;
}

static bool read_descr(reader *r, assay__npy *array)
{
    static const struct {
        const char *name;
        assay__stored stored;
    } types[] = {{"f2", ASSAY__STORED_F16},  {"f4", ASSAY__STORED_F32}, {"f8", ASSAY__STORED_F64},
                 {"b1", ASSAY__STORED_BOOL}, {"i1", ASSAY__STORED_I8},  {"i2", ASSAY__STORED_I16},
                 {"i4", ASSAY__STORED_I32},  {"i8", ASSAY__STORED_I64}, {"u1", ASSAY__STORED_U8},
                 {"u2", ASSAY__STORED_U16},  {"u4", ASSAY__STORED_U32}, {"u8", ASSAY__STORED_U64}};
    char text[8];
    if (!take_text(r, text, sizeof text) || strchr("<>|=", *text) == NULL || *text == '\0')
        return false;
    array->swapped = *text == '>';
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(text + 1, types[i].name) == 0) {
            array->stored = types[i].stored;
            return true;
        }
    }
    return false;
}

static bool read_shape(reader *r, assay__npy *array)
{
    array->count = 1;
    if (!take(r, '('))
        return false;
    while (!take(r, ')')) {
        int64_t extent;
        if (array->rank == ASSAY_TENSOR_MAX_RANK) {
            r->problem = "has more than 4 axes";
            return false;
        }
        if (!take_extent(r, &extent))
            return false;
        if (__builtin_mul_overflow(array->count, extent, &array->count)) {
            r->problem = "has a shape too large to be true";
            return false;
        }
        array->shape[array->rank++] = extent;
        if (!take(r, ','))
            return take(r, ')');
    }
    return true;
}

static bool read_order(reader *r, assay__npy *array)
{
    array->fortran_order = take_word(r, "True");
    return array->fortran_order || take_word(r, "False");
}

static bool read_pair(reader *r, unsigned *seen, assay__npy *array)
{
    static const struct {
        const char *key;
        bool (*read)(reader *r, assay__npy *array);
        const char *problem;
    } pairs[] = {
        {"descr", read_descr, "has values of a type that is not understood"},
        {"fortran_order", read_order, "does not say in which order its values are"},
        {"shape", read_shape, "has no valid shape"},
    };
    char key[16];
    if (!take_text(r, key, sizeof key) || !take(r, ':'))
        return false;
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(pairs[i].key, key) != 0)
            continue;
        bool twice = (*seen & 1u << i) != 0;
        *seen |= 1u << i;
        bool good = !twice && pairs[i].read(r, array);
        if (!good && r->problem == NULL)
            r->problem = twice ? NULL : pairs[i].problem;
        return good;
    }
    return false;
}

static bool read_dictionary(reader *r, assay__npy *array)
{
    unsigned seen = 0;
    bool open = take(r, '{');
    while (open && !take(r, '}')) {
        if (!read_pair(r, &seen, array))
            return false;
        open = take(r, ',');
        if (!open && !take(r, '}'))
            return false;
    }
    skip_blanks(r);
    return seen == 7 && r->at == r->end;
}

/* Finds where the header begins and its length, which depend on the version. */
static assay_status find_header(const unsigned char *bytes, size_t size, const char *name,
                                assay_error *error, size_t *at, size_t *length)
{
    if (size < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0) {
        return assay__fail(error, size < 10 ? ASSAY_E_TRUNCATED : ASSAY_E_FORMAT,
                           "'%s' is no .npy file; write it with numpy.save", name);
    }
    unsigned major = bytes[6];
    if (major < 1 || major > 3) {
        return assay__fail(error, ASSAY_E_VERSION,
                           "'%s' is a .npy file of version %u; 1 to 3 are understood", name, major);
    }
    size_t field = major == 1 ? 2 : 4;
    *at = 8 + field;
    *length = 0;
    for (size_t i = size < *at ? 0 : field; i-- > 0;)
        *length = *length << 8 | bytes[8 + i];
    if (*length > ASSAY__NPY_MAX_HEADER) {
        return assay__fail(error, ASSAY_E_LIMIT,
                           "'%s': a header of %zu bytes; at most %d are "
                           "accepted",
                           name, *length, ASSAY__NPY_MAX_HEADER);
    }
    if (size < *at || *length > size - *at)
        return assay__fail(error, ASSAY_E_TRUNCATED, "'%s' ends within its header", name);
    return ASSAY_OK;
}

assay_status assay__npy_parse(const void *bytes, size_t size, const char *name, assay_error *error,
                              assay__npy *array)
{
    *array = (assay__npy){0};
    size_t at = 0, length = 0;
    assay_status status = find_header(bytes, size, name, error, &at, &length);
    if (status != ASSAY_OK)
        return status;
    const char *text = (const char *)bytes + at;
    reader r = {.at = text, .end = text + length};
    if (!read_dictionary(&r, array)) {
        return assay__fail(error, ASSAY_E_FORMAT, "'%s' %s", name,
                           r.problem != NULL ? r.problem : "has a header that cannot be read");
    }
    uint64_t needed, present = size - at - length;
    if (__builtin_mul_overflow((uint64_t)array->count, assay__stored_size(array->stored),
                               &needed) ||
        needed > present) {
        return assay__fail(error, ASSAY_E_TRUNCATED,
                           "'%s' is cut short: %" PRIu64 " bytes of values, %" PRId64
                           " values are announced",
                           name, present, array->count);
    }
    array->values = (const unsigned char *)bytes + at + length;
    return ASSAY_OK;
}

/* Copies `source`, in which the elements along the first axis are adjacent, into C's order, element
 * by element. */
static void transpose(const assay__npy *array, size_t size, const char *source, char *target)
{
    int64_t stride[ASSAY_TENSOR_MAX_RANK] = {0}, index[ASSAY_TENSOR_MAX_RANK] = {0};
    int64_t step = 1, from = 0;
    for (uint32_t axis = 0; axis < array->rank; axis++) {
        stride[axis] = step;
        step *= array->shape[axis];
    }
    for (int64_t to = 0; to < array->count; to++) {
        memcpy(target + (size_t)to * size, source + (size_t)from * size, size);
        for (uint32_t axis = array->rank; axis-- > 0;) {
            from += stride[axis];
            if (++index[axis] < array->shape[axis])
                break;
            from -= stride[axis] * array->shape[axis];
            index[axis] = 0;
        }
    }
}

assay_status assay__npy_read(const assay__npy *array, assay_element element, const char *name,
                             assay_error *error, assay_tensor *tensor)
{
    size_t size = assay__element_size(element), bytes;
    *tensor = (assay_tensor){.element = element, .rank = array->rank};
    memcpy(tensor->shape, array->shape, sizeof tensor->shape);
    bool turned = array->fortran_order && array->rank > 1;
    bool overflow = __builtin_mul_overflow((size_t)array->count, size, &bytes);
    char *values = overflow ? NULL : malloc(bytes > 0 ? bytes : 1);
    char *ordered = overflow || !turned ? NULL : malloc(bytes > 0 ? bytes : 1);
    if (values == NULL || (turned && ordered == NULL)) {
        free(values);
        free(ordered);
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory while reading '%s'", name);
    }
    int64_t done =
        assay__convert(array->stored, array->swapped, array->values, array->count, element, values);
    if (done < array->count) {
        free(values);
        free(ordered);
        return assay__fail(error, ASSAY_E_DATA, "'%s': value %" PRId64 " %s", name, done,
                           element == ASSAY_I64 ? "is no whole number that fits an int64"
                                                : "is too large for a float32");
    }
    if (turned) {
        transpose(array, size, values, ordered);
        free(values);
        values = ordered;
    }
    tensor->data = values;
    return ASSAY_OK;
}

assay_status assay_tensor_load_npy(const char *path, assay_element element, assay_error *error,
                                   assay_tensor *tensor)
{
    assay__mapped file;
    assay__npy array;
    *tensor = (assay_tensor){0};
    assay_status status = assay__mapped_open(path, error, &file);
    if (status != ASSAY_OK)
        return status;
    status = assay__npy_parse(file.bytes, file.size, path, error, &array);
    if (status == ASSAY_OK)
        status = assay__npy_read(&array, element, path, error, tensor);
    assay__mapped_release(&file);
    return status;
}
