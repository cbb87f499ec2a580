/* Reads the processor time and the waiting time of the process and thread from the kernel. */
#include "sampling/account.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

int assay__account_open(void)
{
    return open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

/* The time that the thread has waited for a processor. It is the second number of schedstat, in
 * nanoseconds (described not in proc(5), but in the kernel's
 * Documentation/scheduler/sched-stats.rst). */
static double waited_so_far(int descriptor)
{
    char text[96];
    unsigned long long waited_ns;
    ssize_t length = descriptor >= 0 ? pread(descriptor, text, sizeof text - 1, 0) : -1;
    if (length <= 0)
        return NAN;
    text[length] = '\0';
    return sscanf(text, "%*u %llu", &waited_ns) == 1 ? (double)waited_ns * 1e-9 : (double)NAN;
}

assay__account assay__account_take(int descriptor)
{
    assay__account now = {.waited_seconds = NAN};
    now.known = getrusage(RUSAGE_THREAD, &now.usage) == 0 &&
                clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now.processor) == 0;
    now.waited_seconds = waited_so_far(descriptor);
    return now;
}

double assay__account_cpu_seconds(const assay__account *before, const assay__account *after)
{
    if (!before->known || !after->known)
        return NAN;
    return (double)(after->processor.tv_sec - before->processor.tv_sec) +
           (double)(after->processor.tv_nsec - before->processor.tv_nsec) * 1e-9;
}

double assay__account_waited_seconds(const assay__account *before, const assay__account *after,
                                     double seconds)
{
    double busy = assay__account_cpu_seconds(before, after);
    if (isnan(before->waited_seconds) || isnan(after->waited_seconds))
        return NAN;
    /* A thread may also be switched out just before or after the timed work. It then waited, but
     * not within the work. So the result is limited to the time in which the process did not
     * compute. */
    double most = fmax(seconds - (isnan(busy) ? 0 : busy), 0);
    return fmin(after->waited_seconds - before->waited_seconds, most);
}
