/* The file with the profile of one Python process. python/sampler writes it, and script_reader.c
 * reads it.
 *
 * The process maps the file and appends entries. Figures within an entry are updated in place. So
 * all samples are in the file however the process ends, even by os._exit() or SIGKILL. An entry is
 * complete before `used` covers it. The file is allocated before it is touched. An entry refers to
 * an earlier entry by its offset from the start of the file; 0 refers to none. All figures are in
 * the byte order of the machine. */
#ifndef ASSAY_SNAPSHOT_SCRIPT_REGION_H
#define ASSAY_SNAPSHOT_SCRIPT_REGION_H

#include <stdatomic.h>
#include <stdint.h>

#define ASSAY__SCRIPT_SUFFIX ".script"
#define ASSAY__SCRIPT_MAGIC  UINT64_C(0x32505952434153a5)
enum {
    ASSAY__SCRIPT_MAX_BYTES = 64 << 20, /* of a file; entries beyond it are counted as dropped */
    ASSAY__SCRIPT_MAX_TEXT = 4096,
    ASSAY__SCRIPT_MAX_DEPTH = 256 /* frames of a stack, counted from the innermost one */
};

typedef struct assay__script_header {
    uint64_t magic;
    uint64_t header_bytes; /* offset of the first entry */
    _Atomic uint64_t used; /* bytes of the file that are complete, header included */
    int64_t process_id;
    uint64_t start_ns;        /* CLOCK_MONOTONIC */
    uint64_t process_samples; /* how often all threads of the process were sampled */
    double interval_bytes;    /* mean bytes between sampled allocations; 0: they are not sampled */
    uint64_t samples;         /* of threads that had used the processor */
    uint64_t torn_samples;    /* the stack changed while it was read; counted as "(unknown)" */
    uint64_t dropped_nodes;   /* found no room: their time is charged to a caller, their allocations
                                 are not counted */
    uint64_t dropped_events;
    uint64_t sampler_ns;    /* processor time of the sampling thread */
    uint64_t process_ns;    /* processor time of the process since start_ns */
    uint64_t end_ns;        /* CLOCK_MONOTONIC, of the last sample */
    double allocated_bytes; /* estimated from the sampled allocations, as are the next two */
    double live_bytes, peak_bytes;
    uint64_t peak_epoch; /* number of new peaks so far; see assay__script_site */
} assay__script_header;

typedef enum assay__script_kind {
    ASSAY__SCRIPT_CODE = 1,
    ASSAY__SCRIPT_NODE = 2,
    ASSAY__SCRIPT_THREAD = 3,
    ASSAY__SCRIPT_EVENT = 4,
    ASSAY__SCRIPT_SITE = 5
} assay__script_kind;

/* Every entry begins with this struct. `bytes` is a multiple of 8. Readers skip unknown kinds. */
typedef struct assay__script_entry {
    uint32_t kind, bytes;
} assay__script_entry;

/* A function, module body or comprehension. Two texts follow: its file, then its name. */
typedef struct assay__script_code {
    assay__script_entry entry;
    uint32_t first_line, file_bytes, name_bytes, reserved;
} assay__script_code;

/* A node of the tree of stacks: a line that runs, called from the line of the parent node. The
 * figures are those of the samples in which it was the innermost line. */
typedef struct assay__script_node {
    assay__script_entry entry;
    uint32_t parent; /* 0 for the outermost line */
    uint32_t code;
    uint32_t line;
    uint32_t is_main;    /* on the main thread */
    uint64_t busy_ns;    /* processor time of the thread */
    uint64_t watched_ns; /* processor time of the samples that watched a thread here and learned
                            whether it ran native code. A late sample watches later than it
                            charges, so this may be more than busy_ns */
    uint64_t native_ns;  /* of watched_ns: within one long instruction, so in native code */
    uint64_t waiting_ns;
    uint64_t samples; /* with processor time */
    double squares;   /* sum of the squared charges of busy_ns, in ns²; for the standard error */
} assay__script_node;

typedef struct assay__script_thread {
    assay__script_entry entry;
    int64_t thread_id;
} assay__script_thread;

/* From this time on, the thread was seen at this node. Node 0: it has ended, or runs no Python. */
typedef struct assay__script_event {
    assay__script_entry entry;
    uint32_t thread, node;
    uint64_t time_ns; /* CLOCK_MONOTONIC */
} assay__script_event;

/* A line that allocates. If `epoch` equals the header's peak_epoch, its live bytes at the peak of
 * the process are `peak_bytes`. Otherwise nothing has changed here since the peak, and they are
 * `live_bytes`. So a new peak costs one increment, however many sites there are. */
typedef struct assay__script_site {
    assay__script_entry entry;
    uint32_t code, line;
    double bytes, blocks; /* allocated */
    double live_bytes, peak_bytes;
    uint64_t epoch;
    uint64_t samples;
} assay__script_site;

#endif
