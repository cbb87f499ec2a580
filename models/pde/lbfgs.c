/* Nocedal and Wright, "Numerical Optimization" (2nd edition, 2006): the two-loop recursion is their
 * algorithm 7.4 with the scaling of (7.20), the line search their algorithms 3.5 and 3.6 for the
 * strong Wolfe conditions (c1 = 1e-4, c2 = 0.9), which make every correction pair usable. A
 * backtracking search is shorter, but leaves pairs with negative curvature that must be thrown
 * away.
 */
#include "models/pde/lbfgs.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PAIRS = 100, MAX_TRIALS = 25 };

/* The function along the direction: at distance t its value and slope. */
typedef struct trial {
    double t, value, slope;
} trial;

struct assay__lbfgs {
    size_t count, pairs;
    assay__objective objective;
    void *context;
    double gradient_tolerance, value_tolerance;
    assay__lbfgs_state state;
    double *block;                  /* everything below but rho */
    double *x, *gradient;           /* (count): where we are */
    double *next_x, *next_gradient; /* (count): the last trial */
    double *direction;              /* (count) */
    double *best_x, *best_gradient; /* (count): the trial to fall back on in a search */
    double *s, *y;                  /* (pairs, count): steps and changes of the gradient, a ring */
    double rho[MAX_PAIRS];          /* 1 / (s . y) of each */
    size_t newest, known;           /* the ring's last entry and how many it holds */
};

static double dot(size_t count, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static double largest(size_t count, const double *a)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fabs(a[i]) > most || isnan(a[i]) ? fabs(a[i]) : most;
    return most;
}

static void add_scaled(size_t count, double factor, const double *a, double *to)
{
    for (size_t i = 0; i < count; i++)
        to[i] += factor * a[i];
}

assay_status assay__lbfgs_new(size_t count, size_t pairs, assay__objective objective, void *context,
                              assay__lbfgs **lbfgs)
{
    if (count == 0 || pairs == 0 || pairs > MAX_PAIRS)
        return ASSAY_E_ARGUMENT;
    assay__lbfgs *made = calloc(1, sizeof *made);
    if (made == NULL)
        return ASSAY_E_MEMORY;
    size_t vectors = 2 * pairs + 7;
    made->block = count > SIZE_MAX / vectors ? NULL : calloc(vectors * count, sizeof(double));
    if (made->block == NULL) {
        free(made);
        return ASSAY_E_MEMORY;
    }
    double **arrays[] = {
        &made->x,         &made->gradient, &made->next_x,       &made->next_gradient,
        &made->direction, &made->best_x,   &made->best_gradient};
    for (size_t i = 0; i < 7; i++)
        *arrays[i] = made->block + i * count;
    made->s = made->block + 7 * count;
    made->y = made->s + pairs * count;
    made->count = count;
    made->pairs = pairs;
    made->objective = objective;
    made->context = context;
    assay__lbfgs_set_tolerances(made, 1e-8, 0);
    *lbfgs = made;
    return ASSAY_OK;
}

void assay__lbfgs_free(assay__lbfgs *lbfgs)
{
    if (lbfgs != NULL) {
        free(lbfgs->block);
        free(lbfgs);
    }
}

void assay__lbfgs_set_tolerances(assay__lbfgs *lbfgs, double gradient, double value)
{
    lbfgs->gradient_tolerance = gradient;
    lbfgs->value_tolerance = value;
}

void assay__lbfgs_state_of(const assay__lbfgs *lbfgs, assay__lbfgs_state *state)
{
    *state = lbfgs->state;
}

const double *assay__lbfgs_point(const assay__lbfgs *lbfgs)
{
    return lbfgs->x;
}

assay_status assay__lbfgs_start(assay__lbfgs *lbfgs, const double *x)
{
    memcpy(lbfgs->x, x, lbfgs->count * sizeof *x);
    lbfgs->known = 0;
    lbfgs->newest = 0;
    lbfgs->state = (assay__lbfgs_state){.evaluations = 1};
    assay_status status =
        lbfgs->objective(lbfgs->context, lbfgs->x, &lbfgs->state.value, lbfgs->gradient);
    if (status != ASSAY_OK)
        return status;
    lbfgs->state.gradient_size = largest(lbfgs->count, lbfgs->gradient);
    if (!isfinite(lbfgs->state.value) || !isfinite(lbfgs->state.gradient_size))
        return ASSAY_E_DATA;
    if (lbfgs->state.gradient_size <= lbfgs->gradient_tolerance)
        lbfgs->state.outcome = ASSAY__LBFGS_GRADIENT;
    return ASSAY_OK;
}

/* direction = -H gradient */
static void two_loops(assay__lbfgs *lbfgs)
{
    size_t count = lbfgs->count;
    double alpha[MAX_PAIRS];
    double *q = lbfgs->direction;
    memcpy(q, lbfgs->gradient, count * sizeof *q);
    for (size_t age = 0; age < lbfgs->known; age++) {
        size_t i = (lbfgs->newest + lbfgs->pairs - age) % lbfgs->pairs;
        alpha[i] = lbfgs->rho[i] * dot(count, lbfgs->s + i * count, q);
        add_scaled(count, -alpha[i], lbfgs->y + i * count, q);
    }
    if (lbfgs->known > 0) {
        const double *y = lbfgs->y + lbfgs->newest * count;
        double scale = 1 / (lbfgs->rho[lbfgs->newest] * dot(count, y, y));
        for (size_t j = 0; j < count; j++)
            q[j] *= scale;
    }
    for (size_t age = lbfgs->known; age-- > 0;) {
        size_t i = (lbfgs->newest + lbfgs->pairs - age) % lbfgs->pairs;
        double beta = lbfgs->rho[i] * dot(count, lbfgs->y + i * count, q);
        add_scaled(count, alpha[i] - beta, lbfgs->s + i * count, q);
    }
    for (size_t j = 0; j < count; j++)
        q[j] = -q[j];
}

/* Evaluate at x + t direction. A point that is not finite is taken for infinitely high. */
static assay_status try_at(assay__lbfgs *lbfgs, double t, trial *result)
{
    for (size_t i = 0; i < lbfgs->count; i++)
        lbfgs->next_x[i] = lbfgs->x[i] + t * lbfgs->direction[i];
    double value;
    assay_status status =
        lbfgs->objective(lbfgs->context, lbfgs->next_x, &value, lbfgs->next_gradient);
    lbfgs->state.evaluations++;
    double slope = dot(lbfgs->count, lbfgs->next_gradient, lbfgs->direction);
    bool finite = isfinite(value) && isfinite(slope);
    *result = (trial){t, finite ? value : INFINITY, finite ? slope : 0};
    return status;
}

static void keep_trial(assay__lbfgs *lbfgs)
{
    double *x = lbfgs->best_x, *gradient = lbfgs->best_gradient;
    lbfgs->best_x = lbfgs->next_x;
    lbfgs->best_gradient = lbfgs->next_gradient;
    lbfgs->next_x = x;
    lbfgs->next_gradient = gradient;
}

/* The minimum of the cubic through two points with their slopes (Nocedal and Wright (3.59)), kept
 * off the ends of the interval; the middle where there is none. */
static double between(trial a, trial b)
{
    double width = b.t - a.t, middle = a.t + 0.5 * width;
    if (!isfinite(a.value) || !isfinite(b.value))
        return middle;
    double d1 = a.slope + b.slope - 3 * (a.value - b.value) / (a.t - b.t);
    double square = d1 * d1 - a.slope * b.slope;
    if (!(square >= 0))
        return middle;
    double d2 = copysign(sqrt(square), width);
    double t = b.t - width * (b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2);
    double share = (t - a.t) / width;
    return share > 0.1 && share < 0.9 ? t : middle;
}

static const double c1 = 1e-4, c2 = 0.9;

static bool low_enough(trial start, trial at)
{
    return at.value <= start.value + c1 * at.t * start.slope;
}

static bool flat_enough(trial start, trial at)
{
    return fabs(at.slope) <= -c2 * start.slope;
}

/* Algorithm 3.6: `low` has the lower value of the two ends and stands in best_x. What it ends at
 * when the trials run out is still lower than the start, unless low is the start itself. */
static assay_status zoom(assay__lbfgs *lbfgs, trial start, trial low, trial high, trial *chosen)
{
    for (int tries = 0; tries < MAX_TRIALS; tries++) {
        trial at;
        assay_status status = try_at(lbfgs, between(low, high), &at);
        if (status != ASSAY_OK)
            return status;
        if (!low_enough(start, at) || at.value >= low.value) {
            high = at;
            continue;
        }
        keep_trial(lbfgs);
        if (at.slope * (high.t - low.t) >= 0)
            high = low;
        low = at;
        if (flat_enough(start, at))
            break;
    }
    *chosen = low;
    return ASSAY_OK;
}

/* Algorithm 3.5. chosen->t is 0 where no lower point was found; else best_x is the point. */
static assay_status search(assay__lbfgs *lbfgs, double first, trial *chosen)
{
    trial start = {0, lbfgs->state.value, dot(lbfgs->count, lbfgs->gradient, lbfgs->direction)};
    trial last = start;
    *chosen = start;
    if (!(start.slope < 0))
        return ASSAY_OK;
    double t = first;
    for (int tries = 0; tries < MAX_TRIALS; tries++) {
        trial at;
        assay_status status = try_at(lbfgs, t, &at);
        if (status != ASSAY_OK)
            return status;
        if (!low_enough(start, at) || (tries > 0 && at.value >= last.value))
            return zoom(lbfgs, start, last, at, chosen);
        keep_trial(lbfgs);
        *chosen = at;
        if (flat_enough(start, at))
            return ASSAY_OK;
        if (at.slope >= 0)
            return zoom(lbfgs, start, at, last, chosen);
        last = at;
        t *= 2;
    }
    return ASSAY_OK;
}

/* Move to best_x and remember the pair, unless rounding left it without curvature. */
static void accept(assay__lbfgs *lbfgs, double value)
{
    size_t count = lbfgs->count;
    size_t slot = lbfgs->known == 0 ? 0 : (lbfgs->newest + 1) % lbfgs->pairs;
    double *s = lbfgs->s + slot * count, *y = lbfgs->y + slot * count;
    for (size_t i = 0; i < count; i++) {
        s[i] = lbfgs->best_x[i] - lbfgs->x[i];
        y[i] = lbfgs->best_gradient[i] - lbfgs->gradient[i];
    }
    double curvature = dot(count, s, y);
    if (curvature > 2.2e-16 * dot(count, y, y)) {
        lbfgs->rho[slot] = 1 / curvature;
        lbfgs->newest = slot;
        lbfgs->known += lbfgs->known < lbfgs->pairs;
    }
    memcpy(lbfgs->x, lbfgs->best_x, count * sizeof(double));
    memcpy(lbfgs->gradient, lbfgs->best_gradient, count * sizeof(double));
    assay__lbfgs_state *state = &lbfgs->state;
    double fall = state->value - value;
    state->value = value;
    state->gradient_size = largest(count, lbfgs->gradient);
    state->iteration++;
    if (state->gradient_size <= lbfgs->gradient_tolerance)
        state->outcome = ASSAY__LBFGS_GRADIENT;
    else if (fall <= lbfgs->value_tolerance * fmax(1, fabs(value)))
        state->outcome = ASSAY__LBFGS_VALUE;
}

assay_status assay__lbfgs_step(assay__lbfgs *lbfgs, assay__lbfgs_state *state)
{
    assay_status status = ASSAY_OK;
    while (lbfgs->state.outcome == ASSAY__LBFGS_RUNNING) {
        two_loops(lbfgs);
        double first = 1;
        if (lbfgs->known == 0) /* nothing is known of the scale: move by 1 at most */
            first = fmin(1, 1 / sqrt(dot(lbfgs->count, lbfgs->gradient, lbfgs->gradient)));
        trial chosen;
        status = search(lbfgs, first, &chosen);
        if (status != ASSAY_OK)
            break;
        if (chosen.t > 0) {
            accept(lbfgs, chosen.value);
            break;
        }
        if (lbfgs->known == 0)
            lbfgs->state.outcome = ASSAY__LBFGS_STALLED;
        lbfgs->known = 0; /* once more, straight down the gradient */
    }
    *state = lbfgs->state;
    return status;
}
