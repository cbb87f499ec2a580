#include "cli/run_record.h"

#include <string.h>
#include <sys/wait.h>

#include "assay/instrument.h"
#include "assay/memory.h"
#include "assay/record.h"
#include "assay/record_build.h"
#include "assay/snapshot.h"
#include "cli/common/message.h"
#include "cli/scratch_dir.h"

/* ru_inblock and ru_oublock count in these, whatever the device (getrusage(2)). */
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

/* The largest process of the tree: the kernel's figure covers everything waited for; the samples
 * cover what was never waited for. */
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
    /* When the largest process stood at its peak, the tree stood at least as high. */
    double sampled = watch->tree.tree_peak_rss_bytes.validity == ASSAY_VALID
                         ? watch->tree.tree_peak_rss_bytes.value
                         : 0;
    process->tree_peak_rss_bytes = assay_reading_of(larger(sampled, largest));
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

static void fill_heap(assay_record_process *process, const char *directory, const char *program)
{
    assay_error error = {0};
    assay_heap_figures figures = {.struct_size = sizeof figures};
    assay_status status = assay_heap_directory_read(directory, &error, &figures);
    if (status == ASSAY_E_NOT_FOUND) {
        miss_heap(process);
        message_note("the heap of '%s' could not be measured: it is statically linked, setuid, or "
                     "ended before it loaded its libraries",
                     program);
        return;
    }
    if (status != ASSAY_OK || error.status != ASSAY_OK)
        message_note("%s", error.message);
    if (status != ASSAY_OK) {
        miss_heap(process);
        return;
    }
    process->heap_peak_bytes = assay_reading_of((double)figures.peak_bytes);
    process->heap_allocations = assay_reading_of((double)figures.allocations);
    process->heap_frees = assay_reading_of((double)figures.frees);
    process->heap_leaked_bytes = assay_reading_of((double)figures.live_bytes);
}

/* The journals of the program's processes as one record, or an empty record. */
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
    return status == ASSAY_OK || status == ASSAY_E_MEMORY ? status : assay_record_new(record);
}

/* The memory of the tree over time, as a counter track of its own lane. */
static assay_status add_memory_track(assay_record *record, const run_facts *facts)
{
    const watch_result *watch = facts->watch;
    if (watch->point_count == 0)
        return ASSAY_OK;
    assay_record_counter counter = {.name = assay_record_text(record, "resident bytes of the tree"),
                                    .count = watch->point_count,
                                    .last = watch->points[watch->point_count - 1].rss_bytes,
                                    .min = watch->points[0].rss_bytes};
    assay_record_lane lane = {.name = assay_record_text(record, "process tree"),
                              .kind = ASSAY_LANE_PROCESS,
                              .process_id = facts->launch->pid,
                              .ended = true};
    if (counter.name == NULL || lane.name == NULL)
        return ASSAY_E_MEMORY;
    double sum = 0;
    for (size_t i = 0; i < watch->point_count; i++) {
        double value = watch->points[i].rss_bytes;
        sum += value;
        counter.max = larger(counter.max, value);
        counter.min = value < counter.min ? value : counter.min;
    }
    counter.mean = sum / (double)watch->point_count;
    assay_record_event event = {.kind = ASSAY_EVENT_COUNTER,
                                .name = (uint32_t)record->counter_count,
                                .lane = (uint32_t)record->lane_count};
    assay_status status = assay_record_add_counter(record, &counter);
    if (status == ASSAY_OK)
        status = assay_record_add_lane(record, &lane);
    for (size_t i = 0; i < watch->point_count && status == ASSAY_OK; i++) {
        event.start_seconds =
            (double)(int64_t)(watch->points[i].time_ns - facts->launch->start_ns) / 1e9;
        event.value = watch->points[i].rss_bytes;
        status = assay_record_add_event(record, &event);
    }
    return status;
}

static void mention_survivors(const watch_result *watch)
{
    if (watch->sampled && watch->tree.live_process_count.validity == ASSAY_VALID &&
        watch->tree.live_process_count.value > 0)
        message_note("%.0f of its processes still run; only what ended is in the figures",
                     watch->tree.live_process_count.value);
}

assay_status run_record_make(const run_facts *facts, assay_error *error, assay_record **result)
{
    assay_record *record = NULL;
    assay_status status = take_snapshot(facts, error, &record);
    if (status != ASSAY_OK)
        goto cleanup;
    record->kind = "run";
    record->has_process = true;
    record->name = assay_record_text(record, facts->name); /* not the monitor's */
    record->created = NULL;                                /* nor when it began */
    if (facts->name != NULL && record->name == NULL)
        status = ASSAY_E_MEMORY;
    if (status == ASSAY_OK)
        status = copy_command(record, facts->command);
    if (status != ASSAY_OK)
        goto cleanup;
    fill_process(&record->process, facts);
    if (facts->heap_dir != NULL)
        fill_heap(&record->process, facts->heap_dir, facts->command[0]);
    status = add_memory_track(record, facts);
    if (status == ASSAY_OK)
        status = assay_record_describe(record);
    mention_survivors(facts->watch);
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
