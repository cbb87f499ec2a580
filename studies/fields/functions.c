/* The nine functions. They were chosen to differ in the detail that a model must resolve: a
 * polynomial, smooth bumps, waves of one length and of many, rings, a kink, a steep front, jumps,
 * and a point without a limit. */
#include "studies/fields/functions.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

static double saddle(double x, double y)
{
    return x * x - y * y;
}

/* The function of Franke 1979, "A critical comparison of some methods for interpolation of
 * scattered data", whose square is [0, 1] x [0, 1]. Its values go up to about 1.22, hence the
 * division by 1.25. */
static double franke(double x, double y)
{
    double u = 9 * (x + 1) / 2, v = 9 * (y + 1) / 2;
    return (0.75 * exp(-((u - 2) * (u - 2) + (v - 2) * (v - 2)) / 4) +
            0.75 * exp(-(u + 1) * (u + 1) / 49 - (v + 1) / 10) +
            0.5 * exp(-((u - 7) * (u - 7) + (v - 3) * (v - 3)) / 4) -
            0.2 * exp(-(u - 4) * (u - 4) - (v - 7) * (v - 7))) /
           1.25;
}

static double waves(double x, double y)
{
    return sin(2 * pi * x) * cos(2 * pi * y);
}

static double chirp(double x, double y)
{
    return sin(pi * (x + 1) * (x + 1)) * cos(pi * y);
}

static double ripple(double x, double y)
{
    double r = 12 * hypot(x, y);
    return r > 0 ? sin(r) / r : 1;
}

static double kink(double x, double y)
{
    return fabs(x + y) - 1;
}

static double front(double x, double y)
{
    return tanh(25 * (y - 0.4 * sin(pi * x)));
}

static double checkers(double x, double y)
{
    return (x < 0) == (y < 0) ? 1 : -1;
}

static double spiral(double x, double y)
{
    return cos(2 * atan2(y, x) + 6 * hypot(x, y));
}

const assay__fields_function assay__fields_functions[ASSAY__FIELDS_FUNCTIONS] = {
    {"saddle", "x^2 - y^2", "none: a polynomial", saddle},
    {"franke", "Franke's function / 1.25", "smooth bumps of two sizes", franke},
    {"waves", "sin(2 pi x) cos(2 pi y)", "oscillation of one wavelength", waves},
    {"chirp", "sin(pi (x + 1)^2) cos(pi y)", "oscillation that quickens along x", chirp},
    {"ripple", "sin(12 r) / (12 r)", "radial rings that fade", ripple},
    {"kink", "|x + y| - 1", "a fold: the slope jumps along a line", kink},
    {"front", "tanh(25 (y - 0.4 sin(pi x)))", "a steep front along a curve", front},
    {"checkers", "sign(x y)", "jumps along both axes", checkers},
    {"spiral", "cos(2 theta + 6 r)", "two arms; no limit at the centre", spiral},
};
