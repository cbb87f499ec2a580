/* The kernel's account of this process: processor time, and time spent waiting for a processor. The
 * difference between two accounts gives the cost, other than wall time, of the sample between
 * them. */
#ifndef ASSAY_SAMPLING_ACCOUNT_H
#define ASSAY_SAMPLING_ACCOUNT_H

#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>

/* An account at one time. Processor time is that of the whole process, exact to the nanosecond,
 * because the work may have threads of its own. Waiting time and usage are those of the calling
 * thread. */
typedef struct assay__account {
    struct rusage usage;
    struct timespec processor;
    double waited_seconds; /* NAN: not known */
    bool known;            /* `usage` and `processor` are valid */
} assay__account;

/* Open the kernel's file with the waiting time of the calling thread. Returns a descriptor for
 * assay__account_take(), which the caller closes, or -1 if there is no such file. */
int assay__account_open(void);

/* Take an account. Cost: three system calls, about a microsecond. */
assay__account assay__account_take(int descriptor);

/* Processor time between two accounts; NAN if it is not known. */
double assay__account_cpu_seconds(const assay__account *before, const assay__account *after);

/* The time between two accounts in which the thread was ready to run but had no processor, within
 * work that took `seconds` of wall time. NAN if it is not known. */
double assay__account_waited_seconds(const assay__account *before, const assay__account *after,
                                     double seconds);

#endif
