/* Spans: the hot path of assay.
 *
 *     ASSAY_TRACK(monitor, "forward") { ... }    a block; return and goto out of it are safe,
 *                                                break and continue leave the block
 *     ASSAY_SCOPE(monitor, "load");              to the end of the enclosing scope
 *     ASSAY_METRIC(monitor, "setup") { ... }     a block recorded on its own, with its memory
 *
 *     assay_span span = assay_monitor_begin(monitor, name);    a name made at run time
 *     assay_span_end(span);
 *
 * Cost: a span costs two counter readings and some seventy plain instructions. It takes no lock,
 * allocates nothing, makes no system call and writes no shared cache line. (bench/span_cost.c
 * checks that it costs at most 1.2 times the counter readings alone.) The first span of an
 * operation on a thread takes a slow path that makes room for the operation. So does a span about
 * every 10 ms, whose resident memory is read (assay_monitor_memory in monitor.h).
 *
 * With a NULL monitor all of these do nothing. A span must end on the thread that began it. An end
 * that does not match a begin is counted in the record's integrity section and changes nothing
 * else. A block that is left by longjmp is counted as abandoned when the next block begins whose
 * operation is new at this place of the call tree. Until then, other blocks are recorded below it.
 *
 * Spans may be in signal handlers. A span of a handler that interrupts the begin or the end of
 * another span is refused and counted as dropped. Such a handler must return: if it leaves by
 * longjmp, later spans of the thread are dropped as well, and counted. Only the first span of an
 * operation on a thread must not be in a handler, because it allocates memory.
 */
#ifndef ASSAY_SPAN_H
#define ASSAY_SPAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "assay/layout.h"
#include "assay/status.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY__LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define ASSAY__UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* Forces inlining. Without it the compiler would not inline the end of a span, because it is long.
 * A call would move the span from registers into memory. */
#define ASSAY__HOT                 static inline __attribute__((always_inline))

/* Call directly through the global offset table, and not through a stub. */
#if __has_attribute(noplt)
#define ASSAY__DIRECT_CALL __attribute__((noplt))
#else
#define ASSAY__DIRECT_CALL
#endif

struct assay_monitor;

/* A call site: a position in the code of a program where spans begin. Its id is unique in the
 * process and never reused. */
typedef struct assay_site {
    const char *name;
    uint32_t id; /* 0 until first used */
    uint32_t flags;
} assay_site;

enum { ASSAY_SITE_METRIC = 1 };

/* An open span. Treat as opaque. */
typedef struct assay_span {
    assay__frame *frame; /* NULL: nothing is recorded */
    struct assay_monitor *monitor;
    uint64_t start; /* ticks; distinguishes this span from a later one in the same frame */
} assay_span;

/* The lane that this thread wrote last. Monitors are identified by an id that is never reused. So
 * an old entry of a freed monitor can never match, and its lane is never used. */
typedef struct assay__thread_state {
    uint64_t monitor_id; /* ASSAY__NO_MONITOR: none, or a monitor whose spans take the slow path */
    assay__lane *lane;
    struct assay__thread_lanes *lanes; /* private */
} assay__thread_state;

/* Ids that no enabled monitor has. No monitor is given the id 0 either: a monitor has it in a
 * forked child until the child has a journal of its own. */
#define ASSAY__NO_MONITOR       UINT64_MAX
#define ASSAY__DISABLED_MONITOR (UINT64_MAX - 1)
#define ASSAY__BUSY_THREAD      (UINT64_MAX - 2) /* of a thread that is in a slow path */

extern ASSAY_API __thread assay__thread_state assay__thread
    __attribute__((tls_model("initial-exec")));

/* The part of a monitor that inlined code reads. In a forked child the kernel sets it to 0. So the
 * next span takes the slow path, which gives the child a journal of its own. */
typedef struct assay__monitor_head {
    uint64_t id;
    uint64_t rebuilding; /* a thread of the child is making its journal */
} assay__monitor_head;

/* The slow paths. Their arguments and results are single words, so that a span stays in
 * registers. */
ASSAY_API assay__frame *assay__span_begin_slow(struct assay_monitor *monitor, assay_site *site,
                                               uintptr_t stack);
ASSAY_API uint64_t assay__span_end_slow(struct assay_monitor *monitor, assay__frame *frame,
                                        uint64_t start, uint64_t now);
/* Takes a closed lane, and the slot's node and duration; opens the lane. */
ASSAY__DIRECT_CALL ASSAY_API void assay__span_end_extras(assay__lane *lane, assay__frame *frame,
                                                         uint64_t now, assay__node *last,
                                                         uint64_t last_duration);

/* Begin an aggregated span with a name that was made at run time. The monitor copies the name once.
 * This call costs more than a block with a literal name, because it hashes the text. When the
 * journal has no room for another operation, the spans of new operations are gathered in an
 * operation "(other)" below the same parent; those of known operations are recorded as before. */
ASSAY_API assay_span assay_monitor_begin(struct assay_monitor *monitor, const char *name);

/* Begin a span that is recorded individually, with its memory. A journal has room for 4096 of them.
 * Further ones are counted in their operation, and in the record's integrity section. */
ASSAY_API assay_span assay_monitor_begin_metric(struct assay_monitor *monitor, const char *name);

/* End a span and return its duration in nanoseconds; 0 for a span that was not recorded. */
ASSAY_API uint64_t assay_span_end_ns(assay_span span);

/* Record a duration that was measured elsewhere or that completed late, as a child of this thread's
 * innermost open span. */
ASSAY_API void assay_monitor_add(struct assay_monitor *monitor, const char *name,
                                 uint64_t duration_ns);

/* Record the current value of a counter, which is followed over time: a loss, a queue length.
 * Values that are not finite are ignored. */
ASSAY_API void assay_monitor_count(struct assay_monitor *monitor, const char *name, double value);

/* The lowest bits of a frame's address mark a span whose end takes the slow path. Either the span
 * is recorded individually, or its begin read resident memory, so that its end must read it, too.
 * Frames are aligned to 8 bytes, so these bits are free, and a marked address never equals the
 * lane's top. */
#define ASSAY__METRIC_BIT ((uintptr_t)1)
#define ASSAY__MEMORY_BIT ((uintptr_t)2)

/* A span that is not a block has no stack address. A span of a binding (binding.h) has no frame
 * address to mark either. So its frame stores this value as its stack if its begin read resident
 * memory. */
#define ASSAY__READ_STACK ((uintptr_t)1)

static inline assay__frame *assay__frame_of(assay__frame *marked)
{
    return (assay__frame *)((uintptr_t)marked & ~(ASSAY__METRIC_BIT | ASSAY__MEMORY_BIT));
}

static inline uint64_t assay__ticks(void)
{
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return 0; /* every monitor takes the slow path here: assay__clock_is_hardware() is false */
#endif
}

/* Add to a field that only this thread writes and other threads may read at any time. This is one
 * instruction if the processor has one, so that no interruption can leave it half done. */
static inline void assay__publish_add(uint64_t *field, uint64_t value)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    __asm__ volatile("addq %1, %0" : "+m"(*field) : "er"(value) : "cc");
#else
    __atomic_store_n(field, *field + value, __ATOMIC_RELEASE);
#endif
}

/* The address of the calling function's stack frame. It distinguishes blocks that were left by
 * longjmp from open ones. It takes one instruction, because it is the stack pointer plus a
 * constant. */
ASSAY__HOT uintptr_t assay__stack(void)
{
    return (uintptr_t)__builtin_dwarf_cfa();
}

/* Makes the compiler load a value here and not later. */
#define ASSAY__LOADED(value) __asm__ volatile("" : "+r"(value))

/* Close the lane to the spans of signal handlers while it changes (see `top` of the lane). */
ASSAY__HOT void assay__lane_lock(assay__lane *lane)
{
    __atomic_store_n(&lane->top, (assay__frame *)(void *)lane, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Store a field that only this thread writes, in one piece and behind all earlier stores. */
static inline void assay__publish_double(double *field, double value)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    *(volatile double *)field = value;
#else
    __atomic_store(field, &value, __ATOMIC_RELEASE);
#endif
}

/* Copy a branch, in one piece if the processor can. Readers copy it together with the frame, but do
 * not use it. */
ASSAY__HOT void assay__publish_branch(assay__branch *to, const assay__branch *from)
{
#if !defined(__SANITIZE_THREAD__)
    *to = *from;
#else
    __atomic_store_n(&to->site, from->site, __ATOMIC_RELAXED);
    __atomic_store_n(&to->child_mask, from->child_mask, __ATOMIC_RELAXED);
    __atomic_store_n(&to->children, from->children, __ATOMIC_RELAXED);
#endif
}

static inline uint64_t assay__monitor_id(const struct assay_monitor *monitor)
{
    return __atomic_load_n(&((const assay__monitor_head *)(const void *)monitor)->id,
                           __ATOMIC_RELAXED);
}

/* The lane that this thread wrote last. It is loaded before the id is compared, because a signal
 * handler that measures with another monitor changes both. The lane of that monitor must not be
 * taken for the lane of this one. */
ASSAY__HOT assay__lane *assay__lane_of_last_span(void)
{
    assay__lane *lane = __atomic_load_n(&assay__thread.lane, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return lane;
}

/* Begin a span in `span`, and return `span`. The members are stored one by one, because a struct of
 * three words that is copied as a whole would go through memory. `stack` is the stack frame of a
 * block of C, or 0. */
ASSAY__HOT assay_span *assay__span_begin_at(assay_span *span, struct assay_monitor *monitor,
                                            assay_site *site, uintptr_t stack)
{
    span->frame = NULL;
    span->monitor = monitor;
    span->start = 0;
    if (monitor == NULL)
        return span;
    const uint64_t id = assay__monitor_id(monitor);
    assay__lane *lane = assay__lane_of_last_span();
    if (ASSAY__LIKELY(assay__thread.monitor_id == id)) {
        assay__frame *frame = lane->top;
        const uint32_t key = __atomic_load_n(&site->id, __ATOMIC_RELAXED);
        const assay__child *child = &frame->branch.children[key & frame->branch.child_mask];
        if (ASSAY__LIKELY(child->branch.site == key)) {
            frame++;
            assay__lane_lock(lane);
            __atomic_store_n(&frame->node, child->node, __ATOMIC_RELAXED);
            assay__publish_branch(&frame->branch, &child->branch);
            __atomic_store_n(&frame->stack, stack, __ATOMIC_RELAXED);
            const uint64_t start = assay__ticks();
            __atomic_store_n(&frame->start, start, __ATOMIC_RELAXED);
            if (ASSAY__LIKELY(start < lane->begin_due)) {
                __atomic_store_n(&lane->top, frame, __ATOMIC_RELEASE);
                span->frame = frame;
                span->start = start;
                return span;
            }
            __atomic_store_n(&lane->top, frame - 1, __ATOMIC_RELEASE);
        }
    }
    if (id != ASSAY__DISABLED_MONITOR) {
        span->frame = assay__span_begin_slow(monitor, site, stack);
        if (span->frame != NULL)
            span->start = assay__frame_start(assay__frame_of(span->frame));
    }
    return span;
}

ASSAY__HOT assay_span *assay__span_begin(assay_span *span, struct assay_monitor *monitor,
                                         assay_site *site)
{
    return assay__span_begin_at(span, monitor, site, assay__stack());
}

/* The place of a duration in the buckets of its node: its binary exponent, and the six bits behind
 * its highest set bit, which a rotation brings to the top. A duration of zero counts as one tick.
 */
ASSAY__HOT uint64_t assay__exponent(uint64_t duration)
{
#if defined(__x86_64__)
    uint64_t exponent; /* gcc would extend the sign of __builtin_clzll(), which is never negative */
    __asm__("bsrq %1, %0" : "=r"(exponent) : "r"(duration | 1) : "cc");
    return exponent;
#else
    return 63 ^ (uint64_t)__builtin_clzll(duration | 1);
#endif
}

ASSAY__HOT uint64_t assay__bucket(uint64_t duration, uint64_t exponent)
{
    const uint64_t rotated = duration >> exponent | duration << (-exponent % 64);
    return rotated / (UINT64_MAX / ASSAY_PAGE_BUCKETS + 1);
}

/* The statistics of a node that are kept in registers. */
typedef struct assay__figures {
    uint64_t count, sum;
    double square_sum;
} assay__figures;

ASSAY__HOT assay__figures assay__figures_of(const assay__node *node)
{
    assay__figures figures = {__atomic_load_n(&node->count, __ATOMIC_RELAXED),
                              __atomic_load_n(&node->sum, __ATOMIC_RELAXED), node->square_sum};
    return figures;
}

/* Enter a duration into a node's statistics; `figures` receives the new statistics. Returns 0 if
 * this needs the slow path: for a new extreme, for a bucket page that does not exist yet, or if the
 * clock went backwards. */
ASSAY__HOT int assay__node_update(assay__node *node, uint64_t duration, assay__figures *figures)
{
    const uint64_t exponent = assay__exponent(duration);
    uint64_t *page = node->pages[exponent];
    if (ASSAY__UNLIKELY(page == NULL || duration > node->max || duration < node->min))
        return 0;
    const double deviation = (double)(int64_t)duration - node->shift;
    *figures = assay__figures_of(node);
    figures->square_sum += deviation * deviation;
    figures->sum += duration;
    figures->count++;
    assay__publish_add(&page[assay__bucket(duration, exponent)], 1);
    assay__publish_double(&node->square_sum, figures->square_sum);
    __atomic_store_n(&node->sum, figures->sum, __ATOMIC_RELEASE);
    __atomic_store_n(&node->count, figures->count, __ATOMIC_RELEASE);
    return 1;
}

/* Put a span that just ended into the lane's slot. The previous span of the slot must have been
 * entered before. The slot counts for nothing until the last store. After it the span is complete,
 * and is counted once whatever happens. */
ASSAY__HOT void assay__pending_put(assay__pending *slot, assay__node *node, uint64_t duration,
                                   const assay__figures *before)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&slot->duration, duration, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->sum, before->sum, __ATOMIC_RELAXED);
    assay__publish_double(&slot->square_sum, before->square_sum);
    __atomic_store_n(&slot->node, node, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->count, before->count, __ATOMIC_RELEASE);
}

/* Enter a span of the slot into its node, and read the figures of `next`, the node of the span that
 * just ended. Returns 0 if this needs the slow path. If both are the same node, its figures stay in
 * registers, because a load that waits for the store before it costs a twentieth of a span. */
ASSAY__HOT int assay__pending_enter(assay__node *node, uint64_t duration, const assay__node *next,
                                    assay__figures *figures)
{
    if (ASSAY__UNLIKELY(node == NULL || !assay__node_update(node, duration, figures)))
        return 0;
    if (node != next)
        *figures = assay__figures_of(next);
    return 1;
}

/* The slot is loaded before the counter is read, so that its span can be entered right after. On
 * Intel the next counter reading waits for everything that takes longer than some 15 cycles, and
 * the two loads are 10 of them: loaded afterwards, they cost a fifteenth of a span. The lane is
 * closed before it, because a span of a signal handler would change the slot. */
ASSAY__HOT void assay__span_finish(struct assay_monitor *monitor, assay__frame *frame,
                                   uint64_t start)
{
    if (frame == NULL)
        return;
    uint64_t now;
    assay__lane *lane = assay__lane_of_last_span();
    if (ASSAY__LIKELY(assay__thread.monitor_id == assay__monitor_id(monitor) &&
                      lane->top == frame && frame->start == start)) {
        assay__lane_lock(lane);
        assay__node *own = frame->node, *last = lane->pending.node;
        uint64_t last_duration = lane->pending.duration;
        ASSAY__LOADED(own);
        ASSAY__LOADED(last);
        ASSAY__LOADED(last_duration);
        now = assay__ticks();
        if (ASSAY__UNLIKELY(now >= lane->end_due)) {
            assay__span_end_extras(lane, frame, now, last, last_duration);
            return;
        }
        assay__figures before;
        if (ASSAY__LIKELY(assay__pending_enter(last, last_duration, own, &before))) {
            /* If the clock went backwards, the duration is one that no node accepts, and the slow
             * path of the next span handles it. */
            assay__pending_put(&lane->pending, own, now - start, &before);
            __atomic_store_n(&lane->top, frame - 1, __ATOMIC_RELEASE);
            return;
        }
        __atomic_store_n(&lane->top, frame, __ATOMIC_RELEASE);
    } else {
        now = assay__ticks();
    }
    assay__span_end_slow(monitor, frame, start, now);
}

/* End a span. The end of a span that has already ended, or of one of another thread, is counted and
 * otherwise ignored. */
static inline void assay_span_end(assay_span span)
{
    assay__span_finish(span.monitor, span.frame, span.start);
}

ASSAY__HOT void assay__span_close(assay_span *span)
{
    assay__span_finish(span->monitor, span->frame, span->start);
}

#define ASSAY__JOIN_(left, right) left##right
#define ASSAY__JOIN(left, right)  ASSAY__JOIN_(left, right)
#define ASSAY__CLEANUP(function)  __attribute__((cleanup(function)))

/* A static call site with a literal name, at the position of the macro. */
#define ASSAY__SITE(name_, flags_)                                                                 \
    (__extension__({                                                                               \
        static assay_site assay__site_ = {"" name_, 0, flags_};                                    \
        &assay__site_;                                                                             \
    }))

/* Opens a value for the block behind the macro, and closes it when the block is left, also by
 * return and goto. break and continue leave the block. `opener` is called with the value's address
 * and the other arguments, and returns the address. All block macros of assay use this one. */
#define ASSAY__BLOCK(type, close, opener, ...)                                                     \
    ASSAY__BLOCK_(type, close, opener, ASSAY__JOIN(assay__open_, __COUNTER__),                     \
                  ASSAY__JOIN(assay__once_, __COUNTER__), __VA_ARGS__)
#define ASSAY__BLOCK_(type, close, opener, open, once, ...)                                        \
    for (type open ASSAY__CLEANUP(close), *once = opener(&open, __VA_ARGS__); once != NULL;        \
         once = NULL)

/* Opens a value that is closed at the end of the enclosing scope. */
#define ASSAY__GUARD(type, close, opener, ...)                                                     \
    ASSAY__GUARD_(type, close, opener, ASSAY__JOIN(assay__open_, __COUNTER__), __VA_ARGS__)
#define ASSAY__GUARD_(type, close, opener, open, ...)                                              \
    type open ASSAY__CLEANUP(close);                                                               \
    (void)opener(&open, __VA_ARGS__)

/* The macros of the example at the top of this file. */
#define ASSAY_TRACK(monitor, name)                                                                 \
    ASSAY__BLOCK(assay_span, assay__span_close, assay__span_begin, monitor, ASSAY__SITE(name, 0))

#define ASSAY_METRIC(monitor, name)                                                                \
    ASSAY__BLOCK(assay_span, assay__span_close, assay__span_begin, monitor,                        \
                 ASSAY__SITE(name, ASSAY_SITE_METRIC))

#define ASSAY_SCOPE(monitor, name)                                                                 \
    ASSAY__GUARD(assay_span, assay__span_close, assay__span_begin, monitor, ASSAY__SITE(name, 0))

#ifdef __cplusplus
}
#endif

#endif
