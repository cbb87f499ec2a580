/* Merges the profiles of Python processes into one record. A place is a function or a line.
 *
 * The self time of a line is the time of the samples in which it was the innermost line. Its total
 * time is that of all samples that have the line anywhere on the stack. Such a sample counts once,
 * even if recursion puts the line on the stack several times. So the tree of stacks is walked
 * upwards from every node, and a stamp tells whether a place has been counted for this node.
 *
 * Native time is known only for the samples in which a thread could be watched. The native time of
 * a place is its self time multiplied by the native share of these samples. */
#include "snapshot/script_merge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/record_build.h"
#include "base/grow.h"

enum { MAX_FUNCTIONS = 4096, MAX_LINES = 1024, MAX_ALLOCATIONS = 1024, MAX_PLACES = 1 << 20 };

static double seconds_of(uint64_t ns)
{
    return (double)ns / 1e9;
}

static const char *text_of(assay_record *record, const char *bytes, size_t length)
{
    char text[ASSAY__SCRIPT_MAX_TEXT + 1];
    memcpy(text, bytes, length);
    text[length] = '\0';
    return assay_record_text(record, length > 0 ? text : "?");
}

/* Find or add `key` below `parent`, and store its number. `*is_new` says whether it was added. */
static assay_status find_key(assay_record *record, assay__name_index *index, int32_t parent,
                             const char *key, size_t count, int32_t *number, bool *is_new)
{
    *number = assay__name_index_find(index, parent, key);
    *is_new = *number < 0;
    if (!*is_new)
        return ASSAY_OK;
    if (count >= MAX_PLACES)
        return ASSAY_E_LIMIT;
    const char *kept = assay_record_text(record, key);
    *number = (int32_t)count;
    return kept != NULL ? assay__name_index_add(index, parent, kept, *number) : ASSAY_E_MEMORY;
}

static assay_status find_place(assay__script_merge *m, assay__script_places *places, int32_t parent,
                               const char *key, int32_t *number, bool *is_new)
{
    assay_status status =
        find_key(m->record, &places->index, parent, key, places->count, number, is_new);
    if (status != ASSAY_OK || !*is_new)
        return status;
    if (!assay__grow(&places->items, &places->capacity, places->count + 1, sizeof *places->items))
        return ASSAY_E_MEMORY;
    places->items[places->count++] = (assay__script_place){.function = parent};
    return ASSAY_OK;
}

static assay_status find_function(assay__script_merge *m, const assay__script_code *code,
                                  int32_t *number)
{
    char key[2 * ASSAY__SCRIPT_MAX_TEXT + 32];
    const char *texts = (const char *)(code + 1);
    bool is_new;
    snprintf(key, sizeof key, "%u:%.*s:%.*s", code->first_line, (int)code->name_bytes,
             texts + code->file_bytes, (int)code->file_bytes, texts);
    assay_status status = find_place(m, &m->functions, 0, key, number, &is_new);
    if (status != ASSAY_OK || !is_new)
        return status;
    assay_record_code *made = &m->functions.items[*number].code;
    made->file = text_of(m->record, texts, code->file_bytes);
    made->name = text_of(m->record, texts + code->file_bytes, code->name_bytes);
    made->line = code->first_line;
    return made->file != NULL && made->name != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
}

static assay_status find_line(assay__script_merge *m, int32_t function, uint32_t line,
                              int32_t *number)
{
    char key[16];
    bool is_new;
    snprintf(key, sizeof key, "%u", line);
    assay_status status = find_place(m, &m->lines, function, key, number, &is_new);
    if (status == ASSAY_OK && is_new) {
        const assay_record_code *of = &m->functions.items[function].code;
        m->lines.items[*number].code =
            (assay_record_code){.name = of->name, .file = of->file, .line = line};
    }
    return status;
}

static void add_own(assay__script_place *place, const assay__script_node *node)
{
    place->code.self_seconds += seconds_of(node->busy_ns);
    place->code.waiting_seconds += node->is_main ? seconds_of(node->waiting_ns) : 0;
    place->code.samples += node->samples;
    place->watched_seconds += seconds_of(node->watched_ns);
    place->seen_native_seconds += seconds_of(node->native_ns);
    place->squares += node->squares / 1e18;
}

static void add_total(assay__script_place *place, uint64_t stamp, double seconds)
{
    if (place->stamp != stamp)
        place->code.total_seconds += seconds;
    place->stamp = stamp;
}

/* Maps each node of a profile to its function, its line and its parent node. */
typedef struct node_map {
    int32_t *functions, *lines, *parents;
} node_map;

static void add_node(assay__script_merge *m, const node_map *map, size_t i,
                     const assay__script_node *node)
{
    assay_record_python *python = &m->record->python;
    add_own(&m->functions.items[map->functions[i]], node);
    add_own(&m->lines.items[map->lines[i]], node);
    python->busy_seconds += seconds_of(node->busy_ns);
    python->waiting_seconds += node->is_main ? seconds_of(node->waiting_ns) : 0;
    m->squares += node->squares / 1e18;
    m->stamps++;
    int32_t at = (int32_t)i;
    for (int depth = 0; node->busy_ns > 0 && at >= 0 && depth < ASSAY__SCRIPT_MAX_DEPTH; depth++) {
        add_total(&m->functions.items[map->functions[at]], m->stamps, seconds_of(node->busy_ns));
        add_total(&m->lines.items[map->lines[at]], m->stamps, seconds_of(node->busy_ns));
        at = map->parents[at];
    }
}

static assay_status add_nodes(assay__script_merge *m, const assay__script_view *view,
                              const int32_t *codes, const node_map *map)
{
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < view->nodes.count && status == ASSAY_OK; i++) {
        const assay__script_node *node = assay__script_at(view, view->nodes.places[i]);
        map->functions[i] = codes[assay__script_index(&view->codes, node->code)];
        map->parents[i] = node->parent != 0 ? assay__script_index(&view->nodes, node->parent) : -1;
        status = find_line(m, map->functions[i], node->line, &map->lines[i]);
        if (status == ASSAY_OK)
            add_node(m, map, i, node);
    }
    return status;
}

static assay_status find_allocation(assay__script_merge *m, int32_t function, uint32_t line,
                                    assay_record_allocation **found)
{
    char key[16];
    int32_t number;
    bool is_new;
    assay__script_allocations *all = &m->allocations;
    snprintf(key, sizeof key, "%u", line);
    assay_status status =
        find_key(m->record, &all->index, function, key, all->count, &number, &is_new);
    if (status != ASSAY_OK)
        return status;
    if (is_new) {
        if (!assay__grow(&all->items, &all->capacity, all->count + 1, sizeof *all->items))
            return ASSAY_E_MEMORY;
        const assay_record_code *of = &m->functions.items[function].code;
        all->items[all->count++] =
            (assay_record_allocation){.name = of->name, .file = of->file, .line = line};
    }
    *found = &all->items[number];
    return ASSAY_OK;
}

/* Bytes that were never freed are computed by adding and subtracting, so the last bits may be
 * wrong. Less than half a byte counts as nothing. */
static double not_negative(double bytes)
{
    return bytes > 0.5 ? bytes : 0;
}

static assay_status add_sites(assay__script_merge *m, const assay__script_view *view,
                              const int32_t *codes)
{
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < view->sites.count && status == ASSAY_OK; i++) {
        const assay__script_site *site = assay__script_at(view, view->sites.places[i]);
        assay_record_allocation *found;
        status = find_allocation(m, codes[assay__script_index(&view->codes, site->code)],
                                 site->line, &found);
        if (status != ASSAY_OK)
            break;
        bool is_at_peak = site->epoch == view->header->peak_epoch;
        found->bytes += site->bytes;
        found->blocks += site->blocks;
        found->live_bytes += not_negative(site->live_bytes);
        found->peak_bytes += not_negative(is_at_peak ? site->peak_bytes : site->live_bytes);
        found->samples += site->samples;
    }
    return status;
}

static void add_to(assay_reading *sum, double value)
{
    *sum = assay_reading_of(sum->validity == ASSAY_VALID ? sum->value + value : value);
}

static void add_header(assay__script_merge *m, const assay__script_header *header,
                       double busy_seconds)
{
    assay_record_python *python = &m->record->python;
    double process_seconds = seconds_of(header->process_ns),
           sampler = seconds_of(header->sampler_ns);
    python->processes++;
    m->process_samples += (double)header->process_samples;
    m->sampled_seconds += seconds_of(header->end_ns - header->start_ns);
    python->rate_hz = m->sampled_seconds > 0 ? m->process_samples / m->sampled_seconds : 0;
    python->samples += header->samples;
    python->torn_samples += header->torn_samples;
    python->dropped_samples += header->dropped_nodes;
    python->sampler_seconds += sampler;
    python->other_seconds += not_negative((process_seconds - sampler - busy_seconds) * 1e9) / 1e9;
    if (header->interval_bytes > 0) {
        python->interval_bytes = assay_reading_of(header->interval_bytes);
        add_to(&python->allocated_bytes, header->allocated_bytes);
        add_to(&python->peak_bytes, header->peak_bytes);
    }
}

assay_status assay__script_merge_add(assay__script_merge *m, const assay__script_view *view)
{
    assay_status status = ASSAY_OK;
    size_t count = view->nodes.count + 1;
    int32_t *codes = malloc((view->codes.count + 1) * sizeof *codes);
    int32_t *numbers = malloc(3 * count * sizeof *numbers);
    double busy_before = m->record->python.busy_seconds;
    if (codes == NULL || numbers == NULL) {
        status = ASSAY_E_MEMORY;
        goto cleanup;
    }
    node_map map = {numbers, numbers + count, numbers + 2 * count};
    for (size_t i = 0; i < view->codes.count && status == ASSAY_OK; i++)
        status = find_function(m, assay__script_at(view, view->codes.places[i]), &codes[i]);
    if (status == ASSAY_OK)
        status = add_nodes(m, view, codes, &map);
    if (status == ASSAY_OK)
        status = add_sites(m, view, codes);
    if (status == ASSAY_OK)
        status = assay__script_merge_events(m, view, map.functions);
    if (status == ASSAY_OK)
        add_header(m, view->header, m->record->python.busy_seconds - busy_before);
cleanup:
    free(codes);
    free(numbers);
    return status;
}

/* The native part of a time, of which `known` is known to have `native` seconds in native code. It
 * is unknown if the known part may differ much from the whole. */
static assay_reading native_part(double native, double known, double whole)
{
    const double enough = 0.9;
    return known > 0 && known >= enough * whole ? assay_reading_of(whole * (native / known))
                                                : assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
}

/* Fill in the native parts of lines, of functions and of the whole. Functions and the whole add up
 * their lines: a line that was watched often says nothing about a line that was not. */
static void put_native_parts(assay__script_merge *m)
{
    assay_record_python *python = &m->record->python;
    double native = 0, known = 0;
    for (size_t i = 0; i < m->lines.count; i++) {
        assay__script_place *line = &m->lines.items[i];
        assay__script_place *function = &m->functions.items[line->function];
        if (line->watched_seconds > 0) {
            line->known_seconds = line->code.self_seconds;
            line->native_seconds =
                line->code.self_seconds * (line->seen_native_seconds / line->watched_seconds);
        }
        function->known_seconds += line->known_seconds;
        function->native_seconds += line->native_seconds;
        known += line->known_seconds;
        native += line->native_seconds;
    }
    python->native_seconds = native_part(native, known, python->busy_seconds);
}

/* The standard error of the self time of a place, under the assumption that the samples are
 * independent. It is the standard error of the ratio of the place's charges to all charges
 * (Cochran, Sampling Techniques, chapter 6), times the time of all charges. A charge is the
 * processor time that one sample adds to a place. */
static assay_reading error_of(const assay__script_merge *m, const assay__script_place *place)
{
    double whole = m->record->python.busy_seconds;
    double share = whole > 0 ? place->code.self_seconds / whole : 0;
    double variance =
        (1 - share) * (1 - share) * place->squares + share * share * (m->squares - place->squares);
    return place->code.samples > 0 && variance >= 0 && isfinite(variance)
               ? assay_reading_of(sqrt(variance))
               : assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
}

static int by_cost(const void *left, const void *right)
{
    const assay__script_place *const *a = left, *const *b = right;
    const assay_record_code *x = &(*a)->code, *y = &(*b)->code;
    if (x->self_seconds != y->self_seconds)
        return x->self_seconds > y->self_seconds ? -1 : 1;
    double first = x->waiting_seconds + x->total_seconds,
           second = y->waiting_seconds + y->total_seconds;
    return first != second ? (first > second ? -1 : 1) : (*a < *b ? -1 : *a > *b);
}

/* Sort the places, the costliest first, store their ranks, and copy at most `most` of them into the
 * record. */
static assay_status put_places(assay__script_merge *m, assay__script_places *places, size_t most,
                               assay_record_code **result, size_t *result_count)
{
    assay__script_place **order = malloc((places->count + 1) * sizeof *order);
    *result = assay_record_allocate(m->record, places->count + 1, sizeof **result);
    if (order == NULL || *result == NULL) {
        free(order);
        return ASSAY_E_MEMORY;
    }
    for (size_t i = 0; i < places->count; i++)
        order[i] = &places->items[i];
    if (places->count > 0)
        qsort(order, places->count, sizeof *order, by_cost);
    *result_count = places->count < most ? places->count : most;
    for (size_t i = 0; i < places->count; i++) {
        order[i]->rank = (uint32_t)i;
        order[i]->code.native_seconds = native_part(
            order[i]->native_seconds, order[i]->known_seconds, order[i]->code.self_seconds);
        order[i]->code.self_error_seconds = error_of(m, order[i]);
        if (i < *result_count)
            (*result)[i] = order[i]->code;
    }
    free(order);
    return ASSAY_OK;
}

static int by_bytes(const void *left, const void *right)
{
    const assay_record_allocation *a = left, *b = right;
    return a->bytes != b->bytes ? (a->bytes > b->bytes ? -1 : 1) : 0;
}

static assay_status put_allocations(assay__script_merge *m)
{
    assay_record_python *python = &m->record->python;
    assay__script_allocations *all = &m->allocations;
    size_t count = all->count < MAX_ALLOCATIONS ? all->count : MAX_ALLOCATIONS;
    python->allocations = assay_record_allocate(m->record, count + 1, sizeof *python->allocations);
    if (python->allocations == NULL)
        return ASSAY_E_MEMORY;
    if (all->count > 0) {
        qsort(all->items, all->count, sizeof *all->items, by_bytes);
        memcpy(python->allocations, all->items, count * sizeof *all->items);
    }
    python->allocation_count = count;
    return ASSAY_OK;
}

assay_status assay__script_merge_finish(assay__script_merge *m)
{
    assay_record_python *python = &m->record->python;
    if (python->processes == 0)
        return ASSAY_OK;
    m->record->has_python = true;
    put_native_parts(m);
    assay_status status =
        put_places(m, &m->functions, MAX_FUNCTIONS, &python->functions, &python->function_count);
    if (status == ASSAY_OK)
        status = put_places(m, &m->lines, MAX_LINES, &python->lines, &python->line_count);
    if (status == ASSAY_OK)
        status = put_allocations(m);
    if (status == ASSAY_OK)
        status = assay__script_put_events(m);
    return status == ASSAY_OK ? assay__script_put_sources(m->record) : status;
}

void assay__script_merge_release(assay__script_merge *m)
{
    assay__name_index_release(&m->functions.index);
    assay__name_index_release(&m->lines.index);
    assay__name_index_release(&m->allocations.index);
    free(m->functions.items);
    free(m->lines.items);
    free(m->allocations.items);
    free(m->slices);
}
