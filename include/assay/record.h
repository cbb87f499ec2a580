/* The run record: everything measured about one run.
 *
 * Code that measures fills a record. Code that reports, compares or plots reads it. So a live run,
 * a saved run and a run measured by another tool are all treated alike. Times are in seconds and
 * sizes in bytes; printed tables convert them. The JSON form is documented in
 * docs/record.schema.json, and assay_record_read() reads it back. Unknown keys are ignored, so that
 * newer records stay readable.
 *
 *     assay_record *record = NULL;
 *     assay_error error;
 *     if (assay_record_read("run.json", &error, &record) != ASSAY_OK)
 *         fprintf(stderr, "%s\n", error.message);
 *     ...
 *     assay_record_free(record);
 *
 * The items of the record's arrays end in reserved members, which are zero. Later versions use this
 * room for new figures. So the size of an item stays the same, and programs that were built with an
 * older version still work.
 *
 * Owner: the record owns everything that it points to (strings and arrays live in its arena until
 * assay_record_free). Threads: a record has no locks; use it from one thread at a time.
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

/* An operation at one place of the call tree, over all threads. In the array of operations, parents
 * come before their children. */
typedef struct assay_record_operation {
    const char *name;
    int32_t parent; /* index into operations; -1 at the top */
    uint64_t count;
    double total_seconds;
    double self_seconds; /* total minus the total of the children */
    assay_reading min_seconds, max_seconds, mean_seconds;
    assay_reading std_seconds; /* sample standard deviation; not enough data below two spans */
    assay_reading p50_seconds, p95_seconds, p99_seconds, p999_seconds;
    const assay_record_bucket *buckets;
    size_t bucket_count;
    const double *samples_seconds; /* raw durations in order of completion, if requested */
    size_t sample_count;
    uint64_t samples_dropped;       /* spans whose raw duration found no room */
    assay_reading rss_delta_bytes;  /* resident memory, end minus begin, summed over spans */
    assay_reading rss_peak_bytes;   /* highest resident memory seen in a span */
    assay_reading heap_delta_bytes; /* this thread's live heap, end minus begin, summed */
    assay_reading heap_peak_bytes;  /* largest growth of the thread's live heap within one span */
    assay_reading heap_allocations; /* allocations made in spans, summed */
    assay_reading gpu_delta_bytes, gpu_peak_bytes;
    /* The summed time of its spans on streams of devices, the bounds of its 95 % interval, and the
     * number of those spans. The interval assumes that all spans have the same distribution. */
    assay_reading gpu_seconds, gpu_seconds_low, gpu_seconds_high;
    uint64_t gpu_spans;
    uint64_t rss_spans;    /* spans whose resident memory was read; only they are in the rss sums */
    uint64_t failed_spans; /* of `count`: spans that an error ended, such as a Python exception */
    /* Energy of the processor and the devices while its spans ran and a meter was attached
     * (meter.h), with bounds. The estimate itself is missing if the spans are too short for the
     * energy counters. */
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

/* A sequence of strictly nested spans: a thread, a task, a GPU stream. */
typedef struct assay_record_lane {
    const char *name;
    assay_lane_kind kind;
    int64_t process_id, thread_id;
    uint64_t spans;
    bool ended;                /* the thread is gone; its figures are kept */
    const char *host;          /* host on which it ran, if the record has several hosts; or NULL */
    const char *device;        /* `id` of the device it belongs to; NULL: the processor */
    uint64_t rank, rank_count; /* of its process in a parallel job; rank_count 0: no such job */
    uint64_t reserved[4];      /* zero */
} assay_record_lane;

/* One entry of the event trace. */
typedef struct assay_record_event {
    assay_event_kind kind;
    uint32_t name;           /* an index. Span: into operations. Counter: into counters. Function:
                                into the functions of `python`. Kernel, copy: into those of `gpu` */
    uint32_t lane;           /* index into lanes */
    double start_seconds;    /* since the start of the run */
    double duration_seconds; /* of all kinds but counters */
    double value;            /* of counters only */
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
    const char *value; /* NULL if unknown; `validity` says why */
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
    int32_t exit_status; /* 0…255; meaningless if `signal` is not 0 */
    int32_t signal;      /* the signal that ended it, or 0 */
    assay_reading wall_seconds, user_seconds, sys_seconds;
    assay_reading peak_rss_bytes;      /* of the largest process of the tree */
    assay_reading tree_peak_rss_bytes; /* the largest sampled sum over the tree */
    assay_reading heap_peak_bytes, heap_allocations, heap_frees, heap_leaked_bytes;
    assay_reading voluntary_switches, involuntary_switches;
    assay_reading minor_faults, major_faults;
    assay_reading read_bytes, written_bytes; /* storage I/O */
    assay_reading steal_seconds;             /* machine-wide, while it ran */
    assay_reading process_count;             /* processes seen; short ones may have been missed */
    assay_reading observer_seconds;          /* processor time that assay itself used meanwhile */
    assay_reading tree_peak_pss_bytes;       /* like tree_peak_rss_bytes; shared pages count once */
    uint64_t heap_unseen_processes; /* processes with a program that the heap figures lack */
    uint64_t running_processes;     /* processes that outlived the command */
    uint64_t reserved[4];           /* zero */
} assay_record_process;

/* A process of the measured tree, with the figures that could be observed. */
typedef struct assay_record_member {
    int64_t process_id;
    const char *name;               /* of its program, or NULL */
    const char *host;               /* as for a lane */
    uint64_t rank, rank_count;      /* as for a lane */
    assay_reading spans;            /* number of recorded spans */
    assay_reading heap_peak_bytes;  /* of this process alone */
    assay_reading heap_allocations; /* of this process alone */
    const char *unseen;             /* what could not be observed, and why; or NULL */
    uint64_t parent_id;             /* the process that started it; 0 if not known */
    assay_reading start_seconds;    /* from the start of the run */
    assay_reading end_seconds;      /* when it ended, or was last seen */
    assay_reading user_seconds;     /* processor time when it was last seen, without children */
    assay_reading sys_seconds;      /* likewise */
    assay_reading peak_rss_bytes;
    bool running;         /* it outlived the command */
    uint64_t reserved[8]; /* zero */
} assay_record_member;

/* A function or a line of a Python program, with the time that samples found in it. */
typedef struct assay_record_code {
    const char *name; /* of the function: "Model.forward" */
    const char *file;
    uint64_t line;          /* of a function: its first line */
    const char *source;     /* text of the line; NULL for a function, or if it cannot be read */
    double self_seconds;    /* processor time while it was the innermost stack frame */
    double total_seconds;   /* the same, including the functions that it called */
    double waiting_seconds; /* time in which the main thread waited in it, as innermost frame */
    assay_reading native_seconds; /* of self_seconds: in native code that it called */
    uint64_t samples;             /* samples with processor time in which it was the innermost */
    assay_reading
        self_error_seconds; /* standard error of self_seconds, from sampling; an upper
                               bound for code that runs longer than the time between samples */
    uint64_t reserved[2];   /* zero */
} assay_record_code;

/* A line of a Python program that allocates. The figures are estimated from sampled allocations. */
typedef struct assay_record_allocation {
    const char *name; /* of the function */
    const char *file;
    uint64_t line;
    const char *source;
    double bytes, blocks; /* allocated in the whole run; a block that is resized counts again */
    double peak_bytes;    /* of `bytes`: allocated when the heap of the process was largest */
    double live_bytes;    /* of `bytes`: still allocated at the end */
    uint64_t samples;
    uint64_t reserved[4]; /* zero */
} assay_record_allocation;

/* Where the time and the memory of the Python programs went, over all of their processes. */
typedef struct assay_record_python {
    uint64_t processes;           /* processes that were sampled */
    double rate_hz;               /* average sampling rate of a process */
    uint64_t samples;             /* samples that found a thread with processor time */
    uint64_t torn_samples;        /* of these: the stack changed while it was read */
    uint64_t dropped_samples;     /* samples that were counted for a caller, for lack of room */
    double busy_seconds;          /* sampled processor time of threads that run Python */
    assay_reading native_seconds; /* of busy_seconds: in native code */
    double waiting_seconds;       /* time in which the main threads waited */
    double
        other_seconds; /* processor time that samples missed: threads of libraries, short threads */
    double sampler_seconds;       /* processor time of the sampling itself */
    assay_reading interval_bytes; /* mean number of bytes between two sampled allocations */
    assay_reading allocated_bytes;
    assay_reading peak_bytes; /* live blocks of Python's allocators: peaks summed over processes */
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

/* All copies in one direction, or all settings of memory. */
typedef struct assay_record_copy {
    const char *direction; /* "host to device", "device to host", "device to device", "set", … */
    const char *memory;    /* on the host's side: "pageable", "pinned"; or NULL */
    uint64_t count;
    double bytes, seconds;
    assay_reading bytes_per_second;
    uint64_t reserved[4]; /* zero */
} assay_record_copy;

/* The time in which a GPU ran no kernel for one likely cause (docs/gpu.md has the rule). */
typedef struct assay_record_idle {
    const char *cause; /* "launch", "data loading", "host", "synchronisation", "queued", "copies",
                          "unknown" */
    uint64_t count;    /* number of gaps; for "copies": of copies that ran while no kernel ran */
    double seconds;
    double share;         /* of span_seconds */
    uint64_t reserved[4]; /* zero */
} assay_record_idle;

/* The work of GPUs for the measured processes, summed over processes and devices. */
typedef struct assay_record_gpu {
    uint64_t processes;    /* processes with any activity */
    double span_seconds;   /* from the first activity to the end of the last one. If the program
                              marked ranges: the sum of this time over the ranges */
    double busy_seconds;   /* time in which a kernel, a copy or a set was under way */
    double kernel_seconds; /* time in which a kernel was under way */
    double idle_seconds;   /* time without a kernel: span_seconds - kernel_seconds */
    double longest_gap_seconds; /* the longest time in which nothing was under way */
    assay_reading allocations, releases, allocated_bytes;
    assay_reading peak_bytes;     /* the highest figure of one process on one device */
    assay_reading live_bytes;     /* still allocated at the end */
    uint64_t dropped_records;     /* activities that were lost, for lack of a buffer */
    uint64_t untimed_records;     /* activities without times; they are in no figure */
    uint64_t late_records;        /* activities that came too late to be sorted among the gaps */
    const char *unseen;           /* what was not measured, and why; or NULL */
    assay_record_kernel *kernels; /* the costliest first */
    size_t kernel_count;
    assay_record_copy *copies; /* the largest first */
    size_t copy_count;
    assay_record_idle *idle; /* causes that occurred, the longest time first */
    size_t idle_count;
    uint64_t ranges;      /* that the program marked, if only those were recorded; else 0 */
    uint64_t reserved[7]; /* zero */
} assay_record_gpu;

/* A device beside the processor. Its streams are lanes. */
typedef struct assay_record_device {
    const char *id;   /* "cuda:0", or "GPU-8f6c1a2b" if processes call different boards by the same
                         number; differs between the devices of a record */
    const char *name; /* "NVIDIA H200", or NULL */
    const char *driver;
    const char *host; /* as for a lane */
    assay_reading memory_bytes;
    assay_reading peak_bytes; /* the most memory that was allocated on it at once */
    assay_reading busy_seconds, energy_joules;
    const char *uuid;     /* of the board: "GPU-8f6c…"; or NULL */
    uint64_t reserved[7]; /* zero */
} assay_record_device;

/* A cost of the samples other than wall time. */
typedef struct assay_record_measure {
    const char *metric; /* "cpu_seconds", "peak_rss_bytes", …: see assay_record_comparison */
    const double
        *samples;        /* of ONE iteration, in the order of the subject's samples; NaN: unknown */
    size_t sample_count; /* the same as that of the subject */
    uint64_t reserved[4]; /* zero */
} assay_record_measure;

enum { ASSAY_RECORD_MAX_LOOKS = 64 };

/* Something whose time was sampled: a function, a model, a command. */
typedef struct assay_record_subject {
    const char *name;
    const char *source; /* the tool: "assay", "google-benchmark", "hyperfine", "pyperf"; or NULL */
    const char
        *origin; /* the file it was read from, if the record has subjects of several; or NULL */
    const char *const *command; /* argument vector; NULL if it is no command */
    size_t command_count;
    assay_record_fact *parameters; /* of a sweep: "size" is "4"; see assay_record_add_parameter */
    size_t parameter_count;
    /* Seconds of ONE iteration in each sample, in the order of measuring, without warm-up and
     * rejected samples. NaN: the time was not finite. */
    const double *samples_seconds;
    size_t sample_count;
    /* The round of the interleaving to which each sample belongs, strictly ascending. Two samples
     * of two subjects of one record are a pair if they have the same round. NULL: the subjects were
     * not interleaved. */
    const uint32_t *rounds;
    uint64_t iterations;     /* in one sample; 0: unknown */
    uint64_t warmup_samples; /* left out at the beginning */
    uint64_t
        rejected_samples; /* left out because a sample of their round was disturbed or failed */
    uint64_t disturbed_samples; /* in which this subject itself was disturbed, left out or not */
    uint64_t failed_runs;       /* in the whole run */
    bool failures_timed; /* true: failed runs are samples like others; false: they give no sample */
    const char *stopped; /* why sampling stopped: "precision", "verdict", "budget", "noise",
                            "count", "interrupted"; NULL: unknown */
    assay_reading mean_seconds, low_seconds, high_seconds; /* 95 % interval of the mean */
    assay_reading median_seconds, std_seconds, min_seconds, max_seconds;
    assay_reading user_seconds, sys_seconds; /* processor time of one iteration, mean */
    assay_reading peak_rss_bytes;
    const char *model;  /* the name of the model that it runs, or NULL */
    const char *covers; /* what one iteration includes, if the name does not tell; or NULL */
    assay_record_measure *measures;
    size_t measure_count;
    /* The looks at several subjects while their samples were taken. Each look has the number of
     * pairs so far, and the share of the risk of a false alarm that may be spent by then. Both
     * ascend. If there are none, there was one look, at the end. */
    const double *look_pairs, *look_spent;
    size_t look_count;
    uint64_t slow_samples;    /* samples of a slow mode, well separated from the others; 0: none */
    assay_reading slow_ratio; /* how many times as long they took as the others */
    const char *doubt;        /* why the interval of the mean cannot be trusted, or NULL */
    /* Energy of the whole machine in one iteration: the mean over the samples, and its bounds. */
    assay_reading energy_joules, energy_joules_low, energy_joules_high;
    uint64_t throttled_samples; /* disturbed because a GPU was throttled, left out or not */
    const char *throttle;       /* the reason: "heat"; NULL: it never was, or was not observed */
    /* Identifies the list of inputs if each sample has an input of its own, or NULL. Sample i of
     * two subjects with equal texts had the same input, so these subjects are compared input by
     * input if they did not take turns. */
    const char *inputs;
    uint64_t reserved[7]; /* zero */
} assay_record_subject;

/* The arithmetic of one component of a model under one convention (flops.h, docs/flops.md). */
typedef struct assay_record_flops {
    const char *component;  /* "attention" */
    const char *convention; /* "assay", "pytorch", "fvcore", "deepspeed" */
    double forward, backward;
    uint64_t reserved[2]; /* zero */
} assay_record_flops;

/* A model that was measured: its settings, its memory and its arithmetic. */
typedef struct assay_record_model {
    const char *name;       /* differs between the models of a record */
    const char *class_name; /* "lstm", or NULL */
    assay_record_fact *settings;
    size_t setting_count;
    assay_reading parameters; /* number of trainable parameters */
    assay_reading parameter_bytes, gradient_bytes, optimizer_bytes, activation_bytes,
        workspace_bytes; /* memory by purpose */
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
    const char *covers;   /* what it includes, in words; NULL: the name tells */
    uint64_t reserved[4]; /* zero */
} assay_record_figure;

/* A sequence of numbers: losses by epoch, temperatures by position. */
typedef struct assay_record_series {
    const char *name; /* "loss" */
    const char *of;   /* as for a figure */
    const char *unit;
    const char *along;    /* the name of the axis: "epoch", "x"; or NULL */
    const double *places; /* the position of each value on that axis; NULL: 1, 2, 3, … */
    const double *values; /* NaN: no value */
    size_t count;
    uint64_t reserved[4]; /* zero */
} assay_record_series;

/* How a cost grows with a size. The data points are the subjects of the model `of` that have the
 * parameter `parameter`. */
typedef struct assay_record_scaling {
    const char *name;         /* "nodes" */
    const char *of;           /* the model, or NULL */
    const char *parameter;    /* "num_nodes": the key among the parameters of the subjects */
    const char *growth_class; /* "n log n"; NULL: no class fits */
    assay_reading exponent, low, high; /* of n, with its 95 % interval */
    bool conclusive;                   /* no other class fits equally well */
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
    /* The metric that is compared: "wall_seconds", "cpu_seconds" (user and system time),
     * "peak_rss_bytes", "heap_peak_bytes", "heap_allocations", "energy_joules", or the name that a
     * program gives a measure of its own. NULL: wall time. */
    const char *metric;
    assay_reading ratio;     /* candidate's cost over the baseline's, of geometric means */
    assay_reading low, high; /* 95 % interval of the ratio */
    assay_verdict verdict;
    const char *reason; /* of an inconclusive verdict; for other verdicts a remark or NULL */
    bool paired;        /* the samples were interleaved and compared round by round */
    uint64_t pairs;     /* pairs of samples used; 0 if not paired */
    uint64_t baseline_samples, candidate_samples; /* samples used */
    double margin;                                /* relative differences up to this are ignored */
    double decision_level; /* of the interval that must lie beyond the margin; above 0.99 when
                              several comparisons share the risk */
    assay_reading decision_low, decision_high; /* that interval */
    bool beside;          /* another metric leads in the comparison of these two subjects */
    uint64_t reserved[3]; /* zero */
} assay_record_comparison;

/* A difference between the origins of two subjects that is not in the code: machine, build, … */
typedef struct assay_record_difference {
    const char *what;                               /* "cpu", "governor", "iterations of x", … */
    const char *baseline_origin, *candidate_origin; /* or NULL */
    const char *baseline, *candidate;               /* the two values; NULL: unknown */
    uint64_t reserved[4];                           /* zero */
} assay_record_difference;

/* Counts of what could not be recorded. All are zero in a clean run. */
typedef struct assay_record_integrity {
    uint64_t dropped_spans;   /* there was no room for their operation */
    uint64_t dropped_events;  /* overwritten in the bounded trace */
    uint64_t mismatched_ends; /* ends without a begin, or out of order */
    uint64_t abandoned_spans; /* begun and never ended, although an enclosing span ended */
    uint64_t torn_operations; /* an update was under way when the journal was read */
    uint64_t unreadable_journals;
    uint64_t full_journals;   /* they could not grow, because the disk was full */
    uint64_t displaced_spans; /* counted in a neighbouring bucket, for lack of room */
    uint64_t dropped_metrics; /* blocks that are in their operation but were not recorded singly */
    uint64_t reserved[1];     /* zero */
} assay_record_integrity;

typedef struct assay_record {
    size_t struct_size;  /* set by assay_record_new */
    const char *kind;    /* "run", "monitor", "journal", "bench", "compare", "profile", "study" */
    const char *name;    /* given by the user, or NULL */
    const char *study;   /* the study that made it: "rom"; or NULL */
    const char *created; /* ISO 8601, UTC */
    const char *assay_version;
    assay_record_fact *machine, *build, *git; /* arrays */
    size_t machine_count, build_count, git_count;
    assay_record_fact *settings; /* of a study: "seed", "epochs", … */
    size_t setting_count;
    assay_record_clock clock;
    bool has_process;
    assay_record_process process;
    assay_record_member *processes; /* the processes of the tree that were seen */
    size_t process_count;
    bool has_python;
    assay_record_python python;
    bool has_gpu;
    assay_record_gpu gpu;
    assay_record_device *devices;
    size_t device_count;
    double total_seconds; /* sum over top-level spans; in the JSON only if there are spans */
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
    /* Energy of the machine while the command ran, with bounds: `assay run --energy`. */
    assay_reading energy_joules, energy_joules_low, energy_joules_high;
    struct assay__arena *arena;           /* private */
    struct assay__record_growth *growths; /* private */
} assay_record;

/* Make an empty record. Every reading is ASSAY_NOT_MEASURED, `assay_version` is the version of this
 * library, and every other text is NULL. A record can own at most 4 GiB of memory. Caller frees. */
ASSAY_API ASSAY_MUST_USE assay_status assay_record_new(assay_record **record);
ASSAY_API void assay_record_free(assay_record *record);

/* Add the description of this machine, of the build and of the git work tree. Also add the clock in
 * use and the present time as `created`, unless the record already has them. Takes under a
 * millisecond, once the clock is calibrated. */
ASSAY_API ASSAY_MUST_USE assay_status assay_record_describe(assay_record *record);

enum assay_record_print_flags {
    ASSAY_RECORD_COMPACT = 1, /* one line instead of indented lines */
    ASSAY_RECORD_EVENTS = 2   /* include the event trace, which may be large */
};

/* Write a record as JSON. Figures that are not finite become null, and counts above 2^63 - 1 become
 * that number. Every file that is written can be read back: a record with dangling references
 * (parents, lanes) is refused with ASSAY_E_ARGUMENT before the first byte. Events are written one
 * by one, without a copy of the whole document in memory. assay_record_save() replaces `path`
 * atomically, so no half-written file is left behind. The path "-" is standard output. */
ASSAY_API ASSAY_MUST_USE assay_status assay_record_print(const assay_record *record, FILE *stream,
                                                         unsigned flags, assay_error *error);
ASSAY_API ASSAY_MUST_USE assay_status assay_record_save(const assay_record *record,
                                                        const char *path, unsigned flags,
                                                        assay_error *error);

/* Read a record. The path "-" is standard input. The call fails with
 *   ASSAY_E_FORMAT     if the file is not JSON or no record, or if references (parents, lanes) lead
 *                      to no item;
 *   ASSAY_E_TRUNCATED  if the JSON ends too early;
 *   ASSAY_E_VERSION    if the version of the schema is newer than this library;
 *   ASSAY_E_LIMIT      if the file is larger than 64 MiB, or than the size in the environment
 *                      variable ASSAY_MAX_INPUT ("2G").
 * The error names the file and the place: "run.json:12:5: …" for a mistake in the syntax,
 * "run.json: operations[3].parent: …" for a mistake in the content. While a record is read, it
 * takes about six times the size of its file in memory; a malicious file takes twenty times. */
ASSAY_API ASSAY_MUST_USE assay_status assay_record_read(const char *path, assay_error *error,
                                                        assay_record **record);

/* Read a record, or a JSON result of Google Benchmark, hyperfine or pyperf. The content of the file
 * tells which it is.
 *
 * The benchmarks of another tool become subjects with that tool as their source. The samples are
 * the repetitions of Google Benchmark (real_time; aggregates only if there are no repetitions), the
 * times of hyperfine's runs (including failed runs that were to be ignored), and the values of
 * pyperf (without warm-ups). Some tools write NaN and Infinity, which JSON does not have; they are
 * read as null. Benchmarks of pyperf that are no times are left out. The call then succeeds, and
 * `error` names the first of them (its status is ASSAY_OK if there was none). If there are no other
 * benchmarks, the file is refused. */
ASSAY_API ASSAY_MUST_USE assay_status assay_record_load(const char *path, assay_error *error,
                                                        assay_record **record);

#ifdef __cplusplus
}
#endif

#endif
