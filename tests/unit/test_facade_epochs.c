/* The monitor of epochs and batches: its figures, lines, spans, and calls out of order. */
#include "assay/training.h"
#include "tests/unit/facade_fixture.h"

static assay_epoch_monitor *new_epoch_monitor(const assay_clock *clock, FILE *output, int verbose,
                                              assay_monitor *shared)
{
    assay_epoch_monitor *monitor = NULL;
    assay_epoch_monitor_options options = ASSAY_EPOCH_MONITOR_OPTIONS_INIT;
    options.clock = clock;
    options.output = output;
    options.verbose_batches = verbose;
    options.monitor = shared;
    assert_int_equal(assay_epoch_monitor_new(&options, &monitor), ASSAY_OK);
    return monitor;
}

static void run_epochs(assay_epoch_monitor *monitor)
{
    const double batch_ms[2][3] = {{538, 185, 82}, {100, 100, 100}};
    for (int epoch = 0; epoch < 2; epoch++) {
        assay_epoch_monitor_on_epoch_start(monitor);
        pass_ms(10);
        for (uint64_t i = 0; i < 3; i++) {
            assay_epoch_monitor_on_batch_start(monitor, i);
            pass_ms(batch_ms[epoch][i]);
            assay_epoch_monitor_on_batch_end(monitor, i, i == 0 ? 0.009458 : NAN);
        }
        assay_epoch_monitor_on_epoch_end(monitor);
    }
}

static void test_epoch_statistics_have_all_keys(void **state)
{
    (void)state;
    assay_clock *clock = test_clock();
    assay_epoch_monitor *monitor = new_epoch_monitor(clock, NULL, 0, NULL);
    run_epochs(monitor);
    assay_epoch_statistics statistics = assay_epoch_monitor_get_statistics(monitor);
    assert_reads(assay_reading_of(statistics.total_epoch_time), 1.125);
    assert_reads(statistics.avg_epoch_time, 0.5625);
    assert_reads(assay_reading_of(statistics.total_batch_time), 1.105);
    assert_reads(statistics.avg_batch_time, 1.105 / 6);
    assert_reads(statistics.min_batch_time, 0.082);
    assert_reads(statistics.max_batch_time, 0.538);
    assert_int_equal(statistics.num_batches, 6);
    assert_int_equal(statistics.num_epochs, 2);
    assert_reads(statistics.first_batch_time, 0.538);
    assert_int_equal(assay_epoch_monitor_status(monitor), ASSAY_OK);
    assay_epoch_monitor_free(monitor);
    assay_clock_free(clock);
}

static void test_epoch_lines_are_printed(void **state)
{
    (void)state;
    golden_text text;
    assay_clock *clock = test_clock();
    assay_epoch_monitor *monitor = new_epoch_monitor(clock, golden_open(&text), 2, NULL);
    run_epochs(monitor);
    assay_epoch_monitor_free(monitor);
    assay_clock_free(clock);
    fclose(text.stream);
    char *line = strtok(text.text, "\n");
    const char *starts[] = {"  Batch 0: 0.538s, CPU ",
                            "  Batch 1: 0.185s, CPU ",
                            "  Epoch end: 0.815s total, CPU ",
                            "  Batch timing: avg=0.268s, min="
                            "0.082s, max=0.538s",
                            "  Batch 0: 0.100s, CPU ",
                            "  Batch 1: 0.100s, CPU ",
                            "  Epoch end: 0.310s total, CPU ",
                            "  Batch timing: avg=0.100s, min="
                            "0.100s, max=0.100s"};
    for (size_t i = 0; i < 8; i++) {
        assert_non_null(line);
        if (strncmp(line, starts[i], strlen(starts[i])) != 0)
            fail_msg("'%s' does not start with '%s'", line, starts[i]);
        if (i == 0)
            assert_non_null(strstr(line, "MB, loss=0.009458"));
        line = strtok(NULL, "\n");
    }
    assert_null(line);
    free(text.text);
}

static assay_gpu_memory made_up_gpu(void *context)
{
    const double mb = 1024.0 * 1024.0;
    ++*(int *)context;
    return (assay_gpu_memory){assay_reading_of(14.4 * mb), assay_reading_of(3236 * mb),
                              assay_reading_of(2880 * mb)};
}

static void test_lines_show_the_gpu(void **state)
{
    (void)state;
    int asked = 0;
    golden_text text;
    assay_clock *clock = test_clock();
    assay_epoch_monitor *monitor = NULL;
    assay_epoch_monitor_options options = ASSAY_EPOCH_MONITOR_OPTIONS_INIT;
    options.output = golden_open(&text);
    options.verbose_batches = 1;
    options.clock = clock;
    options.gpu_memory = made_up_gpu;
    options.gpu_context = &asked;
    assert_int_equal(assay_epoch_monitor_new(&options, &monitor), ASSAY_OK);
    run_epochs(monitor);
    assay_epoch_monitor_free(monitor);
    assay_clock_free(clock);
    fclose(text.stream);
    assert_int_equal(asked, 4); /* a batch and the end of each of two epochs */
    assert_non_null(strstr(text.text, "  Batch 0: 0.538s, GPU 14.4MB, CPU "));
    assert_non_null(
        strstr(text.text, "  Epoch end: 0.815s total, GPU 14.4MB, 3236MB reserved, peak 2880MB\n"));
    free(text.text);
}

static void test_epochs_stand_in_a_shared_monitor(void **state)
{
    (void)state;
    assay_clock *clock = test_clock();
    assay_monitor *spans = NULL;
    assay_monitor_options options = ASSAY_MONITOR_OPTIONS_INIT;
    options.clock = clock;
    assert_int_equal(assay_monitor_new(&options, &spans), ASSAY_OK);
    assay_epoch_monitor *monitor = new_epoch_monitor(clock, NULL, -1, spans);
    assert_ptr_equal(assay_epoch_monitor_spans(monitor), spans);
    run_epochs(monitor);
    assay_record *record = NULL;
    assert_int_equal(assay_monitor_record(spans, NULL, &record), ASSAY_OK);
    assert_int_equal(record->operation_count, 2);
    assert_string_equal(record->operations[0].name, "epoch");
    assert_string_equal(record->operations[1].name, "batch");
    assert_int_equal(record->operations[1].parent, 0);
    assert_int_equal(record->operations[1].count, 6);
    assert_reads(assay_reading_of(record->operations[1].total_seconds), 1.105);
    assert_int_equal(record->counter_count, 1);
    assert_string_equal(record->counters[0].name, "loss");
    assay_record_free(record);
    assay_epoch_monitor_free(monitor);
    assay_monitor_free(spans);
    assay_clock_free(clock);
}

static void test_epoch_calls_out_of_order(void **state)
{
    (void)state;
    assay_clock *clock = test_clock();
    assay_epoch_monitor *monitor = new_epoch_monitor(clock, NULL, 0, NULL);
    assay_epoch_monitor_on_batch_end(monitor, 0, 1.0);
    assert_int_equal(assay_epoch_monitor_status(monitor), ASSAY_E_STATE);
    assay_epoch_monitor_on_epoch_end(monitor);
    assay_epoch_monitor_on_epoch_start(monitor);
    assay_epoch_monitor_on_batch_start(monitor, 0);
    assay_epoch_monitor_on_batch_start(monitor, 1); /* the first is left out */
    pass_ms(5);
    assay_epoch_monitor_on_batch_end(monitor, 1, NAN);
    assay_epoch_monitor_on_batch_start(monitor, 2); /* never ended */
    assay_epoch_monitor_on_epoch_end(monitor);
    assay_epoch_statistics statistics = assay_epoch_monitor_get_statistics(monitor);
    assert_int_equal(statistics.num_batches, 1);
    assert_int_equal(statistics.num_epochs, 1);
    assert_reads(assay_reading_of(statistics.total_batch_time), 0.005);
    assay_record *record = NULL;
    assert_int_equal(assay_monitor_record(assay_epoch_monitor_spans(monitor), NULL, &record),
                     ASSAY_OK);
    assert_int_equal(record->integrity.mismatched_ends, 0);
    assert_int_equal(record->open_span_count, 0);
    assay_record_free(record);
    assay_epoch_monitor_on_epoch_start(monitor);
    assay_epoch_monitor_on_batch_start(monitor, 0);
    assay_epoch_monitor_free(monitor); /* with everything open */
    assay_clock_free(clock);
}

static void test_disabled_epoch_monitor_is_nothing(void **state)
{
    (void)state;
    assay_epoch_monitor *monitor = NULL;
    assay_epoch_monitor_options options = ASSAY_EPOCH_MONITOR_OPTIONS_INIT;
    options.disabled = true;
    options.output = stdout;
    assert_int_equal(assay_epoch_monitor_new(&options, &monitor), ASSAY_OK);
    run_epochs(monitor);
    assert_int_equal(assay_epoch_monitor_get_statistics(monitor).num_batches, 0);
    assert_int_equal(assay_epoch_monitor_get_statistics(monitor).avg_batch_time.validity,
                     ASSAY_NOT_ENOUGH_DATA);
    assert_null(assay_epoch_monitor_spans(monitor));
    assay_epoch_monitor_free(monitor);
    run_epochs(NULL);
    assert_int_equal(assay_epoch_monitor_get_statistics(NULL).num_epochs, 0);
    options.struct_size = 0;
    assert_int_equal(assay_epoch_monitor_new(&options, &monitor), ASSAY_E_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_epoch_statistics_have_all_keys),
        cmocka_unit_test(test_epoch_lines_are_printed),
        cmocka_unit_test(test_lines_show_the_gpu),
        cmocka_unit_test(test_epochs_stand_in_a_shared_monitor),
        cmocka_unit_test(test_epoch_calls_out_of_order),
        cmocka_unit_test(test_disabled_epoch_monitor_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
