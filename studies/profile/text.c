/* Prints a profile as text of 80 columns. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "assay/record_build.h"
#include "assay/report.h"
#include "assay/scaling.h"
#include "base/text.h"
#include "studies/common/results.h"
#include "studies/profile/complexity.h"
#include "studies/profile/device.h"
#include "studies/profile/profile.h"
#include "studies/profile/view.h"

enum { WIDTH = 80, LABEL = 14, CELL = 32 };
static void rule(FILE *stream, char mark)
{
    for (int i = 0; i < WIDTH; i++)
        fputc(mark, stream);
    fputc('\n', stream);
}

/* Print a label and a text that is broken at words; the lines after the first are indented. */
static void paragraph(FILE *stream, const char *label, const char *text)
{
    size_t column = LABEL;
    fprintf(stream, "%-*s", LABEL, label);
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        char word[512];
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        size_t columns = assay__text_columns(word);
        if (column > LABEL && column + 1 + columns > WIDTH) {
            fprintf(stream, "\n%*s", LABEL, "");
            column = LABEL;
        } else if (column > LABEL) {
            fputc(' ', stream);
            column++;
        }
        fputs(word, stream);
        column += columns;
        text += length + (text[length] == ' ');
    }
    fputc('\n', stream);
}

/* Format a value with five digits: "0.012345", "12.345", "12345". */
static const char *digits(double value, char text[CELL])
{
    if (!isfinite(value))
        return "n/a";
    double size = fabs(value);
    int place = size > 0 ? (int)floor(log10(size)) : 0; /* decimal place of the first digit */
    int decimals = place >= 4 ? 0 : 4 - place;
    if (size > 0 && size < 1e-3)
        snprintf(text, CELL, "%.2e", value);
    else
        snprintf(text, CELL, "%.*f", decimals, value);
    return text;
}

/* ---- head ---- */

static void print_inputs(const assay_record *record, char *line, size_t size)
{
    size_t used = (size_t)snprintf(line, size, "%s:", assay__profile_setting(record, "data"));
    for (size_t i = 0; i < record->series_count && used < size; i++) {
        const assay_record_series *shape = &record->series[i];
        if (strcmp(shape->name, ASSAY__SERIES_SHAPE) != 0 || shape->of == NULL)
            continue;
        used += (size_t)snprintf(line + used, size - used, " %s (", shape->of);
        for (size_t axis = 0; axis < shape->count && used < size; axis++)
            used += (size_t)snprintf(line + used, size - used, "%s%.0f", axis > 0 ? ", " : "",
                                     shape->values[axis]);
        if (used < size)
            used += (size_t)snprintf(line + used, size - used, ")");
    }
}

static void print_head(const assay_record *record, FILE *stream)
{
    const assay_record_model *model = &record->models[0];
    uint64_t threads = assay__profile_count(record, "threads");
    const char *device = assay__profile_setting(record, "model_device");
    char line[1024];
    rule(stream, '=');
    fprintf(stream, "PROFILE: %s\n", model->name);
    rule(stream, '=');
    snprintf(line, sizeof line,
             "%.0f parameters, %.2f MB; seed %" PRIu64 ", %" PRIu64 " thread%s%s%s",
             model->parameters.value, model->parameter_bytes.value / ASSAY__BYTES_IN_MB,
             assay__profile_count(record, "seed"), threads, threads == 1 ? "" : "s",
             device != NULL ? ", on " : "", device != NULL ? device : "");
    paragraph(stream, "model", line);
    print_inputs(record, line, sizeof line);
    paragraph(stream, "data", line);
}

/* ---- runtime ---- */

static const char *ms(assay_reading seconds, char text[CELL])
{
    return seconds.validity == ASSAY_VALID ? digits(1e3 * seconds.value, text) : "n/a";
}

static void print_times(const char *name, const assay__times *times, FILE *stream)
{
    char mean[CELL], low[CELL], high[CELL], std[CELL], least[CELL];
    char interval[2 * CELL];
    snprintf(interval, sizeof interval, "%s to %s", ms(times->low, low), ms(times->high, high));
    fprintf(stream, "%-16s %9s  %-21s %10s %9s %7" PRIu64 "\n", name, ms(times->mean, mean),
            interval, ms(times->std, std), ms(times->min, least), times->count);
}

static void warn_of_few_trials(const char *name, const assay__times *times, FILE *stream)
{
    const assay_timing timing = {.count = times->count, .mean_seconds = times->mean.value};
    if (assay_trials_check(&timing) != NULL)
        fprintf(stream, "warning: %s: %s\n", name, assay_trials_check(&timing));
}

static void print_forecast(const assay_record *record, FILE *stream)
{
    char name[CELL];
    const assay__times single = assay__times_of(assay__profile_subject(record, "single_step"));
    const assay__times whole = assay__times_of(assay__profile_subject(record, "forecast"));
    assay_reading fit = assay__record_figure(record, ASSAY__FIGURE_FIT, record->models[0].name);
    print_times("forecast 1", &single, stream);
    snprintf(name, sizeof name, "forecast %" PRIu64,
             assay__profile_count(record, "forecast_steps"));
    print_times(name, &whole, stream);
    if (fit.validity == ASSAY_VALID)
        fprintf(stream, "%-16s %9s\n", "fit", ms(fit, name));
    warn_of_few_trials("forecast 1", &single, stream);
    warn_of_few_trials("whole forecast", &whole, stream);
}

static const char *const shown[ASSAY__PASSES] = {"forward", "backward", "training step"};

static void print_runtime(const assay_record *record, FILE *stream)
{
    fprintf(stream, "\n%-16s %9s  %-21s %10s %9s %7s\n", "RUNTIME (ms)", "Mean", "95 % interval",
            "Std", "Min", "Runs");
    rule(stream, '-');
    for (int i = 0; i < ASSAY__PASSES; i++) {
        const assay__times times = assay__pass_times(record, i);
        if (times.count > 0)
            print_times(shown[i], &times, stream);
        else
            fprintf(stream, "%-16s %9s  %s\n", shown[i], "n/a", "the model has none");
    }
    if (assay__profile_subject(record, "forecast") != NULL)
        print_forecast(record, stream);
    assay__device_print(record, stream);
}

/* ---- memory ---- */

static void print_memory(const assay_record *record, FILE *stream)
{
    const assay_record_model *it = &record->models[0];
    char cell[CELL];
    fprintf(stream, "\n%-16s %11s %11s %11s %11s %11s\n", "MEMORY (MB)", "Parameters", "Gradients",
            "Optimizer", "Activations", "Workspace");
    rule(stream, '-');
    if (it->gradient_bytes.validity == ASSAY_VALID) {
        const assay_reading figures[] = {it->parameter_bytes, it->gradient_bytes,
                                         it->optimizer_bytes, it->activation_bytes,
                                         it->workspace_bytes};
        snprintf(cell, sizeof cell, "%.3f", assay__profile_model_bytes(it) / ASSAY__BYTES_IN_MB);
        fprintf(stream, "%-5s %9s ", "total", cell);
        for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
            fprintf(stream, " %11.3f", figures[i].value / ASSAY__BYTES_IN_MB);
        fputc('\n', stream);
    } else {
        fputs("the model does not account for its memory\n", stream);
    }
    assay_reading peak = assay__record_figure(record, ASSAY__FIGURE_PROCESS_PEAK, NULL);
    bool known = peak.validity == ASSAY_VALID;
    fprintf(stream, "process       peak %s%s resident, code and libraries included\n",
            known ? digits(peak.value / ASSAY__BYTES_IN_MB, cell) : "unknown:",
            known ? " MB" : " the kernel does not let us reset it,");
}

/* ---- FLOPs ---- */

typedef struct scale {
    double divisor;
    const char *unit;
} scale;

static scale scale_of(double total)
{
    return total >= 1e9   ? (scale){1e9, "GFLOP"}
           : total >= 1e6 ? (scale){1e6, "MFLOP"}
                          : (scale){1e3, "kFLOP"};
}

static void print_flops_row(const char *name, const assay_flops flops[ASSAY_FLOP_CONVENTIONS],
                            bool backward, double divisor, FILE *stream)
{
    fprintf(stream, "%-20.19s", name);
    for (int c = 0; c < ASSAY_FLOP_CONVENTIONS; c++)
        fprintf(stream, " %11.4f",
                (double)(backward ? flops[c].backward : flops[c].forward) / divisor);
    if (!backward)
        fprintf(stream, " %11.4f", (double)flops[ASSAY_FLOPS_ASSAY].backward / divisor);
    fputc('\n', stream);
}

static void print_left_out(const assay_record *record, FILE *stream)
{
    for (int c = ASSAY_FLOPS_PYTORCH; c < ASSAY_FLOP_CONVENTIONS; c++) {
        const char *name = assay_flop_convention_name((assay_flop_convention)c);
        char line[512] = "counts everything";
        size_t used = 0;
        for (size_t i = 0; i < record->figure_count && used < sizeof line; i++)
            if (assay__figure_leaves_out(&record->figures[i], name))
                used +=
                    (size_t)snprintf(line + used, sizeof line - used, "%s%s",
                                     used > 0 ? ", " : "leaves out: ", record->figures[i].covers);
        paragraph(stream, name, line);
    }
}

static void print_complexity(const assay_record *record, FILE *stream)
{
    const assay__complexity *complexity = assay__complexity_of(record->models[0].name);
    char line[512] = "not stated: the model is not built in";
    if (complexity != NULL)
        snprintf(line, sizeof line, "%s with %s", complexity->forward, complexity->symbols);
    paragraph(stream, "complexity", line);
}

static void print_flops_table(const assay__flop_table *groups, FILE *stream)
{
    assay_flops totals[ASSAY_FLOP_CONVENTIONS];
    for (int c = 0; c < ASSAY_FLOP_CONVENTIONS; c++)
        totals[c] = assay__flop_table_total(groups, (assay_flop_convention)c);
    scale in = scale_of((double)totals[ASSAY_FLOPS_ASSAY].forward);
    char title[CELL];
    snprintf(title, sizeof title, "FLOPS (%s)", in.unit);
    fprintf(stream, "\n%-20s %11s %11s %11s %11s %11s\n", title, "assay", "pytorch", "fvcore",
            "deepspeed", "backward");
    rule(stream, '-');
    for (size_t i = 0; i < groups->count; i++)
        print_flops_row(groups->rows[i].name, groups->rows[i].flops, false, in.divisor, stream);
    print_flops_row("forward", totals, false, in.divisor, stream);
    print_flops_row("backward", totals, true, in.divisor, stream);
}

static void print_flops(const assay_record *record, FILE *stream)
{
    assay__flop_table groups;
    if (record->models[0].flop_count == 0) {
        fputs("\nFLOPS\n", stream);
        rule(stream, '-');
        fputs("the model does not describe its arithmetic\n", stream);
        return;
    }
    if (assay__flop_table_make(&record->models[0], true, &groups) != ASSAY_OK)
        return;
    print_flops_table(&groups, stream);
    assay__flop_table_release(&groups);
    print_left_out(record, stream);
    print_complexity(record, stream);
}

/* ---- roofline ---- */

static const char *scaled(assay_reading reading, double factor, char text[CELL])
{
    return reading.validity == ASSAY_VALID ? digits(factor * reading.value, text) : "n/a";
}

static void print_point(const assay_record *record, int pass, FILE *stream)
{
    const char *name = assay__pass_name(pass), *bound = assay__pass_bound(record, pass);
    assay_reading part = assay__record_figure(record, ASSAY__FIGURE_SHARE, name);
    char work[CELL], rate[CELL], share[CELL] = "n/a", intensity[CELL];
    if (part.validity == ASSAY_VALID)
        snprintf(share, sizeof share, "%.1f %%", 100 * part.value);
    fprintf(stream, "%-20s %11s %11s %11s %11s %11s\n", shown[pass],
            scaled(assay__record_figure(record, ASSAY__FIGURE_FLOPS, name), 1e-9, work),
            scaled(assay__record_figure(record, ASSAY__FIGURE_RATE, name), 1e-9, rate), share,
            scaled(assay__record_figure(record, ASSAY__FIGURE_INTENSITY, name), 1, intensity),
            bound != NULL ? bound : "n/a");
}

static void print_roofline(const assay_record *record, FILE *stream)
{
    assay_reading flops = assay__record_figure(record, ASSAY__FIGURE_PEAK_FLOPS, NULL);
    assay_reading bytes = assay__record_figure(record, ASSAY__FIGURE_PEAK_BYTES, NULL);
    const char *measured_at = assay__profile_setting(record, ASSAY__SETTING_PEAK_TIME);
    const bool on_device = assay__profile_setting(record, "model_device") != NULL;
    char line[512];
    fprintf(stream, "\n%-20s %11s %11s %11s %11s %11s\n", "ROOFLINE", "GFLOP", "GFLOP/s", "of peak",
            "FLOP/byte", "bound by");
    rule(stream, '-');
    for (int i = 0; i < ASSAY__PASSES; i++)
        if (assay__pass_times(record, i).count > 0)
            print_point(record, i, stream);
    if (flops.validity == ASSAY_VALID)
        snprintf(line, sizeof line,
                 "%.1f GFLOP/s (%s) and %.1f GB/s (%s), so %.1f FLOP/byte divide the two; measured "
                 "%s",
                 1e-9 * flops.value,
                 on_device ? "float32 products of 4096 x 4096 on the device, without TF32"
                           : "float32 products, one thread",
                 1e-9 * bytes.value, on_device ? "copies on the device" : "triad",
                 flops.value / bytes.value,
                 measured_at != NULL ? measured_at : "at an unknown time");
    else
        snprintf(line, sizeof line,
                 "not measured on this processor; 'assay doctor --measure' does it once and keeps "
                 "it");
    paragraph(stream, "peak", line);
    paragraph(stream, "bytes",
              "as if every operation read its operands and wrote its result once; Adam's "
              "arithmetic is not counted, its traffic is");
}

/* ---- scaling ---- */

/* Copy the subjects of one axis into a new record, for the report "scaling". Encodings are labelled
 * with their width: "lap 16". The caller frees *part, also after a failure. */
static assay_status select_axis(const assay_record *record, const assay__axis_view *axis,
                                assay_record **part)
{
    const assay_record_subject *subject;
    char text[256];
    assay_status status = assay_record_new(part);
    snprintf(text, sizeof text, "%s forward", axis->model);
    if (status == ASSAY_OK)
        (*part)->name =
            axis->scaling != NULL ? assay_record_text(*part, text) : "encodings, forward pass";
    for (size_t at = 0;
         status == ASSAY_OK && (subject = assay__axis_next(record, axis, &at)) != NULL;) {
        status = assay__record_append_subject(*part, subject);
        if (status != ASSAY_OK || axis->scaling != NULL)
            continue;
        assay_record_subject *copy = &(*part)->subjects[(*part)->subject_count - 1];
        snprintf(text, sizeof text, "%s %s", assay__parameter_of(subject, axis->parameter),
                 assay__parameter_of(subject, "dim"));
        copy->parameter_count = 0;
        status = assay_record_add_parameter(*part, copy, axis->parameter, text);
    }
    return status;
}

static void print_encodings(const assay_record *record, const assay__axis_view *axis,
                            const assay_record *part, FILE *stream)
{
    const assay_record_subject *subject;
    size_t row = 0;
    (void)assay_report_print(part, "scaling", stream, NULL);
    fprintf(stream, "%-14s %11s %11s %11s %11s %13s\n", "computed once", "Mean (ms)", "Std", "Min",
            "Max", "Storage (MB)");
    for (size_t at = 0; (subject = assay__axis_next(record, axis, &at)) != NULL; row++) {
        const char *name = assay__parameter_of(subject, axis->parameter);
        const assay_record_subject *computing = assay__encoding_computing(record, name);
        const assay_reading none = assay_reading_missing(ASSAY_NOT_MEASURED);
        assay__times times = {.mean = none, .std = none, .min = none, .max = none};
        if (computing != NULL)
            times = assay__times_of(computing);
        char mean[CELL], std[CELL], least[CELL], most[CELL];
        fprintf(stream, "%-14s %11s %11s %11s %11s %13.4f\n",
                part->subjects[row].parameters[0].value, ms(times.mean, mean), ms(times.std, std),
                ms(times.min, least), ms(times.max, most),
                assay__encoding_storage(record, name).value / ASSAY__BYTES_IN_MB);
    }
}

static void print_axis(const assay_record *record, const assay__axis_view *axis, assay_record *part,
                       FILE *stream)
{
    const assay__complexity *complexity = assay__complexity_of(axis->model);
    assay_growth *growth = NULL;
    if (assay__axis_growth(record, axis, &growth) != ASSAY_OK)
        return;
    const assay_scaling scaling = {.record = part, .growth = growth};
    (void)assay_scaling_print_summary(&scaling, stream);
    if (complexity != NULL)
        fprintf(stream, "By its arithmetic: %s\n", complexity->forward);
    assay_status status = assay_growth_print_plot(growth, stream, NULL);
    (void)status; /* an error of the stream is found when it is flushed */
    assay_growth_free(growth);
}

void assay__profile_print_scaling(const assay_record *record, FILE *stream)
{
    assay__axis_view axes[ASSAY__AXES_MAX];
    size_t count = assay__axes_view(record, axes, ASSAY__AXES_MAX);
    for (size_t i = 0; i < count; i++) {
        assay_record *part = NULL;
        fputc('\n', stream);
        if (select_axis(record, &axes[i], &part) == ASSAY_OK) {
            if (axes[i].scaling != NULL)
                print_axis(record, &axes[i], part, stream);
            else
                print_encodings(record, &axes[i], part, stream);
        }
        assay_record_free(part);
    }
}

void assay__profile_print(const assay_record *record, FILE *stream)
{
    unsigned parts = assay__profile_parts(record);
    print_head(record, stream);
    if ((parts & ASSAY__PROFILE_RUNTIME) != 0)
        print_runtime(record, stream);
    if ((parts & ASSAY__PROFILE_MEMORY) != 0)
        print_memory(record, stream);
    if ((parts & ASSAY__PROFILE_FLOPS) != 0)
        print_flops(record, stream);
    if ((parts & ASSAY__PROFILE_RUNTIME) != 0 && record->models[0].flop_count > 0)
        print_roofline(record, stream);
    assay__profile_print_scaling(record, stream);
}
