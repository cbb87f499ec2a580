/* Compares times relative to the yardstick. A processor has levels of speed: while the other thread
 * of its core works, arithmetic takes 1.6 times as long, and other work 1.2 times. There, dividing
 * by the yardstick would correct too much. So samples are selected first: only those are used
 * beside which the yardsticks of both sides agree. If the two runs had no speed in common, all
 * samples are used, and the interval is widened by the uncertainty of the yardstick (compare.c).
 *
 * Disturbances that the yardstick does not see only add time: caches that other programs fill,
 * memory that they use, a switch of tasks. On a machine with three times as much work as it has
 * cores, the medians of equal runs spread by 2 to 5 %, and the means of the quickest quarter by 0.5
 * to 2 %. So the quickest quarter of each side is compared. If a candidate is slower only in its
 * other samples, there is no verdict, because the times themselves must agree as well (trial.c).
 *
 * If each sample has an input of its own, the same in both runs, each input is compared with
 * itself. Only inputs beside which the yardsticks of both runs agree are used, but not only the
 * quickest quarter of them. */
#include "analyze/relative.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/append.h"
#include "record/metric.h"
#include "stats/rule.h"
#include "stats/sorted.h"

/* Two yardsticks agree if they differ by at most this factor. At one speed of the machine, 95 % of
 * them do. */
static const double AGREEING = 1.05;

bool assay__has_yardstick(const assay_record_subject *subject)
{
    return assay__record_measure_samples(subject, ASSAY__METRIC_YARDSTICK) != NULL;
}

static const double *yardstick_of(const assay_record_subject *subject)
{
    return assay__record_measure_samples(subject, ASSAY__METRIC_YARDSTICK);
}

/* ---- selecting the samples --------------------------------------------------------------------
 */

typedef struct range {
    double low, high;
} range;

static bool is_within(range speeds, double yardstick)
{
    return yardstick >= speeds.low && yardstick <= speeds.high;
}

static double *sorted_copy(const double *values, size_t count)
{
    double *copy = malloc((count + 1) * sizeof *copy);
    if (copy == NULL)
        return NULL;
    memcpy(copy, values, count * sizeof *copy);
    assay__stats_sort(copy, count);
    return copy;
}

/* The values of a sorted series within [low, high]. Both bounds only grow from call to call. */
typedef struct window {
    const double *sorted;
    size_t count, from, to;
} window;

static double moved(window *it, range speeds)
{
    while (it->from < it->count && it->sorted[it->from] < speeds.low)
        it->from++;
    while (it->to < it->count && it->sorted[it->to] <= speeds.high)
        it->to++;
    return (double)(it->to - it->from);
}

/* The range of yardstick times in which the samples of both sides say most about their difference.
 * It contains all times if there is no range in which both sides have enough samples. */
static range most_telling(window first, window second)
{
    range best = {0, INFINITY};
    double most = 0;
    for (size_t i = 0; i < first.count + second.count; i++) {
        /* The next lower bound: the smallest value of both series that was not yet one. */
        bool own =
            first.from < first.count &&
            (second.from >= second.count || first.sorted[first.from] <= second.sorted[second.from]);
        double low = own ? first.sorted[first.from] : second.sorted[second.from];
        range speeds = {low, low * AGREEING};
        double a = moved(&first, speeds), b = moved(&second, speeds);
        if (a >= ASSAY__RULE_SAMPLES_LEAST && b >= ASSAY__RULE_SAMPLES_LEAST &&
            a * b / (a + b) > most) {
            most = a * b / (a + b);
            best = speeds;
        }
        if (own)
            first.from++;
        else
            second.from++;
    }
    return best;
}

static assay_status find_common_speeds(const assay_record_subject *baseline,
                                       const assay_record_subject *candidate, range *speeds)
{
    window first = {.count = baseline->sample_count}, second = {.count = candidate->sample_count};
    double *before = sorted_copy(yardstick_of(baseline), first.count);
    double *after = sorted_copy(yardstick_of(candidate), second.count);
    assay_status status = before != NULL && after != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    first.sorted = before;
    second.sorted = after;
    if (status == ASSAY_OK)
        *speeds = most_telling(first, second);
    free(before);
    free(after);
    return status;
}

/* The share of the samples in the range that is used, the same on both sides: a quarter, or more if
 * a verdict needs more samples. */
static double quick_share(double before, double after)
{
    static const double QUICK = 0.25;
    return fmin(fmax(QUICK, ASSAY__RULE_SAMPLES_LEAST / fmin(before, after)), 1);
}

static double count_within(const assay_record_subject *subject, range speeds)
{
    const double *yardstick = yardstick_of(subject);
    double found = 0;
    for (size_t i = 0; i < subject->sample_count; i++)
        found += is_within(speeds, yardstick[i]);
    return found;
}

/* ---- the view of a subject ------------------------------------------------------------------ */

enum { VIEWED = 3 };

/* The selected samples of a subject, relative to the yardstick beside them: their times, their
 * waiting times, and whether they were disturbed. */
typedef struct relative_view {
    assay_record_subject subject;
    assay_record_measure measures[VIEWED - 1];
    double *room;
    double speed; /* the mean logarithm of the yardstick's times */
} relative_view;

/* The condition for a sample to be used. */
typedef struct choice {
    const double *values, *yardstick;
    size_t count;
    range speeds;
    double most;           /* largest value divided by its yardstick */
    const double *partner; /* for inputs, the yardstick of the other side; NULL: not looked at */
    double apart;          /* the two yardsticks may differ by this factor */
} choice;

/* Yardsticks that were not timed (NaN) agree at no factor. */
static bool agree(double yardstick, double other, double apart)
{
    return yardstick <= other * apart && other <= yardstick * apart;
}

static bool counts(const choice *it, size_t at)
{
    return is_within(it->speeds, it->yardstick[at]) &&
           it->values[at] / it->yardstick[at] <= it->most &&
           (it->partner == NULL || agree(it->yardstick[at], it->partner[at], it->apart));
}

/* Copy the values of the selected samples, divided by the yardstick if `over_yardstick`. Returns
 * their number. */
static size_t choose(const choice *it, const double *values, bool over_yardstick, double *chosen)
{
    size_t found = 0;
    for (size_t i = 0; i < it->count; i++)
        if (counts(it, i))
            chosen[found++] = values[i] / (over_yardstick ? it->yardstick[i] : 1);
    return found;
}

/* The relative value that `share` of the samples in the range do not exceed. `room` needs space for
 * all samples. */
static double quick_limit(const choice *it, double share, double *room)
{
    size_t found = choose(it, it->values, true, room);
    assay__stats_sort(room, found);
    double wanted = ceil(share * (double)found);
    return found > 0 && wanted < (double)found ? room[(size_t)fmax(wanted, 1) - 1] : it->most;
}

static double mean_speed(const choice *it)
{
    double sum = 0, found = 0;
    for (size_t i = 0; i < it->count; i++)
        if (counts(it, i)) {
            sum += log(it->yardstick[i]);
            found++;
        }
    return found > 0 ? sum / found : 0;
}

/* Which samples are used: a range of speeds and a share of the quickest, or inputs whose yardsticks
 * on both sides differ by at most a factor. */
typedef struct selection {
    range speeds;
    double share;
    bool by_input;
    double apart;
} selection;

/* `other` is the subject of the other side. Both sides select the same inputs. */
static assay_status relative_view_init(relative_view *view, const assay_record_subject *subject,
                                       const assay_record_subject *other, const selection *use)
{
    static const char *const metrics[] = {ASSAY__METRIC_WAITED, ASSAY__METRIC_DISTURBED};
    choice those = {.values = subject->samples_seconds,
                    .yardstick = yardstick_of(subject),
                    .count = subject->sample_count,
                    .speeds = use->speeds,
                    .most = INFINITY,
                    .partner = use->by_input ? yardstick_of(other) : NULL,
                    .apart = use->apart};
    *view = (relative_view){.subject = *subject,
                            .room = calloc(VIEWED * those.count + 1, sizeof *view->room)};
    if (view->room == NULL)
        return ASSAY_E_MEMORY;
    if (!use->by_input)
        those.most = quick_limit(&those, use->share, view->room);
    view->subject.measures = view->measures;
    view->subject.measure_count = 0;
    view->subject.samples_seconds = view->room;
    view->subject.sample_count = choose(&those, those.values, true, view->room);
    view->speed = mean_speed(&those);
    for (size_t i = 0; i < VIEWED - 1; i++) {
        const double *samples = assay__record_measure_samples(subject, metrics[i]);
        double *room = view->room + (i + 1) * those.count;
        if (samples == NULL)
            continue;
        choose(&those, samples, i == 0, room);
        view->measures[view->subject.measure_count++] = (assay_record_measure){
            .metric = metrics[i], .samples = room, .sample_count = view->subject.sample_count};
    }
    return ASSAY_OK;
}

/* Inputs differ in their times, so there is no quickest quarter of them. All inputs are used if the
 * yardsticks agree beside too few of them. */
static void select_inputs(const assay_record_subject *baseline,
                          const assay_record_subject *candidate, selection *use)
{
    const double *before = yardstick_of(baseline), *after = yardstick_of(candidate);
    size_t agreeing = 0;
    for (size_t i = 0; i < baseline->sample_count; i++)
        agreeing += agree(before[i], after[i], AGREEING);
    use->by_input = true;
    use->apart = agreeing >= ASSAY__RULE_INPUTS_LEAST ? AGREEING : INFINITY;
}

static assay_status select_samples(const assay_record_subject *baseline,
                                   const assay_record_subject *candidate, selection *use)
{
    assay_status status = find_common_speeds(baseline, candidate, &use->speeds);
    use->share =
        quick_share(count_within(baseline, use->speeds), count_within(candidate, use->speeds));
    return status;
}

assay_status assay__relative_init(assay__log_ratio *log_ratio, const assay_record_subject *baseline,
                                  const assay_record_subject *candidate, double margin,
                                  unsigned nature, double *machine)
{
    relative_view before = {.room = NULL}, after = {.room = NULL};
    selection use = {.speeds = {0, INFINITY}, .share = 1};
    assay_status status = ASSAY_OK;
    if (assay__have_common_inputs(baseline, candidate))
        select_inputs(baseline, candidate, &use);
    else
        status = select_samples(baseline, candidate, &use);
    if (status == ASSAY_OK)
        status = relative_view_init(&before, baseline, candidate, &use);
    if (status == ASSAY_OK)
        status = relative_view_init(&after, candidate, baseline, &use);
    if (status == ASSAY_OK)
        status = assay__log_ratio_init(log_ratio, &before.subject, &after.subject, margin, nature);
    *machine = after.speed - before.speed;
    free(before.room);
    free(after.room);
    return status;
}
