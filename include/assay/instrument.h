/* Instruments that look beyond this process: process trees, heap files, the machine.
 *
 *     assay_tree_sampler *sampler = NULL;
 *     if (assay_tree_sampler_new(pid, &error, &sampler) != ASSAY_OK) ...
 *     while (assay_tree_sampler_sample(sampler) == ASSAY_OK)
 *         usleep(10000);
 *     assay_tree_figures figures = ASSAY_INIT(assay_tree_figures);
 *     if (assay_tree_sampler_read(sampler, &figures) != ASSAY_OK) ...
 *     assay_tree_sampler_free(sampler);
 *
 * There are three: heap files that other processes leave (assay_heap_*), a process tree seen from
 * outside (assay_tree_sampler_*), and the description of the machine (assay_machine_*). Memory of
 * this process is in memory.h; assay_record_describe() puts machine, build and source in a record.
 *
 * None of them prints or allocates in a measured path; none changes process-wide state unless its
 * name says so. Threads: every call may be made from any thread, except that a sampler belongs to
 * one thread at a time. */
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

/* The files that the interposers of all processes keep in a directory when ASSAY_HEAP_DIR is set
 * (docs/heap-file.md), as one: allocations, frees and bytes summed over the processes; the peak
 * of the largest process; live_bytes of the last program of each process (a program that replaced
 * itself by exec leaked nothing), without what it inherited, and so never negative.
 * ASSAY_E_NOT_FOUND when no process left a file. Files that are of no use are left out; `error`
 * then names the first although the call succeeds (its status is ASSAY_OK when there was none).
 * Programs that left no file are not in the sums: assay_heap_directory_visit() names them. */
ASSAY_API ASSAY_MUST_USE assay_status assay_heap_directory_read(const char *directory,
                                                                assay_error *error,
                                                                assay_heap_figures *figures);

/* One program of such a directory. A process that replaced itself by exec is one program after
 * another; a forked child goes on with the program of its parent. */
typedef struct assay_heap_program {
    int64_t process_id;
    uint64_t start_ticks;         /* when its process began: field 22 of /proc/PID/stat, or 0 */
    const char *name;             /* of the program; "" if it is not known */
    int64_t started_ns, ended_ns; /* CLOCK_MONOTONIC; ended_ns is 0 if it did not call exit() */
    const char *unseen;           /* why it has no figures; NULL: it has */
    assay_heap_figures figures;
    uint64_t reserved[4]; /* zero */
} assay_heap_program;

/* The program and its texts live only during the call. */
typedef void (*assay_heap_visitor)(void *context, const assay_heap_program *program);

/* Every program of the directory in the order in which they began, also those that were started
 * and left no figures: statically linked ones, set-user-id ones, those started with another
 * environment. What such a program starts in its turn is not known here. */
ASSAY_API ASSAY_MUST_USE assay_status assay_heap_directory_visit(const char *directory,
                                                                 assay_heap_visitor visit,
                                                                 void *context, assay_error *error);

/* The figures of a process that still runs, by the file of its last program. ASSAY_E_NOT_FOUND if
 * it has none. About 10 µs. */
ASSAY_API ASSAY_MUST_USE assay_status assay_heap_process_read(const char *directory,
                                                              int64_t process_id,
                                                              assay_error *error,
                                                              assay_heap_figures *figures);

/* ---- A process tree from outside ------------------------------------------------------------ */

typedef struct assay_tree_sampler assay_tree_sampler;

typedef struct assay_tree_figures {
    size_t struct_size;                /* set by the caller */
    uint64_t sweeps;                   /* samples taken so far */
    assay_reading peak_rss_bytes;      /* kernel's peak of the largest process */
    assay_reading tree_peak_rss_bytes; /* highest sum of resident memory over one sweep; pages
                                          shared between processes count in each */
    assay_reading rss_bytes;           /* that sum in the last sweep */
    assay_reading process_count;       /* different processes seen */
    assay_reading live_process_count;  /* in the last sweep, zombies not counted */
    assay_reading thread_count;        /* in the last sweep */
    /* Sums over all processes of what each had used when last seen, and of what it used after that
     * as far as the account of the process that waited for it tells. wait4() knows times better
     * once it reaped a process, and it alone knows context switches: the kernel shows them for
     * living threads only. */
    assay_reading user_seconds, sys_seconds;
    assay_reading read_bytes, written_bytes; /* storage I/O */
    /* Like tree_peak_rss_bytes, but each process counts only its share of a shared page (the
     * proportional set size), so that pages shared within the tree count once. From the calls of
     * assay_tree_sampler_weigh(), and from sweeps that found a single process. */
    assay_reading tree_peak_pss_bytes;
} assay_tree_figures;

/* One process of the tree, as it was when last seen. The times of one that ended include what it
 * used after that, in ticks, from the account of the process that waited for it. */
typedef struct assay_tree_process {
    int64_t process_id, parent_id;
    uint64_t start_ticks; /* with the id it names a process for good: field 22 of /proc/PID/stat */
    const char *name;     /* of its program, cut by the kernel; lives only during the call */
    int64_t started_ns;   /* CLOCK_MONOTONIC; up to 10 ms late, as the kernel counts in ticks */
    int64_t last_seen_ns; /* when a sweep last found it running; 0: only its end was seen */
    uint64_t sweeps;      /* in which it was found */
    bool alive;           /* in the last sweep */
    double user_seconds, sys_seconds;
    assay_reading peak_rss_bytes;
    uint64_t reserved[4]; /* zero */
} assay_tree_process;

typedef void (*assay_tree_visitor)(void *context, const assay_tree_process *process);

/* Follow the process `root` and everything it starts. Processes seen once stay in the tree even if
 * their parent ends; orphans never seen before are found if the calling process is their new parent
 * (prctl PR_SET_CHILD_SUBREAPER). ASSAY_E_NOT_FOUND if there is no such process. At most 65536
 * processes alive at once. Caller frees. */
ASSAY_API ASSAY_MUST_USE assay_status assay_tree_sampler_new(int64_t root, assay_error *error,
                                                             assay_tree_sampler **sampler);

/* One sweep: about 30 µs for each process. Processes may vanish meanwhile. To have the root's last
 * figures, sweep once more between its end and its wait (waitid with WNOWAIT). ASSAY_E_NOT_FOUND
 * when no process of the tree is left, not even a zombie. */
ASSAY_API ASSAY_MUST_USE assay_status assay_tree_sampler_sample(assay_tree_sampler *sampler);

/* Sum the proportional set sizes of the processes of the last sweep into tree_peak_pss_bytes. The
 * kernel walks all their page tables for it: from 30 µs for a small process to 10 ms for a GiB.
 * ASSAY_E_UNSUPPORTED before Linux 4.14, ASSAY_E_PERMISSION where a process is not ours. */
ASSAY_API ASSAY_MUST_USE assay_status assay_tree_sampler_weigh(assay_tree_sampler *sampler);

/* The processes of the last sweep; before them, unless `living_only`, those that ended earlier, of
 * which the first 65536 are remembered. */
ASSAY_API ASSAY_MUST_USE assay_status assay_tree_sampler_visit(const assay_tree_sampler *sampler,
                                                               bool living_only,
                                                               assay_tree_visitor visit,
                                                               void *context);

ASSAY_API ASSAY_MUST_USE assay_status assay_tree_sampler_read(const assay_tree_sampler *sampler,
                                                              assay_tree_figures *figures);

ASSAY_API void assay_tree_sampler_free(assay_tree_sampler *sampler);

/* Time that the hypervisor gave to others, summed over all processors since boot; for differences.
 * Always 0 on bare metal. */
ASSAY_API assay_reading assay_machine_steal_seconds(void);

/* ---- The machine --------------------------------------------------------------------------- */

/* Called once for each fact, in the order to print. `value` is NULL when the fact is unknown, with
 * the reason in `validity`; both strings live only during the call. */
typedef void (*assay_fact_sink)(void *context, const char *key, const char *value,
                                assay_validity validity);

/* hostname, cpu, vector (the widest that the processor has), cpu_level (what the models use, see
 * ASSAY_CPU in assay(1); a value of ASSAY_CPU that is no level of this machine is named), cores,
 * usable_cores, memory_bytes, kernel, os, virtualization, container, governor, turbo, smt,
 * numa_nodes, transparent_hugepages, load_average, boot_id. About 1 ms. */
ASSAY_API void assay_machine_describe(assay_fact_sink emit, void *context);

#ifdef __cplusplus
}
#endif

#endif
