/* Scaling runs on a clock that the subject itself advances: the instances that are made, run and
 * destroyed, and the growth that is found. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assay/scaling.h"
#include "base/random.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const double sizes[] = {100, 200, 500, 1000, 2000, 5000, 10000};
enum { SIZES = COUNT_OF(sizes) };

typedef struct world {
    uint64_t now_ns;
    assay_clock *clock;
    assay__random random;
    double noise, exponent, drift;
    double alive; /* the size that exists now; 0: none */
    size_t made, destroyed, measurements;
    double order[64]; /* sizes, as made */
    double fails_at;
} world;

static uint64_t world_now(void *context)
{
    return ((world *)context)->now_ns;
}

static int make_world(void **state)
{
    world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    assert_int_equal(assay_clock_new_injected(world_now, w, &w->clock), ASSAY_OK);
    assay__random_init(&w->random, 3);
    w->noise = 0.03;
    w->exponent = 2;
    *state = w;
    return 0;
}

static int end_world(void **state)
{
    world *w = *state;
    assay_clock_free(w->clock);
    free(w);
    return 0;
}

static assay_status make(void *context, double size, void **instance)
{
    world *w = context;
    assert_true(w->alive == 0);
    w->alive = size;
    if (w->made < COUNT_OF(w->order))
        w->order[w->made] = size;
    w->made++;
    w->now_ns += 1000000000; /* a second of preparation, which nobody may count */
    *instance = &w->alive;
    return size == w->fails_at ? ASSAY_E_IO : ASSAY_OK;
}

static void destroy(void *context, void *instance)
{
    world *w = context;
    assert_ptr_equal(instance, &w->alive);
    w->alive = 0;
    w->destroyed++;
}

static assay_status run(void *context, void *instance, double size, uint64_t iterations)
{
    world *w = context;
    assert_true(instance == NULL || *(double *)instance == size);
    double error = 1 + w->noise * assay__random_normal(&w->random);
    double seconds = 1e-9 * pow(size, w->exponent) * error * (1 + w->drift * (double)w->made);
    w->now_ns += (uint64_t)llround(1e9 * seconds * (double)iterations);
    return ASSAY_OK;
}

static assay_scaling_subject subject_of(world *w)
{
    assay_scaling_subject subject = ASSAY_SCALING_SUBJECT_INIT;
    subject.name = "forward";
    subject.parameter = "num_nodes";
    subject.context = w;
    subject.make = make;
    subject.run = run;
    subject.destroy = destroy;
    return subject;
}

static assay_scaling *scale(world *w, const assay_scaling_options *base)
{
    assay_scaling_subject subject = subject_of(w);
    assay_scaling_options options = *base;
    assay_error error = {0};
    assay_scaling *scaling = NULL;
    options.clock = w->clock;
    options.max_rounds = 20;
    if (assay_scaling_run(&subject, sizes, SIZES, &options, &error, &scaling) != ASSAY_OK)
        fail_msg("%s", error.message);
    return scaling;
}

static void a_square_is_found(void **state)
{
    world *w = *state;
    assay_scaling_options options = ASSAY_SCALING_OPTIONS_INIT;
    assay_scaling *scaling = scale(w, &options);
    assert_int_equal(scaling->growth->growth_class, ASSAY_GROWTH_QUADRATIC);
    assert_true(scaling->growth->low.value < 2 && 2 < scaling->growth->high.value);
    assert_int_equal(scaling->growth->value_count, 3 * SIZES);
    assert_int_equal(scaling->count, SIZES);
    assert_int_equal(scaling->record->subject_count, SIZES);
    for (size_t i = 0; i < SIZES; i++) {
        const assay_record_subject *subject = &scaling->record->subjects[i];
        double expected = 1e-9 * sizes[i] * sizes[i];
        assert_true(scaling->parameter_values[i] == sizes[i]);
        assert_true(fabs(scaling->runtime_stats[i].mean_seconds / expected - 1) < 0.05);
        assert_true(fabs(scaling->runtime_stats[i].std_seconds.value / expected - 0.03) < 0.02);
        assert_true(scaling->runtime_stats[i].count > 3);
        assert_int_equal(scaling->runtime_stats[i].count, subject->sample_count);
        assert_true(subject->mean_seconds.value == scaling->runtime_stats[i].mean_seconds);
    }
    assert_string_equal(scaling->record->subjects[3].name, "forward/num_nodes=1000");
    assert_string_equal(scaling->record->subjects[3].parameters[0].key, "num_nodes");
    assert_string_equal(scaling->record->subjects[3].parameters[0].value, "1000");
    /* The record alone can show the growth, and have it fitted once more. */
    const assay_record *record = scaling->record;
    assert_int_equal(record->scaling_count, 1);
    assert_string_equal(record->scalings[0].parameter, "num_nodes");
    assert_string_equal(record->scalings[0].growth_class,
                        assay_growth_class_name(scaling->growth->growth_class));
    assert_int_equal(record->series_count, 1);
    assert_string_equal(record->series[0].along, "num_nodes");
    assert_int_equal(record->series[0].count, scaling->growth->value_count);
    assay_growth *again = NULL;
    assert_int_equal(assay_growth_fit(record->series[0].places, record->series[0].values,
                                      record->series[0].count, NULL, &again),
                     ASSAY_OK);
    assert_true(again->exponent.value == record->scalings[0].exponent.value);
    assay_growth_free(again);
    assay_scaling_free(scaling);
}

/* One instance at a time, each pass all sizes once, in an order that the seed decides. */
static void passes_and_order(void **state)
{
    world *w = *state;
    assay_scaling_options options = ASSAY_SCALING_OPTIONS_INIT;
    double first[2 * SIZES];
    options.passes = 2;
    options.seed = 5;
    for (int repeat = 0; repeat < 3; repeat++) {
        w->made = w->destroyed = 0;
        options.seed = repeat < 2 ? 5 : 6;
        assay_scaling_free(scale(w, &options));
        assert_int_equal(w->made, 2 * SIZES);
        assert_int_equal(w->destroyed, 2 * SIZES);
        for (size_t pass = 0; pass < 2; pass++)
            for (size_t i = 0; i < SIZES; i++) {
                size_t found = 0;
                for (size_t j = 0; j < SIZES; j++)
                    found += w->order[pass * SIZES + j] == sizes[i];
                assert_int_equal(found, 1);
            }
        if (repeat == 0)
            memcpy(first, w->order, sizeof first);
        assert_int_equal(memcmp(first, w->order, sizeof first) == 0, repeat < 2);
    }
    assert_memory_not_equal(first, first + SIZES, SIZES * sizeof *first);
}

/* A machine that slows down by half during the run: random order makes it noise, not growth. */
static void drift_is_not_growth(void **state)
{
    world *w = *state;
    assay_scaling_options options = ASSAY_SCALING_OPTIONS_INIT;
    w->exponent = 1;
    w->drift = 0.02;
    options.passes = 5;
    assay_scaling *scaling = scale(w, &options);
    assert_int_equal(scaling->growth->growth_class, ASSAY_GROWTH_LINEAR);
    assert_true(scaling->growth->low.value < 1 && 1 < scaling->growth->high.value);
    assay_scaling_free(scaling);
}

static void without_make(void **state)
{
    world *w = *state;
    assay_scaling_subject subject = subject_of(w);
    assay_scaling_options options = ASSAY_SCALING_OPTIONS_INIT;
    assay_scaling *scaling = NULL;
    subject.make = NULL;
    subject.destroy = NULL;
    subject.parameter = NULL;
    options.clock = w->clock;
    options.max_rounds = 5;
    assert_int_equal(assay_scaling_run(&subject, sizes, SIZES, &options, NULL, &scaling), ASSAY_OK);
    assert_string_equal(scaling->record->subjects[0].name, "forward/n=100");
    assay_scaling_free(scaling);
}

static void failures(void **state)
{
    world *w = *state;
    assay_scaling_subject subject = subject_of(w);
    assay_scaling_options options = ASSAY_SCALING_OPTIONS_INIT;
    assay_error error = {0};
    assay_scaling *scaling = NULL;
    options.clock = w->clock;
    options.max_rounds = 5;
    w->fails_at = 500;
    assert_int_equal(assay_scaling_run(&subject, sizes, SIZES, &options, &error, &scaling),
                     ASSAY_E_IO);
    assert_non_null(strstr(error.message, "size 500"));
    assert_null(scaling);
    static const double twice[] = {1, 2, 1}, zero[] = {0, 1, 2};
    assert_int_equal(assay_scaling_run(&subject, twice, 3, &options, &error, &scaling),
                     ASSAY_E_ARGUMENT);
    assert_int_equal(assay_scaling_run(&subject, zero, 3, &options, &error, &scaling),
                     ASSAY_E_ARGUMENT);
    assert_int_equal(assay_scaling_run(&subject, sizes, 0, &options, &error, &scaling),
                     ASSAY_E_ARGUMENT);
    subject.run = NULL;
    assert_int_equal(assay_scaling_run(&subject, sizes, SIZES, &options, &error, &scaling),
                     ASSAY_E_ARGUMENT);
}

/* A clock that stands still measures nothing, and the run says so instead of dividing by it. */
static assay_status idle(void *context, void *instance, double size, uint64_t iterations)
{
    (void)context;
    (void)instance;
    (void)size;
    (void)iterations;
    return ASSAY_OK;
}

static void no_time_at_all(void **state)
{
    world *w = *state;
    assay_scaling_subject subject = subject_of(w);
    assay_scaling_options options = ASSAY_SCALING_OPTIONS_INIT;
    assay_error error = {0};
    assay_scaling *scaling = NULL;
    subject.run = idle;
    options.clock = w->clock;
    options.max_rounds = 3;
    assert_int_not_equal(assay_scaling_run(&subject, sizes, SIZES, &options, &error, &scaling),
                         ASSAY_OK);
    assert_true(error.message[0] != '\0');
    assert_null(scaling);
    assert_int_equal(w->made, w->destroyed);
}

static char *text_of(const assay_scaling *scaling)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assert_int_equal(assay_scaling_print_summary(scaling, stream), ASSAY_OK);
    fclose(stream);
    return text;
}

static void summary(void **state)
{
    world *w = *state;
    assay_scaling_options options = ASSAY_SCALING_OPTIONS_INIT;
    w->noise = 0;
    assay_scaling *scaling = scale(w, &options);
    char *text = text_of(scaling);
    assert_non_null(strstr(text, "SCALING: forward\n"));
    assert_non_null(strstr(text, "num_nodes        Mean (ms)"));
    assert_non_null(strstr(text, "\n1000                 1.000"));
    assert_non_null(strstr(text, "Growth: n^2, exponent 2.000"));
    assert_int_equal(assay_scaling_print_summary(scaling, NULL), ASSAY_OK);
    free(text);
    assay_scaling_free(scaling);
}

static void summary_keeps_to_80_columns(void **state)
{
    assay_scaling_options options = ASSAY_SCALING_OPTIONS_INIT;
    assay_scaling *scaling = scale(*state, &options);
    strcpy(scaling->growth->reason,
           "n fits about as well as n log n; more repeats or a wider range of sizes would tell "
           "them apart");
    char *text = text_of(scaling);
    assert_non_null(strstr(text, "\nCannot tell: n fits about"));
    assert_non_null(strstr(text, "them apart\n"));
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 80);
    free(text);
    assay_scaling_free(scaling);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, make_world, end_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(a_square_is_found),
        IN_WORLD(passes_and_order),
        IN_WORLD(drift_is_not_growth),
        IN_WORLD(without_make),
        IN_WORLD(failures),
        IN_WORLD(no_time_at_all),
        IN_WORLD(summary),
        IN_WORLD(summary_keeps_to_80_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
