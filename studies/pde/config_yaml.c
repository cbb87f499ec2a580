/* Flattens a YAML document. libyaml builds the document, with the position of every node. Anchors
 * may make a node its own descendant, and aliases may multiply a small file into a huge tree, so
 * depth and number of entries are limited.
 *
 * libyaml's own time grows with the square of the depth (200 000 brackets took 89 s) and with the
 * square of the number of anchors. So a first pass over its events, which come one by one, counts
 * both and stops as soon as there are too many. */
#include "studies/pde/config_yaml.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/error.h"
#include "base/grow.h"

enum { MAX_DEPTH = 16, MAX_ANCHORS = 256 };

void assay__config_entries_release(assay__config_entries *entries)
{
    free(entries->list);
    *entries = (assay__config_entries){.arena = entries->arena};
}

assay_status assay__config_entries_add(assay__config_entries *entries, assay__config_entry entry)
{
    if (entries->count == ASSAY__CONFIG_ENTRIES_MAX)
        return ASSAY_E_LIMIT;
    if (!assay__grow(&entries->list, &entries->capacity, entries->count + 1, sizeof entry))
        return ASSAY_E_MEMORY;
    entries->list[entries->count++] = entry;
    return ASSAY_OK;
}

typedef struct walk {
    yaml_document_t *document;
    const char *file;
    assay__config_entries *entries;
    assay_error *error;
} walk;

static assay_status fail_at(const walk *self, const yaml_node_t *node, const char *problem)
{
    return assay__fail(self->error, ASSAY_E_FORMAT, "%s:%zu:%zu: %s", self->file,
                       node->start_mark.line + 1, node->start_mark.column + 1, problem);
}

/* The text "path.key" in the arena, or NULL if there is no memory. */
static const char *joined(assay__arena *arena, const char *path, const char *key, size_t length)
{
    size_t before = strlen(path);
    char *text = assay__arena_allocate(arena, before + length + 2, 1);
    if (text == NULL)
        return NULL;
    memcpy(text, path, before);
    if (before > 0)
        text[before++] = '.';
    memcpy(text + before, key, length);
    return text;
}

static assay_status flatten(const walk *self, int index, const char *path, int depth, bool in_list);

static assay_status flatten_scalar(const walk *self, const yaml_node_t *node, const char *path,
                                   bool in_list)
{
    const char *text = joined(self->entries->arena, "", (const char *)node->data.scalar.value,
                              node->data.scalar.length);
    if (text == NULL)
        return ASSAY_E_MEMORY;
    assay_status status = assay__config_entries_add(
        self->entries, (assay__config_entry){.path = path,
                                             .text = text,
                                             .file = self->file,
                                             .line = node->start_mark.line + 1,
                                             .column = node->start_mark.column + 1,
                                             .in_list = in_list});
    return status == ASSAY_E_LIMIT ? fail_at(self, node, "too many settings") : status;
}

static assay_status flatten_mapping(const walk *self, const yaml_node_t *node, const char *path,
                                    int depth, bool in_list)
{
    assay_status status = ASSAY_OK;
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top && status == ASSAY_OK; pair++) {
        const yaml_node_t *key = yaml_document_get_node(self->document, pair->key);
        if (key->type != YAML_SCALAR_NODE || key->data.scalar.length == 0)
            return fail_at(self, key, "a key must be a plain word");
        const char *below = joined(self->entries->arena, path, (const char *)key->data.scalar.value,
                                   key->data.scalar.length);
        status =
            below == NULL ? ASSAY_E_MEMORY : flatten(self, pair->value, below, depth + 1, in_list);
    }
    return status;
}

static assay_status flatten(const walk *self, int index, const char *path, int depth, bool in_list)
{
    const yaml_node_t *node = yaml_document_get_node(self->document, index);
    if (depth > MAX_DEPTH)
        return fail_at(self, node, "nested too deeply");
    switch (node->type) {
    case YAML_SCALAR_NODE:
        if (*path == '\0')
            return fail_at(self, node, "expected 'key: value'");
        return flatten_scalar(self, node, path, in_list);
    case YAML_MAPPING_NODE:
        return flatten_mapping(self, node, path, depth, in_list);
    case YAML_SEQUENCE_NODE: {
        assay_status status = ASSAY_OK;
        if (*path == '\0')
            return fail_at(self, node, "expected 'key: value', not a list");
        for (yaml_node_item_t *item = node->data.sequence.items.start;
             item < node->data.sequence.items.top && status == ASSAY_OK; item++)
            status = flatten(self, *item, path, depth + 1, true);
        return status;
    }
    default:
        return ASSAY_OK;
    }
}

static assay_status fail_syntax(const yaml_parser_t *parser, const char *file, assay_error *error)
{
    if (parser->error == YAML_MEMORY_ERROR)
        return assay__fail(error, ASSAY_E_MEMORY, "%s: out of memory", file);
    return assay__fail(error, ASSAY_E_FORMAT, "%s:%zu:%zu: %s", file, parser->problem_mark.line + 1,
                       parser->problem_mark.column + 1,
                       parser->problem != NULL ? parser->problem : "no YAML");
}

/* Check that there is no second document. */
static assay_status check_end(yaml_parser_t *parser, const char *file, assay_error *error)
{
    yaml_document_t next;
    if (!yaml_parser_load(parser, &next))
        return fail_syntax(parser, file, error);
    bool more = yaml_document_get_root_node(&next) != NULL;
    yaml_document_delete(&next);
    return more ? assay__fail(error, ASSAY_E_FORMAT, "%s: more than one document", file) : ASSAY_OK;
}

/* The change of the depth by an event. *anchor tells whether the event defines an anchor. */
static int step_of(const yaml_event_t *event, bool *anchor)
{
    *anchor = false;
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        *anchor = event->data.scalar.anchor != NULL;
        return 0;
    case YAML_SEQUENCE_START_EVENT:
        *anchor = event->data.sequence_start.anchor != NULL;
        return 1;
    case YAML_MAPPING_START_EVENT:
        *anchor = event->data.mapping_start.anchor != NULL;
        return 1;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return -1;
    default:
        return 0;
    }
}

static assay_status check_size(const char *bytes, size_t length, const char *file,
                               assay_error *error)
{
    yaml_parser_t parser;
    assay_status status = ASSAY_OK;
    size_t anchors = 0;
    int depth = 0;
    if (!yaml_parser_initialize(&parser))
        return assay__fail(error, ASSAY_E_MEMORY, "%s: out of memory", file);
    yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, length);
    for (bool more = true; more && status == ASSAY_OK;) {
        yaml_event_t event;
        bool anchor;
        if (!yaml_parser_parse(&parser, &event)) {
            status = fail_syntax(&parser, file, error);
            break;
        }
        depth += step_of(&event, &anchor);
        anchors += anchor;
        more = event.type != YAML_STREAM_END_EVENT;
        if (depth > MAX_DEPTH + 1 || anchors > MAX_ANCHORS)
            status = assay__fail(error, ASSAY_E_FORMAT, "%s:%zu:%zu: %s", file,
                                 event.start_mark.line + 1, event.start_mark.column + 1,
                                 anchors > MAX_ANCHORS ? "too many anchors" : "nested too deeply");
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return status;
}

assay_status assay__config_parse(const char *bytes, size_t length, const char *file,
                                 assay__config_entries *entries, assay_error *error)
{
    yaml_parser_t parser;
    yaml_document_t document;
    assay_status status = check_size(bytes, length, file, error);
    if (status != ASSAY_OK)
        return status;
    if (!yaml_parser_initialize(&parser))
        return assay__fail(error, ASSAY_E_MEMORY, "%s: out of memory", file);
    yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, length);
    if (!yaml_parser_load(&parser, &document)) {
        status = fail_syntax(&parser, file, error);
        yaml_parser_delete(&parser);
        return status;
    }
    if (yaml_document_get_root_node(&document) != NULL) {
        walk self = {&document, file, entries, error};
        status = flatten(&self, 1, "", 0, false);
        if (status == ASSAY_E_MEMORY)
            assay__fail(error, status, "%s: out of memory", file);
        if (status == ASSAY_OK)
            status = check_end(&parser, file, error);
    }
    yaml_document_delete(&document);
    yaml_parser_delete(&parser);
    return status;
}
