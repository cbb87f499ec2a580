/* Life cycle of a monitor: its options, its journal, a new journal in a forked child, clearing and
 * freeing. state.h describes the parts of a monitor and what happens at a fork. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/free_number.h"
#include "base/struct_size.h"
#include "base/text.h"
#include "instrument/cuda.h"
#include "instrument/meter.h"
#include "monitor/state.h"

enum {
    HEAD_BYTES = 64 * 1024, /* whole pages of any size; only the first page is ever used */
    MAPPING_BYTES = HEAD_BYTES + sizeof(assay__monitor_state),
    DEFAULT_BYTES = 256 * 1024 * 1024,
    MOST_TRACE_EVENTS = 1 << 22,
    MOST_SAMPLES = 1 << 20,
    /* The journal has additional room for the rings of this many lanes and for the samples of this
     * many nodes. The rings get at most MOST_RING_BYTES, which is enough for several of the largest
     * rings. */
    TRACED_LANES = 64,
    SAMPLED_NODES = 32,
    MOST_RING_BYTES = 1 << 30
};

/* What the head contains. The kernel sets all of it to 0 in a forked child. */
typedef struct monitor_front {
    assay__monitor_head head;
    _Alignas(128) _Atomic uint64_t drops; /* dropped spans that the journal does not count yet */
} monitor_front;

static uint64_t new_monitor_id(void)
{
    static _Atomic uint64_t last;
    return atomic_fetch_add(&last, 1) + 1;
}

assay__monitor_state *assay__monitor_state_of(const assay_monitor *monitor)
{
    return (assay__monitor_state *)(void *)((unsigned char *)(uintptr_t)monitor + HEAD_BYTES);
}

static void set_id(assay_monitor *monitor, uint64_t id)
{
    __atomic_store_n(&((assay__monitor_head *)(void *)monitor)->id, id, __ATOMIC_RELEASE);
}

static void enter_clock(assay__journal_header *header, const assay_clock *clock)
{
    assay_clock_info info = {.struct_size = sizeof info};
    header->clock_resolution_ns = header->clock_cost_ns = -1.0;
    if (assay_clock_describe(clock, &info) != ASSAY_OK)
        return;
    header->ticks_per_second = info.frequency_hz;
    assay__text_copy_name(header->clock_source, sizeof header->clock_source, info.source,
                          strlen(info.source));
    if (info.resolution_ns.validity == ASSAY_VALID)
        header->clock_resolution_ns = info.resolution_ns.value;
    if (info.cost_ns.validity == ASSAY_VALID)
        header->clock_cost_ns = info.cost_ns.value;
}

static assay__journal_anchor anchor_now(const assay_clock *clock)
{
    assay__clock_anchor now = assay__clock_anchor_now(clock);
    return (assay__journal_anchor){now.ticks, now.monotonic_ns, now.realtime_ns};
}

/* The name of the program as a part of a file name. A program may have a longer name than a file
 * can have, and a program that shows a title (setproctitle) may have slashes in its name. */
static void copy_program_name(char *name, size_t capacity)
{
    const char *program = program_invocation_short_name;
    assay__text_copy_name(name, capacity, program, strlen(program));
    for (char *slash = name; (slash = strchr(slash, '/')) != NULL;)
        *slash = '_';
}

/* The path of the journal's file without its suffix. It is the path of the options, to which a
 * forked child adds its process id. Without such a path it is in $ASSAY_JOURNAL_DIR, with a name
 * for each process and monitor. Nothing is written for a journal in private memory. This does
 * without snprintf(), whose parts are all over the C library: a forked child would take seven page
 * faults for them, which cost as much as the rest of its journal. */
static void write_stem(const assay__monitor_state *state, uint64_t id, bool forked,
                       assay__buffer *stem)
{
    static const char suffix[] = ASSAY__JOURNAL_SUFFIX;
    if (state->path != NULL) {
        size_t length = strlen(state->path), tail = sizeof suffix - 1;
        if (length > tail && strcmp(state->path + length - tail, suffix) == 0)
            length -= tail;
        assay__buffer_append(stem, state->path, length);
    } else if (state->directory != NULL) {
        char name[100];
        copy_program_name(name, sizeof name);
        assay__buffer_append_text(stem, state->directory);
        assay__buffer_append_text(stem, "/");
        assay__buffer_append_text(stem, name);
    } else {
        return;
    }
    if (state->path == NULL || forked) {
        assay__buffer_append_text(stem, ".");
        assay__buffer_append_number(stem, (uint64_t)getpid());
    }
    if (state->path == NULL) {
        assay__buffer_append_text(stem, ".");
        assay__buffer_append_number(stem, id);
    }
}

static assay_status create_journal(assay__monitor_state *state, const char *path, uint64_t id,
                                   assay_error *error)
{
    assay__journal_identity identity = {.name = state->name, .monitor_id = id};
    assay__identity_read(&identity);
    assay_status status =
        assay__journal_create(&state->journal, path, state->pool_bytes, &identity, error);
    if (status != ASSAY_OK)
        return status;
    assay__journal_header *header = state->journal.header;
    assay__journal_keep_from_children(&state->journal, true);
    enter_clock(header, state->clock);
    header->memory_modes = state->memory;
    header->first = header->latest = anchor_now(state->clock);
    assay__journal_publish(&state->journal);
    return ASSAY_OK;
}

/* If a journal cannot be made, leave a symbolic link under its name whose target contains the
 * reason. A link needs no room for data, and readers of the directory count and report it. */
static void leave_word(const char *path, const assay_error *failure)
{
    const char *colon = strrchr(failure->message, ':'); /* the system's reason is behind it */
    char target[120];                                   /* a short link needs no block of its own */
    snprintf(target, sizeof target, ASSAY__JOURNAL_NEVER_MADE "%.100s",
             colon != NULL ? colon + 2 : failure->message);
    int told = symlink(target, path);
    (void)told; /* if this fails as well, there is no way to report it */
}

/* The path of a journal in a directory: the stem, a number unless it is 1, and the suffix. */
typedef struct numbered_path {
    assay__buffer *text;
    size_t stem_bytes;
} numbered_path;

/* The path with this number. It is valid until the next call. NULL if it is too long. */
static const char *path_with(const numbered_path *path, unsigned number)
{
    path->text->length = path->stem_bytes;
    if (number > 1) {
        assay__buffer_append_text(path->text, ".");
        assay__buffer_append_number(path->text, number);
    }
    assay__buffer_append_text(path->text, ASSAY__JOURNAL_SUFFIX);
    return path->text->status == ASSAY_OK ? path->text->data : NULL;
}

static bool is_taken(const void *path, unsigned number)
{
    struct stat file;
    const char *text = path_with(path, number);
    return text != NULL && lstat(text, &file) == 0;
}

static assay_status create_numbered(assay__monitor_state *state, const char *path, uint64_t id,
                                    assay_error *error)
{
    return path != NULL ? create_journal(state, path, id, error) : ASSAY_E_LIMIT;
}

static assay_status open_journal(assay__monitor_state *state, uint64_t id, bool forked,
                                 assay_error *error)
{
    assay_error own, *failure = error != NULL ? error : &own;
    if (state->path != NULL && !forked)
        return create_journal(state, state->path, id, failure);
    assay__buffer text;
    assay__buffer_init(&text, PATH_MAX);
    write_stem(state, id, forked, &text);
    const numbered_path path = {&text, text.length};
    if (path.stem_bytes == 0)
        return create_journal(state, NULL, id, error);
    const char *file = path_with(&path, 1);
    assay_status status = create_numbered(state, file, id, failure);
    /* A name may already exist: after a program replaced itself by exec, after a process id was
     * reused, or if another container has the same process id. Then a number is added to it. */
    unsigned number = status == ASSAY_E_STATE ? assay__free_number(2, is_taken, &path) : 0;
    for (; status == ASSAY_E_STATE && number <= ASSAY__MOST_NUMBERS; number++) {
        file = path_with(&path, number);
        status = create_numbered(state, file, id, failure);
    }
    /* If the directory that the environment names cannot be used, the measured program goes on
     * without it. */
    if (status != ASSAY_OK) {
        if (file != NULL)
            leave_word(file, failure);
        status = create_journal(state, NULL, id, error);
    }
    assay__buffer_release(&text);
    return status;
}

static size_t power_of_two(size_t at_least, size_t most)
{
    size_t power = 1;
    while (power < at_least && power < most)
        power *= 2;
    return power;
}

static size_t trace_events_wanted(const assay_monitor_options *options)
{
    size_t events = options->trace_events;
    const char *text = secure_getenv("ASSAY_TRACE_EVENTS");
    if (events == 0 && text != NULL)
        events = (size_t)strtoull(text, NULL, 10);
    return events == 0 ? 0 : power_of_two(events, MOST_TRACE_EVENTS);
}

/* At least 1, because 0 means that memory is not sampled. */
static uint64_t ticks_of_10ms(const assay_clock *clock)
{
    double ticks = assay__clock_ticks_of_ns(clock, 1e7);
    return ticks > 1 ? (uint64_t)ticks : 1;
}

/* Copy a path and make it absolute, so that forked children find it from any working directory. */
static char *absolute(const char *path)
{
    char folder[PATH_MAX];
    if (*path == '/' || *path == '\0' || getcwd(folder, sizeof folder) == NULL)
        return strdup(path);
    size_t size = strlen(folder) + strlen(path) + 2;
    char *whole = malloc(size);
    if (whole != NULL)
        snprintf(whole, size, "%s/%s", folder, path);
    return whole;
}

/* Remember where the journal goes: to a path, to a directory or, without both, to private memory.
 * False when out of memory. */
static bool choose_place(assay__monitor_state *state, const assay_monitor_options *options)
{
    const char *directory = secure_getenv("ASSAY_JOURNAL_DIR");
    if (options->private_journal)
        return true;
    if (options->journal_path != NULL)
        return (state->path = absolute(options->journal_path)) != NULL;
    return directory == NULL || *directory == '\0' ||
           (state->directory = absolute(directory)) != NULL;
}

static assay_status configure(assay__monitor_state *state, const assay_monitor_options *options,
                              assay_error *error)
{
    state->memory = options->memory & (ASSAY_MEMORY_RSS | ASSAY_MEMORY_HEAP | ASSAY_MEMORY_PEAK);
    if ((state->memory & ASSAY_MEMORY_PEAK) != 0)
        state->memory |= ASSAY_MEMORY_RSS;
    bool sampled =
        (options->memory & ASSAY_MEMORY_OFF) == 0 && (state->memory & ASSAY_MEMORY_RSS) == 0;
    state->trace_events = trace_events_wanted(options);
    state->samples = options->samples < MOST_SAMPLES ? options->samples : MOST_SAMPLES;
    size_t bytes = options->journal_bytes != 0 ? options->journal_bytes : DEFAULT_BYTES;
    if (bytes < ASSAY__JOURNAL_MIN_BYTES)
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "journal_bytes is %zu; a journal needs at least %d", bytes,
                           ASSAY__JOURNAL_MIN_BYTES);
    size_t ring_bytes = TRACED_LANES * state->trace_events * sizeof(assay__event);
    state->pool_bytes = bytes + (ring_bytes < MOST_RING_BYTES ? ring_bytes : MOST_RING_BYTES) +
                        SAMPLED_NODES * state->samples * sizeof(uint64_t);
    state->clock = options->clock != NULL ? options->clock : assay_clock_default();
    state->resident_ticks = sampled ? ticks_of_10ms(state->clock) : 0;
    state->slow = state->memory != 0 || !assay__clock_is_hardware(state->clock);
    state->name = strdup(options->name != NULL ? options->name : program_invocation_short_name);
    if (state->name == NULL || !choose_place(state, options))
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for a monitor");
    return ASSAY_OK;
}

static void destroy(assay_monitor *monitor)
{
    assay__monitor_state *state = assay__monitor_state_of(monitor);
    free(state->name);
    free(state->path);
    free(state->directory);
    pthread_mutex_destroy(&state->lock);
    munmap(monitor, MAPPING_BYTES);
}

assay_status assay_monitor_open(const assay_monitor_options *options, assay_error *error,
                                assay_monitor **monitor)
{
    if (monitor == NULL)
        return assay__fail(error, ASSAY_E_ARGUMENT, "no place to put the monitor");
    *monitor = NULL;
    assay_monitor_options own;
    assay_status status =
        assay__struct_take(&own, sizeof own, options, "assay_monitor_options", error);
    if (status != ASSAY_OK)
        return status;
    options = &own;
    assay_monitor *fresh =
        mmap(NULL, MAPPING_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for a monitor");
    assay__monitor_state *state = assay__monitor_state_of(fresh);
    pthread_mutex_init(&state->lock, NULL);
    state->disabled = options->disabled;
    set_id(fresh, ASSAY__DISABLED_MONITOR);
    if (!state->disabled) {
        uint64_t id = new_monitor_id();
        status = configure(state, options, error);
        if (status == ASSAY_OK)
            status = open_journal(state, id, false, error);
        if (status != ASSAY_OK) {
            destroy(fresh);
            return status;
        }
        set_id(fresh, id);
        (void)assay__lanes_prepare();
        (void)assay__cuda_driver(); /* spans do not look for it: instrument/cuda.h */
        /* Without MADV_WIPEONFORK a forked child writes into its parent's journal. `assay doctor`
         * reports whether the kernel supports it. */
        if (madvise(fresh, HEAD_BYTES, MADV_WIPEONFORK) != 0)
            assay__journal_keep_from_children(&state->journal, false);
    }
    *monitor = fresh;
    return ASSAY_OK;
}

assay_status assay_monitor_new(const assay_monitor_options *options, assay_monitor **monitor)
{
    return assay_monitor_open(options, NULL, monitor);
}

/* Give up the parent's journal in a forked child. Another fork may happen while a thread of the
 * child is in the middle of this. The kernel then wipes the head again in the grandchild, so the
 * grandchild starts from the beginning. `rebuilding` is still set there, and tells it not to use or
 * free what is half replaced. */
static void leave_parents_journal(assay__monitor_state *state)
{
    if (atomic_exchange(&state->rebuilding, true)) {
        state->owners = NULL;
        state->streams = NULL;
        state->meter = NULL;
        state->journal = (assay__journal){0};
        return;
    }
    assay__lanes_release(state, true);
    state->streams = NULL; /* the child cannot use the parent's device */
    state->meter = NULL;
    state->inherited_low = (uintptr_t)state->journal.header;
    state->inherited_high = state->inherited_low + state->journal.bytes;
    assay__journal_forget(&state->journal);
}

/* Move the drops from the head to the journal, if there is one. */
static void enter_drops(assay_monitor *monitor)
{
    assay__journal_header *header = assay__monitor_state_of(monitor)->journal.header;
    uint64_t drops = atomic_exchange(&((monitor_front *)(void *)monitor)->drops, 0);
    if (drops > 0 && header != NULL)
        __atomic_fetch_add(&header->dropped_spans, drops, __ATOMIC_RELAXED);
}

/* In a forked child that has no journal yet, the state still has the address of the parent's
 * journal, which the child must not touch. The drop then waits in the head. */
void assay__monitor_drop_span(assay_monitor *monitor)
{
    monitor_front *front = (monitor_front *)(void *)monitor;
    atomic_fetch_add(&front->drops, 1);
    if (__atomic_load_n(&front->head.id, __ATOMIC_ACQUIRE) != 0)
        enter_drops(monitor);
}

/* Make a journal for a forked child. The first thread of the child that comes here makes it; other
 * threads wait. The flag `rebuilding` of the head says that a thread is at work. The kernel wipes
 * the head at every fork. So a grandchild that is forked meanwhile finds the flag cleared and makes
 * its own journal, instead of waiting for a thread that it does not have. */
static uint64_t rebuild_after_fork(assay_monitor *monitor, assay__monitor_state *state)
{
    assay__monitor_head *head = (assay__monitor_head *)(void *)monitor;
    uint64_t nobody = 0;
    if (!__atomic_compare_exchange_n(&head->rebuilding, &nobody, 1, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        while (assay__monitor_id(monitor) == 0)
            usleep(10);
        return assay__monitor_id(monitor);
    }
    pthread_mutex_init(&state->lock, NULL); /* a thread of the parent may have held it */
    leave_parents_journal(state);
    uint64_t id = new_monitor_id();
    if (open_journal(state, id, true, NULL) != ASSAY_OK) {
        state->disabled = true;
        id = ASSAY__DISABLED_MONITOR;
    }
    atomic_store(&state->rebuilding, false);
    set_id(monitor, id);
    enter_drops(monitor);
    return id;
}

uint64_t assay__monitor_revive(assay_monitor *monitor)
{
    assay__monitor_state *state = assay__monitor_state_of(monitor);
    uint64_t id = assay__monitor_id(monitor);
    if (id == 0)
        id = rebuild_after_fork(monitor, state);
    return id == ASSAY__DISABLED_MONITOR ? ASSAY__NO_MONITOR : id;
}

const assay__journal_header *assay__monitor_journal(assay_monitor *monitor)
{
    if (monitor == NULL || assay__monitor_revive(monitor) == ASSAY__NO_MONITOR)
        return NULL;
    assay__monitor_state *state = assay__monitor_state_of(monitor);
    (void)assay__streams_resolve(state);
    pthread_mutex_lock(&state->lock);
    state->journal.header->latest = anchor_now(state->clock);
    pthread_mutex_unlock(&state->lock);
    return state->journal.header;
}

void assay_monitor_free(assay_monitor *monitor)
{
    if (monitor == NULL)
        return;
    assay__monitor_state *state = assay__monitor_state_of(monitor);
    bool inherited = assay__monitor_id(monitor) == 0; /* by a fork, and not used since then */
    if (!inherited) {
        assay__monitor_detach(state);
        (void)assay__streams_resolve(state);
        assay__streams_free(state);
    }
    if (state->journal.header != NULL) {
        assay__lanes_release(state, inherited);
        if (inherited) {
            assay__journal_forget(&state->journal);
        } else {
            state->journal.header->latest = anchor_now(state->clock);
            __atomic_store_n(&state->journal.header->state, ASSAY__JOURNAL_CLOSED,
                             __ATOMIC_RELEASE);
            assay__journal_release(&state->journal);
        }
    }
    destroy(monitor);
}

bool assay_monitor_enabled(const assay_monitor *monitor)
{
    return monitor != NULL && !assay__monitor_state_of(monitor)->disabled;
}

static void clear_lane(assay__monitor_state *state, assay__lane *lane)
{
    if (lane->pending.node != NULL)
        lane->pending.node->cleared = 1;
    __atomic_store_n(&lane->pending.node, NULL, __ATOMIC_RELEASE);
    for (uint32_t unit = lane->first_node; unit != 0;) {
        assay__node *node = assay__journal_at(&state->journal, unit);
        assay__node_clear(state, node);
        unit = node->next;
    }
    __atomic_store_n(&lane->event_head, 0, __ATOMIC_RELEASE);
    lane->dropped_spans = lane->mismatched_ends = lane->abandoned_spans = lane->backward_clock = 0;
}

void assay_monitor_clear(assay_monitor *monitor)
{
    if (monitor == NULL || assay__monitor_revive(monitor) == ASSAY__NO_MONITOR)
        return;
    assay__monitor_state *state = assay__monitor_state_of(monitor);
    assay__journal_header *header = state->journal.header;
    assay_meter *meter = state->meter; /* its thread adds counters and reads nodes: hold it */
    if (meter != NULL)
        assay__meter_hold(meter);
    pthread_mutex_lock(&state->lock);
    for (assay__lane_owner *owner = state->owners; owner != NULL; owner = owner->next_in_monitor)
        clear_lane(state, owner->lane);
    assay__journal_clear_metrics(&state->journal);
    header->dropped_names = header->dropped_lanes = header->dropped_spans = 0;
    header->dropped_metrics = header->mismatched_ends = header->displaced_spans = 0;
    pthread_mutex_unlock(&state->lock);
    if (meter != NULL)
        assay__meter_let_go(meter);
}
