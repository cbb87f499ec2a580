/* A record in which every field is set, each to a value of its own, for the tests of the codec. */
#ifndef ASSAY_TESTS_RECORD_SAMPLE_H
#define ASSAY_TESTS_RECORD_SAMPLE_H

#include <stdlib.h>
#include <string.h>

#include "assay/record.h"
#include "record/build.h"

static inline void fill_operations(assay_record *record)
{
    assay_record_operation step, inner;
    assay_record_operation_init(&step);
    assay_record_operation_init(&inner);
    assay_record_bucket *buckets = assay_record_allocate(record, 3, sizeof *buckets);
    double *samples = assay_record_allocate(record, 4, sizeof *samples);
    assert_non_null(buckets);
    assert_non_null(samples);
    buckets[0] = (assay_record_bucket){1e-9, 1};
    buckets[1] = (assay_record_bucket){0.1 / 3, 2};
    buckets[2] = (assay_record_bucket){1.25, 997};
    samples[0] = 0.1;
    samples[1] = 1e-300;
    samples[2] = 7;
    samples[3] = 0.1 + 0.2;
    step = (assay_record_operation){
        .name = "train \"step\" größe",
        .parent = -1,
        .count = 1000,
        .total_seconds = 1250.0000001,
        .self_seconds = -1e-12,
        .min_seconds = assay_reading_of(1e-9),
        .max_seconds = assay_reading_of(1.2500000000000002),
        .mean_seconds = assay_reading_of(1.0 / 3),
        .std_seconds = assay_reading_of(0.01),
        .p50_seconds = assay_reading_of(0.25),
        .p95_seconds = assay_reading_of(0.95),
        .p99_seconds = assay_reading_of(0.99),
        .p999_seconds = assay_reading_of(0.999),
        .buckets = buckets,
        .bucket_count = 3,
        .samples_seconds = samples,
        .sample_count = 4,
        .samples_dropped = 996,
        .failed_spans = 7,
        .rss_delta_bytes = assay_reading_of(-4096),
        .rss_peak_bytes = assay_reading_of(8589934592.0),
        .rss_spans = 3,
        .heap_delta_bytes = assay_reading_of(-1),
        .heap_peak_bytes = assay_reading_of(77),
        .heap_allocations = assay_reading_of(12),
        .gpu_delta_bytes = assay_reading_missing(ASSAY_UNSUPPORTED),
        .gpu_peak_bytes = assay_reading_missing(ASSAY_NOT_PERMITTED),
    };
    inner.name = "forward";
    inner.parent = 0;
    inner.count = 1;
    inner.std_seconds = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    assert_int_equal(assay_record_add_operation(record, &step), ASSAY_OK);
    assert_int_equal(assay_record_add_operation(record, &inner), ASSAY_OK);
}

static inline void fill_lists(assay_record *record)
{
    assay_record_metric metric = {"load data",
                                  2,
                                  0.5,
                                  0.25,
                                  assay_reading_of(-12288),
                                  assay_reading_missing(ASSAY_UNSUPPORTED),
                                  assay_reading_of(5),
                                  {0}};
    assay_record_counter counter = {"loss", 3, 0.125, -2.5, 1e30, 0.3, {0}};
    assay_record_lane thread = {
        "main", ASSAY_LANE_THREAD, 4711, 4712, 1001, false, NULL, NULL, 0, 0, {0}};
    assay_record_lane stream = {
        NULL, ASSAY_LANE_GPU_STREAM, 4711, -1, 0, true, "node7", "cuda:0", 3, 8, {0}};
    assay_record_event span = {ASSAY_EVENT_SPAN, 1, 0, 0.000000001, 0.1, 0};
    assay_record_event value = {ASSAY_EVENT_COUNTER, 0, 1, 0.2, 0, -3.5};
    assay_record_open_span open = {"forward", 1, 3, 12.5, {0}};
    assert_int_equal(assay_record_add_metric(record, &metric), ASSAY_OK);
    assert_int_equal(assay_record_add_counter(record, &counter), ASSAY_OK);
    assert_int_equal(assay_record_add_lane(record, &thread), ASSAY_OK);
    assert_int_equal(assay_record_add_lane(record, &stream), ASSAY_OK);
    assert_int_equal(assay_record_add_event(record, &span), ASSAY_OK);
    assert_int_equal(assay_record_add_event(record, &value), ASSAY_OK);
    assert_int_equal(assay__record_add_open_span(record, &open), ASSAY_OK);
}

static inline void fill_subjects(assay_record *record)
{
    static const char *const command[] = {"sort", "--parallel=2", ""};
    static const double samples[] = {0.1, 1e-9, 0.1 / 3};
    static const uint32_t rounds[] = {0, 7, UINT32_MAX};
    assay_record_subject plain, full = {
                                    .name = "sort (n=4)",
                                    .source = "assay",
                                    .origin = "before.json",
                                    .command = command,
                                    .command_count = 3,
                                    .samples_seconds = samples,
                                    .sample_count = 3,
                                    .rounds = rounds,
                                    .iterations = 1000,
                                    .warmup_samples = 5,
                                    .rejected_samples = 4,
                                    .disturbed_samples = 3,
                                    .failed_runs = 2,
                                    .failures_timed = true,
                                    .stopped = "budget",
                                    .slow_samples = 2,
                                    .slow_ratio = assay_reading_of(1.5),
                                    .doubt = "the times wander",
                                    .mean_seconds = assay_reading_of(0.0444),
                                    .low_seconds = assay_reading_of(0.03),
                                    .high_seconds = assay_reading_of(0.06),
                                    .median_seconds = assay_reading_of(0.0333),
                                    .std_seconds = assay_reading_of(0.05),
                                    .min_seconds = assay_reading_of(1e-9),
                                    .max_seconds = assay_reading_of(0.1),
                                    .user_seconds = assay_reading_of(0.04),
                                    .sys_seconds = assay_reading_missing(ASSAY_NOT_PERMITTED),
                                    .peak_rss_bytes = assay_reading_of(4096),
                                };
    static assay_record_measure measures[] = {{"cpu_seconds", samples, 3, {0}},
                                              {"peak_rss_bytes", samples, 3, {0}}};
    full.model = "lstm";
    full.covers = "the forward pass";
    full.inputs = "3 files, 1a2b";
    full.measures = measures;
    full.measure_count = 2;
    assert_int_equal(assay_record_add_parameter(record, &full, "n", "4"), ASSAY_OK);
    assert_int_equal(assay_record_add_parameter(record, &full, "order", "random"), ASSAY_OK);
    assay_record_subject_init(&plain);
    plain.name = "other";
    assert_int_equal(assay_record_add_subject(record, &full), ASSAY_OK);
    assert_int_equal(assay_record_add_subject(record, &plain), ASSAY_OK);
    assay_record_comparison comparison = {
        .baseline = "sort (n=4)",
        .candidate = "other",
        .baseline_origin = "before.json",
        .candidate_origin = "after.json",
        .metric = "peak_rss_bytes",
        .ratio = assay_reading_of(1.25),
        .low = assay_reading_of(1.2),
        .high = assay_reading_of(1.3),
        .verdict = ASSAY_VERDICT_SLOWER,
        .reason = "none",
        .paired = true,
        .pairs = 3,
        .baseline_samples = 4,
        .candidate_samples = 5,
        .margin = 0.01,
        .decision_level = 0.995,
        .decision_low = assay_reading_of(1.1),
        .decision_high = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA),
    };
    assay_record_difference difference = {"cpu", "before.json", "after.json", "Z80", NULL, {0}};
    assert_int_equal(assay__record_add_comparison(record, &comparison), ASSAY_OK);
    assert_int_equal(assay__record_add_difference(record, &difference), ASSAY_OK);
}

static inline void fill_findings(assay_record *record)
{
    static const double places[] = {0, 0.5}, values[] = {1e-3, 1.0 / 3};
    static const assay_record_flops flops[] = {{"attention", "assay", 2e12, 4e12 + 1, {0}},
                                               {"attention", "fvcore", 1e12, 0, {0}}};
    assay_record_model model, other;
    assay_record_model_init(&model);
    assay_record_model_init(&other);
    model.name = "lstm";
    model.class_name = "lstm";
    model.parameters = assay_reading_of(1234);
    model.parameter_bytes = assay_reading_of(4936);
    model.gradient_bytes = assay_reading_of(4937);
    model.optimizer_bytes = assay_reading_of(9872);
    model.activation_bytes = assay_reading_of(77);
    model.workspace_bytes = assay_reading_missing(ASSAY_UNSUPPORTED);
    model.flops = flops;
    model.flop_count = 2;
    other.name = "mvar";
    assert_int_equal(assay_record_add_model_setting(record, &model, "hidden-dim", "64"), ASSAY_OK);
    assert_int_equal(assay_record_add_model_setting(record, &model, "rate", "0.001"), ASSAY_OK);
    assert_int_equal(assay_record_add_model_setting(record, &model, "version", "1.0"), ASSAY_OK);
    assert_int_equal(assay_record_add_model(record, &model), ASSAY_OK);
    assert_int_equal(assay_record_add_model(record, &other), ASSAY_OK);
    const assay_record_figure figures[] = {
        {"relative_error", "lstm", assay_reading_of(0.0123), NULL, NULL, {0}},
        {"training_time",
         NULL,
         assay_reading_missing(ASSAY_NOT_ENOUGH_DATA),
         "s",
         "all epochs",
         {0}}};
    const assay_record_series series[] = {
        {"loss", "lstm", NULL, "epoch", NULL, values, 2, {0}},
        {"conductivity", NULL, "W/mK", "x", places, values, 2, {0}}};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(assay_record_add_figure(record, &figures[i]), ASSAY_OK);
        assert_int_equal(assay_record_add_series(record, &series[i]), ASSAY_OK);
    }
    assay_record_scaling scaling;
    assay_record_scaling_init(&scaling);
    scaling.name = "nodes";
    scaling.of = "lstm";
    scaling.parameter = "num_nodes";
    scaling.growth_class = "n log n";
    scaling.exponent = assay_reading_of(1.125);
    scaling.low = assay_reading_of(1.0625);
    scaling.high = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    scaling.conclusive = true;
    assert_int_equal(assay_record_add_scaling(record, &scaling), ASSAY_OK);
    assert_int_equal(assay_record_add_setting(record, "seed", "42"), ASSAY_OK);
    assert_int_equal(assay_record_add_setting(record, "data", "x.npy"), ASSAY_OK);
}

static inline void fill_places(assay_record *record)
{
    assay_record_device device;
    assay_record_member member, bare;
    assay_record_device_init(&device);
    assay_record_member_init(&member);
    assay_record_member_init(&bare);
    device.id = "cuda:0";
    device.name = "Z81";
    device.driver = "580";
    device.host = "node7";
    device.memory_bytes = assay_reading_of(1e11);
    device.peak_bytes = assay_reading_of(1e10);
    device.busy_seconds = assay_reading_of(0.5);
    device.energy_joules = assay_reading_missing(ASSAY_NOT_PERMITTED);
    member.process_id = 4711;
    member.name = "python3";
    member.host = "node7";
    member.rank = 3;
    member.rank_count = 8;
    member.spans = assay_reading_of(1001);
    member.heap_peak_bytes = assay_reading_of(4096);
    member.heap_allocations = assay_reading_of(12);
    member.unseen = "heap: statically linked";
    member.parent_id = 4710;
    member.start_seconds = assay_reading_of(0.125);
    member.end_seconds = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    member.user_seconds = assay_reading_of(0.5);
    member.sys_seconds = assay_reading_of(0.25);
    member.peak_rss_bytes = assay_reading_of(1e6);
    member.running = true;
    bare.process_id = 4713;
    assert_int_equal(assay_record_add_device(record, &device), ASSAY_OK);
    assert_int_equal(assay_record_add_process(record, &member), ASSAY_OK);
    assert_int_equal(assay_record_add_process(record, &bare), ASSAY_OK);
}

static inline void fill_python(assay_record *record)
{
    static assay_record_code functions[] = {{.name = "Model.forward",
                                             .file = "train.py",
                                             .line = 10,
                                             .self_seconds = 2,
                                             .total_seconds = 2.5,
                                             .waiting_seconds = 0.25,
                                             .native_seconds = {1.5, ASSAY_VALID},
                                             .samples = 200,
                                             .self_error_seconds = {0.125, ASSAY_VALID}}};
    static assay_record_code lines[] = {{.name = "Model.forward",
                                         .file = "train.py",
                                         .line = 12,
                                         .source = "x = x @ self.w",
                                         .self_seconds = 2,
                                         .total_seconds = 2.25,
                                         .native_seconds = {0, ASSAY_NOT_ENOUGH_DATA},
                                         .samples = 200}};
    static assay_record_allocation allocations[] = {{.name = "Model.forward",
                                                     .file = "train.py",
                                                     .line = 12,
                                                     .source = "x = x @ self.w",
                                                     .bytes = 4096,
                                                     .blocks = 8,
                                                     .peak_bytes = 2048,
                                                     .live_bytes = 1024,
                                                     .samples = 3}};
    record->has_python = true;
    record->python = (assay_record_python){.processes = 2,
                                           .rate_hz = 100,
                                           .samples = 250,
                                           .torn_samples = 1,
                                           .dropped_samples = 2,
                                           .busy_seconds = 2.5,
                                           .native_seconds = {1.5, ASSAY_VALID},
                                           .waiting_seconds = 0.25,
                                           .other_seconds = 0.5,
                                           .sampler_seconds = 0.0625,
                                           .interval_bytes = {65536, ASSAY_VALID},
                                           .allocated_bytes = {4096, ASSAY_VALID},
                                           .peak_bytes = {0, ASSAY_NOT_ENOUGH_DATA},
                                           .functions = functions,
                                           .function_count = 1,
                                           .lines = lines,
                                           .line_count = 1,
                                           .allocations = allocations,
                                           .allocation_count = 1};
}

static inline void fill_process(assay_record *record)
{
    static const char *const command[] = {"python3", "-c", "print(\"hi\")", ""};
    record->has_process = true;
    record->process = (assay_record_process){
        .command = command,
        .command_count = 4,
        .process_id = 4711,
        .finished = true,
        .exit_status = 3,
        .wall_seconds = assay_reading_of(12.345678901),
        .user_seconds = assay_reading_of(1.5),
        .sys_seconds = assay_reading_of(0.25),
        .peak_rss_bytes = assay_reading_of(104857600),
        .tree_peak_rss_bytes = assay_reading_of(204857600),
        .heap_peak_bytes = assay_reading_of(1048577),
        .heap_allocations = assay_reading_of(42),
        .heap_frees = assay_reading_of(41),
        .heap_leaked_bytes = assay_reading_of(24),
        .voluntary_switches = assay_reading_of(7),
        .involuntary_switches = assay_reading_of(8),
        .minor_faults = assay_reading_of(9),
        .major_faults = assay_reading_of(10),
        .read_bytes = assay_reading_of(4096),
        .written_bytes = assay_reading_of(8192),
        .steal_seconds = assay_reading_missing(ASSAY_NOT_PERMITTED),
        .process_count = assay_reading_of(2),
        .observer_seconds = assay_reading_of(0.0625),
        .tree_peak_pss_bytes = assay_reading_of(154857600),
        .heap_unseen_processes = 1,
        .running_processes = 1,
    };
}

static inline assay_record *sample_record(void)
{
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    record->kind = "run";
    record->name = assay_record_text(record, "my run");
    record->created = "2026-11-30T12:00:00Z";
    record->assay_version = "9.8.7";
    record->total_seconds = 1250.5000001;
    assert_int_equal(assay_record_add_machine(record, "cpu", "Z80 @ 4 MHz", ASSAY_VALID), ASSAY_OK);
    assert_int_equal(assay_record_add_machine(record, "gpu", NULL, ASSAY_UNSUPPORTED), ASSAY_OK);
    assert_int_equal(assay_record_add_machine(record, "cores", "1", ASSAY_VALID), ASSAY_OK);
    assert_int_equal(assay__record_add_build(record, "compiler", "gcc 12", ASSAY_VALID), ASSAY_OK);
    assert_int_equal(assay__record_add_git(record, "commit", NULL, ASSAY_NOT_MEASURED), ASSAY_OK);
    record->clock = (assay_record_clock){"tsc", assay_reading_of(2.5e9), assay_reading_of(8.125),
                                         assay_reading_missing(ASSAY_NOT_MEASURED)};
    record->study = "rom";
    fill_process(record);
    fill_places(record);
    fill_python(record);
    fill_findings(record);
    fill_operations(record);
    fill_lists(record);
    fill_subjects(record);
    record->integrity = (assay_record_integrity){1, 2, 3, 4, 5, INT64_MAX, 7, 8, 9, {0}};
    return record;
}

/* The record as JSON, in memory that the caller frees. */
static inline char *printed(const assay_record *record, unsigned flags)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assert_int_equal(assay_record_print(record, stream, flags, NULL), ASSAY_OK);
    fclose(stream);
    return text;
}

#endif
