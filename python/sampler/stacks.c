/* Reads the stack of a thread and finds its node in the tree of calls.
 *
 * A stack is read from its innermost frame outwards while its thread goes on running. If a frame
 * returns meanwhile, a code object and an instruction are read that do not fit together. Then the
 * stack is read again. After TRIES attempts the frames that fit are taken.
 *
 * Native code is recognised by watching the thread. An instruction of the interpreter takes some
 * 50 ns. If the thread runs and is still at the same instruction in several checks, over some
 * microseconds, then that instruction has called native code. A short loop comes back to the same
 * instruction, but not at every check. A jump to itself ("while True: pass") would be found at
 * every check, so instructions that jump never count as native. If the thread was not on a
 * processor while it was watched, the answer is unknown.
 *
 * A thread also stays at its instruction while its processor handles an interrupt. At a random time
 * that is unlikely. At a tick of the scheduler it is certain, so thread.c does not watch then. */
#include "python/sampler/sampler.h"

#include <string.h>
#include <time.h>

enum { TRIES = 4, CHECKS = 8, NODE_SLOTS = 1 << 18, MAX_NODES = NODE_SLOTS / 4 * 3 };

static uint32_t *slots; /* references of nodes, by parent, code and line */
static size_t node_count;
static unsigned char is_jump[256]; /* by opcode */
static char *copies;               /* copies of the code objects of one stack */

void stacks_use_jumps(const unsigned char jumps[256])
{
    memcpy(is_jump, jumps, sizeof is_jump);
}

void stacks_clear(void)
{
    if (slots != NULL)
        memset(slots, 0, NODE_SLOTS * sizeof *slots);
    node_count = 0;
}

/* Find the node, or make it if there is none. Returns the parent if there is no room. */
static uint32_t find_node(uint32_t parent, uint32_t code, uint32_t line, bool is_main)
{
    assay__script_node made = {.entry.kind = ASSAY__SCRIPT_NODE,
                               .parent = parent,
                               .code = code,
                               .line = line,
                               .is_main = is_main};
    uint64_t key = ((uint64_t)parent << 32 | code) * UINT64_C(0x9E3779B97F4A7C15);
    key = (key ^ (key >> 29) ^ line) * UINT64_C(0xBF58476D1CE4E5B9);
    size_t at = (size_t)(key >> 40);
    for (; slots[at % NODE_SLOTS] != 0; at++) {
        const assay__script_node *node = region_at(slots[at % NODE_SLOTS]);
        if (node->parent == parent && node->code == code && node->line == line &&
            node->is_main == is_main)
            return slots[at % NODE_SLOTS];
    }
    uint32_t reference;
    if (node_count == MAX_NODES || region_append(&made, sizeof made, &reference) == NULL) {
        region_header()->dropped_nodes++;
        return parent;
    }
    node_count++;
    return slots[at % NODE_SLOTS] = reference;
}

typedef struct stack {
    frames_frame frames[MEMORY_MAX_PIECES]; /* innermost first */
    const void *nested;
    size_t depth;
} stack;

static bool read_frames(const frames_thread *thread, stack *s)
{
    frames_window window = {.bytes = 0};
    const void *frame;
    s->depth = 0;
    if (!frames_read_innermost(thread, &s->nested, &frame))
        return false;
    while (frame != NULL && s->depth < MEMORY_MAX_PIECES) {
        frames_frame *found = &s->frames[s->depth];
        if (!frames_read_frame(frame, &window, found))
            return false;
        frame = found->previous;
        s->depth += !found->is_shim;
    }
    return true;
}

static bool copy_codes(const stack *s)
{
    memory_piece pieces[MEMORY_MAX_PIECES];
    size_t bytes = frames_code_bytes();
    for (size_t i = 0; i < s->depth; i++)
        pieces[i] = (memory_piece){copies + i * bytes, s->frames[i].code, bytes};
    return memory_copy_all(pieces, s->depth);
}

/* Find the node of a stack. Frames that do not fit are left out; then the result is false. */
static bool resolve(const stack *s, bool is_main, stacks_sample *sample)
{
    size_t bytes = frames_code_bytes();
    bool all = true;
    sample->node = 0;
    for (size_t i = s->depth; i-- > 0;) {
        const frames_frame *frame = &s->frames[i];
        uint32_t code, line;
        if (codes_find(frame->code, copies + i * bytes, frame->instruction, &code, &line))
            sample->node = find_node(sample->node, code, line, is_main);
        else
            all = false;
    }
    sample->nested = s->nested;
    sample->frame = s->depth > 0 ? s->frames[0].frame : NULL;
    sample->instruction = s->depth > 0 ? s->frames[0].instruction : NULL;
    return all;
}

/* Reserve the memory on the first call. This takes the lock, because a hook in a thread of the
 * script may reserve memory at the same time. */
static bool prepare(void)
{
    if (slots == NULL || copies == NULL) {
        pthread_mutex_lock(&sampler_lock);
        if (slots == NULL)
            slots = memory_reserve(NODE_SLOTS * sizeof *slots);
        if (copies == NULL)
            copies = memory_reserve(MEMORY_MAX_PIECES * frames_code_bytes());
        pthread_mutex_unlock(&sampler_lock);
    }
    return slots != NULL && copies != NULL;
}

void stacks_read(const frames_thread *thread, bool is_main, stacks_sample *sample)
{
    static stack s; /* only the one sampling thread uses it */
    *sample = (stacks_sample){.is_torn = true};
    for (int tries = 0; tries < TRIES && sample->is_torn && prepare(); tries++) {
        if (!read_frames(thread, &s) || (s.depth > 0 && !copy_codes(&s)))
            continue;
        pthread_mutex_lock(&sampler_lock);
        sample->is_torn = !resolve(&s, is_main, sample);
        pthread_mutex_unlock(&sampler_lock);
    }
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

stacks_answer stacks_is_native(const frames_thread *thread, const stacks_sample *sample)
{
    unsigned char opcode = 0;
    if (sample->is_torn || sample->frame == NULL || !memory_copy(&opcode, sample->instruction, 1))
        return STACKS_UNKNOWN;
    clockid_t clock = thread_clock(thread->thread_id);
    uint64_t began_ns = clock_ns(CLOCK_MONOTONIC), used_ns = clock_ns(clock);
    for (int i = 0; i < CHECKS; i++)
        if (!frames_is_still_at(thread, sample->nested, sample->frame, sample->instruction))
            return STACKS_PYTHON;
    used_ns = clock_ns(clock) - used_ns;
    if (used_ns * 2 < clock_ns(CLOCK_MONOTONIC) - began_ns)
        return STACKS_UNKNOWN;
    return is_jump[opcode] ? STACKS_PYTHON : STACKS_NATIVE;
}
