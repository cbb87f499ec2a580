/* Memory requests that can be refused, and a count of the memory in use.
 *
 * There are two ways in, with one source. Without a sanitizer the program defines malloc and its
 * family itself, so that requests made by libassay.so, jansson and libc (strdup, fopen,
 * open_memstream ...) all come here. With a sanitizer, which defines malloc itself, FAULT_WRAP
 * catches only the calls of the statically linked libassay, by the linker's --wrap, and the
 * sanitizer looks for leaks and invalid accesses. */
#include "tests/fault/fault.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long requests_left; /* until the refusal; 0 or less: refuse, when armed */
static atomic_bool armed, persistent;
static atomic_long refused, blocks, mapped_bytes;
static void *origin[32];
static int origin_depth;

static bool refuse(void)
{
    if (!atomic_load(&armed))
        return false;
    long left = atomic_fetch_sub(&requests_left, 1);
    if (left > 1 || (left < 1 && !atomic_load(&persistent)))
        return false;
    if (atomic_fetch_add(&refused, 1) == 0) {
        atomic_store(&armed, false); /* backtrace may allocate */
        origin_depth = backtrace(origin, sizeof origin / sizeof *origin);
        atomic_store(&armed, true);
    }
    errno = ENOMEM;
    return true;
}

static void *counted(void *block)
{
    if (block != NULL)
        atomic_fetch_add(&blocks, 1);
    return block;
}

void fault_arm(long nth, bool from_then_on)
{
    atomic_store(&requests_left, nth);
    atomic_store(&persistent, from_then_on);
    atomic_store(&refused, 0);
    atomic_store(&armed, true);
}

long fault_disarm(void)
{
    atomic_store(&armed, false);
    return atomic_load(&refused);
}

fault_balance fault_balance_now(void)
{
    return (fault_balance){atomic_load(&blocks), atomic_load(&mapped_bytes)};
}

void fault_print_origin(void)
{
    if (origin_depth > 2)
        backtrace_symbols_fd(origin + 2, origin_depth - 2, STDERR_FILENO);
}

#ifdef FAULT_WRAP
#define ENTRY(name) __wrap_##name
#define REAL(name)  __real_##name
#else
#define ENTRY(name) name
#define REAL(name)  __libc_##name
#endif

void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t count, size_t size);
void *REAL(realloc)(void *block, size_t size);
void REAL(free)(void *block);
void *ENTRY(malloc)(size_t size);
void *ENTRY(calloc)(size_t count, size_t size);
void *ENTRY(realloc)(void *block, size_t size);
void ENTRY(free)(void *block);

void *ENTRY(malloc)(size_t size)
{
    return refuse() ? NULL : counted(REAL(malloc)(size));
}

void *ENTRY(calloc)(size_t count, size_t size)
{
    return refuse() ? NULL : counted(REAL(calloc)(count, size));
}

void *ENTRY(realloc)(void *block, size_t size)
{
    if (refuse())
        return NULL;
    void *moved = REAL(realloc)(block, size);
    if (block == NULL)
        counted(moved);
    else if (moved == NULL && size == 0)
        atomic_fetch_sub(&blocks, 1);
    return moved;
}

void ENTRY(free)(void *block)
{
    if (block != NULL)
        atomic_fetch_sub(&blocks, 1);
    REAL(free)(block);
}

static void *aligned(size_t alignment, size_t size)
{
#ifdef FAULT_WRAP
    void *block = NULL;
    return posix_memalign(&block, alignment, size) == 0 ? block : NULL;
#else
    void *__libc_memalign(size_t, size_t);
    return __libc_memalign(alignment, size);
#endif
}

void *ENTRY(aligned_alloc)(size_t alignment, size_t size);
void *ENTRY(aligned_alloc)(size_t alignment, size_t size)
{
    return refuse() ? NULL : counted(aligned(alignment, size));
}

#ifdef FAULT_WRAP
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = __wrap_malloc(size);
    return copy == NULL ? NULL : memcpy(copy, text, size);
}

void *__wrap_reallocarray(void *block, size_t count, size_t size);
void *__wrap_reallocarray(void *block, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return __wrap_realloc(block, bytes);
}
#else
int posix_memalign(void **block, size_t alignment, size_t size)
{
    if (refuse())
        return ENOMEM;
    *block = counted(aligned(alignment, size));
    return *block == NULL ? ENOMEM : 0;
}
#endif

/* System calls made here directly: nobody else needs to see them. */
void *ENTRY(mmap)(void *address, size_t length, int protection, int flags, int file, off_t offset);
void *ENTRY(mmap)(void *address, size_t length, int protection, int flags, int file, off_t offset)
{
    if (refuse())
        return MAP_FAILED;
    void *map = (void *)syscall(SYS_mmap, address, length, protection, flags, file, offset);
    if (map != MAP_FAILED && !(flags & MAP_FIXED))
        atomic_fetch_add(&mapped_bytes, (long)((length + 4095) & ~4095ul));
    return map;
}

int ENTRY(munmap)(void *address, size_t length);
int ENTRY(munmap)(void *address, size_t length)
{
    int result = (int)syscall(SYS_munmap, address, length);
    if (result == 0)
        atomic_fetch_sub(&mapped_bytes, (long)((length + 4095) & ~4095ul));
    return result;
}

int ENTRY(posix_fallocate)(int file, off_t offset, off_t length);
int ENTRY(posix_fallocate)(int file, off_t offset, off_t length)
{
    if (refuse())
        return ENOSPC;
    return syscall(SYS_fallocate, file, 0, offset, length) == 0 ? 0 : errno;
}
