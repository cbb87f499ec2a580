/* The extension module assay._sampler: where the time and the memory of a script go, by line.
 *
 * It reads structures of the interpreter that are not part of any stable interface, so it is built
 * for one version of Python, unlike assay._core. It does not use libassay: it only writes the file
 * that snapshot/script_region.h describes.
 *
 * Threads: the sampling thread never holds the global interpreter lock and calls nothing of Python.
 * Allocations are noted by the threads of the script, which hold the lock. Both use the region and
 * the table of codes under `sampler_lock`.
 */
#ifndef ASSAY_PYTHON_SAMPLER_H
#define ASSAY_PYTHON_SAMPLER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "snapshot/script_region.h"

/* ---- memory.c: memory that may vanish while it is read ----------------------------------------
 */

/* Copy memory of this process. False if any of it is not mapped; never a crash. */
bool memory_copy(void *target, const void *source, size_t bytes);

/* The same for several pieces in one system call; up to MEMORY_MAX_PIECES. */
enum { MEMORY_MAX_PIECES = ASSAY__SCRIPT_MAX_DEPTH };
typedef struct memory_piece {
    void *target;
    const void *source;
    size_t bytes;
} memory_piece;
bool memory_copy_all(const memory_piece *pieces, size_t count);

/* Whether `bytes` bytes at `at` lie within the `held` bytes at `begin`. The address may be garbage
 * out of a freed frame, such as -1, so nothing here may overflow. */
static inline bool memory_within(const void *at, size_t bytes, const void *begin, size_t held)
{
    uintptr_t offset = (uintptr_t)at - (uintptr_t)begin;
    return offset <= held && held - offset >= bytes;
}

/* Zeroed memory of our own, outside of the heap that is measured; NULL when there is none. It is
 * never freed. Under sampler_lock, once the sampler has started. */
void *memory_reserve(size_t bytes);

/* ---- region.c: the file ------------------------------------------------------------------------
 */

extern pthread_mutex_t sampler_lock;

/* Make the file of this process in `directory`. False with errno. */
bool region_open(const char *directory, double interval_bytes);

/* Forget the file without touching it: a forked child calls it, the file is its parent's. */
void region_abandon(void);

/* NULL when there is no file. */
assay__script_header *region_header(void);

/* A new entry of this size, filled with `bytes` of `content`, and its reference; NULL when the file
 * is full. Under the lock. */
void *region_append(const void *content, size_t bytes, uint32_t *reference);
void *region_at(uint32_t reference);

/* ---- frames.c: what depends on the version of Python -------------------------------------------
 */

/* A Python thread as the interpreter describes it. */
typedef struct frames_thread {
    const void *state;
    const void *next; /* the state of the next thread, or NULL */
    uint64_t id;      /* never used again */
    int64_t thread_id;
} frames_thread;

/* A frame: its code object and the instruction it is at. */
typedef struct frames_frame {
    const void *frame, *previous;
    const void *code;
    const void *instruction;
    bool is_shim; /* an entry from C, without code */
} frames_frame;

/* A code object, as far as it is needed, and a fingerprint to recognise it by. */
typedef struct frames_code {
    const void *file, *name, *line_table;
    const void *first_instruction;
    size_t instructions; /* of two bytes */
    uint32_t first_line;
} frames_code;

/* The state of the first thread. With the lock of the interpreter, or during its life. */
const void *frames_first_thread(void *interpreter);
bool frames_read_thread(const void *state, frames_thread *thread);

/* The innermost frame, NULL if the thread runs no Python. `*nested` is what points to it. */
bool frames_read_innermost(const frames_thread *thread, const void **nested, const void **frame);

/* A copy of the memory around a frame: its callers often lie just below it. */
typedef struct frames_window {
    const char *begin;
    size_t bytes;
    _Alignas(16) char copy[2048];
} frames_window;

/* Read a frame out of the window, which is copied anew if it does not hold the frame. */
bool frames_read_frame(const void *frame, frames_window *window, frames_frame *found);

/* Is this still the innermost frame, and at this instruction? One system call. */
bool frames_is_still_at(const frames_thread *thread, const void *nested, const void *frame,
                        const void *instruction);

/* A piece to copy for each code object, and what it holds. */
size_t frames_code_bytes(void);
bool frames_parse_code(const void *at, const void *copy, frames_code *code);

/* A text or bytes object of the interpreter. Texts become UTF-8, cut at `room` and terminated.
 * Returns the length, or -1. */
long frames_read_text(const void *object, char *text, size_t room);
long frames_read_bytes(const void *object, unsigned char *bytes, size_t room);

/* The innermost frame with code of the calling thread, which holds the interpreter's lock. */
bool frames_own(frames_frame *found);

/* ---- codes.c: functions and lines ---------------------------------------------------------------
 */

/* Reference of the code object's entry and the line of the instruction. False if it cannot be made
 * out. Under the lock. `copy` holds frames_code_bytes() of it. */
bool codes_find(const void *code, const void *copy, const void *instruction, uint32_t *reference,
                uint32_t *line);

/* Before a new region: references of the old one mean nothing. */
void codes_clear(void);

/* ---- stacks.c: one look at one thread -----------------------------------------------------------
 */

typedef struct stacks_look {
    uint32_t node; /* 0: the thread runs no Python */
    bool is_torn;
    const void *nested, *frame; /* the innermost one, to watch it */
    const void *instruction;
} stacks_look;

/* Read the stack of the thread and find its node in the tree, made if need be. */
void stacks_read(const frames_thread *thread, bool is_main, stacks_look *look);

/* Is the thread inside of native code? It is watched for some microseconds. */
typedef enum stacks_answer { STACKS_UNKNOWN, STACKS_PYTHON, STACKS_NATIVE } stacks_answer;
stacks_answer stacks_is_native(const frames_thread *thread, const stacks_look *look);

void stacks_clear(void);

/* Which opcodes jump: 1 for those that do. */
void stacks_use_jumps(const unsigned char jumps[256]);

/* The processor time of a thread of this process, for clock_gettime(); it fails for one that has
 * ended, where pthread_getcpuclockid() must not be asked. As the kernel composes it:
 * MAKE_THREAD_CPUCLOCK. */
static inline clockid_t thread_clock(int64_t thread_id)
{
    return (clockid_t)(~(uint32_t)thread_id << 3 | 6);
}

/* ---- thread.c: the sampling thread --------------------------------------------------------------
 */

/* Start it on the file of this process. The interpreter's lock may be held: it is not needed. A
 * rate of 0 is adaptive. At most `event_limit` changes of a thread's line are kept one by one. */
bool sampling_start(void *interpreter, double rate_hz, size_t event_limit);

/* End the thread, after a last look, and start it again where it was. */
void sampling_pause(void);
bool sampling_resume(void);

/* ---- allocations.c
 * -------------------------------------------------------------------------------
 */

/* Put the hooks in place, for good; they are idle unless switched on. */
bool allocations_install(double interval_bytes);
void allocations_switch(bool on);

/* Forget the blocks that are followed: their sites are in a file that is another process's. */
void allocations_clear(void);

#endif
