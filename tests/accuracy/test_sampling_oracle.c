/* How many samples does sampling take, compared with an oracle that knows the noise?
 *
 * The subjects have injected durations on an injected clock. The oracle takes (1.96 sigma /
 * precision)^2 samples, where sigma is the relative noise of one subject, or of the ratio of two.
 * The bar is 1.2 times that on average. The oracle of a single mean takes at least 200, as sampling
 * does: it knows the noise, but not whether one run in 50 is slow. An argument multiplies the
 * number of runs. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "assay/sampling.h"
#include "base/random.h"

#define BAR 1.2

enum { TIMES_MAX = 1000, LEAST = 200 };

typedef struct source {
    uint64_t *now_ns;
    assay__random *random;
    double mean_seconds, noise;
    bool skewed;
} source;

typedef struct setting {
    const char *name;
    double noise;
    bool skewed; /* log-normal instead of normal */
    size_t subjects;
    double precision;
    long runs; /* enough to know the average to 2 % */
} setting;

static const setting settings[] = {
    {"mean to 0.5 %, log-normal noise of 10 %", 0.10, true, 1, 0.005, 30},
    {"mean to 2 %, log-normal noise of 40 %", 0.40, true, 1, 0.02, 30},
    {"mean to 1 %, normal noise of 10 %", 0.10, false, 1, 0.01, 100},
    {"mean to 1 %, normal noise of 8 %", 0.08, false, 1, 0.01, 150},
    {"mean to 1 %, normal noise of 7 %", 0.07, false, 1, 0.01, 200},
    {"mean to 1 %, normal noise of 2 %", 0.02, false, 1, 0.01, 100},
};

static uint64_t now(void *context)
{
    return *(uint64_t *)context;
}

static assay_status measure(void *context, uint64_t iterations, assay_sample *sample)
{
    source *s = context;
    (void)iterations;
    double z = assay__random_normal(s->random), width = sqrt(log1p(s->noise * s->noise));
    double factor = s->skewed ? exp(width * z - width * width / 2) : 1 + s->noise * z;
    sample->seconds = s->mean_seconds * fmax(factor, 0.01);
    *s->now_ns += (uint64_t)(sample->seconds * 1e9);
    return ASSAY_OK;
}

/* Samples that one run takes; 0 if it failed or stopped for another reason than precision. */
static size_t samples_of(const setting *it, assay__random *random)
{
    uint64_t now_ns = 0;
    assay_clock *clock = NULL;
    source sources[2] = {{&now_ns, random, 1e-3, it->noise, it->skewed},
                         {&now_ns, random, 1.3e-3, it->noise, it->skewed}};
    assay_subject subjects[2];
    for (size_t i = 0; i < 2; i++)
        subjects[i] = (assay_subject){.struct_size = sizeof subjects[i],
                                      .name = i == 0 ? "a" : "b",
                                      .context = &sources[i],
                                      .measure = measure,
                                      .max_iterations = 1};
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    assay_record *record = NULL;
    size_t taken = 0;
    if (assay_clock_new_injected(now, &now_ns, &clock) != ASSAY_OK)
        return 0;
    options.clock = clock;
    options.budget_seconds = 1000;
    options.precision = it->precision;
    if (assay_sampling_run(subjects, it->subjects, &options, NULL, &record) == ASSAY_OK &&
        record->subjects[0].stopped[0] == 'p')
        taken = record->subjects[0].sample_count + record->subjects[0].warmup_samples;
    assay_record_free(record);
    assay_clock_free(clock);
    return taken;
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Prints the row; whether it is as it should be. */
static bool check(const setting *it, long runs, assay__random *random)
{
    double sigma = it->noise * sqrt((double)it->subjects), sum = 0;
    double oracle = fmax(pow(1.959964 * sigma / it->precision, 2), it->subjects == 1 ? LEAST : 0);
    double *ratios = calloc((size_t)runs, sizeof *ratios);
    bool stopped = ratios != NULL;
    for (long k = 0; k < runs && stopped; k++) {
        ratios[k] = (double)samples_of(it, random) / oracle;
        stopped = ratios[k] > 0;
        sum += ratios[k];
    }
    double mean = sum / (double)runs;
    if (stopped) {
        qsort(ratios, (size_t)runs, sizeof *ratios, ascending);
        printf("%-41s oracle %5.0f, taken %.2f times that, median %.2f (bar %.1f%s)\n", it->name,
               oracle, mean, ratios[runs / 2], BAR, mean <= BAR ? "" : ", missed");
    }
    free(ratios);
    return stopped && mean <= BAR;
}

int main(int argc, char **argv)
{
    long times = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    if (times < 1 || times > TIMES_MAX)
        return 2;
    assay__random random;
    assay__random_init(&random, 20261115);
    int missed = 0;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        missed += !check(&settings[i], times * settings[i].runs, &random);
    return missed > 0;
}
