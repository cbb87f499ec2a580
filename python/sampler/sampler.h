/* The extension module assay._sampler: a sampling profiler that measures the time and the memory of
 * a script by line.
 *
 * The module reads structures of the interpreter that are not part of any stable interface. So it
 * is built for one version of Python, unlike assay._core. It does not use libassay: it only writes
 * the file that snapshot/script_region.h describes.
 *
 * A sample reads the stacks of all threads at one point in time.
 *
 * Threads: the sampling thread never holds the global interpreter lock and calls no function of
 * Python. The hooks for allocations run in the threads of the script, which hold the interpreter
 * lock. Both use the region and the table of codes under `sampler_lock`.
 */
#ifndef ASSAY_PYTHON_SAMPLER_H
#define ASSAY_PYTHON_SAMPLER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "snapshot/script_region.h"

/* ---- memory.c: memory that may vanish while it is read --------------------------------------- */

/* Copy memory of this process. Returns false if any of it is not mapped; it never crashes. */
bool memory_copy(void *target, const void *source, size_t bytes);

/* Whether the system allows such copies at all. A filter of system calls may forbid them; errno
 * then says how. */
bool memory_can_be_read(void);

/* The same for up to MEMORY_MAX_PIECES pieces in one system call. */
enum { MEMORY_MAX_PIECES = ASSAY__SCRIPT_MAX_DEPTH };
typedef struct memory_piece {
    void *target;
    const void *source;
    size_t bytes;
} memory_piece;
bool memory_copy_all(const memory_piece *pieces, size_t count);

/* Whether `bytes` bytes at `at` lie within the `held` bytes at `begin`. The address may be garbage
 * from a freed frame, such as -1, so the computation must not overflow. */
static inline bool memory_within(const void *at, size_t bytes, const void *begin, size_t held)
{
    uintptr_t offset = (uintptr_t)at - (uintptr_t)begin;
    return offset <= held && held - offset >= bytes;
}

/* Reserve zeroed memory outside of the heap that is measured. It is never freed. NULL when out of
 * memory. Hold sampler_lock for this call after the sampler has started. */
void *memory_reserve(size_t bytes);

/* ---- region.c: the file ---------------------------------------------------------------------- */

extern pthread_mutex_t sampler_lock;

/* Make the file of this process in `directory`. Returns false with errno set. */
bool region_open(const char *directory, double interval_bytes);

/* Forget the file without touching it. A forked child calls this, because the file belongs to its
 * parent. */
void region_abandon(void);

/* The header of the file; NULL if there is no file. */
assay__script_header *region_header(void);

/* Append an entry with `bytes` bytes of `content`, and store its reference. Returns the entry, or
 * NULL if the file is full. Hold sampler_lock. */
void *region_append(const void *content, size_t bytes, uint32_t *reference);
/* The entry of a reference. */
void *region_at(uint32_t reference);

/* ---- frames.c: what depends on the version of Python ----------------------------------------- */

/* A Python thread as the interpreter describes it. */
typedef struct frames_thread {
    const void *state;
    const void *next; /* the state of the next thread, or NULL */
    uint64_t id;      /* no later thread gets the same id */
    int64_t thread_id;
} frames_thread;

/* A stack frame: its code object and its present instruction. */
typedef struct frames_frame {
    const void *frame, *previous;
    const void *code;
    const void *instruction;
    bool is_shim; /* a frame for a call from C, which has no code */
} frames_frame;

/* The fields of a code object that are needed. They also serve to recognise the object. */
typedef struct frames_code {
    const void *file, *name, *line_table;
    const void *first_instruction;
    size_t instructions; /* their number; each has two bytes */
    uint32_t first_line;
} frames_code;

/* The state of the first thread. The interpreter must be alive during the call. */
const void *frames_first_thread(void *interpreter);
/* Whether the interpreter compiles the script while it runs. A compiled loop may stay at any
 * instruction, so stacks_is_native() must not be asked. Python decides this after it has loaded
 * sitecustomize, and a script may change it. */
bool frames_are_compiled(const void *interpreter);
/* Read a thread state. Returns false if its memory is no longer mapped. */
bool frames_read_thread(const void *state, frames_thread *thread);

/* Read the address of the innermost frame, which is NULL if the thread runs no Python. `*nested` is
 * the address of the pointer to that frame. */
bool frames_read_innermost(const frames_thread *thread, const void **nested, const void **frame);

/* A copy of the memory around a frame. The frames of its callers often lie just below it. */
typedef struct frames_window {
    const char *begin;
    size_t bytes;
    _Alignas(16) char copy[2048];
} frames_window;

/* Read a frame from the window. If the window does not hold the frame, it is copied anew. */
bool frames_read_frame(const void *frame, frames_window *window, frames_frame *found);

/* Whether this is still the innermost frame, and still at this instruction. It takes one system
 * call. */
bool frames_is_still_at(const frames_thread *thread, const void *nested, const void *frame,
                        const void *instruction);

/* The number of bytes to copy of a code object, and the fields in such a copy. `at` is the address
 * of the object itself. Returns false if the copy is not a code object. */
size_t frames_code_bytes(void);
bool frames_parse_code(const void *at, const void *copy, frames_code *code);

/* Read a text or bytes object of the interpreter. A text becomes UTF-8, is cut to `room` bytes and
 * is terminated. Returns the length, or -1 if the object cannot be read. */
long frames_read_text(const void *object, char *text, size_t room);
long frames_read_bytes(const void *object, unsigned char *bytes, size_t room);

/* Find the innermost frame with code of the calling thread. The thread holds the interpreter lock.
 */
bool frames_own(frames_frame *found);

/* ---- codes.c: functions and lines ------------------------------------------------------------ */

/* Find the reference of the code object's entry, and the line of the instruction. `copy` is a copy
 * of the first frames_code_bytes() bytes of the code object. Returns false if code and instruction
 * do not fit together. Hold sampler_lock. */
bool codes_find(const void *code, const void *copy, const void *instruction, uint32_t *reference,
                uint32_t *line);

/* Forget all code objects. Call this before a new region, because references into the old region
 * mean nothing there. */
void codes_clear(void);

/* ---- stacks.c: one sample of one thread ------------------------------------------------------ */

typedef struct stacks_sample {
    uint32_t node;              /* 0 if the thread runs no Python */
    bool is_torn;               /* the stack changed while it was read */
    const void *nested, *frame; /* of the innermost frame, for stacks_is_native() */
    const void *instruction;
} stacks_sample;

/* Read the stack of the thread and find its node in the tree of calls. A new node is made if there
 * is none. */
void stacks_read(const frames_thread *thread, bool is_main, stacks_sample *sample);

/* Find out whether the thread runs native code, by watching it for some microseconds. */
typedef enum stacks_answer { STACKS_UNKNOWN, STACKS_PYTHON, STACKS_NATIVE } stacks_answer;
stacks_answer stacks_is_native(const frames_thread *thread, const stacks_sample *sample);

/* Forget all nodes. Call this before a new region. */
void stacks_clear(void);

/* Set which opcodes jump: `jumps` has a 1 for each opcode that does. */
void stacks_use_jumps(const unsigned char jumps[256]);

/* The clock of the processor time of a thread of this process, for clock_gettime(). For a thread
 * that has ended, clock_gettime() then fails, whereas pthread_getcpuclockid() must not be called.
 * The number is composed as the kernel's macro MAKE_THREAD_CPUCLOCK does it. */
static inline clockid_t thread_clock(int64_t thread_id)
{
    return (clockid_t)(~(uint32_t)thread_id << 3 | 6);
}

/* ---- thread.c: the sampling thread ----------------------------------------------------------- */

/* Start the sampling thread; region_open() must have succeeded. The caller may hold the interpreter
 * lock, but need not. A rate of 0 is adaptive. At most `event_limit` events are kept; an event is a
 * change of a thread's line. Returns false if the thread cannot be made. */
bool sampling_start(void *interpreter, double rate_hz, size_t event_limit);

/* End the thread after a last sample, and start it again with the state that it had. */
void sampling_pause(void);
bool sampling_resume(void);

/* ---- allocations.c --------------------------------------------------------------------------- */

/* Install the hooks for allocations. They are never removed, and take no samples unless switched
 * on. `interval_bytes` is the mean distance between two samples. Returns false when out of memory.
 */
bool allocations_install(double interval_bytes);
void allocations_switch(bool on);

/* Forget the blocks that are followed. A forked child calls this, because the sites of these blocks
 * are in the file of its parent. */
void allocations_clear(void);

#endif
