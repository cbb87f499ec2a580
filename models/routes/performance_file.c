/* The JSON file with the performance of a generation. A file may come from another program that
 * uses the same keys, so the reader trusts nothing: a figure that is not a finite number is
 * missing. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "models/routes/performance.h"

enum { MAX_BYTES = 256 << 20 };

/* ---- Writing ---- */

void assay__performance_write(assay__json *json, const char *key,
                              const assay_generation_performance *performance)
{
    assay__json_object(json, key);
    assay__json_flag(json, "beam_search_enabled", performance->beam_search_enabled);
    assay__json_integer(json, "beam_width", performance->beam_width);
    assay__json_text(json, "device", performance->device);
    for (size_t i = 0; i < assay__performance_figures(); i++)
        assay__json_reading(json, assay__performance_key(i),
                            assay__performance_read(performance, i));
    assay__json_end(json);
}

static void write_search(assay__json *json, const char *key, const assay_search_performance *search)
{
    assay__json_object(json, key);
    assay__json_integer(json, "origin_road_id", search->origin_road_id);
    assay__json_integer(json, "destination_road_id", search->destination_road_id);
    if (search->outcome != NULL)
        assay__json_text(json, "outcome", search->outcome);
    assay__json_number(json, "total_time", search->total_time);
    assay__json_number(json, "forward_time_total", search->forward_time_total);
    assay__json_integer(json, "forward_count", search->forward_count);
    assay__json_reading(json, "forward_time_avg", search->forward_time_avg);
    assay__json_integer(json, "beam_width", search->beam_width);
    assay__json_end(json);
}

static assay_status finish(assay__json *json, assay_error *error)
{
    assay_status status = assay__json_finish(json);
    return status == ASSAY_OK ? status
                              : assay__fail(error, status, "cannot write the performance: %s",
                                            assay_status_message(status));
}

assay_status assay__performance_print_json(const void *performance, FILE *stream,
                                           assay_error *error)
{
    assay__json json;
    assay__json_init(&json, stream, 0);
    assay__performance_write(&json, NULL, performance);
    return finish(&json, error);
}

assay_status assay__generation_print_json(const void *subject, FILE *stream, assay_error *error)
{
    const assay_generation *generation = subject;
    assay__json json;
    assay__json_init(&json, stream, 0);
    assay__json_object(&json, NULL);
    assay__json_count(&json, "num_searched", generation->num_searched);
    assay__json_count(&json, "num_generated", generation->num_generated);
    assay__performance_write(&json, "performance", &generation->performance);
    write_search(&json, "slowest", &generation->searches[generation->slowest]);
    assay__json_array(&json, "searches");
    for (size_t i = 0; i < generation->num_searched; i++)
        write_search(&json, NULL, &generation->searches[i]);
    assay__json_end(&json);
    assay__json_end(&json);
    return finish(&json, error);
}

/* ---- Reading ---- */

/* Find the object with the figures: a member of the root, or the root itself. NULL if neither
 * is. */
static const json_t *find_figures(const json_t *root)
{
    static const char *const members[] = {"performance", "generation_performance"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (json_is_object(json_object_get(root, members[i])))
            return json_object_get(root, members[i]);
    return json_object_get(root, "total_time_mean") != NULL ? root : NULL;
}

static assay_reading read_number(const json_t *figures, const char *key)
{
    const json_t *value = json_object_get(figures, key);
    if (json_is_number(value) && isfinite(json_number_value(value)))
        return assay_reading_of(json_number_value(value));
    const char *why =
        json_string_value(json_object_get(json_object_get(figures, "unavailable"), key));
    return assay_reading_missing(
        why != NULL && strcmp(why, assay_validity_text(ASSAY_NOT_ENOUGH_DATA)) == 0
            ? ASSAY_NOT_ENOUGH_DATA
            : ASSAY_NOT_MEASURED);
}

static void read_figures(const json_t *figures, assay_generation_performance *performance)
{
    const char *device = json_string_value(json_object_get(figures, "device"));
    *performance = (assay_generation_performance){
        .beam_search_enabled = json_is_true(json_object_get(figures, "beam_search_enabled")),
        .beam_width = json_integer_value(json_object_get(figures, "beam_width"))};
    snprintf(performance->device, sizeof performance->device, "%s", device != NULL ? device : "");
    for (size_t i = 0; i < assay__performance_figures(); i++)
        assay__performance_set(performance, i, read_number(figures, assay__performance_key(i)));
}

assay_status assay__performance_parse(const char *text, size_t length, const char *name,
                                      assay_error *error, assay_generation_performance *performance)
{
    json_error_t problem;
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &problem);
    if (root == NULL)
        return assay__fail(error, ASSAY_E_FORMAT, "%s:%d:%d: %s", name, problem.line,
                           problem.column, problem.text);
    const json_t *figures = find_figures(root);
    if (figures != NULL)
        read_figures(figures, performance);
    json_decref(root);
    return figures != NULL
               ? ASSAY_OK
               : assay__fail(error, ASSAY_E_FORMAT,
                             "'%s' holds no generation performance; performance.json and "
                             "generation.json of a study do",
                             name);
}

assay_status assay__performance_load(const char *path, assay_error *error,
                                     assay_generation_performance *performance)
{
    assay__buffer bytes;
    assay__buffer_init(&bytes, MAX_BYTES);
    assay_status status = assay__file_read(path, &bytes, error);
    if (status == ASSAY_OK)
        status = assay__performance_parse(bytes.data != NULL ? bytes.data : "", bytes.length, path,
                                          error, performance);
    assay__buffer_release(&bytes);
    return status;
}
