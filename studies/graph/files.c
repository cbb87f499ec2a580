/* The profile's JSON is the only thing a step hands on: CSV and summary are read out of it, so a
 * resumed study writes what an uninterrupted one does. */
#include "studies/graph/files.h"

#include "base/error.h"
#include "base/json_writer.h"

assay_status assay__graph_add_scaling(json_t *whole, const json_t *part, assay_error *error)
{
    json_t *added = json_object_get(part, "scaling");
    json_t *scaling = json_object_get(whole, "scaling");
    if (added == NULL)
        return ASSAY_OK;
    int failed = 0;
    if (scaling == NULL) {
        failed = json_object_set_new(whole, "scaling", json_object());
        scaling = json_object_get(whole, "scaling");
    }
    failed |= json_object_update(scaling, added);
    return failed != 0 ? assay__fail(error, ASSAY_E_MEMORY, "out of memory") : ASSAY_OK;
}

/* A field and its comma; nothing between two commas where there is no figure. */
static void put(FILE *stream, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    char text[ASSAY__JSON_NUMBER_BYTES] = "";
    if (json_is_number(value))
        assay__json_format_number(text, json_number_value(value));
    fprintf(stream, ",%s", json_is_string(value) ? json_string_value(value) : text);
}

static void put_stats(FILE *stream, const json_t *stats)
{
    static const char *const keys[] = {"mean", "std", "min", "max", "num_runs"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        put(stream, stats, keys[i]);
}

static void put_growth(FILE *stream, const json_t *axis)
{
    static const char *const keys[] = {"class", "exponent", "low", "high"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        put(stream, axis, keys[i]);
    fputc('\n', stream);
}

static void write_axis(FILE *stream, const char *name, const json_t *axis)
{
    const json_t *sizes = json_object_get(axis, "parameter_values");
    for (size_t i = 0; i < json_array_size(sizes); i++) {
        fprintf(stream, "%s,%s,%g,forward", name,
                json_string_value(json_object_get(axis, "parameter")),
                json_number_value(json_array_get(sizes, i)));
        put_stats(stream, json_array_get(json_object_get(axis, "runtime_stats"), i));
        fputc(',', stream); /* no storage */
        put_growth(stream, axis);
    }
}

static void write_encoding(FILE *stream, const char *name, const json_t *encoding)
{
    static const char *const what[] = {"forward", "computation"};
    for (size_t i = 0; i < 2; i++) {
        const json_t *stats = json_object_get(encoding, what[i]);
        if (stats == NULL)
            continue;
        fprintf(stream, "encodings,%s,%lld,%s", name,
                (long long)json_integer_value(json_object_get(encoding, "dim")), what[i]);
        put_stats(stream, stats);
        put(stream, encoding, "storage_mb");
        put_growth(stream, NULL);
    }
}

void assay__graph_write_csv(const json_t *profile, FILE *stream)
{
    const char *name, *encoding_name;
    json_t *axis, *encoding;
    fputs(
        "axis,parameter,size,what,mean_ms,std_ms,min_ms,max_ms,num_runs,storage_mb,class,exponent,"
        "low,high\n",
        stream);
    json_object_foreach(json_object_get(profile, "scaling"), name, axis)
    {
        if (json_object_get(axis, "parameter_values") != NULL) {
            write_axis(stream, name, axis);
            continue;
        }
        json_object_foreach(axis, encoding_name, encoding)
            write_encoding(stream, encoding_name, encoding);
    }
}

void assay__graph_print_exponent(const json_t *growth, const char *before, FILE *stream)
{
    const json_t *exponent = json_object_get(growth, "exponent");
    const json_t *low = json_object_get(growth, "low"), *high = json_object_get(growth, "high");
    if (json_is_number(exponent))
        fprintf(stream, "%s%.2f", before, json_number_value(exponent));
    if (json_is_number(exponent) && json_is_number(low) && json_is_number(high))
        fprintf(stream, " (95 %% interval %.2f to %.2f)", json_number_value(low),
                json_number_value(high));
    if (!json_is_true(json_object_get(growth, "conclusive")))
        fputs(", not sure", stream);
}

void assay__graph_print_growth(const json_t *profile, FILE *stream)
{
    const char *name;
    json_t *axis;
    fprintf(stream, "\n%-12s%-16s%-12s%s\n", "GROWTH", "parameter", "class", "exponent");
    json_object_foreach(json_object_get(profile, "scaling"), name, axis)
    {
        const char *class_ = json_string_value(json_object_get(axis, "class"));
        if (json_object_get(axis, "parameter_values") == NULL)
            continue;
        fprintf(stream, "%-12s%-16s%-12s", name,
                json_string_value(json_object_get(axis, "parameter")),
                class_ != NULL ? class_ : "n/a");
        assay__graph_print_exponent(axis, "", stream);
        fputc('\n', stream);
    }
}
