/* Maps the counters onto a file. With ASSAY_HEAP_DIR set, this is DIR/heap.PID, so that the
 * counters outlive the process however it ends.
 *
 * Every part is allocated before it is mapped and touched, because a hole that the disk cannot fill
 * later would kill the program. The file is mapped over the counters at their address, so no slot
 * moves. A new file has room for a few threads only, because most processes have one thread and a
 * build has thousands of processes. The rest of the counters stays private memory until more
 * threads come. It is not mapped beyond the end of the file, because garbage collectors and leak
 * checkers read all memory of a program. */
#include "interposer/counters_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/free_number.h"
#include "interposer/count.h"

static char directory[PATH_MAX]; /* absolute; empty: there is none */
static char path[PATH_MAX];      /* of the mapped file; empty: the counters are private */

void assay__counters_file_find(void)
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

int64_t assay__counters_now_ns(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

uint64_t assay__counters_start_ticks(void)
{
    enum { STATE_FIELD = 3, START_FIELD = 22 }; /* proc(5) */
    char text[1024];
    int descriptor = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t got = descriptor >= 0 ? read(descriptor, text, sizeof text - 1) : -1;
    if (descriptor >= 0)
        close(descriptor);
    text[got > 0 ? got : 0] = '\0';
    const char *field = strrchr(text, ')'); /* the name may contain spaces and parentheses */
    for (int i = STATE_FIELD; field != NULL && i <= START_FIELD; i++)
        field = strchr(field + 1, ' ');
    return field != NULL ? strtoull(field, NULL, 10) : 0;
}

/* Bytes of the region up to the last slot ever taken. */
static size_t used_bytes(const assay__heap_region *region)
{
    return ASSAY__HEAP_HEADER_BYTES + LOAD(region->header.slots_used) * sizeof(assay__heap_slot);
}

static off_t bytes_for(uint32_t slots)
{
    return (off_t)(ASSAY__HEAP_HEADER_BYTES + slots * sizeof(assay__heap_slot));
}

/* Whether the process may write a file of this length. Beyond the limit the kernel sends SIGXFSZ,
 * which ends the program. */
static bool is_allowed(off_t length)
{
    struct rlimit most;
    return getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur >= (rlim_t)length;
}

/* Write the path of a file of this process to `path`: DIR/heap.PID, or DIR/heap.PID.NUMBER for a
 * number other than 0. False if it is too long. */
static bool file_path(unsigned number)
{
    char suffix[16] = "";
    if (number > 0)
        snprintf(suffix, sizeof suffix, ".%u", number);
    int length = snprintf(path, sizeof path, "%s/heap.%d%s", directory, (int)getpid(), suffix);
    return length >= 0 && length < PATH_MAX;
}

static bool is_taken(const void *context, unsigned number)
{
    struct stat file;
    (void)context;
    return file_path(number) && lstat(path, &file) == 0;
}

static int open_new_file(unsigned number)
{
    errno = ENAMETOOLONG;
    return file_path(number) ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)
                             : -1;
}

/* Create DIR/heap.PID. If that exists, from an earlier program of this process or from another
 * process with the same id, create DIR/heap.PID.1, and so on. */
static int create_file(void)
{
    int descriptor = open_new_file(0);
    bool again = descriptor < 0 && errno == EEXIST;
    unsigned number = again ? assay__free_number(1, is_taken, NULL) : 0;
    for (; again && number <= ASSAY__MOST_NUMBERS; number++) {
        descriptor = open_new_file(number);
        again = descriptor < 0 && errno == EEXIST;
    }
    return descriptor;
}

/* The number of slots for which a new file with this content gets room. */
static uint32_t room_for(const assay__heap_region *content)
{
    bool is_whole_pages = bytes_for(ASSAY__HEAP_FIRST_SLOTS) % sysconf(_SC_PAGESIZE) == 0;
    return is_whole_pages && LOAD(content->header.slots_used) <= ASSAY__HEAP_FIRST_SLOTS
               ? ASSAY__HEAP_FIRST_SLOTS
               : ASSAY__HEAP_SLOTS;
}

static bool write_all(int descriptor, const assay__heap_region *content, uint32_t room)
{
    size_t length = used_bytes(content);
    const assay__heap_header *header = &content->header;
    return is_allowed(bytes_for(room)) && posix_fallocate(descriptor, 0, bytes_for(room)) == 0 &&
           pwrite(descriptor, content, length, 0) == (ssize_t)length &&
           pwrite(descriptor, &room, sizeof room,
                  (const char *)&header->slot_capacity - (const char *)header) == sizeof room;
}

/* Map the bytes `begin` to `end` of the counters onto the file or, without a file, onto private
 * memory. */
static bool map_part(int descriptor, size_t begin, size_t end)
{
    void *part = (char *)&assay__heap_counters + begin;
    int flags = descriptor >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    return begin >= end || mmap(part, end - begin, PROT_READ | PROT_WRITE, flags | MAP_FIXED,
                                descriptor, (off_t)begin) != MAP_FAILED;
}

/* Map all counters. The part beyond the file is mapped as well, because in a forked child it may
 * still be mapped onto the parent's file. */
static bool map_all(int descriptor, uint32_t room)
{
    size_t whole = sizeof assay__heap_counters;
    size_t length = room < ASSAY__HEAP_SLOTS ? (size_t)bytes_for(room) : whole;
    return map_part(-1, length, whole) && map_part(descriptor, 0, length);
}

bool assay__counters_file_map(const assay__heap_region *content)
{
    path[0] = '\0';
    if (directory[0] == '\0' || (uintptr_t)&assay__heap_counters % (uintptr_t)sysconf(_SC_PAGESIZE))
        return false;
    uint32_t room = room_for(content);
    int descriptor = create_file();
    bool mapped =
        descriptor >= 0 && write_all(descriptor, content, room) && map_all(descriptor, room);
    if (descriptor >= 0 && !mapped)
        unlink(path);
    if (descriptor >= 0)
        close(descriptor);
    if (!mapped)
        path[0] = '\0';
    return mapped;
}

void assay__counters_private_map(const assay__heap_region *content)
{
    if (directory[0] != '\0')
        (void)map_part(-1, 0, sizeof assay__heap_counters);
    memcpy(&assay__heap_counters, content, used_bytes(content));
    assay__heap_counters.header.slot_capacity = ASSAY__HEAP_SLOTS;
}

bool assay__counters_file_grow(void)
{
    int saved_errno = errno;
    int descriptor = path[0] != '\0' ? open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
    bool grown = descriptor >= 0 && is_allowed(bytes_for(ASSAY__HEAP_SLOTS)) &&
                 posix_fallocate(descriptor, 0, bytes_for(ASSAY__HEAP_SLOTS)) == 0 &&
                 map_part(descriptor, (size_t)bytes_for(ASSAY__HEAP_FIRST_SLOTS),
                          sizeof assay__heap_counters);
    if (grown)
        STORE(assay__heap_counters.header.slot_capacity, ASSAY__HEAP_SLOTS);
    if (descriptor >= 0)
        close(descriptor);
    errno = saved_errno;
    return grown;
}

void assay__counters_announce(pid_t process, int64_t announced_ns, uint32_t flags, const char *file)
{
    int saved_errno = errno;
    char list[PATH_MAX];
    int length = snprintf(list, sizeof list, "%s/%s", directory, ASSAY__HEAP_PROGRAMS);
    if (directory[0] == '\0' || length < 0 || length >= PATH_MAX)
        return;
    assay__heap_program program = {
        .announced_ns = announced_ns, .process_id = process, .flags = flags};
    size_t bytes = strlen(file), most = sizeof program.path - 1;
    memcpy(program.path, bytes > most ? file + bytes - most : file, bytes > most ? most : bytes);
    struct stat state;
    int descriptor = open(list, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    ssize_t written = 0; /* if the disk is full, there is no way to report it */
    if (descriptor >= 0 && fstat(descriptor, &state) == 0 &&
        is_allowed(state.st_size + (off_t)sizeof program))
        written = write(descriptor, &program, sizeof program);
    (void)written;
    if (descriptor >= 0)
        close(descriptor);
    errno = saved_errno;
}
