/* The processor's time counter: how it is read on each architecture, and whether it can be trusted.
 *
 * On x86 the kernel decides whether the TSC can be trusted. The kernel compares the TSCs of all
 * processors at boot and watches them afterwards. It removes "tsc" from the list of clock sources
 * once it finds them unstable. CPUID alone (the invariant bit) is not enough: it says nothing about
 * synchronisation between sockets, or about a virtual machine that migrated. */
#include "clock/counter.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>

const char *assay__counter_name(void)
{
    return "tsc";
}

uint64_t assay__counter_read_ordered(void)
{
    _mm_lfence();
    return __rdtsc();
}

enum kernel_opinion { LISTED, NOT_LISTED, UNREADABLE };

static enum kernel_opinion kernel_on_tsc(void)
{
    static const char path[] = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    char list[256];
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return UNREADABLE;
    ssize_t length = read(descriptor, list, sizeof list - 1);
    close(descriptor);
    if (length <= 0)
        return UNREADABLE;
    list[length] = '\0';
    char *rest = NULL;
    for (char *word = strtok_r(list, " \n", &rest); word != NULL;
         word = strtok_r(NULL, " \n", &rest))
        if (strcmp(word, "tsc") == 0)
            return LISTED;
    return NOT_LISTED;
}

bool assay__counter_is_trustworthy(const char **reason)
{
    unsigned eax, ebx, ecx, edx;
    /* Advanced power management leaf, EDX bit 8: invariant TSC (Intel SDM vol. 3, 18.17.1). */
    if (!__get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) || (edx & (1u << 8)) == 0) {
        *reason = "the processor has no invariant TSC";
        return false;
    }
    enum kernel_opinion opinion = kernel_on_tsc();
    *reason = opinion == LISTED
                  ? "invariant TSC, accepted by the kernel, verified against CLOCK_MONOTONIC"
              : opinion == UNREADABLE
                  ? "invariant TSC, verified against CLOCK_MONOTONIC; the kernel's opinion of it "
                    "cannot be read here"
                  : "the kernel does not list the TSC as a usable clock source";
    return opinion != NOT_LISTED;
}

#elif defined(__aarch64__)

const char *assay__counter_name(void)
{
    return "arm-counter";
}

uint64_t assay__counter_read_ordered(void)
{
    uint64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
    return ticks;
}

bool assay__counter_is_trustworthy(const char **reason)
{
    /* The generic timer is architecturally constant-rate and system-wide (Arm ARM, D11.1). */
    *reason = "the architecture's system counter, verified against CLOCK_MONOTONIC";
    return true;
}

#else

const char *assay__counter_name(void)
{
    return NULL;
}

uint64_t assay__counter_read_ordered(void)
{
    return 0;
}

bool assay__counter_is_trustworthy(const char **reason)
{
    *reason = "no readable counter on this architecture";
    return false;
}

#endif
