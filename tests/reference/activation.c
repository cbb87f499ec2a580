/* Activations by libm. */
#include <math.h>

#include "tests/reference/reference.h"

double reference_activate(assay__activation kind, double x)
{
    switch (kind) {
    case ASSAY__RELU:
        return x <= 0 ? 0 : x;
    case ASSAY__GELU:
        return 0.5 * x * erfc(-x * M_SQRT1_2);
    case ASSAY__TANH:
        return tanh(x);
    case ASSAY__SIGMOID:
        return 1 / (1 + exp(-x));
    case ASSAY__SINE:
        return sin(x);
    case ASSAY__SILU:
        return x / (1 + exp(-x));
    case ASSAY__IDENTITY:
    case ASSAY__ACTIVATIONS_COUNT:
        break;
    }
    return x;
}

double reference_activate_slope(assay__activation kind, double x)
{
    double z = exp(-fabs(x));
    switch (kind) {
    case ASSAY__RELU:
        return x <= 0 ? 0 : 1;
    case ASSAY__GELU:
        return 0.5 * erfc(-x * M_SQRT1_2) + x * exp(-0.5 * x * x) * 0.5 * M_2_SQRTPI * M_SQRT1_2;
    case ASSAY__TANH:
        return 1 / (cosh(x) * cosh(x));
    case ASSAY__SIGMOID:
        return z / ((1 + z) * (1 + z));
    case ASSAY__SINE:
        return cos(x);
    case ASSAY__SILU:
        return 1 / (1 + exp(-x)) + x * z / ((1 + z) * (1 + z));
    case ASSAY__IDENTITY:
    case ASSAY__ACTIVATIONS_COUNT:
        break;
    }
    return 1;
}
