/* A simulated world with its own clock, which the sampled subjects advance. */
#ifndef TESTS_SAMPLING_WORLD_H
#define TESTS_SAMPLING_WORLD_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assay/sampling.h"
#include "base/random.h"

typedef struct world {
    uint64_t now_ns;
    assay_clock *clock;
    char log[256]; /* who ran, in order */
    size_t logged;
} world;

typedef struct actor {
    world *world;
    char letter;
    double seconds;      /* of one iteration */
    double noise;        /* standard deviation, relative */
    int slow_samples;    /* the first ones take three times as long */
    int disturbed_every; /* 0: never */
    int goes_wrong_every;
    int fails_at;          /* sample, 0: never */
    double set_up_seconds; /* of one iteration */
    int set_ups, tear_downs, samples;
    /* What each sample brings beside all this; or NULL. */
    void (*touch)(struct actor *self, assay_sample *sample);
    int argument; /* for `touch` */
    assay__random random;
} actor;

static inline uint64_t world_now(void *context)
{
    return ((world *)context)->now_ns;
}

static inline int make_world(void **state)
{
    world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    assert_int_equal(assay_clock_new_injected(world_now, w, &w->clock), ASSAY_OK);
    *state = w;
    return 0;
}

static inline int end_world(void **state)
{
    world *w = *state;
    assay_clock_free(w->clock);
    free(w);
    return 0;
}

static inline void pass(world *w, double seconds)
{
    w->now_ns += (uint64_t)llround(seconds * 1e9);
}

static inline assay_status act_run(void *context, uint64_t iterations)
{
    actor *a = context;
    a->samples++;
    pass(a->world, a->seconds * (double)iterations);
    return a->samples == a->fails_at ? ASSAY_E_IO : ASSAY_OK;
}

static inline assay_status act_measure(void *context, uint64_t iterations, assay_sample *sample)
{
    actor *a = context;
    a->samples++;
    if (a->world->logged < sizeof a->world->log - 1)
        a->world->log[a->world->logged++] = a->letter;
    double seconds = a->seconds * (double)iterations;
    if (a->noise > 0)
        seconds *= fmax(1 + a->noise * assay__random_normal(&a->random), 0.01);
    if (a->samples <= a->slow_samples)
        seconds *= 3;
    sample->seconds = seconds;
    sample->disturbed = a->disturbed_every > 0 && a->samples % a->disturbed_every == 0;
    if (sample->disturbed)
        sample->seconds *= 10;
    sample->failed = a->goes_wrong_every > 0 && a->samples % a->goes_wrong_every == 0;
    if (a->touch != NULL)
        a->touch(a, sample);
    pass(a->world, sample->seconds);
    return a->samples == a->fails_at ? ASSAY_E_IO : ASSAY_OK;
}

static inline assay_status act_set_up(void *context)
{
    actor *a = context;
    a->set_ups++;
    pass(a->world, a->set_up_seconds);
    return ASSAY_OK;
}

static inline assay_status act_tear_down(void *context)
{
    actor *a = context;
    a->tear_downs++;
    pass(a->world, a->set_up_seconds);
    return ASSAY_OK;
}

static inline assay_subject subject_of(actor *a, const char *name)
{
    assay__random_init(&a->random, (uint64_t)a->letter);
    return (assay_subject){.struct_size = sizeof(assay_subject),
                           .name = name,
                           .context = a,
                           .measure = act_measure,
                           .max_iterations = 1};
}

static inline assay_record *sample(world *w, const assay_subject *subjects, size_t count,
                                   assay_sampling_options options)
{
    assay_record *record = NULL;
    assay_error error = {0};
    options.struct_size = sizeof options;
    options.clock = w->clock;
    assay_status status = assay_sampling_run(subjects, count, &options, &error, &record);
    if (status != ASSAY_OK)
        fail_msg("%s", error.message);
    assert_string_equal(record->kind, "bench");
    assert_int_equal(record->subject_count, count);
    return record;
}

/* Up to four actors as "a", "b", ... one iteration at a time. */
static inline assay_record *sample_actors(world *w, actor *actors, size_t count,
                                          assay_sampling_options options)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    assay_subject subjects[4];
    for (size_t i = 0; i < count; i++) {
        actors[i].world = w;
        actors[i].letter = names[i][0];
        subjects[i] = subject_of(&actors[i], names[i]);
    }
    return sample(w, subjects, count, options);
}

/* A test whose state is a world, at its beginning. */
#define IN_A_WORLD(test) cmocka_unit_test_setup_teardown(test, make_world, end_world)

#endif
