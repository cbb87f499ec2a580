/* Composes a configuration. The settings of all files and overrides are gathered in one list and
 * then applied to the fields in order, so that a later setting replaces an earlier one. */
#include "studies/pde/config.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/nearest.h"
#include "studies/pde/config_yaml.h"

enum {
    MAX_TEXT_BYTES = 8 << 20,
    MAX_PATH = 4096,
    MAX_CHOICES = 256,
    MAX_VALUE = 64,
    MAX_DEPTH = 8
};

typedef struct composition {
    const assay__config_source *source;
    assay__config_entries entries;
    assay_error *error;
} composition;

/* ---- files ---- */

/* The choices in a folder: the NAME of every NAME.yaml. */
typedef struct choices {
    char *names[MAX_CHOICES];
    size_t count;
} choices;

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void find_choices(const char *folder, choices *found)
{
    found->count = 0;
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return;
    for (struct dirent *file; (file = readdir(directory)) != NULL && found->count < MAX_CHOICES;) {
        size_t length = strlen(file->d_name);
        if (length <= 5 || strcmp(file->d_name + length - 5, ".yaml") != 0)
            continue;
        char *name = strndup(file->d_name, length - 5);
        if (name != NULL)
            found->names[found->count++] = name;
    }
    closedir(directory);
    qsort(found->names, found->count, sizeof *found->names, by_name);
}

static void release_choices(choices *found)
{
    while (found->count > 0)
        free(found->names[--found->count]);
}

static assay_status fail_unknown_file(const char *folder, const char *name, assay_error *error)
{
    choices found;
    find_choices(folder, &found);
    assay__buffer list;
    assay__buffer_init(&list, 256);
    for (size_t i = 0; i < found.count; i++)
        assay__buffer_printf(&list, "%s%s", i > 0 ? ", " : "", found.names[i]);
    const char *nearest =
        assay__nearest(name, (const char *const *)found.names, found.count, sizeof *found.names);
    assay_status status =
        found.count == 0
            ? assay__fail(error, ASSAY_E_NOT_FOUND,
                          "no '%s' in '%s', which holds no .yaml file; see --config-dir", name,
                          folder)
        : nearest != NULL
            ? assay__fail(error, ASSAY_E_NOT_FOUND, "no '%s' in '%s'; did you mean '%s'?", name,
                          folder, nearest)
            : assay__fail(error, ASSAY_E_NOT_FOUND, "no '%s' in '%s'; there are: %s", name, folder,
                          list.data != NULL ? list.data : "many");
    assay__buffer_release(&list);
    release_choices(&found);
    return status;
}

static bool plain_name(const char *name)
{
    return *name != '\0' && *name != '.' && strchr(name, '/') == NULL && strlen(name) < 200;
}

/* Append the settings of FOLDER/NAME.yaml. */
static assay_status read_file(composition *self, const char *folder, const char *name)
{
    char path[MAX_PATH];
    struct stat info;
    if (!plain_name(name))
        return assay__fail(self->error, ASSAY_E_ARGUMENT, "'%s' is no name of a configuration",
                           name);
    size_t length = strlen(name);
    bool suffixed = length > 5 && strcmp(name + length - 5, ".yaml") == 0;
    if (snprintf(path, sizeof path, "%s/%s%s", folder, name, suffixed ? "" : ".yaml") >= MAX_PATH)
        return assay__fail(self->error, ASSAY_E_LIMIT, "the path of '%s' is too long", name);
    if (stat(path, &info) != 0 && errno == ENOENT)
        return fail_unknown_file(folder, name, self->error);
    assay__buffer bytes;
    assay__buffer_init(&bytes, assay__file_maximum(ASSAY__CONFIG_FILE_BYTES));
    assay_status status = assay__file_read(path, &bytes, self->error);
    char *known_as = assay__arena_allocate(self->entries.arena, strlen(path) + 1, 1);
    if (status == ASSAY_OK && known_as == NULL)
        status = assay__fail(self->error, ASSAY_E_MEMORY, "%s: out of memory", path);
    if (status == ASSAY_OK)
        status = assay__config_parse(bytes.data != NULL ? bytes.data : "", bytes.length,
                                     strcpy(known_as, path), &self->entries, self->error);
    assay__buffer_release(&bytes);
    return status;
}

/* ---- groups and overrides ---- */

static const char *group_of(const char *path)
{
    return strncmp(path, "defaults.", 9) == 0 ? path + 9 : NULL;
}

static bool is_group(const composition *self, const char *key, size_t length)
{
    char path[MAX_PATH];
    struct stat info;
    return memchr(key, '.', length) == NULL && length > 0 &&
           snprintf(path, sizeof path, "%s/%.*s", self->source->directory, (int)length, key) <
               MAX_PATH &&
           stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The choice that an override makes for a group, or NULL. If there are several, the last one
 * counts. */
static const char *overridden(const composition *self, const char *group)
{
    const char *choice = NULL;
    size_t length = strlen(group);
    for (size_t i = 0; i < self->source->override_count; i++) {
        const char *text = self->source->overrides[i];
        if (strncmp(text, group, length) == 0 && text[length] == '=')
            choice = text + length + 1;
    }
    return choice;
}

static assay_status compose(composition *self, const char *folder, const char *name,
                            unsigned depth);

static assay_status read_group(composition *self, const char *group, const char *choice)
{
    char folder[MAX_PATH];
    const char *wanted = overridden(self, group);
    if (!is_group(self, group, strlen(group)))
        return assay__fail(self->error, ASSAY_E_NOT_FOUND, "there is no group '%s' in '%s'", group,
                           self->source->directory);
    snprintf(folder, sizeof folder, "%s/%s", self->source->directory, group);
    return compose(self, folder, wanted != NULL ? wanted : choice, 1);
}

/* Read an item of `defaults`. In an experiment (depth 0) an item names a choice of a group; in a
 * choice it names another choice of the same group. */
static assay_status read_default(composition *self, const assay__config_entry *entry,
                                 const char *folder, unsigned depth)
{
    const char *group = group_of(entry->path);
    if (strcmp(entry->text, "_self_") == 0)
        return ASSAY_OK;
    if (depth == 0 && group != NULL && entry->in_list)
        return read_group(self, group, entry->text);
    if (depth > 0 && group == NULL && entry->in_list)
        return compose(self, folder, entry->text, depth + 1);
    return assay__fail(self->error, ASSAY_E_FORMAT, "%s:%zu:%zu: 'defaults' is a list of '- %s'",
                       entry->file, entry->line, entry->column,
                       depth == 0 ? "group: choice" : "choice");
}

/* Append a file and the files that its `defaults` name. The file's own settings come last, so that
 * they take precedence. */
static assay_status compose(composition *self, const char *folder, const char *name, unsigned depth)
{
    composition own = {
        .source = self->source, .entries = {.arena = self->entries.arena}, .error = self->error};
    if (depth > MAX_DEPTH)
        return assay__fail(self->error, ASSAY_E_LIMIT,
                           "'%s' in '%s' is built on more than %d others, or on itself", name,
                           folder, MAX_DEPTH);
    assay_status status = read_file(&own, folder, name);
    for (size_t i = 0; i < own.entries.count && status == ASSAY_OK; i++)
        if (strncmp(own.entries.list[i].path, "defaults", 8) == 0)
            status = read_default(self, &own.entries.list[i], folder, depth);
    for (size_t i = 0; i < own.entries.count && status == ASSAY_OK; i++)
        if (strncmp(own.entries.list[i].path, "defaults", 8) != 0)
            status = assay__config_entries_add(&self->entries, own.entries.list[i]);
    assay__config_entries_release(&own.entries);
    return status;
}

static assay_status add_override(composition *self, const char *text)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text)
        return assay__fail(self->error, ASSAY_E_ARGUMENT, "'%s' is no 'key=value'", text);
    size_t length = (size_t)(equals - text);
    if (is_group(self, text, length))
        return ASSAY_OK; /* used when the group was read */
    char *path = assay__arena_allocate(self->entries.arena, length + 1, 1);
    if (path == NULL)
        return assay__fail(self->error, ASSAY_E_MEMORY, "out of memory");
    memcpy(path, text, length);
    return assay__config_entries_add(&self->entries,
                                     (assay__config_entry){.path = path, .text = equals + 1});
}

/* ---- values ---- */

ASSAY_PRINTF(3, 4)
static assay_status complain(const composition *self, const assay__config_entry *entry,
                             const char *format, ...)
{
    char problem[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem, sizeof problem, format, arguments);
    va_end(arguments);
    if (entry->file == NULL)
        return assay__fail(self->error, ASSAY_E_FORMAT, "override '%s=%s': %s", entry->path,
                           entry->text, problem);
    return assay__fail(self->error, ASSAY_E_FORMAT, "%s:%zu:%zu: %s", entry->file, entry->line,
                       entry->column, problem);
}

static assay_status set_flag(const composition *self, const assay__config_entry *entry, bool *value)
{
    static const char *const yes[] = {"true", "yes", "on", "True"};
    static const char *const no[] = {"false", "no", "off", "False"};
    for (size_t i = 0; i < 4; i++) {
        if (strcmp(entry->text, yes[i]) == 0 || strcmp(entry->text, no[i]) == 0) {
            *value = strcmp(entry->text, yes[i]) == 0;
            return ASSAY_OK;
        }
    }
    return complain(self, entry, "%s is true or false, not '%s'", entry->path, entry->text);
}

static assay_status set_number(const composition *self, const assay__config_entry *entry,
                               const assay__config_field *field, void *value)
{
    char *end = NULL;
    errno = 0;
    double number = strtod(entry->text, &end);
    bool whole = field->kind == ASSAY__CONFIG_INTEGER;
    if (*entry->text == '\0' || *end != '\0' || !isfinite(number) ||
        (whole && (number != floor(number) || fabs(number) > 0x1p53)))
        return complain(self, entry, "%s is a %s, not '%s'", entry->path,
                        whole ? "whole number" : "number", entry->text);
    if (number < field->minimum || number > field->maximum)
        return complain(self, entry, "%s must be from %g to %g, not %s", entry->path,
                        field->minimum, field->maximum, entry->text);
    if (whole)
        *(int64_t *)value = (int64_t)number;
    else
        *(double *)value = number;
    return ASSAY_OK;
}

static size_t count_words(const char *const *words)
{
    size_t count = 0;
    while (words[count] != NULL)
        count++;
    return count;
}

static assay_status set_word(const composition *self, const assay__config_entry *entry,
                             const assay__config_field *field, int *value)
{
    size_t count = count_words(field->words);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(field->words[i], entry->text) == 0) {
            *value = (int)i;
            return ASSAY_OK;
        }
    }
    const char *nearest = assay__nearest(entry->text, field->words, count, sizeof *field->words);
    return complain(self, entry, "%s cannot be '%s'; did you mean '%s'?", entry->path, entry->text,
                    nearest != NULL ? nearest : field->words[0]);
}

static assay_status apply(const composition *self, const assay__config_entry *entry,
                          const assay__config_field *fields, size_t field_count, void *target)
{
    for (size_t i = 0; i < field_count; i++) {
        const assay__config_field *field = &fields[i];
        void *value = (char *)target + field->offset;
        if (strcmp(field->path, entry->path) != 0)
            continue;
        if (entry->in_list)
            return complain(self, entry, "%s is one value, not a list", entry->path);
        switch (field->kind) {
        case ASSAY__CONFIG_FLAG:
            return set_flag(self, entry, value);
        case ASSAY__CONFIG_INTEGER:
        case ASSAY__CONFIG_NUMBER:
            return set_number(self, entry, field, value);
        case ASSAY__CONFIG_WORD:
            return set_word(self, entry, field, value);
        }
    }
    const char *nearest = assay__nearest(entry->path, &fields->path, field_count, sizeof *fields);
    if (nearest != NULL)
        return complain(self, entry, "unknown key '%s'; did you mean '%s'?", entry->path, nearest);
    return complain(self, entry, "unknown key '%s'", entry->path);
}

assay_status assay__config_load(const assay__config_source *source,
                                const assay__config_field *fields, size_t field_count, void *target,
                                assay_error *error)
{
    composition self = {
        .source = source, .entries = {.arena = assay__arena_new(MAX_TEXT_BYTES)}, .error = error};
    if (self.entries.arena == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory");
    assay_status status = compose(&self, source->directory, source->name, 0);
    for (size_t i = 0; i < source->override_count && status == ASSAY_OK; i++)
        status = add_override(&self, source->overrides[i]);
    for (size_t i = 0; i < self.entries.count && status == ASSAY_OK; i++)
        status = apply(&self, &self.entries.list[i], fields, field_count, target);
    assay__config_entries_release(&self.entries);
    assay__arena_free(self.entries.arena);
    return status;
}

/* ---- printing ---- */

void assay__config_format(const assay__config_field *field, const void *target, char *text,
                          size_t size)
{
    const void *value = (const char *)target + field->offset;
    switch (field->kind) {
    case ASSAY__CONFIG_FLAG:
        snprintf(text, size, "%s", *(const bool *)value ? "true" : "false");
        break;
    case ASSAY__CONFIG_INTEGER:
        snprintf(text, size, "%" PRId64, *(const int64_t *)value);
        break;
    case ASSAY__CONFIG_NUMBER:
        snprintf(text, size, "%.17g", *(const double *)value);
        break;
    case ASSAY__CONFIG_WORD:
        snprintf(text, size, "%s", field->words[*(const int *)value]);
        break;
    }
}

static json_t *value_json(const assay__config_field *field, const void *value)
{
    switch (field->kind) {
    case ASSAY__CONFIG_FLAG:
        return json_boolean(*(const bool *)value);
    case ASSAY__CONFIG_INTEGER:
        return json_integer(*(const int64_t *)value);
    case ASSAY__CONFIG_NUMBER:
        return json_real(*(const double *)value);
    case ASSAY__CONFIG_WORD:
        return json_string(field->words[*(const int *)value]);
    }
    return NULL;
}

/* Set the member `path` below `object`. For each dot in the path there is a nested object. */
static int set_path(json_t *object, const char *path, json_t *value)
{
    char name[MAX_PATH];
    for (const char *dot; (dot = strchr(path, '.')) != NULL; path = dot + 1) {
        snprintf(name, sizeof name, "%.*s", (int)(dot - path), path);
        if (json_object_get(object, name) == NULL)
            json_object_set_new(object, name, json_object());
        object = json_object_get(object, name);
    }
    return json_object_set_new(object, path, value);
}

json_t *assay__config_json(const assay__config_field *fields, size_t field_count,
                           const void *target)
{
    json_t *root = json_object();
    for (size_t i = 0; i < field_count && root != NULL; i++) {
        if (set_path(root, fields[i].path,
                     value_json(&fields[i], (const char *)target + fields[i].offset)) != 0) {
            json_decref(root);
            root = NULL;
        }
    }
    return root;
}

/* The fields must be declared in groups, by the part of the path before the dot. */
void assay__config_print(const assay__config_field *fields, size_t field_count, const void *target,
                         FILE *stream)
{
    const char *open = "";
    size_t open_length = 0;
    for (size_t i = 0; i < field_count; i++) {
        const char *dot = strchr(fields[i].path, '.');
        size_t length = dot != NULL ? (size_t)(dot - fields[i].path) : 0;
        if (length > 0 && (length != open_length || strncmp(open, fields[i].path, length) != 0))
            fprintf(stream, "%.*s:\n", (int)length, fields[i].path);
        open = fields[i].path;
        open_length = length;
        char value[MAX_VALUE];
        assay__config_format(&fields[i], target, value, sizeof value);
        fprintf(stream, "%s%s: %s\n", length > 0 ? "  " : "", length > 0 ? dot + 1 : fields[i].path,
                value);
    }
}
