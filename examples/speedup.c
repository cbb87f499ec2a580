/* How much faster is it? Three ways to count primes are timed once, then two of them repeatedly.
 *
 *     cc speedup.c $(pkg-config --cflags --libs assay) -lm -o speedup
 *     ./speedup
 *
 * One timing of each gives a ratio. Repeated timings that took turns give a ratio with a confidence
 * interval and a verdict. */
#include <stdlib.h>
#include <string.h>

#include <assay/assay.h>
#include <assay/timers.h>

enum { LIMIT = 30000, REPETITIONS = 40 };

/* Divide by every number up to the square root. */
static int by_division(void)
{
    int primes = 0;
    for (int n = 2; n < LIMIT; n++) {
        int divisor = 2;
        while (divisor * divisor <= n && n % divisor != 0)
            divisor++;
        primes += divisor * divisor > n;
    }
    return primes;
}

/* Divide by the primes that were found before. */
static int by_primes(void)
{
    static int primes[LIMIT];
    int count = 0;
    for (int n = 2; n < LIMIT; n++) {
        int i = 0;
        while (i < count && primes[i] * primes[i] <= n && n % primes[i] != 0)
            i++;
        if (i == count || primes[i] * primes[i] > n)
            primes[count++] = n;
    }
    return count;
}

/* Cross out the multiples: the sieve of Eratosthenes. */
static int by_sieve(void)
{
    static char crossed_out[LIMIT];
    memset(crossed_out, 0, sizeof crossed_out);
    int primes = 0;
    for (int n = 2; n < LIMIT; n++) {
        if (crossed_out[n])
            continue;
        primes++;
        for (int multiple = 2 * n; multiple < LIMIT; multiple += n)
            crossed_out[multiple] = 1;
    }
    return primes;
}

static double seconds_of(int (*count_primes)(void))
{
    const assay_clock *clock = assay_clock_default();
    const double start = assay_clock_seconds(clock);
    volatile int primes = count_primes();
    (void)primes;
    return assay_clock_seconds(clock) - start;
}

static assay_status compare_single_timings(assay_error *error)
{
    assay_timers *timers = NULL;
    assay_status status = assay_timers_new(NULL, &timers);
    if (status != ASSAY_OK)
        return status;
    int primes[3] = {0};
    ASSAY_TRACK_TIME(timers, "division") {
        primes[0] = by_division();
    }
    ASSAY_TRACK_TIME(timers, "primes") {
        primes[1] = by_primes();
    }
    ASSAY_TRACK_TIME(timers, "sieve") {
        primes[2] = by_sieve();
    }
    printf("primes below %d: %d, %d, %d\n\n", LIMIT, primes[0], primes[1], primes[2]);

    /* With NULL, the baseline is the slowest one. */
    assay_speedup ratios[3];
    size_t baseline = 0, best = 0;
    status = assay_speedup_ratios(timers, NULL, error, ratios, &baseline);
    for (size_t i = 0; status == ASSAY_OK && i < 3; i++)
        printf("%-9s %9.3f us, %6.2f times as fast as %s\n", ratios[i].name,
               ratios[i].time.value * 1e6, ratios[i].ratio.value, ratios[baseline].name);
    if (status == ASSAY_OK)
        status = assay_timers_best(timers, &best);
    if (status == ASSAY_OK)
        printf("best: %s\n\n", assay_timers_at(timers, best).name);
    if (status == ASSAY_OK)
        status = assay_print_speedup_analysis(timers, stdout, "division", error);
    assay_timers_free(timers);
    return status;
}

static assay_status compare_repeated_timings(void)
{
    double division[REPETITIONS], primes[REPETITIONS];
    for (int i = 0; i < REPETITIONS; i++) { /* taking turns: a slow phase affects both */
        division[i] = seconds_of(by_division);
        primes[i] = seconds_of(by_primes);
    }
    assay_speedup_verdict verdict;
    const assay_status status =
        assay_speedup_compare(division, REPETITIONS, primes, REPETITIONS, true, &verdict);
    if (status != ASSAY_OK)
        return status;
    printf("\n%d timings of each, in turns, with the 95 %% interval:\n", REPETITIONS);
    return assay_speedup_print(&verdict, stdout, "primes");
}

int main(void)
{
    assay_error error = {0};
    assay_status status = compare_single_timings(&error);
    if (status == ASSAY_OK)
        status = compare_repeated_timings();
    if (status == ASSAY_OK)
        return 0;
    fprintf(stderr, "%s: %s\n", assay_status_name(status),
            error.message[0] != '\0' ? error.message : assay_status_message(status));
    return 1;
}
