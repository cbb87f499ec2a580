/* How many runs does `assay bench` take of real commands, compared with an oracle that knows their
 * noise?
 *
 *     ASSAY_BUILD=build oracle_live [SECONDS]        of recording each command; default 120
 *
 * `assay bench` records each command for SECONDS, and the oracle knows the recording. If the means
 * of 240 (480) neighbouring runs have a standard error of s, then 240 (480) runs are needed for a
 * half-width of 1.96 s. This includes the autocorrelation of the times without a model of it. On a
 * shared machine the level of the times changes over longer periods than a measurement, so the
 * means are compared with the mean of ten times as many runs around them. Then sampling is asked
 * for that precision from ten places of each such stretch. Bar: on average 1.2 times the oracle's
 * runs.
 *
 * Three more figures have no bar: the same compared with an oracle that knows the spread of the
 * times but takes them for independent; how often the interval contained the mean of the stretch;
 * and how often an interval from the same runs would have contained it if it took them for
 * independent. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <assay/assay.h>

/* WINDOWS is the length of a stretch in windows of the oracle's runs. PLACES is the number of
 * places of a stretch from which it is measured. */
enum { WINDOWS = 10, PLACES = 10 };

enum { SECONDS_DEFAULT = 120 };

static const double computation_seconds = 0.02;
static const size_t oracle_counts[] = {240, 480}; /* a run never takes fewer than 200 */

/* ---- Recording ------------------------------------------------------------------------------ */

/* The record of `assay bench` for a command that runs for `budget` seconds, with at least `runs`
 * runs. NULL after a failure. */
static assay_record *record_command(const char *runs, const char *budget, const char *const *words)
{
    char command[4096], path[] = "/tmp/assay-oracle-XXXXXX";
    const char *build = getenv("ASSAY_BUILD");
    const char *arguments[] = {command,      "bench", "--quiet",  "--runs", "100000",
                               "--min-runs", runs,    "--budget", budget,   "--json",
                               path,         "--",    words[0],   words[1], NULL};
    int file = mkstemp(path), status = 1;
    snprintf(command, sizeof command, "%s/assay", build != NULL ? build : "build");
    pid_t child = file < 0 ? -1 : fork();
    if (child == 0) {
        execv(command, (char *const *)arguments);
        _exit(127);
    }
    assay_record *record = NULL;
    assay_error error = {.message = "it failed"};
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0 ||
        assay_record_read(path, &error, &record) != ASSAY_OK)
        fprintf(stderr, "%s bench: %s\n", command, error.message);
    if (file >= 0) {
        close(file);
        unlink(path);
    }
    return record;
}

/* The words of a command that computes for at least 20 ms on this machine. */
static const char *const *choose_computation(void)
{
    static char program[64];
    static const char *const words[] = {"awk", program};
    double taken = 0;
    for (double steps = 1e5; taken < computation_seconds; steps *= 1.25) {
        snprintf(program, sizeof program, "BEGIN{for(i=0;i<%.0f;i++)s+=i}", steps);
        assay_record *record = record_command("3", "0.001", words);
        if (record == NULL)
            return NULL;
        taken = record->subjects[0].min_seconds.value;
        assay_record_free(record);
    }
    return words;
}

/* ---- The oracles ---------------------------------------------------------------------------- */

typedef double variance_function(const double *values, size_t count, size_t width);

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

/* The relative variance of the means of `width` neighbours. The means scatter around the mean of
 * the same values, so a 1/WINDOWS of the variance is missing; the result is corrected for this. */
static double variance_of_windows(const double *values, size_t count, size_t width)
{
    double mean = mean_of(values, count), square = 0;
    size_t windows = count - width + 1;
    for (size_t i = 0; i < windows; i++)
        square += pow(mean_of(values + i, width) / mean - 1, 2);
    return square / (double)windows / (1 - 1.0 / WINDOWS);
}

/* The same if the values were independent. */
static double variance_if_independent(const double *values, size_t count, size_t width)
{
    double mean = mean_of(values, count), square = 0;
    for (size_t i = 0; i < count; i++)
        square += pow(values[i] / mean - 1, 2);
    return square / (double)(count - 1) / (double)width;
}

static double half_width(double variance)
{
    return 1.959964 * sqrt(variance);
}

/* ---- Sampling from a recording -------------------------------------------------------------- */

typedef struct tape {
    const double *values;
    size_t count, at;
    uint64_t now_ns;
} tape;

static uint64_t now(void *context)
{
    return ((tape *)context)->now_ns;
}

static assay_status play(void *context, uint64_t iterations, assay_sample *sample)
{
    tape *t = context;
    (void)iterations;
    sample->seconds = t->values[t->at++ % t->count];
    t->now_ns += (uint64_t)(sample->seconds * 1e9);
    return ASSAY_OK;
}

typedef struct outcome {
    double runs, held, plain_held;
} outcome;

static void add_outcome(const assay_record_subject *taken, double truth, outcome *sum)
{
    size_t count = taken->sample_count;
    double reach = half_width(variance_if_independent(taken->samples_seconds, count, count));
    sum->runs += (double)(count + taken->warmup_samples);
    sum->held += taken->low_seconds.value <= truth && truth <= taken->high_seconds.value;
    sum->plain_held += fabs(truth / taken->mean_seconds.value - 1) <= reach;
}

/* One measurement of a stretch, from `start` on. Returns false after a failure. */
static bool replay(const double *values, size_t count, size_t start, double precision, outcome *sum)
{
    tape t = {values, count, start, 0};
    assay_clock *clock = NULL;
    assay_record *record = NULL;
    assay_subject subject = ASSAY_SUBJECT_INIT;
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    if (assay_clock_new_injected(now, &t, &clock) != ASSAY_OK)
        return false;
    subject.name = "tape";
    subject.context = &t;
    subject.measure = play;
    subject.max_iterations = 1;
    options.clock = clock;
    options.precision = precision;
    options.budget_seconds = 3600;
    options.max_rounds = count;
    bool ok = assay_sampling_run(&subject, 1, &options, NULL, &record) == ASSAY_OK;
    if (ok)
        add_outcome(&record->subjects[0], mean_of(values, count), sum);
    assay_record_free(record);
    assay_clock_free(clock);
    return ok;
}

/* The precision that `oracle` runs give according to `variance`, and the mean number of runs that
 * sampling takes to reach it. Returns false after a failure. */
static bool ask(const double *values, size_t stretches, size_t oracle, variance_function *variance,
                double *precision, outcome *mean)
{
    size_t length = WINDOWS * oracle, trials = stretches * PLACES;
    double square = 0;
    for (size_t i = 0; i < stretches; i++)
        square += variance(values + i * length, length, oracle) / (double)stretches;
    *precision = half_width(square);
    *mean = (outcome){0};
    for (size_t i = 0; i < trials; i++) {
        const double *stretch = values + i / PLACES * length;
        if (!replay(stretch, length, i % PLACES * length / PLACES, *precision, mean))
            return false;
    }
    mean->runs /= (double)trials;
    mean->held /= (double)trials;
    mean->plain_held /= (double)trials;
    return true;
}

/* ---- Figures -------------------------------------------------------------------------------- */

static void print_row(const char *command, size_t oracle, const char *what, double value,
                      const char *unit, bool barred)
{
    printf("{\"name\": \"%s, as precise as %zu runs: %s\", \"value\": %.2f, \"unit\": \"%s\", "
           "\"bar\": %s, \"ok\": %s}\n",
           command, oracle, what, value, unit, barred ? "1.2" : "null",
           barred && value > 1.2 ? "false" : "true");
}

static bool report(const char *name, const double *values, size_t count, size_t oracle)
{
    size_t stretches = count / (WINDOWS * oracle);
    double precision, independent;
    outcome known, believed;
    if (stretches == 0) {
        fprintf(stderr, "%s: %zu runs are too few to know what %zu give\n", name, count, oracle);
        return true;
    }
    if (!ask(values, stretches, oracle, variance_of_windows, &precision, &known) ||
        !ask(values, stretches, oracle, variance_if_independent, &independent, &believed))
        return false;
    fprintf(stderr, "%s, %zu runs: %zu give %.2f %% (%.2f %% were they independent)\n", name, count,
            oracle, 100 * precision, 100 * independent);
    print_row(name, oracle, "runs, memory known", known.runs / (double)oracle, "x", true);
    print_row(name, oracle, "runs, were they independent", believed.runs / (double)oracle, "x",
              false);
    print_row(name, oracle, "intervals that held", 100 * known.held, "%", false);
    print_row(name, oracle, "plain ones that held", 100 * known.plain_held, "%", false);
    return true;
}

static bool report_command(const char *name, const char *seconds, const char *const *words)
{
    char runs[32]; /* enough for one stretch even if a third are left out */
    snprintf(runs, sizeof runs, "%zu", WINDOWS * oracle_counts[0] * 3 / 2);
    assay_record *record = words != NULL ? record_command(runs, seconds, words) : NULL;
    bool ok = record != NULL && record->subject_count == 1;
    for (size_t i = 0; ok && i < sizeof oracle_counts / sizeof *oracle_counts; i++)
        ok = report(name, record->subjects[0].samples_seconds, record->subjects[0].sample_count,
                    oracle_counts[i]);
    assay_record_free(record);
    return ok;
}

int main(int argc, char **argv)
{
    char seconds[32];
    static const char *const nap[] = {"sleep", "0.01"};
    long asked = argc > 1 ? strtol(argv[1], NULL, 10) : SECONDS_DEFAULT;
    if (asked < 1 || asked > 3600)
        return 2;
    snprintf(seconds, sizeof seconds, "%ld", asked);
    bool ok = report_command("sleep 0.01", seconds, nap) &&
              report_command("20 ms of awk", seconds, choose_computation());
    return !ok;
}
