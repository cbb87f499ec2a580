/* Two requests take turns on one thread, as coroutines do. Each has a task, so that the spans of
 * one never mix with the spans of the other.
 *
 *     cc coroutines.c $(pkg-config --cflags --libs assay) -o coroutines && ./coroutines */
#include <assay/assay.h>
#include <assay/task.h>

#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { REQUESTS = 2, QUERIES = 3, STACK_BYTES = 64 * 1024 };

typedef struct request {
    ucontext_t context;
    assay_task *task;
    char *stack;
    int queries_left;
} request;

static assay_monitor *monitor;
static request requests[REQUESTS];
static ucontext_t scheduler;

static void work(void)
{
    for (volatile int i = 0; i < 200000; i++)
        ;
}

static void serve(int number)
{
    request *self = &requests[number];
    ASSAY_TRACK(monitor, "request") {
        for (; self->queries_left > 0; self->queries_left--)
            ASSAY_TRACK(monitor, "query") {
                work();
                swapcontext(&self->context, &scheduler); /* now it is the other one's turn */
            }
    }
}

static void start(int number)
{
    request *self = &requests[number];
    char name[32];
    snprintf(name, sizeof name, "request %d", number + 1);
    self->stack = malloc(STACK_BYTES);
    self->queries_left = QUERIES;
    if (self->stack == NULL || assay_task_new(monitor, name, &self->task) != ASSAY_OK ||
        getcontext(&self->context) != 0)
        exit(1);
    self->context.uc_stack.ss_sp = self->stack;
    self->context.uc_stack.ss_size = STACK_BYTES;
    self->context.uc_link = &scheduler;
    makecontext(&self->context, (void (*)(void))serve, 1, number);
}

int main(void)
{
    if (assay_monitor_new(NULL, &monitor) != ASSAY_OK)
        return 1;
    for (int i = 0; i < REQUESTS; i++)
        start(i);
    for (int turn = 0; turn < REQUESTS * (QUERIES + 1); turn++) {
        request *next = &requests[turn % REQUESTS];
        assay_monitor_switch_task(monitor, next->task);
        swapcontext(&scheduler, &next->context);
        assay_monitor_switch_task(monitor, NULL);
    }
    for (int i = 0; i < REQUESTS; i++) {
        assay_task_free(requests[i].task);
        free(requests[i].stack);
    }
    assay_monitor_print_summary(monitor, stdout, ASSAY_SHOW_AGGREGATE);
    assay_monitor_free(monitor);
    return 0;
}
