/* Asserts that two records are the same, member by member. The members are written out here and not
 * taken from the tables of the codec, so that a member that the tables forget is found. */
#ifndef ASSAY_TESTS_RECORD_SAME_H
#define ASSAY_TESTS_RECORD_SAME_H

#include <math.h>

#include "assay/record.h"
#include "record/decode.h"
#include "tests/unit/record_sample.h"

static inline void same_number(double a, double b)
{
    if (!isnan(a) || !isnan(b))
        assert_memory_equal(&a, &b, sizeof a);
}

static inline void same_reading(assay_reading a, assay_reading b)
{
    assert_int_equal(a.validity, b.validity);
    if (a.validity == ASSAY_VALID)
        same_number(a.value, b.value);
}

static inline void same_text(const char *a, const char *b)
{
    if (a == NULL || b == NULL)
        assert_ptr_equal(a, b);
    else
        assert_string_equal(a, b);
}

static inline void same_facts(const assay_record_fact *a, size_t a_count,
                              const assay_record_fact *b, size_t b_count)
{
    assert_int_equal(a_count, b_count);
    for (size_t i = 0; i < a_count; i++) {
        same_text(a[i].key, b[i].key);
        same_text(a[i].value, b[i].value);
        assert_int_equal(a[i].validity, b[i].validity);
    }
}

/* What a later version may use is zero today, also after a way through JSON. */
#define SAME_RESERVED(a, b)                                                                        \
    do {                                                                                           \
        for (size_t word = 0; word < sizeof(a)->reserved / sizeof *(a)->reserved; word++)          \
            assert_true((a)->reserved[word] == 0 && (b)->reserved[word] == 0);                     \
    } while (0)

static inline void same_process(const assay_record_process *a, const assay_record_process *b)
{
    SAME_RESERVED(a, b);
    assert_int_equal(a->command_count, b->command_count);
    for (size_t i = 0; i < a->command_count; i++)
        same_text(a->command[i], b->command[i]);
    assert_int_equal(a->process_id, b->process_id);
    assert_int_equal(a->finished, b->finished);
    if (a->signal == 0)
        assert_int_equal(a->exit_status, b->exit_status);
    assert_int_equal(a->signal, b->signal);
    same_reading(a->wall_seconds, b->wall_seconds);
    same_reading(a->user_seconds, b->user_seconds);
    same_reading(a->sys_seconds, b->sys_seconds);
    same_reading(a->peak_rss_bytes, b->peak_rss_bytes);
    same_reading(a->tree_peak_rss_bytes, b->tree_peak_rss_bytes);
    same_reading(a->heap_peak_bytes, b->heap_peak_bytes);
    same_reading(a->heap_allocations, b->heap_allocations);
    same_reading(a->heap_frees, b->heap_frees);
    same_reading(a->heap_leaked_bytes, b->heap_leaked_bytes);
    same_reading(a->voluntary_switches, b->voluntary_switches);
    same_reading(a->involuntary_switches, b->involuntary_switches);
    same_reading(a->minor_faults, b->minor_faults);
    same_reading(a->major_faults, b->major_faults);
    same_reading(a->read_bytes, b->read_bytes);
    same_reading(a->written_bytes, b->written_bytes);
    same_reading(a->steal_seconds, b->steal_seconds);
    same_reading(a->process_count, b->process_count);
    same_reading(a->observer_seconds, b->observer_seconds);
    same_reading(a->tree_peak_pss_bytes, b->tree_peak_pss_bytes);
    assert_int_equal(a->heap_unseen_processes, b->heap_unseen_processes);
    assert_int_equal(a->running_processes, b->running_processes);
}

static inline void same_distribution(const assay_record_operation *a,
                                     const assay_record_operation *b)
{
    assert_int_equal(a->bucket_count, b->bucket_count);
    for (size_t i = 0; i < a->bucket_count; i++) {
        same_number(a->buckets[i].seconds, b->buckets[i].seconds);
        assert_int_equal(a->buckets[i].count, b->buckets[i].count);
    }
    assert_int_equal(a->sample_count, b->sample_count);
    for (size_t i = 0; i < a->sample_count; i++)
        same_number(a->samples_seconds[i], b->samples_seconds[i]);
    assert_int_equal(a->samples_dropped, b->samples_dropped);
    assert_int_equal(a->failed_spans, b->failed_spans);
}

static inline void same_operation(const assay_record_operation *a, const assay_record_operation *b)
{
    SAME_RESERVED(a, b);
    same_text(a->name, b->name);
    assert_int_equal(a->parent, b->parent);
    assert_int_equal(a->count, b->count);
    same_number(a->total_seconds, b->total_seconds);
    same_number(a->self_seconds, b->self_seconds);
    same_reading(a->min_seconds, b->min_seconds);
    same_reading(a->max_seconds, b->max_seconds);
    same_reading(a->mean_seconds, b->mean_seconds);
    same_reading(a->std_seconds, b->std_seconds);
    same_reading(a->p50_seconds, b->p50_seconds);
    same_reading(a->p95_seconds, b->p95_seconds);
    same_reading(a->p99_seconds, b->p99_seconds);
    same_reading(a->p999_seconds, b->p999_seconds);
    same_reading(a->rss_delta_bytes, b->rss_delta_bytes);
    same_reading(a->rss_peak_bytes, b->rss_peak_bytes);
    assert_int_equal(a->rss_spans, b->rss_spans);
    same_reading(a->heap_delta_bytes, b->heap_delta_bytes);
    same_reading(a->heap_peak_bytes, b->heap_peak_bytes);
    same_reading(a->heap_allocations, b->heap_allocations);
    same_reading(a->gpu_delta_bytes, b->gpu_delta_bytes);
    same_reading(a->gpu_peak_bytes, b->gpu_peak_bytes);
    same_distribution(a, b);
}

static inline void same_metric(const assay_record_metric *a, const assay_record_metric *b)
{
    SAME_RESERVED(a, b);
    same_text(a->operation, b->operation);
    assert_int_equal(a->depth, b->depth);
    same_number(a->start_seconds, b->start_seconds);
    same_number(a->duration_seconds, b->duration_seconds);
    same_reading(a->cpu_delta_bytes, b->cpu_delta_bytes);
    same_reading(a->gpu_delta_bytes, b->gpu_delta_bytes);
    same_reading(a->gpu_peak_bytes, b->gpu_peak_bytes);
}

static inline void same_counter(const assay_record_counter *a, const assay_record_counter *b)
{
    SAME_RESERVED(a, b);
    same_text(a->name, b->name);
    assert_int_equal(a->count, b->count);
    same_number(a->last, b->last);
    same_number(a->min, b->min);
    same_number(a->max, b->max);
    same_number(a->mean, b->mean);
}

static inline void same_lane(const assay_record_lane *a, const assay_record_lane *b)
{
    SAME_RESERVED(a, b);
    same_text(a->name, b->name);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->process_id, b->process_id);
    assert_int_equal(a->thread_id, b->thread_id);
    assert_int_equal(a->spans, b->spans);
    assert_int_equal(a->ended, b->ended);
    same_text(a->host, b->host);
    same_text(a->device, b->device);
    assert_int_equal(a->rank, b->rank);
    assert_int_equal(a->rank_count, b->rank_count);
}

static inline void same_member(const assay_record_member *a, const assay_record_member *b)
{
    SAME_RESERVED(a, b);
    assert_int_equal(a->process_id, b->process_id);
    same_text(a->name, b->name);
    same_text(a->host, b->host);
    assert_int_equal(a->rank, b->rank);
    assert_int_equal(a->rank_count, b->rank_count);
    same_reading(a->spans, b->spans);
    same_reading(a->heap_peak_bytes, b->heap_peak_bytes);
    same_reading(a->heap_allocations, b->heap_allocations);
    same_text(a->unseen, b->unseen);
    assert_int_equal(a->parent_id, b->parent_id);
    same_reading(a->start_seconds, b->start_seconds);
    same_reading(a->end_seconds, b->end_seconds);
    same_reading(a->user_seconds, b->user_seconds);
    same_reading(a->sys_seconds, b->sys_seconds);
    same_reading(a->peak_rss_bytes, b->peak_rss_bytes);
    assert_int_equal(a->running, b->running);
}

static inline void same_device(const assay_record_device *a, const assay_record_device *b)
{
    SAME_RESERVED(a, b);
    same_text(a->id, b->id);
    same_text(a->name, b->name);
    same_text(a->driver, b->driver);
    same_text(a->host, b->host);
    same_reading(a->memory_bytes, b->memory_bytes);
    same_reading(a->peak_bytes, b->peak_bytes);
    same_reading(a->busy_seconds, b->busy_seconds);
    same_reading(a->energy_joules, b->energy_joules);
}

static inline void same_model(const assay_record_model *a, const assay_record_model *b)
{
    SAME_RESERVED(a, b);
    same_text(a->name, b->name);
    same_text(a->class_name, b->class_name);
    same_facts(a->settings, a->setting_count, b->settings, b->setting_count);
    same_reading(a->parameters, b->parameters);
    same_reading(a->parameter_bytes, b->parameter_bytes);
    same_reading(a->gradient_bytes, b->gradient_bytes);
    same_reading(a->optimizer_bytes, b->optimizer_bytes);
    same_reading(a->activation_bytes, b->activation_bytes);
    same_reading(a->workspace_bytes, b->workspace_bytes);
    assert_int_equal(a->flop_count, b->flop_count);
    for (size_t i = 0; i < a->flop_count; i++) {
        same_text(a->flops[i].component, b->flops[i].component);
        same_text(a->flops[i].convention, b->flops[i].convention);
        same_number(a->flops[i].forward, b->flops[i].forward);
        same_number(a->flops[i].backward, b->flops[i].backward);
    }
}

static inline void same_figure(const assay_record_figure *a, const assay_record_figure *b)
{
    SAME_RESERVED(a, b);
    same_text(a->name, b->name);
    same_text(a->of, b->of);
    same_reading(a->value, b->value);
    same_text(a->unit, b->unit);
    same_text(a->covers, b->covers);
}

static inline void same_series(const assay_record_series *a, const assay_record_series *b)
{
    SAME_RESERVED(a, b);
    same_text(a->name, b->name);
    same_text(a->of, b->of);
    same_text(a->unit, b->unit);
    same_text(a->along, b->along);
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->places == NULL, b->places == NULL);
    for (size_t i = 0; i < a->count; i++) {
        same_number(a->values[i], b->values[i]);
        if (a->places != NULL)
            same_number(a->places[i], b->places[i]);
    }
}

static inline void same_scaling(const assay_record_scaling *a, const assay_record_scaling *b)
{
    SAME_RESERVED(a, b);
    same_text(a->name, b->name);
    same_text(a->of, b->of);
    same_text(a->parameter, b->parameter);
    same_text(a->growth_class, b->growth_class);
    same_reading(a->exponent, b->exponent);
    same_reading(a->low, b->low);
    same_reading(a->high, b->high);
    assert_int_equal(a->conclusive, b->conclusive);
}

static inline void same_event(const assay_record_event *a, const assay_record_event *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->name, b->name);
    assert_int_equal(a->lane, b->lane);
    same_number(a->start_seconds, b->start_seconds);
    same_number(a->duration_seconds, b->duration_seconds);
    same_number(a->value, b->value);
}

static inline void same_open_span(const assay_record_open_span *a, const assay_record_open_span *b)
{
    SAME_RESERVED(a, b);
    same_text(a->operation, b->operation);
    assert_int_equal(a->lane, b->lane);
    assert_int_equal(a->depth, b->depth);
    same_number(a->start_seconds, b->start_seconds);
}

static inline void same_subject_samples(const assay_record_subject *a,
                                        const assay_record_subject *b)
{
    assert_int_equal(a->sample_count, b->sample_count);
    assert_int_equal(a->rounds == NULL, b->rounds == NULL);
    for (size_t i = 0; i < a->sample_count; i++) {
        same_number(a->samples_seconds[i], b->samples_seconds[i]);
        if (a->rounds != NULL)
            assert_int_equal(a->rounds[i], b->rounds[i]);
    }
}

static inline void same_subject(const assay_record_subject *a, const assay_record_subject *b)
{
    SAME_RESERVED(a, b);
    same_text(a->name, b->name);
    same_text(a->source, b->source);
    same_text(a->origin, b->origin);
    assert_int_equal(a->command_count, b->command_count);
    for (size_t i = 0; i < a->command_count; i++)
        same_text(a->command[i], b->command[i]);
    same_facts(a->parameters, a->parameter_count, b->parameters, b->parameter_count);
    same_subject_samples(a, b);
    same_text(a->model, b->model);
    same_text(a->covers, b->covers);
    same_text(a->inputs, b->inputs);
    assert_int_equal(a->measure_count, b->measure_count);
    for (size_t i = 0; i < a->measure_count; i++) {
        same_text(a->measures[i].metric, b->measures[i].metric);
        assert_int_equal(a->measures[i].sample_count, b->measures[i].sample_count);
        for (size_t k = 0; k < a->measures[i].sample_count; k++)
            same_number(a->measures[i].samples[k], b->measures[i].samples[k]);
    }
    assert_int_equal(a->iterations, b->iterations);
    assert_int_equal(a->warmup_samples, b->warmup_samples);
    assert_int_equal(a->rejected_samples, b->rejected_samples);
    assert_int_equal(a->disturbed_samples, b->disturbed_samples);
    assert_int_equal(a->failed_runs, b->failed_runs);
    assert_int_equal(a->failures_timed, b->failures_timed);
    same_text(a->stopped, b->stopped);
    assert_int_equal(a->slow_samples, b->slow_samples);
    same_reading(a->slow_ratio, b->slow_ratio);
    same_text(a->doubt, b->doubt);
    same_reading(a->mean_seconds, b->mean_seconds);
    same_reading(a->low_seconds, b->low_seconds);
    same_reading(a->high_seconds, b->high_seconds);
    same_reading(a->median_seconds, b->median_seconds);
    same_reading(a->std_seconds, b->std_seconds);
    same_reading(a->min_seconds, b->min_seconds);
    same_reading(a->max_seconds, b->max_seconds);
    same_reading(a->user_seconds, b->user_seconds);
    same_reading(a->sys_seconds, b->sys_seconds);
    same_reading(a->peak_rss_bytes, b->peak_rss_bytes);
    same_reading(a->energy_joules, b->energy_joules);
    same_reading(a->energy_joules_low, b->energy_joules_low);
    same_reading(a->energy_joules_high, b->energy_joules_high);
    assert_int_equal(a->throttled_samples, b->throttled_samples);
    same_text(a->throttle, b->throttle);
}

static inline void same_comparison(const assay_record_comparison *a,
                                   const assay_record_comparison *b)
{
    SAME_RESERVED(a, b);
    same_text(a->baseline, b->baseline);
    same_text(a->candidate, b->candidate);
    same_text(a->baseline_origin, b->baseline_origin);
    same_text(a->candidate_origin, b->candidate_origin);
    same_text(a->metric, b->metric);
    same_reading(a->ratio, b->ratio);
    same_reading(a->low, b->low);
    same_reading(a->high, b->high);
    assert_int_equal(a->verdict, b->verdict);
    same_text(a->reason, b->reason);
    assert_int_equal(a->paired, b->paired);
    assert_int_equal(a->pairs, b->pairs);
    assert_int_equal(a->baseline_samples, b->baseline_samples);
    assert_int_equal(a->candidate_samples, b->candidate_samples);
    same_number(a->margin, b->margin);
    same_number(a->decision_level, b->decision_level);
    same_reading(a->decision_low, b->decision_low);
    same_reading(a->decision_high, b->decision_high);
}

static inline void same_difference(const assay_record_difference *a,
                                   const assay_record_difference *b)
{
    SAME_RESERVED(a, b);
    same_text(a->what, b->what);
    same_text(a->baseline_origin, b->baseline_origin);
    same_text(a->candidate_origin, b->candidate_origin);
    same_text(a->baseline, b->baseline);
    same_text(a->candidate, b->candidate);
}

static inline void same_integrity(const assay_record_integrity *a, const assay_record_integrity *b)
{
    SAME_RESERVED(a, b);
    assert_int_equal(a->dropped_spans, b->dropped_spans);
    assert_int_equal(a->dropped_events, b->dropped_events);
    assert_int_equal(a->mismatched_ends, b->mismatched_ends);
    assert_int_equal(a->abandoned_spans, b->abandoned_spans);
    assert_int_equal(a->torn_operations, b->torn_operations);
    assert_int_equal(a->unreadable_journals, b->unreadable_journals);
    assert_int_equal(a->full_journals, b->full_journals);
    assert_int_equal(a->displaced_spans, b->displaced_spans);
    assert_int_equal(a->dropped_metrics, b->dropped_metrics);
}

#define SAME_ALL(compare, array, count)                                                            \
    do {                                                                                           \
        assert_int_equal(a->count, b->count);                                                      \
        for (size_t i = 0; i < a->count; i++)                                                      \
            compare(&a->array[i], &b->array[i]);                                                   \
    } while (0)

static inline void same_code(const assay_record_code *a, const assay_record_code *b)
{
    same_text(a->name, b->name);
    same_text(a->file, b->file);
    assert_int_equal(a->line, b->line);
    same_text(a->source, b->source);
    assert_true(a->self_seconds == b->self_seconds && a->total_seconds == b->total_seconds);
    assert_true(a->waiting_seconds == b->waiting_seconds);
    same_reading(a->native_seconds, b->native_seconds);
    assert_int_equal(a->samples, b->samples);
    same_reading(a->self_error_seconds, b->self_error_seconds);
}

static inline void same_allocation(const assay_record_allocation *a,
                                   const assay_record_allocation *b)
{
    same_text(a->name, b->name);
    same_text(a->file, b->file);
    assert_int_equal(a->line, b->line);
    same_text(a->source, b->source);
    assert_true(a->bytes == b->bytes && a->blocks == b->blocks);
    assert_true(a->peak_bytes == b->peak_bytes && a->live_bytes == b->live_bytes);
    assert_int_equal(a->samples, b->samples);
}

static inline void same_python(const assay_record_python *a, const assay_record_python *b)
{
    assert_true(a->processes == b->processes && a->rate_hz == b->rate_hz);
    assert_int_equal(a->samples, b->samples);
    assert_int_equal(a->torn_samples, b->torn_samples);
    assert_int_equal(a->dropped_samples, b->dropped_samples);
    assert_true(a->busy_seconds == b->busy_seconds && a->waiting_seconds == b->waiting_seconds);
    assert_true(a->other_seconds == b->other_seconds && a->sampler_seconds == b->sampler_seconds);
    same_reading(a->native_seconds, b->native_seconds);
    same_reading(a->interval_bytes, b->interval_bytes);
    same_reading(a->allocated_bytes, b->allocated_bytes);
    same_reading(a->peak_bytes, b->peak_bytes);
    assert_int_equal(a->function_count, b->function_count);
    assert_int_equal(a->line_count, b->line_count);
    assert_int_equal(a->allocation_count, b->allocation_count);
    for (size_t i = 0; i < a->function_count; i++)
        same_code(&a->functions[i], &b->functions[i]);
    for (size_t i = 0; i < a->line_count; i++)
        same_code(&a->lines[i], &b->lines[i]);
    for (size_t i = 0; i < a->allocation_count; i++)
        same_allocation(&a->allocations[i], &b->allocations[i]);
}

static inline void same_record(const assay_record *a, const assay_record *b)
{
    same_text(a->kind, b->kind);
    same_text(a->name, b->name);
    same_text(a->created, b->created);
    same_text(a->assay_version, b->assay_version);
    same_text(a->study, b->study);
    same_number(a->total_seconds, b->total_seconds);
    same_facts(a->machine, a->machine_count, b->machine, b->machine_count);
    same_facts(a->build, a->build_count, b->build, b->build_count);
    same_facts(a->git, a->git_count, b->git, b->git_count);
    same_facts(a->settings, a->setting_count, b->settings, b->setting_count);
    same_text(a->clock.source, b->clock.source);
    same_reading(a->clock.frequency_hz, b->clock.frequency_hz);
    same_reading(a->clock.resolution_ns, b->clock.resolution_ns);
    same_reading(a->clock.cost_ns, b->clock.cost_ns);
    assert_int_equal(a->has_process, b->has_process);
    same_process(&a->process, &b->process);
    SAME_ALL(same_operation, operations, operation_count);
    SAME_ALL(same_metric, metrics, metric_count);
    SAME_ALL(same_counter, counters, counter_count);
    SAME_ALL(same_lane, lanes, lane_count);
    SAME_ALL(same_event, events, event_count);
    SAME_ALL(same_open_span, open_spans, open_span_count);
    SAME_ALL(same_subject, subjects, subject_count);
    SAME_ALL(same_member, processes, process_count);
    assert_int_equal(a->has_python, b->has_python);
    same_python(&a->python, &b->python);
    SAME_ALL(same_device, devices, device_count);
    SAME_ALL(same_model, models, model_count);
    SAME_ALL(same_figure, figures, figure_count);
    SAME_ALL(same_series, series, series_count);
    SAME_ALL(same_scaling, scalings, scaling_count);
    SAME_ALL(same_comparison, comparisons, comparison_count);
    SAME_ALL(same_difference, differences, difference_count);
    same_integrity(&a->integrity, &b->integrity);
}

/* Through JSON and back, and the same text again. */
static inline void check_round_trip(const assay_record *record, unsigned flags)
{
    assay_error error = {0};
    assay_record *back = NULL;
    char *text = printed(record, flags);
    if (assay__record_parse(text, strlen(text), &error, &back) != ASSAY_OK)
        fail_msg("%s", error.message);
    same_record(record, back);
    char *again = printed(back, flags);
    assert_string_equal(text, again);
    free(again);
    free(text);
    assay_record_free(back);
}

#endif
