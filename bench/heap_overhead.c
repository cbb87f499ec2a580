/* What the heap interposer costs a program with many allocations.
 *
 * Workload: 10 million calls, each for a random one of 10 000 slots. malloc fills an empty slot,
 * free empties a full one, so about half of the slots are full throughout. Sizes are like those of
 * real programs: between 16 and 1024 bytes, small ones being more likely. The first bytes of each
 * block are written, as any program would do.
 *
 * Ratio: this program runs itself as a child, once plain and once with libassay_heap.so preloaded,
 * in alternating order. Each child times its own loop, so that the start of the process does not
 * count. The figure is the median of the ratios of the pairs, because a disturbance that lasts
 * longer than a pair affects both sides.
 *
 *     heap_overhead [PAIRS]     one JSON object per figure on stdout, details on stderr */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 10000000, PLACES = 10000, PAIRS = 21, PAIRS_MAX = 1000, HEAPTRACK_PAIRS = 3 };

static const double BAR = 1.2;

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* xorshift64* (Vigna 2016). It takes a few cycles, so the allocator dominates the loop. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

/* A size of 16 … 1024 bytes. Each range from one power of two to the next is equally likely. */
static size_t random_size(uint64_t random)
{
    unsigned doubling = (unsigned)(random % 6);
    size_t base = (size_t)16 << doubling;
    return base + (size_t)(random >> 8) % base;
}

static void *workload(void *seed)
{
    static _Thread_local char *places[PLACES];
    uint64_t state = *(uint64_t *)seed;
    for (int call = 0; call < CALLS; call++) {
        uint64_t random = next_random(&state);
        char **place = &places[(random >> 40) % PLACES];
        if (*place != NULL) {
            free(*place);
            *place = NULL;
        } else {
            *place = malloc(random_size(random));
            if (*place == NULL)
                abort();
            (*place)[0] = (char)call;
        }
    }
    for (int i = 0; i < PLACES; i++)
        free(places[i]);
    return NULL;
}

/* In the child: time the loop in `threads` threads at once, and print the seconds. */
static int run_workload(int threads)
{
    pthread_t others[8];
    uint64_t seeds[8];
    double start = now_seconds();
    for (int i = 0; i < threads; i++) {
        seeds[i] = 88172645463325252u + (uint64_t)i;
        if (i > 0 && pthread_create(&others[i], NULL, workload, &seeds[i]) != 0)
            return 1;
    }
    workload(&seeds[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(others[i], NULL);
    printf("seconds %.9f\n", now_seconds() - start);
    return 0;
}

/* Run a command line in a shell and find "seconds X" in its output. Negative on failure. */
static double seconds_of(const char *command)
{
    FILE *output = popen(command, "r");
    if (output == NULL)
        return -1.0;
    char line[512];
    double seconds = -1.0;
    while (fgets(line, sizeof line, output) != NULL)
        if (strncmp(line, "seconds ", 8) == 0)
            seconds = strtod(line + 8, NULL);
    return pclose(output) == 0 ? seconds : -1.0;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median ratio of `tracked` to `plain` over alternating pairs. Negative if a run failed. */
static double median_ratio(const char *plain, const char *tracked, int pairs, const char *label)
{
    static double ratios[PAIRS_MAX], plains[PAIRS_MAX];
    for (int i = 0; i < pairs; i++) {
        bool plain_first = i % 2 == 0;
        double first = seconds_of(plain_first ? plain : tracked);
        double second = seconds_of(plain_first ? tracked : plain);
        if (first < 0.0 || second < 0.0)
            return -1.0;
        plains[i] = plain_first ? first : second;
        ratios[i] = plain_first ? second / first : first / second;
    }
    qsort(ratios, (size_t)pairs, sizeof *ratios, compare_doubles);
    qsort(plains, (size_t)pairs, sizeof *plains, compare_doubles);
    fprintf(stderr, "%-34s %5.1f ns a call plain, ratio %.3f (%.3f … %.3f, %d pairs)\n", label,
            plains[pairs / 2] / CALLS * 1e9, ratios[pairs / 2], ratios[pairs / 8],
            ratios[pairs - 1 - pairs / 8], pairs);
    return ratios[pairs / 2];
}

/* Find the paths of this program and of the interposer in ../lib beside it. */
static bool find_paths(char *self, char *library, size_t capacity)
{
    ssize_t length = readlink("/proc/self/exe", self, capacity - 1);
    if (length <= 0)
        return false;
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    snprintf(library, capacity, "%.*s/../lib/libassay_heap.so", (int)(slash - self), self);
    return access(library, R_OK) == 0;
}

static void print_row(const char *name, double ratio, bool has_bar)
{
    if (has_bar)
        printf("{\"name\": \"%s\", \"value\": %.3f, \"unit\": \"x\", \"bar\": %.2f, \"ok\": %s}\n",
               name, ratio, BAR, ratio <= BAR ? "true" : "false");
    else
        printf(
            "{\"name\": \"%s\", \"value\": %.3f, \"unit\": \"x\", \"bar\": null, \"ok\": true}\n",
            name, ratio);
}

int main(int count, char **arguments)
{
    if (count == 3 && strcmp(arguments[1], "--workload") == 0)
        return run_workload((int)strtol(arguments[2], NULL, 10));
    int pairs = count > 1 ? (int)strtol(arguments[1], NULL, 10) : PAIRS;
    if (pairs < 1 || pairs > PAIRS_MAX) {
        fprintf(stderr, "heap_overhead: between 1 and %d pairs, not '%s'\n", PAIRS_MAX,
                arguments[1]);
        return 64;
    }
    char self[4096], library[4200], plain[5000], tracked[10000];
    if (!find_paths(self, library, sizeof self)) {
        fprintf(stderr, "heap_overhead: libassay_heap.so is not in ../lib beside the program\n");
        return 77;
    }
    bool met = true;
    for (int threads = 1; threads <= 2; threads++) {
        snprintf(plain, sizeof plain, "'%s' --workload %d", self, threads);
        snprintf(tracked, sizeof tracked, "LD_PRELOAD='%s' '%s' --workload %d", library, self,
                 threads);
        double ratio =
            median_ratio(plain, tracked, pairs,
                         threads == 1 ? "heap interposer" : "heap interposer, two threads");
        if (ratio < 0.0)
            return 1;
        print_row(threads == 1 ? "heap tracking, 1e7 malloc/free, 10 000 places"
                               : "heap tracking, two threads at once",
                  ratio, threads == 1);
        met &= threads > 1 || ratio <= BAR;
    }
    if (system("command -v heaptrack >/dev/null 2>&1") == 0) {
        snprintf(plain, sizeof plain, "'%s' --workload 1", self);
        snprintf(tracked, sizeof tracked,
                 "d=$(mktemp -d) && heaptrack -r -o \"$d/trace\" '%s' --workload 1; s=$?; rm -rf "
                 "\"$d\"; exit $s",
                 self);
        double ratio = median_ratio(plain, tracked, HEAPTRACK_PAIRS, "heaptrack, for comparison");
        if (ratio > 0.0)
            print_row("heaptrack on the same", ratio, false);
    }
    return met ? 0 : 1;
}
