/* A library that a script loads. It makes the ticks of the scheduler take longer, as they do on
 * some virtual machines: at each tick of the processor that runs the script, the thread stands
 * still for some microseconds, and its clock runs on. The signal of ITIMER_PROF does this, because
 * the kernel sends it at ticks. */
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

void stall_at_ticks(void);

static const long most_ns = 100000;
static long stall_ns;

static long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void stall(int signal_number)
{
    (void)signal_number;
    for (long end_ns = now_ns() + stall_ns; now_ns() < end_ns;)
        ;
}

/* Stall for a fortieth of the time between two ticks, and for 100 µs at most. The timer is set to
 * less than this time, so that it has always expired by the next tick. */
void stall_at_ticks(void)
{
    struct timespec tick;
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    stall_ns = tick.tv_nsec / 40 < most_ns ? tick.tv_nsec / 40 : most_ns;
    struct sigaction action = {.sa_handler = stall, .sa_flags = SA_RESTART};
    sigaction(SIGPROF, &action, NULL);
    struct timeval interval = {.tv_usec = tick.tv_nsec / 1000 * 3 / 4};
    setitimer(ITIMER_PROF, &(struct itimerval){interval, interval}, NULL);
}
