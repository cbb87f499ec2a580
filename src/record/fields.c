/* The tables of fields. They replace a reader and a writer function for each struct: a field is
 * added in one line, and cannot be written without being read. The compiler checks each entry:
 * _Generic has no branch for a member whose C type differs from the type that the field stands for.
 */
#include "record/fields.h"

#include <string.h>

#define FIELD(type, structure, member, c_type)                                                     \
    {                                                                                              \
#member, type,                                                                             \
            offsetof(structure, member) * _Generic(((structure *)NULL)->member, c_type             \
                                                   : (size_t)1)                                    \
    }
#define TEXT(s, m)          FIELD(ASSAY__FIELD_TEXT, s, m, const char *)
#define OPTIONAL_TEXT(s, m) FIELD(ASSAY__FIELD_OPTIONAL_TEXT, s, m, const char *)
#define RARE_TEXT(s, m)     FIELD(ASSAY__FIELD_RARE_TEXT, s, m, const char *)
#define COUNT(s, m)         FIELD(ASSAY__FIELD_COUNT, s, m, uint64_t)
#define RARE_COUNT(s, m)    FIELD(ASSAY__FIELD_RARE_COUNT, s, m, uint64_t)
#define INTEGER(s, m)       FIELD(ASSAY__FIELD_INTEGER, s, m, int64_t)
#define DEPTH(s, m)         FIELD(ASSAY__FIELD_DEPTH, s, m, int32_t)
#define PARENT(s, m)        FIELD(ASSAY__FIELD_PARENT, s, m, int32_t)
#define INDEX(s, m)         FIELD(ASSAY__FIELD_INDEX, s, m, uint32_t)
#define NUMBER(s, m)        FIELD(ASSAY__FIELD_NUMBER, s, m, double)
#define READING(s, m)       FIELD(ASSAY__FIELD_READING, s, m, assay_reading)
#define RARE_READING(s, m)  FIELD(ASSAY__FIELD_RARE_READING, s, m, assay_reading)
#define FLAG(s, m)          FIELD(ASSAY__FIELD_FLAG, s, m, bool)
#define RARE_FLAG(s, m)     FIELD(ASSAY__FIELD_RARE_FLAG, s, m, bool)
#define LANE_KIND(s, m)     FIELD(ASSAY__FIELD_LANE_KIND, s, m, assay_lane_kind)
#define VERDICT(s, m)       FIELD(ASSAY__FIELD_VERDICT, s, m, assay_verdict)
#define END                                                                                        \
    {                                                                                              \
        NULL, ASSAY__FIELD_TEXT, 0                                                                 \
    }

/* One field per line. */
/* clang-format off */
const assay__field assay__record_fields[] = {
    OPTIONAL_TEXT(assay_record, kind),
    OPTIONAL_TEXT(assay_record, name),
    OPTIONAL_TEXT(assay_record, created),
    OPTIONAL_TEXT(assay_record, assay_version),
    RARE_TEXT(assay_record, study),
    RARE_READING(assay_record, energy_joules),
    RARE_READING(assay_record, energy_joules_low),
    RARE_READING(assay_record, energy_joules_high),
    END,
};

const assay__field assay__record_summary_fields[] = {
    READING(assay_record_process, wall_seconds),
    READING(assay_record_process, user_seconds),
    READING(assay_record_process, sys_seconds),
    READING(assay_record_process, peak_rss_bytes),
    READING(assay_record_process, tree_peak_rss_bytes),
    RARE_READING(assay_record_process, tree_peak_pss_bytes),
    READING(assay_record_process, heap_peak_bytes),
    READING(assay_record_process, heap_allocations),
    END,
};

const assay__field assay__record_process_fields[] = {
    INTEGER(assay_record_process, process_id),
    FLAG(assay_record_process, finished),
    READING(assay_record_process, heap_frees),
    READING(assay_record_process, heap_leaked_bytes),
    READING(assay_record_process, voluntary_switches),
    READING(assay_record_process, involuntary_switches),
    READING(assay_record_process, minor_faults),
    READING(assay_record_process, major_faults),
    READING(assay_record_process, read_bytes),
    READING(assay_record_process, written_bytes),
    READING(assay_record_process, steal_seconds),
    READING(assay_record_process, process_count),
    READING(assay_record_process, observer_seconds),
    RARE_COUNT(assay_record_process, heap_unseen_processes),
    RARE_COUNT(assay_record_process, running_processes),
    END,
};

const assay__field assay__record_clock_fields[] = {
    OPTIONAL_TEXT(assay_record_clock, source),
    READING(assay_record_clock, frequency_hz),
    READING(assay_record_clock, resolution_ns),
    READING(assay_record_clock, cost_ns),
    END,
};

const assay__field assay__record_operation_fields[] = {
    TEXT(assay_record_operation, name),
    PARENT(assay_record_operation, parent),
    COUNT(assay_record_operation, count),
    NUMBER(assay_record_operation, total_seconds),
    NUMBER(assay_record_operation, self_seconds),
    READING(assay_record_operation, min_seconds),
    READING(assay_record_operation, max_seconds),
    READING(assay_record_operation, mean_seconds),
    READING(assay_record_operation, std_seconds),
    READING(assay_record_operation, p50_seconds),
    READING(assay_record_operation, p95_seconds),
    READING(assay_record_operation, p99_seconds),
    READING(assay_record_operation, p999_seconds),
    RARE_READING(assay_record_operation, rss_delta_bytes),
    RARE_READING(assay_record_operation, rss_peak_bytes),
    RARE_COUNT(assay_record_operation, rss_spans),
    RARE_READING(assay_record_operation, heap_delta_bytes),
    RARE_READING(assay_record_operation, heap_peak_bytes),
    RARE_READING(assay_record_operation, heap_allocations),
    RARE_READING(assay_record_operation, gpu_delta_bytes),
    RARE_READING(assay_record_operation, gpu_peak_bytes),
    RARE_READING(assay_record_operation, gpu_seconds),
    RARE_READING(assay_record_operation, gpu_seconds_low),
    RARE_READING(assay_record_operation, gpu_seconds_high),
    RARE_COUNT(assay_record_operation, gpu_spans),
    RARE_READING(assay_record_operation, energy_joules),
    RARE_READING(assay_record_operation, energy_joules_low),
    RARE_READING(assay_record_operation, energy_joules_high),
    RARE_COUNT(assay_record_operation, failed_spans),
    COUNT(assay_record_operation, samples_dropped),
    END,
};

const assay__field assay__record_metric_fields[] = {
    TEXT(assay_record_metric, operation),
    DEPTH(assay_record_metric, depth),
    NUMBER(assay_record_metric, start_seconds),
    NUMBER(assay_record_metric, duration_seconds),
    RARE_READING(assay_record_metric, cpu_delta_bytes),
    RARE_READING(assay_record_metric, gpu_delta_bytes),
    RARE_READING(assay_record_metric, gpu_peak_bytes),
    END,
};

const assay__field assay__record_counter_fields[] = {
    TEXT(assay_record_counter, name),
    COUNT(assay_record_counter, count),
    NUMBER(assay_record_counter, last),
    NUMBER(assay_record_counter, min),
    NUMBER(assay_record_counter, max),
    NUMBER(assay_record_counter, mean),
    END,
};

const assay__field assay__record_lane_fields[] = {
    OPTIONAL_TEXT(assay_record_lane, name),
    LANE_KIND(assay_record_lane, kind),
    INTEGER(assay_record_lane, process_id),
    INTEGER(assay_record_lane, thread_id),
    COUNT(assay_record_lane, spans),
    FLAG(assay_record_lane, ended),
    RARE_TEXT(assay_record_lane, host),
    RARE_TEXT(assay_record_lane, device),
    RARE_COUNT(assay_record_lane, rank),
    RARE_COUNT(assay_record_lane, rank_count),
    END,
};

const assay__field assay__record_open_span_fields[] = {
    TEXT(assay_record_open_span, operation),
    INDEX(assay_record_open_span, lane),
    DEPTH(assay_record_open_span, depth),
    NUMBER(assay_record_open_span, start_seconds),
    END,
};

const assay__field assay__record_subject_fields[] = {
    TEXT(assay_record_subject, name),
    OPTIONAL_TEXT(assay_record_subject, source),
    OPTIONAL_TEXT(assay_record_subject, origin),
    COUNT(assay_record_subject, iterations),
    COUNT(assay_record_subject, warmup_samples),
    COUNT(assay_record_subject, rejected_samples),
    COUNT(assay_record_subject, disturbed_samples),
    COUNT(assay_record_subject, failed_runs),
    RARE_FLAG(assay_record_subject, failures_timed),
    OPTIONAL_TEXT(assay_record_subject, stopped),
    READING(assay_record_subject, mean_seconds),
    READING(assay_record_subject, low_seconds),
    READING(assay_record_subject, high_seconds),
    READING(assay_record_subject, median_seconds),
    READING(assay_record_subject, std_seconds),
    READING(assay_record_subject, min_seconds),
    READING(assay_record_subject, max_seconds),
    RARE_READING(assay_record_subject, user_seconds),
    RARE_READING(assay_record_subject, sys_seconds),
    RARE_READING(assay_record_subject, peak_rss_bytes),
    RARE_COUNT(assay_record_subject, slow_samples),
    RARE_READING(assay_record_subject, slow_ratio),
    RARE_TEXT(assay_record_subject, doubt),
    RARE_TEXT(assay_record_subject, model),
    RARE_TEXT(assay_record_subject, covers),
    RARE_TEXT(assay_record_subject, inputs),
    RARE_READING(assay_record_subject, energy_joules),
    RARE_READING(assay_record_subject, energy_joules_low),
    RARE_READING(assay_record_subject, energy_joules_high),
    RARE_COUNT(assay_record_subject, throttled_samples),
    RARE_TEXT(assay_record_subject, throttle),
    END,
};

const assay__field assay__record_member_fields[] = {
    INTEGER(assay_record_member, process_id),
    OPTIONAL_TEXT(assay_record_member, name),
    RARE_TEXT(assay_record_member, host),
    RARE_COUNT(assay_record_member, rank),
    RARE_COUNT(assay_record_member, rank_count),
    READING(assay_record_member, spans),
    READING(assay_record_member, heap_peak_bytes),
    READING(assay_record_member, heap_allocations),
    OPTIONAL_TEXT(assay_record_member, unseen),
    RARE_COUNT(assay_record_member, parent_id),
    RARE_READING(assay_record_member, start_seconds),
    RARE_READING(assay_record_member, end_seconds),
    RARE_READING(assay_record_member, user_seconds),
    RARE_READING(assay_record_member, sys_seconds),
    RARE_READING(assay_record_member, peak_rss_bytes),
    RARE_FLAG(assay_record_member, running),
    END,
};

const assay__field assay__record_device_fields[] = {
    TEXT(assay_record_device, id),
    OPTIONAL_TEXT(assay_record_device, name),
    OPTIONAL_TEXT(assay_record_device, driver),
    RARE_TEXT(assay_record_device, host),
    RARE_TEXT(assay_record_device, uuid),
    READING(assay_record_device, memory_bytes),
    READING(assay_record_device, peak_bytes),
    READING(assay_record_device, busy_seconds),
    READING(assay_record_device, energy_joules),
    END,
};

const assay__field assay__record_python_fields[] = {
    COUNT(assay_record_python, processes),
    NUMBER(assay_record_python, rate_hz),
    COUNT(assay_record_python, samples),
    RARE_COUNT(assay_record_python, torn_samples),
    RARE_COUNT(assay_record_python, dropped_samples),
    NUMBER(assay_record_python, busy_seconds),
    READING(assay_record_python, native_seconds),
    NUMBER(assay_record_python, waiting_seconds),
    NUMBER(assay_record_python, other_seconds),
    NUMBER(assay_record_python, sampler_seconds),
    READING(assay_record_python, interval_bytes),
    READING(assay_record_python, allocated_bytes),
    READING(assay_record_python, peak_bytes),
    END,
};

const assay__field assay__record_code_fields[] = {
    TEXT(assay_record_code, name),
    TEXT(assay_record_code, file),
    COUNT(assay_record_code, line),
    RARE_TEXT(assay_record_code, source),
    NUMBER(assay_record_code, self_seconds),
    NUMBER(assay_record_code, total_seconds),
    NUMBER(assay_record_code, waiting_seconds),
    READING(assay_record_code, native_seconds),
    COUNT(assay_record_code, samples),
    RARE_READING(assay_record_code, self_error_seconds),
    END,
};

const assay__field assay__record_allocation_fields[] = {
    TEXT(assay_record_allocation, name),
    TEXT(assay_record_allocation, file),
    COUNT(assay_record_allocation, line),
    RARE_TEXT(assay_record_allocation, source),
    NUMBER(assay_record_allocation, bytes),
    NUMBER(assay_record_allocation, blocks),
    NUMBER(assay_record_allocation, peak_bytes),
    NUMBER(assay_record_allocation, live_bytes),
    COUNT(assay_record_allocation, samples),
    END,
};

const assay__field assay__record_gpu_fields[] = {
    COUNT(assay_record_gpu, processes),
    NUMBER(assay_record_gpu, span_seconds),
    NUMBER(assay_record_gpu, busy_seconds),
    NUMBER(assay_record_gpu, kernel_seconds),
    NUMBER(assay_record_gpu, idle_seconds),
    NUMBER(assay_record_gpu, longest_gap_seconds),
    READING(assay_record_gpu, allocations),
    READING(assay_record_gpu, releases),
    READING(assay_record_gpu, allocated_bytes),
    READING(assay_record_gpu, peak_bytes),
    READING(assay_record_gpu, live_bytes),
    RARE_COUNT(assay_record_gpu, dropped_records),
    RARE_COUNT(assay_record_gpu, untimed_records),
    RARE_COUNT(assay_record_gpu, late_records),
    RARE_COUNT(assay_record_gpu, ranges),
    RARE_TEXT(assay_record_gpu, unseen),
    END,
};

const assay__field assay__record_kernel_fields[] = {
    TEXT(assay_record_kernel, name),
    COUNT(assay_record_kernel, count),
    NUMBER(assay_record_kernel, total_seconds),
    NUMBER(assay_record_kernel, mean_seconds),
    NUMBER(assay_record_kernel, min_seconds),
    NUMBER(assay_record_kernel, max_seconds),
    READING(assay_record_kernel, std_seconds),
    NUMBER(assay_record_kernel, share),
    END,
};

const assay__field assay__record_copy_fields[] = {
    TEXT(assay_record_copy, direction),
    RARE_TEXT(assay_record_copy, memory),
    COUNT(assay_record_copy, count),
    NUMBER(assay_record_copy, bytes),
    NUMBER(assay_record_copy, seconds),
    READING(assay_record_copy, bytes_per_second),
    END,
};

const assay__field assay__record_idle_fields[] = {
    TEXT(assay_record_idle, cause),
    COUNT(assay_record_idle, count),
    NUMBER(assay_record_idle, seconds),
    NUMBER(assay_record_idle, share),
    END,
};

const assay__field assay__record_measure_fields[] = {
    TEXT(assay_record_measure, metric),
    END,
};

const assay__field assay__record_model_fields[] = {
    TEXT(assay_record_model, name),
    OPTIONAL_TEXT(assay_record_model, class_name),
    READING(assay_record_model, parameters),
    READING(assay_record_model, parameter_bytes),
    READING(assay_record_model, gradient_bytes),
    READING(assay_record_model, optimizer_bytes),
    READING(assay_record_model, activation_bytes),
    READING(assay_record_model, workspace_bytes),
    END,
};

const assay__field assay__record_flops_fields[] = {
    TEXT(assay_record_flops, component),
    TEXT(assay_record_flops, convention),
    NUMBER(assay_record_flops, forward),
    NUMBER(assay_record_flops, backward),
    END,
};

const assay__field assay__record_figure_fields[] = {
    TEXT(assay_record_figure, name),
    OPTIONAL_TEXT(assay_record_figure, of),
    READING(assay_record_figure, value),
    OPTIONAL_TEXT(assay_record_figure, unit),
    RARE_TEXT(assay_record_figure, covers),
    END,
};

const assay__field assay__record_series_fields[] = {
    TEXT(assay_record_series, name),
    OPTIONAL_TEXT(assay_record_series, of),
    OPTIONAL_TEXT(assay_record_series, unit),
    OPTIONAL_TEXT(assay_record_series, along),
    END,
};

const assay__field assay__record_scaling_fields[] = {
    TEXT(assay_record_scaling, name),
    OPTIONAL_TEXT(assay_record_scaling, of),
    TEXT(assay_record_scaling, parameter),
    OPTIONAL_TEXT(assay_record_scaling, growth_class),
    READING(assay_record_scaling, exponent),
    READING(assay_record_scaling, low),
    READING(assay_record_scaling, high),
    FLAG(assay_record_scaling, conclusive),
    END,
};

const assay__field assay__record_comparison_fields[] = {
    TEXT(assay_record_comparison, baseline),
    TEXT(assay_record_comparison, candidate),
    OPTIONAL_TEXT(assay_record_comparison, baseline_origin),
    OPTIONAL_TEXT(assay_record_comparison, candidate_origin),
    RARE_TEXT(assay_record_comparison, metric),
    READING(assay_record_comparison, ratio),
    READING(assay_record_comparison, low),
    READING(assay_record_comparison, high),
    VERDICT(assay_record_comparison, verdict),
    OPTIONAL_TEXT(assay_record_comparison, reason),
    FLAG(assay_record_comparison, paired),
    COUNT(assay_record_comparison, pairs),
    COUNT(assay_record_comparison, baseline_samples),
    COUNT(assay_record_comparison, candidate_samples),
    NUMBER(assay_record_comparison, margin),
    NUMBER(assay_record_comparison, decision_level),
    READING(assay_record_comparison, decision_low),
    READING(assay_record_comparison, decision_high),
    RARE_FLAG(assay_record_comparison, beside),
    END,
};

const assay__field assay__record_difference_fields[] = {
    TEXT(assay_record_difference, what),
    OPTIONAL_TEXT(assay_record_difference, baseline_origin),
    OPTIONAL_TEXT(assay_record_difference, candidate_origin),
    OPTIONAL_TEXT(assay_record_difference, baseline),
    OPTIONAL_TEXT(assay_record_difference, candidate),
    END,
};

const assay__field assay__record_integrity_fields[] = {
    COUNT(assay_record_integrity, dropped_spans),
    COUNT(assay_record_integrity, dropped_events),
    COUNT(assay_record_integrity, mismatched_ends),
    COUNT(assay_record_integrity, abandoned_spans),
    COUNT(assay_record_integrity, torn_operations),
    COUNT(assay_record_integrity, unreadable_journals),
    RARE_COUNT(assay_record_integrity, full_journals),
    RARE_COUNT(assay_record_integrity, displaced_spans),
    RARE_COUNT(assay_record_integrity, dropped_metrics),
    END,
};

/* clang-format on */

void assay__record_clear_readings(const assay__field *fields, void *target)
{
    for (const assay__field *field = fields; field->key != NULL; field++)
        if (field->type == ASSAY__FIELD_READING || field->type == ASSAY__FIELD_RARE_READING)
            *(assay_reading *)((char *)target + field->offset) =
                assay_reading_missing(ASSAY_NOT_MEASURED);
}

/* The JSON names of the values of an enumeration. NULL marks a number that is no value of it. */
typedef struct words {
    const char *const *of;
    unsigned count;
} words;

#define WORDS(...)                                                                                 \
    {                                                                                              \
        (const char *const[]){__VA_ARGS__},                                                        \
            sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)                            \
    }

static const words lane_kinds = WORDS(NULL, "thread", "task", "gpu-stream", "process");
static const words verdicts = WORDS("inconclusive", "faster", "slower", "same");
static const words event_kinds = WORDS(NULL, "span", "counter", "function", "kernel", "copy");

static const char *word_of(const words *all, unsigned value)
{
    return value < all->count ? all->of[value] : NULL;
}

static int value_of(const words *all, const char *word, int otherwise)
{
    for (unsigned i = 0; i < all->count; i++)
        if (all->of[i] != NULL && strcmp(all->of[i], word) == 0)
            return (int)i;
    return otherwise;
}

const char *assay__lane_kind_name(assay_lane_kind kind)
{
    return word_of(&lane_kinds, kind);
}

int assay__lane_kind_of(const char *name)
{
    return value_of(&lane_kinds, name, 0);
}

const char *assay_verdict_text(assay_verdict verdict)
{
    return word_of(&verdicts, verdict);
}

int assay__verdict_of(const char *name)
{
    return value_of(&verdicts, name, -1);
}

const char *assay__event_kind_name(assay_event_kind kind)
{
    return word_of(&event_kinds, kind);
}

int assay__event_kind_of(const char *name)
{
    return value_of(&event_kinds, name, 0);
}
