/* A byte buffer that doubles its storage as it fills. The storage always has one byte more than the
 * content needs, for the terminator. */
#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void assay__buffer_init(assay__buffer *buffer, size_t maximum)
{
    *buffer = (assay__buffer){.maximum = maximum, .status = ASSAY_OK};
}

void assay__buffer_release(assay__buffer *buffer)
{
    free(buffer->data);
    assay__buffer_init(buffer, buffer->maximum);
}

static assay_status reserve(assay__buffer *buffer, size_t extra)
{
    if (buffer->status != ASSAY_OK)
        return buffer->status;
    if (extra > buffer->maximum - buffer->length)
        return buffer->status = ASSAY_E_LIMIT;
    size_t needed = buffer->length + extra + 1;
    if (needed <= buffer->capacity)
        return ASSAY_OK;
    size_t capacity = buffer->capacity < 256 ? 256 : buffer->capacity;
    while (capacity < needed)
        capacity *= 2;
    char *data = realloc(buffer->data, capacity);
    if (data == NULL)
        return buffer->status = ASSAY_E_MEMORY;
    buffer->data = data;
    buffer->capacity = capacity;
    return ASSAY_OK;
}

assay_status assay__buffer_append(assay__buffer *buffer, const void *bytes, size_t length)
{
    if (reserve(buffer, length) != ASSAY_OK)
        return buffer->status;
    if (length > 0)
        memcpy(buffer->data + buffer->length, bytes, length);
    buffer->length += length;
    buffer->data[buffer->length] = '\0';
    return ASSAY_OK;
}

assay_status assay__buffer_append_text(assay__buffer *buffer, const char *text)
{
    return assay__buffer_append(buffer, text, strlen(text));
}

assay_status assay__buffer_append_number(assay__buffer *buffer, uint64_t number)
{
    char digits[20]; /* of the largest number */
    size_t first = sizeof digits;
    do {
        digits[--first] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    return assay__buffer_append(buffer, digits + first, sizeof digits - first);
}

assay_status assay__buffer_printf(assay__buffer *buffer, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        buffer->status = buffer->status == ASSAY_OK ? ASSAY_E_ARGUMENT : buffer->status;
    else if (reserve(buffer, (size_t)length) == ASSAY_OK)
        buffer->length +=
            (size_t)vsnprintf(buffer->data + buffer->length, (size_t)length + 1, format, again);
    va_end(again);
    return buffer->status;
}

char *assay__buffer_take(assay__buffer *buffer)
{
    if (buffer->status != ASSAY_OK)
        return NULL;
    char *data = buffer->data;
    assay__buffer_init(buffer, buffer->maximum);
    return data;
}
