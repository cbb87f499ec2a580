/* Runs the threads of a block one at a time, each on its own stack. A thread runs until it waits at
 * a barrier or an exchange; the scheduler then runs the next. A wait ends when all threads
 * concerned wait in the same way. */
#include "tests/fake/compute/emulator.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { MOST_THREADS = 1024, STACK = 64 << 10, LANES = 32 };

emulated_place emulated_thread, emulated_block, emulated_block_size, emulated_grid_size;

typedef enum waiting { RUNNING, AT_BARRIER, AT_EXCHANGE, DONE } waiting;

static struct {
    jmp_buf scheduler, threads[MOST_THREADS];
    waiting state[MOST_THREADS];
    float offered[MOST_THREADS];
    int current, count, made;
    char *stacks;
    void (*kernel)(const void *);
    const void *arguments;
} machine;

/* Gives control back to the scheduler. Threads are switched by _setjmp() and _longjmp(), because
 * swapcontext() makes a system call each time. */
static void leave(void)
{
    if (_setjmp(machine.threads[machine.current]) == 0)
        _longjmp(machine.scheduler, 1);
}

/* The main function of a stack: it runs one thread of every block. */
static void live(void)
{
    leave();
    for (;;) {
        machine.kernel(machine.arguments);
        machine.state[machine.current] = DONE;
        leave();
    }
}

static void make_thread(int number)
{
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = machine.stacks + (size_t)number * STACK;
    context.uc_stack.ss_size = STACK;
    context.uc_link = NULL;
    makecontext(&context, live, 0);
    machine.current = number;
    if (_setjmp(machine.scheduler) == 0)
        setcontext(&context);
}

static void enter(int number)
{
    machine.current = number;
    emulated_thread.x = number;
    if (_setjmp(machine.scheduler) == 0)
        _longjmp(machine.threads[number], 1);
}

static void wait_as(waiting state)
{
    machine.state[machine.current] = state;
    leave();
}

void emulated_barrier(void)
{
    wait_as(AT_BARRIER);
}

float emulated_exchange(float value, int lane_mask)
{
    int number = machine.current;
    machine.offered[number] = value;
    wait_as(AT_EXCHANGE);
    float other = machine.offered[number ^ lane_mask];
    wait_as(AT_EXCHANGE); /* until all threads have read */
    return other;
}

/* Whether all threads from `first` on that have not ended wait in the same way. */
static bool all_wait(int first, int count, waiting how)
{
    bool any = false;
    for (int i = first; i < first + count; i++) {
        if (machine.state[i] != how && machine.state[i] != DONE)
            return false;
        any |= machine.state[i] == how;
    }
    return any;
}

static void release(int first, int count, waiting how)
{
    for (int i = first; i < first + count; i++)
        if (machine.state[i] == how)
            machine.state[i] = RUNNING;
}

static void run_block(void)
{
    for (int i = 0; i < machine.count; i++)
        machine.state[i] = RUNNING;
    for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < machine.count; i++) {
            if (machine.state[i] != RUNNING)
                continue;
            enter(i);
            moved = true;
        }
        for (int warp = 0; warp < machine.count; warp += LANES) {
            int lanes = machine.count - warp < LANES ? machine.count - warp : LANES;
            if (all_wait(warp, lanes, AT_EXCHANGE)) {
                release(warp, lanes, AT_EXCHANGE);
                moved = true;
            }
        }
        if (all_wait(0, machine.count, AT_BARRIER)) {
            release(0, machine.count, AT_BARRIER);
            moved = true;
        }
    }
    for (int i = 0; i < machine.count; i++)
        if (machine.state[i] != DONE)
            abort(); /* the threads wait for each other for ever */
}

void emulated_launch(void (*kernel)(const void *), emulated_place grid, int threads,
                     const void *arguments)
{
    if (machine.stacks == NULL)
        machine.stacks = malloc((size_t)MOST_THREADS * STACK);
    for (; machine.made < threads; machine.made++)
        make_thread(machine.made);
    machine.kernel = kernel;
    machine.arguments = arguments;
    machine.count = threads;
    emulated_block_size = (emulated_place){threads, 1, 1};
    emulated_grid_size = grid;
    for (emulated_block.y = 0; emulated_block.y < grid.y; emulated_block.y++)
        for (emulated_block.x = 0; emulated_block.x < grid.x; emulated_block.x++)
            run_block();
}
