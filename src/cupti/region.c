/* Writes the file with the GPU activity of this process. Each record of CUPTI is added to the sums
 * of its kernel or copy, stream and device, and appended to the list of activities. */
#include "cupti/region.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/free_number.h"
#include "snapshot/activity_idle.h"

enum {
    PATH_BYTES = 4096,
    KERNELS_MOST = ASSAY__ACTIVITY_KERNELS / 4 * 3, /* so that the hash table stays fast */
    WAITING_MOST = ASSAY__ACTIVITY_MAX / 2,         /* not settled after the list was full */
    PROGRAM_BYTES = sizeof(((assay__activity_region *)NULL)->program),
    CACHED = 256,  /* kernels whose row is found by the address of their name */
    SET_KIND = 255 /* of a copy that sets memory */
};

/* ---- the file ---- */

static bool file_path(const char *directory, unsigned number, char path[PATH_BYTES])
{
    int length = snprintf(path, PATH_BYTES, "%s/%d.%u%s", directory, (int)getpid(), number,
                          ASSAY__ACTIVITY_SUFFIX);
    return length >= 0 && length < PATH_BYTES;
}

static bool is_taken(const void *directory, unsigned number)
{
    char path[PATH_BYTES];
    return file_path(directory, number, path) && access(path, F_OK) == 0;
}

static int create_file(const char *directory, char path[PATH_BYTES])
{
    int descriptor = -1;
    bool again = true;
    unsigned number = assay__free_number(0, is_taken, directory);
    for (; again && number <= ASSAY__MOST_NUMBERS; number++) {
        if (!file_path(directory, number, path))
            return -1;
        descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        again = descriptor < 0 && errno == EEXIST;
    }
    return descriptor;
}

/* Whether the process may write a file of this length. Beyond the limit the kernel sends SIGXFSZ,
 * which ends the program. */
static bool is_allowed(off_t length)
{
    struct rlimit most;
    return getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur >= (rlim_t)length;
}

/* There is no room for the whole file. So write only its head, with the reason. For readers the
 * missing rest is zero. */
static void leave_note(int descriptor)
{
    static const char reason[] = "there is no room for its file; set TMPDIR to a folder with more";
    char head[offsetof(assay__activity_region, devices)] = {0};
    const uint64_t magic = ASSAY__ACTIVITY_MAGIC, bytes = sizeof(assay__activity_region);
    const int64_t process = getpid();
    memcpy(head + offsetof(assay__activity_region, magic), &magic, sizeof magic);
    memcpy(head + offsetof(assay__activity_region, bytes), &bytes, sizeof bytes);
    memcpy(head + offsetof(assay__activity_region, process_id), &process, sizeof process);
    memcpy(head + offsetof(assay__activity_region, reason), reason, sizeof reason);
    snprintf(head + offsetof(assay__activity_region, program), PROGRAM_BYTES, "%s",
             program_invocation_short_name);
    if (ftruncate(descriptor, 0) == 0 && is_allowed(sizeof head) &&
        pwrite(descriptor, head, sizeof head, 0) != (ssize_t)sizeof head)
        (void)ftruncate(descriptor, 0); /* there is no way to report it */
}

static void *map_file(int descriptor)
{
    const off_t bytes = sizeof(assay__activity_region);
    void *mapped = MAP_FAILED;
    if (is_allowed(bytes) && posix_fallocate(descriptor, 0, bytes) == 0)
        mapped = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (mapped == MAP_FAILED)
        leave_note(descriptor);
    return mapped != MAP_FAILED ? mapped : NULL;
}

assay__activity_region *assay__region_map(void)
{
    char path[PATH_BYTES];
    const char *directory = secure_getenv("ASSAY_GPU_DIR");
    if (directory == NULL || *directory == '\0')
        return NULL;
    int descriptor = create_file(directory, path);
    assay__activity_region *region = descriptor >= 0 ? map_file(descriptor) : NULL;
    if (descriptor >= 0)
        close(descriptor);
    if (region == NULL)
        return NULL;
    region->bytes = sizeof *region;
    region->process_id = getpid();
    region->kernel_count = 1; /* row 0, for kernels without a row of their own */
    region->point_stride = 1;
    snprintf(region->program, PROGRAM_BYTES, "%s", program_invocation_short_name);
    return region;
}

/* ---- rows ---- */

/* FNV-1a. */
static uint32_t hash_of(const char *text, uint32_t *length)
{
    uint32_t hash = 2166136261u;
    const char *at = text;
    for (; *at != '\0'; at++)
        hash = (hash ^ (uint8_t)*at) * 16777619u;
    *length = (uint32_t)(at - text);
    return hash;
}

static bool is_named(const assay__activity_region *region, uint16_t row, const char *name)
{
    uint32_t at = region->kernels[row].name;
    return at != 0 && strcmp(region->names + at - 1, name) == 0;
}

/* Find or make the row of a kernel by its name. Returns 0 if there is no room. */
static uint16_t find_name(assay__activity_region *region, const char *name)
{
    uint32_t length, hash = hash_of(name, &length);
    for (uint32_t step = 0; step < ASSAY__ACTIVITY_KERNELS; step++) {
        uint16_t row = (uint16_t)((hash + step) % ASSAY__ACTIVITY_KERNELS);
        assay__activity_kernel *kernel = &region->kernels[row];
        if (row == 0)
            continue;
        if (kernel->name != 0 && kernel->hash == hash && is_named(region, row, name))
            return row;
        if (kernel->name != 0)
            continue;
        if (region->kernel_count >= KERNELS_MOST ||
            region->name_bytes + length + 1 > ASSAY__ACTIVITY_NAME_BYTES)
            return 0;
        memcpy(region->names + region->name_bytes, name, length + 1);
        kernel->hash = hash;
        kernel->name = region->name_bytes + 1;
        region->name_bytes += length + 1;
        region->kernel_count++;
        return row;
    }
    return 0;
}

/* Find or make the row of a kernel. CUPTI gives the name of the same kernel at the same address, so
 * a cache by address saves hashing most names. */
static uint16_t kernel_row(assay__activity_region *region, const char *name)
{
    static struct {
        const char *name;
        uint16_t row;
    } cache[CACHED];
    size_t place = (uintptr_t)name / 16 % CACHED;
    if (cache[place].name != name || !is_named(region, cache[place].row, name)) {
        cache[place].name = name;
        cache[place].row = find_name(region, name);
    }
    return cache[place].row;
}

/* These find or make a row. If there is no room, the last row takes everything else. */
static uint16_t copy_row(assay__activity_region *region, uint8_t kind, uint8_t source,
                         uint8_t target)
{
    uint32_t row = 0;
    while (row < region->copy_count &&
           (region->copies[row].kind != kind || region->copies[row].source != source ||
            region->copies[row].target != target))
        row++;
    if (row == ASSAY__ACTIVITY_COPIES)
        return ASSAY__ACTIVITY_COPIES - 1;
    if (row == region->copy_count) {
        region->copies[row].kind = kind;
        region->copies[row].source = source;
        region->copies[row].target = target;
        region->copy_count++;
    }
    return (uint16_t)row;
}

static uint16_t stream_row(assay__activity_region *region, uint32_t device, uint32_t context,
                           uint32_t stream)
{
    uint32_t row = 0;
    while (row < region->stream_count &&
           (region->streams[row].stream != stream || region->streams[row].context != context ||
            region->streams[row].device != device))
        row++;
    if (row == ASSAY__ACTIVITY_STREAMS)
        return ASSAY__ACTIVITY_STREAMS - 1;
    if (row == region->stream_count) {
        region->streams[row].device = device;
        region->streams[row].context = context;
        region->streams[row].stream = stream;
        region->stream_count++;
    }
    return (uint16_t)row;
}

static uint8_t device_row(assay__activity_region *region, uint32_t number)
{
    uint32_t row = 0;
    while (row < region->device_count && region->devices[row].number != number)
        row++;
    if (row == ASSAY__ACTIVITY_DEVICES)
        return ASSAY__ACTIVITY_DEVICES - 1;
    if (row == region->device_count)
        region->devices[region->device_count++].number = number;
    return (uint8_t)row;
}

/* ---- ranges ---- */

void assay__region_begin_range(assay__activity_region *region, uint64_t now_ns)
{
    uint32_t count = atomic_load_explicit(&region->range_count, memory_order_relaxed);
    atomic_store_explicit(&region->range_begin_ns[count % ASSAY__ACTIVITY_RANGES], now_ns,
                          memory_order_relaxed);
    atomic_store_explicit(&region->range_count, count + 1, memory_order_release);
}

/* The number of ranges that had begun at this time. Only the latest ranges are looked at, because
 * CUPTI delivers records within a second. */
static uint32_t range_at(const assay__activity_region *region, uint64_t time_ns)
{
    uint32_t number = atomic_load_explicit(&region->range_count, memory_order_acquire);
    for (int i = 0; i < ASSAY__ACTIVITY_RANGES && number > 0; i++, number--)
        if (atomic_load_explicit(&region->range_begin_ns[(number - 1) % ASSAY__ACTIVITY_RANGES],
                                 memory_order_relaxed) <= time_ns)
            break;
    return number;
}

/* ---- records ---- */

/* Settle the earlier half of the list of activities and remove the settled ones. */
static void make_room(assay__activity_region *region)
{
    assay__activity_settle(region, WAITING_MOST);
    uint32_t old = region->settled;
    memmove(region->activities, region->activities + old,
            (region->count - old) * sizeof *region->activities);
    region->settled = 0;
    region->count -= old;
    region->forgotten += old;
}

static void enter_activity(assay__activity_region *region, assay__activity *it,
                           uint32_t correlation, const assay__submits *submits)
{
    bool after_wait = false;
    if (!assay__submit_find(submits, correlation, &it->submitted_ns, &it->silence_ns, &after_wait))
        it->submitted_ns = 0;
    it->after_wait = after_wait;
    it->range = range_at(region, it->start_ns);
    assay__activity_stream *stream = &region->streams[it->stream];
    stream->count++;
    stream->total_ns += it->end_ns - it->start_ns;
    if (region->count == ASSAY__ACTIVITY_MAX)
        make_room(region);
    region->activities[region->count] = *it;
    region->count++;
}

/* Convert the times of a record to our clock. False if the record has no times. */
static bool take_times(assay__activity_region *region, assay__activity *it, uint64_t start,
                       uint64_t end, int64_t offset)
{
    if (start == 0 || end < start) {
        region->untimed_records++;
        return false;
    }
    it->start_ns = start + (uint64_t)offset;
    it->end_ns = end + (uint64_t)offset;
    return true;
}

static void enter_kernel(assay__activity_region *region, const assay__cupti_kernel *record,
                         const assay__submits *submits, int64_t offset)
{
    assay__activity it = {.kind = ASSAY__ACTIVITY_KERNEL};
    if (!take_times(region, &it, record->start, record->end, offset))
        return;
    it.row = kernel_row(region, record->name != NULL ? record->name : "?");
    it.device = device_row(region, record->device);
    it.stream = stream_row(region, record->device, record->context, record->stream);
    assay__activity_kernel *kernel = &region->kernels[it.row];
    uint64_t ns = it.end_ns - it.start_ns;
    kernel->total_ns += ns;
    kernel->squares += (double)ns * (double)ns;
    kernel->min_ns = kernel->count == 0 || ns < kernel->min_ns ? ns : kernel->min_ns;
    kernel->max_ns = ns > kernel->max_ns ? ns : kernel->max_ns;
    kernel->count++;
    enter_activity(region, &it, record->correlation, submits);
}

static void enter_copy(assay__activity_region *region, assay__activity *it, uint64_t bytes,
                       uint32_t correlation, const assay__submits *submits)
{
    assay__activity_copy *copy = &region->copies[it->row];
    copy->bytes += bytes;
    copy->total_ns += it->end_ns - it->start_ns;
    copy->count++;
    enter_activity(region, it, correlation, submits);
}

static void enter_memcpy(assay__activity_region *region, const assay__cupti_memcpy *record,
                         const assay__submits *submits, int64_t offset)
{
    assay__activity it = {.kind = ASSAY__ACTIVITY_COPY,
                          .from_host = record->copy_kind == ASSAY__CUPTI_FROM_HOST};
    if (!take_times(region, &it, record->start, record->end, offset))
        return;
    it.row = copy_row(region, record->copy_kind, record->source, record->target);
    it.device = device_row(region, record->device);
    it.stream = stream_row(region, record->device, record->context, record->stream);
    enter_copy(region, &it, record->bytes,
               record->kind == ASSAY__CUPTI_MEMCPY ? record->correlation : 0, submits);
}

static void enter_memset(assay__activity_region *region, const assay__cupti_memset *record,
                         const assay__submits *submits, int64_t offset)
{
    assay__activity it = {.kind = ASSAY__ACTIVITY_COPY};
    if (!take_times(region, &it, record->start, record->end, offset))
        return;
    it.row = copy_row(region, SET_KIND, 0, 0);
    it.device = device_row(region, record->device);
    it.stream = stream_row(region, record->device, record->context, record->stream);
    enter_copy(region, &it, record->bytes, record->correlation, submits);
}

/* Add a point to the curve of allocated memory. Every `point_stride`-th change becomes a point.
 * When there is no room, every second point is removed and the stride doubles. */
static void add_point(assay__activity_region *region, uint64_t time_ns, uint8_t device)
{
    if (++region->point_skipped < region->point_stride)
        return;
    region->point_skipped = 0;
    if (region->point_count == ASSAY__ACTIVITY_POINTS) {
        for (uint32_t i = 0; i < ASSAY__ACTIVITY_POINTS / 2; i++)
            region->points[i] = region->points[2 * i + 1];
        region->point_count = ASSAY__ACTIVITY_POINTS / 2;
        region->point_stride *= 2;
    }
    region->points[region->point_count++] = (assay__activity_point){
        .time_ns = time_ns, .bytes = region->devices[device].live_bytes, .device = device};
}

static void enter_memory(assay__activity_region *region, const assay__cupti_memory *record,
                         int64_t offset)
{
    if (record->memory != ASSAY__CUPTI_ON_DEVICE && record->memory != ASSAY__CUPTI_MANAGED)
        return;
    uint8_t row = device_row(region, record->device);
    assay__activity_device *device = &region->devices[row];
    if (record->operation == ASSAY__CUPTI_ALLOCATED) {
        device->allocations++;
        device->allocated_bytes += record->bytes;
        device->live_bytes += record->bytes;
        if (device->live_bytes > device->peak_bytes)
            device->peak_bytes = device->live_bytes;
    } else if (record->operation == ASSAY__CUPTI_RELEASED) {
        device->releases++;
        device->live_bytes -=
            record->bytes < device->live_bytes ? record->bytes : device->live_bytes;
    }
    add_point(region, record->time + (uint64_t)offset, row);
}

void assay__region_enter(assay__activity_region *region, const void *record,
                         assay__submits *submits, int64_t clock_offset_ns)
{
    uint32_t kind;
    memcpy(&kind, record, sizeof kind);
    atomic_fetch_add_explicit(&region->sequence, 1, memory_order_acquire);
    switch (kind) {
    case ASSAY__CUPTI_KERNEL:
        enter_kernel(region, record, submits, clock_offset_ns);
        break;
    case ASSAY__CUPTI_MEMCPY:
    case ASSAY__CUPTI_MEMCPY_PEER:
        enter_memcpy(region, record, submits, clock_offset_ns);
        break;
    case ASSAY__CUPTI_MEMSET:
        enter_memset(region, record, submits, clock_offset_ns);
        break;
    case ASSAY__CUPTI_MEMORY:
        enter_memory(region, record, clock_offset_ns);
        break;
    default:
        break;
    }
    atomic_fetch_add_explicit(&region->sequence, 1, memory_order_release);
}
