#include "journal/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/process.h"

/* A journal larger than this is not one of ours. */
static const uint64_t LARGEST_JOURNAL = (uint64_t)4 << 30;

/* Anchors this far apart give a better rate than the calibration does. */
static const uint64_t ANCHOR_DISTANCE_NS = 1000000000u;

static uint32_t load32(const uint32_t *field)
{
    return __atomic_load_n(field, __ATOMIC_RELAXED);
}

/* Loads that stay in the order in which they stand. */
static uint64_t load_in_turn(const uint64_t *field)
{
    return __atomic_load_n(field, __ATOMIC_ACQUIRE);
}

static double load_double_in_turn(const double *field)
{
    double value;
    __atomic_load(field, &value, __ATOMIC_ACQUIRE);
    return value;
}

static bool region_fits(const assay__journal_region *region, uint64_t total, size_t item)
{
    return region->offset % ASSAY__JOURNAL_UNIT == 0 &&
           region->offset >= ASSAY__JOURNAL_HEADER_BYTES && region->offset <= total &&
           region->bytes <= total - region->offset && region->used <= region->bytes / item;
}

static bool is_sane_rate(double ticks_per_second)
{
    return isfinite(ticks_per_second) && ticks_per_second >= 1.0 && ticks_per_second <= 1e12;
}

static bool regions_fit(const assay__journal_header *header)
{
    uint64_t total = header->total_bytes;
    return region_fits(&header->names, total, 1) &&
           region_fits(&header->operations, total, sizeof(assay__journal_operation)) &&
           region_fits(&header->lanes, total, sizeof(assay__lane)) &&
           region_fits(&header->metrics, total, sizeof(assay__journal_metric)) &&
           region_fits(&header->pool, total, 1);
}

/* Text fields of a hostile header need not be terminated. */
static void terminate_texts(assay__journal_header *header)
{
    header->host[sizeof header->host - 1] = '\0';
    header->boot_id[sizeof header->boot_id - 1] = '\0';
    header->name[sizeof header->name - 1] = '\0';
    header->clock_source[sizeof header->clock_source - 1] = '\0';
}

/* Copy the header out, loading what a live writer changes in one piece. */
static void copy_header(assay__journal_header *copy, const void *bytes)
{
    const assay__journal_header *live = bytes;
    memcpy(copy, bytes, offsetof(assay__journal_header, state));
    copy->state = load32(&live->state);
    const uint64_t *from = (const uint64_t *)(const void *)&live->total_bytes;
    uint64_t *to = (uint64_t *)(void *)&copy->total_bytes;
    size_t words = (sizeof *copy - offsetof(assay__journal_header, total_bytes)) / sizeof *to;
    for (size_t i = 0; i < words; i++)
        to[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
}

assay_status assay__journal_view_bytes(assay__journal_view *view, const void *bytes, size_t length,
                                       const char *label, assay_error *error)
{
    *view = (assay__journal_view){.bytes = bytes};
    if (length < 8 || memcmp(bytes, ASSAY__JOURNAL_MAGIC, 8) != 0)
        return assay__fail(
            error, ASSAY_E_FORMAT,
            "'%s' is not an assay journal (it does not begin with " ASSAY__JOURNAL_MAGIC ")",
            label);
    if (length < ASSAY__JOURNAL_HEADER_BYTES)
        return assay__fail(error, ASSAY_E_TRUNCATED,
                           "journal '%s' is cut off within its header (%zu bytes)", label, length);
    copy_header(&view->header, bytes);
    assay__journal_header *header = &view->header;
    terminate_texts(header);
    if (header->byte_order != ASSAY__JOURNAL_BYTE_ORDER)
        return assay__fail(error, ASSAY_E_FORMAT,
                           "journal '%s' was written on a machine of the other byte order", label);
    if (header->version != ASSAY_JOURNAL_VERSION)
        return assay__fail(error, ASSAY_E_VERSION,
                           "journal '%s' has version %u, this assay reads version %d", label,
                           header->version, ASSAY_JOURNAL_VERSION);
    if (header->total_bytes > length)
        return assay__fail(error, ASSAY_E_TRUNCATED,
                           "journal '%s' is truncated: %zu of %llu bytes are there", label, length,
                           (unsigned long long)header->total_bytes);
    if (header->header_bytes != ASSAY__JOURNAL_HEADER_BYTES || !regions_fit(header) ||
        !is_sane_rate(header->ticks_per_second))
        return assay__fail(error, ASSAY_E_FORMAT, "the header of journal '%s' is corrupt", label);
    view->lanes_after = view->bytes + header->lanes.offset;
    return ASSAY_OK;
}

static bool read_fully(int descriptor, unsigned char *bytes, size_t length, off_t offset)
{
    while (length > 0) {
        ssize_t got = pread(descriptor, bytes, length, offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        bytes += got;
        offset += got;
        length -= (size_t)got;
    }
    return true;
}

static assay_status copy_file(assay__journal_view *view, int descriptor, const char *path,
                              assay_error *error)
{
    struct stat info;
    if (fstat(descriptor, &info) != 0)
        return assay__fail_errno(error, "cannot read journal '%s'", path);
    if (!S_ISREG(info.st_mode) || (uint64_t)info.st_size > LARGEST_JOURNAL)
        return assay__fail(error, ASSAY_E_FORMAT, "'%s' is not an assay journal", path);
    size_t length = (size_t)info.st_size;
    unsigned char *copy = malloc(length + 1);
    if (copy == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "no memory to read journal '%s'", path);
    assay_status status = ASSAY_OK;
    if (!read_fully(descriptor, copy, length, 0))
        status =
            assay__fail(error, ASSAY_E_TRUNCATED, "journal '%s' shrank while it was read", path);
    else
        status = assay__journal_view_bytes(view, copy, length, path, error);
    view->owned[0] = copy;
    return status;
}

assay_status assay__journal_view_file(assay__journal_view *view, const char *path,
                                      assay_error *error)
{
    *view = (assay__journal_view){0};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return assay__fail_errno(error, "cannot read journal '%s'", path);
    assay_status status = copy_file(view, descriptor, path, error);
    if (status == ASSAY_OK) {
        const assay__journal_region *lanes = &view->header.lanes;
        view->owned[1] = malloc(lanes->bytes + 1);
        if (view->owned[1] == NULL)
            status = assay__fail(error, ASSAY_E_MEMORY, "no memory to read journal '%s'", path);
        else if (read_fully(descriptor, view->owned[1], lanes->bytes, (off_t)lanes->offset))
            view->lanes_after = view->owned[1];
    }
    close(descriptor);
    if (status != ASSAY_OK)
        assay__journal_view_release(view);
    return status;
}

void assay__journal_view_release(assay__journal_view *view)
{
    free(view->owned[0]);
    free(view->owned[1]);
    *view = (assay__journal_view){0};
}

double assay__journal_ns_per_tick(const assay__journal_view *view)
{
    const assay__journal_header *header = &view->header;
    double calibrated = 1e9 / header->ticks_per_second;
    uint64_t ticks = header->latest.ticks - header->first.ticks;
    uint64_t elapsed = header->latest.monotonic_ns - header->first.monotonic_ns;
    if (elapsed < ANCHOR_DISTANCE_NS || elapsed > UINT64_MAX / 2 || ticks == 0)
        return calibrated;
    double observed = (double)elapsed / (double)ticks;
    return fabs(observed / calibrated - 1) < 1e-3 ? observed : calibrated;
}

double assay__journal_monotonic_ns(const assay__journal_view *view, uint64_t ticks)
{
    double since = (double)(int64_t)(ticks - view->header.first.ticks);
    return (double)view->header.first.monotonic_ns + since * assay__journal_ns_per_tick(view);
}

bool assay__journal_is_live(const assay__journal_view *view)
{
    const assay__journal_header *header = &view->header;
    char boot_id[sizeof header->boot_id];
    assay__boot_id(boot_id, sizeof boot_id);
    return header->state == ASSAY__JOURNAL_OPEN && header->process_start != 0 &&
           strcmp(boot_id, header->boot_id) == 0 &&
           assay__process_start(header->process_id) == header->process_start;
}

const char *assay__journal_operation_name(const assay__journal_view *view, uint32_t operation)
{
    const assay__journal_header *header = &view->header;
    if (operation >= header->operations.used)
        return "(unknown)";
    const assay__journal_operation *entry = (const void *)(view->bytes + header->operations.offset);
    uint64_t start = entry[operation].name, length = entry[operation].name_bytes;
    if (start > header->names.used || length >= header->names.bytes - start)
        return "(unknown)";
    const char *name = (const char *)view->bytes + header->names.offset + start;
    return name[length] == '\0' ? name : "(unknown)";
}

size_t assay__journal_lane_count(const assay__journal_view *view)
{
    return view->header.lanes.used;
}

static const assay__lane *lane_at(const assay__journal_view *view, size_t lane)
{
    return (const assay__lane *)(const void *)(view->bytes + view->header.lanes.offset) + lane;
}

static uint32_t depth_of(const assay__journal_view *view, size_t lane)
{
    uint64_t frames = view->header.base_address + view->header.lanes.offset +
                      lane * sizeof(assay__lane) + offsetof(assay__lane, frames);
    const assay__lane *live = lane_at(view, lane);
    uint64_t top = (uint64_t)(uintptr_t)__atomic_load_n(&live->top, __ATOMIC_ACQUIRE);
    uint64_t distance = top - frames;
    if (top < frames || distance % sizeof(assay__frame) != 0 ||
        distance / sizeof(assay__frame) >= ASSAY_LANE_FRAMES)
        return 0;
    return (uint32_t)(distance / sizeof(assay__frame));
}

void assay__journal_read_lane(const assay__journal_view *view, size_t lane,
                              assay__lane_reading *reading)
{
    const assay__lane *live = lane_at(view, lane);
    *reading = (assay__lane_reading){
        .kind = load32(&live->kind),
        .state = load32(&live->state),
        .thread_id = __atomic_load_n(&live->thread_id, __ATOMIC_RELAXED),
        .dropped_spans = assay__journal_load(&live->dropped_spans),
        .mismatched_ends = assay__journal_load(&live->mismatched_ends),
        .abandoned_spans = assay__journal_load(&live->abandoned_spans),
        .first_node = load32(&live->first_node),
        .depth = depth_of(view, lane),
    };
    for (size_t i = 0; i + 1 < sizeof reading->name; i++)
        reading->name[i] = __atomic_load_n(&live->name[i], __ATOMIC_RELAXED);
}

/* The pool holds [offset, offset + bytes) of the journal: does it hold this? */
static bool in_pool(const assay__journal_view *view, uint64_t offset, uint64_t bytes)
{
    const assay__journal_region *pool = &view->header.pool;
    return offset >= pool->offset && offset % sizeof(uint64_t) == 0 && bytes <= pool->bytes &&
           offset - pool->offset <= pool->bytes - bytes;
}

static const assay__node *node_at(const assay__journal_view *view, uint32_t unit)
{
    uint64_t offset = (uint64_t)unit * ASSAY__JOURNAL_UNIT;
    return in_pool(view, offset, sizeof(assay__node)) ? (const void *)(view->bytes + offset) : NULL;
}

/* The bytes behind an address of the writer, or NULL. */
static const void *at_address(const assay__journal_view *view, const void *address, uint64_t bytes)
{
    uint64_t offset = (uint64_t)(uintptr_t)address - view->header.base_address;
    return in_pool(view, offset, bytes) ? view->bytes + offset : NULL;
}

bool assay__journal_read_open(const assay__journal_view *view, size_t lane, uint32_t level,
                              uint64_t *start, uint32_t *operation)
{
    const assay__frame *frame = &lane_at(view, lane)->frames[level];
    const assay__node *node =
        at_address(view, __atomic_load_n(&frame->node, __ATOMIC_RELAXED), sizeof(assay__node));
    *start = assay__journal_load(&frame->start);
    if (node == NULL)
        return false;
    *operation = load32(&node->operation);
    return true;
}

/* The figures of one moment, but for a span that is just being entered. A reader is interrupted for
 * milliseconds, and the writer adds thousands of spans meanwhile: the figures are read again until
 * the count, which is written last, has stood still. A writer faster than that gets its way. */
static void read_figures(const assay__node *node, assay__node_reading *reading)
{
    enum { TRIES = 100 };
    for (int i = 0; i < TRIES; i++) {
        reading->count = load_in_turn(&node->count);
        reading->sum = load_in_turn(&node->sum);
        reading->min = load_in_turn(&node->min);
        reading->max = load_in_turn(&node->max);
        reading->square_sum = load_double_in_turn(&node->square_sum);
        reading->shift = load_double_in_turn(&node->shift);
        if (assay__journal_load(&node->count) == reading->count)
            return;
    }
}

bool assay__journal_read_node(const assay__journal_view *view, uint32_t unit,
                              assay__node_reading *reading)
{
    const assay__node *node = node_at(view, unit);
    if (node == NULL)
        return false;
    *reading = (assay__node_reading){
        .unit = unit,
        .parent = load32(&node->parent),
        .next = __atomic_load_n(&node->next, __ATOMIC_ACQUIRE),
        .kind = load32(&node->kind),
        .operation = load32(&node->operation),
        .samples_dropped = assay__journal_load(&node->samples_dropped),
    };
    read_figures(node, reading);
    uint64_t memory = (uint64_t)load32(&node->memory) * ASSAY__JOURNAL_UNIT;
    reading->has_memory = memory != 0 && in_pool(view, memory, sizeof reading->memory);
    if (reading->has_memory) {
        const uint64_t *from = (const void *)(view->bytes + memory);
        uint64_t *to = (uint64_t *)(void *)&reading->memory;
        for (size_t i = 0; i < sizeof reading->memory / sizeof *to; i++)
            to[i] = assay__journal_load(&from[i]);
    }
    return reading->kind >= ASSAY__NODE_ROOT && reading->kind <= ASSAY__NODE_COUNTER;
}

const uint64_t *assay__journal_page(const assay__journal_view *view, uint32_t unit, uint32_t page)
{
    const assay__node *node = node_at(view, unit);
    if (node == NULL || page >= ASSAY_NODE_PAGES)
        return NULL;
    const void *address = __atomic_load_n(&node->pages[page], __ATOMIC_ACQUIRE);
    return address == NULL ? NULL
                           : at_address(view, address, ASSAY_PAGE_BUCKETS * sizeof(uint64_t));
}

const uint64_t *assay__journal_samples(const assay__journal_view *view, uint32_t unit,
                                       size_t *count)
{
    const assay__node *node = node_at(view, unit);
    *count = 0;
    if (node == NULL)
        return NULL;
    uint64_t offset = (uint64_t)load32(&node->samples) * ASSAY__JOURNAL_UNIT;
    size_t kept = __atomic_load_n(&node->sample_count, __ATOMIC_ACQUIRE);
    if (offset == 0 || !in_pool(view, offset, kept * sizeof(uint64_t)))
        return NULL;
    *count = kept;
    return (const void *)(view->bytes + offset);
}

static void load_event(const assay__event *live, assay__journal_event *event)
{
    uint64_t place = assay__journal_load(&live->place), origin = assay__journal_load(&live->origin);
    *event = (assay__journal_event){
        .start = assay__journal_load(&live->start),
        .end = assay__journal_load(&live->end),
        .node = (uint32_t)place,
        .parent = (uint32_t)(place >> 32),
        .thread = (uint32_t)origin,
        .kind = (uint16_t)(origin >> 32),
        .flags = (uint16_t)(origin >> 48),
    };
}

/* The ring may be overwritten while it is copied: what the writer may have reached by the end is
 * left out. */
size_t assay__journal_read_events(const assay__journal_view *view, size_t lane,
                                  assay__journal_event *events, size_t capacity, uint64_t *lost)
{
    const assay__lane *live = lane_at(view, lane);
    uint64_t ring_size = assay__journal_load(&live->event_capacity);
    *lost = 0;
    if (ring_size == 0 || (ring_size & (ring_size - 1)) != 0 || ring_size > UINT32_MAX)
        return 0;
    const assay__event *ring = at_address(view, __atomic_load_n(&live->events, __ATOMIC_RELAXED),
                                          ring_size * sizeof *ring);
    if (ring == NULL)
        return 0;
    uint64_t head = __atomic_load_n(&live->event_head, __ATOMIC_ACQUIRE);
    uint64_t kept = head < ring_size ? head : ring_size;
    if (events == NULL)
        return (size_t)kept;
    if (kept > capacity)
        kept = capacity;
    for (uint64_t i = 0; i < kept; i++)
        load_event(&ring[(head - kept + i) & (ring_size - 1)], &events[i]);
    const assay__lane *after = (const assay__lane *)(const void *)view->lanes_after + lane;
    uint64_t head_after = __atomic_load_n(&after->event_head, __ATOMIC_ACQUIRE);
    /* One more: the slot of the oldest event is where the next one is being written. */
    uint64_t oldest_safe = head_after + 1 > ring_size ? head_after + 1 - ring_size : 0;
    uint64_t unsafe = oldest_safe > head - kept ? oldest_safe - (head - kept) : 0;
    if (unsafe > kept)
        unsafe = kept;
    memmove(events, events + unsafe, (size_t)(kept - unsafe) * sizeof *events);
    *lost = head - (kept - unsafe);
    return (size_t)(kept - unsafe);
}

size_t assay__journal_metric_count(const assay__journal_view *view)
{
    return view->header.metrics.used;
}

void assay__journal_read_metric(const assay__journal_view *view, size_t index,
                                assay__journal_metric *metric)
{
    const assay__journal_metric *entries =
        (const void *)(view->bytes + view->header.metrics.offset);
    *metric = entries[index];
}
