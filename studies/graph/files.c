/* JSON, CSV and text of a graph study, from its record. */
#include "studies/graph/files.h"

#include <string.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "studies/graph/encodings.h"
#include "studies/profile/axes.h"
#include "studies/profile/view.h"

/* ---- JSON ---- */

assay_status assay__graph_print_json(const void *subject, FILE *stream, assay_error *error)
{
    const assay_record *record = subject;
    assay__json json;
    assay__json_init(&json, stream, 0);
    assay__json_object(&json, NULL);
    assay_status status = assay__profile_write_json(&json, record);
    if (assay__encoding_growth_known(record)) {
        assay__json_object(&json, "encoding_costs");
        assay__encoding_growth_write_json(&json, record);
        assay__json_end(&json);
    }
    assay__json_end(&json);
    assay_status written = assay__json_finish(&json);
    status = status == ASSAY_OK ? written : status;
    return status == ASSAY_OK ? ASSAY_OK
                              : assay__fail(error, status, "cannot write the profile: %s",
                                            assay_status_message(status));
}

/* ---- CSV ---- */

/* Print a comma and the figure times `factor`. If the figure is missing, print only the comma. */
static void put(FILE *stream, assay_reading reading, double factor)
{
    char text[ASSAY__JSON_NUMBER_BYTES] = "";
    if (reading.validity == ASSAY_VALID)
        assay__json_format_number(text, factor * reading.value);
    fprintf(stream, ",%s", text);
}

static void put_times(FILE *stream, const assay_record_subject *subject)
{
    const assay_reading figures[] = {subject->mean_seconds, subject->std_seconds,
                                     subject->min_seconds, subject->max_seconds};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        put(stream, figures[i], 1e3);
    fprintf(stream, ",%zu", subject->sample_count);
}

static void put_growth(FILE *stream, const assay_record_scaling *scaling)
{
    const assay_reading none = assay_reading_missing(ASSAY_NOT_MEASURED);
    fprintf(stream, ",%s",
            scaling != NULL && scaling->growth_class != NULL ? scaling->growth_class : "");
    put(stream, scaling != NULL ? scaling->exponent : none, 1);
    put(stream, scaling != NULL ? scaling->low : none, 1);
    put(stream, scaling != NULL ? scaling->high : none, 1);
    fputc('\n', stream);
}

static void put_encoding(FILE *stream, const assay_record *record,
                         const assay_record_subject *subject, const assay__axis_view *axis)
{
    const char *name = assay__parameter_of(subject, axis->parameter);
    const char *dim = assay__parameter_of(subject, "dim");
    const assay_record_subject *timed[] = {subject, assay__encoding_computing(record, name)};
    static const char *const what[] = {"forward", "computation"};
    for (size_t i = 0; i < 2; i++) {
        if (timed[i] == NULL)
            continue;
        fprintf(stream, "%s,%s,%s,%s", axis->name, name, dim != NULL ? dim : "", what[i]);
        put_times(stream, timed[i]);
        put(stream, assay__encoding_storage(record, name), 1 / ASSAY__BYTES_IN_MB);
        put_growth(stream, NULL);
    }
}

assay_status assay__graph_print_csv(const void *subject, FILE *stream, assay_error *error)
{
    const assay_record *record = subject;
    const assay_record_subject *row;
    assay__axis_view axes[ASSAY__AXES_MAX];
    size_t count = assay__axes_view(record, axes, ASSAY__AXES_MAX);
    (void)error;
    fputs(
        "axis,parameter,size,what,mean_ms,std_ms,min_ms,max_ms,num_runs,storage_mb,class,exponent,"
        "low,high\n",
        stream);
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; (row = assay__axis_next(record, &axes[i], &at)) != NULL;) {
            if (axes[i].scaling == NULL) {
                put_encoding(stream, record, row, &axes[i]);
                continue;
            }
            fprintf(stream, "%s,%s,%s,forward", axes[i].name, axes[i].parameter,
                    assay__parameter_of(row, axes[i].parameter));
            put_times(stream, row);
            fputc(',', stream); /* no storage */
            put_growth(stream, axes[i].scaling);
        }
    return ASSAY_OK;
}

/* ---- text ---- */

const assay_record_scaling *assay__graph_scaling(const assay_record *record, const char *of)
{
    for (size_t i = 0; i < record->scaling_count; i++)
        if (record->scalings[i].of != NULL && strcmp(record->scalings[i].of, of) == 0)
            return &record->scalings[i];
    return NULL;
}

void assay__graph_print_exponent(const assay_record_scaling *scaling, const char *before,
                                 FILE *stream)
{
    bool known = scaling->exponent.validity == ASSAY_VALID;
    if (known)
        fprintf(stream, "%s%.2f", before, scaling->exponent.value);
    if (known && scaling->low.validity == ASSAY_VALID && scaling->high.validity == ASSAY_VALID)
        fprintf(stream, " (95 %% interval %.2f to %.2f)", scaling->low.value, scaling->high.value);
    if (!scaling->conclusive)
        fputs(", not sure", stream);
}

void assay__graph_print_growth(const assay_record *record, FILE *stream)
{
    assay__axis_view axes[ASSAY__AXES_MAX];
    size_t count = assay__axes_view(record, axes, ASSAY__AXES_MAX);
    fprintf(stream, "\n%-10s%-14s%-10s%s\n", "GROWTH", "parameter", "class", "exponent");
    for (size_t i = 0; i < count; i++) {
        const assay_record_scaling *scaling = axes[i].scaling;
        if (scaling == NULL)
            continue;
        fprintf(stream, "%-10s%-14s%-10s", axes[i].name, axes[i].parameter,
                scaling->growth_class != NULL ? scaling->growth_class : "n/a");
        assay__graph_print_exponent(scaling, "", stream);
        fputc('\n', stream);
    }
}

assay_status assay__graph_print_report(const void *subject, FILE *stream, assay_error *error)
{
    const assay_record *record = subject;
    (void)error;
    assay__profile_print(record, stream);
    if (assay__encoding_growth_known(record))
        assay__encoding_growth_print(record, stream);
    assay__graph_print_growth(record, stream);
    return ASSAY_OK;
}
