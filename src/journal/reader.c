/* The reader of a journal. It trusts nothing: every offset and address is checked before it is
 * followed. Fields that a live writer changes are loaded in one piece and, where needed, read again
 * until they are consistent. */
#include "journal/reader.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/process_identity.h"

/* If the two anchors are this far apart, they give a better rate than the calibration of the
 * clock. */
static const uint64_t ANCHOR_DISTANCE_NS = 1000000000u;

static uint32_t load32(const uint32_t *field)
{
    return __atomic_load_n(field, __ATOMIC_RELAXED);
}

/* Copy words that a live writer may change, each in one piece, in ascending order of addresses. */
static void copy_words(void *to, const void *from, size_t bytes)
{
    const uint64_t *words = from;
    for (size_t i = 0; i < bytes / sizeof *words; i++) {
        uint64_t word = __atomic_load_n(&words[i], __ATOMIC_ACQUIRE);
        memcpy((unsigned char *)to + i * sizeof word, &word, sizeof word);
    }
}

/* Whether the bytes [offset, offset + bytes) of the journal are within the pool. */
static bool in_pool(const assay__journal_view *view, uint64_t offset, uint64_t bytes)
{
    const uint64_t start = ASSAY__JOURNAL_HEADER_BYTES, size = view->header.pool_bytes;
    return offset >= start && offset % sizeof(uint64_t) == 0 && bytes <= size &&
           offset - start <= size - bytes;
}

/* Copy the slot of a lane. The copy is either consistent or ignored. The writer stores `node` and
 * `count` last, and the two together never take the same values again. If they are the same before
 * and after the copy, either nothing changed, or a later span is just being put into the slot. In
 * the second case the old span has been entered, so the count of its node is above `count`, and the
 * copy is ignored. */
static assay__pending copy_pending(const assay__pending *live)
{
    enum { TRIES = 100 };
    for (int i = 0; i < TRIES; i++) {
        assay__pending copy = {.node = __atomic_load_n(&live->node, __ATOMIC_ACQUIRE)};
        copy.count = __atomic_load_n(&live->count, __ATOMIC_ACQUIRE);
        copy.duration = __atomic_load_n(&live->duration, __ATOMIC_RELAXED);
        if ((int64_t)copy.duration < 0)
            copy.duration = 0; /* the clock went back */
        copy.sum = __atomic_load_n(&live->sum, __ATOMIC_RELAXED);
        __atomic_load(&live->square_sum, &copy.square_sum, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__atomic_load_n(&live->node, __ATOMIC_RELAXED) == copy.node &&
            __atomic_load_n(&live->count, __ATOMIC_RELAXED) == copy.count)
            return copy;
    }
    return (assay__pending){0}; /* the writer is too fast: its last span is not seen yet */
}

/* The next item of a list. Lists always lead to larger units; otherwise the list is damaged and
 * ends here. */
static uint32_t onwards(uint32_t unit, uint32_t next)
{
    return next > unit ? next : 0;
}

static const assay__lane *lane_at(const assay__journal_view *view, uint32_t unit)
{
    uint64_t offset = (uint64_t)unit * ASSAY__JOURNAL_UNIT;
    return in_pool(view, offset, sizeof(assay__lane)) ? (const void *)(view->bytes + offset) : NULL;
}

bool assay__journal_read_lane(const assay__journal_view *view, uint32_t unit, assay__lane *copy)
{
    const assay__lane *live = lane_at(view, unit);
    if (live == NULL)
        return false;
    *copy = (assay__lane){.top = __atomic_load_n(&live->top, __ATOMIC_ACQUIRE),
                          .event_head = __atomic_load_n(&live->event_head, __ATOMIC_ACQUIRE),
                          .event_capacity = assay__journal_load(&live->event_capacity),
                          .pending = copy_pending(&live->pending),
                          .kind = load32(&live->kind),
                          .state = load32(&live->state),
                          .thread_id = __atomic_load_n(&live->thread_id, __ATOMIC_RELAXED),
                          .first_node = load32(&live->first_node),
                          .next = onwards(unit, load32(&live->next)),
                          .dropped_spans = assay__journal_load(&live->dropped_spans),
                          .mismatched_ends = assay__journal_load(&live->mismatched_ends),
                          .abandoned_spans = assay__journal_load(&live->abandoned_spans)};
    copy_words(copy->name, live->name, sizeof copy->name);
    copy_words(copy->frames, live->frames, sizeof copy->frames);
    copy->name[sizeof copy->name - 1] = '\0';
    return true;
}

static bool is_sane_rate(double ticks_per_second)
{
    return isfinite(ticks_per_second) && ticks_per_second >= 1.0 && ticks_per_second <= 1e12;
}

static bool pool_fits(const assay__journal_header *header)
{
    uint64_t behind = header->total_bytes - ASSAY__JOURNAL_HEADER_BYTES;
    return header->total_bytes >= ASSAY__JOURNAL_HEADER_BYTES && header->pool_bytes <= behind &&
           header->pool_used <= header->pool_bytes &&
           header->pool_set_aside <= header->pool_bytes - header->pool_used;
}

/* Terminate the texts of a header, because those of a damaged one may not be terminated. */
static void terminate_texts(assay__journal_header *header)
{
    header->host[sizeof header->host - 1] = '\0';
    header->boot_id[sizeof header->boot_id - 1] = '\0';
    header->name[sizeof header->name - 1] = '\0';
    header->clock_source[sizeof header->clock_source - 1] = '\0';
}

/* Copy the header. Fields that a live writer changes are loaded in one piece. */
static void copy_header(assay__journal_header *copy, const void *bytes)
{
    const assay__journal_header *live = bytes;
    memcpy(copy, bytes, offsetof(assay__journal_header, state));
    copy->state = load32(&live->state);
    copy_words(&copy->total_bytes, &live->total_bytes,
               sizeof *copy - offsetof(assay__journal_header, total_bytes));
}

/* The rate of the clock. It is computed from the two anchors if they are far enough apart, because
 * it is then more exact than the calibration. */
static double seconds_per_tick(const assay__journal_header *header)
{
    double calibrated = 1 / header->ticks_per_second;
    uint64_t ticks = header->latest.ticks - header->first.ticks;
    uint64_t elapsed = header->latest.monotonic_ns - header->first.monotonic_ns;
    if (elapsed < ANCHOR_DISTANCE_NS || elapsed > UINT64_MAX / 2 || ticks == 0)
        return calibrated;
    double observed = (double)elapsed * 1e-9 / (double)ticks;
    return fabs(observed / calibrated - 1) < 1e-3 ? observed : calibrated;
}

assay_status assay__journal_view_bytes(assay__journal_view *view, const void *bytes, size_t length,
                                       const char *label, assay_error *error)
{
    static const char unsigned_yet[8] = {0};
    *view = (assay__journal_view){.bytes = bytes};
    if (length == 0 || (length >= 8 && memcmp(bytes, unsigned_yet, 8) == 0))
        return assay__fail(error, ASSAY_E_STATE,
                           "journal '%s' is being made, or its program ended while making it",
                           label);
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
    if (header->header_bytes != ASSAY__JOURNAL_HEADER_BYTES || !pool_fits(header) ||
        !is_sane_rate(header->ticks_per_second))
        return assay__fail(error, ASSAY_E_FORMAT, "the header of journal '%s' is corrupt", label);
    view->seconds_per_tick = seconds_per_tick(header);
    return ASSAY_OK;
}

double assay__journal_seconds_since(const assay__journal_view *view, uint64_t ticks,
                                    uint64_t monotonic_ns)
{
    const assay__journal_anchor *first = &view->header.first;
    return (double)(int64_t)(first->monotonic_ns - monotonic_ns) * 1e-9 +
           (double)(int64_t)(ticks - first->ticks) * view->seconds_per_tick;
}

bool assay__journal_is_live(const assay__journal_view *view)
{
    const assay__journal_header *header = &view->header;
    if (header->state != ASSAY__JOURNAL_OPEN || strcmp(assay__boot_id(), header->boot_id) != 0)
        return false;
    if (view->file == NULL)
        return header->process_id == getpid();
    return view->changed || assay__process_maps(header->process_id, view->file);
}

const char *assay__journal_operation_name(const assay__journal_view *view, uint32_t operation)
{
    uint64_t offset = (uint64_t)operation * ASSAY__JOURNAL_UNIT;
    const assay__journal_operation *entry = (const void *)(view->bytes + offset);
    if (!in_pool(view, offset, sizeof *entry) ||
        !in_pool(view, offset, sizeof *entry + (uint64_t)entry->name_bytes + 1) ||
        entry->name[entry->name_bytes] != '\0')
        return "(unknown)";
    return entry->name;
}

static const assay__node *node_at(const assay__journal_view *view, uint32_t unit)
{
    uint64_t offset = (uint64_t)unit * ASSAY__JOURNAL_UNIT;
    return in_pool(view, offset, sizeof(assay__node)) ? (const void *)(view->bytes + offset) : NULL;
}

/* The bytes at an address of the writer, or NULL if it is not within the pool. */
static const void *at_address(const assay__journal_view *view, const void *address, uint64_t bytes)
{
    uint64_t offset = (uint64_t)(uintptr_t)address - view->header.base_address;
    return in_pool(view, offset, bytes) ? view->bytes + offset : NULL;
}

/* The number of open spans of a lane whose `top` is the lane itself, because a begin or an end is
 * under way. The spans around the one that ended last, which is in the slot, are still open: if one
 * of them had ended, that one would be in the slot. Further spans may have begun since, but it
 * cannot be told whether the frame behind is that of an open span. */
static uint32_t depth_around_slot(const assay__journal_view *view, const assay__lane *copy)
{
    const assay__node *path[ASSAY_LANE_FRAMES]; /* from the node of the slot up to the root */
    const assay__node *node = at_address(view, copy->pending.node, sizeof *node);
    uint32_t length = 0, depth = 0;
    for (; node != NULL && length < ASSAY_LANE_FRAMES; node = node_at(view, load32(&node->parent)))
        path[length++] = node;
    /* A span may have left its place in the call tree (binding.h): the rest is not known then. */
    while (node == NULL && depth + 2 < length &&
           at_address(view, copy->frames[depth + 1].node, sizeof *node) == path[length - 2 - depth])
        depth++;
    return depth;
}

uint32_t assay__journal_depth(const assay__journal_view *view, uint32_t unit,
                              const assay__lane *copy)
{
    uint64_t lane = view->header.base_address + (uint64_t)unit * ASSAY__JOURNAL_UNIT;
    uint64_t frames = lane + offsetof(assay__lane, frames);
    uint64_t top = (uint64_t)(uintptr_t)copy->top, distance = top - frames;
    if (top == lane)
        return depth_around_slot(view, copy);
    if (top < frames || distance % sizeof(assay__frame) != 0 ||
        distance / sizeof(assay__frame) >= ASSAY_LANE_FRAMES)
        return 0;
    return (uint32_t)(distance / sizeof(assay__frame));
}

bool assay__journal_read_open(const assay__journal_view *view, const assay__lane *lane,
                              uint32_t level, uint32_t *operation)
{
    const assay__node *node = at_address(view, lane->frames[level].node, sizeof *node);
    if (node != NULL)
        *operation = load32(&node->operation);
    return node != NULL;
}

/* Copy the figures of a node so that they belong together. A reader can be interrupted for
 * milliseconds, while the writer adds thousands of spans. So the figures are read again until the
 * count, which is written last, has not changed. If the writer is too fast for that, the last copy
 * is used. */
static void copy_figures(assay__node *copy, const assay__node *node)
{
    enum { TRIES = 100 };
    for (int i = 0; i < TRIES; i++) {
        copy_words(copy, node, offsetof(assay__node, branch));
        if (assay__journal_load(&node->count) == copy->count)
            return;
    }
}

bool assay__journal_read_node(const assay__journal_view *view, uint32_t unit, assay__node *copy)
{
    const assay__node *node = node_at(view, unit);
    if (node == NULL)
        return false;
    *copy = (assay__node){.self = unit};
    copy_figures(copy, node);
    copy_words(&copy->operation, &node->operation,
               offsetof(assay__node, self) - offsetof(assay__node, operation));
    copy->rare = load32(&node->rare);
    copy->cleared = load32(&node->cleared);
    copy->failed = load32(&node->failed);
    copy_words(copy->pages, node->pages, sizeof copy->pages);
    return copy->kind >= ASSAY__NODE_ROOT && copy->kind <= ASSAY__NODE_COUNTER;
}

/* Copy the slot, and the figures of the node once more if the count has changed since they were
 * copied. The slot is copied after the figures: if a span was being entered into the node while
 * they were copied, it is still in the slot, or else the count has changed. */
static assay__pending slot_beside(const assay__pending *live, const assay__node *node,
                                  assay__node *copy)
{
    enum { TRIES = 100 };
    assay__pending slot = {0};
    for (int i = 0; i < TRIES; i++) {
        slot = copy_pending(live);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (assay__journal_load(&node->count) == copy->count)
            break;
        copy_figures(copy, node);
    }
    return slot;
}

bool assay__journal_add_pending(const assay__journal_view *view, uint32_t unit, assay__node *copy,
                                uint64_t *duration)
{
    const assay__lane *lane = lane_at(view, unit);
    const assay__node *node = node_at(view, copy->self);
    if (lane == NULL || node == NULL || copy->kind != ASSAY__NODE_SPAN)
        return false;
    const assay__pending slot = slot_beside(&lane->pending, node, copy);
    uint64_t address = view->header.base_address + (uint64_t)copy->self * ASSAY__JOURNAL_UNIT;
    if (slot.node == NULL || (uint64_t)(uintptr_t)slot.node != address || slot.count != copy->count)
        return false;
    double value = (double)slot.duration;
    if (slot.count == 0)
        copy->shift = value;
    copy->count = slot.count + 1;
    copy->sum = slot.sum + slot.duration;
    copy->square_sum = slot.square_sum + (value - copy->shift) * (value - copy->shift);
    copy->min = slot.duration < copy->min ? slot.duration : copy->min;
    copy->max = slot.duration > copy->max ? slot.duration : copy->max;
    *duration = slot.duration;
    return true;
}

bool assay__journal_read_memory(const assay__journal_view *view, const assay__node *node,
                                assay__journal_memory *memory)
{
    uint64_t offset = (uint64_t)node->memory * ASSAY__JOURNAL_UNIT;
    if (offset == 0 || !in_pool(view, offset, sizeof *memory))
        return false;
    copy_words(memory, view->bytes + offset, sizeof *memory);
    return true;
}

bool assay__journal_read_device(const assay__journal_view *view,
                                const assay__journal_memory *memory, assay__journal_device *device)
{
    uint64_t offset = (uint64_t)memory->device * ASSAY__JOURNAL_UNIT;
    if (offset == 0 || !in_pool(view, offset, sizeof *device))
        return false;
    copy_words(device, view->bytes + offset, sizeof *device);
    return true;
}

/* The words with the buckets of exponents without a page, or NULL. */
static const uint64_t *rare_words(const assay__journal_view *view, const assay__node *node)
{
    uint64_t offset = (uint64_t)node->rare * ASSAY__JOURNAL_UNIT;
    bool there = offset != 0 && in_pool(view, offset, ASSAY__JOURNAL_UNIT);
    return there ? (const void *)(view->bytes + offset) : NULL;
}

uint64_t assay__journal_pages(const assay__journal_view *view, const assay__node *node)
{
    uint64_t pages = 0;
    for (uint32_t page = 0; page < ASSAY_NODE_PAGES; page++)
        pages |= (uint64_t)(node->pages[page] != NULL) << page;
    const uint64_t *rare = rare_words(view, node);
    for (size_t i = 0; rare != NULL && i < ASSAY_RARE_BUCKETS; i++) {
        uint32_t page = assay__rare_page(assay__journal_load(&rare[i]));
        if (page < ASSAY_NODE_PAGES)
            pages |= (uint64_t)1 << page;
    }
    return pages;
}

void assay__journal_buckets(const assay__journal_view *view, const assay__node *node, uint32_t page,
                            uint64_t counts[ASSAY_PAGE_BUCKETS])
{
    size_t page_bytes = ASSAY_PAGE_BUCKETS * sizeof *counts;
    const uint64_t *rare = rare_words(view, node);
    memset(counts, 0, page_bytes);
    if (node->pages[page] != NULL) {
        const uint64_t *buckets = at_address(view, node->pages[page], page_bytes);
        if (buckets != NULL)
            copy_words(counts, buckets, page_bytes);
        return;
    }
    for (size_t i = 0; rare != NULL && i < ASSAY_RARE_BUCKETS; i++) {
        uint64_t word = assay__journal_load(&rare[i]);
        if (assay__rare_page(word) == page)
            counts[assay__rare_bucket(word)] = assay__rare_count(word);
    }
}

const uint64_t *assay__journal_samples(const assay__journal_view *view, const assay__node *node)
{
    uint64_t offset = (uint64_t)node->samples * ASSAY__JOURNAL_UNIT;
    bool there = offset != 0 && in_pool(view, offset, node->sample_count * sizeof(uint64_t));
    return there ? (const void *)(view->bytes + offset) : NULL;
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

/* Check the capacity of a ring, which is a power of two. Returns 0 if it is not valid. */
static uint64_t ring_capacity(uint64_t capacity)
{
    return (capacity & (capacity - 1)) != 0 || capacity > UINT32_MAX ? 0 : capacity;
}

/* The writer may overwrite the ring while it is copied. So events that the writer may have
 * overwritten by the end of the copy are left out. A ring that is full for the first time may grow
 * in place. The place of later events then depends on the new capacity, so the head is loaded
 * before the capacity. */
size_t assay__journal_read_events(const assay__journal_view *view, uint32_t unit, size_t index,
                                  assay__journal_event *events, size_t capacity, uint64_t *lost)
{
    const assay__lane *live = lane_at(view, unit);
    *lost = 0;
    if (live == NULL)
        return 0;
    uint64_t head = __atomic_load_n(&live->event_head, __ATOMIC_ACQUIRE);
    uint64_t ring_size = ring_capacity(assay__journal_load(&live->event_capacity));
    const assay__event *ring = at_address(view, __atomic_load_n(&live->events, __ATOMIC_RELAXED),
                                          ring_size * sizeof *ring);
    if (ring == NULL || ring_size == 0)
        return 0;
    uint64_t kept = head < ring_size ? head : ring_size;
    if (events == NULL)
        return (size_t)kept;
    if (kept > capacity)
        kept = capacity;
    for (uint64_t i = 0; i < kept; i++)
        load_event(&ring[(head - kept + i) & (ring_size - 1)], &events[i]);
    assay__ring_state after =
        view->rings_after != NULL
            ? view->rings_after[index]
            : (assay__ring_state){__atomic_load_n(&live->event_head, __ATOMIC_ACQUIRE),
                                  assay__journal_load(&live->event_capacity)};
    uint64_t size_after = ring_capacity(after.capacity);
    if (size_after < ring_size)
        size_after = ring_size;
    /* Plus one: the next event is being written into the slot of the oldest one. */
    uint64_t oldest_safe = after.head + 1 > size_after ? after.head + 1 - size_after : 0;
    uint64_t unsafe = oldest_safe > head - kept ? oldest_safe - (head - kept) : 0;
    if (unsafe > kept)
        unsafe = kept;
    memmove(events, events + unsafe, (size_t)(kept - unsafe) * sizeof *events);
    *lost = head - (kept - unsafe);
    return (size_t)(kept - unsafe);
}

bool assay__journal_read_metric(const assay__journal_view *view, uint32_t unit,
                                assay__journal_metric *metric)
{
    uint64_t offset = (uint64_t)unit * ASSAY__JOURNAL_UNIT;
    if (!in_pool(view, offset, sizeof *metric))
        return false;
    copy_words(metric, view->bytes + offset, sizeof *metric);
    metric->next = onwards(unit, metric->next);
    return true;
}
