/* The memory of a monitor after 10^8 spans of twenty operations on two threads, with the event
 * ring: the growth of the process's resident memory since before the monitor was made. It must be
 * constant, that is, as large as after the first tenth of the spans. */
#include <assay/assay.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2, OPERATIONS = 20, TENTH = 10000000 / THREADS };

static double resident_bytes(void)
{
    assay_memory memory = {.struct_size = sizeof memory};
    if (assay_memory_read(&memory) != ASSAY_OK || memory.rss_bytes.validity != ASSAY_VALID)
        exit(77);
    return memory.rss_bytes.value;
}

#define SPAN(name)                                                                                 \
    ASSAY_TRACK(monitor, name) {                                                                   \
        __asm__ volatile("" ::: "memory");                                                         \
    }
#define TEN(prefix)                                                                                \
    SPAN(prefix "0")                                                                               \
    SPAN(prefix "1")                                                                               \
    SPAN(prefix "2")                                                                               \
    SPAN(prefix "3")                                                                               \
    SPAN(prefix "4")                                                                               \
    SPAN(prefix "5")                                                                               \
    SPAN(prefix "6")                                                                               \
    SPAN(prefix "7")                                                                               \
    SPAN(prefix "8")                                                                               \
    SPAN(prefix "9")

static pthread_barrier_t tenth_done;

static void *spans(void *argument)
{
    assay_monitor *monitor = argument;
    for (int tenth = 0; tenth < 10; tenth++) {
        for (int i = 0; i < TENTH / OPERATIONS; i++) {
            TEN("a")
            TEN("b")
        }
        pthread_barrier_wait(&tenth_done);
    }
    return NULL;
}

static void print_row(const char *name, double value, double bar)
{
    printf("{\"name\": \"%s\", \"value\": %.2f, \"unit\": \"MB\", \"bar\": %.0f, \"ok\": %s}\n",
           name, value, bar, value <= bar ? "true" : "false");
}

int main(void)
{
    double before = resident_bytes();
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.private_journal = true;
    options.trace_events = 65536;
    assay_monitor *monitor = NULL;
    if (assay_monitor_new(&options, &monitor) != ASSAY_OK)
        return 1;
    pthread_t threads[THREADS];
    pthread_barrier_init(&tenth_done, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, spans, monitor) != 0)
            return 1;
    pthread_barrier_wait(&tenth_done);
    double after_tenth = resident_bytes();
    for (int i = 1; i < 10; i++)
        pthread_barrier_wait(&tenth_done);
    double after_all = resident_bytes();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assay_monitor_free(monitor);
    print_row("monitor memory after 1e8 spans", (after_all - before) / 1e6, 64);
    /* The growth is not 0, because rare durations open new bucket pages. */
    print_row("its growth from 1e7 to 1e8 spans", (after_all - after_tenth) / 1e6, 1);
    return 0;
}
