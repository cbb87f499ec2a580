/* Axes: their range, the round values of their ticks, and the texts of the ticks. */
#include "plot/axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/cell.h"

/* A logarithmic axis whose ends have a smaller ratio than this is nearly linear, and evenly spaced
 * ticks read better. */
static const double NEARLY_EVEN = 6;

assay__axis assay__axis_of(const char *label, assay__axis_unit unit, bool logarithmic)
{
    return (assay__axis){label, unit, logarithmic, INFINITY, -INFINITY};
}

static bool has_place(const assay__axis *axis, double value)
{
    return isfinite(value) && (!axis->logarithmic || value > 0);
}

void assay__axis_include(assay__axis *axis, double value)
{
    if (!has_place(axis, value))
        return;
    axis->low = fmin(axis->low, value);
    axis->high = fmax(axis->high, value);
}

bool assay__axis_finish(assay__axis *axis)
{
    static const double room = 0.04;
    if (!(axis->low <= axis->high))
        return false;
    if (axis->logarithmic) {
        double span = fmax(log(axis->high / axis->low), log(1.2));
        double middle = 0.5 * (log(axis->low) + log(axis->high));
        axis->low = exp(middle - span * (0.5 + room));
        axis->high = exp(middle + span * (0.5 + room));
        return true;
    }
    double span = axis->high - axis->low;
    if (!(span > 0))
        span = axis->high != 0 ? fabs(axis->high) : 1;
    axis->low = axis->low == 0 ? 0 : axis->low - room * span;
    axis->high += room * span;
    return true;
}

double assay__axis_share(const assay__axis *axis, double value)
{
    if (!has_place(axis, value))
        return (double)NAN;
    return axis->logarithmic ? log(value / axis->low) / log(axis->high / axis->low)
                             : (value - axis->low) / (axis->high - axis->low);
}

/* The smallest of 1, 2, 5, 10, … times a power of `base` that is not below `least`. */
static double round_step(double least, double base)
{
    static const double decimal[] = {1, 2, 5, 10}, binary[] = {1, 2, 4, 8};
    const double *factors = base == 10 ? decimal : binary;
    double power = pow(base, floor(log(least) / log(base) + 1e-9));
    for (size_t i = 0; i < sizeof decimal / sizeof *decimal; i++)
        if (factors[i] * power >= least * (1 - 1e-9))
            return factors[i] * power;
    return base * power;
}

static size_t even_ticks(const assay__axis *axis, size_t most, double *ticks)
{
    size_t count = 0;
    double step = round_step((axis->high - axis->low) / (double)most,
                             axis->unit == ASSAY__AXIS_BYTES ? 2 : 10);
    for (double k = ceil(axis->low / step - 1e-9);
         count < most && k * step <= axis->high * (1 + 1e-12); k++)
        ticks[count++] = k * step + 0.0;
    return count;
}

/* Ticks at powers of ten, or of two for bytes, as many as fit. If there is room, 2 and 5 between
 * powers of ten get ticks too. */
static size_t power_ticks(const assay__axis *axis, size_t most, double *ticks)
{
    static const double between[] = {1, 2, 5};
    double base = axis->unit == ASSAY__AXIS_BYTES ? 2 : 10;
    double low = log(axis->low) / log(base), last = log(axis->high) / log(base);
    bool dense = base == 10 && 3 * (last - low) <= (double)most;
    double first = dense ? floor(low) : ceil(low);
    double step = dense ? 1 : ceil((floor(last) - first + 1) / (double)most);
    size_t count = 0;
    for (double k = first; k <= last && count < most; k += fmax(step, 1))
        for (size_t i = 0; i < (dense ? 3 : 1) && count < most; i++) {
            double tick = between[i] * pow(base, k);
            if (tick >= axis->low && tick <= axis->high)
                ticks[count++] = tick;
        }
    return count;
}

size_t assay__axis_ticks(const assay__axis *axis, size_t most, double ticks[ASSAY__AXIS_MAX_TICKS])
{
    most = most < 2 ? 2 : most > ASSAY__AXIS_MAX_TICKS ? ASSAY__AXIS_MAX_TICKS : most;
    return axis->logarithmic && axis->high / axis->low > NEARLY_EVEN
               ? power_ticks(axis, most, ticks)
               : even_ticks(axis, most, ticks);
}

typedef struct scale {
    double factor;
    const char *name;
} scale;

static const scale seconds[] = {{1e-9, " ns"}, {1e-6, " µs"}, {1e-3, " ms"}, {1, " s"}};
static const scale bytes[] = {{1, " B"},
                              {1024.0, " KiB"},
                              {1048576.0, " MiB"},
                              {1073741824.0, " GiB"},
                              {1099511627776.0, " TiB"}};
static const scale numbers[] = {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}};

/* The largest scale that the value reaches. Numbers below 10,000 need no scale. */
static scale scale_of(assay__axis_unit unit, double value)
{
    const scale *scales = unit == ASSAY__AXIS_SECONDS ? seconds
                          : unit == ASSAY__AXIS_BYTES ? bytes
                                                      : numbers;
    size_t count = unit == ASSAY__AXIS_SECONDS ? 4 : 5, chosen = 0;
    if (value == 0)
        return unit == ASSAY__AXIS_SECONDS ? seconds[3] : scales[0];
    if (unit == ASSAY__AXIS_NUMBER && fabs(value) < 1e4)
        return numbers[0];
    for (size_t i = 1; i < count; i++)
        if (fabs(value) >= scales[i].factor * (1 - 1e-9))
            chosen = i;
    return scales[chosen];
}

const char *assay__axis_text(assay__axis_unit unit, double value, char text[ASSAY__AXIS_TEXT])
{
    char number[ASSAY__CELL_BYTES];
    scale in = scale_of(unit, value);
    double scaled = value / in.factor, size = fabs(scaled);
    if (size > 0 && (size < 1e-3 || size >= 1e7)) {
        int exponent = (int)floor(log10(size) + 1e-9);
        assay__cell_fixed(number, scaled / pow(10, exponent), 1);
        char *zero = strstr(number, ".0");
        if (zero != NULL)
            *zero = '\0';
        snprintf(text, ASSAY__AXIS_TEXT, "%se%d%s", number, exponent, in.name);
        return text;
    }
    int decimals = size >= 100 || size == 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 4;
    assay__cell_fixed(number, scaled, decimals);
    if (strchr(number, '.') != NULL) {
        size_t length = strlen(number);
        while (number[length - 1] == '0')
            number[--length] = '\0';
        if (number[length - 1] == '.')
            number[length - 1] = '\0';
    }
    snprintf(text, ASSAY__AXIS_TEXT, "%s%s", number, in.name);
    return text;
}
