/* The energy of a window, from the readings of a meter.
 *
 * A counter moves in steps. A reading shows the energy consumed until the counter last moved. So
 * the energy until a time t is at least what the last reading before t shows. An upper bound is a
 * reading whose counter has certainly moved after t. This is certain if two readings that both
 * began after t differ: the later of them is the upper bound. So the bounds need not know how often
 * a counter moves. A counter that moves rarely gives wide bounds, and a counter that has not moved
 * since t gives no upper bound. The bounds of a window follow from the bounds at its two ends, and
 * from the highest power that a device may draw.
 *
 * The estimate is linear between moves. A move is placed in the middle between the two readings
 * that show it. The period of a counter is the mean time between its moves. It decides only whether
 * a window is long enough for an estimate.
 *
 * Counters whose period is known, those of the processor, move between any two readings. If such a
 * counter does not, it shows nothing.
 *
 * A counter may start again: after a suspension of the machine, or when a driver is loaded again.
 * Then a window around that time has no figure and no upper bound. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/struct_size.h"
#include "instrument/meter_state.h"

static const assay__meter_reading *number(const assay_meter *meter, uint64_t n)
{
    return &meter->readings[n];
}

static const assay__meter_reading *last_reading(const assay_meter *meter)
{
    return number(meter, meter->made - 1);
}

static bool is_silent(const assay_meter *meter, size_t source, uint64_t n)
{
    return (number(meter, n)->silent >> source & 1) != 0;
}

/* ---- searching the readings ------------------------------------------------------------------ */

/* The number of the first reading that ended later than `ns`. */
static uint64_t first_after(const assay_meter *meter, uint64_t ns)
{
    uint64_t low = 0, high = meter->made;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (number(meter, middle)->ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The number of the first reading from `low` on that shows more than `joules`. */
static uint64_t first_above(const assay_meter *meter, size_t source, uint64_t low, double joules)
{
    uint64_t high = meter->made;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (number(meter, middle)->joules[source] <= joules)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The number of the latest reading that ended at or before `ns`, or the oldest one. */
static uint64_t last_until(const assay_meter *meter, uint64_t ns)
{
    uint64_t after = first_after(meter, ns);
    return after > 0 ? after - 1 : after;
}

const assay__meter_reading *assay__meter_reading_at(const assay_meter *meter, uint64_t ns)
{
    return number(meter, last_until(meter, ns));
}

/* The number of the first reading whose counter certainly moved after `ns`; meter->made if there is
 * none yet. */
static uint64_t moved_after(const assay_meter *meter, size_t source, uint64_t ns)
{
    const double known = meter->sources[source].update_seconds;
    const uint64_t from = ns + (uint64_t)(known * 1e9);
    uint64_t n = first_after(meter, from > 0 ? from - 1 : 0);
    while (n < meter->made && (number(meter, n)->begin_ns < from || is_silent(meter, source, n)))
        n++;
    if (n == meter->made || known > 0)
        return n;
    return first_above(meter, source, n, number(meter, n)->joules[source]);
}

/* The number of the reading that first showed what reading `n` shows, or the oldest one. */
static uint64_t move_until(const assay_meter *meter, size_t source, uint64_t n)
{
    const double joules = number(meter, n)->joules[source];
    uint64_t low = 0;
    if (meter->sources[source].update_seconds > 0)
        return n;
    while (low < n) {
        uint64_t middle = low + (n - low) / 2;
        if (number(meter, middle)->joules[source] < joules)
            low = middle + 1;
        else
            n = middle;
    }
    return n;
}

/* The number of the first reading that shows the next move after reading `n`. */
static uint64_t move_from(const assay_meter *meter, size_t source, uint64_t n)
{
    return meter->sources[source].update_seconds > 0
               ? n + 1
               : first_above(meter, source, n + 1, number(meter, n)->joules[source]);
}

double assay__meter_late_seconds(const assay_meter *meter, size_t source, uint64_t ns)
{
    const uint64_t at = last_until(meter, ns);
    uint64_t before = move_until(meter, source, at);
    if (meter->sources[source].update_seconds > 0)
        return meter->sources[source].update_seconds;
    if (before == 0)
        return INFINITY;
    for (before--; before > 0 && is_silent(meter, source, before);)
        before--;
    return (double)(number(meter, at)->ns - number(meter, before)->begin_ns) * 1e-9;
}

/* ---- the estimate ---------------------------------------------------------------------------- */

/* When the last move that reading `n` shows took place: between that reading and the one before,
 * and not more than a period before it. `n` is not the first reading, or the period of the counter
 * is known. */
static double moment_of(const assay_meter *meter, size_t source, uint64_t n)
{
    const assay__meter_source *of = &meter->sources[source];
    const double at = (double)number(meter, n)->ns;
    if (of->update_seconds > 0)
        return at - 0.5e9 * of->update_seconds;
    return at - 0.5 * fmin(at - (double)number(meter, n - 1)->ns, of->period_seconds * 1e9);
}

/* Joules until `ns`, interpolated between the moves around it. NAN if the counter has not moved
 * since. What the first reading shows is taken to be a period older than the next move, or as old
 * as that reading. */
static double interpolated(const assay_meter *meter, size_t source, uint64_t ns)
{
    const assay__meter_source *of = &meter->sources[source];
    uint64_t before = move_until(meter, source, last_until(meter, ns));
    uint64_t after = move_from(meter, source, before);
    if (after < meter->made && moment_of(meter, source, after) < (double)ns) {
        before = after;
        after = move_from(meter, source, before);
    }
    if (after >= meter->made)
        return NAN;
    const double end = moment_of(meter, source, after);
    const double begin = before > 0 || of->update_seconds > 0
                             ? moment_of(meter, source, before)
                             : fmin(end - of->period_seconds * 1e9, (double)number(meter, 0)->ns);
    const double first = number(meter, before)->joules[source];
    if (!isfinite(begin))
        return NAN;
    const double share = end > begin ? fmin(fmax(((double)ns - begin) / (end - begin), 0), 1) : 1;
    return first + share * (number(meter, after)->joules[source] - first);
}

/* ---- windows --------------------------------------------------------------------------------- */

bool assay__meter_window(assay_meter *meter, size_t source, uint64_t begin_ns, uint64_t end_ns,
                         double *joules, double *low, double *high)
{
    const assay__meter_source *of = &meter->sources[source];
    if (!of->counted) /* this does not change */
        return false;
    *joules = NAN;
    *low = 0;
    *high = INFINITY;
    pthread_mutex_lock(&meter->lock);
    const uint64_t kept_ns = number(meter, 0)->ns;
    const uint64_t after_begin = moved_after(meter, source, begin_ns);
    const uint64_t after_end = moved_after(meter, source, end_ns);
    if (after_begin < meter->made && end_ns >= kept_ns)
        *low = fmax(assay__meter_reading_at(meter, end_ns)->joules[source] -
                        number(meter, after_begin)->joules[source],
                    0);
    if (after_end < meter->made && begin_ns >= kept_ns &&
        assay__meter_reading_at(meter, begin_ns)->restarts[source] ==
            number(meter, after_end)->restarts[source]) {
        *high = number(meter, after_end)->joules[source] -
                assay__meter_reading_at(meter, begin_ns)->joules[source];
        *joules = interpolated(meter, source, end_ns) - interpolated(meter, source, begin_ns);
    }
    if (!(*high > 0)) { /* the counter of a processor stood still; no processor draws nothing */
        *high = INFINITY;
        *joules = NAN;
    }
    pthread_mutex_unlock(&meter->lock);
    if (of->limit_watts > 0)
        *high = fmin(*high, of->limit_watts * (double)(end_ns - begin_ns) * 1e-9);
    *low = fmin(*low, *high);
    if (!isnan(*joules))
        *joules = fmin(fmax(*joules, *low), *high);
    return true;
}

bool assay__meter_total(assay_meter *meter, uint64_t begin_ns, uint64_t end_ns, double *joules,
                        double *low, double *high)
{
    bool any = false;
    *joules = *low = *high = 0;
    for (size_t i = 0; i < ASSAY__METER_SOURCES; i++) {
        double part, part_low, part_high;
        if (!assay__meter_window(meter, i, begin_ns, end_ns, &part, &part_low, &part_high))
            continue;
        any = true;
        *joules += part;
        *low += part_low;
        *high += part_high;
    }
    return any;
}

unsigned assay__meter_throttle(assay_meter *meter, uint64_t begin_ns, uint64_t end_ns)
{
    unsigned reasons = 0;
    pthread_mutex_lock(&meter->lock);
    if (meter->made > 0) {
        /* If the window lies between two readings, the reading after its end covers it. */
        uint64_t last = first_after(meter, end_ns);
        last = last < meter->made ? last : meter->made - 1;
        for (uint64_t i = first_after(meter, begin_ns); i <= last && i < meter->made; i++)
            reasons |= number(meter, i)->throttle;
    }
    pthread_mutex_unlock(&meter->lock);
    return reasons;
}

/* ---- the periods of counters ----------------------------------------------------------------- */

static void note_moves(assay_meter *meter, const assay__meter_reading *before,
                       const assay__meter_reading *now)
{
    for (size_t i = 0; i < ASSAY__METER_SOURCES; i++) {
        assay__meter_source *of = &meter->sources[i];
        assay__meter_moves *moves = &meter->moves[i];
        if (!of->counted || of->update_seconds > 0 || now->joules[i] <= before->joules[i])
            continue;
        moves->count++;
        moves->last_ns = now->ns;
        if (moves->count == 1)
            moves->first_ns = now->ns;
        else
            of->period_seconds =
                (double)(now->ns - moves->first_ns) * 1e-9 / (double)(moves->count - 1);
    }
}

/* ---- keeping readings ------------------------------------------------------------------------ */

enum { FIRST_READINGS = 64 /* that are never thinned out */ };

/* Keep every `stride`-th of some readings, and the last one. A reading that stays takes over the
 * reasons for throttling of those before it that do not. Returns how many stay. */
static uint64_t thin_out(assay__meter_reading *readings, uint64_t count, uint64_t stride)
{
    uint64_t kept = 0;
    unsigned throttle = 0;
    for (uint64_t i = 0; i < count; i++) {
        throttle |= readings[i].throttle;
        if ((i + 1) % stride != 0 && i + 1 < count)
            continue;
        readings[kept] = readings[i];
        readings[kept++].throttle = throttle;
        throttle = 0;
    }
    return kept;
}

/* Make room: thin out the earlier half of the readings that were not thinned out yet, and if too
 * many of the thinned ones have gathered, every second of those. The first readings stay, because
 * most long windows begin there. */
static void make_room(assay_meter *meter)
{
    assay__meter_reading *all = meter->readings;
    const uint64_t from = meter->thinned > 0 ? meter->thinned : FIRST_READINGS;
    const uint64_t next = from + (meter->made - from) / 2;
    uint64_t end = from + thin_out(&all[from], next - from, meter->stride);
    if (end > ASSAY__METER_READINGS / 2) {
        end = FIRST_READINGS + thin_out(&all[FIRST_READINGS], end - FIRST_READINGS, 2);
        meter->stride *= 2;
    }
    memmove(&all[end], &all[next], (meter->made - next) * sizeof *all);
    meter->made = end + meter->made - next;
    meter->thinned = end;
}

void assay__meter_keep(assay_meter *meter, const assay__meter_reading *reading)
{
    pthread_mutex_lock(&meter->lock);
    if (meter->made > 0)
        note_moves(meter, last_reading(meter), reading);
    else
        meter->first_ns = reading->ns;
    if (meter->made == ASSAY__METER_READINGS)
        make_room(meter);
    meter->readings[meter->made++] = *reading;
    pthread_cond_broadcast(&meter->read_one);
    pthread_mutex_unlock(&meter->lock);
}

/* The least length of a window for which a source has a figure. The lock is held. */
static double least_window(const assay_meter *meter, size_t source)
{
    return fmax(meter->sources[source].period_seconds, meter->period_seconds);
}

double assay__meter_least_window(assay_meter *meter)
{
    double longest = 0;
    pthread_mutex_lock(&meter->lock);
    for (size_t i = 0; i < ASSAY__METER_SOURCES; i++)
        if (meter->sources[i].counted)
            longest = fmax(longest, least_window(meter, i));
    pthread_mutex_unlock(&meter->lock);
    return longest;
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* Whether a source that did not move says nothing more in the foreseeable time: it does not answer,
 * or its counter stands still. */
static bool has_ended(const assay_meter *meter, size_t source)
{
    const assay__meter_moves *moves = &meter->moves[source];
    const uint64_t moved = moves->count > 0 ? moves->last_ns : meter->first_ns;
    return is_silent(meter, source, meter->made - 1) ||
           (meter->sources[source].update_seconds == 0 &&
            last_reading(meter)->ns - moved > ASSAY__METER_STUCK_NS);
}

/* Whether every counter has moved after `ns`. The lock is held. */
static bool all_moved_after(const assay_meter *meter, uint64_t ns)
{
    if (last_reading(meter)->ns < ns)
        return false;
    for (size_t i = 0; i < ASSAY__METER_SOURCES; i++)
        if (meter->sources[i].counted && moved_after(meter, i, ns) == meter->made &&
            !has_ended(meter, i))
            return false;
    return true;
}

/* Whether the period of every counter is known. The lock is held. */
static bool all_periods_known(const assay_meter *meter, uint64_t unused)
{
    (void)unused;
    for (size_t i = 0; i < ASSAY__METER_SOURCES; i++)
        if (meter->sources[i].counted && !isfinite(meter->sources[i].period_seconds) &&
            !has_ended(meter, i))
            return false;
    return true;
}

static void wait_until(assay_meter *meter, bool (*is_so)(const assay_meter *, uint64_t),
                       uint64_t ns, double seconds)
{
    const uint64_t last = assay_meter_now_ns() + (uint64_t)(seconds * 1e9);
    const struct timespec until = {(time_t)(last / 1000000000u), (long)(last % 1000000000u)};
    pthread_mutex_lock(&meter->lock);
    while (!is_so(meter, ns) && assay_meter_now_ns() < last)
        pthread_cond_timedwait(&meter->read_one, &meter->lock, &until);
    pthread_mutex_unlock(&meter->lock);
}

bool assay__meter_has_settled(assay_meter *meter, uint64_t end_ns)
{
    pthread_mutex_lock(&meter->lock);
    bool settled = all_moved_after(meter, end_ns);
    pthread_mutex_unlock(&meter->lock);
    return settled;
}

void assay__meter_settle(assay_meter *meter, uint64_t end_ns)
{
    const double least = assay__meter_least_window(meter);
    const double most = 10 * meter->period_seconds + 1 + (isfinite(least) ? 2 * least : 0);
    wait_until(meter, all_moved_after, end_ns, most);
}

double assay__meter_learn(assay_meter *meter)
{
    wait_until(meter, all_periods_known, 0, (double)ASSAY__METER_STUCK_NS * 1e-9);
    return assay__meter_least_window(meter);
}

/* ---- the public call ------------------------------------------------------------------------- */

static void add_to(assay_reading *sum, double value)
{
    *sum = assay_reading_of((sum->validity == ASSAY_VALID ? sum->value : 0) + value);
}

/* A sum is not known if that of one of its sources is not. */
static void check_sum(assay_reading *sum)
{
    if (sum->validity == ASSAY_VALID && !isfinite(sum->value))
        *sum = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
}

assay_status assay_meter_read(assay_meter *meter, uint64_t begin_ns, uint64_t end_ns,
                              assay_error *error, assay_energy *energy)
{
    if (!assay__struct_has_room(energy, sizeof *energy))
        return assay__fail(error, ASSAY_E_ARGUMENT, "assay_energy: struct_size is not set");
    if (end_ns < begin_ns)
        return assay__fail(error, ASSAY_E_ARGUMENT, "the window ends before it begins");
    if (!assay__meter_runs(meter))
        return assay__fail(error, ASSAY_E_STATE, "the meter's thread is in the parent process");
    const assay_reading none = assay_reading_missing(ASSAY_UNSUPPORTED);
    const double length = (double)(end_ns - begin_ns) * 1e-9;
    *energy = (assay_energy){energy->struct_size, none, none, none, none, none, none};
    assay__meter_settle(meter, end_ns);
    for (size_t i = 0; i < ASSAY__METER_SOURCES; i++) {
        double joules, low, high;
        if (!assay__meter_window(meter, i, begin_ns, end_ns, &joules, &low, &high))
            continue;
        pthread_mutex_lock(&meter->lock);
        if (length < least_window(meter, i))
            joules = NAN;
        pthread_mutex_unlock(&meter->lock);
        add_to(&energy->joules, joules);
        add_to(&energy->joules_low, low);
        add_to(&energy->joules_high, high);
        add_to(meter->sources[i].gpu ? &energy->gpu_joules : &energy->cpu_joules, joules);
    }
    check_sum(&energy->joules);
    check_sum(&energy->joules_high);
    check_sum(&energy->gpu_joules);
    check_sum(&energy->cpu_joules);
    if (meter->device_count > 0 && (meter->parts & ASSAY_DEVICE_LOAD) != 0)
        energy->throttle = assay_reading_of(assay__meter_throttle(meter, begin_ns, end_ns));
    return ASSAY_OK;
}
