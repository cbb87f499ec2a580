/* The hash is FNV-1a (Fowler, Noll and Vo) over the name, started from the parent. It is mixed once
 * more, because the low bits of FNV-1a are its weakest and choose the slot here. Slots are probed
 * one after another. At most half of them are taken, so a search ends after two or three. */
#include "base/name_index.h"

#include <stdlib.h>
#include <string.h>

enum { FEWEST_SLOTS = 64 };

uint64_t assay__name_hash(int32_t parent, const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u ^ (uint32_t)parent;
    for (hash *= 0x100000001b3u; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return hash ^ hash >> 32;
}

/* The slot of the name, or the free slot where it belongs. */
static assay__name_slot *slot_of(const assay__name_index *index, int32_t parent, const char *name)
{
    size_t mask = index->slot_count - 1, at = assay__name_hash(parent, name) & mask;
    while (index->slots[at].name != NULL &&
           (index->slots[at].parent != parent || strcmp(index->slots[at].name, name) != 0))
        at = (at + 1) & mask;
    return &index->slots[at];
}

int32_t assay__name_index_find(const assay__name_index *index, int32_t parent, const char *name)
{
    if (index->slot_count == 0)
        return -1;
    const assay__name_slot *slot = slot_of(index, parent, name);
    return slot->name != NULL ? slot->number : -1;
}

static assay_status grow(assay__name_index *index)
{
    assay__name_index larger = {.slot_count =
                                    index->slot_count == 0 ? FEWEST_SLOTS : 2 * index->slot_count,
                                .used = index->used};
    larger.slots = calloc(larger.slot_count, sizeof *larger.slots);
    if (larger.slots == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < index->slot_count; i++) {
        const assay__name_slot *slot = &index->slots[i];
        if (slot->name != NULL)
            *slot_of(&larger, slot->parent, slot->name) = *slot;
    }
    assay__name_slot *old = index->slots;
    *index = larger;
    free(old); /* last: a child that another thread forks meanwhile releases the index */
    return ASSAY_OK;
}

assay_status assay__name_index_add(assay__name_index *index, int32_t parent, const char *name,
                                   int32_t number)
{
    if (2 * (index->used + 1) > index->slot_count) {
        assay_status status = grow(index);
        if (status != ASSAY_OK)
            return status;
    }
    *slot_of(index, parent, name) = (assay__name_slot){name, parent, number};
    index->used++;
    return ASSAY_OK;
}

void assay__name_index_release(assay__name_index *index)
{
    free(index->slots);
    *index = (assay__name_index){0};
}
