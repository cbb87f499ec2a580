/* The analysis of figures: timers, convergence, warm-up, aggregates, bottleneck rules. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/operations.h"
#include "analyze/tree_order.h"
#include "assay/bottleneck.h"
#include "assay/record.h"
#include "assay/record_build.h"
#include "assay/timers.h"
#include "assay/training.h"
#include "facade/timers.h"

static void assert_near(double actual, double expected)
{
    if (fabs(actual - expected) > 1e-9 * fmax(1.0, fabs(expected)))
        fail_msg("%.17g is not %.17g", actual, expected);
}

static void assert_reads(assay_reading reading, double expected)
{
    assert_int_equal(reading.validity, ASSAY_VALID);
    assert_near(reading.value, expected);
}

static void assert_missing(assay_reading reading, assay_validity why)
{
    assert_int_equal(reading.validity, why);
}

static assay_timers *new_timers(void)
{
    assay_timers *timers = NULL;
    assert_int_equal(assay_timers_new(NULL, &timers), ASSAY_OK);
    return timers;
}

static void test_timers_are_an_ordered_dictionary(void **state)
{
    (void)state;
    assay_timers *timers = new_timers();
    assert_int_equal(assay_timers_set(timers, "b", 2.0), ASSAY_OK);
    assert_int_equal(assay_timers_set(timers, "a", 1.0), ASSAY_OK);
    assert_int_equal(assay_timers_set_metric(timers, "b", "peak_memory_bytes", assay_reading_of(7)),
                     ASSAY_OK);
    assert_reads(assay_timers_get(timers, "b", "peak_memory_bytes"), 7.0);
    assert_reads(assay_timers_get(timers, "b", "time"), 2.0);
    assert_int_equal(assay_timers_set(timers, "b", 3.0), ASSAY_OK); /* replaces, keeps its place */
    assert_int_equal(assay_timers_count(timers), 2);
    assert_string_equal(assay_timers_at(timers, 0).name, "b");
    assert_reads(assay_timers_get(timers, "b", "time"), 3.0);
    assert_missing(assay_timers_get(timers, "b", "peak_memory_bytes"), ASSAY_NOT_MEASURED);
    assert_missing(assay_timers_get(timers, "c", "time"), ASSAY_NOT_MEASURED);
    assert_near(assay_timers_total(timers), 4.0);
    assay_timers_free(timers);
    assay_timers_free(NULL);
}

static void test_timers_refuse_what_is_no_time(void **state)
{
    (void)state;
    assay_timers *timers = new_timers();
    assert_int_equal(assay_timers_set(timers, "a", -1.0), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_timers_set(timers, "a", NAN), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_timers_set(timers, "a", INFINITY), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_timers_set_metric(timers, "a", "time", assay_reading_of(-1.0)),
                     ASSAY_E_ARGUMENT);
    assert_int_equal(assay_timers_set_metric(timers, "a", "", assay_reading_of(1.0)),
                     ASSAY_E_ARGUMENT);
    assert_int_equal(assay_timers_set_metric(timers, "a", "a key of more than thirty-one bytes",
                                             assay_reading_of(1.0)),
                     ASSAY_E_LIMIT);
    assert_int_equal(assay_timers_count(timers), 0);
    assay_timers_free(timers);
}

static void test_timers_declare_their_maximum(void **state)
{
    (void)state;
    char name[16];
    assay_timers *timers = new_timers();
    for (int i = 0; i < ASSAY_TIMERS_MAX; i++) {
        snprintf(name, sizeof name, "%d", i);
        assert_int_equal(assay_timers_set(timers, name, 1.0), ASSAY_OK);
    }
    assert_int_equal(assay_timers_set(timers, "one more", 1.0), ASSAY_E_LIMIT);
    for (int i = 0; i < ASSAY_TIMER_METRICS; i++) {
        snprintf(name, sizeof name, "k%d", i);
        assert_int_equal(assay_timers_set_metric(timers, "0", name, assay_reading_of(i)), ASSAY_OK);
    }
    assert_int_equal(assay_timers_set_metric(timers, "0", "k", assay_reading_of(0)), ASSAY_E_LIMIT);
    assay__timer_mark mark;
    assert_int_equal(assay__timers_begin(timers, "one more", &mark), ASSAY_E_LIMIT);
    assay__timers_end(timers, mark, 1.0);
    assert_int_equal(assay_timers_count(timers), ASSAY_TIMERS_MAX);
    assay_timers_free(timers);
}

static void test_recursive_timers_never_own_themselves(void **state)
{
    (void)state;
    assay_timers *timers = new_timers();
    assay__timer_mark f, g, again;
    assert_int_equal(assay__timers_begin(timers, "f", &f), ASSAY_OK);
    assert_int_equal(assay__timers_begin(timers, "g", &g), ASSAY_OK);
    assert_int_equal(assay__timers_begin(timers, "f", &again), ASSAY_OK);
    assay__timers_end(timers, again, 1.0);
    assay__timers_end(timers, g, 2.0);
    assert_near(assay_timers_total(timers), 1.0); /* what is known while f still runs */
    assay__timers_end(timers, f, 3.0);
    assert_int_equal(assay_timers_at(timers, 0).parent, -1);
    assert_int_equal(assay_timers_at(timers, 1).parent, 0);
    assert_near(assay_timers_total(timers), 3.0);
    assay__timer_mark next;
    assert_int_equal(assay__timers_begin(timers, "next", &next), ASSAY_OK);
    assay__timers_end(timers, next, 1.0);
    assert_int_equal(assay_timers_at(timers, 2).parent, -1);
    assay_timers_free(timers);
}

static void test_convergence(void **state)
{
    (void)state;
    const double losses[] = {0.5, NAN, 0.02, 0.01, 0.03};
    const double seconds[] = {1.0, 2.0, 3.0, 4.0, 5.0};
    assay_convergence found;
    assert_int_equal(assay_convergence_analyze(losses, seconds, 5, 0.01, &found), ASSAY_OK);
    assert_true(found.converged);
    assert_reads(found.epochs_to_converge, 4.0);
    assert_reads(found.time_to_converge, 10.0);
    assert_reads(found.best_loss, 0.01);
    assert_reads(found.best_epoch, 4.0);
    assert_reads(found.final_loss, 0.03);
    assert_reads(found.total_seconds, 15.0);
}

static void test_never_converged_is_said(void **state)
{
    (void)state;
    const double losses[] = {0.5, 0.4, INFINITY}, seconds[] = {1.0, 1.0, 1.0};
    assay_convergence found;
    assert_int_equal(assay_convergence_analyze(losses, seconds, 3, 0.01, &found), ASSAY_OK);
    assert_false(found.converged);
    assert_missing(found.epochs_to_converge, ASSAY_NOT_ENOUGH_DATA);
    assert_missing(found.time_to_converge, ASSAY_NOT_ENOUGH_DATA);
    assert_missing(found.final_loss, ASSAY_NOT_ENOUGH_DATA);
    assert_reads(found.best_loss, 0.4);
    assert_int_equal(assay_convergence_analyze(losses, NULL, 3, 0.5, &found), ASSAY_OK);
    assert_reads(found.epochs_to_converge, 1.0);
    assert_missing(found.time_to_converge, ASSAY_NOT_MEASURED);
    assert_int_equal(assay_convergence_analyze(NULL, NULL, 0, 0.5, &found), ASSAY_OK);
    assert_missing(found.best_loss, ASSAY_NOT_ENOUGH_DATA);
    assert_int_equal(assay_convergence_analyze(losses, losses, 3, 0.5, &found), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_convergence_analyze(losses, NULL, 3, NAN, &found), ASSAY_E_ARGUMENT);
}

static void test_warmup(void **state)
{
    (void)state;
    const double epochs[] = {5.2, 3.1, 3.0, 3.1, 3.0, 2.9};
    assay_warmup warmup;
    assert_int_equal(assay_warmup_analyze(epochs, 6, &warmup), ASSAY_OK);
    assert_near(warmup.first_epoch_time, 5.2);
    assert_reads(warmup.avg_steady_state_time, 3.02);
    assert_reads(warmup.warmup_overhead, 2.18);
    assert_near(floor(warmup.warmup_overhead_pct.value * 10 + 0.5) / 10, 72.2);
    assert_int_equal(assay_warmup_analyze(epochs, 1, &warmup), ASSAY_OK);
    assert_missing(warmup.avg_steady_state_time, ASSAY_NOT_ENOUGH_DATA);
    assert_int_equal(assay_warmup_analyze(epochs, 0, &warmup), ASSAY_E_DATA);
    const double stopped[] = {1.0, 0.0};
    assert_int_equal(assay_warmup_analyze(stopped, 2, &warmup), ASSAY_OK);
    assert_missing(warmup.warmup_overhead_pct, ASSAY_NOT_ENOUGH_DATA);
    const double negative[] = {1.0, -1.0};
    assert_int_equal(assay_warmup_analyze(negative, 2, &warmup), ASSAY_E_ARGUMENT);
}

static int32_t parent_in_array(const void *items, size_t index)
{
    return ((const int32_t *)items)[index];
}

static void test_tree_order(void **state)
{
    (void)state;
    /* 3 and 4 form a cycle, 5 points outside, 0's parent comes after it */
    const int32_t parents[] = {2, -1, -1, 4, 3, 99, 2};
    const uint32_t order[] = {1, 2, 0, 6, 5}, depths[] = {0, 0, 1, 1, 0};
    assay__tree_node *nodes = NULL;
    size_t shown = 0;
    assert_int_equal(assay__tree_order(7, parent_in_array, NULL, parents, &nodes, &shown),
                     ASSAY_OK);
    assert_int_equal(shown, 5);
    for (size_t i = 0; i < shown; i++) {
        assert_int_equal(nodes[i].index, order[i]);
        assert_int_equal(nodes[i].depth, depths[i]);
    }
    free(nodes);
}

static void add_operation(assay_record *record, const char *name, int32_t parent, uint64_t count,
                          double total, double self)
{
    const assay_record_operation operation = {
        .name = name,
        .parent = parent,
        .count = count,
        .total_seconds = total,
        .self_seconds = self,
        .min_seconds = assay_reading_of(total / (double)count),
        .max_seconds = assay_reading_of(total / (double)count)};
    assert_int_equal(assay_record_add_operation(record, &operation), ASSAY_OK);
}

static assay_record *new_record(double total)
{
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    record->total_seconds = total;
    return record;
}

static void test_operations_merge_by_name(void **state)
{
    (void)state;
    assay_record *record = new_record(12.0);
    add_operation(record, "train", -1, 1, 8.0, 4.0);
    add_operation(record, "step", 0, 10, 4.0, 3.0);
    add_operation(record, "validate", -1, 1, 4.0, 2.0);
    add_operation(record, "step", 2, 5, 2.0, 2.0);
    add_operation(record, "step", 1, 10, 1.0, 1.0); /* inside itself */
    assay__operation_row *all = NULL;
    size_t count = 0;
    assert_int_equal(assay__operation_rows(record, &all, &count), ASSAY_OK);
    assert_int_equal(count, 3);
    assert_string_equal(all[1].name, "step");
    assert_int_equal(all[1].count, 25);
    assert_near(all[1].total_seconds, 6.0);
    assert_near(all[1].self_seconds, 6.0);
    assert_near(all[1].enclosing_seconds, 12.0);
    assert_reads(all[1].mean_seconds, 7.0 / 25.0);
    assert_reads(all[1].min_seconds, 0.1);
    assert_reads(all[1].max_seconds, 0.4);
    assert_missing(all[1].first_seconds, ASSAY_NOT_ENOUGH_DATA);
    free(all);
    assert_reads(assay__operation_seconds(record, "step"), 6.0);
    add_operation(record, "train", -1, 1, 1.0, 1.0); /* again at the top: one run encloses both */
    assert_int_equal(assay__operation_rows(record, &all, &count), ASSAY_OK);
    assert_near(all[0].enclosing_seconds, 12.0);
    free(all);
    assert_missing(assay__operation_seconds(record, "stop"), ASSAY_NOT_MEASURED);
    assay_record_free(record);
}

/* A chain of operations as deep as a record may be wide: no recursion, no quadratic walk. */
static void test_deep_chains_are_no_problem(void **state)
{
    (void)state;
    enum { DEPTH = 200000 };
    assay_record *record = new_record(1.0);
    for (int32_t i = 0; i < DEPTH; i++)
        add_operation(record, "f", i - 1, 1, 1.0, 0.0);
    assay__operation_row *all = NULL;
    size_t count = 0;
    assert_int_equal(assay__operation_rows(record, &all, &count), ASSAY_OK);
    assert_int_equal(count, 1);
    assert_int_equal(all[0].count, DEPTH);
    assert_near(all[0].total_seconds, 1.0);
    free(all);
    assay_record_free(record);
}

static bool found(const assay_finding *findings, size_t count, const char *rule,
                  const char *operation)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(findings[i].rule->id, rule) == 0 &&
            strcmp(findings[i].operation, operation) == 0)
            return true;
    return false;
}

static void test_bottlenecks_point_at_own_time(void **state)
{
    (void)state;
    assay_record *record = new_record(10.0);
    add_operation(record, "train", -1, 1, 10.0, 0.5);
    add_operation(record, "Data-Loader", 0, 10, 3.5, 3.5);
    add_operation(record, "forward_pass", 0, 10, 1.0, 1.0);
    add_operation(record, "backward pass", 0, 10, 5.0, 5.0);
    assay_finding *findings = NULL;
    size_t count = 0;
    assert_int_equal(assay_bottlenecks_find(record, &findings, &count), ASSAY_OK);
    assert_false(found(findings, count, "dominant", "train")); /* 100 %, all of it explained */
    assert_false(
        found(findings, count, "dominant", "backward pass")); /* exactly 50 % is not over */
    assert_true(found(findings, count, "large-share", "backward pass"));
    assert_true(found(findings, count, "large-share", "Data-Loader"));
    assert_true(found(findings, count, "data-loading", "Data-Loader"));
    assert_true(found(findings, count, "backward", "backward pass"));
    assert_int_equal(count, 4);
    free(findings);
    assay_record_free(record);
}

static void test_first_batch_and_variance_need_evidence(void **state)
{
    (void)state;
    assay_record *record = new_record(2.0);
    double samples[] = {0.538, 0.185, 0.190};
    add_operation(record, "batch", -1, 3, 0.913, 0.1);
    record->operations[0].samples_seconds = samples;
    record->operations[0].sample_count = 3;
    record->operations[0].min_seconds = assay_reading_of(0.185);
    record->operations[0].max_seconds = assay_reading_of(0.538);
    assay_finding *findings = NULL;
    size_t count = 0;
    assert_int_equal(assay_bottlenecks_find(record, &findings, &count), ASSAY_OK);
    assert_true(found(findings, count, "first-batch", "batch"));
    assert_true(found(findings, count, "batch-variance", "batch"));
    assert_int_equal(count, 2);
    free(findings);
    record->operations[0].name = "gemm"; /* a rule about batches looks at batches only */
    assert_int_equal(assay_bottlenecks_find(record, &findings, &count), ASSAY_OK);
    assert_int_equal(count, 0);
    assert_null(findings);
    const assay_epoch_statistics one = {.num_batches = 1};
    assert_int_equal(assay_bottlenecks_find_in_epochs(&one, &findings, &count), ASSAY_OK);
    assert_int_equal(count, 0);
    assay_record_free(record);
}

/* What was not measured is not advised on; what was is, each cause by itself. */
static void test_advice_knows_the_device(void **state)
{
    (void)state;
    assay_finding *findings = NULL;
    size_t count = 0;
    assay_record *record = new_record(0);
    assert_int_equal(assay_bottlenecks_find(record, &findings, &count), ASSAY_OK);
    assert_int_equal(count, 0);
    assay_record_counter counters[] = {{.name = "cuda:0 utilisation", .mean = 0.3},
                                       {.name = "cuda:1 utilisation", .mean = 0.1},
                                       {.name = "cuda:0 memory_utilisation", .mean = 0.9}};
    record->counters = counters;
    record->counter_count = 3;
    assert_int_equal(assay_bottlenecks_find(record, &findings, &count), ASSAY_OK);
    assert_int_equal(count, 1);
    assert_true(found(findings, count, "gpu-unused", "GPU"));
    assert_near(findings[0].value, 0.8);
    free(findings);
    assay_record_idle idle[] = {{.cause = "launch", .share = 0.5},
                                {.cause = "data loading", .share = 0.11},
                                {.cause = "synchronisation", .share = 0.05},
                                {.cause = "host", .share = 0.31},
                                {.cause = "copies", .share = 0.02}};
    assay_record_copy copies[] = {
        {.direction = "host to device", .memory = "pageable", .bytes = 9, .seconds = 0.1},
        {.direction = "device to host", .memory = "pinned", .bytes = 3, .seconds = 0.1},
        {.direction = "device to device", .bytes = 1000, .seconds = 0.1}};
    record->has_gpu = true;
    record->gpu = (assay_record_gpu){
        .span_seconds = 10, .idle = idle, .idle_count = 5, .copies = copies, .copy_count = 3};
    assert_int_equal(assay_bottlenecks_find(record, &findings, &count), ASSAY_OK);
    assert_int_equal(count, 4); /* and the utilisation of the meter no longer */
    assert_true(found(findings, count, "gpu-launch", "GPU"));
    assert_true(found(findings, count, "gpu-data", "GPU"));
    assert_true(found(findings, count, "gpu-host", "GPU"));
    assert_true(found(findings, count, "gpu-pageable", "GPU"));
    assert_near(findings[3].value, 0.75);
    free(findings);
    copies[0].seconds = copies[1].seconds = 0.01; /* too little to matter */
    idle[2].share = idle[4].share = 0.2;
    idle[0].share = 0.2; /* exactly the limit is not above it */
    assert_int_equal(assay_bottlenecks_find(record, &findings, &count), ASSAY_OK);
    assert_int_equal(count, 4);
    assert_true(found(findings, count, "gpu-synchronisation", "GPU"));
    assert_true(found(findings, count, "gpu-copies", "GPU"));
    free(findings);
    record->counters = NULL;
    record->counter_count = 0;
    assay_record_free(record);
}

static void test_rules_are_complete(void **state)
{
    (void)state;
    size_t count = 0;
    const assay_bottleneck_rule *rules = assay_bottleneck_rules(&count);
    assert_true(count >= 7);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(rules[i].id);
        assert_non_null(rules[i].family);
        assert_non_null(strstr(rules[i].symptom, "{value}"));
        assert_non_null(rules[i].remedies[0]);
        assert_true(rules[i].limit > 0.0);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(rules[i].id, rules[k].id);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timers_are_an_ordered_dictionary),
        cmocka_unit_test(test_timers_refuse_what_is_no_time),
        cmocka_unit_test(test_timers_declare_their_maximum),
        cmocka_unit_test(test_recursive_timers_never_own_themselves),
        cmocka_unit_test(test_convergence),
        cmocka_unit_test(test_never_converged_is_said),
        cmocka_unit_test(test_warmup),
        cmocka_unit_test(test_tree_order),
        cmocka_unit_test(test_operations_merge_by_name),
        cmocka_unit_test(test_deep_chains_are_no_problem),
        cmocka_unit_test(test_bottlenecks_point_at_own_time),
        cmocka_unit_test(test_first_batch_and_variance_need_evidence),
        cmocka_unit_test(test_advice_knows_the_device),
        cmocka_unit_test(test_rules_are_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
