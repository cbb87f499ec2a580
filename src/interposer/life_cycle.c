/* The life of a process: its start and end, its file, its forks.
 *
 * With ASSAY_HEAP_DIR set the counters are mapped onto DIR/heap.PID, so that they outlive the
 * process however it ends. The file is allocated in full before it is mapped: a hole that the disk
 * cannot fill later would kill the program. It is mapped over the counters where they are, so no
 * thread's slot moves.
 *
 * Fork: the child must not count in its parent's file, not even in the handlers of others that run
 * before ours. So before the fork the counters are copied into private memory and the forking
 * thread counts in that copy; afterwards the parent takes its slot back, and the child makes the
 * copy, which shows the moment of the fork exactly, its own counters. Other threads of the parent
 * go on counting meanwhile; what they do between copy and fork is missing in the child. vfork,
 * posix_spawn and exec need nothing. A child made with the raw clone system call or _Fork counts in
 * its parent's file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "interposer/count.h"

enum { GENERATIONS_MAX = 1000 };

static char directory[PATH_MAX]; /* absolute; empty: no file */
static assay__heap_region fork_copy;
static pthread_mutex_t fork_lock = PTHREAD_MUTEX_INITIALIZER;

/* Bytes of the region up to the last slot ever taken. */
static size_t used_bytes(const assay__heap_region *region)
{
    return ASSAY__HEAP_HEADER_BYTES + LOAD(region->header.slots_used) * sizeof(assay__heap_slot);
}

/* Create DIR/heap.PID; after an exec that name is taken by the same process's former program, so
 * DIR/heap.PID.1 and on. No allocation: this also runs in the child of a fork. */
static int create_file(char path[PATH_MAX])
{
    for (int generation = 0; generation < GENERATIONS_MAX; generation++) {
        char suffix[16] = "";
        if (generation > 0)
            snprintf(suffix, sizeof suffix, ".%d", generation);
        int length = snprintf(path, PATH_MAX, "%s/heap.%d%s", directory, (int)getpid(), suffix);
        if (length < 0 || length >= PATH_MAX)
            return -1;
        int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (descriptor >= 0 || errno != EEXIST)
            return descriptor;
    }
    return -1;
}

static bool write_all(int descriptor, const assay__heap_region *content)
{
    size_t length = used_bytes(content);
    struct rlimit most; /* past it the kernel sends SIGXFSZ, which ends the program */
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < ASSAY__HEAP_FILE_BYTES)
        return false;
    return posix_fallocate(descriptor, 0, ASSAY__HEAP_FILE_BYTES) == 0 &&
           pwrite(descriptor, content, length, 0) == (ssize_t)length;
}

/* Put a new file with `content` in the place of the counters. On failure nothing is left behind and
 * the counters are as they were. */
static bool map_file(const assay__heap_region *content)
{
    char path[PATH_MAX];
    if (directory[0] == '\0' || (uintptr_t)&assay__heap_counters % (uintptr_t)sysconf(_SC_PAGESIZE))
        return false;
    int descriptor = create_file(path);
    if (descriptor < 0)
        return false;
    bool mapped = write_all(descriptor, content) &&
                  mmap(&assay__heap_counters, sizeof assay__heap_counters, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_FIXED, descriptor, 0) != MAP_FAILED;
    if (!mapped)
        unlink(path);
    close(descriptor);
    return mapped;
}

/* Private memory with `content` in the place of the counters, which were perhaps a file's. */
static void map_private(const assay__heap_region *content)
{
    if (directory[0] != '\0')
        mmap(&assay__heap_counters, sizeof assay__heap_counters, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    memcpy(&assay__heap_counters, content, used_bytes(content));
}

/* Move the forking thread between the counters and their copy. */
static void move_thread(assay__heap_slot *from, assay__heap_slot *to)
{
    thread_state *self = &assay__heap_this_thread;
    if (self->slot == NULL)
        return;
    ptrdiff_t index = self->slot - from;
    self->fast = self->fast != NULL ? to + index : NULL;
    self->slot = to + index;
}

static void before_fork(void)
{
    pthread_mutex_lock(&fork_lock);
    memcpy(&fork_copy, &assay__heap_counters, used_bytes(&assay__heap_counters));
    move_thread(assay__heap_counters.slots, fork_copy.slots);
}

static void after_fork_in_parent(void)
{
    const assay__heap_slot *copy = assay__heap_this_thread.slot;
    move_thread(fork_copy.slots, assay__heap_counters.slots);
    if (copy != NULL)
        *assay__heap_this_thread.slot = *copy;
    pthread_mutex_unlock(&fork_lock);
}

/* Make the copy the child's: nothing counted yet, the level inherited, one thread. */
static void adopt_copy(void)
{
    assay__heap_header *header = &fork_copy.header;
    const assay__heap_slot *own = assay__heap_this_thread.slot;
    header->parent_id = header->process_id;
    header->process_id = getpid();
    header->inherited_allocated_bytes = LOAD(header->shared.allocated_bytes);
    header->inherited_freed_bytes = LOAD(header->shared.freed_bytes);
    header->inherited_allocations = LOAD(header->shared.allocations);
    header->inherited_frees = LOAD(header->shared.frees);
    for (uint32_t i = 0; i < LOAD(header->slots_used); i++) {
        assay__heap_slot *slot = &fork_copy.slots[i];
        header->inherited_allocated_bytes += LOAD(slot->allocated_bytes);
        header->inherited_freed_bytes += LOAD(slot->freed_bytes);
        header->inherited_allocations += LOAD(slot->allocations);
        header->inherited_frees += LOAD(slot->frees);
        assay__heap_settle(slot, assay__heap_slot_level(slot));
        STORE(slot->owner, slot == own ? (uint32_t)gettid() : 0);
    }
    int64_t level = header->inherited_allocated_bytes - header->inherited_freed_bytes;
    STORE(header->published_bytes, level);
    STORE(header->peak_bytes, level);
    STORE(header->state, ASSAY__HEAP_RUNNING);
}

static void after_fork_in_child(void)
{
    adopt_copy();
    if (!map_file(&fork_copy))
        map_private(&fork_copy);
    move_thread(fork_copy.slots, assay__heap_counters.slots);
    pthread_mutex_init(&fork_lock, NULL);
}

/* Does the program's malloc lead here? An executable that defines its own comes first. The trial
 * leaves no trace in the counters. */
static void detect_bypass(void)
{
    assay__heap_attach();
    assay__heap_slot *slot = assay__heap_this_thread.slot;
    if (slot == NULL)
        return;
    assay__heap_slot before = *slot;
    void *(*volatile program_malloc)(size_t) = malloc;
    void (*volatile program_free)(void *) = free;
    void *block = program_malloc(1);
    bool counted = LOAD(slot->allocations) != LOAD(before.allocations);
    program_free(block);
    if (counted)
        *slot = before;
    else
        STORE(assay__heap_counters.header.allocator, ASSAY__HEAP_BYPASSED);
}

/* Remember $ASSAY_HEAP_DIR such that a later change of directory does not matter. */
static void remember_directory(void)
{
    const char *name = secure_getenv("ASSAY_HEAP_DIR");
    if (name == NULL || name[0] == '\0')
        return;
    size_t used = 0;
    if (name[0] != '/' && getcwd(directory, sizeof directory - 1) != NULL) {
        used = strlen(directory);
        directory[used++] = '/';
    }
    size_t length = strlen(name);
    if (used + length < sizeof directory)
        memcpy(directory + used, name, length + 1);
    else
        directory[0] = '\0';
}

__attribute__((constructor(101))) static void process_start(void)
{
    int saved_errno = errno;
    detect_bypass();
    remember_directory();
    if (directory[0] != '\0' && !map_file(&assay__heap_counters))
        directory[0] = '\0';
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    errno = saved_errno;
}

__attribute__((destructor(101))) static void process_end(void)
{
    STORE(assay__heap_counters.header.state, ASSAY__HEAP_ENDED);
}
