/* Writes doubles in the fewest decimal digits that read back to the same bits, without printf.
 *
 * A finite double v is m * 2^e with m < 2^53. For p decimal places, v * 10^p = m * 5^p / 2^s with
 * s = -(e + p). For every v between 1e-15 and 1e15 the product fits into 128 bits, so one
 * multiplication and one shift give seventeen digits exactly (which always suffice,
 * DBL_DECIMAL_DIG). Fewer digits suffice if the shortened number lies within half a unit in the
 * last place of v. In the same scale that half unit is 5^p / 2, so this test too compares integers
 * and is exact.
 *
 * printf and strtod take twenty times as long (a trace has millions of numbers) and obey the
 * locale. They remain for the magnitudes that do not occur in measurements. Ryu and Grisu cover
 * these too, at the price of tables of hundreds of constants. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"

typedef unsigned __int128 wide;

/* A decimal number: digits / 10^places. */
typedef struct decimal {
    uint64_t digits;
    int places;
} decimal;

size_t assay__json_format_integer(char *text, bool negative, uint64_t magnitude)
{
    char digits[24], *end = digits + sizeof digits, *start = end;
    do {
        *--start = (char)('0' + magnitude % 10);
        magnitude /= 10;
    } while (magnitude > 0);
    if (negative)
        *--start = '-';
    memcpy(text, start, (size_t)(end - start));
    text[end - start] = '\0';
    return (size_t)(end - start);
}

static wide power_of_five(int exponent)
{
    wide power = 1;
    for (int i = 0; i < exponent; i++)
        power *= 5;
    return power;
}

/* Whether the nearby number `there` rounds to m. Both are given in units of which `ulp` make up the
 * gap between neighbouring doubles. Just below a power of two the gap is half as wide. */
static bool reads_back(uint64_t m, wide exact, wide ulp, wide there)
{
    if (there >= exact)
        return there - exact <= ulp / 2;
    return exact - there <= (m == (uint64_t)1 << 52 ? ulp / 4 : ulp / 2);
}

/* The shortest decimal for m * 2^e. Returns false if the number is out of the range of the method.
 */
static bool shorten(uint64_t m, int e, decimal *result)
{
    static const uint64_t limit = 100000000000000000u;            /* 10^17 */
    int places = 16 - (int)floor((e + 52) * 0.30102999566398120); /* log10(2): right, or one more */
    for (;; places--) {
        int shift = -(e + places);
        if (places < 0 || places > 32 || shift < 1 || shift > 74)
            return false;
        wide five = power_of_five(places), scaled = m * five;
        uint64_t below = (uint64_t)(scaled >> shift); /* the shift cuts off less than one digit */
        uint64_t digits = below + (uint64_t)(scaled >> (shift - 1) & 1);
        if (digits >= limit)
            continue;
        for (uint64_t unit = 100; unit >= 10; unit /= 10) {
            uint64_t shorter = (below + unit / 2) / unit * unit;
            if (reads_back(m, scaled, five, (wide)shorter << shift)) {
                digits = shorter;
                break;
            }
        }
        *result = (decimal){digits, places};
        return true;
    }
}

/* Plain notation from 1e-9 (a nanosecond) up, d.ddde-dd below. */
static size_t format_decimal(char *text, decimal number)
{
    char digits[24];
    size_t count = assay__json_format_integer(digits, false, number.digits);
    int exponent = (int)count - 1 - number.places; /* of the first digit */
    while (count > 1 && digits[count - 1] == '0')
        count--;
    char *at = text;
    if (exponent < -9) {
        *at++ = digits[0];
        if (count > 1) {
            *at++ = '.';
            at = mempcpy(at, digits + 1, count - 1);
        }
        at = mempcpy(at, "e-", 2);
        return (size_t)(at - text) + assay__json_format_integer(at, false, (uint64_t)-exponent);
    }
    size_t whole = exponent < 0 ? 0 : (size_t)exponent + 1; /* digits before the point */
    if (whole == 0) {
        at = mempcpy(at, "0.000000000", (size_t)(1 - exponent));
        at = mempcpy(at, digits, count);
    } else if (whole < count) {
        at = mempcpy(at, digits, whole);
        *at++ = '.';
        at = mempcpy(at, digits + whole, count - whole);
    } else {
        at = mempcpy(at, digits, count);
        memset(at, '0', whole - count);
        at += whole - count;
    }
    *at = '\0';
    return (size_t)(at - text);
}

/* The decimal point of the locale may be a comma, or several bytes long. It becomes one '.'. */
static size_t format_by_printf(char *text, double value)
{
    char printed[64];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(printed, sizeof printed, "%.*g", digits, value);
        if (strtod(printed, NULL) == value)
            break;
    }
    size_t used = 0;
    bool point = false;
    for (const char *it = printed; *it != '\0' && used < ASSAY__JSON_NUMBER_BYTES - 1; it++) {
        bool plain = strchr("0123456789+-e", *it) != NULL;
        if (plain || !point)
            text[used++] = plain ? *it : '.';
        point |= !plain;
    }
    text[used] = '\0';
    return used;
}

size_t assay__json_format_number(char text[ASSAY__JSON_NUMBER_BYTES], double value)
{
    double magnitude = fabs(value);
    if (!isfinite(value) || (value == 0 && signbit(value))) {
        memcpy(text, isfinite(value) ? "-0.0" : "null", 5); /* "-0" reads back as an integer */
        return 4;
    }
    if (magnitude < 9007199254740992.0 && magnitude == floor(magnitude)) /* 2^53 */
        return assay__json_format_integer(text, value < 0, (uint64_t)magnitude);
    uint64_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    int exponent = (int)(bits >> 52); /* 0: subnormal, far below the range of the method */
    uint64_t m = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    decimal number;
    if (exponent == 0 || !shorten(m, exponent - 1075, &number))
        return format_by_printf(text, value);
    size_t sign = value < 0;
    text[0] = '-';
    return sign + format_decimal(text + sign, number);
}
