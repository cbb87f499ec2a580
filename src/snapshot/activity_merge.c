/* Merges the GPU activity of several processes into one record. Kernels are merged by name, copies
 * by direction, idle time by cause, and devices by UUID. The span, busy and idle times of all
 * devices of all processes are added up. Events refer to kernels and copies by number. Kernels and
 * copies are sorted at the end, and the numbers in the events are then translated. */
#include "snapshot/activity_merge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/record_build.h"
#include "base/grow.h"
#include "base/text.h"

/* The kinds of copies and of memory are numbered as in CUPTI. */
enum { MAX_KERNELS = 1 << 16, KIND_HTOD = 1, KIND_DTOH = 2, PAGEABLE = 1, PINNED = 2 };

static const char *const causes[ASSAY__IDLE_CAUSES] = {
    [ASSAY__IDLE_LAUNCH] = "launch", [ASSAY__IDLE_DATA] = "data loading",
    [ASSAY__IDLE_HOST] = "host",     [ASSAY__IDLE_SYNC] = "synchronisation",
    [ASSAY__IDLE_QUEUED] = "queued", [ASSAY__IDLE_UNKNOWN] = "unknown",
    [ASSAY__IDLE_COPIES] = "copies",
};

static double seconds_of(uint64_t ns)
{
    return (double)ns / 1e9;
}

static double since_origin(const assay__activity_merge *m, uint64_t ns)
{
    return (double)(int64_t)(ns - m->origin_ns) / 1e9;
}

static void add_to(assay_reading *sum, double value)
{
    *sum = assay_reading_of((sum->validity == ASSAY_VALID ? sum->value : 0) + value);
}

/* ---- kernels ---- */

static assay_status find_kernel(assay__activity_merge *m, const char *mangled, int32_t *number)
{
    char *name = assay__demangled(mangled);
    if (name == NULL)
        return ASSAY_E_MEMORY;
    *number = assay__name_index_find(&m->index, 0, name);
    bool is_known = *number >= 0;
    const char *kept = is_known ? NULL : assay_record_text(m->record, name);
    free(name);
    if (is_known)
        return ASSAY_OK;
    if (m->kernel_count >= MAX_KERNELS)
        return ASSAY_E_LIMIT;
    if (kept == NULL ||
        !assay__grow(&m->kernels, &m->kernel_capacity, m->kernel_count + 1, sizeof *m->kernels) ||
        !assay__grow(&m->squares, &m->square_capacity, m->kernel_count + 1, sizeof *m->squares))
        return ASSAY_E_MEMORY;
    *number = (int32_t)m->kernel_count;
    m->squares[m->kernel_count] = 0;
    m->kernels[m->kernel_count++] = (assay_record_kernel){.name = kept, .min_seconds = HUGE_VAL};
    return assay__name_index_add(&m->index, 0, kept, *number);
}

static assay_status add_kernels(assay__activity_merge *m, const assay__activity_region *region,
                                int32_t *numbers)
{
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < ASSAY__ACTIVITY_KERNELS && status == ASSAY_OK; i++) {
        const assay__activity_kernel *from = &region->kernels[i];
        numbers[i] = -1;
        if (from->count == 0)
            continue;
        status = find_kernel(m, from->name > 0 ? region->names + from->name - 1 : "(other kernels)",
                             &numbers[i]);
        if (status != ASSAY_OK)
            break;
        assay_record_kernel *to = &m->kernels[numbers[i]];
        to->count += from->count;
        to->total_seconds += seconds_of(from->total_ns);
        to->min_seconds = fmin(to->min_seconds, seconds_of(from->min_ns));
        to->max_seconds = fmax(to->max_seconds, seconds_of(from->max_ns));
        m->squares[numbers[i]] += from->squares * 1e-18;
    }
    return status;
}

/* ---- copies ---- */

static const char *direction_of(uint8_t kind)
{
    switch (kind) {
    case KIND_HTOD:
        return "host to device";
    case KIND_DTOH:
        return "device to host";
    case 3:
        return "host to array";
    case 4:
        return "array to host";
    case 5:
    case 6:
    case 7:
    case 8:
        return "device to device";
    case 9:
        return "host to host";
    case 10:
        return "between devices";
    case 255:
        return "set";
    default:
        return "other";
    }
}

static const char *host_memory(const assay__activity_copy *copy)
{
    uint8_t memory = copy->kind == KIND_HTOD   ? copy->source
                     : copy->kind == KIND_DTOH ? copy->target
                                               : 0;
    return memory == PAGEABLE ? "pageable" : memory == PINNED ? "pinned" : NULL;
}

static void add_copies(assay__activity_merge *m, const assay__activity_region *region,
                       size_t *numbers)
{
    for (size_t i = 0; i < region->copy_count; i++) {
        const assay__activity_copy *from = &region->copies[i];
        const char *direction = direction_of(from->kind), *memory = host_memory(from);
        size_t at = 0;
        while (at < m->copy_count && (!assay__text_same(m->copies[at].direction, direction) ||
                                      !assay__text_same(m->copies[at].memory, memory)))
            at++;
        if (at == m->copy_count) /* there is room: fewer pairs of direction and memory than rows */
            m->copies[m->copy_count++] =
                (assay_record_copy){.direction = direction, .memory = memory};
        numbers[i] = at;
        m->copies[at].count += from->count;
        m->copies[at].bytes += (double)from->bytes;
        m->copies[at].seconds += seconds_of(from->total_ns);
    }
}

/* ---- devices ---- */

enum { UUID_TEXT = 48, NAME_TEXT = 24 };

static const char *uuid_text(const uint8_t uuid[16], char text[UUID_TEXT])
{
    int used = snprintf(text, UUID_TEXT, "GPU-");
    for (int i = 0; i < 16; i++)
        used += snprintf(text + used, (size_t)(UUID_TEXT - used), "%s%02x",
                         i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
    return text;
}

static assay__activity_board *find_board(const assay__activity_merge *m, const uint8_t uuid[16])
{
    for (size_t i = 0; i < m->board_count; i++)
        if (memcmp(m->boards[i].uuid, uuid, sizeof m->boards[i].uuid) == 0)
            return &m->boards[i];
    return NULL;
}

assay_status assay__activity_merge_note(assay__activity_merge *m,
                                        const assay__activity_region *region)
{
    for (size_t i = 0; i < region->device_count; i++) {
        const assay__activity_device *device = &region->devices[i];
        assay__activity_board *known = device->has_uuid ? find_board(m, device->uuid) : NULL;
        if (known != NULL && device->number < known->number)
            known->number = device->number;
        if (known != NULL || !device->has_uuid)
            continue;
        if (!assay__grow(&m->boards, &m->board_capacity, m->board_count + 1, sizeof *m->boards))
            return ASSAY_E_MEMORY;
        assay__activity_board *board = &m->boards[m->board_count++];
        board->number = device->number;
        memcpy(board->uuid, device->uuid, sizeof board->uuid);
    }
    return ASSAY_OK;
}

/* The name of a device: the number that CUDA gives it, such as "cuda:0". If different boards have
 * this number in different processes, the name is the beginning of the board's UUID. */
static const char *name_of(const assay__activity_merge *m, const assay__activity_device *device,
                           char text[UUID_TEXT])
{
    const assay__activity_board *board = device->has_uuid ? find_board(m, device->uuid) : NULL;
    bool shared = false;
    for (size_t i = 0; board != NULL && i < m->board_count; i++)
        shared |= &m->boards[i] != board && m->boards[i].number == board->number;
    if (shared) {
        uuid_text(device->uuid, text);
        text[sizeof "GPU-00000000" - 1] = '\0';
    } else {
        snprintf(text, NAME_TEXT, "cuda:%u", board != NULL ? board->number : device->number);
    }
    return text;
}

static assay_status find_device(assay__activity_merge *m, const assay__activity_device *of,
                                assay_record_device **found)
{
    char text[UUID_TEXT];
    assay_record *record = m->record;
    const char *id = name_of(m, of, text);
    for (size_t i = 0; i < record->device_count; i++)
        if (strcmp(record->devices[i].id, id) == 0) {
            *found = &record->devices[i];
            return ASSAY_OK;
        }
    assay_record_device added;
    assay_record_device_init(&added);
    added.id = assay_record_text(record, id);
    if (of->has_uuid)
        added.uuid = assay_record_text(record, uuid_text(of->uuid, text));
    if (added.id == NULL || (of->has_uuid && added.uuid == NULL) ||
        assay_record_add_device(record, &added) != ASSAY_OK)
        return ASSAY_E_MEMORY;
    *found = &record->devices[record->device_count - 1];
    return ASSAY_OK;
}

static void add_times(assay__activity_merge *m, const assay__activity_device *from)
{
    assay_record_gpu *gpu = &m->record->gpu;
    double span = seconds_of(from->last_ns - from->first_ns - from->outside_ns);
    gpu->span_seconds += span;
    gpu->busy_seconds += seconds_of(from->busy_ns);
    gpu->kernel_seconds += seconds_of(from->kernel_ns);
    gpu->idle_seconds += fmax(0, span - seconds_of(from->kernel_ns));
    gpu->longest_gap_seconds = fmax(gpu->longest_gap_seconds, seconds_of(from->longest_ns));
    for (size_t i = 0; i < ASSAY__IDLE_CAUSES; i++) {
        m->idle[i].seconds += seconds_of(from->idle_ns[i]);
        m->idle[i].count += from->idle_count[i];
    }
}

static assay_status add_devices(assay__activity_merge *m, const assay__activity_region *region)
{
    assay_record_gpu *gpu = &m->record->gpu;
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < region->device_count && status == ASSAY_OK; i++) {
        const assay__activity_device *from = &region->devices[i];
        assay_record_device *to = NULL;
        status = find_device(m, from, &to);
        if (status != ASSAY_OK)
            break;
        if (from->has_activity)
            add_times(m, from);
        add_to(&to->busy_seconds, seconds_of(from->busy_ns));
        double peak = to->peak_bytes.validity == ASSAY_VALID ? to->peak_bytes.value : 0;
        to->peak_bytes = assay_reading_of(fmax(peak, (double)from->peak_bytes));
        add_to(&gpu->allocations, (double)from->allocations);
        add_to(&gpu->releases, (double)from->releases);
        add_to(&gpu->allocated_bytes, (double)from->allocated_bytes);
        add_to(&gpu->live_bytes, (double)from->live_bytes);
        peak = gpu->peak_bytes.validity == ASSAY_VALID ? gpu->peak_bytes.value : 0;
        gpu->peak_bytes = assay_reading_of(fmax(peak, (double)from->peak_bytes));
    }
    return status;
}

/* ---- events ---- */

static assay_status add_lane(assay__activity_merge *m, const assay__activity_region *region,
                             const assay__activity_stream *stream, uint32_t *index)
{
    char name[64];
    assay_record *record = m->record;
    assay_record_device *device = NULL;
    assay__activity_device of = {.number = stream->device};
    for (size_t i = 0; i < region->device_count; i++)
        if (region->devices[i].number == stream->device)
            of = region->devices[i];
    assay_status status = find_device(m, &of, &device);
    if (status != ASSAY_OK)
        return status;
    snprintf(name, sizeof name, "%s stream %u", device->id, stream->stream);
    assay_record_lane lane = {.name = assay_record_text(record, name),
                              .kind = ASSAY_LANE_GPU_STREAM,
                              .process_id = region->process_id,
                              .thread_id = stream->stream,
                              .spans = stream->count,
                              .ended = true,
                              .device = device->id};
    *index = (uint32_t)record->lane_count;
    return lane.name != NULL ? assay_record_add_lane(record, &lane) : ASSAY_E_MEMORY;
}

static assay_status add_activities(assay__activity_merge *m, const assay__activity_region *region,
                                   const int32_t *kernels, const size_t *copies)
{
    uint32_t lanes[ASSAY__ACTIVITY_STREAMS] = {0};
    assay_status status = ASSAY_OK;
    size_t first = region->count > m->most_events ? region->count - m->most_events : 0;
    if (m->most_events == 0)
        return ASSAY_OK;
    m->record->integrity.dropped_events += region->forgotten + first;
    for (size_t i = 0; i < region->stream_count && status == ASSAY_OK; i++)
        status = add_lane(m, region, &region->streams[i], &lanes[i]);
    for (size_t i = first; i < region->count && status == ASSAY_OK; i++) {
        const assay__activity *it = &region->activities[i];
        bool is_kernel = it->kind == ASSAY__ACTIVITY_KERNEL;
        if (is_kernel && kernels[it->row] < 0)
            continue; /* the file was read while the sum of this kernel was being updated */
        assay_record_event event = {.kind = is_kernel ? ASSAY_EVENT_KERNEL : ASSAY_EVENT_COPY,
                                    .name = is_kernel ? (uint32_t)kernels[it->row]
                                                      : (uint32_t)copies[it->row],
                                    .lane = lanes[it->stream],
                                    .start_seconds = since_origin(m, it->start_ns),
                                    .duration_seconds = seconds_of(it->end_ns - it->start_ns)};
        status = assay_record_add_event(m->record, &event);
    }
    return status;
}

/* Add the allocated bytes of one device over time, as a counter. */
static assay_status add_memory(assay__activity_merge *m, const assay__activity_region *region,
                               uint32_t device, uint32_t lane)
{
    char id[UUID_TEXT], name[64];
    snprintf(name, sizeof name, "%s allocated_bytes", name_of(m, &region->devices[device], id));
    assay_record_counter counter = {.name = assay_record_text(m->record, name), .min = HUGE_VAL};
    assay_record_event event = {
        .kind = ASSAY_EVENT_COUNTER, .name = (uint32_t)m->record->counter_count, .lane = lane};
    double sum = 0;
    for (size_t i = 0; i < region->point_count; i++) {
        const assay__activity_point *point = &region->points[i];
        if (point->device != device)
            continue;
        event.start_seconds = since_origin(m, point->time_ns);
        event.value = counter.last = (double)point->bytes;
        sum += event.value;
        counter.min = fmin(counter.min, event.value);
        counter.max = fmax(counter.max, event.value);
        counter.count++;
        if (assay_record_add_event(m->record, &event) != ASSAY_OK)
            return ASSAY_E_MEMORY;
    }
    if (counter.count == 0)
        return ASSAY_OK;
    counter.mean = sum / (double)counter.count;
    return counter.name != NULL ? assay_record_add_counter(m->record, &counter) : ASSAY_E_MEMORY;
}

static assay_status add_memories(assay__activity_merge *m, const assay__activity_region *region)
{
    assay_record *record = m->record;
    uint32_t index = (uint32_t)record->lane_count;
    if (region->point_count == 0)
        return ASSAY_OK;
    assay_record_lane lane = {.name = assay_record_text(record, "GPU memory"),
                              .kind = ASSAY_LANE_PROCESS,
                              .process_id = region->process_id,
                              .ended = true};
    assay_status status = lane.name != NULL ? assay_record_add_lane(record, &lane) : ASSAY_E_MEMORY;
    for (uint32_t i = 0; i < region->device_count && status == ASSAY_OK; i++)
        status = add_memory(m, region, i, index);
    return status;
}

/* ---- all of it ---- */

assay_status assay__activity_merge_add(assay__activity_merge *m,
                                       const assay__activity_region *region)
{
    int32_t *kernels = calloc(ASSAY__ACTIVITY_KERNELS, sizeof *kernels);
    size_t copies[ASSAY__ACTIVITY_COPIES] = {0};
    assay_record_gpu *gpu = &m->record->gpu;
    if (kernels == NULL)
        return ASSAY_E_MEMORY;
    if (!m->record->has_gpu)
        m->first_event = m->record->event_count;
    m->record->has_gpu = true;
    gpu->processes++;
    gpu->dropped_records += region->dropped_records;
    gpu->untimed_records += region->untimed_records;
    gpu->late_records += region->late_activities;
    gpu->ranges += region->range_count;
    m->record->integrity.torn_operations += region->sequence % 2;
    assay_status status = add_kernels(m, region, kernels);
    if (status == ASSAY_OK) {
        add_copies(m, region, copies);
        status = add_devices(m, region);
    }
    if (status == ASSAY_OK)
        status = add_activities(m, region, kernels, copies);
    if (status == ASSAY_OK)
        status = add_memories(m, region);
    free(kernels);
    return status;
}

static int by_kernel(const void *left, const void *right, void *user)
{
    const assay_record_kernel *all = user;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (all[a].total_seconds != all[b].total_seconds)
        return all[a].total_seconds > all[b].total_seconds ? -1 : 1;
    return strcmp(all[a].name, all[b].name);
}

static int by_copy(const void *left, const void *right, void *user)
{
    const assay_record_copy *all = user;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (all[a].bytes != all[b].bytes)
        return all[a].bytes > all[b].bytes ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int by_idle(const void *left, const void *right)
{
    const assay_record_idle *a = left, *b = right;
    return (a->seconds < b->seconds) - (a->seconds > b->seconds);
}

/* Copy the items into the record, sorted by `compare`. `places` receives the new index of each
 * item. NULL when out of memory. */
static void *arranged(assay_record *record, void *items, size_t count, size_t size,
                      int (*compare)(const void *, const void *, void *), uint32_t *places)
{
    char *made = assay_record_allocate(record, count, size);
    uint32_t *sorted = calloc(count + 1, sizeof *sorted);
    for (uint32_t i = 0; i < count && sorted != NULL; i++)
        sorted[i] = i;
    if (sorted != NULL)
        qsort_r(sorted, count, sizeof *sorted, compare, items);
    for (size_t i = 0; i < count && sorted != NULL && made != NULL; i++) {
        memcpy(made + i * size, (const char *)items + sorted[i] * size, size);
        places[sorted[i]] = (uint32_t)i;
    }
    bool good = sorted != NULL;
    free(sorted);
    return good ? made : NULL;
}

static void complete_kernel(assay_record_kernel *kernel, double squares, double all_seconds)
{
    double n = (double)kernel->count;
    kernel->mean_seconds = kernel->total_seconds / n;
    kernel->share = all_seconds > 0 ? kernel->total_seconds / all_seconds : 0;
    double variance =
        n > 1 ? (squares - n * kernel->mean_seconds * kernel->mean_seconds) / (n - 1) : -1;
    kernel->std_seconds = n > 1 ? assay_reading_of(sqrt(fmax(variance, 0)))
                                : assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
}

static assay_status hand_over_idle(assay__activity_merge *m)
{
    assay_record_gpu *gpu = &m->record->gpu;
    gpu->idle = assay_record_allocate(m->record, ASSAY__IDLE_CAUSES, sizeof *gpu->idle);
    if (gpu->idle == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < ASSAY__IDLE_CAUSES; i++) {
        m->idle[i].cause = causes[i];
        m->idle[i].share = gpu->span_seconds > 0 ? m->idle[i].seconds / gpu->span_seconds : 0;
        if (m->idle[i].seconds > 0)
            gpu->idle[gpu->idle_count++] = m->idle[i];
    }
    qsort(gpu->idle, gpu->idle_count, sizeof *gpu->idle, by_idle);
    return ASSAY_OK;
}

assay_status assay__activity_merge_finish(assay__activity_merge *m)
{
    assay_record_gpu *gpu = &m->record->gpu;
    uint32_t copies[ASSAY__ACTIVITY_COPIES];
    double all_seconds = 0;
    if (!m->record->has_gpu)
        return ASSAY_OK;
    uint32_t *kernels = calloc(m->kernel_count + 1, sizeof *kernels);
    if (kernels == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < m->kernel_count; i++)
        all_seconds += m->kernels[i].total_seconds;
    for (size_t i = 0; i < m->kernel_count; i++)
        complete_kernel(&m->kernels[i], m->squares[i], all_seconds);
    for (size_t i = 0; i < m->copy_count; i++)
        m->copies[i].bytes_per_second =
            m->copies[i].seconds > 0 ? assay_reading_of(m->copies[i].bytes / m->copies[i].seconds)
                                     : assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    gpu->kernels =
        arranged(m->record, m->kernels, m->kernel_count, sizeof *m->kernels, by_kernel, kernels);
    gpu->copies = arranged(m->record, m->copies, m->copy_count, sizeof *m->copies, by_copy, copies);
    bool good = (gpu->kernels != NULL || m->kernel_count == 0) &&
                (gpu->copies != NULL || m->copy_count == 0);
    gpu->kernel_count = good ? m->kernel_count : 0;
    gpu->copy_count = good ? m->copy_count : 0;
    for (size_t i = m->first_event; good && i < m->record->event_count; i++) {
        assay_record_event *event = &m->record->events[i];
        if (event->kind == ASSAY_EVENT_KERNEL)
            event->name = kernels[event->name];
        else if (event->kind == ASSAY_EVENT_COPY)
            event->name = copies[event->name];
    }
    free(kernels);
    return good ? hand_over_idle(m) : ASSAY_E_MEMORY;
}

void assay__activity_merge_release(assay__activity_merge *m)
{
    assay__name_index_release(&m->index);
    free(m->kernels);
    free(m->squares);
    free(m->boards);
}
