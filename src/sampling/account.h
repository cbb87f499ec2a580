/* The kernel's account of this process so far: processor time, and time spent waiting for a
 * processor. The difference of two accounts is what the sample between them cost besides wall time.
 */
#ifndef ASSAY_SAMPLING_ACCOUNT_H
#define ASSAY_SAMPLING_ACCOUNT_H

#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>

/* Processor time is that of the whole process, since the work may have threads of its own, to the
 * nanosecond; waiting and usage are those of the calling thread. */
typedef struct assay__account {
    struct rusage usage;
    struct timespec processor;
    double waited_seconds; /* NAN: not known */
    bool known;            /* usage and processor are */
} assay__account;

/* Open the file in which the kernel says how long the calling thread waited. Returns a descriptor
 * for taking accounts, which the caller closes, or -1 if the kernel does not say it. */
int assay__account_open(void);

/* Cost: three system calls, about a microsecond. */
assay__account assay__account_take(int descriptor);

/* Processor time between two accounts; NAN where it is not known. */
double assay__account_cpu_seconds(const assay__account *before, const assay__account *after);

/* Time between two accounts that the thread was ready to run and had no processor, within work that
 * took `seconds` of wall time; NAN where it is not known. */
double assay__account_waited_seconds(const assay__account *before, const assay__account *after,
                                     double seconds);

#endif
