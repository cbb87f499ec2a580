/* The run record: everything measured about one run.
 *
 * The measuring side fills a record, and the reading side consumes it. A live run, a saved run and
 * a run measured by another tool take the same path. A record counts in seconds and bytes; printed
 * tables convert. Its JSON form is documented in docs/record.schema.json and read back by
 * assay_record_read(). Unknown keys are ignored, so that newer records stay readable.
 *
 *     assay_record *record = NULL;
 *     assay_error error;
 *     if (assay_record_read("run.json", &error, &record) != ASSAY_OK)
 *         fprintf(stderr, "%s\n", error.message);
 *     ...
 *     assay_record_free(record);
 *
 * Items of the record's arrays end in reserved members, which are zero: figures that a later
 * version measures take their place, and programs built with this one still find every item where
 * it is.
 *
 * Owner: the record owns everything reachable from it (strings and arrays live in its arena until
 * assay_record_free). Threads: a record has no locks; one thread at a time.
 */
#ifndef ASSAY_RECORD_H
#define ASSAY_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/reading.h"
#include "assay/status.h"
#include "assay/timeline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One bucket of the distribution of an operation's durations: `count` durations lie within 0.8 % of
 * `seconds`. Buckets are in ascending order. */
typedef struct assay_record_bucket {
    double seconds;
    uint64_t count;
} assay_record_bucket;

/* An operation at one place of the call tree, over all threads. Parents stand before children. */
typedef struct assay_record_operation {
    const char *name;
    int32_t parent; /* index into operations, -1 at the top */
    uint64_t count;
    double total_seconds;
    double self_seconds; /* total minus the total of the children */
    assay_reading min_seconds, max_seconds, mean_seconds;
    assay_reading std_seconds; /* sample standard deviation; not enough data below two spans */
    assay_reading p50_seconds, p95_seconds, p99_seconds, p999_seconds;
    const assay_record_bucket *buckets;
    size_t bucket_count;
    const double *samples_seconds; /* raw durations in order of completion, when asked for */
    size_t sample_count;
    uint64_t samples_dropped;       /* completed spans beyond the bounded sample store */
    assay_reading rss_delta_bytes;  /* resident memory, end minus begin, summed over spans */
    assay_reading rss_peak_bytes;   /* highest resident memory seen in a span */
    assay_reading heap_delta_bytes; /* this thread's live heap, end minus begin, summed */
    assay_reading heap_peak_bytes;  /* largest growth of the thread's live heap within one span */
    assay_reading heap_allocations; /* allocations made in spans, summed */
    assay_reading gpu_delta_bytes, gpu_peak_bytes;
    /* On a device: the summed time of its spans there, the bounds of a 95 % interval, and the
     * number of those spans. The interval assumes that the spans have one distribution. */
    assay_reading gpu_seconds, gpu_seconds_low, gpu_seconds_high;
    uint64_t gpu_spans;
    uint64_t rss_spans;    /* spans whose resident memory was read; the sums above are theirs */
    uint64_t failed_spans; /* of `count`: those that an error ended, such as a Python exception */
    /* Energy of the processor and the devices while its spans ran and a meter was attached
     * (meter.h), with bounds. The sum itself is missing if the spans are too short for the
     * counters. */
    assay_reading energy_joules, energy_joules_low, energy_joules_high;
    uint64_t reserved[8]; /* zero */
} assay_record_operation;

/* One span that was recorded individually (ASSAY_METRIC), in order of completion. */
typedef struct assay_record_metric {
    const char *operation;
    int32_t depth;        /* 0 at the top; nested metrics do not add to the total time */
    double start_seconds; /* since the start of the run */
    double duration_seconds;
    assay_reading cpu_delta_bytes; /* resident memory, end minus begin */
    assay_reading gpu_delta_bytes, gpu_peak_bytes;
    uint64_t reserved[4]; /* zero */
} assay_record_metric;

/* A value followed over time (a loss, a queue length). */
typedef struct assay_record_counter {
    const char *name;
    uint64_t count;
    double last, min, max, mean;
    uint64_t reserved[4]; /* zero */
} assay_record_counter;

/* A timeline of strictly nested spans: a thread, a task, a GPU stream. */
typedef struct assay_record_lane {
    const char *name;
    assay_lane_kind kind;
    int64_t process_id, thread_id;
    uint64_t spans;
    bool ended;                /* the thread is gone; its figures are kept */
    const char *host;          /* where it ran, where a record has lanes of several; or NULL */
    const char *device;        /* `id` of the device it belongs to, or NULL: the processor */
    uint64_t rank, rank_count; /* of its process in a parallel job; count 0: there is none */
    uint64_t reserved[4];      /* zero */
} assay_record_lane;

/* One entry of the event trace. */
typedef struct assay_record_event {
    assay_event_kind kind;
    uint32_t name;           /* span: index into operations; counter: into counters; function: into
                                the functions of `python`; kernel and copy: into those of `gpu` */
    uint32_t lane;           /* index into lanes */
    double start_seconds;    /* since the start of the run */
    double duration_seconds; /* of all but counters */
    double value;            /* counter only */
} assay_record_event;

/* A span that had begun but not ended when the journal was read. */
typedef struct assay_record_open_span {
    const char *operation;
    uint32_t lane;
    int32_t depth;
    double start_seconds;
    uint64_t reserved[4]; /* zero */
} assay_record_open_span;

/* A key of the machine description, in the order to print: "cpu", "cores", "kernel", … */
typedef struct assay_record_fact {
    const char *key;
    const char *value; /* NULL: unknown, see validity */
    assay_validity validity;
} assay_record_fact;

typedef struct assay_record_clock {
    const char *source; /* "tsc", "arm-counter", "clock-monotonic", "injected"; NULL if unknown */
    assay_reading frequency_hz, resolution_ns, cost_ns;
} assay_record_clock;

/* The measured process tree, filled by `assay run`. */
typedef struct assay_record_process {
    const char *const *command; /* argument vector */
    size_t command_count;
    int64_t process_id;
    bool finished;
    int32_t exit_status; /* 0…255; meaningless when `signal` is not 0 */
    int32_t signal;      /* that ended it, or 0 */
    assay_reading wall_seconds, user_seconds, sys_seconds;
    assay_reading peak_rss_bytes;      /* the largest process of the tree */
    assay_reading tree_peak_rss_bytes; /* the largest sum over the tree, sampled */
    assay_reading heap_peak_bytes, heap_allocations, heap_frees, heap_leaked_bytes;
    assay_reading voluntary_switches, involuntary_switches;
    assay_reading minor_faults, major_faults;
    assay_reading read_bytes, written_bytes; /* storage I/O */
    assay_reading steal_seconds;             /* machine-wide, while it ran */
    assay_reading process_count;             /* processes seen in the tree, of perhaps more */
    assay_reading observer_seconds;          /* processor time that assay itself took beside it */
    assay_reading tree_peak_pss_bytes; /* like tree_peak_rss_bytes, shared pages counted once */
    uint64_t heap_unseen_processes;    /* with programs that are not in the heap figures */
    uint64_t running_processes;        /* that outlived the command */
    uint64_t reserved[4];              /* zero */
} assay_record_process;

/* A process of the measured tree, and what could be seen of it. */
typedef struct assay_record_member {
    int64_t process_id;
    const char *name;               /* of its program, or NULL */
    const char *host;               /* as for a lane */
    uint64_t rank, rank_count;      /* as for a lane */
    assay_reading spans;            /* recorded */
    assay_reading heap_peak_bytes;  /* of its own */
    assay_reading heap_allocations; /* likewise */
    const char *unseen;             /* what could not be seen of it, and why; or NULL */
    uint64_t parent_id;             /* the process that started it, 0 if not known */
    assay_reading start_seconds;    /* from the start of the run */
    assay_reading end_seconds;      /* when it ended, or was last seen before */
    assay_reading user_seconds;     /* processor time without that of its children, when it was */
    assay_reading sys_seconds;      /* last seen */
    assay_reading peak_rss_bytes;
    bool running;         /* it outlived the command */
    uint64_t reserved[8]; /* zero */
} assay_record_member;

/* A function or a line of a Python program, with the time that samples found in it. */
typedef struct assay_record_code {
    const char *name; /* of the function: "Model.forward" */
    const char *file;
    uint64_t line;          /* of a function: its first */
    const char *source;     /* text of the line; NULL for a function, or if it cannot be read */
    double self_seconds;    /* processor time while it was the innermost */
    double total_seconds;   /* the same, with what it called */
    double waiting_seconds; /* of the main thread, while it was the innermost */
    assay_reading native_seconds; /* of self_seconds: in native code that it called */
    uint64_t samples;             /* with processor time, while it was the innermost */
    assay_reading
        self_error_seconds; /* standard error of self_seconds, from sampling; an upper
                               bound for code that runs longer than the time between looks */
    uint64_t reserved[2];   /* zero */
} assay_record_code;

/* A line of a Python program that allocates; estimates from sampled allocations. */
typedef struct assay_record_allocation {
    const char *name; /* of the function */
    const char *file;
    uint64_t line;
    const char *source;
    double bytes, blocks; /* allocated in the whole run; a block that is resized counts again */
    double peak_bytes;    /* of them living when the process had the most */
    double live_bytes;    /* living at the end */
    uint64_t samples;
    uint64_t reserved[4]; /* zero */
} assay_record_allocation;

/* Where the time and the memory of the Python programs went, over all of their processes. */
typedef struct assay_record_python {
    uint64_t processes;       /* that were sampled */
    double rate_hz;           /* at which processes were looked at, on average */
    uint64_t samples;         /* that found a thread with processor time */
    uint64_t torn_samples;    /* of them: the stack changed while it was read */
    uint64_t dropped_samples; /* counted for a caller, because there was no room */
    double busy_seconds;      /* processor time of threads that run Python, as far as samples saw */
    assay_reading native_seconds; /* of it: in native code */
    double waiting_seconds;       /* of the main threads */
    double
        other_seconds; /* processor time that samples missed: threads of libraries, short threads */
    double sampler_seconds;       /* processor time of the sampling itself */
    assay_reading interval_bytes; /* mean distance of sampled allocations */
    assay_reading allocated_bytes;
    assay_reading peak_bytes; /* of the largest process: living blocks of Python's allocators */
    assay_record_code *functions, *lines; /* the costliest first; at most 4096 and 1024 */
    size_t function_count, line_count;
    assay_record_allocation *allocations; /* the largest first; at most 1024 */
    size_t allocation_count;
    uint64_t reserved[8]; /* zero */
} assay_record_python;

/* A kernel that ran on a GPU: all launches with this name. */
typedef struct assay_record_kernel {
    const char *name;
    uint64_t count;
    double total_seconds, mean_seconds, min_seconds, max_seconds;
    assay_reading std_seconds; /* not enough data below two launches */
    double share;              /* of the time of all kernels */
    uint64_t reserved[4];      /* zero */
} assay_record_kernel;

/* Copies of one direction, or memory that was set. */
typedef struct assay_record_copy {
    const char *direction; /* "host to device", "device to host", "device to device", "set", … */
    const char *memory;    /* on the host's side: "pageable", "pinned"; or NULL */
    uint64_t count;
    double bytes, seconds;
    assay_reading bytes_per_second;
    uint64_t reserved[4]; /* zero */
} assay_record_copy;

/* Time in which a GPU ran no kernel, by its likely cause (docs/gpu.md has the rule). */
typedef struct assay_record_idle {
    const char *cause; /* "launch", "data loading", "host", "synchronisation", "queued", "copies",
                          "unknown" */
    uint64_t count;    /* gaps; of "copies": copies that ran without a kernel beside them */
    double seconds;
    double share;         /* of span_seconds */
    uint64_t reserved[4]; /* zero */
} assay_record_idle;

/* What GPUs did for the measured processes, summed over processes and devices. */
typedef struct assay_record_gpu {
    uint64_t processes;         /* of which there is any activity */
    double span_seconds;        /* from the first activity to the end of the last */
    double busy_seconds;        /* with a kernel, a copy or a set under way: a union */
    double kernel_seconds;      /* with a kernel under way */
    double idle_seconds;        /* without: span_seconds - kernel_seconds */
    double longest_gap_seconds; /* without anything under way */
    assay_reading allocations, releases, allocated_bytes;
    assay_reading peak_bytes;     /* the most of one process on one device at once */
    assay_reading live_bytes;     /* at the end */
    uint64_t dropped_records;     /* activities not seen, for want of a buffer */
    uint64_t untimed_records;     /* seen, but without times; they are in no figure */
    uint64_t late_records;        /* too late for a place among the gaps */
    const char *unseen;           /* what was not measured, and why; or NULL */
    assay_record_kernel *kernels; /* the costliest first */
    size_t kernel_count;
    assay_record_copy *copies; /* the largest first */
    size_t copy_count;
    assay_record_idle *idle; /* the longest first; those that occurred */
    size_t idle_count;
    uint64_t reserved[8]; /* zero */
} assay_record_gpu;

/* A device beside the processor. Its lanes are the streams. */
typedef struct assay_record_device {
    const char *id;   /* "cuda:0"; differs between the devices of a record */
    const char *name; /* "NVIDIA H200", or NULL */
    const char *driver;
    const char *host; /* as for a lane */
    assay_reading memory_bytes;
    assay_reading peak_bytes; /* the most that was allocated on it */
    assay_reading busy_seconds, energy_joules;
    uint64_t reserved[8]; /* zero */
} assay_record_device;

/* What a sample cost besides wall time. */
typedef struct assay_record_measure {
    const char *metric; /* "cpu_seconds", "peak_rss_bytes", …: see assay_record_comparison */
    const double
        *samples;        /* of ONE iteration, in the order of the subject's samples; NaN: unknown */
    size_t sample_count; /* as many as the subject has */
    uint64_t reserved[4]; /* zero */
} assay_record_measure;

enum { ASSAY_RECORD_MAX_LOOKS = 64 };

/* Something whose time was sampled: a function, a model, a command. */
typedef struct assay_record_subject {
    const char *name;
    const char
        *source; /* who measured: "assay", "google-benchmark", "hyperfine", "pyperf"; or NULL */
    const char
        *origin; /* file it was read from, where subjects of several stand together, or NULL */
    const char *const *command; /* argument vector, or none */
    size_t command_count;
    assay_record_fact *parameters; /* of a sweep: "size" is "4"; see assay_record_add_parameter */
    size_t parameter_count;
    /* Seconds of ONE iteration in each sample, in order of measuring; warm-up and rejected samples
     * are left out. NaN: the time was not finite. */
    const double *samples_seconds;
    size_t sample_count;
    /* The round of the interleaving each sample belongs to, strictly ascending: samples of two
     * subjects of one record with the same round are a pair. NULL: not interleaved. */
    const uint32_t *rounds;
    uint64_t iterations;     /* per sample; 0: unknown */
    uint64_t warmup_samples; /* left out at the beginning */
    uint64_t
        rejected_samples; /* left out because a sample of their round was disturbed or failed */
    uint64_t disturbed_samples; /* in which this subject itself was disturbed, left out or not */
    uint64_t failed_runs;       /* over the whole run */
    bool failures_timed; /* true: failed runs are samples like others; false: they give no sample */
    const char *stopped; /* why: "precision", "verdict", "budget", "noise", "count", "interrupted";
                            NULL: unknown */
    assay_reading mean_seconds, low_seconds, high_seconds; /* 95 % interval of the mean */
    assay_reading median_seconds, std_seconds, min_seconds, max_seconds;
    assay_reading user_seconds, sys_seconds; /* processor time of one iteration, mean */
    assay_reading peak_rss_bytes;
    const char *model;  /* the name of the model that it runs, or NULL */
    const char *covers; /* what one iteration includes, where the name does not say it; or NULL */
    assay_record_measure *measures;
    size_t measure_count;
    /* The looks at several subjects while their samples were taken: for each look the number of
     * pairs so far, and the share of the risk of a false alarm that may be spent by then. Both
     * ascend. None: the samples were looked at once. */
    const double *look_pairs, *look_spent;
    size_t look_count;
    uint64_t slow_samples;    /* of a slow mode, which stand apart above the others; 0: none */
    assay_reading slow_ratio; /* how many times as long they took as the others */
    const char *doubt;        /* why the interval of the mean cannot be trusted, or NULL */
    /* Of one iteration, mean over the samples, with what it lies between; of the whole machine. */
    assay_reading energy_joules, energy_joules_low, energy_joules_high;
    uint64_t throttled_samples; /* disturbed because a GPU was throttled, left out or not */
    const char *throttle;       /* why it was: "heat"; NULL: never, or not looked for */
    uint64_t reserved[8];       /* zero */
} assay_record_subject;

/* The arithmetic of one component of a model under one convention (flops.h, docs/flops.md). */
typedef struct assay_record_flops {
    const char *component;  /* "attention" */
    const char *convention; /* "assay", "pytorch", "fvcore", "deepspeed" */
    double forward, backward;
    uint64_t reserved[2]; /* zero */
} assay_record_flops;

/* A model that was measured: its settings, what it holds, what it computes. */
typedef struct assay_record_model {
    const char *name;       /* differs between the models of a record */
    const char *class_name; /* "lstm", or NULL */
    assay_record_fact *settings;
    size_t setting_count;
    assay_reading parameters; /* how many numbers it has learnt or may learn */
    assay_reading parameter_bytes, gradient_bytes, optimizer_bytes, activation_bytes,
        workspace_bytes; /* memory by use */
    const assay_record_flops *flops;
    size_t flop_count;
    uint64_t reserved[8]; /* zero */
} assay_record_model;

/* A number in the result of a study: an error, a duration, a share. */
typedef struct assay_record_figure {
    const char *name; /* "relative_error" */
    const char *of;   /* the model, function or data it belongs to; NULL: the whole run */
    assay_reading value;
    const char *unit;     /* "s", "bytes", "1/s", …; NULL: a pure number */
    const char *covers;   /* what it includes, in words; NULL: the name says it */
    uint64_t reserved[4]; /* zero */
} assay_record_figure;

/* Numbers in an order: losses by epoch, temperatures by place. */
typedef struct assay_record_series {
    const char *name; /* "loss" */
    const char *of;   /* as for a figure */
    const char *unit;
    const char *along;    /* what the order is: "epoch", "x"; or NULL */
    const double *places; /* where on `along` each value stands; NULL: 1, 2, 3, … */
    const double *values; /* NaN: there is none */
    size_t count;
    uint64_t reserved[4]; /* zero */
} assay_record_series;

/* How a cost grows with a size. The points are the subjects of this model whose parameters have
 * this key. */
typedef struct assay_record_scaling {
    const char *name;         /* "nodes" */
    const char *of;           /* the model, or NULL */
    const char *parameter;    /* "num_nodes": the key among the parameters of the subjects */
    const char *growth_class; /* "n log n"; NULL: none fits */
    assay_reading exponent, low, high; /* of n, with its 95 % interval */
    bool conclusive;                   /* no other class fits as well */
    uint64_t reserved[4];              /* zero */
} assay_record_scaling;

typedef enum assay_verdict {
    ASSAY_VERDICT_INCONCLUSIVE = 0,
    ASSAY_VERDICT_FASTER = 1, /* the candidate takes less time, or less of the metric, than the
                                 baseline */
    ASSAY_VERDICT_SLOWER = 2,
    ASSAY_VERDICT_SAME = 3
} assay_verdict;

/* "inconclusive", "faster", "slower", "same"; NULL for a value that is no verdict. Static. */
ASSAY_API const char *assay_verdict_text(assay_verdict verdict);

/* The comparison of one subject's cost with another's. */
typedef struct assay_record_comparison {
    const char *baseline, *candidate;               /* names of subjects */
    const char *baseline_origin, *candidate_origin; /* their origin, or NULL */
    /* What is compared: "wall_seconds", "cpu_seconds" (user and system time), "peak_rss_bytes",
     * "heap_peak_bytes", "heap_allocations", "energy_joules", or what a program calls its own
     * measures. NULL: wall time. */
    const char *metric;
    assay_reading ratio;     /* candidate's cost over the baseline's, of geometric means */
    assay_reading low, high; /* 95 % interval of the ratio */
    assay_verdict verdict;
    const char *reason; /* for an inconclusive verdict, always; else a remark or NULL */
    bool paired;        /* interleaved samples, compared round by round */
    uint64_t pairs;     /* of samples used; 0 when not paired */
    uint64_t baseline_samples, candidate_samples; /* used */
    double margin;                                /* relative differences up to this are ignored */
    double decision_level; /* of the interval that must lie beyond the margin; above 0.99 when
                              several comparisons share the risk */
    assay_reading decision_low, decision_high; /* that interval */
    bool beside; /* another comparison of the same two leads; this one is of a further metric */
    uint64_t reserved[3]; /* zero */
} assay_record_comparison;

/* A difference between the origins of two subjects that is not in the code: machine, build, … */
typedef struct assay_record_difference {
    const char *what;                               /* "cpu", "governor", "iterations of x", … */
    const char *baseline_origin, *candidate_origin; /* or NULL */
    const char *baseline, *candidate;               /* the two values; NULL: unknown */
    uint64_t reserved[4];                           /* zero */
} assay_record_difference;

/* What could not be recorded; all zero in a clean run. */
typedef struct assay_record_integrity {
    uint64_t dropped_spans;   /* no room left for their operation */
    uint64_t dropped_events;  /* overwritten in the bounded trace */
    uint64_t mismatched_ends; /* ends without a begin, or out of order */
    uint64_t abandoned_spans; /* begun, never ended, while an enclosing span ended */
    uint64_t torn_operations; /* an update was under way when the journal was read */
    uint64_t unreadable_journals;
    uint64_t full_journals;   /* they could not grow: the disk was full */
    uint64_t displaced_spans; /* no room for their bucket: counted in a neighbouring one */
    uint64_t reserved[2];     /* zero */
} assay_record_integrity;

typedef struct assay_record {
    size_t struct_size;  /* set by assay_record_new */
    const char *kind;    /* "run", "monitor", "journal", "bench", "compare", "profile", "study" */
    const char *name;    /* given by the user, or NULL */
    const char *study;   /* which study it is of: "rom"; or NULL */
    const char *created; /* ISO 8601, UTC */
    const char *assay_version;
    assay_record_fact *machine, *build, *git; /* arrays */
    size_t machine_count, build_count, git_count;
    assay_record_fact *settings; /* what a study was asked for: "seed", "epochs", … */
    size_t setting_count;
    assay_record_clock clock;
    bool has_process;
    assay_record_process process;
    assay_record_member *processes; /* of the tree, as far as they were seen */
    size_t process_count;
    bool has_python;
    assay_record_python python;
    bool has_gpu;
    assay_record_gpu gpu;
    assay_record_device *devices;
    size_t device_count;
    double total_seconds; /* sum over top-level spans; in JSON only where there are spans */
    assay_record_operation *operations;
    size_t operation_count;
    assay_record_metric *metrics;
    size_t metric_count;
    assay_record_counter *counters;
    size_t counter_count;
    assay_record_lane *lanes;
    size_t lane_count;
    assay_record_event *events; /* ascending by start within a lane */
    size_t event_count;
    assay_record_open_span *open_spans;
    size_t open_span_count;
    assay_record_subject *subjects; /* the first is the baseline */
    size_t subject_count;
    assay_record_model *models;
    size_t model_count;
    assay_record_figure *figures;
    size_t figure_count;
    assay_record_series *series;
    size_t series_count;
    assay_record_scaling *scalings;
    size_t scaling_count;
    assay_record_comparison *comparisons;
    size_t comparison_count;
    assay_record_difference *differences;
    size_t difference_count;
    assay_record_integrity integrity;
    /* Of the machine while the command ran, with bounds: `assay run --energy`. */
    assay_reading energy_joules, energy_joules_low, energy_joules_high;
    struct assay__arena *arena;           /* private */
    struct assay__record_growth *growths; /* private */
} assay_record;

/* An empty record; every reading starts as ASSAY_NOT_MEASURED, `assay_version` as this library's
 * version, every other text as NULL. At most 4 GiB of memory hang off one record. Caller frees. */
ASSAY_API ASSAY_MUST_USE assay_status assay_record_new(assay_record **record);
ASSAY_API void assay_record_free(assay_record *record);

/* Add the description of this machine, build and git working directory; also the clock in use and
 * the time now as `created`, where the record does not say them itself. Under a millisecond, once
 * the clock is calibrated. */
ASSAY_API ASSAY_MUST_USE assay_status assay_record_describe(assay_record *record);

enum assay_record_print_flags {
    ASSAY_RECORD_COMPACT = 1, /* one line instead of indented */
    ASSAY_RECORD_EVENTS = 2   /* include the event trace, which may be large */
};

/* Write as JSON: figures that are not finite as null, counts beyond 2^63 - 1 as that. What is
 * written can be read back: a record with dangling references (parents, lanes) is refused with
 * ASSAY_E_ARGUMENT before the first byte. Events are streamed; no tree is built.
 * assay_record_save replaces `path` atomically ("-": stdout); nothing half-written is left behind.
 */
ASSAY_API ASSAY_MUST_USE assay_status assay_record_print(const assay_record *record, FILE *stream,
                                                         unsigned flags, assay_error *error);
ASSAY_API ASSAY_MUST_USE assay_status assay_record_save(const assay_record *record,
                                                        const char *path, unsigned flags,
                                                        assay_error *error);

/* Read a record. Refuses files that are not JSON (ASSAY_E_FORMAT; ASSAY_E_TRUNCATED when they end
 * too early), not records (ASSAY_E_FORMAT), of a newer schema version (ASSAY_E_VERSION), larger
 * than 1 GiB (ASSAY_E_LIMIT), or whose references (parents, lanes) point outside. The error names
 * file and place: "run.json:12:5: …" in the text, "run.json: operations[3].parent: …" in its
 * meaning. While reading, a record takes about six times the size of its file in memory,
 * a malicious one twenty times. ASSAY_E_LIMIT for a file above 64 MiB, or above the size that the
 * environment variable ASSAY_MAX_INPUT gives ("2G"). */
ASSAY_API ASSAY_MUST_USE assay_status assay_record_read(const char *path, assay_error *error,
                                                        assay_record **record);

/* The same for records and for JSON results of Google Benchmark, hyperfine and pyperf, told apart
 * by their content. Another tool's benchmarks become subjects with that tool as their source:
 * repetitions of Google Benchmark (real_time; aggregates only where there are no repetitions),
 * times of hyperfine's runs (those that failed and were to be ignored, too), values of pyperf
 * (warm-ups left out). NaN and Infinity, which some tools write although JSON does not have them,
 * are read as null. Benchmarks of pyperf that are no times are left out: `error` then names the
 * first although the call succeeds (its status is ASSAY_OK when there was none); where there are no
 * others, the file is refused. */
ASSAY_API ASSAY_MUST_USE assay_status assay_record_load(const char *path, assay_error *error,
                                                        assay_record **record);

#ifdef __cplusplus
}
#endif

#endif
