/* Puts the record of a finished run together: the figures of the kernel, the samples of the process
 * tree, the journals, the heap files, the profiles of Python programs and the GPU activity. It runs
 * after the program has ended, so it may allocate. */
#include "cli/run_record.h"

#include <dirent.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "assay/gpu_activity.h"
#include "assay/instrument.h"
#include "assay/memory.h"
#include "assay/record.h"
#include "assay/record_build.h"
#include "assay/script.h"
#include "assay/snapshot.h"
#include "cli/common/message.h"
#include "cli/run_processes.h"
#include "cli/scratch_dir.h"

/* The unit of ru_inblock and ru_oublock. It is the same for all devices (getrusage(2)). */
static const double usage_block_bytes = 512;

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static assay_status copy_command(assay_record *record, char *const *command)
{
    size_t count = 0;
    while (command[count] != NULL)
        count++;
    const char **copy = assay_record_allocate(record, count, sizeof *copy);
    if (copy == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < count; i++)
        if ((copy[i] = assay_record_text(record, command[i])) == NULL)
            return ASSAY_E_MEMORY;
    record->process.command = copy;
    record->process.command_count = count;
    return ASSAY_OK;
}

/* The peak of the largest process of the tree. The figure of the kernel covers all processes that
 * were waited for, and the samples cover the others. */
static void fill_memory(assay_record_process *process, const watch_result *watch)
{
    double largest = (double)watch->usage.ru_maxrss * 1024;
    if (watch->sampled && watch->tree.peak_rss_bytes.validity == ASSAY_VALID)
        largest = larger(largest, watch->tree.peak_rss_bytes.value);
    process->peak_rss_bytes = assay_reading_of(largest);
    process->tree_peak_rss_bytes = assay_reading_missing(ASSAY_UNSUPPORTED);
    process->process_count = assay_reading_missing(ASSAY_UNSUPPORTED);
    if (!watch->sampled)
        return;
    process->process_count = watch->tree.process_count;
    /* The tree had at least as much memory as its largest process had at its peak. */
    double sampled = watch->tree.tree_peak_rss_bytes.validity == ASSAY_VALID
                         ? watch->tree.tree_peak_rss_bytes.value
                         : 0;
    process->tree_peak_rss_bytes = assay_reading_of(larger(sampled, largest));
    process->tree_peak_pss_bytes = watch->tree.tree_peak_pss_bytes;
    if (process->tree_peak_pss_bytes.validity == ASSAY_VALID)
        process->tree_peak_pss_bytes.value = larger(watch->tree.tree_peak_pss_bytes.value, largest);
    else if (watch->tree.process_count.value < 2) /* a single process shares no pages with others */
        process->tree_peak_pss_bytes = process->tree_peak_rss_bytes;
}

static void fill_process(assay_record_process *process, const run_facts *facts)
{
    const watch_result *watch = facts->watch;
    const struct rusage *usage = &watch->usage;
    int status = watch->wait_status;
    process->process_id = facts->launch->pid;
    process->finished = true;
    process->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    process->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    process->wall_seconds =
        assay_reading_of((double)(watch->end_ns - facts->launch->start_ns) / 1e9);
    process->user_seconds = assay_reading_of(seconds_of(usage->ru_utime));
    process->sys_seconds = assay_reading_of(seconds_of(usage->ru_stime));
    process->voluntary_switches = assay_reading_of((double)usage->ru_nvcsw);
    process->involuntary_switches = assay_reading_of((double)usage->ru_nivcsw);
    process->minor_faults = assay_reading_of((double)usage->ru_minflt);
    process->major_faults = assay_reading_of((double)usage->ru_majflt);
    process->read_bytes = assay_reading_of((double)usage->ru_inblock * usage_block_bytes);
    process->written_bytes = assay_reading_of((double)usage->ru_oublock * usage_block_bytes);
    process->observer_seconds = assay_reading_of(watch->cost_seconds);
    assay_reading steal = assay_machine_steal_seconds();
    if (steal.validity == ASSAY_VALID && facts->steal_before.validity == ASSAY_VALID)
        steal.value -= facts->steal_before.value;
    process->steal_seconds = steal;
    fill_memory(process, watch);
}

static void miss_heap(assay_record_process *process)
{
    process->heap_peak_bytes = assay_reading_missing(ASSAY_UNSUPPORTED);
    process->heap_allocations = assay_reading_missing(ASSAY_UNSUPPORTED);
    process->heap_frees = assay_reading_missing(ASSAY_UNSUPPORTED);
    process->heap_leaked_bytes = assay_reading_missing(ASSAY_UNSUPPORTED);
}

/* Fill the totals of the heap. The processes of the record say which parts of the heap were not
 * seen. */
static void fill_heap(assay_record *record, const run_facts *facts)
{
    assay_record_process *process = &record->process;
    assay_heap_figures figures = {.struct_size = sizeof figures};
    if (assay_heap_directory_read(facts->heap_dir, NULL, &figures) == ASSAY_OK) {
        process->heap_peak_bytes = assay_reading_of((double)figures.peak_bytes);
        process->heap_allocations = assay_reading_of((double)figures.allocations);
        process->heap_frees = assay_reading_of((double)figures.frees);
        process->heap_leaked_bytes = assay_reading_of((double)figures.live_bytes);
        return;
    }
    miss_heap(process);
    const char *reason = "no process of it could be seen";
    for (size_t i = 0; i < record->process_count; i++)
        if (record->processes[i].process_id == process->process_id &&
            record->processes[i].unseen != NULL)
            reason = record->processes[i].unseen + strlen("heap: ");
    message_note("the heap of '%s' could not be measured: %s", facts->command[0], reason);
}

static uint64_t count_journals(const char *directory)
{
    static const char suffix[] = ".assay";
    uint64_t count = 0;
    DIR *stream = opendir(directory);
    for (const struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;) {
        size_t length = strlen(entry->d_name), end = sizeof suffix - 1;
        count += length > end && strcmp(entry->d_name + length - end, suffix) == 0;
    }
    if (stream != NULL)
        closedir(stream);
    return count;
}

/* Make the record of a program none of whose journals can be read. */
static assay_status make_without_spans(const run_facts *facts, bool still_made,
                                       assay_record **record)
{
    assay_status status = assay_record_new(record);
    if (status == ASSAY_OK && !still_made)
        (*record)->integrity.unreadable_journals = count_journals(facts->journal_dir);
    return status;
}

/* Read the journals of the program's processes as one record. Without readable journals the record
 * has no operations. */
static assay_status take_snapshot(const run_facts *facts, assay_error *error, assay_record **record)
{
    if (scratch_dir_is_empty(facts->journal_dir))
        return assay_record_new(record);
    assay_snapshot_options options = ASSAY_SNAPSHOT_OPTIONS_INIT;
    options.origin_monotonic_ns = facts->launch->start_ns;
    assay_error trouble = {0};
    assay_status status = assay_snapshot_files(&facts->journal_dir, 1, &options, &trouble, record);
    if (trouble.status != ASSAY_OK && status != ASSAY_E_MEMORY)
        message_note("%s: %s", status == ASSAY_OK ? "some spans are lost" : "its spans are lost",
                     trouble.message);
    if (status == ASSAY_E_MEMORY)
        *error = trouble;
    return status == ASSAY_OK || status == ASSAY_E_MEMORY
               ? status
               : make_without_spans(facts, status == ASSAY_E_STATE, record);
}

/* Add one figure of the memory samples as a counter track of the lane. `offset` is the offset of
 * the figure in a watch_point. */
static assay_status add_track(assay_record *record, const run_facts *facts, const char *name,
                              size_t offset, uint32_t lane)
{
    const watch_result *watch = facts->watch;
    assay_record_counter counter = {
        .name = assay_record_text(record, name), .count = watch->point_count, .min = HUGE_VAL};
    assay_record_event event = {
        .kind = ASSAY_EVENT_COUNTER, .name = (uint32_t)record->counter_count, .lane = lane};
    assay_status status = counter.name != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    for (size_t i = 0; i < watch->point_count && status == ASSAY_OK; i++) {
        const watch_point *point = &watch->points[i];
        double value = *(const double *)((const char *)point + offset);
        counter.mean += value / (double)watch->point_count;
        counter.max = larger(counter.max, value);
        counter.min = value < counter.min ? value : counter.min;
        counter.last = value;
        event.start_seconds = (double)(int64_t)(point->time_ns - facts->launch->start_ns) / 1e9;
        event.value = value;
        status = assay_record_add_event(record, &event);
    }
    return status == ASSAY_OK ? assay_record_add_counter(record, &counter) : status;
}

/* Add the memory of the tree over time, as counter tracks of a lane of its own. */
static assay_status add_memory_tracks(assay_record *record, const run_facts *facts)
{
    if (facts->watch->point_count == 0)
        return ASSAY_OK;
    uint32_t index = (uint32_t)record->lane_count;
    assay_record_lane lane = {.name = assay_record_text(record, "process tree"),
                              .kind = ASSAY_LANE_PROCESS,
                              .process_id = facts->launch->pid,
                              .ended = true};
    assay_status status = lane.name != NULL ? assay_record_add_lane(record, &lane) : ASSAY_E_MEMORY;
    if (status == ASSAY_OK)
        status = add_track(record, facts, "resident bytes of the tree",
                           offsetof(watch_point, rss_bytes), index);
    if (status == ASSAY_OK && facts->heap_dir != NULL)
        status = add_track(record, facts, "heap bytes of the tree",
                           offsetof(watch_point, heap_bytes), index);
    return status;
}

/* Add the profiles of Python programs. If there are none, print the reason. */
static assay_status add_python(assay_record *record, const run_facts *facts, assay_error *error)
{
    assay_error trouble = {0};
    assay_status status =
        assay_script_profiles_add(record, facts->python_dir, facts->launch->start_ns, &trouble);
    if (status != ASSAY_OK)
        *error = trouble;
    else if (trouble.status != ASSAY_OK)
        message_note("%s could not be profiled: %s",
                     record->has_python ? "a Python process" : "the Python program",
                     trouble.message);
    else if (!record->has_python)
        message_note("no Python program was profiled: none ran that reads PYTHONPATH (python3 -E "
                     "and -I do not read it)");
    return status;
}

/* Add the GPU activity of the processes. If there is none, print the reason. */
static assay_status add_gpu(assay_record *record, const run_facts *facts, assay_error *error)
{
    assay_error trouble = {0};
    assay_status status = assay_gpu_activity_add(record, facts->gpu_dir, facts->launch->start_ns,
                                                 facts->events, &trouble);
    if (status != ASSAY_OK)
        *error = trouble;
    else if (trouble.status != ASSAY_OK)
        message_note("GPU activity: %s", trouble.message);
    else if (!record->has_gpu)
        message_note("no GPU activity: none of its processes used CUDA");
    return status;
}

/* Print a note if our own files were on a disk, because memory was short: the kernel then counts
 * them as written by the program. */
static void mention_own_files(const run_facts *facts)
{
    bool of_journals =
        !scratch_dir_is_empty(facts->journal_dir) && !scratch_dir_is_in_memory(facts->journal_dir);
    bool of_heaps = facts->heap_dir != NULL && !scratch_dir_is_in_memory(facts->heap_dir);
    if (of_journals || of_heaps)
        message_note("storage written includes files of assay: /dev/shm has no room for them");
}

static void mention_survivors(const assay_record_process *process)
{
    if (process->running_processes > 0)
        message_note(
            "%llu of its processes still run; the record lists them, the totals are without them",
            (unsigned long long)process->running_processes);
}

assay_status run_record_make(const run_facts *facts, assay_error *error, assay_record **result)
{
    assay_record *record = NULL;
    assay_status status = take_snapshot(facts, error, &record);
    if (status != ASSAY_OK)
        goto cleanup;
    record->kind = "run";
    record->has_process = true;
    record->name = assay_record_text(record, facts->name); /* instead of the name of the monitor */
    record->created = NULL; /* assay_record_describe() sets it to the time of the run */
    if (facts->name != NULL && record->name == NULL)
        status = ASSAY_E_MEMORY;
    if (status == ASSAY_OK)
        status = copy_command(record, facts->command);
    if (status != ASSAY_OK)
        goto cleanup;
    fill_process(&record->process, facts);
    status = run_processes_add(record, facts, error);
    if (status == ASSAY_OK && facts->heap_dir != NULL)
        fill_heap(record, facts);
    if (status == ASSAY_OK && facts->python_dir != NULL)
        status = add_python(record, facts, error);
    if (status == ASSAY_OK && facts->gpu_dir != NULL)
        status = add_gpu(record, facts, error);
    if (status == ASSAY_OK)
        status = add_memory_tracks(record, facts);
    if (status == ASSAY_OK)
        status = assay_record_describe(record);
    mention_survivors(&record->process);
    mention_own_files(facts);
cleanup:
    if (status != ASSAY_OK) {
        assay_record_free(record);
        record = NULL;
        if (error->message[0] == '\0')
            *error = (assay_error){status, "out of memory"};
    }
    *result = record;
    return status;
}
