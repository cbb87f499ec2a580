/* Spans on the streams of a device. A span that is under way on the device is called a flight. A
 * flight has two events of the driver and the node of the stream's lane that will get its time. The
 * flights of a stream complete in the order of their ends. So each stream has a queue, and only the
 * event of its head has to be queried.
 *
 * A trace also needs the time at which a flight started. The device gives the time between `origin`
 * and that start; the origin is the start of an earlier flight on the same stream. The time of the
 * origin on our own clock is estimated. No flight can start before the call that launched it, so
 * each flight gives a time that the origin cannot be earlier than. The latest of these times is
 * used. It is exact to some microseconds once a flight has found its stream idle. The driver gives
 * times in single precision, which is enough for some seconds. After that, a later flight becomes
 * the origin. The clocks of device and processor drift apart meanwhile. If the flights since the
 * old origin alone give an earlier time, and drift can explain the difference, that time is used
 * for the new one. If drift cannot explain it, no flight found the stream idle. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "assay/gpu.h"
#include "instrument/cuda.h"
#include "monitor/state.h"

enum {
    MOST_FLIGHTS = 4096, /* of a stream, under way at once */
    /* A stream makes this many flights before the begin of a span first asks the driver which have
     * completed. After that it asks whenever no flight is free. Within a training step each call of
     * the driver finds the caches cold, so that asking at every span would cost more than recording
     * the span. */
    FEWEST_FLIGHTS = 32,
    MOST_STREAMS = 256,
    REFUSALS = 64 /* of this many further streams, one has all streams asked first */
};

/* An origin is used for 8 s. Up to there, a float in milliseconds resolves half a microsecond. */
static const double ORIGIN_MS = 8000;

/* The most by which the clocks of device and processor drift apart, as a share of the time. Quartz
 * crystals of computers differ by less. */
static const double MOST_DRIFT = 1e-4;

typedef struct assay__flight {
    struct assay__flight *next; /* in its stream's queue, or in the list of free flights */
    struct assay__flight *made; /* the flight that its stream made before this one */
    struct stream *stream;
    uint64_t monitor_id; /* of the monitor in the process that began it */
    void *start, *end;   /* events; NULL until needed */
    assay__node *node;
    uint64_t begun;     /* ticks on the thread */
    bool is_open;       /* its span has begun and not ended */
    uint64_t opened_by; /* `start` of that span */
} flight;

typedef struct stream {
    void *handle, *context;
    assay__lane_owner *owner;
    flight *first, *last; /* in order of their ends */
    flight *free;
    flight *all;          /* linked by `made` */
    size_t flights, open; /* made; begun but not ended */
    uint64_t used;        /* a later use has a larger number */
    void *origin;         /* an event that belongs to the stream, or NULL */
    double origin_ticks;  /* the estimated time of the origin on our clock */
    double own_ticks;     /* the same from the flights since the origin alone */
    double sure_ticks;    /* when a flight last gave that estimate */
} stream;

struct assay__streams {
    pthread_mutex_t lock;
    stream *list[MOST_STREAMS];
    size_t count;
    uint64_t uses, refusals; /* refusals since a stream was last taken over */
};

/* ---- The driver ------------------------------------------------------------------------------ */

/* Make `context` the current one, if it is not. False if it does not exist any more. */
static bool enter_context(const assay__cuda *cuda, void *context, bool *pushed)
{
    void *now = NULL;
    *pushed = false;
    if (cuda->context_now(&now) == ASSAY__CUDA_OK && now == context)
        return true;
    *pushed = cuda->context_push(context) == ASSAY__CUDA_OK;
    return *pushed;
}

static void leave_context(const assay__cuda *cuda, bool pushed)
{
    void *popped;
    if (pushed)
        (void)cuda->context_pop(&popped);
}

static void *context_of(const assay__cuda *cuda, void *handle)
{
    void *context = NULL;
    int status =
        handle == NULL ? cuda->context_now(&context) : cuda->stream_context(handle, &context);
    return status == ASSAY__CUDA_OK ? context : NULL;
}

/* Whether the stream is being captured into a graph. Our events must not become nodes of a graph
 * that is replayed later. */
static bool is_capturing(const assay__cuda *cuda, void *handle)
{
    int how = 0;
    return cuda->stream_capturing(handle, &how) != ASSAY__CUDA_OK || how != 0;
}

/* While any thread captures a stream in CUDA's usual mode, a call that asks for an event fails on
 * every thread, and the capture is lost. It does not if the mode of the calling thread is relaxed.
 * Returns the mode of the thread, for restore_mode(); negative if there is none. */
static int relax_mode(const assay__cuda *cuda)
{
    int mode = ASSAY__CUDA_RELAXED;
    const bool changed = cuda->capture_mode != NULL && cuda->capture_mode(&mode) == ASSAY__CUDA_OK;
    return changed ? mode : -1;
}

static void restore_mode(const assay__cuda *cuda, int mode)
{
    if (mode >= 0)
        (void)cuda->capture_mode(&mode);
}

/* ---- Flights --------------------------------------------------------------------------------- */

static void count_dropped(assay__monitor_state *state, stream *of, const assay__node *node)
{
    uint64_t *dropped = &of->owner->lane->dropped_spans;
    assay__journal_device *figures = node != NULL ? assay__node_device(state, node) : NULL;
    __atomic_store_n(dropped, *dropped + 1, __ATOMIC_RELAXED);
    if (figures != NULL)
        assay__publish_add(&figures->declined, 1);
}

static void give_back(flight *done)
{
    done->next = done->stream->free;
    done->stream->free = done;
}

static flight *take_flight(const assay__cuda *cuda, stream *of)
{
    flight *taken = of->free;
    if (taken != NULL) {
        of->free = taken->next;
    } else {
        if (of->flights == MOST_FLIGHTS || (taken = calloc(1, sizeof *taken)) == NULL)
            return NULL;
        taken->stream = of;
        taken->made = of->all;
        of->all = taken;
        of->flights++;
    }
    taken->next = NULL;
    if ((taken->start == NULL &&
         cuda->event_new(&taken->start, ASSAY__CUDA_EVENT_DEFAULT) != ASSAY__CUDA_OK) ||
        (taken->end == NULL &&
         cuda->event_new(&taken->end, ASSAY__CUDA_EVENT_DEFAULT) != ASSAY__CUDA_OK)) {
        give_back(taken);
        return NULL;
    }
    return taken;
}

/* Make the start event of this flight the origin. The flight gets the event of the old origin. */
static void become_origin(flight *done, double ticks, double own_ticks)
{
    stream *of = done->stream;
    void *old = of->origin;
    of->origin = done->start;
    of->origin_ticks = ticks;
    of->own_ticks = own_ticks;
    done->start = old;
}

/* The time at which the flight started, in ticks. */
static double place_in_time(const assay__cuda *cuda, const assay_clock *clock, flight *done)
{
    stream *of = done->stream;
    float since = 0;
    const double begun = (double)done->begun;
    if (of->origin == NULL ||
        cuda->event_elapsed(&since, of->origin, done->start) != ASSAY__CUDA_OK) {
        of->sure_ticks = begun;
        become_origin(done, begun, begun);
        return begun;
    }
    const double offset = assay__clock_ticks_of_ns(clock, (double)since * 1e6);
    of->own_ticks = fmax(of->own_ticks, begun - offset);
    const double drift = MOST_DRIFT * fmax(begun - of->sure_ticks, 0);
    if (of->own_ticks > of->origin_ticks ||
        (since >= ORIGIN_MS && of->own_ticks >= of->origin_ticks - drift)) {
        of->origin_ticks = of->own_ticks;
        of->sure_ticks = begun;
    }
    const double start = of->origin_ticks + offset;
    if (since >= ORIGIN_MS)
        become_origin(done, start, begun);
    return start;
}

/* Enter the time of a flight whose end has completed. */
static void enter_flight(const assay__cuda *cuda, assay__monitor_state *state, flight *done)
{
    float lasted = 0;
    stream *of = done->stream;
    if (cuda->event_elapsed(&lasted, done->start, done->end) != ASSAY__CUDA_OK ||
        !(lasted >= 0.0f)) {
        count_dropped(state, of, done->node);
        return;
    }
    double ticks = assay__clock_ticks_of_ns(state->clock, (double)lasted * 1e6);
    double start = place_in_time(cuda, state->clock, done);
    assay__node_record(state, done->node, (uint64_t)(ticks + 0.5));
    assay__lane_add_event(of->owner->lane, done->node, (uint64_t)start,
                          (uint64_t)(start + ticks + 0.5));
}

/* Enter the flights of a stream that have completed. If the driver fails (a lost device, a
 * destroyed context, the end of the process), nothing completes any more, and the flights are
 * dropped. */
static void resolve_stream(const assay__cuda *cuda, assay__monitor_state *state, stream *of)
{
    bool pushed = false;
    if (of->first == NULL)
        return;
    bool usable = enter_context(cuda, of->context, &pushed);
    const int mode = relax_mode(cuda);
    while (of->first != NULL) {
        flight *head = of->first;
        int answer = usable ? cuda->event_query(head->end) : -1;
        if (answer == ASSAY__CUDA_NOT_READY)
            break;
        if (answer == ASSAY__CUDA_OK)
            enter_flight(cuda, state, head);
        else
            count_dropped(state, of, head->node);
        of->first = head->next;
        if (of->first == NULL)
            of->last = NULL;
        give_back(head);
    }
    restore_mode(cuda, mode);
    leave_context(cuda, pushed);
}

static size_t resolve_all(const assay__cuda *cuda, assay__monitor_state *state)
{
    struct assay__streams *streams = state->streams;
    size_t under_way = 0;
    for (size_t i = 0; i < streams->count; i++) {
        stream *of = streams->list[i];
        resolve_stream(cuda, state, of);
        for (const flight *waiting = of->first; waiting != NULL; waiting = waiting->next)
            under_way++;
    }
    return under_way;
}

/* ---- Streams --------------------------------------------------------------------------------- */

static void name_stream(const assay__cuda *cuda, void *handle, size_t number, char *name,
                        size_t room)
{
    int device = 0;
    if (cuda->context_device(&device) != ASSAY__CUDA_OK)
        device = 0;
    if (handle == NULL)
        snprintf(name, room, "cuda:%d default stream", device);
    else
        snprintf(name, room, "cuda:%d stream %zu", device, number);
}

/* A stream of this context on which nothing is under way, and which was not used for longest. NULL
 * if there is none. Default streams keep their lanes. */
static stream *idle_stream(const struct assay__streams *streams, const void *context)
{
    stream *found = NULL;
    for (size_t i = 0; i < streams->count; i++) {
        stream *of = streams->list[i];
        if (of->handle != NULL && of->context == context && of->first == NULL && of->open == 0 &&
            (found == NULL || of->used < found->used))
            found = of;
    }
    return found;
}

/* Give the lane and the flights of an idle stream to another one. Programs that make a stream for
 * each task soon have made more streams than there is room for. NULL if no stream is idle. */
static stream *take_over(const assay__cuda *cuda, assay__monitor_state *state, void *handle,
                         const void *context)
{
    struct assay__streams *streams = state->streams;
    stream *idle = idle_stream(streams, context);
    if (idle == NULL && streams->refusals++ % REFUSALS == 0) {
        (void)resolve_all(cuda, state);
        idle = idle_stream(streams, context);
    }
    if (idle == NULL)
        return NULL;
    streams->refusals = 0;
    idle->handle = handle;
    return idle;
}

static stream *make_stream(const assay__cuda *cuda, assay_monitor *monitor, void *handle,
                           void *context)
{
    struct assay__streams *streams = assay__monitor_state_of(monitor)->streams;
    stream *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL)
        return NULL;
    char name[32];
    name_stream(cuda, handle, streams->count + 1, name, sizeof name);
    *fresh = (stream){.handle = handle, .context = context};
    fresh->owner = assay__lane_for_stream(monitor, name);
    if (fresh->owner == NULL) {
        free(fresh);
        return NULL;
    }
    return streams->list[streams->count++] = fresh;
}

/* Find or make a stream. NULL if there is no room for another one. The caller has entered its
 * context. */
static stream *find_stream(const assay__cuda *cuda, assay_monitor *monitor, void *handle,
                           void *context)
{
    assay__monitor_state *state = assay__monitor_state_of(monitor);
    struct assay__streams *streams = state->streams;
    stream *found = NULL;
    for (size_t i = 0; i < streams->count && found == NULL; i++)
        if (streams->list[i]->handle == handle && streams->list[i]->context == context)
            found = streams->list[i];
    if (found == NULL && streams->count < MOST_STREAMS)
        found = make_stream(cuda, monitor, handle, context);
    if (found == NULL)
        found = take_over(cuda, state, handle, context);
    if (found != NULL)
        found->used = ++streams->uses;
    return found;
}

static bool make_streams(assay__monitor_state *state)
{
    pthread_mutex_lock(&state->lock);
    if (state->streams == NULL) {
        struct assay__streams *fresh = calloc(1, sizeof *fresh);
        if (fresh != NULL)
            pthread_mutex_init(&fresh->lock, NULL);
        state->streams = fresh;
    }
    pthread_mutex_unlock(&state->lock);
    return state->streams != NULL;
}

static void free_flights(const assay__cuda *cuda, flight *list)
{
    for (flight *next; list != NULL; list = next) {
        next = list->made;
        if (cuda != NULL && list->start != NULL)
            (void)cuda->event_free(list->start);
        if (cuda != NULL && list->end != NULL)
            (void)cuda->event_free(list->end);
        free(list);
    }
}

void assay__streams_free(assay__monitor_state *state)
{
    struct assay__streams *streams = state->streams;
    const assay__cuda *cuda = assay__cuda_driver();
    for (size_t i = 0; streams != NULL && i < streams->count; i++) {
        stream *of = streams->list[i];
        bool pushed = false;
        const assay__cuda *usable =
            cuda != NULL && enter_context(cuda, of->context, &pushed) ? cuda : NULL;
        free_flights(usable, of->all); /* also those of spans that are still open */
        if (usable != NULL && of->origin != NULL)
            (void)cuda->event_free(of->origin);
        if (usable != NULL)
            leave_context(cuda, pushed);
        free(of);
    }
    free(streams);
    state->streams = NULL;
}

/* ---- The public calls ------------------------------------------------------------------------ */

/* Note that this operation has no time on a device: there is no driver, the driver lacks an entry
 * point, the handle is not that of a stream, or there is no room for its stream. The record then
 * says that this time is unsupported. */
static void decline(assay__monitor_state *state, const assay__lane *lane)
{
    assay__journal_device *figures = assay__node_device(state, lane->top->node);
    if (figures != NULL)
        assay__publish_add(&figures->declined, 1);
}

/* Start a flight at the place of the call tree where this thread is now. NULL if it is dropped. */
static flight *start_flight(const assay__cuda *cuda, assay_monitor *monitor, void *handle,
                            void *context, const assay__lane_owner *thread)
{
    assay__monitor_state *state = assay__monitor_state_of(monitor);
    stream *on = find_stream(cuda, monitor, handle, context);
    if (on == NULL) {
        uint64_t *dropped = &thread->lane->dropped_spans;
        __atomic_store_n(dropped, *dropped + 1, __ATOMIC_RELAXED);
        decline(state, thread->lane);
        return NULL;
    }
    if (on->free == NULL && on->flights >= FEWEST_FLIGHTS)
        resolve_stream(cuda, state, on);
    assay__node *node = assay__node_at_path(on->owner, thread->lane);
    flight *fresh = node != NULL && !is_capturing(cuda, handle) ? take_flight(cuda, on) : NULL;
    if (fresh != NULL) {
        fresh->node = node;
        fresh->monitor_id = assay__monitor_id(monitor);
        fresh->begun = assay__clock_ticks(state->clock);
        if (cuda->event_record(fresh->start, handle) == ASSAY__CUDA_OK) {
            on->open++;
            return fresh;
        }
        give_back(fresh);
    }
    count_dropped(state, on, node);
    return NULL;
}

/* Start the flight of the span that is open on this thread. NULL if nothing is recorded on the
 * device. */
static flight *enter_stream(assay_monitor *monitor, void *handle)
{
    flight *fresh = NULL;
    const assay__cuda *cuda = assay__cuda_driver();
    void *context = cuda != NULL ? context_of(cuda, handle) : NULL;
    if (!assay__slow_enter())
        return NULL;
    assay__lane_owner *own =
        assay__lane_in_use(assay__lane_if_attached(assay__monitor_id(monitor)));
    assay__monitor_state *state = assay__monitor_state_of(monitor);
    bool pushed = false, open = own != NULL && own->lane->top > own->lane->frames;
    if (open && context == NULL)
        decline(state, own->lane);
    else if (open && make_streams(state)) {
        pthread_mutex_lock(&state->streams->lock);
        if (handle == NULL ||
            enter_context(cuda, context, &pushed)) /* NULL: it is the current one */
            fresh = start_flight(cuda, monitor, handle, context, own);
        else
            decline(state, own->lane);
        leave_context(cuda, pushed);
        pthread_mutex_unlock(&state->streams->lock);
    }
    assay__slow_leave(own);
    return fresh;
}

/* Begin the device's part of a span. Its `start` tells the span from a later one that gets the same
 * flight. A span without a part on the thread has none, and gets the flight's. */
static void enter_span(assay_gpu_span *span, assay_monitor *monitor, void *handle)
{
    flight *fresh = span->flight = enter_stream(monitor, handle);
    if (fresh == NULL)
        return;
    if (span->host.frame == NULL)
        span->host.start = fresh->begun;
    fresh->opened_by = span->host.start;
    fresh->is_open = true;
}

assay_gpu_span assay_gpu_stream_begin(assay_monitor *monitor, const char *name, void *handle)
{
    assay_gpu_span span = {.host = assay_monitor_begin(monitor, name)};
    if (span.host.frame != NULL)
        enter_span(&span, monitor, handle);
    return span;
}

assay_gpu_span assay_gpu_stream_enter(assay_monitor *monitor, void *handle)
{
    assay_gpu_span span = {.host = {.monitor = monitor}};
    if (monitor != NULL && assay_monitor_enabled(monitor))
        enter_span(&span, monitor, handle);
    return span;
}

static void end_flight(const assay__cuda *cuda, assay__monitor_state *state, flight *ended)
{
    stream *on = ended->stream;
    bool pushed = false;
    ended->is_open = false;
    on->open--;
    bool recorded = enter_context(cuda, on->context, &pushed) && !is_capturing(cuda, on->handle) &&
                    cuda->event_record(ended->end, on->handle) == ASSAY__CUDA_OK;
    leave_context(cuda, pushed);
    if (!recorded) {
        count_dropped(state, on, ended->node);
        give_back(ended);
        return;
    }
    ended->next = NULL;
    if (on->last != NULL)
        on->last->next = ended;
    else
        on->first = ended;
    on->last = ended;
}

void assay_gpu_stream_end(assay_gpu_span span)
{
    assay_monitor *monitor = span.host.monitor;
    const assay__cuda *cuda = assay__cuda_driver();
    bool ours = span.flight != NULL && cuda != NULL &&
                span.flight->monitor_id == assay__monitor_id(monitor); /* not so after a fork */
    if (ours && assay__slow_enter()) {
        assay__monitor_state *state = assay__monitor_state_of(monitor);
        pthread_mutex_lock(&state->streams->lock);
        if (span.flight->is_open && span.flight->opened_by == span.host.start)
            end_flight(cuda, state, span.flight); /* else it has ended already */
        pthread_mutex_unlock(&state->streams->lock);
        assay__slow_leave(assay__lane_in_use(assay__lane_if_attached(assay__monitor_id(monitor))));
    }
    assay_span_end(span.host);
}

size_t assay__streams_resolve(assay__monitor_state *state)
{
    const assay__cuda *cuda = state->streams != NULL ? assay__cuda_driver() : NULL;
    if (cuda == NULL)
        return 0;
    pthread_mutex_lock(&state->streams->lock);
    size_t under_way = resolve_all(cuda, state);
    pthread_mutex_unlock(&state->streams->lock);
    return under_way;
}

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

size_t assay_gpu_resolve(assay_monitor *monitor, double seconds)
{
    if (monitor == NULL || assay__monitor_revive(monitor) == ASSAY__NO_MONITOR)
        return 0;
    assay__monitor_state *state = assay__monitor_state_of(monitor);
    const double until = now_seconds() + seconds;
    size_t under_way = assay__streams_resolve(state);
    for (long pause_ns = 20000; under_way > 0 && now_seconds() < until;) {
        nanosleep(&(struct timespec){.tv_nsec = pause_ns}, NULL);
        pause_ns = pause_ns < 1000000 ? 2 * pause_ns : pause_ns;
        under_way = assay__streams_resolve(state);
    }
    return under_way;
}
