/* The file with the GPU activity of one process. src/cupti writes it, and activity_reader.c reads
 * it.
 *
 * The process maps the whole file, whose size is fixed. The sums by kernel, copy, stream and device
 * cover the whole run. Single activities are kept in a list sorted by start; the list has at most
 * the latest ASSAY__ACTIVITY_MAX of them. The earlier part of the list is settled
 * (activity_idle.h): the time between these activities is already in the sums of their device. The
 * other activities wait, because records of earlier activities may still arrive. So all activities
 * that CUPTI has delivered are in the file, however the process ends. `sequence` is odd while an
 * entry is being made: a reader that finds it odd knows that one entry may be torn. Times are those
 * of CLOCK_MONOTONIC. All figures are in the byte order of the machine. */
#ifndef ASSAY_SNAPSHOT_ACTIVITY_REGION_H
#define ASSAY_SNAPSHOT_ACTIVITY_REGION_H

#include <stdatomic.h>
#include <stdint.h>

#define ASSAY__ACTIVITY_SUFFIX ".gpu"
#define ASSAY__ACTIVITY_MAGIC  UINT64_C(0x3155504741534153)

enum {
    ASSAY__ACTIVITY_MAX = 1 << 18,
    ASSAY__ACTIVITY_KERNELS = 4096,       /* slots; three quarters of them are used at most */
    ASSAY__ACTIVITY_NAME_BYTES = 1 << 20, /* of all kernels' names, each with its 0 */
    ASSAY__ACTIVITY_COPIES = 64,
    ASSAY__ACTIVITY_STREAMS = 256,
    ASSAY__ACTIVITY_DEVICES = 16,
    ASSAY__ACTIVITY_POINTS = 4096,
    ASSAY__ACTIVITY_RANGES = 256, /* of which the begin is remembered */
    ASSAY__ACTIVITY_REASON_BYTES = 200
};

/* Why a device ran no kernel (docs/gpu.md). The first six are causes of gaps, in which the device
 * did nothing. */
typedef enum assay__idle_cause {
    ASSAY__IDLE_LAUNCH,
    ASSAY__IDLE_DATA,
    ASSAY__IDLE_HOST,
    ASSAY__IDLE_SYNC,
    ASSAY__IDLE_QUEUED,
    ASSAY__IDLE_UNKNOWN,
    ASSAY__IDLE_COPIES,
    ASSAY__IDLE_CAUSES
} assay__idle_cause;

typedef enum assay__activity_kind {
    ASSAY__ACTIVITY_KERNEL = 1,
    ASSAY__ACTIVITY_COPY = 2 /* a copy, or a setting of memory */
} assay__activity_kind;

typedef struct assay__activity {
    uint64_t start_ns, end_ns;
    uint64_t submitted_ns; /* when the call that submitted it began; 0: not known */
    uint32_t silence_ns;   /* time before that call without a driver call; saturates */
    uint16_t row;          /* row of the kernels or copies */
    uint16_t stream;       /* row of the streams */
    uint8_t device;        /* row of the devices */
    uint8_t kind;          /* assay__activity_kind */
    uint8_t from_host;     /* a copy from the host's memory */
    uint8_t after_wait;    /* the call before the submitting one waited for the device */
    uint32_t range;        /* number of ranges that had begun when it started; 0 without ranges */
} assay__activity;

/* A row of the hash table of kernels. Row 0 is not part of the hash table: it gathers the kernels
 * for which there is no room. */
typedef struct assay__activity_kernel {
    uint64_t count, total_ns, min_ns, max_ns;
    double squares; /* sum of the squares of the durations in ns */
    uint32_t name;  /* offset of its name in `names`, plus 1; 0: the slot is free */
    uint32_t hash;
} assay__activity_kernel;

typedef struct assay__activity_copy {
    uint64_t count, bytes, total_ns;
    uint8_t kind, source, target; /* as CUPTI numbers them; kind 255: memory was set */
    uint8_t reserved[5];
} assay__activity_copy;

typedef struct assay__activity_stream {
    uint64_t count, total_ns;
    uint32_t device, context, stream; /* as CUPTI numbers them */
    uint32_t reserved;
} assay__activity_stream;

typedef struct assay__activity_device {
    uint32_t number; /* as CUPTI numbers it */
    uint32_t has_activity;
    uint64_t first_ns, last_ns;  /* first start and latest end of the settled activities */
    uint64_t busy_ns, kernel_ns; /* time with any activity; time with a kernel */
    uint64_t kernel_end_ns;      /* the latest end of a kernel */
    uint64_t latest_start_ns;
    uint64_t idle_ns[ASSAY__IDLE_CAUSES], idle_count[ASSAY__IDLE_CAUSES];
    uint64_t longest_ns; /* the longest gap */
    uint64_t outside_ns; /* time between the last activity of a range and the first of the next */
    uint64_t live_bytes, peak_bytes, allocated_bytes, allocations, releases;
    uint8_t uuid[16]; /* of the board; its number depends on CUDA_VISIBLE_DEVICES */
    uint32_t has_uuid;
    uint32_t range; /* of the latest settled activity */
} assay__activity_device;

/* The allocated bytes of a device at one time. */
typedef struct assay__activity_point {
    uint64_t time_ns, bytes;
    uint32_t device; /* row */
    uint32_t reserved;
} assay__activity_point;

typedef enum assay__activity_state {
    ASSAY__ACTIVITY_RUNNING = 1,
    ASSAY__ACTIVITY_ENDED = 2,  /* everything has been delivered */
    ASSAY__ACTIVITY_ASIDE = 3,  /* stopped for another client of CUPTI; earlier figures are kept */
    ASSAY__ACTIVITY_REFUSED = 4 /* nothing could be measured; `reason` says why */
} assay__activity_state;

typedef struct assay__activity_region {
    uint64_t magic, bytes; /* of the whole file */
    int64_t process_id;
    uint64_t start_ns;
    _Atomic uint64_t sequence;
    uint32_t state, version; /* version of CUPTI */
    char program[32];
    char reason[ASSAY__ACTIVITY_REASON_BYTES];
    uint64_t dropped_records; /* records for which CUPTI had no buffer */
    uint64_t untimed_records; /* records without times, which are in no sum */
    uint64_t late_activities; /* activities that began before others that were settled */
    uint64_t forgotten;       /* activities that were removed to make room for later ones */
    uint32_t name_bytes, kernel_count, copy_count, stream_count, device_count;
    uint32_t settled, count;                           /* of `activities` */
    uint32_t point_count, point_stride, point_skipped; /* 1 of point_stride changes is a point */
    uint32_t ranged; /* 1: only ranges are recorded that the program marks (cuProfilerStart) */
    _Atomic uint32_t range_count;                            /* ranges that have begun */
    _Atomic uint64_t range_begin_ns[ASSAY__ACTIVITY_RANGES]; /* of range n: element n % RANGES */
    assay__activity_device devices[ASSAY__ACTIVITY_DEVICES];
    assay__activity_copy copies[ASSAY__ACTIVITY_COPIES];
    assay__activity_stream streams[ASSAY__ACTIVITY_STREAMS];
    assay__activity_point points[ASSAY__ACTIVITY_POINTS];
    assay__activity_kernel kernels[ASSAY__ACTIVITY_KERNELS];
    char names[ASSAY__ACTIVITY_NAME_BYTES];
    assay__activity activities[ASSAY__ACTIVITY_MAX];
} assay__activity_region;

#endif
