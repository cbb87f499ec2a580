/* Live comparisons: how often are identical subjects called different, and how often is a slower
 * subject found?
 *
 *     compare_live [COMPARISONS [TRIALS]]        default 200 and 5; the full form is 2000 and 50
 *
 * A/A: two subjects run the same function, for 0.25 s in each comparison. It is done without load,
 * and again while one process for each processor alternately computes and pauses for 10 to 300 ms.
 * Bars: at most 1 % are called different, at least 60 % are called the same.
 *
 * Power: the second subject does 2 % more work; the margin is 1 %, and a trial takes at most 10 s.
 * Bar: the slowdown is found in 90 %. The bar is for noise of up to 5 % within pairs; trials with
 * more noise are counted in a row of their own without a bar. The bar is for subjects of up to 5
 * ms: every other trial uses such a long subject, whose samples average over short disturbances,
 * and the others use a short one. Every trial is shown on stderr.
 *
 * On a part of the A/A runs, the verdicts of other tools' methods are shown too. They are computed
 * here, not by those tools: a U test (Google Benchmark's compare.py) and a Welch test (hyperfine's
 * scripts), both at 5 %, on 50 samples of each subject, one subject after the other. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <assay/assay.h>

enum { AA_DEFAULT = 200, TRIALS_DEFAULT = 5, PEER_EVERY = 5, PEER_SAMPLES = 50, MAX_HOGS = 64 };

static const double aa_seconds = 0.25, power_seconds = 10.0, slowdown = 0.02;

/* The steps of a subject that takes some 30 µs, and of one that takes 3 to 5 ms. */
enum { SHORT_STEPS = 10000, LONG_STEPS = 1300000 };

typedef struct work {
    unsigned steps;
    double state;
} work;

/* A chain of dependent operations. Its time is proportional to `steps` and depends on nothing else.
 */
static assay_status chain(void *context, uint64_t iterations)
{
    work *w = context;
    for (uint64_t i = 0; i < iterations; i++) {
        double x = w->state;
        for (unsigned k = 0; k < w->steps; k++) {
            x = x * 0.999 + 0.001;
            __asm__ volatile("" : "+x"(x));
        }
        w->state = x;
    }
    return ASSAY_OK;
}

/* ---- The competition ------------------------------------------------------------------------ */

static double now_seconds(void)
{
    return assay_clock_seconds(assay_clock_default());
}

static double between(unsigned *seed, double low, double high)
{
    return low + (high - low) * (double)rand_r(seed) / (double)RAND_MAX;
}

_Noreturn static void compete(unsigned seed)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    volatile double sink = 0;
    for (;;) {
        double until = now_seconds() + between(&seed, 0.01, 0.3);
        while (now_seconds() < until)
            for (int i = 0; i < 1000; i++)
                sink = sink + 1;
        double pause = between(&seed, 0.01, 0.3);
        struct timespec time = {.tv_nsec = (long)(pause * 1e9)};
        nanosleep(&time, NULL);
    }
}

static size_t start_hogs(pid_t *hogs)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t count = processors > 0 && processors < MAX_HOGS ? (size_t)processors : MAX_HOGS;
    for (size_t i = 0; i < count; i++)
        if ((hogs[i] = fork()) == 0)
            compete((unsigned)i + 1);
    return count;
}

static void stop_hogs(const pid_t *hogs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (hogs[i] > 0) {
            kill(hogs[i], SIGKILL);
            waitpid(hogs[i], NULL, 0);
        }
}

/* ---- One comparison ------------------------------------------------------------------------- */

typedef struct finding {
    assay_verdict verdict;
    double noise; /* standard deviation of the log ratio within pairs */
    double seconds;
} finding;

static double pair_noise(const assay_record *record)
{
    const assay_record_subject *a = &record->subjects[0], *b = &record->subjects[1];
    double sum = 0, squares = 0, count = (double)a->sample_count;
    for (size_t i = 0; i < a->sample_count; i++) {
        double ratio = log(b->samples_seconds[i] / a->samples_seconds[i]);
        sum += ratio;
        squares += ratio * ratio;
    }
    return count > 1 ? sqrt(fmax(squares - sum * sum / count, 0) / (count - 1)) : 0;
}

static int compare(unsigned steps, double more, double budget_seconds, uint64_t seed,
                   finding *found)
{
    work works[2] = {{steps, 0.5}, {(unsigned)(steps * (1 + more)), 0.5}};
    assay_subject subjects[2] = {ASSAY_SUBJECT_INIT, ASSAY_SUBJECT_INIT};
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    assay_record *record = NULL;
    assay_error error = {0};
    for (int i = 0; i < 2; i++) {
        subjects[i].name = i == 0 ? "baseline" : "candidate";
        subjects[i].run = chain;
        subjects[i].context = &works[i];
    }
    options.budget_seconds = budget_seconds;
    options.seed = seed;
    double start = now_seconds();
    if (assay_sampling_run(subjects, 2, &options, &error, &record) != ASSAY_OK ||
        assay_record_compare(record, NULL) != ASSAY_OK) {
        fprintf(stderr, "%s\n", error.message);
        assay_record_free(record);
        return -1;
    }
    *found = (finding){record->comparisons[0].verdict, pair_noise(record), now_seconds() - start};
    assay_record_free(record);
    return 0;
}

/* ---- The methods of other tools -------------------------------------------------------------- */

static int sample_alone(double *times)
{
    work w = {SHORT_STEPS, 0.5};
    for (int i = 0; i < PEER_SAMPLES; i++) {
        double start = now_seconds();
        if (chain(&w, 40) != ASSAY_OK)
            return -1;
        times[i] = now_seconds() - start;
    }
    return 0;
}

/* The U test by the normal approximation, as scipy computes it from 9 samples on. Times are hardly
 * ever equal. */
static bool u_test_differs(const double *a, const double *b)
{
    double n = PEER_SAMPLES, u = 0;
    for (int i = 0; i < PEER_SAMPLES; i++)
        for (int k = 0; k < PEER_SAMPLES; k++)
            u += a[i] > b[k] ? 1 : a[i] < b[k] ? 0 : 0.5;
    return fabs(u - n * n / 2) / sqrt(n * n * (2 * n + 1) / 12) > 1.96;
}

static bool welch_differs(const double *a, const double *b)
{
    double mean[2] = {0}, error[2] = {0}, n = PEER_SAMPLES;
    const double *sides[] = {a, b};
    for (int s = 0; s < 2; s++) {
        for (int i = 0; i < PEER_SAMPLES; i++)
            mean[s] += sides[s][i] / n;
        for (int i = 0; i < PEER_SAMPLES; i++)
            error[s] += pow(sides[s][i] - mean[s], 2) / (n - 1) / n;
    }
    return fabs(mean[0] - mean[1]) / sqrt(error[0] + error[1]) > 1.99;
}

/* ---- The figures ---------------------------------------------------------------------------- */

static void row(const char *name, double value, const char *unit, double bar, bool ok)
{
    printf("{\"name\": \"%s\", \"value\": %.3f, \"unit\": \"%s\", ", name, value, unit);
    if (bar >= 0)
        printf("\"bar\": %g, \"ok\": %s}\n", bar, ok ? "true" : "false");
    else
        printf("\"bar\": null, \"ok\": true}\n");
    fflush(stdout);
}

static int identical_subjects(long count, bool loaded)
{
    long verdicts[4] = {0}, peers = 0, u_different = 0, welch_different = 0;
    pid_t hogs[MAX_HOGS];
    size_t hog_count = loaded ? start_hogs(hogs) : 0;
    int status = 0;
    for (long i = 0; i < count && status == 0; i++) {
        double a[PEER_SAMPLES], b[PEER_SAMPLES];
        finding found;
        status = compare(SHORT_STEPS, 0, aa_seconds, (uint64_t)i, &found);
        if (status == 0)
            verdicts[found.verdict]++;
        if (status != 0 || i % PEER_EVERY != 0 || sample_alone(a) != 0 || sample_alone(b) != 0)
            continue;
        peers++;
        u_different += u_test_differs(a, b);
        welch_different += welch_differs(a, b);
    }
    stop_hogs(hogs, hog_count);
    if (status != 0)
        return 1;
    double all = (double)count / 100;
    double different =
        (double)(verdicts[ASSAY_VERDICT_FASTER] + verdicts[ASSAY_VERDICT_SLOWER]) / all;
    double same = (double)verdicts[ASSAY_VERDICT_SAME] / all;
    row(loaded ? "compare: identical subjects called different, under load"
               : "compare: identical subjects called different, without load",
        different, "%", 1, different <= 1);
    row("compare: ... called the same", same, "%", 60, same >= 60);
    row("peer method: ... by a U test at 5 %", 100 * (double)u_different / (double)peers, "%", -1,
        true);
    row("peer method: ... by a Welch test at 5 %", 100 * (double)welch_different / (double)peers,
        "%", -1, true);
    return different > 1 || same < 60;
}

/* The number of trials of one kind, and of those that found the slowdown. */
typedef struct tally {
    long trials, found;
} tally;

static double share_of(tally it)
{
    return it.trials > 0 ? 100 * (double)it.found / (double)it.trials : 0;
}

static int slower_subject(long trials)
{
    static const double quiet_noise = 0.05;
    tally quiet = {0}, noisy = {0};
    double seconds = 0;
    for (long i = 0; i < trials; i++) {
        finding found;
        unsigned steps = i % 2 == 0 ? SHORT_STEPS : LONG_STEPS;
        if (compare(steps, slowdown, power_seconds, (uint64_t)i, &found) != 0)
            return 1;
        tally *kind = found.noise <= quiet_noise ? &quiet : &noisy;
        kind->trials++;
        kind->found += found.verdict == ASSAY_VERDICT_SLOWER;
        seconds += found.seconds / (double)trials;
        fprintf(stderr, "  trial %ld, %s: %s, noise within pairs %.1f %%%s, %.1f s\n", i + 1,
                i % 2 == 0 ? "short" : "long", assay_verdict_text(found.verdict), 100 * found.noise,
                kind == &noisy ? " (too noisy)" : "", found.seconds);
    }
    bool ok = quiet.trials == 0 || share_of(quiet) >= 90;
    row("compare: trials with at most 5 % noise within pairs", (double)quiet.trials, "", -1, true);
    if (quiet.trials > 0)
        row("compare: ... a true slowdown of 2 % found, 10 s", share_of(quiet), "%", 90, ok);
    row("compare: trials that were too noisy", (double)noisy.trials, "", -1, true);
    if (noisy.trials > 0)
        row("compare: ... the same found all the same", share_of(noisy), "%", -1, true);
    row("compare: time a trial took", seconds, "s", -1, true);
    return !ok;
}

int main(int argc, char **argv)
{
    long comparisons = argc > 1 ? strtol(argv[1], NULL, 10) : AA_DEFAULT;
    long trials = argc > 2 ? strtol(argv[2], NULL, 10) : TRIALS_DEFAULT;
    if (comparisons < 0 || trials < 0) {
        fprintf(stderr, "usage: compare_live [COMPARISONS [TRIALS]]\n");
        return 2;
    }
    int missed = 0;
    for (int loaded = 0; loaded < 2 && comparisons > 0; loaded++)
        missed += identical_subjects(comparisons, loaded);
    missed += trials > 0 && slower_subject(trials);
    return missed > 0;
}
