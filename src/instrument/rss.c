/* Resident memory of this process, from the kernel.
 *
 * The present figure comes from /proc/self/statm, through a descriptor that is kept open: opening
 * the file for each reading costs 3.1 µs, reading an open file 0.6 µs. A kept descriptor has two
 * dangers, and each reading checks for both (0.3 µs more). After a fork it still shows the parent.
 * And a program that closes descriptors which it did not open may have reused the number since.
 * getrusage() is no alternative: it knows the peak only, and its peak survives exec.
 *
 * The peak is VmHWM of /proc/self/status, which starts again at exec and can be reset. */
#include "instrument/rss.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assay/memory.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "instrument/proc.h"

/* The open descriptor of statm. The upper half is the id of the process that opened it, the lower
 * half the descriptor + 1. 0: there is none. */
static _Atomic uint64_t statm_holder;
static _Atomic uint64_t statm_inode; /* of the file when it was opened */

static uint64_t holder_of(pid_t process, int descriptor)
{
    return (uint64_t)(uint32_t)process << 32 | ((uint32_t)descriptor + 1);
}

static int descriptor_of(uint64_t holder)
{
    return (int)((uint32_t)holder - 1);
}

/* Whether the descriptor still refers to the file that was opened. */
static bool is_ours(int descriptor)
{
    struct stat file;
    return fstat(descriptor, &file) == 0 &&
           file.st_ino == atomic_load_explicit(&statm_inode, memory_order_relaxed);
}

/* Forget a descriptor that was inherited by a fork or whose number was reused. Close it unless its
 * number was reused. Of several threads, only the one that wins the exchange does this. */
static void statm_forget(uint64_t stale)
{
    if (stale != 0 && atomic_compare_exchange_strong(&statm_holder, &stale, 0) &&
        is_ours(descriptor_of(stale)))
        close(descriptor_of(stale));
}

/* Open statm for this process and keep it. Returns the descriptor to read, or -1 with errno. */
static int statm_open(void)
{
    int descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    struct stat file;
    if (descriptor < 0)
        return -1;
    if (fstat(descriptor, &file) != 0) {
        close(descriptor);
        return -1;
    }
    atomic_store_explicit(&statm_inode, file.st_ino, memory_order_relaxed);
    uint64_t none = 0;
    if (atomic_compare_exchange_strong(&statm_holder, &none, holder_of(getpid(), descriptor)))
        return descriptor;
    close(descriptor); /* another thread was faster; `none` now holds what it stored */
    return descriptor_of(none);
}

static int statm_descriptor(void)
{
    uint64_t holder = atomic_load_explicit(&statm_holder, memory_order_acquire);
    if (holder >> 32 == (uint32_t)getpid() && is_ours(descriptor_of(holder)))
        return descriptor_of(holder);
    statm_forget(holder);
    return statm_open();
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The second number of statm, which is the resident pages. Digits are read here, because the tables
 * of strtoull() would cost a forked process one more page fault at its first span. */
static bool second_number(const char *text, uint64_t *number)
{
    const char *at = strchr(text, ' ');
    *number = 0;
    if (at == NULL || !is_digit(at[1]))
        return false;
    while (is_digit(*++at))
        *number = 10 * *number + (uint64_t)(*at - '0');
    return true;
}

assay_status assay__rss_now(uint64_t *bytes)
{
    int saved_errno = errno;
    char text[128];
    int descriptor = statm_descriptor();
    ssize_t got = descriptor < 0 ? -1 : pread(descriptor, text, sizeof text - 1, 0);
    assay_status status = ASSAY_OK;
    if (got < 0) {
        status = assay__fail_errno(NULL, "/proc/self/statm");
    } else {
        text[got] = '\0';
        uint64_t pages;
        if (second_number(text, &pages))
            *bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
        else
            status = ASSAY_E_FORMAT;
    }
    errno = saved_errno;
    return status;
}

static assay_reading peak_rss(void)
{
    char text[4096];
    uint64_t bytes = 0;
    assay_status status = assay__proc_read("/proc/self/status", text, sizeof text);
    if (status != ASSAY_OK)
        return assay_reading_missing(assay__proc_validity(status));
    if (!assay__proc_field(text, "VmHWM", &bytes))
        return assay_reading_missing(ASSAY_UNSUPPORTED);
    return assay_reading_of((double)bytes);
}

assay_status assay_memory_read(assay_memory *memory)
{
    if (!assay__struct_has_room(memory, sizeof *memory))
        return ASSAY_E_ARGUMENT;
    uint64_t bytes = 0;
    assay_status status = assay__rss_now(&bytes);
    memory->rss_bytes = status == ASSAY_OK ? assay_reading_of((double)bytes)
                                           : assay_reading_missing(assay__proc_validity(status));
    memory->peak_rss_bytes = peak_rss();
    return ASSAY_OK;
}

assay_status assay_memory_reset_peak(void)
{
    int descriptor = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (descriptor < 0)
        return errno == ENOENT ? ASSAY_E_UNSUPPORTED : assay__fail_errno(NULL, "clear_refs");
    ssize_t written = write(descriptor, "5", 1);
    assay_status status = ASSAY_OK;
    if (written != 1)
        status = errno == EINVAL ? ASSAY_E_UNSUPPORTED : assay__fail_errno(NULL, "clear_refs");
    close(descriptor);
    return status;
}
