/* The cost of a span, compared with the least that any timer could cost: two counter readings and a
 * store to thread-local memory. The two programs span_cost and span_cost_fenced share this header
 * and differ in how the counter is read. The including file decides that before it includes this
 * header.
 *
 * Blocks of both kinds alternate within microseconds, and each pair gives one ratio. The median of
 * the ratios is printed, so that a disturbance of one or both blocks of a pair has no effect. The
 * library is the shared one. */
#ifndef BENCH_SPAN_COST_H
#define BENCH_SPAN_COST_H

#include <assay/monitor.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPANS = 2000, ROUNDS = 2001, SIBLINGS = 20, MOST_THREADS = 2 };

#define BARRIER() __asm__ volatile("" ::: "memory")

static __thread volatile uint64_t floor_sink;

typedef struct subject {
    const char *name;
    double bar;
    void (*block)(assay_monitor *monitor);
    size_t trace_events;
    int threads;
    enum { ENABLED, DISABLED, ABSENT } mode;
} subject;

static __attribute__((noinline)) void floor_block(assay_monitor *monitor)
{
    (void)monitor;
    for (int i = 0; i < SPANS; i++) {
        uint64_t start = assay__ticks();
        BARRIER();
        floor_sink = assay__ticks() - start;
    }
}

static __attribute__((noinline)) void one_block(assay_monitor *monitor)
{
    for (int i = 0; i < SPANS; i++)
        ASSAY_TRACK(monitor, "forward") {
            BARRIER();
        }
}

static __attribute__((noinline)) void two_block(assay_monitor *monitor)
{
    for (int i = 0; i < SPANS / 2; i++) {
        ASSAY_TRACK(monitor, "forward") {
            BARRIER();
        }
        ASSAY_TRACK(monitor, "backward") {
            BARRIER();
        }
    }
}

#define SIBLING(name)                                                                              \
    ASSAY_TRACK(monitor, name) {                                                                   \
        BARRIER();                                                                                 \
    }

static __attribute__((noinline)) void twenty_block(assay_monitor *monitor)
{
    for (int i = 0; i < SPANS / SIBLINGS; i++) {
        SIBLING("s0");
        SIBLING("s1");
        SIBLING("s2");
        SIBLING("s3");
        SIBLING("s4");
        SIBLING("s5");
        SIBLING("s6");
        SIBLING("s7");
        SIBLING("s8");
        SIBLING("s9");
        SIBLING("s10");
        SIBLING("s11");
        SIBLING("s12");
        SIBLING("s13");
        SIBLING("s14");
        SIBLING("s15");
        SIBLING("s16");
        SIBLING("s17");
        SIBLING("s18");
        SIBLING("s19");
    }
}

typedef struct runner {
    const subject *what;
    assay_monitor *monitor;
    pthread_barrier_t *together; /* NULL if there is only one thread */
    double *ratios;
} runner;

static double timed(void (*block)(assay_monitor *), assay_monitor *monitor)
{
    uint64_t start = assay__ticks();
    block(monitor);
    return (double)(assay__ticks() - start);
}

static void *run_pairs(void *argument)
{
    runner *self = argument;
    for (int round = -10; round < ROUNDS; round++) { /* negative rounds are warm-up */
        if (self->together != NULL)
            pthread_barrier_wait(self->together);
        double floor_ticks = timed(floor_block, NULL);
        if (self->together != NULL)
            pthread_barrier_wait(self->together);
        double span_ticks = timed(self->what->block, self->monitor);
        if (round >= 0)
            self->ratios[round] = span_ticks / floor_ticks;
    }
    return NULL;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median_ratio(const subject *what, assay_monitor *monitor)
{
    static double ratios[MOST_THREADS * ROUNDS];
    pthread_barrier_t together;
    pthread_t threads[MOST_THREADS];
    runner runners[MOST_THREADS];
    pthread_barrier_init(&together, NULL, (unsigned)what->threads);
    for (int i = 0; i < what->threads; i++)
        runners[i] =
            (runner){what, monitor, what->threads > 1 ? &together : NULL, ratios + i * ROUNDS};
    for (int i = 1; i < what->threads; i++)
        if (pthread_create(&threads[i], NULL, run_pairs, &runners[i]) != 0)
            abort();
    run_pairs(&runners[0]);
    for (int i = 1; i < what->threads; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&together);
    size_t count = (size_t)what->threads * ROUNDS;
    qsort(ratios, count, sizeof *ratios, by_value);
    return ratios[count / 2];
}

static inline int measure(const subject *what)
{
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.disabled = what->mode == DISABLED;
    options.trace_events = what->trace_events;
    options.private_journal = true;
    assay_monitor *monitor = NULL;
    if (what->mode != ABSENT && assay_monitor_new(&options, &monitor) != ASSAY_OK) {
        fprintf(stderr, "span_cost: no monitor\n");
        return 1;
    }
    double ratio = median_ratio(what, monitor);
    assay_monitor_free(monitor);
    printf(
        "{\"name\": \"%s\", \"value\": %.3f, \"unit\": \"x floor\", \"bar\": %.2f, \"ok\": %s}\n",
        what->name, ratio, what->bar, ratio <= what->bar ? "true" : "false");
    fflush(stdout);
    return 0;
}

#endif
