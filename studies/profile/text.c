/* A profile as one screen of 80 columns. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "assay/growth.h"
#include "assay/report.h"
#include "assay/runtime.h"
#include "base/text.h"
#include "studies/profile/profile.h"

enum { WIDTH = 80, LABEL = 14, CELL = 32 };
static void rule(FILE *stream, char mark)
{
    for (int i = 0; i < WIDTH; i++)
        fputc(mark, stream);
    fputc('\n', stream);
}

/* Words after a label in columns, the following lines indented. */
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

/* Five digits: "0.012345", "12.345", "12345". */
static const char *digits(double value, char text[CELL])
{
    if (!isfinite(value))
        return "n/a";
    double size = fabs(value);
    int place = size > 0 ? (int)floor(log10(size)) : 0; /* of the first digit */
    int decimals = place >= 4 ? 0 : 4 - place;
    if (size > 0 && size < 1e-3)
        snprintf(text, CELL, "%.2e", value);
    else
        snprintf(text, CELL, "%.*f", decimals, value);
    return text;
}

/* ---- head ---- */

static void print_inputs(const assay__profile *profile, char *line, size_t size)
{
    size_t used = (size_t)snprintf(line, size, "%s:", profile->plan.data);
    for (size_t i = 0; i < profile->class_->input_count && used < size; i++) {
        const assay_tensor *input = &profile->plan.inputs[i];
        if (input->data == NULL)
            continue;
        used +=
            (size_t)snprintf(line + used, size - used, " %s (", profile->class_->inputs[i].name);
        for (uint32_t axis = 0; axis < input->rank && used < size; axis++)
            used += (size_t)snprintf(line + used, size - used, "%s%" PRId64, axis > 0 ? ", " : "",
                                     input->shape[axis]);
        if (used < size)
            used += (size_t)snprintf(line + used, size - used, ")");
    }
}

static void print_head(const assay__profile *profile, FILE *stream)
{
    char line[1024];
    rule(stream, '=');
    fprintf(stream, "PROFILE: %s\n", profile->class_->name);
    rule(stream, '=');
    snprintf(line, sizeof line, "%" PRIu64 " parameters, %.2f MB; seed %" PRIu64 ", %zu thread%s",
             profile->parameters, profile->parameter_bytes / ASSAY__BYTES_IN_MB, profile->plan.seed,
             profile->plan.threads, profile->plan.threads == 1 ? "" : "s");
    paragraph(stream, "model", line);
    print_inputs(profile, line, sizeof line);
    paragraph(stream, "data", line);
}

/* ---- runtime ---- */

static const char *ms(assay_reading seconds, char text[CELL])
{
    return seconds.validity == ASSAY_VALID ? digits(1e3 * seconds.value, text) : "n/a";
}

static void print_timing(const char *name, const assay_timing *timing, FILE *stream)
{
    char mean[CELL], low[CELL], high[CELL], std[CELL], least[CELL];
    char interval[2 * CELL];
    snprintf(interval, sizeof interval, "%s to %s", ms(timing->low_seconds, low),
             ms(timing->high_seconds, high));
    fprintf(stream, "%-16s%10s  %-21s %10s %9s%8" PRIu64 "\n", name,
            digits(1e3 * timing->mean_seconds, mean), interval, ms(timing->std_seconds, std),
            digits(1e3 * timing->min_seconds, least), timing->count);
}

static void print_runtime(const assay__profile *profile, FILE *stream)
{
    static const char *const shown[ASSAY__PASSES] = {"forward", "backward", "training step"};
    fprintf(stream, "\n%-16s%10s  %-21s %10s %9s%8s\n", "RUNTIME (ms)", "Mean", "95 % interval",
            "Std", "Min", "Runs");
    rule(stream, '-');
    for (int i = 0; i < ASSAY__PASSES; i++)
        if (profile->passes[i].timing.count > 0)
            print_timing(shown[i], &profile->passes[i].timing, stream);
        else
            fprintf(stream, "%-16s%10s  %s\n", shown[i], "n/a", "the model has none");
    if (!profile->has_forecast)
        return;
    char name[CELL];
    print_timing("forecast 1", &profile->forecast.inference_single_step, stream);
    snprintf(name, sizeof name, "forecast %" PRId64, profile->forecast_steps);
    print_timing(name, &profile->forecast.inference_full_trajectory, stream);
    if (profile->forecast.training_seconds.validity == ASSAY_VALID)
        fprintf(stream, "%-16s%10s\n", "fit",
                digits(1e3 * profile->forecast.training_seconds.value, name));
}

/* ---- memory ---- */

static void print_memory(const assay__profile *profile, FILE *stream)
{
    const assay_model_memory *it = &profile->breakdown;
    char cell[CELL];
    fprintf(stream, "\n%-16s%12s%12s%12s%12s%12s\n", "MEMORY (MB)", "Parameters", "Gradients",
            "Optimizer", "Activations", "Workspace");
    rule(stream, '-');
    if (profile->has_breakdown) {
        const uint64_t figures[] = {it->parameters, it->gradients, it->optimizer, it->activations,
                                    it->workspace};
        snprintf(cell, sizeof cell, "%.3f",
                 (double)assay__profile_model_bytes(it) / ASSAY__BYTES_IN_MB);
        fprintf(stream, "%-5s%10s ", "total", cell);
        for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
            fprintf(stream, "%12.3f", (double)figures[i] / ASSAY__BYTES_IN_MB);
        fputc('\n', stream);
    } else {
        fputs("the model does not account for its memory\n", stream);
    }
    bool known = profile->process.peak_bytes.validity == ASSAY_VALID;
    fprintf(stream, "process       peak %s%s resident, code and libraries included\n",
            known ? digits(profile->process.peak_bytes.value / ASSAY__BYTES_IN_MB, cell)
                  : "unknown:",
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
        fprintf(stream, "%12.4f",
                (double)(backward ? flops[c].backward : flops[c].forward) / divisor);
    if (!backward)
        fprintf(stream, "%12.4f", (double)flops[ASSAY_FLOPS_ASSAY].backward / divisor);
    fputc('\n', stream);
}

static void print_left_out(const assay__profile *profile, FILE *stream)
{
    for (int c = ASSAY_FLOPS_PYTORCH; c < ASSAY_FLOP_CONVENTIONS; c++) {
        char line[512] = "counts everything";
        uint32_t left_out =
            assay_flop_account_left_out(profile->components, (assay_flop_convention)c);
        size_t used = 0;
        for (int kind = 0; kind < ASSAY_TERM_KINDS && used < sizeof line; kind++)
            if ((left_out & UINT32_C(1) << kind) != 0)
                used += (size_t)snprintf(
                    line + used, sizeof line - used, "%s%s",
                    used > 0 ? ", " : "leaves out: ", assay_term_kind_name((assay_term_kind)kind));
        paragraph(stream, assay_flop_convention_name((assay_flop_convention)c), line);
    }
}

static void print_flops(const assay__profile *profile, FILE *stream)
{
    if (profile->groups == NULL) {
        fputs("\nFLOPS\n", stream);
        rule(stream, '-');
        fputs("the model does not describe its arithmetic\n", stream);
        return;
    }
    size_t count;
    const assay_flop_component *groups = assay_flop_account_components(profile->groups, &count);
    scale in = scale_of(profile->work[ASSAY__PASS_FORWARD].flops);
    char title[CELL];
    snprintf(title, sizeof title, "FLOPS (%s)", in.unit);
    fprintf(stream, "\n%-20s%12s%12s%12s%12s%12s\n", title, "assay", "pytorch", "fvcore",
            "deepspeed", "backward");
    rule(stream, '-');
    for (size_t i = 0; i < count; i++)
        print_flops_row(groups[i].name, groups[i].flops, false, in.divisor, stream);
    assay_flops totals[ASSAY_FLOP_CONVENTIONS] = {0};
    for (int c = 0; c < ASSAY_FLOP_CONVENTIONS; c++)
        if (assay_flop_account_total(profile->components, (assay_flop_convention)c, &totals[c]) !=
            ASSAY_OK)
            return;
    print_flops_row("forward", totals, false, in.divisor, stream);
    print_flops_row("backward", totals, true, in.divisor, stream);
    print_left_out(profile, stream);
    if (profile->complexity == NULL) {
        paragraph(stream, "complexity", "not stated: the model is not built in");
        return;
    }
    char line[512];
    snprintf(line, sizeof line, "%s with %s", profile->complexity->forward,
             profile->complexity->symbols);
    paragraph(stream, "complexity", line);
}

/* ---- roofline ---- */

static void print_roofline(const assay__profile *profile, FILE *stream)
{
    static const char *const shown[ASSAY__PASSES] = {"forward", "backward", "training step"};
    const assay__peak *peak = profile->has_peak ? &profile->peak : NULL;
    fprintf(stream, "\n%-20s%12s%12s%12s%12s%12s\n", "ROOFLINE", "GFLOP", "GFLOP/s", "of peak",
            "FLOP/byte", "bound by");
    rule(stream, '-');
    for (int i = 0; i < ASSAY__PASSES; i++) {
        const assay_timing *timing = &profile->passes[i].timing;
        if (timing->count == 0)
            continue;
        assay__roofline_point point = assay__roofline(profile->work[i], timing->mean_seconds, peak);
        char work[CELL], rate[CELL], share[CELL] = "n/a", intensity[CELL];
        if (peak != NULL)
            snprintf(share, sizeof share, "%.1f %%", 100 * point.share_of_peak);
        fprintf(stream, "%-20s%12s%12s%12s%12s%12s\n", shown[i],
                digits(profile->work[i].flops * 1e-9, work), digits(point.gflops_per_second, rate),
                share, digits(point.intensity, intensity),
                peak == NULL          ? "n/a"
                : point.compute_bound ? "compute"
                                      : "memory");
    }
    char line[512];
    if (peak != NULL)
        snprintf(line, sizeof line,
                 "%.1f GFLOP/s (float32 products, one thread) and %.1f GB/s (triad), so %.1f "
                 "FLOP/byte divide the two; measured %s",
                 peak->gflops, peak->gigabytes_per_second, assay__roofline_ridge(peak),
                 peak->measured_at);
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

static void print_encodings(const assay__axis_result *axis, FILE *stream)
{
    (void)assay_report_print(axis->encodings, "scaling", stream, NULL);
    fprintf(stream, "%-14s%12s%12s%12s%12s%14s\n", "computed once", "Mean (ms)", "Std", "Min",
            "Max", "Storage (MB)");
    for (size_t i = 0; i < axis->cost_count; i++) {
        const assay_timing *timing = &axis->costs[i].computing;
        char mean[CELL], std[CELL], least[CELL], most[CELL];
        fprintf(stream, "%-14s%12s%12s%12s%12s%14.4f\n", axis->encodings->subjects[i].name,
                digits(1e3 * timing->mean_seconds, mean), ms(timing->std_seconds, std),
                digits(1e3 * timing->min_seconds, least), digits(1e3 * timing->max_seconds, most),
                axis->costs[i].storage_bytes / ASSAY__BYTES_IN_MB);
    }
}

void assay__profile_print_scaling(const assay__profile *profile, FILE *stream)
{
    for (size_t i = 0; i < profile->axis_count; i++) {
        const assay__axis_result *axis = &profile->axes[i];
        fputc('\n', stream);
        if (axis->scaling == NULL) {
            print_encodings(axis, stream);
            continue;
        }
        (void)assay_scaling_print_summary(axis->scaling, stream);
        if (profile->complexity != NULL)
            fprintf(stream, "By its arithmetic: %s\n", profile->complexity->forward);
        if (assay_growth_print_plot(axis->scaling->growth, stream, NULL) != ASSAY_OK)
            return; /* the stream is gone; whoever flushes it says so */
    }
}

void assay__profile_print(const assay__profile *profile, FILE *stream)
{
    unsigned parts = profile->plan.parts;
    print_head(profile, stream);
    if ((parts & ASSAY__PROFILE_RUNTIME) != 0)
        print_runtime(profile, stream);
    if (profile->has_memory)
        print_memory(profile, stream);
    if ((parts & ASSAY__PROFILE_FLOPS) != 0)
        print_flops(profile, stream);
    if ((parts & ASSAY__PROFILE_RUNTIME) != 0 && profile->groups != NULL)
        print_roofline(profile, stream);
    if ((parts & ASSAY__PROFILE_SCALING) != 0)
        assay__profile_print_scaling(profile, stream);
}
