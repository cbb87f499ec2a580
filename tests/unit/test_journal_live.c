/* A journal is read while it is written: the reader is stopped after each of its instructions in
 * turn, and the writer writes much more in the meantime, as if the reader had lost the processor.
 */
#include "tests/unit/monitor_fixture.h"

#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

#include "journal/reader.h"
#include "monitor/state.h"
#include "tests/sanitizers.h"

#if defined(__x86_64__) && !THREAD_SANITIZER

enum { TRAP_FLAG = 0x100, SPANS = 10, MOST_STOPS = 500 };

static assay_monitor *monitor;
static volatile bool stepping; /* volatile: raise() is declared to call nothing of ours */
static volatile long steps, stop_at;

static void write_spans(void)
{
    for (int i = 0; i < SPANS; i++)
        assay_monitor_add(monitor, "same", 1000);
}

static void (*meanwhile)(void) = write_spans;
static assay__lane *half_lane;
static assay__node *half_node, before_half;

/* Put a span into the slot and enter it half: the sum contains it, the count does not. */
static void enter_half(void)
{
    assay__pending *slot = &half_lane->pending;
    *slot = (assay__pending){half_node, half_node->min, half_node->count, half_node->sum,
                             half_node->square_sum};
    half_node->sum += half_node->min;
}

static void undo_half(void)
{
    half_lane->pending.node = NULL;
    *half_node = before_half;
}

static void after_instruction(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number;
    (void)info;
    greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
    if (stepping && steps++ == stop_at)
        meanwhile();
    *flags = stepping ? *flags | TRAP_FLAG : *flags & ~(greg_t)TRAP_FLAG;
}

static void step_on(long at)
{
    steps = 0;
    stop_at = at;
    stepping = true;
    raise(SIGTRAP);
}

static void step_off(void)
{
    stepping = false;
    raise(SIGTRAP);
}

/* How many instructions it took; the writer comes after `at` of them. */
static long read_stopped(const assay__journal_view *view, uint32_t unit, long at, assay__node *node)
{
    step_on(at);
    bool read = assay__journal_read_node(view, unit, node);
    step_off();
    assert_true(read);
    return steps;
}

static uint32_t node_of_spans(const assay__journal_view *view, uint64_t spans)
{
    assay__lane lane;
    assay__node node = {0};
    assert_true(assay__journal_read_lane(view, view->header.first_lane, &lane));
    uint32_t unit = lane.first_node;
    while (assay__journal_read_node(view, unit, &node) && node.count == 0)
        unit = node.next;
    assert_int_equal(node.count, spans);
    return unit;
}

/* All spans are of one length, so that a sum of others than were counted shows. */
static void test_figures_of_a_node_belong_together(void **state)
{
    (void)state;
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.private_journal = true;
    monitor = open_monitor(&options);
    write_spans();
    const assay__journal_header *journal = assay__monitor_journal(monitor);
    assay__journal_view view;
    assay__node node;
    assert_int_equal(assay__journal_view_bytes(&view, journal, journal->total_bytes, "live", NULL),
                     ASSAY_OK);
    uint32_t unit = node_of_spans(&view, SPANS - 1); /* the last one is in the lane's slot */
    long whole = read_stopped(&view, unit, -1, &node), seen = 0;
    for (long at = 0; at < whole; at += 1 + whole / MOST_STOPS) {
        read_stopped(&view, unit, at, &node);
        assert_int_equal(node.sum, node.count * node.min);
        seen++;
    }
    assert_true(seen > 20);
    assert_int_equal(node.min, node.max);
    assay__journal_view_release(&view);
    assay_monitor_free(monitor);
}

/* A span is entered half while the reader is between two of its instructions. */
static void test_a_span_that_is_entered_half(void **state)
{
    (void)state;
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.private_journal = true;
    monitor = open_monitor(&options);
    write_spans();
    assay_monitor_add(monitor, "another", 1000); /* enters the last one */
    const assay__journal_header *journal = assay__monitor_journal(monitor);
    assay__journal_view view;
    assay__node node;
    uint64_t duration;
    assert_int_equal(assay__journal_view_bytes(&view, journal, journal->total_bytes, "live", NULL),
                     ASSAY_OK);
    uint32_t lane = view.header.first_lane, unit = node_of_spans(&view, SPANS);
    unsigned char *base = (unsigned char *)(uintptr_t)journal;
    half_lane = (void *)(base + (size_t)lane * ASSAY__JOURNAL_UNIT);
    half_node = (void *)(base + (size_t)unit * ASSAY__JOURNAL_UNIT);
    half_lane->pending.node = NULL;
    before_half = *half_node;
    meanwhile = enter_half;
    bool over = false;
    for (long at = 0; !over; at++) {
        step_on(at);
        bool read = assay__journal_read_node(&view, unit, &node);
        (void)assay__journal_add_pending(&view, lane, &node, &duration);
        step_off();
        assert_true(read);
        assert_int_equal(node.sum, node.count * node.min);
        over = half_lane->pending.node == NULL;
        undo_half();
    }
    meanwhile = write_spans;
    assay__journal_view_release(&view);
    assay_monitor_free(monitor);
}

int main(void)
{
    struct sigaction trap = {.sa_sigaction = after_instruction, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &trap, NULL);
    step_on(-1);
    step_off();
    if (steps < 2) { /* the first trap is our own signal */
        puts("skipped: this processor is an emulated one that does not stop after an instruction");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures_of_a_node_belong_together),
        cmocka_unit_test(test_a_span_that_is_entered_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    puts("skipped: instructions are stepped through on x86-64, and not in the thread sanitizer");
    return 77;
}

#endif
