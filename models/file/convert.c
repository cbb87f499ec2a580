/* One loop serves all pairs of types. It converts value by value through a double, or through an
 * int64_t where a double would round. Where the stored type and the element are the same, which
 * matters for large files, the bytes are copied. */
#include "models/file/convert.h"

#include <math.h>
#include <string.h>

size_t assay__stored_size(assay__stored stored)
{
    static const unsigned char sizes[] = {0, 2, 2, 4, 8, 1, 1, 2, 4, 8, 1, 2, 4, 8};
    return sizes[stored];
}

bool assay__stored_is_float(assay__stored stored)
{
    return stored >= ASSAY__STORED_F16 && stored <= ASSAY__STORED_F64;
}

size_t assay__element_size(assay_element element)
{
    return element == ASSAY_F32 ? 4 : 8;
}

static uint64_t load_bits(const unsigned char *source, size_t size, bool swapped)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (size) {
    case 1:
        return *source;
    case 2:
        memcpy(&two, source, sizeof two);
        return swapped ? __builtin_bswap16(two) : two;
    case 4:
        memcpy(&four, source, sizeof four);
        return swapped ? __builtin_bswap32(four) : four;
    default:
        memcpy(&eight, source, sizeof eight);
        return swapped ? __builtin_bswap64(eight) : eight;
    }
}

static double single(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double half(uint64_t bits)
{
    double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
    int exponent = (int)(bits >> 10 & 31);
    double fraction = (double)(bits & 1023);
    if (exponent == 31)
        return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    return exponent == 0 ? sign * ldexp(fraction, -24)
                         : sign * ldexp(1024 + fraction, exponent - 25);
}

static double float_value(assay__stored stored, uint64_t bits)
{
    double value;
    switch (stored) {
    case ASSAY__STORED_F16:
        return half(bits);
    case ASSAY__STORED_BF16:
        return single((uint32_t)bits << 16);
    case ASSAY__STORED_F32:
        return single((uint32_t)bits);
    default:
        memcpy(&value, &bits, sizeof value);
        return value;
    }
}

/* Returns false for an unsigned number past the signed range. */
static bool integer_value(assay__stored stored, uint64_t bits, int64_t *value)
{
    switch (stored) {
    case ASSAY__STORED_BOOL:
        *value = bits != 0;
        return true;
    case ASSAY__STORED_I8:
        *value = (int8_t)bits;
        return true;
    case ASSAY__STORED_I16:
        *value = (int16_t)bits;
        return true;
    case ASSAY__STORED_I32:
        *value = (int32_t)bits;
        return true;
    default:
        *value = (int64_t)bits;
        return stored != ASSAY__STORED_U64 || *value >= 0;
    }
}

static bool store_float(double value, assay_element element, void *target, int64_t index)
{
    if (element == ASSAY_F64) {
        ((double *)target)[index] = value;
        return true;
    }
    if (element == ASSAY_F32) {
        /* A value less than half a unit above the largest float still rounds to it. */
        if (isfinite(value) && fabs(value) >= 0x1.ffffffp127)
            return false;
        ((float *)target)[index] = (float)value;
        return true;
    }
    if (!(value >= -0x1p63 && value < 0x1p63) || value != floor(value))
        return false;
    ((int64_t *)target)[index] = (int64_t)value;
    return true;
}

static bool convert_one(assay__stored stored, uint64_t bits, assay_element element, void *target,
                        int64_t index)
{
    if (assay__stored_is_float(stored))
        return store_float(float_value(stored, bits), element, target, index);
    int64_t whole;
    if (!integer_value(stored, bits, &whole))
        return element != ASSAY_I64 && store_float((double)bits, element, target, index);
    if (element == ASSAY_I64) {
        ((int64_t *)target)[index] = whole;
        return true;
    }
    return store_float((double)whole, element, target, index);
}

static bool same_bits(assay__stored stored, assay_element element)
{
    return (stored == ASSAY__STORED_F32 && element == ASSAY_F32) ||
           (stored == ASSAY__STORED_F64 && element == ASSAY_F64) ||
           (stored == ASSAY__STORED_I64 && element == ASSAY_I64);
}

int64_t assay__convert(assay__stored stored, bool swapped, const void *source, int64_t count,
                       assay_element element, void *target)
{
    size_t size = assay__stored_size(stored);
    if (!swapped && same_bits(stored, element)) {
        if (count > 0)
            memcpy(target, source, (size_t)count * size);
        return count;
    }
    const unsigned char *bytes = source;
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = load_bits(bytes + (size_t)i * size, size, swapped);
        if (!convert_one(stored, bits, element, target, i))
            return i;
    }
    return count;
}
