/* What does measuring cost a training step of at least 5 ms, in percent of the step? And what do
 * reading memory and saving a profile cost? The bars are 0.1 %, 1 ms and 10 ms.
 *
 * Steps with and without spans (one around the step, one around each of its phases) are run in
 * pairs, in random order within a pair, on one model. Their times are processor times of the
 * thread: a span is code, so its cost shows there, while the work of other processes shows less.
 * The figure is the median of the pairs' differences divided by the median step, with an interval
 * that holds for any distribution. Pairs are added until that interval is narrower than the bar.
 *
 * On a shared machine two equal steps differ by some percent, and a thousandth would take hours to
 * see. So a measured step is measured by MONITORS monitors at once, each with its own journal and
 * spans, and the difference is divided by their number. This errs on the safe side, because
 * monitors that take turns push each other's data out of the caches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <assay/assay.h>
#include <assay/model.h>
#include <assay/runtime.h>
#include <assay/stats.h>

#include "base/random.h"

enum { MONITORS = 16, MIN_PAIRS = 200, MAX_PAIRS = 20000, BATCH_START = 500, BATCH_MAX = 1 << 17 };

static const double claim_percent = 0.1, step_seconds = 5e-3, budget_seconds = 60;

typedef struct fixture {
    const assay_model_class *class_;
    assay_model *model;
    void *state;
    assay_tensor input, target;
    assay_monitor *monitors[MONITORS];
} fixture;

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double wall_seconds(void)
{
    return 1e-9 * (double)assay_clock_now_ns(assay_clock_default());
}

static bool gradient(fixture *f)
{
    double loss;
    return f->class_->gradient(f->state, &f->input, 1, &f->target, NULL, &loss) == ASSAY_OK;
}

static bool update(fixture *f)
{
    return f->class_->update(f->state, 1e-4, NULL) == ASSAY_OK;
}

static bool plain_step(fixture *f)
{
    return gradient(f) && update(f);
}

/* The call inside spans of all monitors from the k-th on. */
static bool tracked_gradient(fixture *f, int k)
{
    if (k == MONITORS)
        return gradient(f);
    ASSAY_TRACK(f->monitors[k], "gradient")
        return tracked_gradient(f, k + 1);
    return false;
}

static bool tracked_update(fixture *f, int k)
{
    if (k == MONITORS)
        return update(f);
    ASSAY_TRACK(f->monitors[k], "update")
        return tracked_update(f, k + 1);
    return false;
}

static bool tracked_step(fixture *f, int k)
{
    if (k == MONITORS)
        return tracked_gradient(f, 0) && tracked_update(f, 0);
    ASSAY_TRACK(f->monitors[k], "training_step")
        return tracked_step(f, k + 1);
    return false;
}

static double time_step(fixture *f, bool tracked, bool *good)
{
    double start = processor_seconds();
    *good = (tracked ? tracked_step(f, 0) : plain_step(f)) && *good;
    return processor_seconds() - start;
}

static bool make_model(fixture *f, double batch)
{
    double settings[64];
    for (size_t i = 0; i < f->class_->option_count; i++)
        settings[i] = strcmp(f->class_->options[i].name, "batch-size") == 0
                          ? batch
                          : f->class_->options[i].initial;
    assay_model_free(f->model);
    f->model = NULL;
    if (assay_model_new(f->class_, settings, 42, NULL, &f->model) != ASSAY_OK ||
        assay_model_example(f->model, 42, NULL, &f->input, &f->target) != ASSAY_OK)
        return false;
    f->state = assay_model_state(f->model);
    return true;
}

/* Find a batch size whose fastest step is long enough. */
static bool find_batch(fixture *f, double *seconds)
{
    for (double batch = BATCH_START; batch <= BATCH_MAX; batch *= 1.5) {
        bool good = make_model(f, (double)(long)batch);
        *seconds = 1e9;
        for (int i = 0; i < 10 && good; i++) {
            double took = time_step(f, false, &good);
            *seconds = took < *seconds ? took : *seconds;
        }
        if (!good || *seconds >= step_seconds)
            return good;
    }
    return false;
}

static void print_row(const char *name, double value, const char *unit, double bar, bool ok)
{
    if (bar > 0)
        printf("{\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", \"bar\": %g, \"ok\": %s}\n",
               name, value, unit, bar, ok ? "true" : "false");
    else
        printf(
            "{\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", \"bar\": null, \"ok\": true}\n",
            name, value, unit);
}

static int measure_overhead(fixture *f)
{
    static double differences[MAX_PAIRS], plain[MAX_PAIRS];
    double step = 0, start;
    assay__random random;
    assay__random_init(&random, 42);
    assay_interval interval = {0};
    assay_reading middle = {0};
    bool good = find_batch(f, &step);
    size_t pairs = 0;
    start = wall_seconds();
    while (good && pairs < MAX_PAIRS && wall_seconds() - start < budget_seconds) {
        bool tracked_first = assay__random_below(&random, 2) == 0;
        double first = time_step(f, tracked_first, &good);
        double second = time_step(f, !tracked_first, &good);
        plain[pairs] = tracked_first ? second : first;
        differences[pairs] = tracked_first ? first - second : second - first;
        pairs++;
        if (pairs < MIN_PAIRS || pairs % 100 != 0)
            continue;
        good = good && assay_stats_quantile(plain, pairs, 0.5, &middle) == ASSAY_OK &&
               assay_stats_quantile_interval(differences, pairs, 0.5, 0.95, &interval) == ASSAY_OK;
        if (100 * (interval.high - interval.low) / middle.value / MONITORS < claim_percent / 2)
            break;
    }
    if (!good || pairs < MIN_PAIRS)
        return 1;
    double share = 100 / middle.value / MONITORS, width = share * (interval.high - interval.low);
    fprintf(stderr, "step %.2f ms, %zu pairs: spans cost %.4f %% (95 %% interval %.4f to %.4f)\n",
            1e3 * middle.value, pairs, share * interval.estimate, share * interval.low,
            share * interval.high);
    print_row("step: without spans", 1e3 * middle.value, "ms", 0, true);
    print_row("step: what its spans cost, upper end of the 95 % interval", share * interval.high,
              "% of step", claim_percent, share * interval.high < claim_percent);
    print_row("step: width of that interval", width, "% of step", claim_percent,
              width < claim_percent);
    return 0;
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static int measure_calls(void)
{
    enum { ROUNDS = 101 };
    double reading[ROUNDS], saving[ROUNDS];
    assay_memory_result memory;
    assay_runtime_profile profile = {.model_name = "mvar",
                                     .training_seconds = assay_reading_of(0.1)};
    const assay_complexity_shape shape = {ASSAY_RUNTIME_MVAR, 20, 5, 0, 0};
    if (assay_measure_memory(2020, 8, &profile.memory) != ASSAY_OK ||
        assay_analyze_complexity(&shape, 2020, &profile.complexity) != ASSAY_OK)
        return 1;
    char path[] = "/tmp/assay-profile-XXXXXX";
    int file = mkstemp(path);
    if (file < 0)
        return 1;
    close(file);
    bool good = true;
    for (int i = 0; i < ROUNDS && good; i++) {
        double start = wall_seconds();
        good = assay_measure_memory(2020, 8, &memory) == ASSAY_OK;
        reading[i] = 1e3 * (wall_seconds() - start);
        start = wall_seconds();
        good = good && assay_save_profile(&profile, path, NULL) == ASSAY_OK;
        saving[i] = 1e3 * (wall_seconds() - start);
    }
    unlink(path);
    qsort(reading, ROUNDS, sizeof *reading, ascending);
    qsort(saving, ROUNDS, sizeof *saving, ascending);
    if (!good)
        return 1;
    print_row("step: measure_memory, median", reading[ROUNDS / 2], "ms", 1,
              reading[ROUNDS / 2] < 1);
    print_row("step: save_profile, median", saving[ROUNDS / 2], "ms", 10, saving[ROUNDS / 2] < 10);
    return 0;
}

int main(void)
{
    fixture f = {0};
    int failed = assay_model_find("mlp", NULL, &f.class_) != ASSAY_OK;
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.private_journal = true;
    for (int k = 0; k < MONITORS && !failed; k++)
        failed = assay_monitor_new(&options, &f.monitors[k]) != ASSAY_OK;
    failed = failed || measure_overhead(&f) || measure_calls();
    assay_model_free(f.model);
    for (int k = 0; k < MONITORS; k++)
        assay_monitor_free(f.monitors[k]);
    return failed;
}
