/* The sampling thread. It wakes up at the times that schedule.c chooses and samples all threads of
 * the script.
 *
 * A sample that finds a thread running charges its present line with the time that the sample
 * stands for. The charges of a thread must add up to the processor time that it has used. So each
 * charge is multiplied by a factor close to 1, which slowly makes up for the difference. To charge
 * the difference itself would be wrong: the sampled line would pay for lines that ran before it,
 * and the ends of bursts would seem longer than their beginnings. The difference that a thread
 * leaves when it ends is forgotten. It says nothing, because the time after the last sample of the
 * thread is not known, and neither are threads that lived between two samples: they are charged, on
 * average, by those that a sample did find.
 *
 * The sampling thread often wakes up on the processor of the thread that runs, and interrupts it.
 * On a machine with one processor it always does. So a thread also counts as running if it is ready
 * to run and was last on our processor. Where other programs compete for this processor, it may
 * have waited there already. So the charges must not exceed what the thread and the process have
 * used.
 *
 * A sample of a waiting thread attributes the time that the thread has waited since it was last
 * found waiting. A thread that has used no processor time since the last sample has not moved, so
 * its frames are not read again.
 *
 * Where more threads are ready than there are processors, the sampling thread is often late: it
 * waits for a processor until the scheduler's next tick. Linux ticks on all processors at the same
 * time. So a late sample finds the processor of the script in its own tick. There the thread stands
 * still although its clock runs, and its present instruction looks like a call of native code. On a
 * virtual machine with an AMD EPYC this lasts for 15 µs; it depends on what the tick has to do. So
 * a late sample watches for native code only when the ticks are over. By then the thread may be
 * elsewhere. What the watch finds is therefore noted for the place where the thread is then. The
 * processor time is charged to the place where the sample found the thread. Nothing is wrong with
 * that place, because a tick may interrupt any instruction. */
#include "python/sampler/sampler.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "python/sampler/schedule.h"

enum { MAX_THREADS = 512, STACK_BYTES = 256 << 10 };
/* If more than this many strata of processor time are not charged, a sample of a thread that is
 * ready to run counts, wherever it was last. */
static const double patience = 3;
static const double least = 1.0 / 64; /* of a stratum; a thread that used less is not looked at */
static const double settling = 16;    /* strata over which an uncharged difference is made up for */
static const double long_ns = 10e6;   /* for these two constants a stratum is at least this long */
static const double watch_ns = 8e6;   /* mean time between samples that watch for native code */
/* A sample that took longer says nothing about native code: we had no processor meanwhile, and the
 * thread may have moved although it is in a long call most of the time. */
static const uint64_t paused_ns = 500000;
/* A sample that begins later than this after its time is late. An idle processor takes 15 to 60 µs
 * to wake up. */
static const uint64_t late_ns = 100000;
static const uint64_t tick_ns = 200000; /* after this time all processors have handled the tick */

/* A thread that was found in a sample. */
typedef struct seen {
    uint64_t id;               /* 0 for a free place */
    int64_t thread_id;         /* the kernel's */
    uint64_t sample;           /* the number of the last sample that found it */
    uint64_t used_ns, time_ns; /* processor time and wall time at the last sample */
    uint64_t waiting_ns;       /* waiting time that is not attributed yet */
    double owed_ns;            /* processor time used minus time charged; may be negative */
    uint32_t node, entry;
    uint32_t told; /* the node of its last event */
} seen;

typedef struct sampling {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    _Atomic int thread_id; /* the kernel's, of the sampling thread */
    bool running, stop, has_events;
    void *interpreter;
    schedule schedule;
    schedule_sample last;
    double weight_ns;           /* the time that the present sample stands for */
    double charged_ns, used_ns; /* by all threads, up to the last sample */
    int processor;              /* on which the present sample is taken */
    bool watches;               /* the present sample watches for native code */
    bool is_late;               /* the present sample began when its time was over */
    bool at_tick;               /* all processors may be handling a tick */
    size_t events_left;
    uint64_t sample, process_base_ns;
    seen threads[MAX_THREADS];
} sampling;

static sampling state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool read_clock(clockid_t clock, uint64_t *ns)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return false;
    *ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return true;
}

static uint64_t now_ns(void)
{
    uint64_t ns = 0;
    read_clock(CLOCK_MONOTONIC, &ns);
    return ns;
}

/* Write an event if the thread is at another node than in its last event. */
static void tell(sampling *s, seen *t, uint32_t node, uint64_t time_ns)
{
    assay__script_event event = {
        .entry.kind = ASSAY__SCRIPT_EVENT, .thread = t->entry, .node = node, .time_ns = time_ns};
    uint32_t reference;
    if (node == t->told || !s->has_events)
        return;
    if (s->events_left == 0 || region_append(&event, sizeof event, &reference) == NULL)
        region_header()->dropped_events++;
    else
        s->events_left--;
    t->told = node;
}

/* The entry of a thread in the table; a new thread gets a free one. NULL if there are too many, or
 * if the thread has not begun.
 *
 * Python 3.11 makes the state of a thread before it starts the thread. Until the thread runs, the
 * state has the id of the thread that made it. The processor time of that id is not the new
 * thread's, so an entry holds for one id only. */
static seen *find_thread(sampling *s, const frames_thread *thread)
{
    seen *vacant = NULL;
    bool is_taken = false; /* another thread, which is known, has this id */
    for (size_t i = 0; i < MAX_THREADS; i++) {
        seen *t = &s->threads[i];
        if (t->id == thread->id && t->thread_id == thread->thread_id)
            return t;
        is_taken |= t->id != 0 && t->id != thread->id && t->thread_id == thread->thread_id;
        if (t->id == thread->id || (vacant == NULL && t->id == 0))
            vacant = t;
    }
    /* In the first sample the thread that made the state may not be known yet. */
    if (vacant == NULL || (is_taken && s->sample > 1))
        return NULL;
    assay__script_thread entry = {.entry.kind = ASSAY__SCRIPT_THREAD,
                                  .thread_id = thread->thread_id};
    *vacant = (seen){.id = thread->id, .thread_id = thread->thread_id, .time_ns = now_ns()};
    pthread_mutex_lock(&sampler_lock);
    if (region_append(&entry, sizeof entry, &vacant->entry) == NULL)
        vacant->entry = 0;
    pthread_mutex_unlock(&sampler_lock);
    /* Processor time that a thread used before the sampling began does not count. */
    if (s->sample == 1)
        read_clock(thread_clock(thread->thread_id), &vacant->used_ns);
    return vacant;
}

/* Find out whether the thread is ready to run, and the processor on which it was last. Such a
 * thread may have been interrupted anywhere, or may have just been woken where it waited, so a
 * sample of it is less exact than that of a running one. */
static bool is_runnable(int64_t thread_id, int *processor)
{
    enum { STATE_FIELD = 3, PROCESSOR_FIELD = 39 }; /* proc(5) */
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/self/task/%lld/stat", (long long)thread_id);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, line, sizeof line - 1) : -1;
    if (file >= 0)
        close(file);
    if (length <= 0)
        return false;
    line[length] = '\0';
    const char *field = strrchr(line, ')');
    if (field == NULL || strncmp(field, ") R", 3) != 0)
        return false;
    for (int i = STATE_FIELD; field != NULL && i <= PROCESSOR_FIELD; i++)
        field = strchr(field + 1, ' ');
    *processor = field != NULL ? atoi(field) : -1;
    return true;
}

/* Whether a thread that is not running now ran until the sample. `owed_ns` includes what it has
 * used since the last sample. */
static bool was_running(const sampling *s, int64_t thread_id, double owed_ns, double stratum_ns)
{
    int processor;
    if (owed_ns < least * s->schedule.length_ns || !is_runnable(thread_id, &processor))
        return false;
    return (processor == s->processor && s->charged_ns < s->used_ns) ||
           owed_ns > patience * stratum_ns;
}

/* Charge the node of the sample with processor time or with waiting time. Time in which the thread
 * runs no Python is charged to no node. Returns the processor time that the sample stands for. */
static uint64_t attribute(sampling *s, seen *t, const stacks_sample *sample, bool running,
                          double weight_ns, double stratum_ns)
{
    assay__script_header *header = region_header();
    header->samples += running;
    header->torn_samples += running && sample->is_torn;
    assay__script_node *node = sample->node != 0 ? region_at(sample->node) : NULL;
    if (!running && node != NULL) {
        node->waiting_ns += t->waiting_ns;
        t->waiting_ns = 0;
    }
    if (!running)
        return 0;
    double factor = 1 + t->owed_ns / (settling * stratum_ns);
    double charge = weight_ns * (factor < 0.5 ? 0.5 : factor > 2 ? 2 : factor);
    uint64_t charge_ns = (uint64_t)charge;
    t->owed_ns -= (double)charge_ns;
    s->charged_ns += (double)charge_ns;
    if (node != NULL) {
        node->samples++;
        node->busy_ns += charge_ns;
        node->squares += charge * charge;
    }
    return charge_ns;
}

/* What a watch of a thread found. */
typedef struct watched {
    uint32_t node; /* at which the thread was watched */
    stacks_answer answer;
} watched;

/* Note what a watch found. It stands for this processor time. */
static void note(const watched *w, uint64_t charge_ns)
{
    assay__script_node *node = w->node != 0 ? region_at(w->node) : NULL;
    if (node == NULL || w->answer == STACKS_UNKNOWN)
        return;
    node->watched_ns += charge_ns;
    node->native_ns += w->answer == STACKS_NATIVE ? charge_ns : 0;
}

/* The time that the present sample stands for. If strata were missed, because the machine slept or
 * gave us no processor, a thread that used no processor time meanwhile is not charged for them. */
static double weight_of(const sampling *s, uint64_t busy_ns)
{
    double planned_ns = s->schedule.length_ns, most_ns = planned_ns + (double)busy_ns;
    return s->weight_ns < most_ns ? s->weight_ns : most_ns;
}

/* Wait until all processors have handled the tick. The sampling thread does not sleep, because it
 * would again get its processor at a tick. */
static void wait_for_ticks(sampling *s)
{
    uint64_t end_ns = now_ns() + tick_ns;
    while (now_ns() < end_ns)
        ;
    s->at_tick = false;
}

/* Find out whether the thread runs native code. `sample` is the present sample of the thread, which
 * began at `begin_ns`. */
static watched watch(sampling *s, const frames_thread *thread, const stacks_sample *sample,
                     uint64_t begin_ns)
{
    stacks_sample again;
    if (s->at_tick)
        wait_for_ticks(s);
    if (s->is_late) {
        begin_ns = now_ns();
        stacks_read(thread, thread->thread_id == getpid(), &again);
        sample = &again;
    }
    watched w = {.node = sample->node, .answer = stacks_is_native(thread, sample)};
    if (now_ns() - begin_ns > paused_ns)
        w.answer = STACKS_UNKNOWN;
    return w;
}

static void sample_thread(sampling *s, const frames_thread *thread)
{
    clockid_t clock = thread_clock(thread->thread_id);
    uint64_t used_ns, after_ns;
    seen *t = find_thread(s, thread);
    if (t == NULL || !read_clock(clock, &used_ns))
        return;
    uint64_t time_ns = now_ns(), busy_ns = used_ns - t->used_ns, wall_ns = time_ns - t->time_ns;
    stacks_sample sample = {.node = t->node};
    watched found = {.answer = STACKS_UNKNOWN};
    double length_ns = s->schedule.length_ns,
           stratum_ns = length_ns > long_ns ? length_ns : long_ns;
    bool running = false;
    if (busy_ns > 0 || t->sample == 0) {
        stacks_read(thread, thread->thread_id == getpid(), &sample);
        running = read_clock(clock, &after_ns) && after_ns > used_ns;
        if (running && s->watches)
            found = watch(s, thread, &sample, time_ns);
        else if (!running)
            running = was_running(s, thread->thread_id, t->owed_ns + (double)busy_ns, stratum_ns);
    }
    t->sample = s->sample;
    t->used_ns = used_ns;
    t->time_ns = time_ns;
    t->node = sample.node;
    t->owed_ns += (double)busy_ns;
    s->last.busy_ns += (double)busy_ns;
    s->last.is_idle &= busy_ns == 0;
    t->waiting_ns += wall_ns > busy_ns ? wall_ns - busy_ns : 0;
    pthread_mutex_lock(&sampler_lock);
    tell(s, t, sample.node, time_ns);
    uint64_t charge_ns = attribute(s, t, &sample, running, weight_of(s, busy_ns), stratum_ns);
    note(&found, charge_ns);
    pthread_mutex_unlock(&sampler_lock);
}

/* Sample all threads. The sample was due at `due_ns`, and stands for the time up to `end_ns`. */
static void sample_threads(sampling *s, uint64_t due_ns, uint64_t end_ns)
{
    frames_thread thread;
    size_t count = 0;
    s->sample++;
    s->last.is_idle = true;
    s->processor = sched_getcpu();
    s->at_tick = s->is_late = now_ns() > due_ns + late_ns;
    s->weight_ns = schedule_cover(&s->schedule, end_ns);
    s->watches = !frames_are_compiled(s->interpreter) &&
                 schedule_random(&s->schedule) * watch_ns < s->schedule.length_ns;
    const void *next = frames_first_thread(s->interpreter);
    for (; next != NULL && count < MAX_THREADS && frames_read_thread(next, &thread); count++) {
        if (thread.id != 0 && thread.thread_id != 0)
            sample_thread(s, &thread);
        next = thread.next;
    }
    pthread_mutex_lock(&sampler_lock);
    assay__script_header *header = region_header();
    header->process_samples = s->sample;
    header->end_ns = now_ns();
    uint64_t process_ns = 0;
    read_clock(CLOCK_PROCESS_CPUTIME_ID, &process_ns);
    header->process_ns = process_ns - s->process_base_ns;
    s->used_ns = (double)header->process_ns - (double)header->sampler_ns;
    for (size_t i = 0; i < MAX_THREADS; i++)
        if (s->threads[i].id != 0 && s->threads[i].sample != s->sample) {
            tell(s, &s->threads[i], 0, header->end_ns);
            s->threads[i].id = 0;
        }
    pthread_mutex_unlock(&sampler_lock);
}

/* Sleep until this time. Returns false if the sampling is to end before. The caller holds s->lock.
 */
static bool sleep_until(sampling *s, uint64_t due_ns)
{
    struct timespec due = {.tv_sec = (time_t)(due_ns / 1000000000u),
                           .tv_nsec = (long)(due_ns % 1000000000u)};
    while (!s->stop && pthread_cond_timedwait(&s->wake, &s->lock, &due) == 0)
        ;
    return !s->stop;
}

static void *run_sampling(void *context)
{
    sampling *s = context;
    uint64_t cost_ns = 0, before_ns = 0, due_ns = now_ns();
    s->thread_id = (int)syscall(SYS_gettid);
    prctl(PR_SET_TIMERSLACK, 1000uL, 0uL, 0uL, 0uL); /* 1 µs, for this thread alone */
    schedule_resume(&s->schedule, due_ns);
    sample_threads(s, due_ns, s->schedule.end_ns);
    pthread_mutex_lock(&s->lock);
    while (due_ns = schedule_next(&s->schedule, now_ns(), &s->last), sleep_until(s, due_ns)) {
        pthread_mutex_unlock(&s->lock);
        sample_threads(s, due_ns, s->schedule.end_ns);
        read_clock(CLOCK_THREAD_CPUTIME_ID, &cost_ns);
        region_header()->sampler_ns += cost_ns - before_ns;
        s->last.cost_ns = (double)(cost_ns - before_ns);
        before_ns = cost_ns;
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    due_ns = now_ns();
    sample_threads(s, due_ns, due_ns);
    return NULL;
}

static bool start_thread(sampling *s)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* threads of the script handle all signals */
    s->running = pthread_create(&s->thread, &attributes, run_sampling, s) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return s->running;
}

/* Whether the process may use more than one processor. True if that is not known. */
static bool has_processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) > 1;
}

bool sampling_start(void *interpreter, double rate_hz, size_t event_limit)
{
    sampling *s = &state;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&s->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    memset(s->threads, 0, sizeof s->threads);
    s->interpreter = interpreter;
    s->last = (schedule_sample){.is_idle = true};
    schedule_start(&s->schedule, rate_hz, has_processors(), now_ns());
    s->charged_ns = s->used_ns = 0;
    s->events_left = event_limit;
    s->has_events = event_limit > 0;
    s->sample = 0;
    s->stop = false;
    read_clock(CLOCK_PROCESS_CPUTIME_ID, &s->process_base_ns);
    return start_thread(s);
}

/* Wait until the kernel has removed the sampling thread, after it was joined. The thread can be
 * joined a little before that. Until then the kernel counts it as a thread of the process, and
 * Python 3.12 and later would warn that a process with threads forks. */
static void wait_until_gone(const sampling *s)
{
    enum { MOST_TRIES = 10000 };
    for (int i = 0; i < MOST_TRIES && syscall(SYS_tgkill, getpid(), s->thread_id, 0) == 0; i++)
        sched_yield();
}

void sampling_pause(void)
{
    sampling *s = &state;
    if (!s->running)
        return;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    wait_until_gone(s);
    s->running = false;
}

bool sampling_resume(void)
{
    state.stop = false;
    return state.running || start_thread(&state);
}
