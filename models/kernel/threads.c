/* A pool of worker threads that wait for work. A worker first spins for some ten microseconds,
 * because the parts of one pass follow each other closely, and then sleeps.
 *
 * Each thread has a share of the parts, from its first part on. So a thread computes about the same
 * rows in each work of a pass, and finds what it has computed before in the cache of its own core.
 * On an Intel processor, a pass of the graph transformer takes 2 % less time on two threads than if
 * each takes whatever part comes next. A thread that has no parts left takes the last parts of the
 * others' shares. So a thread that is not scheduled delays nobody.
 *
 * In this file, a work is what one call of assay__parallel() has to compute. A worker joins a work
 * by adding itself to `active` and then checking that the work is still open. The caller closes the
 * work and waits until `active` is 0; after that no worker reads the work any more, and the caller
 * may return. */
#include "models/kernel/threads.h"

#include <cblas.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "assay/model.h"

enum { MAX_THREADS = ASSAY_MODELS_MAX_THREADS, SPINS = 2000 };

static struct {
    atomic_int threads; /* the number that was set; 0 if none was */
    atomic_flag busy;   /* set while a work is under way */
    pid_t process;      /* the process that started the workers */
    int workers;

    pthread_mutex_t lock;
    pthread_cond_t wake;
    atomic_int sleepers;
    atomic_uint works; /* how many works there were so far */

    atomic_bool open;
    atomic_int active; /* workers that have joined the work or are about to */
    int shares;        /* of the caller, and of each worker in the order of their numbers */
    struct {
        _Alignas(64) _Atomic uint64_t parts; /* the first part, and the end << 32 */
    } left[MAX_THREADS];                     /* of each share, on a cache line of its own */
    assay__part part;
    void *context;
} pool = {
    .busy = ATOMIC_FLAG_INIT, .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static _Thread_local bool inside; /* set inside a part, so that a part is not split again */

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static uint64_t share_of(uint32_t first, uint32_t end)
{
    return first | (uint64_t)end << 32;
}

/* Take the first or the last part of a share. Returns -1 if none is left. */
static int take_part(_Atomic uint64_t *share, bool last)
{
    uint64_t left = atomic_load(share);
    for (;;) {
        const uint32_t first = (uint32_t)left, end = (uint32_t)(left >> 32);
        if (first >= end)
            return -1;
        const uint64_t rest = last ? share_of(first, end - 1) : share_of(first + 1, end);
        if (atomic_compare_exchange_weak(share, &left, rest))
            return (int)(last ? end - 1 : first);
    }
}

/* Compute the parts of thread `number`, and then what the others have left. */
static void take_parts(int number)
{
    inside = true;
    for (int i = 0; i < pool.shares; i++) {
        const int share = (number + i) % pool.shares;
        for (int part; (part = take_part(&pool.left[share].parts, share != number)) >= 0;)
            pool.part(pool.context, part);
    }
    inside = false;
}

/* Waits until `works` differs from `seen`, the number of works that this worker knows of. Returns
 * the new number. */
static unsigned await_work(unsigned seen)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load(&pool.works) != seen)
            return atomic_load(&pool.works);
        pause_briefly();
    }
    pthread_mutex_lock(&pool.lock);
    atomic_fetch_add(&pool.sleepers, 1);
    while (atomic_load(&pool.works) == seen)
        pthread_cond_wait(&pool.wake, &pool.lock);
    atomic_fetch_sub(&pool.sleepers, 1);
    pthread_mutex_unlock(&pool.lock);
    return atomic_load(&pool.works);
}

/* `number` is the worker's number, as an address; the caller of a work has the number 0. */
static void *worker(void *number)
{
    for (unsigned seen = 0;;) {
        seen = await_work(seen);
        atomic_fetch_add(&pool.active, 1);
        if (atomic_load(&pool.open))
            take_parts((int)(intptr_t)number);
        atomic_fetch_sub(&pool.active, 1);
    }
    return NULL;
}

/* Starts workers until there are as many as wanted, or until the system refuses one. The workers
 * block all signals, so that the host program's threads receive them. */
static void start_workers(int wanted)
{
    if (pool.process != getpid()) { /* the first call, or a forked child, which has no workers */
        pool.process = getpid();
        pool.workers = 0;
        atomic_store(&pool.works, 0);
        atomic_store(&pool.sleepers, 0);
        atomic_store(&pool.active, 0);
        pthread_mutex_init(&pool.lock, NULL);
        pthread_cond_init(&pool.wake, NULL);
    }
    pthread_attr_t attributes;
    sigset_t all;
    sigfillset(&all);
    if (pool.workers >= wanted || pthread_attr_init(&attributes) != 0)
        return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setsigmask_np(&attributes, &all);
    pthread_t thread;
    while (pool.workers < wanted &&
           pthread_create(&thread, &attributes, worker, (void *)(intptr_t)(pool.workers + 1)) == 0)
        pool.workers++;
    pthread_attr_destroy(&attributes);
}

static void run(int parts, assay__part part, void *context)
{
    start_workers(assay__threads() - 1);
    pool.part = part;
    pool.context = context;
    pool.shares = pool.workers + 1 < assay__threads() ? pool.workers + 1 : assay__threads();
    for (int i = 0; i < pool.shares; i++)
        atomic_store(&pool.left[i].parts,
                     share_of((uint32_t)((int64_t)parts * i / pool.shares),
                              (uint32_t)((int64_t)parts * (i + 1) / pool.shares)));
    atomic_store(&pool.open, true);
    atomic_fetch_add(&pool.works, 1);
    if (atomic_load(&pool.sleepers) > 0) {
        pthread_mutex_lock(&pool.lock);
        pthread_cond_broadcast(&pool.wake);
        pthread_mutex_unlock(&pool.lock);
    }
    take_parts(0);
    atomic_store(&pool.open, false);
    for (int i = 0; atomic_load(&pool.active) > 0; i++)
        if (i < SPINS)
            pause_briefly();
        else
            sched_yield();
}

void assay__parallel(int parts, assay__part part, void *context)
{
    if (parts > 1 && !inside && !atomic_flag_test_and_set(&pool.busy)) {
        run(parts, part, context);
        atomic_flag_clear(&pool.busy);
        return;
    }
    const bool before = inside;
    inside = before || parts > 1;
    for (int i = 0; i < parts; i++)
        part(context, i);
    inside = before;
}

int assay__threads(void)
{
    int threads = atomic_load_explicit(&pool.threads, memory_order_relaxed);
    return threads > 0 ? threads : 1;
}

static int parts_up_to(int64_t most, int64_t count, int64_t least)
{
    const int64_t parts = count / least;
    return parts < 1 ? 1 : (int)(parts < most ? parts : most);
}

int assay__parts(int64_t count, int64_t least)
{
    return parts_up_to(inside ? 1 : assay__threads(), count, least);
}

int assay__fine_parts(int64_t count, int64_t least)
{
    enum { FINER = 4 };
    const int threads = inside ? 1 : assay__threads();
    return parts_up_to(threads == 1 ? 1 : FINER * threads, count, least);
}

int64_t assay__part_start(int64_t count, int64_t grain, int parts, int part)
{
    int64_t grains = (count + grain - 1) / grain, start = grains * part / parts * grain;
    return start < count ? start : count;
}

typedef struct ranges {
    int64_t count, grain;
    int parts;
    assay__range range;
    void *context;
} ranges;

static void range_part(void *context, int part)
{
    const ranges *r = context;
    const int64_t first = assay__part_start(r->count, r->grain, r->parts, part);
    const int64_t end = assay__part_start(r->count, r->grain, r->parts, part + 1);
    if (end > first)
        r->range(r->context, first, end - first);
}

void assay__parallel_ranges(int64_t count, int64_t grain, int64_t least, assay__range range,
                            void *context)
{
    ranges r = {count, grain, assay__fine_parts(count, least), range, context};
    assay__parallel(r.parts, range_part, &r);
}

static void one_thread_each(void)
{
    openblas_set_num_threads(1);
}

void assay__models_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, one_thread_each);
}

void assay_models_set_threads(int threads)
{
    assay__models_start();
    atomic_store(&pool.threads, threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : threads);
}
