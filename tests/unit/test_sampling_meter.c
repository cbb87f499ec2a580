/* Sampling with a meter: energy of samples, and throttling as a disturbance. The GPU is that of
 * tests/fake/nvml.c, with 300 W and a counter that changes every 100 ms. */
#include <math.h>

#include "assay/assay.h"
#include "assay/meter.h"
#include "tests/unit/fake_gpu.h"

static assay_status sleep_for(void *milliseconds, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++)
        pause_ms(*(long *)milliseconds);
    return ASSAY_OK;
}

static assay_record *sampled(long *first, long *second, assay_sampling_options options)
{
    assay_record *record = NULL;
    assay_error error = {0};
    assay_subject subjects[2] = {
        {.struct_size = sizeof(assay_subject), .name = "a", .run = sleep_for, .context = first},
        {.struct_size = sizeof(assay_subject), .name = "b", .run = sleep_for, .context = second}};
    options.struct_size = sizeof options;
    CHECK(assay_meter_new(NULL, &error, &options.meter) == ASSAY_OK);
    CHECK(assay_sampling_run(subjects, second != NULL ? 2 : 1, &options, &error, &record) ==
          ASSAY_OK);
    assay_meter_free(options.meter);
    return record;
}

static const double *measure(const assay_record_subject *subject, const char *metric)
{
    for (size_t i = 0; i < subject->measure_count; i++)
        if (strcmp(subject->measures[i].metric, metric) == 0)
            return subject->measures[i].samples;
    return NULL;
}

/* The GPU is too hot for 300 of 1200 ms: these samples go, and the reason stands in the record. */
static void scenario_hot_for_a_while(void)
{
    long ms = 10;
    assay_record *record = sampled(&ms, NULL,
                                   (assay_sampling_options){.max_rounds = 110,
                                                            .min_rounds = 110,
                                                            .fixed_rounds = true,
                                                            .fixed_warmup = true,
                                                            .min_sample_seconds = 1e-3});
    const assay_record_subject *it = &record->subjects[0];
    fprintf(stderr, "%d of 110 throttled\n", (int)it->throttled_samples);
    CHECK(it->throttled_samples > 0 && it->throttled_samples <= 55);
    CHECK(it->disturbed_samples >= it->throttled_samples);
    CHECK(it->rejected_samples >= it->throttled_samples);
    CHECK(it->sample_count + it->rejected_samples == 110);
    CHECK(it->throttle != NULL && strcmp(it->throttle, "heat") == 0);
    assay_record_free(record);
}

static void test_throttled_samples_are_left_out(void **state)
{
    (void)state;
    in_child("watts=300,boards=1,reasons=64,reasons_from=400,reasons_until=700",
             scenario_hot_for_a_while);
}

/* At its limit of power all the time: too many to leave out, and marked all the same. */
static void scenario_at_the_limit(void)
{
    long ms = 5;
    assay_record *record =
        sampled(&ms, NULL, (assay_sampling_options){.max_rounds = 40, .fixed_rounds = true});
    const assay_record_subject *it = &record->subjects[0];
    const double *disturbed = measure(it, "disturbed");
    CHECK(it->rejected_samples == 0);
    CHECK(it->throttled_samples == it->sample_count && it->disturbed_samples == it->sample_count);
    CHECK(strcmp(it->throttle, "power limit") == 0);
    CHECK(disturbed != NULL && disturbed[0] == 1);
    assay_record_free(record);
}

static void test_throttled_all_the_time(void **state)
{
    (void)state;
    in_child("watts=300,boards=1,reasons=4", scenario_at_the_limit);
}

static void check_mean(const assay_record_subject *it, double truth)
{
    CHECK(it->energy_joules_low.validity == ASSAY_VALID && it->energy_joules_low.value <= truth);
    CHECK(it->energy_joules_high.validity == ASSAY_VALID && it->energy_joules_high.value >= truth);
    CHECK(it->energy_joules.validity == ASSAY_VALID);
    CHECK(it->energy_joules.value > 0.8 * truth && it->energy_joules.value < 1.25 * truth);
}

static void scenario_energy_decides(void)
{
    long first = 150, second = 300;
    assay_record *record = sampled(
        &first, &second, (assay_sampling_options){.metric = "energy_joules", .budget_seconds = 20});
    assay_compare_options options = ASSAY_COMPARE_OPTIONS_INIT;
    options.metric = "energy_joules";
    for (size_t i = 0; i < 2; i++) {
        const assay_record_subject *it = &record->subjects[i];
        const double *joules = measure(it, "energy_joules");
        CHECK((double)it->iterations * it->mean_seconds.value >=
              0.5); /* five periods of the counter */
        CHECK(joules != NULL && joules[0] > 0);
        check_mean(it, 300 * it->mean_seconds.value);
    }
    CHECK(assay_record_compare(record, &options) == ASSAY_OK);
    CHECK(strcmp(record->comparisons[0].metric, "energy_joules") == 0);
    /* The power is the same, so that energy follows wall time, however the machine is used. */
    double wall = 0;
    for (size_t i = 0; i < record->comparison_count; i++)
        if (strcmp(record->comparisons[i].metric, "wall_seconds") == 0)
            wall = record->comparisons[i].ratio.value;
    CHECK(fabs(record->comparisons[0].ratio.value / wall - 1) < 0.1);
    assay_record_free(record);
}

static void test_energy_decides(void **state)
{
    (void)state;
    in_child("watts=300,boards=1", scenario_energy_decides);
}

/* Shorter than the period of the counter: never 0, but a mean between bounds, and no comparison. */
static void scenario_short_samples(void)
{
    long first = 5, second = 10;
    assay_record *record =
        sampled(&first, &second, (assay_sampling_options){.max_rounds = 30, .fixed_rounds = true});
    assay_compare_options options = ASSAY_COMPARE_OPTIONS_INIT;
    options.metric = "energy_joules";
    CHECK(measure(&record->subjects[0], "energy_joules") == NULL);
    CHECK(record->subjects[1].energy_joules.value > 0);
    CHECK(record->subjects[1].energy_joules_high.value > 300 * 0.010);
    CHECK(record->subjects[1].energy_joules_low.value < 300 * 0.010);
    CHECK(assay_record_compare(record, &options) == ASSAY_OK);
    CHECK(strcmp(record->comparisons[0].metric, "wall_seconds") == 0);
    CHECK(strstr(record->comparisons[0].reason, "energy_joules was not measured") != NULL);
    assay_record_free(record);
    record = sampled(&first, NULL, (assay_sampling_options){.max_rounds = 3, .fixed_rounds = true});
    CHECK(record->subjects[0].energy_joules.validity == ASSAY_NOT_ENOUGH_DATA);
    CHECK(record->subjects[0].energy_joules_high.value > 300 * 0.005);
    assay_record_free(record);
}

static void test_short_samples_have_bounds(void **state)
{
    (void)state;
    in_child("watts=300,boards=1", scenario_short_samples);
}

/* The counter may not be read, or the board is lost in the middle: the run goes on. */
static void scenario_not_permitted(void)
{
    long ms = 2;
    assay_record *record =
        sampled(&ms, NULL, (assay_sampling_options){.max_rounds = 20, .fixed_rounds = true});
    CHECK(record->subjects[0].energy_joules.validity == ASSAY_UNSUPPORTED);
    CHECK(record->subjects[0].energy_joules_high.validity == ASSAY_UNSUPPORTED);
    CHECK(record->subjects[0].sample_count > 0);
    assay_record_free(record);
}

static void scenario_lost(void)
{
    long ms = 120;
    assay_record *record = sampled(
        &ms, NULL,
        (assay_sampling_options){.max_rounds = 6, .fixed_rounds = true, .fixed_warmup = true});
    const assay_record_subject *it = &record->subjects[0];
    CHECK(it->sample_count + it->rejected_samples == 6);
    CHECK(it->energy_joules.validity != ASSAY_VALID ||
          it->energy_joules_low.value <= 300 * it->mean_seconds.value);
    assay_record_free(record);
}

static void test_no_energy(void **state)
{
    (void)state;
    in_child("watts=300,boards=1,energy=4", scenario_not_permitted);
    in_child("watts=300,boards=1,lost=0,lost_after=300", scenario_lost);
}

/* A forked child has no meter. */
static void scenario_child(void)
{
    long ms = 1;
    assay_meter *meter = NULL;
    CHECK(assay_meter_new(NULL, NULL, &meter) == ASSAY_OK);
    if (fork() == 0) {
        assay_record *record = NULL;
        assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
        assay_subject subject = {
            .struct_size = sizeof subject, .name = "a", .run = sleep_for, .context = &ms};
        options.meter = meter;
        CHECK(assay_sampling_run(&subject, 1, &options, NULL, &record) == ASSAY_E_STATE);
        _exit(0);
    }
    int how = -1;
    CHECK(wait(&how) > 0 && how == 0);
    assay_meter_free(meter);
}

static void test_a_child_has_no_meter(void **state)
{
    (void)state;
    in_child("watts=300,boards=1", scenario_child);
}

int main(void)
{
    setenv("ASSAY_POWERCAP", "/nonexistent", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_throttled_samples_are_left_out),
        cmocka_unit_test(test_throttled_all_the_time),
        cmocka_unit_test(test_energy_decides),
        cmocka_unit_test(test_short_samples_have_bounds),
        cmocka_unit_test(test_no_energy),
        cmocka_unit_test(test_a_child_has_no_meter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
