/* Instruments that measure more than this process: process trees, heap files, the machine.
 *
 *     assay_tree_sampler *sampler = NULL;
 *     if (assay_tree_sampler_new(pid, &error, &sampler) != ASSAY_OK) ...
 *     while (assay_tree_sampler_sample(sampler) == ASSAY_OK)
 *         usleep(10000);
 *     assay_tree_figures figures = ASSAY_INIT(assay_tree_figures);
 *     if (assay_tree_sampler_read(sampler, &figures) != ASSAY_OK) ...
 *     assay_tree_sampler_free(sampler);
 *
 * There are three instruments: heap files that other processes leave (assay_heap_*), a process tree
 * observed from outside (assay_tree_sampler_*), and the description of the machine
 * (assay_machine_*). The memory of this process is in memory.h. assay_record_describe() adds
 * machine, build and source to a record.
 *
 * No instrument prints or allocates in a measured path, and none changes process-wide state unless
 * its name says so. Threads: every call may be made from any thread, except that a sampler belongs
 * to one thread at a time. */
#ifndef ASSAY_INSTRUMENT_H
#define ASSAY_INSTRUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/memory.h"
#include "assay/reading.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Heap of other processes ----------------------------------------------------------------- */

/* Sum up the heap files of a directory. When ASSAY_HEAP_DIR is set, the interposer of each process
 * keeps such a file there (docs/heap-file.md).
 *
 * Allocations, frees and bytes are sums over the processes. The peak is that of the largest
 * process. `live_bytes` is the sum over the last program of each process, because a program that
 * replaced itself by exec leaked nothing. It leaves out inherited bytes, so it is never negative.
 *
 * The call fails with ASSAY_E_NOT_FOUND if no process left a file. Files that cannot be used are
 * left out; the call then succeeds, and `error` names the first of them (its status is ASSAY_OK if
 * there was none). Programs that left no file are not in the sums. assay_heap_directory_visit()
 * names them. */
ASSAY_API ASSAY_MUST_USE assay_status assay_heap_directory_read(const char *directory,
                                                                assay_error *error,
                                                                assay_heap_figures *figures);

/* One program of such a directory. A process that replaces itself by exec runs several programs in
 * turn. A forked child continues the program of its parent. */
typedef struct assay_heap_program {
    int64_t process_id;
    uint64_t start_ticks;         /* when its process began: field 22 of /proc/PID/stat, or 0 */
    const char *name;             /* of the program; "" if it is not known */
    int64_t started_ns, ended_ns; /* CLOCK_MONOTONIC; ended_ns is 0 if it did not call exit() */
    const char *unseen;           /* why it has no figures; NULL if it has figures */
    assay_heap_figures figures;
    uint64_t reserved[4]; /* zero */
} assay_heap_program;

/* Called for each program. The program and its texts are valid only during the call. */
typedef void (*assay_heap_visitor)(void *context, const assay_heap_program *program);

/* Visit every program of the directory, in the order in which the programs began. Programs that
 * were started but left no figures are visited as well: statically linked programs, set-user-id
 * programs, and programs started with another environment. The programs that those start in turn
 * are not known here. */
ASSAY_API ASSAY_MUST_USE assay_status assay_heap_directory_visit(const char *directory,
                                                                 assay_heap_visitor visit,
                                                                 void *context, assay_error *error);

/* Read the figures of a process that still runs, from the file of its last program.
 * ASSAY_E_NOT_FOUND if there is no such file. Takes about 10 µs. */
ASSAY_API ASSAY_MUST_USE assay_status assay_heap_process_read(const char *directory,
                                                              int64_t process_id,
                                                              assay_error *error,
                                                              assay_heap_figures *figures);

/* ---- A process tree from outside ------------------------------------------------------------ */

typedef struct assay_tree_sampler assay_tree_sampler;

typedef struct assay_tree_figures {
    size_t struct_size;                /* set by the caller */
    uint64_t sweeps;                   /* samples taken so far */
    assay_reading peak_rss_bytes;      /* the kernel's figure for the largest process */
    assay_reading tree_peak_rss_bytes; /* highest sum of resident memory in one sweep; a page that
                                          processes share counts in each of them */
    assay_reading rss_bytes;           /* that sum in the last sweep */
    assay_reading process_count;       /* different processes seen */
    assay_reading live_process_count;  /* in the last sweep, zombies not counted */
    assay_reading thread_count;        /* in the last sweep */
    /* Sums over all processes. For each process they contain what it had used when it was last
     * seen. What it used after that is included as far as the kernel adds it to the process that
     * waited for it. wait4() is more exact for a process that it has reaped. Context switches are
     * known from wait4() alone, because the kernel shows them for living threads only. */
    assay_reading user_seconds, sys_seconds;
    assay_reading read_bytes, written_bytes; /* storage I/O */
    /* Like tree_peak_rss_bytes, but each process counts only its share of a shared page (the
     * proportional set size), so that pages shared within the tree count once. The figure comes
     * from the calls of assay_tree_sampler_weigh(), and from sweeps that found a single process. */
    assay_reading tree_peak_pss_bytes;
} assay_tree_figures;

/* One process of the tree, as it was when last seen. The times of a process that ended also include
 * what it used after that, as far as the kernel has added it to the process that waited for it. The
 * kernel adds in ticks, so this part is less exact. */
typedef struct assay_tree_process {
    int64_t process_id, parent_id;
    uint64_t start_ticks; /* field 22 of /proc/PID/stat; it tells processes with one id apart */
    const char *name;     /* of its program, cut by the kernel; valid only during the call */
    int64_t started_ns;   /* CLOCK_MONOTONIC; up to 10 ms late, as the kernel counts in ticks */
    int64_t last_seen_ns; /* when a sweep last found it running; 0: only its end was seen */
    uint64_t sweeps;      /* number of sweeps that found it */
    bool alive;           /* in the last sweep */
    double user_seconds, sys_seconds;
    assay_reading peak_rss_bytes;
    uint64_t reserved[4]; /* zero */
} assay_tree_process;

/* Called for each process, which is valid only during the call. */
typedef void (*assay_tree_visitor)(void *context, const assay_tree_process *process);

/* Follow the process `root` and all processes that it starts, directly or indirectly. A process
 * that was seen once stays in the tree even if its parent ends. An orphan that was never seen
 * before is found only if the calling process is its new parent (prctl PR_SET_CHILD_SUBREAPER).
 * ASSAY_E_NOT_FOUND if there is no such process. At most 65536 processes may be alive at once.
 * Caller frees. */
ASSAY_API ASSAY_MUST_USE assay_status assay_tree_sampler_new(int64_t root, assay_error *error,
                                                             assay_tree_sampler **sampler);

/* Make one sweep over the tree, which takes about 30 µs for each process. Processes may vanish
 * meanwhile. To get the last figures of the root, sweep once more after it has ended and before it
 * is waited for (waitid with WNOWAIT). ASSAY_E_NOT_FOUND if no process of the tree is left, not
 * even a zombie. */
ASSAY_API ASSAY_MUST_USE assay_status assay_tree_sampler_sample(assay_tree_sampler *sampler);

/* Sum up the proportional set sizes of the processes of the last sweep, for tree_peak_pss_bytes.
 * The kernel walks all their page tables for this. It takes from 30 µs for a small process to 10 ms
 * for a GiB. ASSAY_E_UNSUPPORTED before Linux 4.14; ASSAY_E_PERMISSION if a process belongs to
 * another user. */
ASSAY_API ASSAY_MUST_USE assay_status assay_tree_sampler_weigh(assay_tree_sampler *sampler);

/* Visit the processes of the last sweep. Unless `living_only` is set, the processes that ended
 * earlier are visited before them; the first 65536 of these are remembered. */
ASSAY_API ASSAY_MUST_USE assay_status assay_tree_sampler_visit(const assay_tree_sampler *sampler,
                                                               bool living_only,
                                                               assay_tree_visitor visit,
                                                               void *context);

/* Read the figures of all sweeps so far. */
ASSAY_API ASSAY_MUST_USE assay_status assay_tree_sampler_read(const assay_tree_sampler *sampler,
                                                              assay_tree_figures *figures);

ASSAY_API void assay_tree_sampler_free(assay_tree_sampler *sampler);

/* Time in which the hypervisor ran other virtual machines instead of this one, summed over all
 * processors since boot. Use it for differences. Always 0 on bare metal. */
ASSAY_API assay_reading assay_machine_steal_seconds(void);

/* ---- The machine --------------------------------------------------------------------------- */

/* Called once for each fact, in the order to print. `value` is NULL if the fact is unknown;
 * `validity` then gives the reason. Both strings are valid only during the call. */
typedef void (*assay_fact_sink)(void *context, const char *key, const char *value,
                                assay_validity validity);

/* Describe this machine by these facts: hostname, cpu, vector (the widest vector instructions of
 * the processor), cpu_level (the level that the models use: ASSAY_CPU in assay(1); a value of
 * ASSAY_CPU that is no level of this machine is named), cores, usable_cores, memory_bytes, kernel,
 * os, virtualization, container, governor, turbo, smt, numa_nodes, transparent_hugepages,
 * load_average, boot_id. Takes about 1 ms. */
ASSAY_API void assay_machine_describe(assay_fact_sink emit, void *context);

#ifdef __cplusplus
}
#endif

#endif
