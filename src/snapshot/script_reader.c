/* Reads the profile of one Python process and checks it. Nothing in the file is trusted, because
 * the measured program may have overwritten it. Entries are visited once, in order. An entry with a
 * wrong size, text or reference ends the reading. */
#include "snapshot/script_reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/grow.h"

const void *assay__script_at(const assay__script_view *view, uint32_t place)
{
    return view->data.data + place;
}

int32_t assay__script_index(const assay__script_list *list, uint32_t place)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->places[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->count && list->places[low] == place ? (int32_t)low : -1;
}

static bool has(const assay__script_list *list, uint32_t place)
{
    return assay__script_index(list, place) >= 0;
}

static bool is_good_code(const assay__script_view *view, const void *entry)
{
    const assay__script_code *code = entry;
    (void)view;
    return code->file_bytes <= ASSAY__SCRIPT_MAX_TEXT &&
           code->name_bytes <= ASSAY__SCRIPT_MAX_TEXT &&
           sizeof *code + code->file_bytes + code->name_bytes <= code->entry.bytes;
}

static bool is_good_node(const assay__script_view *view, const void *entry)
{
    const assay__script_node *node = entry;
    return has(&view->codes, node->code) && (node->parent == 0 || has(&view->nodes, node->parent));
}

static bool is_good_thread(const assay__script_view *view, const void *entry)
{
    (void)view;
    (void)entry;
    return true;
}

static bool is_good_event(const assay__script_view *view, const void *entry)
{
    const assay__script_event *event = entry;
    return has(&view->threads, event->thread) &&
           (event->node == 0 || has(&view->nodes, event->node));
}

static bool is_good_site(const assay__script_view *view, const void *entry)
{
    const assay__script_site *site = entry;
    return has(&view->codes, site->code);
}

/* How entries of one kind are checked, and the list of the view that gets them. */
typedef struct kind {
    size_t bytes;
    bool (*is_good)(const assay__script_view *view, const void *entry);
    size_t list; /* its offset in the view */
} kind;

static const kind kinds[] = {
    [ASSAY__SCRIPT_CODE] = {sizeof(assay__script_code), is_good_code,
                            offsetof(assay__script_view, codes)},
    [ASSAY__SCRIPT_NODE] = {sizeof(assay__script_node), is_good_node,
                            offsetof(assay__script_view, nodes)},
    [ASSAY__SCRIPT_THREAD] = {sizeof(assay__script_thread), is_good_thread,
                              offsetof(assay__script_view, threads)},
    [ASSAY__SCRIPT_EVENT] = {sizeof(assay__script_event), is_good_event,
                             offsetof(assay__script_view, events)},
    [ASSAY__SCRIPT_SITE] = {sizeof(assay__script_site), is_good_site,
                            offsetof(assay__script_view, sites)},
};

static assay_status add_entry(assay__script_view *view, uint32_t place, assay_error *error)
{
    const assay__script_entry *entry = assay__script_at(view, place);
    if (entry->kind >= sizeof kinds / sizeof *kinds || kinds[entry->kind].is_good == NULL)
        return ASSAY_OK;
    const kind *k = &kinds[entry->kind];
    if (entry->bytes < k->bytes || !k->is_good(view, entry))
        return assay__fail(error, ASSAY_E_FORMAT, "a damaged entry at byte %u", place);
    assay__script_list *list = (assay__script_list *)(void *)((char *)view + k->list);
    if (!assay__grow(&list->places, &list->capacity, list->count + 1, sizeof *list->places))
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory");
    list->places[list->count++] = place;
    return ASSAY_OK;
}

static assay_status scan(assay__script_view *view, assay_error *error)
{
    const assay__script_header *header = view->header;
    uint64_t used = atomic_load_explicit(&header->used, memory_order_acquire);
    uint64_t at = header->header_bytes;
    assay_status status = ASSAY_OK;
    while (at < used && status == ASSAY_OK) {
        const assay__script_entry *entry = assay__script_at(view, (uint32_t)at);
        if (used - at < sizeof *entry || entry->bytes < sizeof *entry || entry->bytes % 8 != 0 ||
            entry->bytes > used - at)
            return assay__fail(error, ASSAY_E_FORMAT, "a damaged entry at byte %llu",
                               (unsigned long long)at);
        status = add_entry(view, (uint32_t)at, error);
        at += entry->bytes;
    }
    return status;
}

static assay_status check(assay__script_view *view, assay_error *error)
{
    const assay__script_header *header = (const void *)view->data.data;
    if (view->data.length < sizeof *header || header->magic != ASSAY__SCRIPT_MAGIC ||
        header->header_bytes < sizeof *header || header->header_bytes % 8 != 0)
        return assay__fail(error, ASSAY_E_FORMAT, "not a profile of a script");
    view->header = header;
    uint64_t used = atomic_load_explicit(&header->used, memory_order_acquire);
    if (used > view->data.length || header->header_bytes > used)
        return assay__fail(error, ASSAY_E_TRUNCATED, "it ends before its last entry");
    return scan(view, error);
}

static assay_status finish(const char *name, assay_status status, assay_error *error,
                           assay__script_view *view)
{
    assay_error why = {0};
    if (status == ASSAY_OK)
        status = check(view, &why);
    if (status != ASSAY_OK && why.message[0] != '\0')
        assay__fail(error, status, "%s: %s", name, why.message);
    if (status != ASSAY_OK)
        assay__script_release(view);
    return status;
}

assay_status assay__script_read(const char *path, assay_error *error, assay__script_view *view)
{
    *view = (assay__script_view){.header = NULL};
    assay__buffer_init(&view->data, ASSAY__SCRIPT_MAX_BYTES + 1);
    return finish(path, assay__file_read(path, &view->data, error), error, view);
}

assay_status assay__script_parse(const char *name, const void *bytes, size_t length,
                                 assay_error *error, assay__script_view *view)
{
    *view = (assay__script_view){.header = NULL};
    assay__buffer_init(&view->data, ASSAY__SCRIPT_MAX_BYTES + 1);
    assay__buffer_append(&view->data, bytes, length);
    return finish(name, view->data.status, error, view);
}

void assay__script_release(assay__script_view *view)
{
    assay__script_list *lists[] = {&view->codes, &view->nodes, &view->threads, &view->events,
                                   &view->sites};
    assay__buffer_release(&view->data);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]->places);
    *view = (assay__script_view){.header = NULL};
}
