/* Nodes and their lookup. Each node has a table of its children, indexed by the low bits of the
 * call site's id. The table grows until no two children share a slot. So the begin of a span needs
 * one probe and no loop, whichever sibling ran last. Site ids are given out in sequence, so a table
 * is rarely larger than twice the number of children. A child that still collides at the largest
 * size stays out of the table and is found through its place.
 *
 * A place is a name below a parent. If two sites below the same parent have the same name, each
 * gets its own node, so that one probe is enough for both. Such nodes are called twins, and a
 * snapshot merges them. A plugin that is loaded again and again brings new sites each time. So the
 * number of twins is limited: at the limit, the newest node is given to the new site.
 *
 * Each lane has from its start a node named "(other)". When the journal has no room for another
 * node, the new operations at the top level are gathered there. New operations below another
 * operation are gathered in an "(other)" of that operation, for which the journal keeps a reserve.
 * They are not gathered at the top level, because their time is also in that operation and would be
 * counted twice. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "monitor/state.h"

enum {
    SMALLEST_TABLE = 8,
    LARGEST_TABLE = 32768,
    FIRST_PLACES = 16,
    MOST_TWINS = 64,
    FIRST_NAMES = 16,
    MOST_NAMES = 2 * ASSAY__JOURNAL_MAX_OPERATIONS
};

#define NO_SITE UINT32_MAX

/* The table of every node that has no children. It is never written. */
static assay__child empty_table[1] = {{.branch = {.site = NO_SITE}}};
static assay__node without_children = {.branch = {.site = NO_SITE, .children = empty_table}};

assay__node *assay__node_without_children(void)
{
    return &without_children;
}

static uint32_t new_site_id(void)
{
    static _Atomic uint32_t last;
    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

static uint32_t id_of_site(const assay_site *site)
{
    uint32_t *field = (uint32_t *)(uintptr_t)&site->id; /* sites are static objects of the macros */
    uint32_t id = __atomic_load_n(field, __ATOMIC_RELAXED);
    if (id != 0)
        return id;
    uint32_t fresh = new_site_id();
    if (__atomic_compare_exchange_n(field, &id, fresh, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return fresh;
    return id;
}

static assay__monitor_state *state_of(const assay__lane_owner *owner)
{
    return assay__monitor_state_of(owner->monitor);
}

static assay__node *new_node(assay__monitor_state *state, uint32_t kind, bool from_reserve)
{
    bool has_spans = kind == ASSAY__NODE_SPAN;
    size_t bytes = sizeof(assay__node) + (has_spans ? ASSAY_RARE_BUCKETS * sizeof(uint64_t) : 0);
    assay__node *node = from_reserve ? assay__journal_allocate_reserved(&state->journal, bytes)
                                     : assay__journal_allocate(&state->journal, bytes);
    if (node == NULL)
        return NULL;
    node->kind = kind;
    node->self = assay__journal_unit(&state->journal, node);
    if (has_spans) /* allocated together with the node, so that the first span always has room */
        node->rare = assay__journal_unit(&state->journal, node + 1);
    node->min = UINT64_MAX;
    node->branch.children = empty_table;
    return node;
}

assay__node *assay__node_new_root(assay__monitor_state *state)
{
    return new_node(state, ASSAY__NODE_ROOT, false);
}

static bool has_own_table(const assay__node *node)
{
    return node->branch.children != empty_table;
}

static assay__node *node_at(const assay__monitor_state *state, uint32_t unit)
{
    return unit == 0 ? NULL : assay__journal_at(&state->journal, unit);
}

/* The key of a place. All counters are children of the root. A span there may have the same name,
 * so counters use 0 as their parent. */
static uint64_t place_key(const assay__node *parent, uint32_t kind, uint32_t operation)
{
    uint32_t below = kind == ASSAY__NODE_COUNTER ? 0 : parent->self;
    return (uint64_t)below << 32 | operation;
}

/* The entry of this key, or the free entry where it belongs. The table must have a free entry. */
static assay__place *find_place(assay__place *places, size_t capacity, uint64_t key)
{
    size_t slot = (size_t)((key * 0x9e3779b97f4a7c15u) >> 32) & (capacity - 1);
    while (places[slot].key != 0 && places[slot].key != key)
        slot = (slot + 1) & (capacity - 1);
    return &places[slot];
}

static bool grow_places(assay__lane_owner *owner)
{
    size_t capacity = owner->place_capacity == 0 ? FIRST_PLACES : 2 * owner->place_capacity;
    assay__place *places = calloc(capacity, sizeof *places);
    if (places == NULL)
        return false;
    for (size_t i = 0; i < owner->place_capacity; i++)
        if (owner->places[i].key != 0)
            *find_place(places, capacity, owner->places[i].key) = owner->places[i];
    assay__place *old = owner->places;
    owner->places = places;
    owner->place_capacity = capacity;
    free(old); /* last: a child that another thread forks meanwhile frees `places` (lane.c) */
    return true;
}

/* Find or make a place. A new place has no node yet. NULL when out of memory. */
static assay__place *place_of(assay__lane_owner *owner, const assay__node *parent, uint32_t kind,
                              uint32_t operation)
{
    if (2 * (owner->place_count + 1) > owner->place_capacity && !grow_places(owner))
        return NULL;
    uint64_t key = place_key(parent, kind, operation);
    assay__place *place = find_place(owner->places, owner->place_capacity, key);
    if (place->key == 0)
        owner->place_count++;
    place->key = key;
    return place;
}

/* Give a node its samples and its memory figures. Both are optional: if there is no room, the node
 * works without them. Samples reserve addresses for the largest number; they take memory or disk
 * only for those that have been recorded. */
static void equip(assay__monitor_state *state, assay__node *node)
{
    if (state->samples > 0) {
        void *samples =
            assay__journal_set_aside(&state->journal, state->samples * sizeof(uint64_t));
        if (samples != NULL)
            node->samples = assay__journal_unit(&state->journal, samples);
    }
    void *memory = assay__journal_allocate(&state->journal, sizeof(assay__journal_memory));
    if (memory != NULL)
        node->memory = assay__journal_unit(&state->journal, memory);
}

static assay__node *add_child(assay__lane_owner *owner, const assay__node *parent,
                              uint32_t operation, uint32_t kind, bool from_reserve)
{
    assay__monitor_state *state = state_of(owner);
    assay__lane *lane = owner->lane;
    assay__node *node = new_node(state, kind, from_reserve);
    if (node == NULL)
        return NULL;
    node->operation = operation;
    node->parent = parent->self;
    if (kind == ASSAY__NODE_SPAN)
        equip(state, node);
    assay__node *last = node_at(state, lane->last_node);
    lane->last_node = node->self;
    __atomic_store_n(&last->next, node->self, __ATOMIC_RELEASE);
    return node;
}

/* Fill a new table of `slots` with `newcomer` and the children in the old table of `parent`. False
 * if two of them share a slot. */
static bool fill_table(assay__child *table, uint32_t slots, const assay__node *parent,
                       assay__child newcomer)
{
    for (uint32_t i = 0; i < slots; i++)
        table[i] = empty_table[0];
    table[newcomer.branch.site & (slots - 1)] = newcomer;
    if (!has_own_table(parent))
        return true;
    for (uint32_t i = 0; i <= parent->branch.child_mask; i++) {
        assay__child child = parent->branch.children[i];
        if (child.branch.site == NO_SITE)
            continue;
        if (table[child.branch.site & (slots - 1)].branch.site != NO_SITE)
            return false;
        table[child.branch.site & (slots - 1)] = child;
    }
    return true;
}

static assay__child_table *table_of(const assay__node *node)
{
    return (assay__child_table *)(void *)((unsigned char *)node->branch.children -
                                          offsetof(assay__child_table, slots));
}

/* Update the copies of a branch after the branch of the innermost open span's node has changed. One
 * copy is in the open frame, the other in the table of the node's parent. The parent is taken from
 * the node, because the enclosing frame may belong to another span than the one in which this span
 * began (binding.h). */
static void copy_branch(assay__lane_owner *owner, const assay__node *node)
{
    assay__publish_branch(&owner->top->branch, &node->branch);
    const assay__node *parent = node_at(state_of(owner), node->parent);
    if (parent == NULL)
        return;
    assay__child *slot = &parent->branch.children[node->branch.site & parent->branch.child_mask];
    if (slot->node == node)
        slot->branch = node->branch;
}

static void replace_table(assay__lane_owner *owner, assay__node *parent, assay__child_table *table,
                          uint32_t slots)
{
    assay__child_table *old = has_own_table(parent) ? table_of(parent) : NULL;
    table->next = owner->tables;
    table->link = &owner->tables;
    if (owner->tables != NULL)
        owner->tables->link = &table->next;
    owner->tables = table;
    parent->branch.children = table->slots;
    parent->branch.child_mask = slots - 1;
    copy_branch(owner, parent);
    if (old != NULL) {
        *old->link = old->next;
        if (old->next != NULL)
            old->next->link = old->link;
        free(old);
    }
}

static bool enter_in_table(assay__lane_owner *owner, assay__node *parent, assay__child child)
{
    if (has_own_table(parent)) {
        assay__child *slot =
            &parent->branch.children[child.branch.site & parent->branch.child_mask];
        if (slot->branch.site == NO_SITE) {
            *slot = child;
            return true;
        }
    }
    uint32_t slots = has_own_table(parent) ? 2 * (parent->branch.child_mask + 1) : SMALLEST_TABLE;
    for (; slots <= LARGEST_TABLE; slots *= 2) {
        assay__child_table *table = malloc(sizeof *table + slots * sizeof *table->slots);
        if (table == NULL)
            return false;
        if (fill_table(table->slots, slots, parent, child)) {
            replace_table(owner, parent, table, slots);
            return true;
        }
        free(table);
    }
    return false;
}

static void enter(assay__lane_owner *owner, assay__node *parent, assay__node *child, uint32_t site)
{
    child->branch.site = site;
    if (!enter_in_table(owner, parent, (assay__child){child->branch, child, 0}))
        parent->children_outside++;
}

/* Move a node to another site. From now on it is found through this site, and no longer through its
 * old one. */
static void change_site(assay__lane_owner *owner, assay__node *parent, assay__node *child,
                        uint32_t site)
{
    assay__child *slot = &parent->branch.children[child->branch.site & parent->branch.child_mask];
    if (slot->node == child)
        *slot = empty_table[0];
    enter(owner, parent, child, site);
}

/* The node of this site among the twins of the place, or NULL. If the site is not looked up in the
 * table, any twin is right. */
static assay__node *find_twin(const assay__monitor_state *state, const assay__place *place,
                              uint32_t site, bool in_table)
{
    assay__node *node = node_at(state, place->node);
    while (in_table && node != NULL && node->branch.site != site)
        node = node_at(state, node->twin);
    return node;
}

/* Find or make the node that gathers new operations below `parent`. NULL if the reserve is used up,
 * or if `parent` gathers operations itself: its children are not told apart. */
static assay__node *other_below(assay__lane_owner *owner, const assay__node *parent)
{
    uint32_t operation = owner->other->operation;
    if (parent->kind == ASSAY__NODE_ROOT)
        return owner->other;
    assay__place *place = parent->operation != operation
                              ? place_of(owner, parent, ASSAY__NODE_SPAN, operation)
                              : NULL;
    if (place == NULL || place->node != 0)
        return place == NULL ? NULL : node_at(state_of(owner), place->node);
    assay__node *node = add_child(owner, parent, operation, ASSAY__NODE_SPAN, true);
    if (node == NULL)
        return NULL;
    place->node = node->self;
    place->nodes++;
    return node;
}

/* Find or make the child of the innermost open span for `operation`, reached through `site`. */
static assay__node *child_of_open_span(assay__lane_owner *owner, uint32_t operation, uint32_t site,
                                       bool in_table)
{
    const assay__monitor_state *state = state_of(owner);
    assay__node *parent = owner->top->node;
    if (owner->top == &owner->lane->frames[ASSAY_LANE_FRAMES - 1])
        return NULL;
    assay__place *place = place_of(owner, parent, ASSAY__NODE_SPAN, operation);
    if (place == NULL)
        return NULL;
    assay__node *node = find_twin(state, place, site, in_table);
    if (node != NULL)
        return node;
    if (place->nodes >= MOST_TWINS) {
        change_site(owner, parent, node_at(state, place->node), site);
        return node_at(state, place->node);
    }
    node = add_child(owner, parent, operation, ASSAY__NODE_SPAN, false);
    if (node == NULL)
        return other_below(owner, parent);
    node->twin = place->node;
    place->node = node->self;
    place->nodes++;
    if (in_table)
        enter(owner, parent, node, site);
    return node;
}

/* Find or make a child of a node, in a lane whose nodes are not looked up by call sites. */
static assay__node *child_at(assay__lane_owner *owner, assay__node *parent, uint32_t operation)
{
    assay__place *place = place_of(owner, parent, ASSAY__NODE_SPAN, operation);
    if (place == NULL || place->node != 0)
        return place == NULL ? NULL : node_at(state_of(owner), place->node);
    bool is_other = operation == owner->other->operation;
    assay__node *node = add_child(owner, parent, operation, ASSAY__NODE_SPAN, is_other);
    if (node == NULL)
        return NULL;
    place->node = node->self;
    place->nodes++;
    return node;
}

assay__node *assay__node_at_path(assay__lane_owner *owner, const assay__lane *other)
{
    assay__monitor_state *state = state_of(owner);
    assay__node *node = owner->lane->frames[0].node;
    pthread_mutex_lock(&state->lock);
    for (const assay__frame *frame = other->frames + 1; node != NULL && frame <= other->top;
         frame++)
        node = child_at(owner, node, frame->node->operation);
    pthread_mutex_unlock(&state->lock);
    return node;
}

/* Find or add the name in the journal. False if there is no room. */
static bool intern(assay__lane_owner *owner, const char *name, uint32_t *operation)
{
    char clean[ASSAY__NAME_MAX + 1];
    size_t length = assay__text_copy_name(clean, sizeof clean, name, strlen(name));
    return assay__journal_intern(&state_of(owner)->journal, clean, length, operation) == ASSAY_OK;
}

assay__node *assay__node_for_site(assay__lane_owner *owner, const assay_site *site)
{
    assay__monitor_state *state = state_of(owner);
    uint32_t key = id_of_site(site);
    const assay__node *parent = owner->top->node;
    const assay__child *child = &parent->branch.children[key & parent->branch.child_mask];
    if (child->branch.site == key)
        return child->node;
    uint32_t operation;
    pthread_mutex_lock(&state->lock);
    assay__node *node =
        intern(owner, site->name, &operation) || intern(owner, ASSAY__OTHER_NAME, &operation)
            ? child_of_open_span(owner, operation, key, (site->flags & ASSAY_SITE_METRIC) == 0)
            : NULL;
    pthread_mutex_unlock(&state->lock);
    return node;
}

/* FNV-1a, 64 bits (Fowler, Noll, Vo). The value 0 is reserved for free entries. */
static uint64_t hash_text(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash == 0 ? 1 : hash;
}

static bool grow_names(assay__lane_owner *owner)
{
    size_t capacity = owner->name_capacity == 0 ? FIRST_NAMES : 2 * owner->name_capacity;
    assay__name_entry *names = capacity <= MOST_NAMES ? calloc(capacity, sizeof *names) : NULL;
    if (names == NULL)
        return false;
    for (size_t i = 0; i < owner->name_capacity; i++) {
        const assay__name_entry *entry = &owner->names[i];
        size_t slot = (size_t)entry->hash & (capacity - 1);
        while (entry->hash != 0 && names[slot].hash != 0)
            slot = (slot + 1) & (capacity - 1);
        if (entry->hash != 0)
            names[slot] = *entry;
    }
    assay__name_entry *old = owner->names;
    owner->names = names;
    owner->name_capacity = capacity;
    free(old); /* last, as in grow_places() */
    return true;
}

/* The entry of the name, or the free entry where it belongs. NULL if there is no table yet. */
static assay__name_entry *find_name(const assay__lane_owner *owner, uint64_t hash)
{
    size_t slot = (size_t)hash & (owner->name_capacity - 1);
    if (owner->name_capacity == 0)
        return NULL;
    while (owner->names[slot].hash != 0 && owner->names[slot].hash != hash)
        slot = (slot + 1) & (owner->name_capacity - 1);
    return &owner->names[slot];
}

/* Add a name. NULL if the table or the journal is full. One entry is reserved for
 * ASSAY__OTHER_NAME. */
static assay__name_entry *add_name(assay__lane_owner *owner, const char *name, uint64_t hash)
{
    bool is_other = strcmp(name, ASSAY__OTHER_NAME) == 0;
    if (2 * (owner->name_count + 1) > owner->name_capacity && !grow_names(owner) &&
        (!is_other || owner->name_count + 2 > owner->name_capacity))
        return NULL;
    uint32_t operation;
    pthread_mutex_lock(&state_of(owner)->lock);
    bool interned = intern(owner, name, &operation);
    pthread_mutex_unlock(&state_of(owner)->lock);
    if (!interned)
        return NULL;
    assay__name_entry *entry = find_name(owner, hash);
    *entry = (assay__name_entry){.hash = hash, .operation = operation, .key = new_site_id()};
    owner->name_count++;
    return entry;
}

/* Find or add the entry of a name. The table compares only 64-bit hashes: with at most 8192 names,
 * two of them collide in one of 10^11 programs. All names for which there is no room share the
 * entry of ASSAY__OTHER_NAME. */
static assay__name_entry *name_entry(assay__lane_owner *owner, const char *name)
{
    uint64_t hash = hash_text(name);
    assay__name_entry *entry = find_name(owner, hash);
    if (entry == NULL || entry->hash == 0)
        entry = add_name(owner, name, hash);
    if (entry == NULL && strcmp(name, ASSAY__OTHER_NAME) != 0)
        return name_entry(owner, ASSAY__OTHER_NAME);
    return entry;
}

assay__node *assay__node_for_name(assay__lane_owner *owner, const char *name)
{
    const assay__name_entry *entry = name_entry(owner, name != NULL ? name : "");
    if (entry == NULL)
        return NULL;
    const assay__node *parent = owner->top->node;
    const assay__child *child = &parent->branch.children[entry->key & parent->branch.child_mask];
    if (child->branch.site == entry->key)
        return child->node;
    assay__monitor_state *state = state_of(owner);
    pthread_mutex_lock(&state->lock);
    assay__node *node = child_of_open_span(owner, entry->operation, entry->key, true);
    pthread_mutex_unlock(&state->lock);
    return node;
}

assay__node *assay__node_for_counter(assay__lane_owner *owner, const char *name)
{
    assay__name_entry *entry = name_entry(owner, name != NULL ? name : "");
    if (entry == NULL || entry->counter != NULL)
        return entry != NULL ? entry->counter : NULL;
    assay__monitor_state *state = state_of(owner);
    assay__node *root = owner->lane->frames[0].node;
    pthread_mutex_lock(&state->lock);
    assay__place *place = place_of(owner, root, ASSAY__NODE_COUNTER, entry->operation);
    assay__node *node = place != NULL ? node_at(state, place->node) : NULL;
    if (place != NULL && node == NULL) {
        node = add_child(owner, root, entry->operation, ASSAY__NODE_COUNTER, false);
        place->node = node != NULL ? node->self : 0;
    }
    pthread_mutex_unlock(&state->lock);
    return entry->counter = node;
}

bool assay__node_make_other(assay__lane_owner *owner)
{
    uint32_t operation;
    if (!intern(owner, ASSAY__OTHER_NAME, &operation))
        return false;
    owner->other =
        add_child(owner, owner->lane->frames[0].node, operation, ASSAY__NODE_SPAN, false);
    if (owner->other != NULL)
        owner->other->cleared = 1; /* not in the record until it has a span */
    return owner->other != NULL;
}
