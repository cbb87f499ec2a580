/* libassay_cupti.so records the GPU activity of a program that knows nothing of assay.
 *
 * The CUDA driver loads the library that CUDA_INJECTION64_PATH names, and calls
 * InitializeInjection() when the program first uses CUDA. We then subscribe to CUPTI and let it
 * record kernels, copies, sets and allocations. A thread of CUPTI delivers buffers of records to
 * us, and region.c enters the records into a file.
 *
 * Of the host we need to know only when it submitted work and whether it waited for the device.
 * CUPTI could record both, but that is expensive: records of synchronisation slow a launch-bound
 * PyTorch step down from 1.17 to 1.35 times the bare step, and records of all calls add a tenth of
 * the step. So we use callbacks on the few calls that matter. Their cost was too small to measure
 * (docs/gpu.md).
 *
 * CUPTI allows one subscriber in a process. If there is another one when we start, we do not
 * measure. Another one may come later; torch.profiler does so when it is first used. We notice it
 * because `assay run` also preloads this library, so that the other client's call of
 * cuptiSubscribe() or cuptiActivityRegisterCallbacks() comes to us first. We then stop, leave CUPTI
 * as we found it, and pass the call on. The figures until then are kept.
 *
 * With $ASSAY_GPU_RANGE, kernels, copies and sets are recorded only in the ranges that the program
 * marks with cudaProfilerStart() and cudaProfilerStop(), as other profilers do. Allocations are
 * always recorded: the memory in use follows from all of them, and there are few.
 *
 * The buffers belong to us. Their number is bounded, and they are used again. When CUPTI has all of
 * them, it drops records and counts them. We clear the buffers here, on CUPTI's thread, because
 * CUPTI itself would clear them on a thread of the program. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cupti/api.h"
#include "cupti/identity.h"
#include "cupti/region.h"
#include "cupti/submit.h"

#define EXPORT __attribute__((visibility("default")))

enum { BUFFERS = 64, BUFFER_BYTES = 512 << 10, FLUSH_PERIOD_MS = 500 };

/* Those before the last are recorded in ranges only, if the program marks ranges. */
static const int recorded_kinds[] = {ASSAY__CUPTI_KERNEL, ASSAY__CUPTI_MEMCPY,
                                     ASSAY__CUPTI_MEMCPY_PEER, ASSAY__CUPTI_MEMSET,
                                     ASSAY__CUPTI_MEMORY};
enum {
    RECORDED_KINDS = sizeof recorded_kinds / sizeof *recorded_kinds,
    RANGED_KINDS = RECORDED_KINDS - 1
};

static struct {
    assay__cupti api;
    assay__activity_region *region;
    void *subscriber;
    pid_t owner;              /* the process that is measured; a forked child does nothing */
    int64_t clock_offset_ns;  /* from CUPTI's clock to ours, if CUPTI cannot use ours */
    pthread_mutex_t entering; /* held while records are entered into the region */
    pthread_mutex_t changing; /* held while a range begins or ends, or measuring is stopped */
    bool in_range;            /* guarded by `changing` */
    atomic_bool running;
    uint8_t *buffers[BUFFERS];
    atomic_bool is_out[BUFFERS]; /* CUPTI has this buffer */
    assay__submits submits;
} self = {.entering = PTHREAD_MUTEX_INITIALIZER, .changing = PTHREAD_MUTEX_INITIALIZER};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* ---- errors ---- */

enum { ERROR_TEXT = 80 };

static const char *error_text(int error, char room[ERROR_TEXT])
{
    const char *text = NULL;
    if (self.api.error_text(error, &text) == ASSAY__CUPTI_OK && text != NULL)
        return text;
    snprintf(room, ERROR_TEXT, "error %d", error);
    return room;
}

/* Write into the file what could not be measured and why, unless a reason is there already. */
static void note_error(const char *what, int error)
{
    char room[ERROR_TEXT];
    if (error != ASSAY__CUPTI_OK && self.region->reason[0] == '\0')
        snprintf(self.region->reason, sizeof self.region->reason, "%s: %s", what,
                 error_text(error, room));
}

/* ---- buffers ---- */

static void buffer_requested(uint8_t **buffer, size_t *bytes, size_t *most_records)
{
    *buffer = NULL;
    *bytes = 0;
    *most_records = 0; /* no limit but the size of the buffer */
    for (int i = 0; i < BUFFERS; i++) {
        if (atomic_exchange(&self.is_out[i], true))
            continue;
        if (self.buffers[i] == NULL) {
            void *made = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
            self.buffers[i] = made != MAP_FAILED ? made : NULL;
        }
        if (self.buffers[i] != NULL) {
            *buffer = self.buffers[i];
            *bytes = BUFFER_BYTES;
            return;
        }
        atomic_store(&self.is_out[i], false);
        return;
    }
}

/* Clear a buffer and make it available again. CUPTI wrote nothing beyond the valid bytes. */
static void give_back(const uint8_t *buffer, size_t valid)
{
    for (int i = 0; i < BUFFERS; i++)
        if (self.buffers[i] == buffer) {
            memset(self.buffers[i], 0, valid < BUFFER_BYTES ? valid : BUFFER_BYTES);
            atomic_store(&self.is_out[i], false);
        }
}

static void buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                             size_t valid)
{
    void *record = NULL;
    size_t dropped = 0;
    (void)bytes;
    if (getpid() != self.owner)
        return;
    pthread_mutex_lock(&self.entering);
    int error = ASSAY__CUPTI_NO_MORE;
    while (valid > 0 && (error = self.api.next_record(buffer, valid, &record)) == ASSAY__CUPTI_OK)
        assay__region_enter(self.region, record, &self.submits, self.clock_offset_ns);
    if (error != ASSAY__CUPTI_NO_MORE)
        note_error("CUPTI cannot read its records", error);
    if (self.api.dropped(context, stream, &dropped) == ASSAY__CUPTI_OK)
        self.region->dropped_records += dropped;
    assay__identity_enter(self.region);
    pthread_mutex_unlock(&self.entering);
    give_back(buffer, valid);
}

/* ---- ranges ---- */

/* Enable the kinds from `first` to the one before `end`. Returns CUPTI's error for kernels; other
 * kinds that cannot be recorded are only noted. */
static int enable_kinds(int first, int end)
{
    int error = ASSAY__CUPTI_OK;
    for (int i = first; i < end && error == ASSAY__CUPTI_OK; i++) {
        int refused = self.api.enable(recorded_kinds[i]);
        if (recorded_kinds[i] == ASSAY__CUPTI_KERNEL)
            error = refused;
        else
            note_error("CUPTI cannot record all copies, sets and allocations", refused);
    }
    return error;
}

/* A call that this CUPTI does not know does no harm. */
static void enable_callback(uint32_t id, uint32_t enabled)
{
    (void)self.api.enable_callback(enabled, self.subscriber, ASSAY__CUPTI_DRIVER_CALLS, id);
}

/* Callbacks on the calls that submit work or wait. */
static void set_callbacks(uint32_t enabled)
{
    for (uint32_t i = 0; i < assay__driver_call_count; i++)
        enable_callback(assay__driver_calls[i].id, enabled);
}

static void begin_range(void)
{
    pthread_mutex_lock(&self.changing);
    if (atomic_load(&self.running) && !self.in_range) {
        assay__region_begin_range(self.region, now_ns());
        note_error("CUPTI cannot record kernels", enable_kinds(0, RANGED_KINDS));
        set_callbacks(1);
        self.in_range = true;
    }
    pthread_mutex_unlock(&self.changing);
}

static void end_range(void)
{
    pthread_mutex_lock(&self.changing);
    if (atomic_load(&self.running) && self.in_range) {
        set_callbacks(0);
        for (int i = 0; i < RANGED_KINDS; i++)
            note_error("CUPTI cannot stop recording", self.api.disable(recorded_kinds[i]));
    }
    self.in_range = false;
    pthread_mutex_unlock(&self.changing);
}

/* ---- calls of the driver ---- */

/* A range begins when cudaProfilerStart() returns, and ends when cudaProfilerStop() is called. In a
 * forked child, where CUDA cannot be used, another thread may have held the lock. */
static void range_called(uint32_t id, int site)
{
    if (getpid() != self.owner)
        return;
    if (id == ASSAY__CUPTI_PROFILER_START && site == ASSAY__CUPTI_EXIT)
        begin_range();
    if (id == ASSAY__CUPTI_PROFILER_STOP && site == ASSAY__CUPTI_ENTER)
        end_range();
}

static void driver_called(void *user, int domain, uint32_t id, const void *data)
{
    const assay__cupti_call *call = data;
    (void)user;
    if (domain != ASSAY__CUPTI_DRIVER_CALLS)
        return;
    if (id == ASSAY__CUPTI_PROFILER_START || id == ASSAY__CUPTI_PROFILER_STOP)
        range_called(id, call->site);
    assay__identity_ask();
    unsigned what = assay__driver_call_what(id);
    if (call->site == ASSAY__CUPTI_EXIT)
        assay__submit_end(&self.submits, (what & ASSAY__CALL_WAITS) != 0, now_ns());
    else if (what & ASSAY__CALL_SUBMITS)
        assay__submit_begin(&self.submits, call->correlation, now_ns());
}

/* ---- start and end ---- */

static void set_zeroed(uint8_t zeroed)
{
    size_t bytes = sizeof zeroed;
    if (self.api.set_attribute != NULL)
        (void)self.api.set_attribute(ASSAY__CUPTI_ZEROED_BUFFERS, &bytes, &zeroed);
}

/* Stop recording. CUPTI delivers all records first. */
static void stop(assay__activity_state state, const char *reason)
{
    pthread_mutex_lock(&self.changing);
    if (atomic_exchange(&self.running, false) && getpid() == self.owner) {
        int error = self.api.flush(ASSAY__CUPTI_FLUSH_FORCED);
        if (state == ASSAY__ACTIVITY_ASIDE) {
            for (int i = 0; i < RECORDED_KINDS; i++)
                (void)self.api.disable(recorded_kinds[i]);
            (void)self.api.flush(ASSAY__CUPTI_FLUSH_FORCED);
            (void)self.api.unsubscribe(self.subscriber);
            set_zeroed(0);
        }
        if (reason[0] != '\0')
            snprintf(self.region->reason, sizeof self.region->reason, "%s", reason);
        note_error("CUPTI did not deliver its last records", error);
        self.region->state = state;
    }
    pthread_mutex_unlock(&self.changing);
}

static void process_ends(void)
{
    stop(ASSAY__ACTIVITY_ENDED, "");
}

static void set_clock(void)
{
    if (self.api.register_clock != NULL && self.api.register_clock(now_ns) == ASSAY__CUPTI_OK)
        return;
    self.clock_offset_ns = (int64_t)(now_ns() - clock_ns(CLOCK_REALTIME)); /* CUPTI's own clock */
}

/* Subscribe to CUPTI and enable the records. If this fails, the call returns false and writes the
 * reason, and nothing stays enabled. */
static bool subscribe(char *reason, size_t bytes)
{
    char room[ERROR_TEXT];
    int error = self.api.subscribe(&self.subscriber, driver_called, NULL);
    if (error == ASSAY__CUPTI_OTHER_CLIENT) {
        snprintf(reason, bytes, "another tool uses CUPTI in this process, and only one can");
        return false;
    }
    if (error != ASSAY__CUPTI_OK) {
        snprintf(reason, bytes, "CUPTI refuses: %s%s", error_text(error, room),
                 error == ASSAY__CUPTI_NOT_ALLOWED
                     ? "; the driver permits it to administrators only "
                       "(NVreg_RestrictProfilingToAdminUsers)"
                     : "");
        return false;
    }
    set_clock();
    set_zeroed(1);
    error = self.api.register_buffers(buffer_requested, buffer_completed);
    if (error == ASSAY__CUPTI_OK)
        error = enable_kinds(self.region->ranged ? RANGED_KINDS : 0, RECORDED_KINDS);
    if (error != ASSAY__CUPTI_OK) {
        snprintf(reason, bytes, "CUPTI cannot record kernels: %s", error_text(error, room));
        set_zeroed(0);
        (void)self.api.unsubscribe(self.subscriber);
        return false;
    }
    if (self.region->ranged) {
        enable_callback(ASSAY__CUPTI_PROFILER_START, 1);
        enable_callback(ASSAY__CUPTI_PROFILER_STOP, 1);
    } else {
        set_callbacks(1);
    }
    if (self.api.flush_period != NULL)
        (void)self.api.flush_period(FLUSH_PERIOD_MS);
    return true;
}

static void begin(void)
{
    self.region = assay__region_map();
    if (self.region == NULL)
        return;
    assay__activity_region *region = self.region;
    const char *ranged = secure_getenv("ASSAY_GPU_RANGE");
    self.owner = getpid();
    region->ranged = ranged != NULL && *ranged != '\0';
    region->start_ns = now_ns();
    region->state = ASSAY__ACTIVITY_REFUSED;
    region->magic = ASSAY__ACTIVITY_MAGIC;
    if (!assay__cupti_open(&self.api, region->reason, sizeof region->reason))
        return;
    (void)self.api.version(&region->version);
    assay__identity_open();
    if (!subscribe(region->reason, sizeof region->reason))
        return;
    region->state = ASSAY__ACTIVITY_RUNNING;
    atomic_store(&self.running, true);
    atexit(process_ends);
}

EXPORT int InitializeInjection(void);
EXPORT int InitializeInjection(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin);
    return 1; /* for 0 the driver would print a message into the output of the program */
}

/* ---- calls of other clients, which come here because this library is preloaded ---- */

static const char other_client[] = "the program uses CUPTI itself (torch.profiler does)";

EXPORT int cuptiSubscribe(void **subscriber, assay__cupti_callback *callback, void *user);
EXPORT int cuptiSubscribe(void **subscriber, assay__cupti_callback *callback, void *user)
{
    int (*real)(void **, assay__cupti_callback *, void *) = NULL;
    void *found = assay__cupti_find("cuptiSubscribe");
    memcpy(&real, &found, sizeof found);
    stop(ASSAY__ACTIVITY_ASIDE, other_client);
    return real != NULL ? real(subscriber, callback, user) : ASSAY__CUPTI_OTHER_CLIENT;
}

EXPORT int cuptiSubscribe_v2(void **subscriber, assay__cupti_callback *callback, void *user,
                             void *parameters);
EXPORT int cuptiSubscribe_v2(void **subscriber, assay__cupti_callback *callback, void *user,
                             void *parameters)
{
    int (*real)(void **, assay__cupti_callback *, void *, void *) = NULL;
    void *found = assay__cupti_find("cuptiSubscribe_v2");
    memcpy(&real, &found, sizeof found);
    stop(ASSAY__ACTIVITY_ASIDE, other_client);
    return real != NULL ? real(subscriber, callback, user, parameters) : ASSAY__CUPTI_OTHER_CLIENT;
}

EXPORT int cuptiActivityRegisterCallbacks(assay__cupti_requested *requested,
                                          assay__cupti_completed *completed);
EXPORT int cuptiActivityRegisterCallbacks(assay__cupti_requested *requested,
                                          assay__cupti_completed *completed)
{
    int (*real)(assay__cupti_requested *, assay__cupti_completed *) = NULL;
    void *found = assay__cupti_find("cuptiActivityRegisterCallbacks");
    memcpy(&real, &found, sizeof found);
    stop(ASSAY__ACTIVITY_ASIDE, other_client);
    return real != NULL ? real(requested, completed) : ASSAY__CUPTI_OTHER_CLIENT;
}
