/* How many samples sampling takes, against an oracle that knows the noise.
 *
 * Subjects with injected durations on an injected clock. The oracle takes
 * (1.96 sigma / precision)^2 samples: sigma is the relative noise of one subject, or of the ratio
 * of two. The bar is 1.2 times that on average. It is met from about 300 samples on and MISSED
 * below, where the interval pays for an autocorrelation it cannot rule out; those rows are printed
 * and not held to the bar. An argument is the number of runs of each kind (default 200). */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "assay/sampling.h"
#include "base/random.h"

static const double bar = 1.2;

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
    bool held; /* to the bar */
} setting;

static const setting settings[] = {
    {"mean to 1 %, normal noise of 10 %", 0.10, false, 1, 0.01, true},
    {"mean to 0.5 %, log-normal noise of 10 %", 0.10, true, 1, 0.005, true},
    {"mean to 2 %, log-normal noise of 40 %", 0.40, true, 1, 0.02, true},
    {"ratio to 0.5 %, normal noise of 5 %", 0.05, false, 2, 0.005, true},
    {"mean to 1 %, normal noise of 7 %", 0.07, false, 1, 0.01, false},
    {"mean to 1 %, normal noise of 5 %", 0.05, false, 1, 0.01, false},
    {"mean to 1 %, normal noise of 3 %", 0.03, false, 1, 0.01, false},
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

int main(int argc, char **argv)
{
    long runs = argc > 1 ? strtol(argv[1], NULL, 10) : 200;
    assay__random random;
    assay__random_init(&random, 20261115);
    int missed = runs <= 0;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const setting *it = &settings[i];
        double sigma = it->noise * sqrt((double)it->subjects);
        double oracle = pow(1.959964 * sigma / it->precision, 2), sum = 0;
        for (long k = 0; k < runs; k++) {
            size_t taken = samples_of(it, &random);
            missed += taken == 0;
            sum += (double)taken;
        }
        double ratio = sum / (double)runs / oracle;
        missed += it->held && !(ratio <= bar);
        printf("%-44s oracle %5.0f, taken %.2f times that (bar %.1f%s)\n", it->name, oracle, ratio,
               bar, ratio <= bar ? "" : ", missed");
    }
    return missed > 0;
}
