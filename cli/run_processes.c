/* Merges what several sources know of the processes of a run. Each source gives sightings: a
 * process at some time, with its id and usually its start time. After sorting by id and time, the
 * sightings of one process are neighbours and are merged. */
#include "cli/run_processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/instrument.h"
#include "assay/record_build.h"

enum {
    SIGHTINGS_MAX = 1 << 18,
    NAME_BYTES = 64,
    SWEEPS_TO_MISS = 2 /* a process that was sampled only once may have ended while it started */
};

typedef struct sighting {
    int64_t process_id, parent_id;
    uint64_t start_ticks;                     /* 0 if not known */
    int64_t started_ns, ended_ns, program_ns; /* program_ns: the start of its latest program */
    char name[NAME_BYTES];
    const char *unseen; /* why its heap was not seen: a text of the library, or NULL */
    bool sampled, in_heap, running;
    uint64_t sweeps;
    double user_seconds, sys_seconds, heap_peak_bytes, heap_allocations;
    assay_reading peak_rss_bytes;
} sighting;

typedef struct collection {
    sighting *all;
    size_t count, capacity;
    bool out_of_memory;
} collection;

static sighting *add_sighting(collection *c)
{
    if (c->count == SIGHTINGS_MAX)
        return NULL;
    if (c->count == c->capacity) {
        size_t wanted = c->capacity > 0 ? c->capacity * 2 : 64;
        sighting *larger = realloc(c->all, wanted * sizeof *larger);
        if (larger == NULL) {
            c->out_of_memory = true;
            return NULL;
        }
        c->all = larger;
        c->capacity = wanted;
    }
    sighting *added = &c->all[c->count++];
    *added = (sighting){.peak_rss_bytes = assay_reading_missing(ASSAY_NOT_MEASURED)};
    return added;
}

static void set_name(sighting *s, const char *name)
{
    snprintf(s->name, sizeof s->name, "%s", name);
}

/* An assay_tree_visitor that adds the sighting of a sampled process. */
static void add_sampled(void *context, const assay_tree_process *process)
{
    sighting *added = add_sighting(context);
    if (added == NULL)
        return;
    added->process_id = process->process_id;
    added->parent_id = process->parent_id;
    added->start_ticks = process->start_ticks;
    added->started_ns = process->started_ns;
    added->ended_ns = process->last_seen_ns;
    added->sampled = true;
    added->running = process->alive;
    added->sweeps = process->sweeps;
    added->user_seconds = process->user_seconds;
    added->sys_seconds = process->sys_seconds;
    added->peak_rss_bytes = process->peak_rss_bytes;
    set_name(added, process->name);
}

/* An assay_heap_visitor that adds the sighting of a program that has a heap file. */
static void add_program(void *context, const assay_heap_program *program)
{
    sighting *added = add_sighting(context);
    if (added == NULL)
        return;
    added->process_id = program->process_id;
    added->start_ticks = program->start_ticks;
    added->started_ns = added->program_ns = program->started_ns;
    added->ended_ns = program->ended_ns;
    added->in_heap = true;
    added->unseen = program->unseen;
    added->heap_peak_bytes = (double)program->figures.peak_bytes;
    added->heap_allocations = (double)program->figures.allocations;
    set_name(added, program->name);
}

static int by_process_and_time(const void *left, const void *right)
{
    const sighting *a = left, *b = right;
    if (a->process_id != b->process_id)
        return a->process_id < b->process_id ? -1 : 1;
    return (a->started_ns > b->started_ns) - (a->started_ns < b->started_ns);
}

static bool is_same(const sighting *a, const sighting *b)
{
    return a->process_id == b->process_id &&
           (a->start_ticks == b->start_ticks || a->start_ticks == 0 || b->start_ticks == 0);
}

/* Merge `added`, which began no earlier than `whole`, into `whole`. A process can execute several
 * programs one after the other: the name of the latest program is kept. */
static void merge(sighting *whole, const sighting *added)
{
    bool is_later = added->program_ns >= whole->program_ns && added->name[0] != '\0';
    if (is_later || whole->name[0] == '\0')
        memcpy(whole->name, added->name, sizeof whole->name);
    if (added->program_ns > whole->program_ns)
        whole->program_ns = added->program_ns;
    if (whole->start_ticks == 0)
        whole->start_ticks = added->start_ticks;
    if (added->ended_ns > whole->ended_ns)
        whole->ended_ns = added->ended_ns;
    if (added->in_heap && (!whole->in_heap || added->started_ns < whole->started_ns))
        whole->started_ns = added->started_ns; /* more exact than the clock tick of a sample */
    if (whole->unseen == NULL)
        whole->unseen = added->unseen;
    whole->in_heap |= added->in_heap;
    if (added->heap_peak_bytes > whole->heap_peak_bytes)
        whole->heap_peak_bytes = added->heap_peak_bytes;
    whole->heap_allocations += added->heap_allocations;
    if (!added->sampled)
        return;
    whole->sampled = true;
    whole->running = added->running;
    whole->parent_id = added->parent_id;
    whole->sweeps = added->sweeps;
    whole->user_seconds = added->user_seconds;
    whole->sys_seconds = added->sys_seconds;
    whole->peak_rss_bytes = added->peak_rss_bytes;
}

static void merge_all(collection *c)
{
    size_t kept = 0;
    if (c->count > 0)
        qsort(c->all, c->count, sizeof *c->all, by_process_and_time);
    for (size_t i = 0; i < c->count; i++)
        if (kept > 0 && is_same(&c->all[kept - 1], &c->all[i]))
            merge(&c->all[kept - 1], &c->all[i]);
        else
            c->all[kept++] = c->all[i];
    c->count = kept;
}

/* The reason why the heap figures lack this process, or a part of it; NULL if they have all of it.
 */
static const char *reason_of(const sighting *s, const run_facts *facts)
{
    bool is_root = s->process_id == facts->launch->pid;
    if (facts->heap_dir == NULL || s->unseen != NULL || s->in_heap)
        return s->unseen;
    if (is_root)
        return "it is statically linked or set-user-id, or ended before it loaded its libraries";
    return s->sweeps >= SWEEPS_TO_MISS
               ? "it is statically linked or set-user-id, or was started without LD_PRELOAD"
               : NULL;
}

static double seconds_from_start(const run_facts *facts, int64_t time_ns)
{
    double seconds = (double)(time_ns - (int64_t)facts->launch->start_ns) / 1e9;
    return seconds > 0 ? seconds : 0; /* start times in ticks are rounded down */
}

static void fill_times(assay_record_member *member, const sighting *s, const run_facts *facts)
{
    bool is_root = s->process_id == facts->launch->pid;
    member->start_seconds =
        assay_reading_of(is_root ? 0 : seconds_from_start(facts, s->started_ns));
    int64_t ended_ns = is_root ? (int64_t)facts->watch->end_ns : s->ended_ns;
    member->end_seconds = ended_ns != 0 && !s->running
                              ? assay_reading_of(seconds_from_start(facts, ended_ns))
                              : assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
}

static assay_status fill_member(assay_record *record, assay_record_member *member,
                                const sighting *s, const run_facts *facts)
{
    member->process_id = s->process_id;
    member->parent_id = s->parent_id > 0 ? (uint64_t)s->parent_id : 0;
    member->running = s->running;
    fill_times(member, s, facts);
    if (s->sampled) {
        member->user_seconds = assay_reading_of(s->user_seconds);
        member->sys_seconds = assay_reading_of(s->sys_seconds);
        member->peak_rss_bytes = s->peak_rss_bytes;
    }
    if (s->name[0] != '\0' && (member->name = assay_record_text(record, s->name)) == NULL)
        return ASSAY_E_MEMORY;
    const char *reason = reason_of(s, facts);
    if (facts->heap_dir != NULL) {
        bool known = s->in_heap && (reason == NULL || s->heap_allocations > 0);
        assay_reading none = assay_reading_missing(ASSAY_UNSUPPORTED);
        member->heap_peak_bytes = known ? assay_reading_of(s->heap_peak_bytes) : none;
        member->heap_allocations = known ? assay_reading_of(s->heap_allocations) : none;
    }
    if (reason == NULL)
        return ASSAY_OK;
    record->process.heap_unseen_processes++;
    char text[160];
    snprintf(text, sizeof text, "heap: %s", reason);
    member->unseen = assay_record_text(record, text);
    return member->unseen != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
}

/* The entry that the journals made for a process, among the first `count` entries; or NULL. */
static assay_record_member *find_entry(assay_record *record, size_t count, int64_t process_id)
{
    for (size_t i = 0; i < count; i++)
        if (record->processes[i].process_id == process_id)
            return &record->processes[i];
    return NULL;
}

static assay_status add_members(assay_record *record, const collection *c, const run_facts *facts)
{
    size_t of_journals = record->process_count;
    for (size_t i = 0; i < c->count; i++) {
        assay_record_member fresh;
        assay_record_member *known = find_entry(record, of_journals, c->all[i].process_id);
        assay_record_member_init(&fresh);
        assay_status status =
            fill_member(record, known != NULL ? known : &fresh, &c->all[i], facts);
        if (status == ASSAY_OK && known == NULL)
            status = assay_record_add_process(record, &fresh);
        if (status != ASSAY_OK)
            return status;
        record->process.running_processes += c->all[i].running;
    }
    return ASSAY_OK;
}

assay_status run_processes_add(assay_record *record, const run_facts *facts, assay_error *error)
{
    collection c = {0};
    assay_status status = ASSAY_OK;
    if (facts->watch->sampler != NULL)
        status = assay_tree_sampler_visit(facts->watch->sampler, false, add_sampled, &c);
    if (status == ASSAY_OK && facts->heap_dir != NULL)
        status = assay_heap_directory_visit(facts->heap_dir, add_program, &c, error);
    if (c.out_of_memory)
        status = ASSAY_E_MEMORY;
    if (status == ASSAY_OK) {
        merge_all(&c);
        status = add_members(record, &c, facts);
    }
    free(c.all);
    if (record->process_count > 0)
        record->process.process_count = assay_reading_of((double)record->process_count);
    return status;
}
