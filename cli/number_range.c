/* Expands ranges of numbers. Steps are computed in whole multiples of the last decimal, because
 * binary fractions are not exact: ten steps of 0.1 must give 1.0. */
#include "cli/number_range.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number has at most this many digits. The sum of two such numbers stays far below 2^63. */
enum { MOST_DIGITS = 15 };

/* TO counts as met if it is this share of a step away, because divisions are rounded. */
static const double rounding = 5e-7;

/* The number units / 10^decimals. */
typedef struct decimal {
    int64_t units;
    int decimals;
} decimal;

static int64_t power_of_ten(int exponent)
{
    int64_t power = 1;
    for (int i = 0; i < exponent; i++)
        power *= 10;
    return power;
}

/* Take digits with at most one decimal point. Returns false if there are none, or too many. */
static bool take_digits(const char **at, decimal *number)
{
    bool point = false;
    int digits = 0;
    *number = (decimal){0};
    for (;; (*at)++) {
        /* Two points are the "..", and not part of the number. */
        if (**at == '.' && !point && digits > 0 && isdigit((unsigned char)(*at)[1])) {
            point = true;
            continue;
        }
        if (!isdigit((unsigned char)**at))
            return digits > 0;
        if (++digits > MOST_DIGITS)
            return false;
        number->units = 10 * number->units + (**at - '0');
        number->decimals += point;
    }
}

/* Take a number such as "-12", "0.25" or "1e6". `*at` then points behind the number. */
static bool take_decimal(const char **at, decimal *number)
{
    bool negative = **at == '-';
    *at += negative;
    if (!take_digits(at, number))
        return false;
    if ((**at == 'e' || **at == 'E') && isdigit((unsigned char)(*at)[1])) {
        char *end;
        long exponent = strtol(*at + 1, &end, 10);
        *at = end;
        if (exponent > MOST_DIGITS)
            return false;
        number->decimals -= (int)exponent;
        if (number->decimals < 0) {
            int64_t power = power_of_ten(-number->decimals);
            if (number->units > power_of_ten(MOST_DIGITS) / power)
                return false;
            *number = (decimal){number->units * power, 0};
        }
    }
    number->units = negative ? -number->units : number->units;
    return true;
}

static double value_of(decimal number)
{
    return (double)number.units / (double)power_of_ten(number.decimals);
}

int number_range_append(words *values, const char *text, size_t length)
{
    char **items = realloc(values->items, (values->count + 2) * sizeof *items);
    if (items == NULL)
        return -1;
    values->items = items;
    items[values->count] = strndup(text, length);
    items[values->count + 1] = NULL;
    if (items[values->count] == NULL)
        return -1;
    values->count++;
    return 0;
}

static number_range_result append_decimal(decimal number, words *values)
{
    char text[64];
    int64_t power = power_of_ten(number.decimals);
    const char *sign = number.units < 0 ? "-" : "";
    uint64_t units = (uint64_t)(number.units < 0 ? -number.units : number.units);
    uint64_t whole = units / (uint64_t)power, rest = units % (uint64_t)power;
    int length = number.decimals > 0 ? snprintf(text, sizeof text, "%s%" PRIu64 ".%0*" PRIu64, sign,
                                                whole, number.decimals, rest)
                                     : snprintf(text, sizeof text, "%s%" PRIu64, sign, whole);
    return number_range_append(values, text, (size_t)length) == 0 ? NUMBER_RANGE_DONE
                                                                  : NUMBER_RANGE_MEMORY;
}

/* Whether every number up to `most` can be written with this many decimals, and whether there are
 * not too many numbers. */
static bool is_countable(double count, double most, int decimals, const char **problem)
{
    *problem = count < NUMBER_RANGE_MOST ? "has numbers of more than 15 digits"
                                         : "has more than 1024 numbers";
    return count < NUMBER_RANGE_MOST &&
           most * (double)power_of_ten(decimals) < (double)power_of_ten(MOST_DIGITS);
}

static number_range_result count_steps(decimal from, decimal to, decimal step, words *values,
                                       const char **problem)
{
    int decimals = from.decimals > step.decimals ? from.decimals : step.decimals;
    double first = value_of(from), last = value_of(to), by = fabs(value_of(step));
    if (step.units == 0) {
        *problem = "has a step of 0";
        return NUMBER_RANGE_WRONG;
    }
    double steps = floor(fabs(last - first) / by + rounding);
    if (!is_countable(steps, fmax(fmax(fabs(first), fabs(last)), by), decimals, problem))
        return NUMBER_RANGE_WRONG;
    int64_t start = from.units * power_of_ten(decimals - from.decimals);
    int64_t stride = llabs(step.units) * power_of_ten(decimals - step.decimals);
    if (last < first)
        stride = -stride;
    number_range_result result = NUMBER_RANGE_DONE;
    for (int64_t i = 0; i <= (int64_t)steps && result == NUMBER_RANGE_DONE; i++)
        result = append_decimal((decimal){start + i * stride, decimals}, values);
    return result;
}

static number_range_result multiply(decimal from, decimal to, decimal factor, words *values,
                                    const char **problem)
{
    double by = value_of(factor), last = value_of(to), first = value_of(from);
    if (!(by > 1) || !(first > 0) || !(last > 0)) {
        *problem = "needs numbers above 0 and a factor above 1";
        return NUMBER_RANGE_WRONG;
    }
    double times = floor(fabs(log(last / first)) / log(by) + rounding);
    if (!is_countable(times, fmax(first, last), from.decimals, problem))
        return NUMBER_RANGE_WRONG;
    number_range_result result = NUMBER_RANGE_DONE;
    int64_t before = 0;
    for (int i = 0; i <= (int)times && result == NUMBER_RANGE_DONE; i++) {
        int64_t units = llround((double)from.units * pow(by, last < first ? -i : i));
        if (units != before && units != 0)
            result = append_decimal((decimal){units, from.decimals}, values);
        before = units;
    }
    return result;
}

number_range_result number_range_expand(const char *text, words *values, const char **problem)
{
    decimal from, to, by = {1, 0};
    if (!take_decimal(&text, &from) || strncmp(text, "..", 2) != 0)
        return NUMBER_RANGE_NONE;
    text += 2;
    if (!take_decimal(&text, &to))
        return NUMBER_RANGE_NONE;
    bool factor = *text == '*', step = strncmp(text, "..", 2) == 0;
    if (!factor && !step && *text != '\0')
        return NUMBER_RANGE_NONE;
    text += factor ? 1 : step ? 2 : 0;
    *problem = "is no range; write FROM..TO, FROM..TO..STEP or FROM..TO*FACTOR";
    if ((factor || step) && !take_decimal(&text, &by))
        return NUMBER_RANGE_WRONG;
    if (*text != '\0')
        return NUMBER_RANGE_WRONG;
    return factor ? multiply(from, to, by, values, problem)
                  : count_steps(from, to, by, values, problem);
}
